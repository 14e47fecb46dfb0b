"""Where a guard on the phase changes what is computed, not only what is recorded.

torch_remat keeps the graph of the forward and refills its saved tensors from the replay, in order. A name
that stands for something else on replay refills them with other values; an operation that keeps tensors and
runs in one phase only changes how many there are (SEMANTICS 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deed, Diverge
from remat_lint.analysis.facts import Divergence
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import PhaseTest, Tensor, Unknown, Value, alternatives
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Diverged
from remat_lint.analysis.writes import Writes
from remat_lint.torch_ops.keeping import KEEPING


class Divergences(Writes):
    """Notes what runs, or is, something else on replay."""

    # --- names

    def note_guard(
        self, state: State, statement: ir.Stmt, paths: Iterable[State], bodies: Sequence[ir.Stmt]
    ) -> None:
        """A guard ends on these paths: which names stand for something else on replay?"""
        listed = list(paths)
        forward = [path for path in listed if path.phase is Phase.FORWARD]
        others = [path for path in listed if path.phase is not Phase.FORWARD]
        if not forward or not others or self.is_evaluation(state):
            return
        mine, theirs = (paths[0].frames.get(self.frame.id, {}) for paths in (forward, others))
        for name in {**mine, **theirs}:
            one, other = mine.get(name), theirs.get(name)
            if one is not None and other is not None and _is_same(one, other):
                continue
            by = next((each for each in bodies if name in bound_names(each)), statement)
            matters = any(value is not None and _matters(value) for value in (one, other))
            self.frame.watch.diverged[name] = Diverged(by, matters)

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

    def note_use(self, state: State, operands: Sequence[Operand]) -> None:
        """A number that is another one on replay meets a tensor."""
        super().note_use(state, operands)
        watch = self.frame.watch
        if not watch.diverged or not self.keeps_its_value(self.frame.statement):
            return
        if not any(_matters(operand.value) for operand in operands):
            return
        for name in {
            name for operand in operands for owner, name in watch.mentioned(operand.expr) if not owner
        }:
            if name in watch.diverged:
                self._note_divergence(watch.diverged[name].by, name, Divergence.NAME)

    # --- values

    def note_choice(self, before: Phase, expr: ir.Expr, ends: Sequence[tuple[State, Value]]) -> None:
        """A conditional expression on the phase gives these values."""
        forward = [value for path, value in ends if path.phase is Phase.FORWARD]
        others = [value for path, value in ends if path.phase is not Phase.FORWARD]
        if before is not Phase.BOTH or not forward or not others:
            return
        if _is_same(forward[0], others[0]) or not self.keeps_its_value(self.frame.statement):
            return
        if _matters(forward[0]) or _matters(others[0]):
            self._note_divergence(expr, self.text(expr), Divergence.NAME)

    def note_returns(self, state: State, frame: Frame) -> None:
        """A call ends that was made in both phases: does it return something else on replay?"""
        forward = [end for end in frame.ended if end[0] is Phase.FORWARD]
        replay = [end for end in frame.ended if end[0] is Phase.REPLAY]
        if state.phase is not Phase.BOTH or not forward or not replay or self._is_body(frame):
            return
        (_, one, first), (_, other, second) = forward[0], replay[0]
        if _is_same(one, other) or not (_matters(one) or _matters(other)):
            return
        caller = frame.parent
        if caller is None or not self.keeps_its_value(caller.statement):
            return
        by = first if first.at < second.at else second
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

    def note_kept(self, state: State, name: str, result: Value) -> None:
        """An operation that keeps tensors runs: in one phase only?"""
        if state.phase is Phase.BOTH or name not in KEEPING or self.told or not self.grad_enabled:
            return
        grads = list(_grads(result))
        if self.frame.statement is None or not any(grad is not False for grad in grads):
            return
        self.told = True
        kind = Divergence.OPERATION if state.phase is Phase.FORWARD else Divergence.REPLAY_OPERATION
        self._note_divergence(self.frame.statement, name, kind, certain=all(grads))

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


def bodies_of(statement: ir.If) -> list[ir.Stmt]:
    """The statements in both arms, and inside those."""
    return list(nested((*statement.body, *statement.orelse)))


def _is_same(one: Value, other: Value) -> bool:
    if one == other:
        return True
    if isinstance(one, (Tensor, Unknown)) and isinstance(other, (Tensor, Unknown)):
        first = one.storage if isinstance(one, Tensor) else one.origin
        second = other.storage if isinstance(other, Tensor) else other.origin
        return bool(first) and first == second
    return isinstance(one, PhaseTest) or isinstance(other, PhaseTest)


def _matters(value: Value) -> bool:
    """Whether a value is, or may be, a tensor."""
    return any(
        isinstance(one, Tensor) or (isinstance(one, Unknown) and one.computed) for one in alternatives(value)
    )
