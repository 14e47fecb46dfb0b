"""RMT504: a collective in checkpointed code is issued again on replay."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import Collective, ModuleFacts, Outcome, Replayer, StateWrite
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Example, Rule
from remat_lint.rules.wording import when_replayed
from remat_lint.rules.writing import TENSORS, severity


class CollectiveReplayed(Rule):
    """## What it does
    Finds communication between ranks in code that a checkpoint replays: the collectives of
    `torch.distributed` (in place, of objects, point to point, barriers, the making of groups), those that
    autograd runs backward (`torch.distributed.nn.functional`), functional collectives, and RPC.

    A `DTensor` that is redistributed is not reported: whether that communicates depends on placements that
    the source does not show. Neither is what runs in a region with `recompute=False`.

    ## Why is this bad?
    The replay issues the collective again: its time is paid twice, in backward, where it competes with the
    reduction of gradients. And every rank must replay alike: where one takes another path, or orders its
    collectives otherwise than in the forward, the job hangs.

    ## What to write instead
    Run the collective in a region with `recompute=False`: its result is kept, and replay communicates
    no more. Return the result from the region's function, also where the collective writes it in place; go
    on with what the region returns; and mark that with `remat.recompute_needs_tensor` where bare code reads
    it. Where the result is small that costs little. Or move it out of the checkpointed code. Where
    memory matters more than time, issuing it again is right: suppress the finding, and say so.
    """

    code = "RMT504"
    name = "collective-replayed"
    severity = Severity.WARNING
    fails = (
        Example(
            """
            import torch.distributed as dist
            import torch_remat as remat

            if not dist.is_initialized():
                dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


            def body(x):
                largest = x.detach().abs().max()
                dist.all_reduce(largest, op=dist.ReduceOp.MAX)
                return (x / largest).sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """,
            at=(10,),
        ),
    )
    passes = (
        Example(
            """
            import torch.distributed as dist
            import torch_remat as remat

            if not dist.is_initialized():
                dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


            def largest_of(x):
                largest = x.detach().abs().max()
                dist.all_reduce(largest, op=dist.ReduceOp.MAX)
                return largest


            def body(x):
                largest = remat.region(largest_of, "largest", recompute=False)(x)
                remat.recompute_needs_tensor(largest)
                return (x / largest).sin()


            def step(x):
                return remat.checkpoint(region_name="layers.0")(body)(x)
            """
        ),
    )

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """One finding for each call, with what it writes in place."""
        written = {write.place: write for write in facts.of(StateWrite) if write.written in TENSORS}
        for collective in facts.of(Collective):
            replayed = collective.replayed
            runs, then = ("runs", "") if replayed.certain else ("may run", "if it does, ")
            write = written.get(collective.place)
            yield self.at(
                collective.place,
                f"`{collective.operation}` {runs} again {when_replayed(replayed)}: {then}the ranks "
                "communicate twice per step, and hang where one of them replays otherwise"
                f"{_and_writes(write) if write else ''}. {_what_to_write(collective, write)}",
                severity=severity(write) if write else self.severity,
                chain=replayed.chain,
            )


_WITHOUT_RESULT = ("barrier", "monitored_barrier")
"""What only waits: a region has nothing to return for it."""


def _and_writes(write: StateWrite) -> str:
    """What comes of it that the call changes a tensor which was there before."""
    changes = f"; it changes `{write.target}` in place"
    match write.outcome:
        case Outcome.RAISES:
            return f"{changes}, so backward raises"
        case Outcome.COMPUTED | Outcome.OUTDATED | Outcome.UNFILLED:
            return f"{changes}, which has other values then, so the gradients are wrong"
        case _:
            return f"{changes} a second time"


def _what_to_write(collective: Collective, write: StateWrite | None) -> str:
    if write is not None:
        copy = f"a copy (`{write.target}.clone()`)"
        if collective.replayed.by is Replayer.TORCH:
            return f"Let it change {copy}, and move it out of the checkpointed function."
        return f"Let it change {copy}, in a region with `recompute=False` that returns the result."
    if collective.replayed.by is Replayer.TORCH:
        return "Move it out of the checkpointed function."
    if collective.operation.rpartition(".")[2] in _WITHOUT_RESULT:
        once = "Write `if not remat.is_recomputing():` before it"
    else:
        once = "Run it in a region with `recompute=False` that returns the result"
    return f"{once}, or move it out of the checkpointed code."
