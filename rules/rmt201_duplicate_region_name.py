"""RMT201: one checkpointed body uses a region's name twice."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import DuplicateName, ModuleFacts
from remat_lint.findings import Finding, Severity, Step
from remat_lint.rule import Example, Rule


class DuplicateRegionName(Rule):
    """## What it does
    Finds region names that are used twice on one path of a checkpointed body: by two regions, by one
    region in a loop, by a wrapper that is called twice, or by a function or module that is called twice.
    The prefixes of `remat.name_scope` belong to the name.

    A computed name counts as the same name as long as nothing that it is computed from is written.
    A function without a checkpoint in view is taken for one body, unless it makes checkpoints or calls
    `backward` itself. The layers of an `nn.ModuleList` or `nn.Sequential` are taken to have a checkpoint
    each, unless the source shows one around them all. A region inside a saved region is inert and uses
    no name.

    ## Why is this bad?
    torch_remat finds what a region kept by the region's name. The second use of a name in one
    checkpoint raises `RuntimeError` in the forward.

    ## What to write instead
    Give each region a name of its own. Where one piece of code runs several times, enter a scope that
    differs each time: `with remat.name_scope(f"layer.{index}"):`.
    """

    code = "RMT201"
    name = "duplicate-region-name"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                a = remat.region(torch.sin, "wave", recompute=True)(x)
                b = remat.region(torch.cos, "wave", recompute=True)(x)
                return a + b
            """,
            at=(7,),
            runtime="Duplicate torch_remat region name",
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                for _ in range(4):
                    x = remat.region(torch.sin, "wave", recompute=True)(x)
                return x
            """,
            at=(7,),
            runtime="Duplicate torch_remat region name",
        ),
        Example(
            """
            import torch
            import torch_remat as remat
            from torch import nn


            class Wave(nn.Module):
                def forward(self, x):
                    return remat.region(torch.sin, "wave", recompute=True)(x)


            WAVE = Wave()


            def body(x):
                return WAVE(WAVE(x))
            """,
            at=(15,),
            runtime="Duplicate torch_remat region name",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                for index in range(4):
                    with remat.name_scope(f"turn.{index}"):
                        x = remat.region(torch.sin, "wave", recompute=True)(x)
                return x
            """
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x, even=True):
                if even:
                    return remat.region(torch.cos, "wave", recompute=True)(x)
                return remat.region(torch.sin, "wave", recompute=True)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each place that uses a name again."""
        reported = set()
        for use in facts.of(DuplicateName):
            if use.place in reported:
                continue
            reported.add(use.place)
            yield self.at(use.place, _message(use), related=_related(use))


def _message(use: DuplicateName) -> str:
    again = "each time this runs" if use.first == use.place else "a second time here"
    return (
        f"region name `{use.name}` is used {again} in one checkpoint: the second use raises in the forward. "
        "Give each region a name of its own, or enter another scope for each use: "
        '`with remat.name_scope(f"...{index}"):`.'
    )


def _related(use: DuplicateName) -> tuple[Step, ...]:
    steps = []
    if use.first != use.place:
        steps.append(Step(use.first, f"`{use.name}` is used here first"))
    if use.region not in (use.place, use.first):
        steps.append(Step(use.region, f"region `{use.name}` is called here"))
    return tuple(steps)
