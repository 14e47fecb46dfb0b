"""RMT108: a marker does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Fate, Marker, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import listed


class IneffectiveMarker(Rule):
    """## What it does
    Finds markers that cannot work: on a copy of a region's output (`clone`, or a `contiguous` or
    `reshape` that copies), under `if remat.is_recomputing():`, or in a function under `torch.compile`.

    ## Why is this bad?
    A marker asks torch_remat, during the forward, to keep what shares the tensor's storage. A copy has
    a storage of its own; on replay the forward has ended; in a compiled function the call does nothing.
    The output stays an empty placeholder, and whoever trusts the marker reads it: backward raises.

    ## What to write instead
    The marker on the output itself, before it is copied; without the guard; outside the compiled function.
    """

    code = "RMT108"
    name = "ineffective-marker"
    severity = Severity.WARNING
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                y = y.t().contiguous()
                remat.recompute_needs_tensor(y)
                return F.silu(y)
            """,
            at=(8,),
            runtime="placeholder",
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                if remat.is_recomputing():
                    remat.recompute_needs_tensor(y)
                return F.silu(y)
            """,
            at=(8,),
            runtime="placeholder",
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
                return F.silu(y.t().contiguous())
            """,
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each argument that is marked without effect."""
        for marker in facts.of(Marker):
            if marker.fate is Fate.INEFFECTIVE:
                yield self.at(
                    marker.place,
                    f"the marker on {listed(marker.arguments)} does nothing: {_WHY[marker.why]}",
                )


_WHY = {
    "copy": "a copy has a storage of its own. Mark the region's output itself, before it is copied.",
    "replay": "under `is_recomputing()` it runs when the forward has ended. Take the condition away.",
    "compiled": "torch_remat does not see it in a compiled function. Mark before the function is called.",
}
