"""RMT103: a marker is proved useless."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Fate, Marker, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import listed


class UnneededMarker(Rule):
    """## What it does
    Finds markers on outputs that no operation outside regions reads (regions take them, or only their
    shape is asked for), and on tensors that are not the output of a region that may be skipped: replay
    computes those again. Only what is proved is reported: an output that is returned, stored, or handed
    to unknown code may be read there.

    ## Why is this bad?
    A marked output is kept until backward. Without a reader that is memory for nothing, the very
    thing that checkpointing is there to save; on any other tensor the marker does nothing and
    misleads its reader.

    ## What to write instead
    Nothing: take the marker out.
    """

    code = "RMT103"
    name = "unneeded-marker"
    severity = Severity.WARNING
    fix = "safe or unsafe"
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return remat.region(F.silu, "act", recompute=True)(y)
            """,
            at=(7,),
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=True)(x)
                remat.recompute_needs_tensor(y)
                return F.silu(y)
            """,
            at=(7,),
        ),
    )
    passes = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return F.silu(y)
            """,
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return y
            """,
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for what a call marks for nothing."""
        for marker in facts.of(Marker):
            if marker.fate is Fate.UNNEEDED:
                yield self.at(
                    marker.place,
                    _message(marker),
                    fix=Fix("edit-markers", marker.edit, safe=not marker.comment) if marker.edit else None,
                    unfixable=marker.obstacle,
                )


def _message(marker: Marker) -> str:
    what, one = listed(marker.arguments), len(marker.arguments) == 1
    if marker.why == "unread":
        return f"nothing outside regions reads {what}: the marker keeps memory for nothing. Take it out."
    outputs = "is no output of a region" if one else "are no outputs of regions"
    return f"{what} {outputs} that replay may skip: the marker does nothing. Take it out."
