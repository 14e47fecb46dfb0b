"""RMT301: `remat.checkpoint` is called as `torch.utils.checkpoint.checkpoint` is."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, PositionalCheckpoint
from remat_lint.findings import Finding, Fix, Severity
from remat_lint.rule import Example, Rule


class CheckpointWithoutOptions(Rule):
    """## What it does
    Finds `remat.checkpoint(function)(x)`, `remat.checkpoint(function, x)`, `remat.checkpoint("name")` and
    the decorator `@remat.checkpoint` without parentheses.

    ## Why is this bad?
    `remat.checkpoint` takes options, all of them by keyword, and nothing else. An argument by position
    raises `TypeError`.

    ## What to write instead
    Three pairs of parentheses: `remat.checkpoint(region_name="block")(function)(x)`. No option has to be
    given; the name is shown in reports and errors. The fix writes `remat.checkpoint()` and leaves out the
    options of `torch.utils.checkpoint` that mean nothing here, such as `use_reentrant`. It is not made
    where a `context_fn` says what is kept.
    """

    code = "RMT301"
    name = "checkpoint-without-options"
    severity = Severity.ERROR
    fix = "safe"
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                return remat.checkpoint(torch.sin)(x)
            """,
            at=(6,),
            runtime="positional argument",
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat


            def block(x):
                return torch.sin(x)


            def step(x):
                return remat.checkpoint(region_name="block")(block)(x)


            body = block
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each call."""
        for call in facts.of(PositionalCheckpoint):
            yield self.at(
                call.place,
                f"`remat.checkpoint` is given `{call.given}` by position: it takes options by keyword only "
                "and raises `TypeError`. Write `remat.checkpoint(...)(function)(x)`.",
                fix=Fix("replace-code", call.edit) if call.edit is not None else None,
                unfixable=None if call.edit is not None else "the call cannot be written anew without loss",
            )
