"""Which regions a track saves.

A policy is a set of glob patterns. A pattern is matched with a region's name inside its
checkpoint (``attention.qkv``); a pattern with ``::`` in it is matched with the name that
torch_remat prints, checkpoint included (``layers.0::attention.qkv``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape


@dataclass(frozen=True, slots=True)
class Policy:
    """The regions that match one of ``patterns`` are saved, the others recomputed.

    ``patterns`` is None where every region keeps the flag that the module gives it.
    """

    name: str
    patterns: tuple[str, ...] | None

    def saves(self, checkpoint: str, region: str) -> bool:
        """Is the region saved? Asked only where the policy has patterns."""
        return any(matches(pattern, checkpoint, region) for pattern in self.patterns or ())


def matches(pattern: str, checkpoint: str, region: str) -> bool:
    """Does the pattern match the region?"""
    return fnmatchcase(f"{checkpoint}::{region}" if "::" in pattern else region, pattern)


NONE = Policy("none", ())
ALL = Policy("all", ("*",))
AS_CONFIGURED = Policy("as configured", None)


def alone(region: str, nested: Iterable[str] = ()) -> Policy:
    """Save one region. Those nested in it go along: torch_remat has them inert inside a saved one."""
    return Policy(region, tuple(escape(name) for name in (region, *nested)))


def together(regions: Iterable[str], nested: Mapping[str, Iterable[str]]) -> Policy:
    """Save several regions, each with those nested in it."""
    chosen = list(regions)
    patterns = [pattern for region in chosen for pattern in alone(region, nested[region]).patterns or ()]
    return Policy(" + ".join(chosen), tuple(dict.fromkeys(patterns)))


def combinations(nested: Mapping[str, Iterable[str]]) -> Iterator[Policy]:
    """Every combination of regions, each with those nested in it, the smaller ones first: none to all."""
    known = set()
    for size in range(len(nested) + 1):
        for chosen in itertools.combinations(nested, size):
            policy = together(chosen, nested) if chosen else NONE
            patterns = frozenset(policy.patterns or ())
            if patterns not in known:
                known.add(patterns)
                yield policy


def given(option: str) -> Policy:
    """The policy of one ``--policy`` option: patterns, separated by commas."""
    return Policy(option, tuple(pattern.strip() for pattern in option.split(",") if pattern.strip()))
