"""RMT202: a region that is to be recomputed runs inside one that is never run again."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RecomputeInsideSaved
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class RecomputeInsideSavedRule(Rule):
    """## What it does
    Finds `remat.region(..., recompute=True)` that runs inside a region with `recompute=False`, directly
    or through functions and modules. Both flags have to be written as literals: where a policy decides
    one of them, it mostly decides both together, and nothing is reported.

    ## Why is this bad?
    Replay skips a saved region as a whole, so a region inside it cannot be recomputed. torch_remat
    raises `RuntimeError` in the forward.

    ## What to write instead
    Save the inner region too (it is inert then), or recompute the outer one: the inner region keeps its
    own flag there. Best is not to nest regions at all.
    """

    code = "RMT202"
    name = "recompute-inside-saved"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def inner(x):
                return remat.region(torch.sin, "inner", recompute=True)(x)


            def body(x):
                return remat.region(inner, "outer", recompute=False)(x)
            """,
            at=(6,),
            runtime="nested inside a recompute=False (SAVE) region",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def inner(x):
                return remat.region(torch.sin, "inner", recompute=False)(x)


            def body(x):
                return remat.region(inner, "outer", recompute=True)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each inner region."""
        reported = set()
        for nested in facts.of(RecomputeInsideSaved):
            if nested.place in reported:
                continue
            reported.add(nested.place)
            yield self.at(
                nested.place,
                f"region `{nested.region}` has `recompute=True` and runs inside region `{nested.outer}`, "
                "which has `recompute=False`: replay never runs the outer region, and torch_remat raises in "
                "the forward. Write `recompute=False` for the inner region, or `recompute=True` for the "
                "outer one.",
                chain=nested.chain,
            )
