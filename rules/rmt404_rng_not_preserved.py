"""RMT404: ``torch.utils.checkpoint`` is told not to preserve the random state, and the code draws."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, RandomDraw
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.random_states import harm, rule_for, severity_of, what_draws


class RngNotPreserved(Rule):
    """## What it does
    Finds draws from torch's random state in code that `torch.utils.checkpoint` runs with
    `preserve_rng_state=False`.

    ## Why is this bad?
    By default `torch.utils.checkpoint` saves the state of torch's default generators and restores it
    before it runs the code again. Switched off, the second run draws the next numbers of the stream:
    another dropout mask. Nothing raises, and the gradients are wrong.

    ## What to write instead
    Leave `preserve_rng_state` out. It may be switched off for code that draws nothing, to spare the copies.
    """

    code = "RMT404"
    name = "rng-not-preserved"
    severity = Severity.ERROR
    grades = True
    fails = (
        Example(
            """
            import torch.nn.functional as F
            from torch.utils.checkpoint import checkpoint


            def body(x):
                return F.dropout(x, 0.5).sin()


            def run(x):
                return checkpoint(body, x, use_reentrant=False, preserve_rng_state=False)
            """,
            at=(6,),
            runtime="wrong-gradient",
        ),
    )
    passes = (
        Example(
            """
            import torch.nn.functional as F
            from torch.utils.checkpoint import checkpoint


            def body(x):
                return F.dropout(x, 0.5).sin()


            def run(x):
                return checkpoint(body, x, use_reentrant=False)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each draw."""
        for draw in facts.of(RandomDraw):
            if rule_for(draw) == self.code:
                message = (
                    f"{what_draws(draw)} under `preserve_rng_state=False`: {harm(draw)}. "
                    "Leave `preserve_rng_state` out."
                )
                yield self.at(draw.place, message, severity=severity_of(draw), chain=draw.replayed.chain)
