"""RMT501: state outside the call is written by the forward and by the replay."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, Outcome, StateWrite, Written
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import guard, when_replayed
from remat_lint.rules.writing import TENSORS, advice, does, maybe, outdated, severity, then, unfilled

_ADVANCED = {
    Written.ELEMENT: "changes",
    Written.ITERATOR: "moves on",
    Written.CACHE: "keeps what it is called with",
}


class StateWrittenTwice(Rule):
    """## What it does
    Finds changes of state that was there before the checkpointed code ran: attributes of objects and
    classes, globals and nonlocals, elements of lists, dicts and sets, iterators that move on, results that
    are kept for the next call.

    Silent are objects that the call made itself, and values that are equal each time: what is made of
    constants, sizes and dtypes only (a table of rotary angles, `self.seen_length = x.shape[1]`), and a
    maximum of what was there and such a value. So is what the code puts back before it ends: a counter of
    depth, a stack. `torch.utils.checkpoint` may end the replay by an error: there a `finally` must do it, or
    the end of a `with`. Reported is a constant that takes the place of another one which the code had
    computed with before: `self.first = False`, at the end.

    ## Why is this bad?
    A checkpoint runs the code a second time in backward. Counters count double, lists hold everything
    twice. What is only overwritten (`self.last = y`) holds the replay's value from then on: that of another
    graph, and of an older batch where several are under way. Where the code also computes with such state
    the replay finds other values than the forward, and the gradients are silently wrong: a cache of keys
    that grows, `next(iterator)`, a running mean. Where the replay finds a result that the forward kept, and
    skips the computation, backward raises. Where it goes another way than the forward, backward mostly
    raises, and the gradients are wrong if it does not. A write that only the forward does is wrong as well,
    where the code had computed with the state before: in a loop, or in a second layer that shares it, the
    replay finds what the last write left.

    ## What to write instead
    Guard it with `if not remat.is_recomputing():`, return the value, or write it in a region with
    `recompute=False`, which runs once. Detach what is computed under the guard only (`y.detach().norm()`):
    with gradients it would save tensors that the replay lacks, and backward would raise (RMT506).
    None of that helps where the code computes with the state before it writes it: pass the value as an
    argument there, and write it outside the checkpointed code.
    `torch.utils.checkpoint` has no such guard: move the write out of the checkpointed function.
    """

    code = "RMT501"
    name = "state-written-twice"
    severity = Severity.WARNING
    grades = True
    fix = "unsafe"
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
            runtime="wrong-gradient",
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
    when, so, target = when_replayed(write.replayed), then(write), f"`{write.target}`"
    match write.outcome:
        case Outcome.SKIPPED:
            return (
                f"{target} {does(write, 'keeps', 'keep')} a result with gradients: {so}, it is there "
                "already, nothing computes it again, and backward raises"
            )
        case Outcome.SWITCHED:
            return (
                f"{target} {does(write, 'decides', 'decide')} which way the code goes: {so}, it is what the "
                "forward left here, and the code goes the other way"
            )
        case Outcome.COMPUTED if write.written is Written.ELEMENT:
            return (
                f"{target} {does(write, 'changes', 'change')} here and is computed with: {so}, it holds "
                "something else, and backward raises or the gradients are wrong"
            )
        case Outcome.COMPUTED:
            return (
                f"{target} {does(write, 'changes', 'change')} here and is computed with: {so}, it has "
                "another value, and the gradients are wrong"
            )
        case Outcome.UNFILLED:
            return unfilled(write)
        case Outcome.OUTDATED:
            return outdated(write)
        case Outcome.RAISES:
            deleted = f"{does(write, 'is', 'be')} deleted here"
            return f"{target} {deleted}: {so}, it is gone, and backward raises"
        case Outcome.REPLACED:
            return (
                f"{target} {maybe(write)}is written a second time {when}: what reads it afterwards sees the "
                "replay's value"
            )
        case _:
            return f"{target} {maybe(write)}{_ADVANCED.get(write.written, 'advances')} a second time {when}"
