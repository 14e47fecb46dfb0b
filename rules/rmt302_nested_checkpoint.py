"""RMT302: a checkpoint runs inside a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, NestedCheckpoint
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class NestedCheckpointRule(Rule):
    """## What it does
    Finds `remat.checkpoint(...)(function)(...)` that runs inside the function of another
    `remat.checkpoint`, also through functions, modules and regions.

    ## Why is this bad?
    torch_remat does not nest checkpoints: the inner one raises `NotImplementedError` in the forward.
    `torch.utils.checkpoint.checkpoint` may run inside, and around.

    ## What to write instead
    Keep one of the two. What the inner one is to recompute is recomputed by the outer one anyway; what
    is to be kept goes into `remat.region(..., recompute=False)`.
    """

    code = "RMT302"
    name = "nested-checkpoint"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def inner(x):
                return remat.checkpoint(region_name="inner")(torch.sin)(x)


            def outer(x):
                return remat.checkpoint(region_name="outer")(inner)(x)


            body = inner
            """,
            at=(6,),
            runtime="nested torch_remat.checkpoint",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def inner(x):
                return remat.region(torch.sin, "inner", recompute=True)(x)


            def outer(x):
                return remat.checkpoint(region_name="outer")(inner)(x)


            body = inner
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each checkpoint inside."""
        for place, nested in {nested.place: nested for nested in facts.of(NestedCheckpoint)}.items():
            yield self.at(
                place,
                f"{_what(nested)}: torch_remat raises `NotImplementedError` in the forward. Keep one of the "
                "two, and say with `remat.region` what is kept.",
                chain=nested.chain,
            )


def _what(nested: NestedCheckpoint) -> str:
    return (
        "another checkpoint runs inside this one"
        if nested.outside
        else "this checkpoint runs inside another one"
    )
