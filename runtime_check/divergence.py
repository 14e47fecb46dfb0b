"""Which rank is to blame: the events of all ranks, compared.

Nothing here talks to other processes. It gets what every rank was last known to do, and says which
rank and which region differ first, which rank raised, does not answer, or does not go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True)
class RankState:
    """What one rank was last known to do.

    Attributes:
        rank: its number in the whole job.
        number: the number of the track that it runs or ran last, from 1; 0 before the first one.
        step: the name of that track.
        events: what happened in that track so far, in order.
        seen: how many events there were when it last told of itself.
        since: what it did after the last of them.
        idle_s: seconds since its last event or operation, when it last told of itself.
        at: the point at which it waits for the others; empty while it runs.
        raised: the exception that ended its track; empty without one.
        in_collective: whether its last operation is one that waits for other ranks.
        left: why it ended; empty while it lives.
        silent: whether it gives no sign of life at all: it is dead, or its interpreter is blocked.
    """

    rank: int
    number: int = 0
    step: str = ""
    events: tuple[str, ...] = ()
    seen: int = 0
    since: str = ""
    idle_s: float = 0.0
    at: str = ""
    raised: str = ""
    in_collective: bool = False
    left: str = ""
    silent: bool = False

    @property
    def runs(self) -> bool:
        """Is it in its own code, and may yet add events?"""
        return not (self.at or self.left or self.silent)


@dataclass(frozen=True)
class Parting:
    """The first event on which the ranks of a group do not agree.

    ``number`` counts from 1 in the track; ``variants`` are the events, each with the ranks that have it, the
    greatest number of ranks first; ``before`` is the last event that they have in common.
    """

    number: int
    variants: tuple[tuple[str, tuple[int, ...]], ...]
    before: str = ""

    @property
    def suspects(self) -> tuple[int, ...]:
        """The ranks that are in the minority; none where no variant has more than half of the ranks."""
        total = sum(len(ranks) for _, ranks in self.variants)
        if 2 * len(self.variants[0][1]) <= total:
            return ()
        return tuple(sorted(rank for _, ranks in self.variants[1:] for rank in ranks))


def parting(states: Iterable[RankState]) -> Parting | None:
    """Where the events of these ranks part; None where they only are not equally far."""
    known = list(states)
    longest = max((len(state.events) for state in known), default=0)
    for index in range(longest):
        variants: dict[str, list[int]] = {}
        for state in known:
            if index < len(state.events):
                variants.setdefault(state.events[index], []).append(state.rank)
            elif state.at:
                end = f"raised {state.raised}" if state.raised else "nothing more"
                variants.setdefault(end, []).append(state.rank)
        if len(variants) > 1:
            ordered = sorted(variants.items(), key=lambda item: (-len(item[1]), item[1]))
            before = next(state.events[index - 1] for state in known if index < len(state.events))
            return Parting(
                index + 1,
                tuple((event, tuple(ranks)) for event, ranks in ordered),
                before if index else "",
            )
    return None


@dataclass(frozen=True)
class Account:
    """What separates the ranks, as text, and the ranks that are to blame as far as that is known."""

    text: str
    suspects: tuple[int, ...]


class _Line(NamedTuple):
    """A line of an account, and the ranks that it blames."""

    text: str
    blamed: Sequence[int] = ()


def explained(states: Sequence[RankState], groups: Groups) -> Account:
    """What separates the ranks: the first of these that is so, and what each rank did last.

    Ranks are not at the same point of the check; ranks of a group have different events; a rank left; a rank
    gives no sign of life; a rank raised where others did not, or does not go on.
    """
    kinds = (_elsewhere, _partings, _left, _silent, _raised_or_stuck)
    found = next(
        (lines for kind in kinds if (lines := list(kind(states, groups)))), [_Line("The ranks do not agree.")]
    )
    last = (f"    {_last(state)}" for state in states)
    text = "\n".join([*(line.text for line in found), "What each rank did last:", *last])
    return Account(text, tuple(sorted({rank for line in found for rank in line.blamed})))


START = "the start of track"
END = "the end of the check"
"""How the points begin at which all ranks meet, whatever their groups."""


def _elsewhere(states: Sequence[RankState], _: Groups) -> Iterator[_Line]:
    waiting = [state for state in states if state.at.startswith((START, END))]
    if len({state.at for state in waiting}) > 1:
        yield _Line("The ranks are not at the same point of the check:")
        yield from (_Line(f"    rank {state.rank}: {state.at}") for state in waiting)


def _partings(states: Sequence[RankState], groups: Groups) -> Iterator[_Line]:
    if any(state.silent for state in states):  # an exception may only be what a dead rank does to others
        states = [replace(state, at="") if state.raised else state for state in states]
    for group in groups:
        for number in sorted({state.number for state in states if state.rank in group}):
            same = [state for state in states if state.rank in group and state.number == number]
            if (found := parting(same)) is not None:
                yield from _parted(found, same[0].step)


def _parted(found: Parting, step: str) -> Iterator[_Line]:
    yield _Line(f"Ranks differ in track {step}, at event {found.number} of the step:")
    for event, ranks in found.variants:
        blamed = ranks if set(ranks) & set(found.suspects) else ()
        yield _Line(f"    {_ranks(ranks)}: {event}{' <- suspect' if blamed else ''}", blamed)
    if found.before:
        yield _Line(f"    before that, on all of them: {found.before}")
    if not found.suspects:
        yield _Line("    There is no majority: any of them may be the wrong one.")


def _left(states: Sequence[RankState], _: Groups) -> Iterator[_Line]:
    for state in states:
        if state.left:
            yield _Line(f"Rank {state.rank} left: {state.left}", [state.rank])


def _silent(states: Sequence[RankState], _: Groups) -> Iterator[_Line]:
    for state in states:
        if state.silent:
            yield _Line(f"Rank {state.rank} is dead or blocked: it gives no sign of life.", [state.rank])


def _raised_or_stuck(states: Sequence[RankState], groups: Groups) -> Iterator[_Line]:
    for state in states:
        if state.raised:
            yield _Line(f"Rank {state.rank} raised in track {state.step}: {state.raised}", [state.rank])
    for state in _suspects([state for state in states if state.runs], groups):
        where = f"in track {state.step}" if state.step else "before the first track"
        stuck = f"Rank {state.rank} is stuck {where}: it has not gone on for {state.idle_s:.1f} s."
        yield _Line(stuck, [state.rank])


def _suspects(running: Sequence[RankState], groups: Groups) -> Iterator[RankState]:
    """Whoever is in code of its own, not in a collective; of those, in each group, who is least far."""
    alone = [state for state in running if not state.in_collective] or running
    for group in groups:
        members = [state for state in alone if state.rank in group]
        least = min((len(state.events) for state in members), default=0)
        yield from (state for state in members if len(state.events) == least)


def _last(state: RankState) -> str:
    if state.left:
        return f"rank {state.rank}: left"
    where = f"waits at {state.at}" if state.at else "waits for other ranks" if state.in_collective else "runs"
    if state.silent:
        where = "no sign of life"
    track = f" in track {state.step}" if state.step else ""
    is_new = state.since and state.seen == len(state.events)
    did = [*state.events[-1:], *([state.since] if is_new else [])]
    return f"rank {state.rank}: {where}{track}; last event: {', then '.join(did) or 'none'}"


def _ranks(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) > 8:
        return f"{len(ranks)} ranks ({ranks[0]} to {ranks[-1]})"
    return "ranks " + ", ".join(map(str, ranks))
