"""What the executions of a marker say together: useful, unneeded, misplaced, without effect.

Every execution of an argument of a marker, on every path, in every call that the analyser followed, gave
its evidence. Only what they agree on is said: a marker that is good for something on one path is never
called unneeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.facts import Fate, Marker
from remat_lint.analysis.journal import Evidence, Testimony
from remat_lint.analysis.placement import Placement
from remat_lint.analysis.state import MarkerRun
from remat_lint.analysis.suites import Level, Suites, bound_names, may_leave, nested, runs_whole
from remat_lint.findings import EditMarker, InsertMarker, MarkTarget, MoveMarker, Place
from remat_lint.source import SourceFile

Testimonies = Iterable[Testimony]

_INEFFECTIVE = {
    Evidence.COPY: "copy",
    Evidence.REPLAY_ONLY: "replay",
    Evidence.COMPILED: "compiled",
}
_UNNEEDED = {Evidence.UNREAD: "unread", Evidence.NO_OUTPUT: "no-output"}
_IF_LIKE = (ir.If, ir.Match)


class MarkerUses:
    """Turns the evidence of one file into facts."""

    def __init__(
        self,
        source: SourceFile,
        markers: Mapping[tuple[Place, int], Mapping[Testimony, None]],
        placement: Placement,
    ) -> None:
        self._source = source
        self._markers = [tuple(_first_of_all(testimonies)) for testimonies in markers.values()]
        self._placement = placement
        self._suites: dict[ir.Function, Suites] = {}

    def facts(self) -> Iterator[Marker]:
        """What is wrong with markers: one fact for the arguments of a call that share their fate."""
        found: dict[object, Marker] = {}
        good = []
        for testimonies in filter(None, self._markers):
            fact = self._fact(testimonies)
            if fact is None:
                good.append(testimonies)
                continue
            fact = self._with_comment(fact, testimonies[0].run)
            key = (fact.place, fact.fate, fact.why, fact.consumer, fact.obstacle, fact.edit is None)
            found[key] = _together(found[key], fact) if key in found else fact
        yield from found.values()
        yield from self._ungrouped(good)

    def _with_comment(self, fact: Marker, run: MarkerRun) -> Marker:
        """Taking out a marker takes its comment away, or leaves one that means nothing."""
        if fact.edit is None or run.statement is None or fact.place.path != self._source.path:
            return fact
        return replace(fact, comment=self._source.has_comment(run.statement.at))

    def _fact(self, testimonies: tuple[Testimony, ...]) -> Marker | None:
        run = testimonies[0].run
        shown = {testimony.evidence for testimony in testimonies}
        if Evidence.UNKNOWN in shown:
            return None
        for fate, reasons in ((Fate.INEFFECTIVE, _INEFFECTIVE), (Fate.UNNEEDED, _UNNEEDED)):
            if shown & set(reasons) and shown <= {*_INEFFECTIVE, *_UNNEEDED}:
                why = next(reason for evidence, reason in reasons.items() if evidence in shown)
                removal = _removal(run) if fate is Fate.UNNEEDED else None
                obstacle = _obstacle(run) if fate is Fate.UNNEEDED and removal is None else None
                return Marker(run.place, (run.argument,), fate, why, edit=removal, obstacle=obstacle)
        if Evidence.LATE in shown and shown <= {Evidence.LATE, *_UNNEEDED}:
            return self._late(testimonies)
        if shown & {Evidence.USEFUL, Evidence.PARTLY} and shown & {Evidence.PARTLY, Evidence.UNREAD}:
            return self._outside(testimonies) if Evidence.LATE not in shown else None
        return None

    # --- after the consumer

    def _late(self, testimonies: tuple[Testimony, ...]) -> Marker:
        run = testimonies[0].run
        found = dict.fromkeys(one.run.late for one in testimonies if one.run.late is not None)
        reads = [late for late in found if late is not None]
        consumer = reads[0][1]
        read = self._placement.bare_read([late for late in reads if late[1].place == consumer.place])
        edit, removal = None, _removal(run)
        if removal is not None and read.insertion is not None and read.insertion.path == run.place.path:
            edit = MoveMarker(run.place.path, removal, read.insertion)
        obstacle = None if edit is not None else read.obstacle or _obstacle(run)
        return Marker(run.place, (run.argument,), Fate.LATE, "", consumer.place, edit, obstacle)

    # --- outside the branch that reads

    def _outside(self, testimonies: tuple[Testimony, ...]) -> Marker | None:
        run = testimonies[0].run
        readers = _readers(testimonies)
        if not readers or run.function is None or run.statement is None:
            return None
        suites = self._suites_of(run.function)
        mine, common = suites.around(run.statement), suites.common(readers)
        if not mine or common[: len(mine)] != mine:
            return None
        inner = [level for level in common[len(mine) :] if isinstance(level.owner, _IF_LIKE)]
        level = inner[-1] if inner else common[-1]
        first = min((suites.member(level, reader) for reader in readers), key=lambda one: one.at)
        if isinstance(first, ir.If) and first.is_elif:
            return None  # there is no room before it
        if not inner and not _leaves_between(level, run.statement, first):
            return None
        moved = _move(run, first, suites)
        obstacle = None if moved is not None else _obstacle(run)
        return Marker(
            run.place, (run.argument,), Fate.OUTSIDE, "", Place(run.place.path, first.at), moved, obstacle
        )

    def _suites_of(self, function: ir.Function) -> Suites:
        if function not in self._suites:
            self._suites[function] = Suites(function.body)
        return self._suites[function]

    # --- several markers for one consumer

    def _ungrouped(self, good: list[tuple[Testimony, ...]]) -> Iterator[Marker]:
        first: dict[tuple[ir.Function, ir.Stmt], MarkerRun] = {}
        for testimonies in sorted(good, key=lambda one: (one[0].run.place, one[0].run.index)):
            run = testimonies[0].run
            consumer = self._only_consumer(testimonies)
            if consumer is None or run.function is None:
                continue
            other = first.setdefault((run.function, consumer), run)
            if other.place != run.place and self._is_beside(run.function, other, run, consumer):
                place = Place(run.place.path, consumer.at)
                edit = _joined(other, run, consumer, self._suites_of(run.function))
                fact = Marker(run.place, (run.argument,), Fate.UNGROUPED, "", place, edit)
                yield self._with_comment(fact, run)

    def _only_consumer(self, testimonies: tuple[Testimony, ...]) -> ir.Stmt | None:
        """The statement that is the first to read in every execution."""
        if any(one.evidence is not Evidence.USEFUL for one in testimonies):
            return None
        consumers = {min(readers, key=lambda s: s.at) for one in testimonies if (readers := _readers((one,)))}
        return consumers.pop() if len(consumers) == 1 else None

    def _is_beside(self, function: ir.Function, other: MarkerRun, run: MarkerRun, consumer: ir.Stmt) -> bool:
        suites = self._suites_of(function)
        if other.statement is None or run.statement is None:
            return False
        levels = [suites.around(one) for one in (other.statement, run.statement, consumer)]
        return bool(levels[0]) and levels[0] == levels[1] == levels[2]


def _together(first: Marker, second: Marker) -> Marker:
    """One fact for two arguments of a call."""
    return replace(
        first,
        arguments=(*first.arguments, *second.arguments),
        edit=_both(first.edit, second.edit) if first.edit is not None and second.edit is not None else None,
    )


def _both(first: EditMarker | MoveMarker, second: EditMarker | MoveMarker) -> EditMarker | MoveMarker | None:
    if isinstance(first, EditMarker) and isinstance(second, EditMarker):
        return replace(first, drop=(*first.drop, *second.drop))
    if isinstance(first, MoveMarker) and isinstance(second, MoveMarker):
        removal = replace(first.removal, drop=(*first.removal.drop, *second.removal.drop))
        targets = dict.fromkeys((*first.insertion.targets, *second.insertion.targets))
        return MoveMarker(first.path, removal, replace(first.insertion, targets=tuple(targets)))
    return None


def _first_of_all(testimonies: Testimonies) -> Iterator[Testimony]:
    """A marker that runs again, in a loop or after another one, says nothing new."""
    return (one for one in testimonies if one.evidence is not Evidence.AGAIN)


def _readers(testimonies: Testimonies) -> list[ir.Stmt]:
    """The statements of the marker's own function that read; none where one read is elsewhere."""
    found: dict[ir.Stmt, None] = {}
    for testimony in testimonies:
        for chain in testimony.readers:
            statement = dict(chain).get(testimony.run.frame)
            if statement is None:
                return []
            found[statement] = None
    return list(found)


