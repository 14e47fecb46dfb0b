"""Functions that keep their results by the arguments, and whether a replay finds them."""

from __future__ import annotations

from collections.abc import Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import FOREIGN
from remat_lint.analysis.facts import Outcome, Written
from remat_lint.analysis.in_place import InPlaceWrites
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import NONE, FunctionValue, Reference, Tensor, Unknown, Value, alternatives


class Memos(InPlaceWrites):
    """Notes what is kept for another call, and looked up."""

    def note_cached(
        self, state: State, node: ir.Expr, function: FunctionValue, operands: Sequence[Operand], value: Value
    ) -> None:
        """A function is called whose results are kept by its arguments: tensors are told by identity."""
        others = [operand.value for operand in operands if self.is_another_each_time(state, operand)]
        if any(self.depends_on_data(state, other) for other in others):
            self.note_outcome(state, node, (FOREIGN, ""), Written.CACHE, Outcome.ADVANCED)
        if others:
            return
        if self.depends_on_data(state, value) and self.may_require_grad(state, value):
            number = self.number_of(function.receiver or NONE)
            held = (number, f".{function.definition.name}") if number else (FOREIGN, "")
            is_known = all(isinstance(one, Tensor) for one in alternatives(value))
            # It is computed no second time.
            self.note_outcome(state, node, held, Written.CACHE, Outcome.SKIPPED, certain=is_known)

    def is_another_each_time(self, state: State, operand: Operand) -> bool:
        """Whether an argument is another one on replay, so that what is kept for the first does not count."""
        value = operand.value
        if isinstance(value, Reference):
            return not self.is_others(value.address)
        if self._is_same_object(state, operand):
            return False
        is_computed = isinstance(value, Unknown) and value.computed
        return is_computed or self.depends_on_data(state, value)

    def _is_same_object(self, state: State, operand: Operand) -> bool:
        """Whether a replay finds the same tensor here: no view, which is another one each time."""
        number = self.number_of(operand.value)
        if not number or not self.is_others(number) or any(body.rebuilt for body in self.bodies):
            return False
        match operand.expr:
            case ir.Name(id=name):
                is_local = name in state.frames.get(self.frame.id, {})
                return not is_local or self._is_handed_to_body(name)
            case ir.Attribute(base=base):
                return isinstance(self.frame.values.get(base.at), Reference)
            case _:
                return False

    def _is_handed_to_body(self, name: str) -> bool:
        """Whether a local name is an argument of the checkpointed function, and stays that."""
        function, caller = self.frame.function, self.frame.parent
        if function is None or caller is None or not self.bodies or self.bodies[-1].depth != caller.depth:
            return False
        is_given = any(parameter.name == name for parameter in function.parameters)
        return is_given and not any(name in bound_names(one) for one in nested(function.body))
