"""What one run of the interpreter found: collected while it runs, turned into facts at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING

from remat_lint.analysis.facts import (
    Assumption,
    BareRead,
    Fact,
    GivenUp,
    HiddenDependency,
    Output,
    Reached,
    RegionCall,
    Rejection,
    ReplayFact,
)
from remat_lint.analysis.state import Chain, Consumer, Hidden, MarkerRun, Pending, State
from remat_lint.analysis.values import Token
from remat_lint.findings import Place, Step

if TYPE_CHECKING:
    from remat_lint.analysis import ir


class Evidence(Enum):
    """What one execution shows of an argument of a marker."""

    UNKNOWN = 0
    """Nothing."""

    USEFUL = 1
    """A bare operation reads the output afterwards, on every path, or it goes where nobody can follow."""

    PARTLY = 2
    """On some of the paths that were joined."""

    LATE = 3
    """A bare operation had read it before."""

    UNREAD = 4
    """No bare operation reads it."""

    NO_OUTPUT = 5
    """It is not the output of a region that may be skipped."""

    COPY = 6
    """It is a copy of one."""

    REPLAY_ONLY = 7
    """The marker runs on replay only."""

    COMPILED = 8
    """The marker runs in a function under ``torch.compile``."""

    AGAIN = 9
    """Something had persisted it already, and a bare operation reads it."""


@dataclass(frozen=True, slots=True)
class Testimony:
    """Evidence, with the execution that gave it and the reads that it saw."""

    evidence: Evidence
    run: MarkerRun
    readers: frozenset[Chain] = frozenset()


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
    facts_of_aware_code: dict[Fact, frozenset[ir.Function]] = field(default_factory=dict)
    """What matters where one of these functions, which ran it, is known to be replayed."""
    aware: set[ir.Function] = field(default_factory=set)
    """Functions that declare regions or mark: somebody will put a checkpoint around them."""
    reads: dict[object, dict[tuple[Token, Consumer], None]] = field(default_factory=dict)
    markers: dict[tuple[Place, int], dict[Testimony, None]] = field(default_factory=dict)
    """What the executions of each argument of a marker, by call and position, showed."""

    def note(self, fact: Fact) -> None:
        self.facts.setdefault(fact)

    def note_in_body(self, fact: Rejection) -> None:
        self.facts_of_a_body.setdefault(fact)

    def note_if_aware(self, fact: Fact, functions: frozenset[ir.Function]) -> None:
        """Note a fact about code that is replayed if one of the functions that ran it is aware of regions."""
        self.facts_of_aware_code[fact] = functions | self.facts_of_aware_code.get(fact, frozenset())

    def only(self, kinds: UnionType) -> Journal:
        """A journal with the facts of these kinds, and nothing else."""
        return Journal(facts={fact: None for fact in self.facts if isinstance(fact, kinds)})

    def end_root(self) -> None:
        """A root that may be the body of a checkpoint is taken for one."""
        if self.is_body:
            self.facts |= self.facts_of_a_body
            for fact, functions in self.facts_of_aware_code.items():
                if functions & self.aware:
                    self.note(fact)
        self.facts_of_a_body = {}

    def settle(self, pending: dict[Token, tuple[Pending, ...]]) -> None:
        """A checkpointed body ended on this path: what was not served by now never will be."""
        for token, waiting in pending.items():
            for one in waiting:
                if isinstance(one, Hidden):
                    steps = (*region_steps(token), *one.steps)
                    output = Output(one.name, token.region, token.kept, steps)
                    fact = HiddenDependency(one.place, one.region, one.kept, output, one.way)
                    self.facts.setdefault(fact)
                else:
                    statement = one.statement.at if one.statement is not None else one.place.node
                    key = (one.place.path, statement, token.resident)
                    self.reads.setdefault(key, {}).setdefault((token, one))

    def testify(self, run: MarkerRun, evidence: Evidence, readers: frozenset[Chain] = frozenset()) -> None:
        testimonies = self.markers.setdefault((run.place, run.index), {})
        testimonies.setdefault(Testimony(evidence, run, readers))

    def judge(self, state: State, runs: Iterable[MarkerRun]) -> None:
        """These markers ran on a path that ended: what were they good for?"""
        lost = any(isinstance(fact, GivenUp) for fact in self.facts)
        for run in runs:
            readers = state.readers_of(run.tokens)
            self.testify(run, Evidence.UNKNOWN if lost else _evidence(state, run, readers), readers)

    def bring_home(self, path: str) -> None:
        """Reads in another file, of outputs declared in this one, are reported where they are declared.

        They come from methods that a class inherits: the file that reads does not know of the class.
        """
        away = [key for key, reads in self.reads.items() if next(iter(reads))[1].place.path != path]
        for key in away:
            for token, consumer in self.reads.pop(key):
                if token.place.path == path:
                    home = (path, token.place.node, token.resident)
                    self.reads.setdefault(home, {}).setdefault((token, _at_region(token, consumer)))

    def absorb(self, other: Journal, callers: frozenset[ir.Function] = frozenset()) -> None:
        """Take over what a part of the run found, which ``callers`` called."""
        self.regions |= other.regions
        self.called |= other.called
        self.facts |= other.facts
        self.facts_of_a_body |= other.facts_of_a_body
        self.is_body &= other.is_body
        self.aware |= other.aware
        for fact, functions in other.facts_of_aware_code.items():
            self.note_if_aware(fact, functions | callers)
        for key, reads in other.reads.items():
            self.reads.setdefault(key, {}).update(reads)
        for call, testimonies in other.markers.items():
            self.markers.setdefault(call, {}).update(testimonies)

    def build(self, path: str, place_marker: Placing, markers: Iterable[Fact]) -> tuple[Fact, ...]:
        """The facts of one file, in the order of their places; ``markers`` are known already.

        What its checkpoints replay may lie in other files.
        """
        found = [*self._build(path, place_marker), *markers]
        here = (f for f in found if f.place.path == path or isinstance(f, _ANYWHERE))
        return tuple(sorted(here, key=lambda fact: fact.place))

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


_ANYWHERE = ReplayFact | Reached | Assumption


def _at_region(token: Token, consumer: Consumer) -> Consumer:
    reader = "it is read {here}, in a method that the class inherits"
    return replace(
        consumer,
        place=token.place,
        statement=None,
        target=None,
        name="",
        obstacle="the statement that reads it is in another file",
        steps=(*consumer.steps, Step(consumer.place, reader)),
    )


def _evidence(state: State, run: MarkerRun, readers: frozenset[Chain]) -> Evidence:
    if not readers:
        return Evidence.UNREAD
    if run.again:
        return Evidence.AGAIN
    if run.late is not None:
        return Evidence.LATE
    lineage = {part for token in run.tokens for part in token.lineage()}
    always = any(not lineage.isdisjoint(token.lineage()) for token in state.always)
    return Evidence.USEFUL if always else Evidence.PARTLY


def region_steps(token: Token) -> tuple[Step, ...]:
    return (Step(token.place, f"region {token.region} is declared here"),)


def unique(places: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(dict.fromkeys(places))


def others(steps: Iterable[Step], place: Place) -> tuple[Step, ...]:
    """The steps that are somewhere else, each place once."""
    found: dict[Place, Step] = {}
    for step in steps:
        found.setdefault(step.place, step)
    return tuple(step for step in found.values() if step.place != place)
