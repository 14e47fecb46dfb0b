"""Decisions that a computation takes on its own numbers: the largest ones, their order.

A replay takes them again. The numbers are the same up to rounding, a decision between two that are almost
equal need not be. It is followed to where it selects something: other elements, or other shapes, come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.facts import Kept, ReplayedChoice
from remat_lint.analysis.machine import Operand, in_forward_only
from remat_lint.analysis.operations import Bound, Operations, bind
from remat_lint.analysis.state import State
from remat_lint.analysis.values import Decision, Tensor, Value, alternatives, map_tensors
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.torch_ops import Effect, Operation, Result

DECIDING = frozenset(
    [
        *("topk", "kthvalue", "mode", "sort", "argsort", "argmax", "argmin", "max", "min", "median"),
        *("nanmedian", "multinomial"),
    ]
)
"""Operations that say which elements, not how much.

Comparisons, ``searchsorted`` and ``bucketize`` are none: models compare whole numbers with them (padding,
segments, offsets), which nothing rounds. ``nonzero`` and ``unique`` write down what was decided before.
"""

_SELECTORS = frozenset(["index", "indices", "repeats", "offsets", "offs"])
"""Parameters that say which elements, wherever they occur."""

_MORE_SELECTORS = frozenset([("mask", "masked_select"), ("input", "embedding")])
"""Those that do so in one operation only."""

_SELECTED_BY_FIRST = frozenset(["one_hot", "bincount", "nonzero", "argwhere"])
"""Operations whose result has its shape or its places from the numbers that they are given."""


class Decisions(Operations):
    """Follows decisions from the operations that take them to those that they select for."""

    def apply(
        self,
        state: State,
        node: ir.Expr,
        operation: Operation,
        receiver: Operand | None,
        operands: Sequence[Operand],
    ) -> Value:
        """Run one torch operation; its result depends on the decisions that its operands depend on."""
        value = super().apply(state, node, operation, receiver, operands)
        given = [*((receiver,) if receiver is not None else ()), *operands]
        decision = decision_in(given)
        if decision is None and operation.name in DECIDING:
            decision = self._decide(state, node, operation.name, given)
        if decision is None:
            return value
        if _selects(operation, bind(operation, receiver, operands)):
            self.select(state, node, decision)
            return value
        return _depending(value, decision)

    def binary(self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand) -> Value:
        """``left operator right``."""
        value = super().binary(state, node, operator, left, right)
        decision = decision_in((left, right))
        return value if decision is None else _depending(value, decision)

    def unary(self, state: State, node: ir.Expr, operator: str, operand: Operand) -> Value:
        """``-x``, ``~x``, ``+x``."""
        value = super().unary(state, node, operator, operand)
        decision = decision_in((operand,))
        return value if decision is None else _depending(value, decision)

    def select(self, state: State, node: ir.Node, decision: Decision | None) -> None:
        """A decision says which elements are taken here; what only the forward does needs no replay."""
        if decision is None or not decision.replayed or self.is_inert() or in_forward_only(state):
            return
        fact = ReplayedChoice(
            decision.place, decision.operation, decision.region, decision.kept, self.place(node)
        )
        if decision.kept is not None or decision.in_checkpoint:
            self.journal.note(fact)
        else:
            self.journal.note_if_aware(fact, decision.functions | self.functions_under_way())

    def functions_under_way(self) -> frozenset[ir.Function]:
        """The functions that run now."""
        return frozenset(frame.function for frame in self.active_frames() if frame.function is not None)

    def _decide(self, state: State, node: ir.Expr, name: str, given: Sequence[Operand]) -> Decision | None:
        """A decision on numbers that a saved region kept is the same one again."""
        if self.compiled:
            return None
        tensors = [one for operand in given for one in alternatives(operand.value) if isinstance(one, Tensor)]
        kept = bool(tensors) and all(t.token is not None and t.token.kept is Kept.SAVE for t in tensors)
        region = self.regions[-1] if self.regions else None
        called = self.text(node.function) if isinstance(node, ir.Call) else ""
        return Decision(
            self.place(node),
            called if called.endswith(name) else name,  # it may be handed to a region
            region.region if region is not None else "",
            region.kept if region is not None else None,
            not (kept or self.is_inert() or in_forward_only(state)),
            bool(self.checkpoints),
            self.functions_under_way(),
        )


def decision_in(operands: Iterable[Operand]) -> Decision | None:
    """The first decision that one of the operands depends on."""
    return next((found for operand in operands for found in _decisions(operand.value)), None)


def _decisions(value: Value) -> Iterator[Decision]:
    for one in alternatives(value):
        if isinstance(one, Tensor) and one.decision is not None:
            yield one.decision
        elif isinstance(one, SequenceValue):
            for item in one.items:
                yield from _decisions(item)


def _selects(operation: Operation, bound: Bound) -> bool:
    """Whether an operand that depends on a decision says which elements an operation takes."""
    if operation.effect is Effect.READ and operation.result is Result.VALUE:
        return True  # a number for Python, which decides with it
    deciding = [name for name, operand in bound.pairs if any(_decisions(operand.value))]
    if any(name in _SELECTORS or (name, operation.name) in _MORE_SELECTORS for name in deciding):
        return True
    return operation.name in _SELECTED_BY_FIRST and bound.pairs[0][0] in deciding


def _depending(value: Value, decision: Decision) -> Value:
    """A result of a decision; of values and indices only the indices are one."""

    def marked(tensor: Tensor) -> Tensor:
        return replace(tensor, decision=tensor.decision or decision)

    if isinstance(value, SequenceValue) and value.fields == ("values", "indices"):
        first, *others = value.items
        return replace(value, items=(first, *(map_tensors(item, marked) for item in others)))
    return map_tensors(value, marked)
