"""Phrases that the messages of several rules share."""

from __future__ import annotations

from collections.abc import Sequence

from remat_lint.analysis.facts import BareRead, ExternalEffect, Kept, Replayed, Replayer, StateWrite
from remat_lint.findings import Fix


def listed(words: Sequence[str]) -> str:
    """Names in a sentence: ``a``, ``b`` and ``c``, each in code quotes."""
    quoted = [f"`{word}`" for word in words]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def what_is_read(read: BareRead) -> str:
    """The outputs that an operation reads: ``gate`` and ``up``, outputs of region ``w13``."""
    regions = list(dict.fromkeys(output.region for output in read.outputs))
    origin = f"of region{'s' if len(regions) > 1 else ''} {listed(regions)}"
    several = len(read.outputs) > 1
    names = [output.name for output in read.outputs if output.name]
    if not names:
        return f"the output{'s' if several else ''} {origin}"
    more = " and what has no name" if len(names) < len(read.outputs) else ""
    return f"{listed(names)}{more}, {'outputs' if several else 'an output'} {origin},"


def marker_to_write(read: BareRead) -> str:
    """What to write before the statement that reads."""
    if read.insertion is None:
        what = "them" if len(read.outputs) > 1 else "it"
        return f"Call `remat.recompute_needs_tensor(...)` on {what} before this statement ({read.obstacle})."
    targets = read.insertion.targets
    marker = f"remat.recompute_needs_tensor({', '.join(target.expression for target in targets)})"
    unnamed = [target.expression for target in targets if target.hoist is not None]
    first = f"Give it a name first (`{unnamed[0]} = ...`), then write" if unnamed else "Write"
    return f"{first} `{marker}` before this statement."


def when_replayed(replayed: Replayed) -> str:
    """When code runs again: ``when the checkpoint replays this``."""
    when = "where a checkpoint replays this" if replayed.assumed else "when the checkpoint replays this"
    if replayed.inside is not None and replayed.inside.kept is Kept.POLICY:
        return f"{when} under a policy that recomputes region `{replayed.inside.region}`"
    return when


def guard(fact: StateWrite | ExternalEffect) -> Fix | None:
    """The guard around a statement that computes nothing, where torch_remat replays it."""
    edit = fact.edit
    if edit is None or fact.replayed.by is Replayer.TORCH or edit.path != fact.place.path:
        return None
    return Fix("guard-statements", edit, safe=False)


def how_to_do_it_once(fact: StateWrite | ExternalEffect) -> str:
    """What to write so that code runs in the forward only; only torch_remat tells which phase runs."""
    if fact.replayed.by is Replayer.TORCH:
        return "Move it out of the checkpointed function."
    # Under the guard, what computes with gradients saves tensors that the replay lacks: it gets no edit.
    detached = "" if fact.edit else " (with what it computes from tensors detached)"
    guarded = f"Write `if not remat.is_recomputing():` before it{detached}"
    return f"{guarded}, or move it out of the checkpointed code."
