"""RMT203: a region is declared but never run, or was given a result instead of a function."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RegionCall
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class RegionNeverCalled(Rule):
    """## What it does
    Finds `remat.region(...)` whose result is never called, and `remat.region(...)` that was given
    what a function returned instead of the function.

    ## Why is this bad?
    `remat.region(function, name, recompute=...)` runs nothing: it returns a function that does. Not
    called, the computation is missing; given a result, it raises in the forward.

    ## What to write instead
    `remat.region(function, name, recompute=...)(x)`.
    """

    code = "RMT203"
    name = "region-never-called"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin, "sin", recompute=True)
            """,
            at=(6,),
            runtime="must return",
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin(x), "sin", recompute=True)(x)
            """,
            at=(6,),
            runtime="expects a function",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                sine = remat.region(torch.sin, "sin", recompute=True)
                return sine(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each region that does not run what it should."""
        for region in facts.of(RegionCall):
            if region.function_is_result:
                yield self.at(
                    region.place,
                    f"region `{region.region}` was given a result instead of a function: it raises in "
                    "the forward. Give it the function, and call what that returns: "
                    "`remat.region(function, ...)(x)`.",
                )
            elif not region.called:
                yield self.at(
                    region.place,
                    f"region `{region.region}` is declared here and never called: its function never runs. "
                    "Call what `remat.region` returns: `remat.region(function, ...)(x)`.",
                )
