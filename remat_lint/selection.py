"""Which rules report: selectors (``RMT101``, ``RMT1``, ``ALL``) in, a yes or no for a code out.

The most specific selector decides, as in ruff: ``--select RMT101 --ignore RMT1`` keeps RMT101. Of two equally
specific ones the ignoring one wins. A newer source (the command line) that selects anew drops the older one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from remat_lint.errors import UserError

EVERYTHING = "ALL"
PREFIX = "RMT"
SYNTAX_ERROR = "RMT900"

# Codes that the documentation gives a meaning. A configuration may name those that this version does not
# report yet, so that one configuration serves several versions.
_NUMBERS = {
    1: range(1, 10),
    2: range(1, 10),
    3: range(1, 5),
    4: range(1, 5),
    5: range(1, 7),
    6: range(1, 9),
    7: range(1, 6),
    9: range(2),
}
RESERVED = frozenset(f"{PREFIX}{family}{n:02d}" for family, numbers in _NUMBERS.items() for n in numbers)


def check_codes(selectors: Sequence[str], built: Collection[str], origin: str) -> list[str]:
    """The selectors that match only rules of a later version; raises ``UserError`` for an unknown one.

    ``origin`` says where they were written: ``--select``, ``pyproject.toml: ignore``.
    """
    later = []
    for selector in selectors:
        matches = [code for code in RESERVED.union(built) if covers(selector, code)]
        if not matches:
            raise UserError(f"{origin}: unknown rule code {selector!r}; {_hint(selector, built)}")
        if not any(code in built for code in matches):
            later.append(selector)
    return later


def _hint(selector: str, built: Collection[str]) -> str:
    capital = selector.upper()
    if selector != capital and any(covers(capital, code) for code in RESERVED.union(built)):
        return f"codes are in capital letters: {capital}"
    return "`remat-lint rule --all` lists the codes, and a prefix such as RMT1 selects a family"


def covers(selector: str, code: str) -> bool:
    """Whether a selector means this code."""
    if selector == EVERYTHING:
        return True
    return selector.startswith(PREFIX) and code.startswith(selector)


def _specificity(selectors: Sequence[str], code: str) -> int:
    """The length of the longest selector that covers the code, 0 where none does."""
    lengths = (0 if s == EVERYTHING else len(s) for s in selectors if covers(s, code))
    return max((length + 1 for length in lengths), default=0)


@dataclass(frozen=True, slots=True)
class Selection:
    """The selectors in force. ``select`` is None where nothing was said: all rules but the opt-in ones."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    opt_in: frozenset[str] = field(default=frozenset())

    def may_report(self, code: str) -> bool:
        """Whether the rule reports where nothing else is said: an opt-in rule only if it was asked for."""
        return code not in self.opt_in or self.wants(code)

    def wants(self, code: str) -> bool:
        """Whether the rule reports. A file that does not parse hides the rest: only ignoring silences it."""
        if code == SYNTAX_ERROR:
            return not _specificity(self.ignore, code)
        chosen = (EVERYTHING,) if self.select is None else self.select
        chosen += self.extend_select
        if code in self.opt_in and code not in chosen:
            return False
        return _specificity(chosen, code) > _specificity(self.ignore, code)
