"""Where a guard on the phase changes what is computed, not only what is recorded.

torch_remat keeps the graph of the forward and refills its saved tensors from the replay, in order. A name
that stands for something else on replay refills them with other values; an operation that keeps tensors and
runs in one phase only changes how many there are (SEMANTICS 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deed, Diverge
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import Divergence, Kept
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.memos import Memos
from remat_lint.analysis.natures import MAX_NESTED
from remat_lint.analysis.replays import Replay
from remat_lint.analysis.state import Cause, Change, Keeping, Phase, State, reunite
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import (
    ByPhase,
    DictObject,
    ListObject,
    Reference,
    Scalar,
    Setting,
    Tensor,
    Unknown,
    Value,
    alternatives,
    contents,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Diverged, Held
from remat_lint.findings import Place
from remat_lint.project import Project
from remat_lint.torch_ops.keeping import KEEPING, KEEPING_MODULES


@dataclass(frozen=True, slots=True)
class Beside:
    """An operation of one phase that the other phase lacks, or does otherwise."""

    one: Keeping
    divergence: Divergence
    last: bool = False


class Divergences(Memos):
    """Notes what runs, or is, something else on replay."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.swayed: dict[Held, Cause] = {}
        """For a tensor, or other state, what makes its values others on replay."""
        self.looked_at: dict[str, Cause] = {}
        """The same for what expressions looked at, by the name of the state for the notes on a call."""
        self.partings = 0
        """How often something had become another one on replay by now."""

    # --- where the phases meet again

    def end_guard(self, statements: Sequence[ir.Stmt], paths: list[State]) -> list[State]:
        """These paths left statements that both phases entered: what they do in one phase only is noted."""
        forward = [path for path in paths if path.phase is Phase.FORWARD]
        others = [path for path in paths if path.phase is not Phase.FORWARD]
        if not forward or not others:
            return paths
        if not self.is_evaluation(paths[0]) and not self.cut_short:
            beside = _first_beside(forward, others)
            is_known = beside is not None and beside.one.certain
            named = not is_known and self._note_diverging(statements, forward[0], others[0])
            if beside is not None and not named:
                self._note_beside(beside)
        self.meet_again(paths)
        return reunite(paths)

    def _note_diverging(self, statements: Sequence[ir.Stmt], forward: State, other: State) -> bool:
        """Which names stand for something else on replay? Whether tensors do."""
        found = False
        mine, theirs = (path.frames.get(self.frame.id, {}) for path in (forward, other))
        for name in {**mine, **theirs}:
            one, two = mine.get(name), theirs.get(name)
            if one is not None and two is not None and self._is_same(forward, one, other, two):
                continue
            by = next((each for each in nested(statements) if name in bound_names(each)), None)
            if by is not None:
                matters = any(value is not None and _matters(value) for value in (one, two))
                changes = (
                    path.changed.get(self._held(value)) for path, value in ((other, two), (forward, one))
                )
                changed = next((change.cause.place for change in changes if change is not None), None)
                self.frame.watch.diverged[name] = Diverged(changed or self.place(by), matters)
                found |= matters and one is not None and two is not None
        return found

    def _note_beside(self, beside: Beside) -> None:
        one = beside.one
        steps = one.way[len(self.calls_since(0)) :]
        diverge = Diverge(one.name, beside.divergence, beside.last)
        self.deeds.note(Deed(diverge, one.place, steps, certain=one.certain))

    # --- what is changed

    @contextmanager
    def judged_for(self, state: State, replay: Replay) -> Iterator[None]:
        around, self.swayed = self.swayed, {}
        try:
            with super().judged_for(state, replay):
                yield
        finally:
            self.swayed = around

    def note_changed(
        self,
        state: State,
        shown: ir.Node,
        held: Held,
        how: str,
        given: Sequence[Operand] | None,
        *,
        whole: bool,
    ) -> None:
        if state.phase is Phase.BOTH:
            if whole:
                self.swayed.pop(held, None)
            return
        statement, before = self.frame.statement, state.changed.get(held)
        if statement is None or self.is_inert():
            return
        if given is None:
            given = [
                Operand(self.frame.values[part.at], part)
                for part, _ in evaluated(header(statement))
                if isinstance(part, ir.Name) and part.at in self.frame.values
            ]
        parts = (self._recipe(state, one.value, one.expr) for one in given)
        made = self._numbered((how, None if whole else before, *parts))
        cause = Cause(self.text(shown), self.place(statement), self.calls_since(0))
        state.changed[held] = Change(made, cause)
        if not held[1]:
            state.made[held[0]] = made

    def meet_again(self, paths: Sequence[State]) -> None:
        """The phases meet again: what one of them alone changed is another one on replay from now on."""
        forward = next((path for path in paths if path.phase is Phase.FORWARD), None)
        other = next((path for path in paths if path.phase is not Phase.FORWARD), None)
        if forward is None or other is None or self.cut_short or self.is_evaluation(forward):
            return
        for held in {**forward.changed, **other.changed}:
            one, two = forward.changed.get(held), other.changed.get(held)
            change = two or one
            if change is None or one == two or held[0] > forward.parted:
                continue
            number = 0 if two is not None else held[0]
            alike = self._alike(held, forward, other)
            self.swayed[held] = replace(change.cause, number=number, alike=alike)
            # What was there before the checkpoint, the replay finds as the forward leaves it.
            self.partings += not (number and self.is_foreign(number, self.replayed_since))

    def _alike(self, held: Held, forward: State, other: State) -> frozenset[object]:
        """Where the elements of a container lie that are the same in both phases."""
        one, two = (path.heap.get(held[0]) for path in (forward, other))
        match one, two:
            case ListObject(items=mine), ListObject(items=theirs):
                first, second = dict[object, Value](enumerate(mine)), dict[object, Value](enumerate(theirs))
            case DictObject(items=mine), DictObject(items=theirs):
                first, second = dict(mine), dict(theirs)
            case _:
                return frozenset()
        shared = (key for key in first if key in second)
        return frozenset(key for key in shared if self._is_same(forward, first[key], other, second[key]))

    def meet_attribute(self, state: State, expr: ir.Expr, holder: Operand, name: str, value: Value) -> None:
        super().meet_attribute(state, expr, holder, name, value)
        around = self.held_by(state, holder) if self.swayed else None
        if around is not None:
            self.look_at(state, expr, value, (around[0], f"{around[1]}.{name}"))

    def look_at(self, state: State, expr: ir.Expr, value: Value, held: Held) -> None:
        """Code of both phases looks at state, or at a container: it may be another one on replay."""
        if not self.swayed or state.phase is not Phase.BOTH:
            return
        container = (value.address, "") if isinstance(value, Reference) else held
        found = {f"{one[0]}{one[1]}": self.swayed[one] for one in (held, container) if one in self.swayed}
        if found:
            self.looked_at |= found
            met = self.frame.watch.met
            met[expr.at] = met.get(expr.at, frozenset()).union((0, name) for name in found)

    def pass_over(self, expr: ir.Expr, key: object) -> None:
        """An element of a container is taken: one that is the same in both phases is no matter."""
        met = self.frame.watch.met
        found = met.get(expr.at, frozenset())
        alike = {
            (0, name)
            for owner, name in found
            if not owner and name in self.looked_at and key in self.looked_at[name].alike
        }
        if alike:
            met[expr.at] = found - alike

    # --- names

    def note_diverged(self, state: State, expr: ir.Name) -> None:
        """Code that runs in both phases looks at a name: it may stand for something else on replay."""
        diverged = self.frame.watch.diverged.get(expr.id)
        if diverged is None or state.phase is not Phase.BOTH:
            return
        statement = self.frame.statement
        if not diverged.matters:
            self.frame.watch.met[expr.at] = frozenset([(0, expr.id)])
        elif self.keeps_its_value(statement) and not self._is_returned_by_body(statement, expr):
            self._note_divergence(diverged.place, expr.id, Divergence.NAME)

    def _cause(self, operands: Sequence[Operand]) -> Cause | None:
        """What makes an operand another one on replay."""
        watch = self.frame.watch
        for operand in operands:
            for name in sorted(name for owner, name in watch.mentioned(operand.expr) if not owner):
                if name in watch.diverged:
                    return Cause(name, watch.diverged[name].place, self.calls_since(0))
                if name in self.looked_at:
                    return self.looked_at[name]
            if isinstance(operand.value, ByPhase) and operand.expr is not None:
                return Cause(self.text(operand.expr), self.place(operand.expr), self.calls_since(0))
            if (cause := self._swayed_by(operand.value)) is not None:
                return cause
        return None

    def _swayed_by(self, value: Value) -> Cause | None:
        """What makes a tensor another one on replay."""
        return self.swayed.get(self._held(value))

    def _held(self, value: Value | None) -> Held:
        """Where a tensor or an object lies."""
        return self.root_of(self.number_of(value) if value is not None else 0)

    def _sway(self, state: State, operands: Sequence[Operand], result: Value, *, keeps: bool) -> None:
        """A number that is another one on replay meets a tensor: it matters to what keeps the result."""
        if state.phase is not Phase.BOTH or not self.keeps_its_value(self.frame.statement):
            return
        if not any(map(_matters, (result, *(operand.value for operand in operands)))):
            return
        cause = self._cause(operands)
        if cause is None:
            return
        if keeps:
            self._note_cause(cause)
        elif number := self.number_of(result):
            self.swayed[self.root_of(number)] = cause

    def note_given_away(self, state: State, operands: Sequence[Operand]) -> None:
        """What nobody looks into, or computes nothing again, is given these: it may keep them."""
        for operand in operands:
            cause = self._swayed_by(operand.value)
            if cause is not None and not isinstance(operand.value, Reference) and state.phase is Phase.BOTH:
                self._note_cause(cause)

    def _note_cause(self, cause: Cause) -> None:
        steps = cause.way[len(self.calls_since(0)) :]
        diverge = Diverge(cause.what, Divergence.NAME, number=cause.number)
        self.deeds.note(Deed(diverge, cause.place, steps))

    def nature_of(self, value: Value) -> object:
        """What decides whether it matters that a callee stores a value, or keeps it."""
        return super().nature_of(value), self._swayed_by(value) is not None

    def note_renewed(self, pairs: Iterable[tuple[int, int]]) -> None:
        """What another call made has new numbers for this one."""
        renumbered = list(pairs)
        super().note_renewed(renumbered)
        for old, new in renumbered:
            if (old, "") in self.swayed:
                self.swayed[new, ""] = self.swayed[old, ""]

    # --- values

    def note_choice(self, before: Phase, expr: ir.Expr, ends: Sequence[tuple[State, Value]]) -> None:
        """An expression of which the phase decides what is evaluated gives these values."""
        forward = [end for end in ends if end[0].phase is Phase.FORWARD]
        others = [end for end in ends if end[0].phase is not Phase.FORWARD]
        if before is not Phase.BOTH or not forward or not others:
            return
        (mine, one), (theirs, other) = forward[0], others[0]
        goes_on = self.keeps_its_value(self.frame.statement) and not self._is_same(mine, one, theirs, other)
        if goes_on and (_matters(one) or _matters(other)):
            self._note_divergence(self.place(expr), self.text(expr), Divergence.NAME)
        elif beside := _first_beside([path for path, _ in forward], [path for path, _ in others]):
            self._note_beside(beside)

    def note_returns(self, state: State, frame: Frame, ends: Sequence[tuple[State, Value]]) -> None:
        """A call ends that was made in both phases: does it do, or return, something else on replay?"""
        forward = [end for end in ends if end[0].phase is Phase.FORWARD]
        replay = [end for end in ends if end[0].phase is Phase.REPLAY]
        if state.phase is not Phase.BOTH or not forward or not replay or self.cut_short:
            return
        beside = _first_beside([path for path, _ in forward], [path for path, _ in replay])
        is_known = beside is not None and beside.one.certain
        if not is_known and self._returns_another(frame, forward[0], replay[0]):
            self._note_diverging_result(frame)
        elif beside is not None:
            self._note_beside(beside)

    def _returns_another(
        self, frame: Frame, forward: tuple[State, Value], replay: tuple[State, Value]
    ) -> bool:
        """Whether a call returns another tensor on replay, which its caller goes on with."""
        (mine, one), (theirs, other) = forward, replay
        if self._is_body(frame) or self._is_same(mine, one, theirs, other):
            return False
        caller = frame.parent
        goes_on = caller is not None and self.keeps_its_value(caller.statement)
        return goes_on and (_matters(one) or _matters(other))

    def _note_diverging_result(self, frame: Frame) -> None:
        by = min((statement for _, _, statement in frame.ended), key=lambda statement: statement.at)
        around, self.frame = self.frame, frame
        name = frame.function.name if frame.function is not None else ""
        self._note_divergence(self.place(by), name, Divergence.RESULT)
        self.frame = around

    def _is_returned_by_body(self, statement: ir.Stmt | None, expr: ir.Expr) -> bool:
        """Whether a checkpointed function returns just this."""
        if not isinstance(statement, ir.Return) or not self._is_body(self.frame):
            return False
        value = statement.value
        return value is expr or (isinstance(value, ir.Display) and expr in value.items)

    def _is_body(self, frame: Frame) -> bool:
        """Whether a frame runs the function of a checkpoint: nobody looks at what it returns on replay."""
        if frame.parent is None:
            return True
        return bool(self.checkpoints) and self.checkpoints[-1][1] == frame.parent.depth

    # --- operations

    def note_operation(
        self, state: State, name: str, operands: Sequence[Operand], result: Value, *, kept: bool
    ) -> None:
        """An operation ran; whether what it is given is such that it would be ``kept``."""
        keeps = kept and self._keeps(name.partition(" ")[0], result)
        if any(region.kept is Kept.SAVE for region in self.regions):
            return  # what such a region keeps is not computed again
        self._sway(state, operands, result, keeps=keeps)
        if keeps and state.phase is not Phase.REPLAY:
            self.deeds.keep()
        if state.phase is Phase.BOTH:
            return
        made = self.note_recipe(state, name, operands, result)
        if keeps and self.frame.statement is not None:
            place, way = self.place(self.frame.statement), self.calls_since(0)
            one = Keeping(made, name.partition(" ")[0], place, way, all(_grads(result)))
            state.keeping = (*state.keeping, one)

    def note_one_phase(self, name: str, result: Value, phase: Phase) -> bool:
        """An operation may be switched on in one phase only: whether it keeps tensors there."""
        statement = self.frame.statement
        is_one = phase is not Phase.BOTH and statement is not None and not self.is_inert()
        if not is_one or statement is None or not self._keeps(name, result):
            return False
        in_replay = phase is Phase.REPLAY
        kind = Divergence.REPLAY_OPERATION if in_replay else Divergence.OPERATION
        diverge = Diverge(name, kind, last=in_replay)
        self.deeds.note(Deed(diverge, self.place(statement), certain=all(_grads(result))))
        return True

    def note_recipe(self, state: State, how: str, operands: Sequence[Operand], result: Value) -> int:
        """Something was made on a path of one phase: what the other phase makes is compared with it."""
        parts = (self._recipe(state, operand.value, operand.expr) for operand in operands)
        made = self._numbered((how, *parts))
        number = self.number_of(result)
        operation = torch_ops.method(how)
        is_view = operation is not None and operation.effect is torch_ops.Effect.VIEW
        is_view &= any(self.number_of(one.value) == number for one in operands)
        if number and not is_view:  # what a view is of stays what it is
            state.made[number] = made
        return made

    def _keeps(self, name: str, result: Value) -> bool:
        """Whether an operation with this name keeps tensors for backward that a replay has to compute."""
        if name not in KEEPING | KEEPING_MODULES or not self.grad_enabled:
            return False
        return any(grad is not False for grad in _grads(result))

    def _recipe(self, state: State, value: Value, expr: ir.Expr | None = None, depth: int = 0) -> int:
        """A number that is equal for what is made alike on two paths of one phase each."""
        match value:
            case Tensor() | Unknown():
                number = self.number_of(value)
                made = state.made.get(number)
                if made is None:
                    made = self._numbered(("held", self.root_of(number) if number else self.fresh()))
                as_seen = (value.layout, value.detached) if isinstance(value, Tensor) else ((), False)
                return self._numbered(("view", made, *as_seen)) if any(as_seen) else made
            case SequenceValue(items=items, rest=rest):
                parts = items if rest is None else (*items, rest)
                return self._numbered(
                    ("row", *(self._recipe(state, part, None, depth + 1) for part in parts))
                )
            case Reference() if depth < MAX_NESTED:
                found = self.object_at(state, value)
                if isinstance(found, (ListObject, DictObject)):
                    parts = tuple(contents(found))
                    return self._numbered(
                        ("items", *(self._recipe(state, one, None, depth + 1) for one in parts))
                    )
            case Scalar() if type(value) in (Scalar, Setting):
                return self._numbered(("number", self.text(expr) if expr is not None else self.fresh()))
        return self._numbered((type(value), value))

    def _numbered(self, recipe: object) -> int:
        return self.recipes.setdefault(recipe, len(self.recipes) + 1)

    def _is_same(self, first: State, one: Value, second: State, other: Value) -> bool:
        """Whether two values, each on its path, are one, or are made alike."""
        if one == other:
            return True
        if isinstance(one, ByPhase) or isinstance(other, ByPhase):
            return True
        return self._recipe(first, one) == self._recipe(second, other)

    def _note_divergence(self, place: Place, what: str, divergence: Divergence) -> None:
        self.deeds.note(Deed(Diverge(what, divergence), place))


