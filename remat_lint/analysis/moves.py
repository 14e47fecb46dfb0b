"""Where state has gone by now on a path, in terms of what state held when the running call began.

A counter that goes up and down again, a flag that is put back and a stack whose new items are taken off
again are as they were: code that runs again finds nothing else. Nothing here knows a path or a value.

>>> n = (1, ".n")
>>> up = moved({}, n, shifted(held_by(n, {}), 1), sure=False)
>>> is_undone(up, n), is_undone(then(up, moved({}, n, shifted(held_by(n, {}), -1), sure=False)), n)
(False, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

from remat_lint.analysis.watch import Held


class Term(NamedTuple):
    """What was held by state at the beginning, and a number that was added since.

    ``low`` is the lowest that this was, for what a stack has above its first items; infinite for numbers. It
    is ``sure`` where an error that ends the code changes nothing.
    """

    of: Held
    by: float = 0
    low: float = inf
    sure: bool = True


Terms = frozenset[Term]
"""What a value is known to be equal to; none where that is anything."""

Moves = Mapping[Held, Terms]
"""What is held by the state that was written. A local name is an attribute of its frame."""

ANYTHING: Terms = frozenset()

_NUMBER: Held = (0, "")
"""What numbers are counted from."""


def constant(value: object) -> Terms:
    """What a constant is: a number is so much more than nothing."""
    if isinstance(value, (int, float)):
        return frozenset([Term(_NUMBER, value)])
    return frozenset([Term((0, repr(value)))])


def is_constant(held: Held) -> bool:
    """Whether what was held there is no state, but a constant."""
    return held[0] == 0


def are_equal(first: Terms, second: Terms) -> bool:
    """Whether what these are is known to be the same."""
    return any((one.of, one.by) == (other.of, other.by) for one in first for other in second)


def differ(first: Terms, second: Terms) -> bool:
    """Whether what these are is known to be something else: two constants, or so much more than the other."""
    pairs = [(one, other) for one in first for other in second]
    return not are_equal(first, second) and any(
        one.of == other.of or (is_constant(one.of) and is_constant(other.of)) for one, other in pairs
    )


def held_by(held: Held, moves: Moves) -> Terms:
    """What state holds by now."""
    return moves.get(held, frozenset([Term(held)]))


def shifted(terms: Terms, by: float, *, stack: bool = False) -> Terms:
    """What they are with a number added, or with so many items on a stack."""
    return frozenset(
        term._replace(by=term.by + by, low=min(term.low, 0, term.by + by) if stack else term.low)
        for term in terms
    )


def moved(moves: Moves, held: Held, terms: Terms, *, sure: bool) -> Moves:
    """State is set to what these are, in code that runs after an error as well where that is ``sure``."""
    return {**moves, held: frozenset(term._replace(sure=sure) for term in terms)}


def then(first: Moves, second: Moves, *, sure: bool = False) -> Moves:
    """What a call that did the second leaves, after the first was done."""
    return {**first, **{held: after(first, terms, sure=sure) for held, terms in second.items()}}


def after(first: Moves, terms: Terms, *, sure: bool = False) -> Terms:
    """What these are in terms of what was held before the first was done."""
    return frozenset(
        Term(one.of, one.by + term.by, min(one.low, one.by + term.low), sure or term.sure)
        for term in terms
        for one in held_by(term.of, first)
    )


def either(first: Moves, second: Moves) -> Moves:
    """What is held after either."""
    if first is second:
        return first
    return {held: in_both(held_by(held, first), held_by(held, second)) for held in {**first, **second}}


def in_both(first: Terms, second: Terms) -> Terms:
    """What is known to be equal to either."""
    return frozenset(
        Term(one.of, one.by, min(one.low, other.low), one.sure and other.sure)
        for one in first
        for other in second
        if (one.of, one.by) == (other.of, other.by)
    )


def unknown(moves: Moves, since: Moves) -> Moves:
    """What was written since then may hold anything."""
    return {held: terms if since.get(held) == terms else ANYTHING for held, terms in moves.items()}


def is_undone(moves: Moves, held: Held, *, sure: bool = False) -> bool:
    """Whether state holds again, in all of its elements, what it did; ``sure``: even after an error."""
    number, path = held
    parts = [(one, terms) for one, terms in moves.items() if one[0] == number and _is_part(one[1], path)]
    return bool(parts) and all(_is_back(one, terms, sure=sure) for one, terms in parts)


def _is_part(path: str, whole: str) -> bool:
    return path == whole or path.startswith((f"{whole}[", f"{whole}."))


def _is_back(held: Held, terms: Iterable[Term], *, sure: bool) -> bool:
    return any(
        term.of == held and not term.by and term.low >= 0 and (term.sure or not sure) for term in terms
    )
