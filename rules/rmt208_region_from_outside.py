"""RMT208: a region is put around modules of a model whose code knows nothing of it.

A code of its own: no argument of the region is wrong and no marker is missing in a place that can be named.
What is wrong is how the region is declared.
"""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Kept, ModuleFacts, OutsideRegion
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class RegionFromOutside(Rule):
    """## What it does
    Finds `module.forward = remat.region(module.forward, ...)` for modules that a walk over a model found
    (`named_modules`, `modules`, `named_children`, `children`, `get_submodule` with a computed name), where
    the region may be saved.

    It is silent where the walk picks a class of the project, whose consumers are in the project, too, where
    markers are written in the file that defines the model, where what is assigned is a function that
    marks, and under `recompute=True`.

    ## Why is this bad?
    The code of the model holds no markers, since it knows of no region. Whatever bare operation reads the
    output of such a module, an activation, a norm, a residual add, raises in backward as soon as the policy
    saves the region, and nothing in that code shows why.

    ## What to write instead
    A function that calls the region and marks what it returns before it returns it. It keeps an output that
    only regions read, too, but it never raises. Or declare the regions in the model, where markers can
    stand at the consumers.
    """

    code = "RMT208"
    name = "region-from-outside"
    severity = Severity.WARNING
    fails = (
        Example(
            """
            import torch_remat as remat
            from torch import nn

            body = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8))


            def annotate(model, saved):
                for name, module in model.named_modules():
                    if isinstance(module, nn.Linear):
                        module.forward = remat.region(module.forward, name, recompute=name not in saved)


            annotate(body, saved=("0",))
            """,
            at=(10,),
            runtime="placeholder",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat
            from torch import nn

            body = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8))


            def marked(region):
                def forward(x):
                    y = region(x)
                    remat.recompute_needs_tensor(y)
                    return y

                return forward


            def annotate(model, saved):
                for name, module in model.named_modules():
                    if isinstance(module, nn.Linear):
                        region = remat.region(module.forward, name, recompute=name not in saved)
                        module.forward = marked(region)


            annotate(body, saved=("0",))
            """
        ),
        Example(
            """
            import torch_remat as remat
            from torch import nn

            body = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8))


            def annotate(model):
                for name, module in model.named_modules():
                    if isinstance(module, nn.Linear):
                        module.forward = remat.region(module.forward, name, recompute=True)


            annotate(body)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each region."""
        for region in facts.of(OutsideRegion):
            when = "" if region.kept is Kept.SAVE else "under a policy that saves it "
            yield self.at(
                region.place,
                f"region `{region.region}` is put around modules of a model from outside: the model's code "
                f"marks none of their outputs, and {when}a bare operation that reads one raises in backward. "
                "Assign a function that calls the region, marks its output with "
                "`remat.recompute_needs_tensor` and returns it.",
            )