def _leaves_between(level: Level, marker: ir.Stmt, reader: ir.Stmt) -> bool:
    """Whether the function may end after a marker and before the statement that reads."""
    if marker not in level.suite or not runs_whole(reader):
        return False
    start, end = level.suite.index(marker), level.suite.index(reader)
    return may_leave(level.suite[start + 1 : end])


def _removal(run: MarkerRun) -> EditMarker | None:
    """The edit that takes the argument out; None where that takes more away than a marker."""
    if (
        not run.is_named
        or not isinstance(run.statement, ir.Expression)
        or run.statement.value.at != run.place.node
    ):
        return None
    return EditMarker(run.place.path, run.statement.at, drop=(run.index,))


def _obstacle(run: MarkerRun) -> str:
    """Why a marker is neither taken out nor moved."""
    if not run.is_named:
        return "what it marks is computed in the call"
    if not isinstance(run.statement, ir.Expression) or run.statement.value.at != run.place.node:
        return "the marker is no statement of its own"
    return "what it marks is bound anew before it is read, or the marker is in another file"


def _move(run: MarkerRun, before: ir.Stmt, suites: Suites) -> MoveMarker | None:
    """The marker of a run, moved down; None where its names stand for something else there."""
    assert run.statement is not None
    between = (
        s for s in nested(suites.around(run.statement)[-1].suite) if run.statement.at < s.at < before.at
    )
    root = run.argument.lstrip("*").split("[")[0].split(".")[0]
    removal = _removal(run)
    if removal is None or any(root in bound_names(statement) for statement in between):
        return None
    insertion = InsertMarker(run.place.path, before.at, (MarkTarget(run.argument),))
    return MoveMarker(run.place.path, removal, insertion)


def _joined(first: MarkerRun, later: MarkerRun, consumer: ir.Stmt, suites: Suites) -> MoveMarker | None:
    """One of two markers moved to the other: the later one where they stand next to each other."""
    assert first.statement is not None
    assert later.statement is not None
    suite = suites.around(later.statement)[-1].suite
    together = suite[suite.index(first.statement) + 1 :][:1] == (later.statement,)
    removal = _removal(later)
    if together and removal is not None:
        insertion = InsertMarker(later.place.path, consumer.at, (MarkTarget(later.argument),))
        return MoveMarker(later.place.path, removal, insertion)
    return _move(first, consumer, suites)
