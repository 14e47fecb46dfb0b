"""Where a guard on the phase changes what is computed, not only what is recorded.

torch_remat keeps the graph of the forward and refills its saved tensors from the replay, in order. A name
that stands for something else on replay refills them with other values; an operation that keeps tensors and
runs in one phase only changes how many there are (SEMANTICS 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deed, Diverge
from remat_lint.analysis.facts import Divergence, Kept
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.state import Keeping, Phase, State, reunite
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import (
    ByPhase,
    DictObject,
    ListObject,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    alternatives,
    contents,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Diverged
from remat_lint.analysis.writes import MAX_NESTED, Writes
from remat_lint.findings import Place, Step
from remat_lint.project import Project
from remat_lint.torch_ops.keeping import KEEPING


@dataclass(frozen=True, slots=True)
class Cause:
    """What is something else on replay: ``what``, as written, where that is decided, and the way there."""

    what: str
    place: Place
    way: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """An operation of one phase that the other phase lacks, or does otherwise."""

    one: Keeping
    divergence: Divergence
    last: bool = False


class Divergences(Writes):
    """Notes what runs, or is, something else on replay."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.swayed: dict[int, Cause] = {}
        """For the number of a tensor, what makes its values others on replay."""

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
                self.frame.watch.diverged[name] = Diverged(by, matters)
                found |= matters
        return found

    def _note_beside(self, beside: Beside) -> None:
        one = beside.one
        steps = one.way[len(self.calls_since(0)) :]
        diverge = Diverge(one.name, beside.divergence, beside.last)
        self.deeds.note(Deed(diverge, one.place, steps, certain=one.certain))

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
            self._note_divergence(diverged.by, expr.id, Divergence.NAME)

    def _cause(self, operands: Sequence[Operand]) -> Cause | None:
        """What makes an operand another one on replay."""
        watch = self.frame.watch
        for operand in operands:
            names = [name for owner, name in watch.mentioned(operand.expr) if not owner]
            diverged = next((name for name in names if name in watch.diverged), None)
            if diverged is not None:
                return Cause(diverged, self.place(watch.diverged[diverged].by), self.calls_since(0))
            if isinstance(operand.value, ByPhase) and operand.expr is not None:
                return Cause(self.text(operand.expr), self.place(operand.expr), self.calls_since(0))
            if (number := self.number_of(operand.value)) in self.swayed:
                return self.swayed[number]
        return None

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
            self.swayed[number] = cause

    def note_given_away(self, state: State, operands: Sequence[Operand]) -> None:
        """What nobody looks into, or computes nothing again, is given these: it may keep them."""
        for operand in operands:
            cause = self.swayed.get(self.number_of(operand.value))
            if cause is not None and state.phase is Phase.BOTH:
                self._note_cause(cause)

    def _note_cause(self, cause: Cause) -> None:
        steps = cause.way[len(self.calls_since(0)) :]
        self.deeds.note(Deed(Diverge(cause.what, Divergence.NAME), cause.place, steps))

    def nature_of(self, value: Value) -> object:
        """What decides whether it matters that a callee stores a value, or keeps it."""
        return super().nature_of(value), self.number_of(value) in self.swayed

    def note_renewed(self, pairs: Iterable[tuple[int, int]]) -> None:
        """What another call made has new numbers for this one."""
        renumbered = list(pairs)
        super().note_renewed(renumbered)
        self.swayed |= {new: self.swayed[old] for old, new in renumbered if old in self.swayed}

    # --- values

    def note_choice(self, before: Phase, expr: ir.Expr, ends: Sequence[tuple[State, Value]]) -> None:
        """A conditional expression on the phase gives these values."""
        forward = [end for end in ends if end[0].phase is Phase.FORWARD]
        others = [end for end in ends if end[0].phase is not Phase.FORWARD]
        if before is not Phase.BOTH or not forward or not others:
            return
        same = self._is_same(forward[0][0], forward[0][1], others[0][0], others[0][1])
        if same or not self.keeps_its_value(self.frame.statement):
            return
        if _matters(forward[0][1]) or _matters(others[0][1]):
            self._note_divergence(expr, self.text(expr), Divergence.NAME)

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
        self._note_divergence(
            by, frame.function.name if frame.function is not None else "", Divergence.RESULT
        )
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

    def note_recipe(self, state: State, how: str, operands: Sequence[Operand], result: Value) -> int:
        """Something was made on a path of one phase: what the other phase makes is compared with it."""
        parts = (self._recipe(state, operand.value, operand.expr) for operand in operands)
        made = self._numbered((how, *parts))
        number = self.number_of(result)
        if number:
            state.made[number] = made
        return made

    def _keeps(self, name: str, result: Value) -> bool:
        """Whether an operation with this name keeps tensors for backward that a replay has to compute."""
        if name not in KEEPING or not self.grad_enabled:
            return False
        return any(grad is not False for grad in _grads(result))

    def _recipe(self, state: State, value: Value, expr: ir.Expr | None = None, depth: int = 0) -> int:
        """A number that is equal for what is made alike on two paths of one phase each."""
        match value:
            case Tensor() | Unknown():
                number = self.number_of(value)
                if number in state.made:
                    return state.made[number]
                return self._numbered(("held", self.root_of(number) if number else self.fresh()))
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
            case Scalar() if type(value) is Scalar:
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

    def _note_divergence(
        self, node: ir.Node, what: str, divergence: Divergence, *, certain: bool = True
    ) -> None:
        self.deeds.note(Deed(Diverge(what, divergence), self.place(node), certain=certain))


def _grads(result: Value) -> Iterator[bool | None]:
    """Whether each tensor that an operation returns requires grad, None where that is unknown."""
    for one in alternatives(result):
        if isinstance(one, SequenceValue):
            for item in one.items:
                yield from _grads(item)
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