def _grads(result: Value) -> Iterator[bool | None]:
    """Whether each thing that an operation may return requires grad, None where that is unknown."""
    for one in alternatives(result):
        if isinstance(one, SequenceValue):
            parts = [grad for item in one.items for grad in _grads(item)]
            yield True if any(parts) else None if None in parts else False
        elif isinstance(one, (Tensor, Unknown)):
            yield one.grad if isinstance(one, Tensor) else None


def _first_beside(forward: Sequence[State], others: Sequence[State]) -> Beside | None:
    """The first operation that runs in one phase only, or is given something else, on some paths."""
    mine = max((path.keeping for path in forward), key=len)
    theirs = max((path.keeping for path in others), key=len)
    if mine == theirs:
        return None
    if [one.name for one in mine] == [other.name for other in theirs]:
        other = next(other for one, other in zip(mine, theirs, strict=True) if one != other)
        return Beside(other, Divergence.OPERAND)
    if (only := _beside(mine, theirs)) is not None:
        return Beside(only, Divergence.OPERATION)
    if (only := _beside(theirs, mine)) is not None:
        return Beside(only, Divergence.REPLAY_OPERATION, last=theirs[: len(mine)] == mine)
    other = next(other for one, other in zip(mine, theirs, strict=False) if one.name != other.name)
    return Beside(other, Divergence.REPLAY_OPERATION)


def _beside(some: Sequence[Keeping], others: Sequence[Keeping]) -> Keeping | None:
    """The first of some operations that the others lack, which are the rest of them, in the same order."""
    for kind in _KINDS:
        left = iter(map(kind, some))
        if all(kind(other) in left for other in others):
            left = iter(map(kind, others))
            return next(one for one in some if kind(one) not in left)
    return None


_KINDS: tuple[Callable[[Keeping], object], ...] = (attrgetter("made"), attrgetter("name"))
"""What operations of two phases are told to be the same by: what they compute, or what they are."""


def _matters(value: Value) -> bool:
    """Whether a value is, or may be, a tensor."""
    return any(
        isinstance(one, Tensor) or (isinstance(one, Unknown) and one.computed) for one in alternatives(value)
    )
