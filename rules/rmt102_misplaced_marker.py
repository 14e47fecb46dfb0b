"""RMT102: a marker works, but stands away from its consumer."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Fate, Marker, ModuleFacts
from remat_lint.findings import Finding, Fix, Severity, Step
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import listed


class MisplacedMarker(Rule):
    """## What it does
    Finds markers that stand after the operation that reads the output, or outside the branch that
    reads it.

    ## Why is this bad?
    It runs: the forward ends before replay begins, so the order does not matter. But a marker is read
    as "the next statement needs this". After its consumer, or above an `if`, it misleads, and on the
    paths that never read the output it is kept for nothing.

    ## What to write instead
    The marker directly before the statement that reads, in the branch that reads.
    """

    code = "RMT102"
    name = "misplaced-marker"
    severity = Severity.WARNING
    fix = "safe or unsafe"
    fails = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                out = F.silu(y)
                remat.recompute_needs_tensor(y)
                return out
            """,
            at=(8,),
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x, gated=True):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                if gated:
                    return F.silu(y)
                return x.sin()
            """,
            at=(7,),
        ),
    )
    passes = (
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x, gated=True):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                if gated:
                    remat.recompute_needs_tensor(y)
                    return F.silu(y)
                return x.sin()
            """,
        ),
        Example(
            """
            import torch.nn.functional as F
            import torch_remat as remat


            def body(x, gated=True):
                y = remat.region(lambda t: t * 2, "proj", recompute=False)(x)
                remat.recompute_needs_tensor(y)
                return F.silu(y) if gated else x.sin()
            """,
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for what a call marks in the wrong place."""
        for marker in facts.of(Marker):
            if marker.fate not in (Fate.LATE, Fate.OUTSIDE):
                continue
            assert marker.consumer is not None
            what = listed(marker.arguments)
            is_marked = f"{what} {'is' if len(marker.arguments) == 1 else 'are'} marked"
            where = _AFTER if marker.fate is Fate.LATE else _OUTSIDE
            yield self.at(
                marker.place,
                f"{is_marked} {where} Write the marker directly before the statement that reads.",
                fix=Fix("edit-markers", marker.edit, safe=not marker.comment) if marker.edit else None,
                related=(Step(marker.consumer, f"{what}: read here"),),
                unfixable=marker.obstacle,
            )


_AFTER = "after the operation that reads. It works, since replay begins later, but it hides who needs it."
_OUTSIDE = "outside the branch that reads: the other paths keep the output for nothing."
