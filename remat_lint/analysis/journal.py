"""What one run of the interpreter found: collected while it runs, turned into facts at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from remat_lint.analysis.facts import (
    BareRead,
    DuplicateName,
    Fact,
    GivenUp,
    HiddenDependency,
    InPlaceWrite,
    Marker,
    Output,
    RecomputeInsideSaved,
    RegionCall,
)
from remat_lint.analysis.state import Consumer, Hidden, Pending
from remat_lint.analysis.values import Token
from remat_lint.findings import Place, Step

Placing = Callable[[list[tuple[Token, Consumer]]], BareRead]
"""Makes the fact for the reads of one statement: says where a marker goes."""


@dataclass(slots=True)
class Journal:
    """The findings of one root, before it is known whether the root counts."""

    regions: dict[Place, RegionCall] = field(default_factory=dict)
    called: set[Place] = field(default_factory=set)
    facts: dict[Fact, None] = field(default_factory=dict)
    facts_of_a_body: dict[Fact, None] = field(default_factory=dict)
    """What torch_remat rejects, if what runs is the body of a checkpoint that is not in view."""
    is_body: bool = True
    """False for code that makes checkpoints or calls backward: it runs around checkpoints."""
    reads: dict[object, dict[tuple[Token, Consumer], None]] = field(default_factory=dict)

    def note(self, fact: Marker | InPlaceWrite | GivenUp | DuplicateName | RecomputeInsideSaved) -> None:
        self.facts.setdefault(fact)

    def note_in_body(self, fact: DuplicateName | RecomputeInsideSaved) -> None:
        self.facts_of_a_body.setdefault(fact)

    def end_root(self) -> None:
        """A root that may be the body of a checkpoint is taken for one."""
        if self.is_body:
            self.facts |= self.facts_of_a_body
        self.facts_of_a_body = {}

    def settle(self, pending: dict[Token, tuple[Pending, ...]]) -> None:
        """A checkpointed body ended on this path: what was not served by now never will be."""
        for token, waiting in pending.items():
            for one in waiting:
                if isinstance(one, Hidden):
                    output = Output(one.name, token.region, token.kept, region_steps(token))
                    fact = HiddenDependency(one.place, one.region, one.kept, output, one.way)
                    self.facts.setdefault(fact)
                else:
                    statement = one.statement.at if one.statement is not None else one.place.node
                    self.reads.setdefault((one.place.path, statement), {}).setdefault((token, one))

    def absorb(self, other: Journal) -> None:
        self.regions |= other.regions
        self.called |= other.called
        self.facts |= other.facts
        self.facts_of_a_body |= other.facts_of_a_body
        self.is_body &= other.is_body
        for key, reads in other.reads.items():
            self.reads.setdefault(key, {}).update(reads)

    def build(self, path: str, place_marker: Placing) -> tuple[Fact, ...]:
        """The facts that lie in one file, in the order of their places."""
        found = list(self._build(path, place_marker))
        return tuple(sorted((f for f in found if f.place.path == path), key=lambda fact: fact.place))

    def _build(self, path: str, place_marker: Placing) -> Iterator[Fact]:
        yield from self.facts
        for place, region in self.regions.items():
            yield RegionCall(
                place,
                region.region,
                region.kept,
                region.problems,
                place in self.called,
                region.function_is_result,
            )
        for reads in self.reads.values():
            if next(iter(reads))[1].place.path == path:
                yield place_marker(list(reads))


def region_steps(token: Token) -> tuple[Step, ...]:
    return (Step(token.place, f"region {token.region} is declared here"),)


def unique(places: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(dict.fromkeys(places))
