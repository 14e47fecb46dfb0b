"""RMT207: a name of torch_remat that is gone since 0.2."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import LegacyName, ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule


class LegacyApi(Rule):
    """## What it does
    Finds names that torch_remat had before 0.2: `op`, `native_op`, `native_save_region`, `auto_forward`,
    `get_handle`, `RematHandle`, `CheckpointPolicy`, `SAVE`, `RECOMPUTE`, and the option
    `detect_bare_ops`. Code that asks first, by a `try` that takes the error, is left alone.

    ## Why is this bad?
    They are gone: the import raises `ImportError`, the attribute `AttributeError`. What such code means
    for regions and markers is not analysed.

    ## What to write instead
    `remat.region(function, name, recompute=False)` for `remat.op(function, name, policy=remat.SAVE)`.
    Functions of autograd need no preparation any more: put `Function.apply` into a region.
    """

    code = "RMT207"
    name = "legacy-api"
    severity = Severity.ERROR
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.op(torch.sin, "sin", policy=remat.SAVE)(x)
            """,
            at=(6,),
            runtime="has no attribute 'op'",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.region(torch.sin, "sin", recompute=False)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each statement, at the first of its old names."""
        statements: dict[int, dict[str, LegacyName]] = {}
        for legacy in facts.of(LegacyName):
            statements.setdefault(legacy.statement, {}).setdefault(legacy.name, legacy)
        for names in statements.values():
            yield self.at(next(iter(names.values())).place, _message(tuple(names.values())))


def _message(names: tuple[LegacyName, ...]) -> str:
    listed = " and ".join(f"`{one.name}`" for one in names)
    instead = "; ".join(f"instead of `{one.name}` {one.advice}" for one in names)
    gone = (
        "is a name of torch_remat before 0.2: it is gone"
        if len(names) == 1
        else ("are names of torch_remat before 0.2: they are gone")
    )
    return f"{listed} {gone}, and this raises. Write {instead}."
