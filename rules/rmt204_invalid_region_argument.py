"""RMT204: a region gets arguments that torch_remat refuses."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import NO_STRING, ModuleFacts, RegionCall
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class InvalidRegionArgument(Rule):
    """## What it does
    Finds `remat.region(...)` with `recompute` missing, given by position or not a bool, and with a
    name that is missing, empty or not a string.

    ## Why is this bad?
    `recompute` is keyword-only and must be a bool: anything else raises in the forward. An empty
    name raises too; a name that is no string matches no policy pattern.

    ## What to write instead
    `remat.region(function, "attention.qkv", recompute=False)(x)`.
    """

    code = "RMT204"
    name = "invalid-region-argument"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin, "sin")(x)
            """,
            at=(6,),
            runtime="recompute",
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin, "sin", recompute=0)(x)
            """,
            at=(6,),
            runtime="bool",
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin, "", recompute=True)(x)
            """,
            at=(6,),
            runtime="name",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x, save=False):
                return remat.region(torch.sin, "sin", recompute=not save)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each region with refused arguments."""
        for region in facts.of(RegionCall):
            if region.problems:
                yield self.at(
                    region.place,
                    f"region `{region.region}`: {'; '.join(region.problems)}.{_outcome(region)}",
                    severity=Severity.ERROR if _outcome(region) else Severity.WARNING,
                )


def _outcome(region: RegionCall) -> str:
    """What happens at run time: torch_remat takes a name that is no string, and no policy matches it."""
    if all(problem.endswith(NO_STRING) for problem in region.problems):
        return ""
    return " It raises in the forward."
