"""RMT104: the outputs of one consumer are marked in several calls."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Fate, Marker, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity, Step
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import listed


class UngroupedMarkers(Rule):
    """## What it does
    Finds two or more calls of `remat.recompute_needs_tensor` in one suite whose outputs are first read
    by the same statement. Opt-in: select it by its full code.

    ## Why is this bad?
    It is not wrong. One call for each consumer says at a glance what that consumer needs.

    ## What to write instead
    `remat.recompute_needs_tensor(gate, up)` directly before the statement that reads both.
    """

    code = "RMT104"
    name = "ungrouped-markers"
    severity = Severity.WARNING
    fix = "safe or unsafe"
    opt_in = True
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                gate = remat.region(lambda t: t * 2, "gate", recompute=False)(x)
                up = remat.region(lambda t: t * 3, "up", recompute=False)(x)
                remat.recompute_needs_tensor(gate)
                remat.recompute_needs_tensor(up)
                return F.silu(gate) * up
            """,
            at=(9,),
        ),
    )
    passes = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                gate = remat.region(lambda t: t * 2, "gate", recompute=False)(x)
                up = remat.region(lambda t: t * 3, "up", recompute=False)(x)
                remat.recompute_needs_tensor(gate)
                gate = F.silu(gate)
                remat.recompute_needs_tensor(up)
                return gate * up
            """,
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each argument that belongs into an earlier call."""
        for marker in facts.of(Marker):
            if marker.fate is Fate.UNGROUPED:
                assert marker.consumer is not None
                yield self.at(
                    marker.place,
                    f"{listed(marker.arguments)} is marked for the same statement as another output, in "
                    "a call of its own. Mark all outputs of one consumer in one call.",
                    fix=Fix("edit-markers", marker.edit, safe=not marker.comment) if marker.edit else None,
                    related=(Step(marker.consumer, "the statement that reads them"),),
                )
