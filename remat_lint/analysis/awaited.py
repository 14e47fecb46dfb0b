"""State that replays to come will look at, and what a path has done to it since their forwards did.

A checkpoint that ran leaves behind which state its function computed with, and what that held. Backward
comes later, and the replay takes the state as it is then. Nothing here knows a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from remat_lint.analysis.facts import Decides, Replayed
from remat_lint.analysis.moves import Terms, are_equal, differ, in_both
from remat_lint.analysis.watch import Held
from remat_lint.findings import Place

MAX_AWAITED = 64
"""More state than this is not watched at a time."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """State that code of a checkpoint computed with at ``place``; the expression at ``shown`` stands for it.

    It held what the ``terms`` are. By now something else may be ``written`` there, or is where ``certain``.
    ``reached`` is whether backward surely comes to that checkpoint.
    """

    held: Held
    place: Place
    shown: Place | None
    decides: Decides
    replayed: Replayed
    terms: Terms
    written: Place | None = None
    certain: bool = False
    reached: bool = True

    @property
    def key(self) -> object:
        """What tells it from others: of a loop, only the last turn is remembered."""
        return self.held, self.place, self.replayed.place

    def is_part_of(self, written: Held) -> bool:
        """Whether a write there changes it: the same state, or, of what is looked at whole, an element."""
        number, path = self.held
        is_whole = not path.endswith("]")
        return self.held == written or (
            is_whole and written[0] == number and written[1].startswith(f"{path}[")
        )

    def after(self, written: Held, terms: Terms, known: Terms, place: Place) -> Awaited:
        """What it is where this was written; ``known`` is what it held, by all that is known of that."""
        if not self.is_part_of(written):
            return self
        is_same_state = written == self.held
        if is_same_state and are_equal(known, terms):
            return replace(self, written=None, certain=False)
        return replace(self, written=place, certain=is_same_state and differ(known, terms))


@dataclass(frozen=True, slots=True)
class Awaiting:
    """What the replays to come on a path look at, and where the running call wrote state.

    ``backward`` is the number of the last one that the running call saw, 0 for none.
    """

    found: Mapping[object, Awaited] = field(default_factory=dict)
    written: Mapping[Held, Place] = field(default_factory=dict)
    backward: int = 0

    def __iter__(self) -> Iterator[Awaited]:
        return iter(self.found.values())

    def with_one(self, one: Awaited) -> Awaiting:
        """Another checkpoint has run."""
        if one.key not in self.found and len(self.found) >= MAX_AWAITED:
            return self
        return replace(self, found={**self.found, one.key: one})

    def of(self, found: Iterator[Awaited]) -> Awaiting:
        """The same with these for what is awaited."""
        return replace(self, found={one.key: one for one in found})

    def rewritten(self, held: Held, place: Place) -> Awaiting:
        """The running call wrote state."""
        return replace(self, written={**self.written, held: place})

    def after_backward(self, number: int) -> Awaiting:
        """All replays are done."""
        return Awaiting({}, self.written, number)

    def renumbered(self, number: Callable[[int], int], terms: Callable[[Terms], Terms]) -> Awaiting:
        """The same for other objects."""

        def renamed(held: Held) -> Held:
            return number(held[0]), held[1]

        written = {renamed(held): place for held, place in self.written.items()}
        awaited = (replace(one, held=renamed(one.held), terms=terms(one.terms)) for one in self)
        return replace(self, written=written).of(awaited)


NOTHING_AWAITED = Awaiting()


def either_awaiting(first: Awaiting, second: Awaiting) -> Awaiting:
    """What is awaited on one of two paths: where one of them has run backward, only what both await."""
    found: dict[object, Awaited] = {}
    for key in {**first.found, **second.found}:
        one, other = first.found.get(key), second.found.get(key)
        if one is not None and other is not None:
            found[key] = _on_either(one, other)
        elif first.backward == second.backward and (only := one or other) is not None:
            found[key] = only
    written = {**first.written, **second.written}
    return Awaiting(found, written, max(first.backward, second.backward))


def _on_either(one: Awaited, other: Awaited) -> Awaited:
    if one == other:
        return one
    return replace(
        one,
        terms=in_both(one.terms, other.terms),
        written=one.written or other.written,
        certain=one.certain and other.certain,
    )
