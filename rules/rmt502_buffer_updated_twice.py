"""RMT502: a tensor that was there before the call is changed in place by the forward and by the replay."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Collective, ModuleFacts, Outcome, StateWrite, Written
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import guard, when_replayed
from remat_lint.rules.writing import TENSORS, advice, does, maybe, outdated, severity, then, unfilled


class BufferUpdatedTwice(Rule):
    """## What it does
    Finds tensors that are changed in place by checkpointed code, and were there before it ran: registered
    buffers, tensors in attributes and globals, inputs of the checkpointed function, and the running
    statistics of modules in training (`BatchNorm`, `InstanceNorm` that tracks them, `spectral_norm`).

    ## Why is this bad?
    A checkpoint runs the code a second time in backward: what is added is added twice, and running
    statistics move two steps. Where the code also computes with the tensor, the replay finds other values
    than the forward, and the gradients are silently wrong. A changed input is changed before the replay
    begins: backward raises for one that was handed over by position, and is silently wrong otherwise.

    ## What to write instead
    Guard it with `if not remat.is_recomputing():`, or move it into a region with `recompute=False`, which
    runs once. Where the code computes with it before, move it out of the checkpointed code, and pass what
    it was as an argument. `torch.utils.checkpoint` has no such guard: move it out of the checkpointed
    function. Change a copy of an input. Freeze `BatchNorm` (`.eval()`), use a norm without statistics, or
    keep the module out of the checkpointed code.
    """

    code = "RMT502"
    name = "buffer-updated-twice"
    severity = Severity.WARNING
    grades = True
    fix = "unsafe"
    fails = (
        Example(
            """
            import torch
            import torch_remat as remat

            LOAD = torch.zeros(8)


            def body(x):
                with torch.no_grad():
                    LOAD.add_(x.sum(0))
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(9,),
        ),
        Example(
            """
            import torch
            import torch_remat as remat

            norm = torch.nn.BatchNorm1d(8)


            def body(x):
                return norm(x).sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(8,),
        ),
    )
    passes = (
        Example(
            """
            import torch
            import torch_remat as remat

            LOAD = torch.zeros(8)


            def body(x):
                if not remat.is_recomputing():
                    with torch.no_grad():
                        LOAD.add_(x.sum(0))
                return x.sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
        Example(
            """
            import torch
            import torch_remat as remat


            def body(x):
                out = torch.zeros(8)
                out.add_(x.detach().sum(0))
                return (x * out).sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each write; what a collective writes is said with it."""
        collectives = {collective.place for collective in facts.of(Collective)}
        for write in facts.of(StateWrite):
            if write.written in TENSORS and write.place not in collectives:
                yield self.at(
                    write.place,
                    f"{_what_happens(write)}. {_what_to_write(write)}",
                    severity=severity(write),
                    fix=guard(write),
                    chain=write.replayed.chain,
                )


def _what_happens(write: StateWrite) -> str:
    when, so, target = when_replayed(write.replayed), then(write), f"`{write.target}`"
    match write.outcome:
        case Outcome.RAISES:
            raises = "backward raises" if write.replayed.certain else "if it is, backward raises"
            changed = f"{does(write, 'is', 'be')} changed in place"
            return f"{target}, an input of the checkpointed function, {changed}: {raises}"
        case Outcome.UNFILLED:
            return unfilled(write)
        case Outcome.OUTDATED:
            return outdated(write)
        case Outcome.COMPUTED if write.written is Written.INPUT:
            changed = f"{does(write, 'is', 'be')} changed in place"
            return (
                f"{target}, an input of the checkpointed function, {changed}: {so}, it is what the forward "
                "left, and the gradients are wrong"
            )
        case Outcome.COMPUTED if write.written is Written.STATISTICS:
            wrong = (
                "the gradients are wrong" if write.replayed.certain else "the gradients are wrong if it does"
            )
            return (
                f"the state of {target} {does(write, 'moves', 'move')} on a second time {when}, and {wrong}"
            )
        case Outcome.COMPUTED:
            return (
                f"{target} {does(write, 'changes', 'change')} here and is computed with: {so}, it has other "
                "values, and the gradients are wrong"
            )
        case Outcome.REPLACED:
            return f"{target} {maybe(write)}is written a second time {when}"
        case _ if write.written is Written.STATISTICS:
            return f"the running statistics of {target} {maybe(write)}move on a second time {when}"
        case _:
            return f"{target} {maybe(write)}is updated a second time {when}"


def _what_to_write(write: StateWrite) -> str:
    if write.written is Written.INPUT:
        return f"Change a copy (`{write.target}.clone()`)."
    if write.written is Written.STATISTICS:
        return "Put it into evaluation mode (`.eval()`), or move it out of the checkpointed code."
    return advice(write)
