"""RMT501: state outside the call is written by the forward and by the replay."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, Outcome, StateWrite, Written
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import when_replayed
from remat_lint.rules.writing import TENSORS, advice, guard, severity

_ADVANCED = {
    Written.ELEMENT: "changes twice per step",
    Written.ITERATOR: "moves on twice per step",
    Written.CACHE: "keeps what it was given twice per step",
}


class StateWrittenTwice(Rule):
    """## What it does
    Finds changes of state that was there before the checkpointed code ran: attributes of objects and
    classes, globals and nonlocals, elements of lists, dicts and sets, iterators that move on, results that
    are kept for the next call.

    Silent are objects that the call made itself, and values that are equal each time: what is made of
    constants, sizes and dtypes only (a table of rotary angles, `self.seen_length = x.shape[1]`), and a
    maximum of what was there and such a value.

    ## Why is this bad?
    A checkpoint runs the code a second time in backward. Counters count double, lists hold everything
    twice. Where the code also computes with such state the replay finds other values than the forward, and
    the gradients are silently wrong: a cache of keys that grows, `next(iterator)`, a running mean. Where
    the replay finds a result that the forward kept, and skips the computation, backward raises.

    ## What to write instead
    Guard it with `if not remat.is_recomputing():`, return the value, or write it in a region with
    `recompute=False`, which runs once. `torch.utils.checkpoint` has no such guard: move the write out of
    the checkpointed function.
    """

    code = "RMT501"
    name = "state-written-twice"
    severity = Severity.WARNING
    fixable = True
    fails = (
        Example(
            """
            import torch_remat as remat

            CALLS = []


            def body(x):
                CALLS.append(x.shape)
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(7,),
        ),
        Example(
            """
            import torch_remat as remat


            class Scale:
                def __init__(self):
                    self.calls = 0

                def __call__(self, x):
                    self.calls += 1
                    return (x * self.calls).sin()


            body = Scale()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(9,),
            runtime="other gradients",
        ),
    )
    passes = (
        Example(
            """
            import torch_remat as remat

            CALLS = []


            def body(x):
                if not remat.is_recomputing():
                    CALLS.append(x.shape)
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
        Example(
            """
            import torch
            import torch_remat as remat

            TABLES = {}


            def body(x):
                parts = []
                if x.shape[-1] not in TABLES:
                    TABLES[x.shape[-1]] = torch.arange(x.shape[-1])
                parts.append(x * TABLES[x.shape[-1]])
                return torch.cat(parts).sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each write."""
        for write in facts.of(StateWrite):
            if write.written not in TENSORS:
                yield self.at(
                    write.place,
                    f"{_what_happens(write)}. {advice(write)}",
                    severity=severity(write),
                    fix=guard(write),
                    chain=write.replayed.chain,
                )


def _what_happens(write: StateWrite) -> str:
    when, target = when_replayed(write.replayed), f"`{write.target}`"
    runs = "runs" if write.replayed.certain else "may run"
    match write.outcome:
        case Outcome.SKIPPED:
            return (
                f"{target} keeps a result of the forward: {when}, it is there already, fewer tensors are "
                "saved for backward, and backward raises"
            )
        case Outcome.COMPUTED:
            return f"this {runs} again {when}: {target} is another one then, and the gradients are wrong"
        case Outcome.RAISES:
            return f"this {runs} again {when}: {target} is gone then, and backward raises"
        case Outcome.REPLACED:
            return f"this {runs} again {when}: {target} is written twice per step"
        case _:
            advances = _ADVANCED.get(write.written, "advances twice per step")
            return f"this {runs} again {when}: {target} {advances}"
