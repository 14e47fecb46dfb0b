"""Calls of functions that the settings name as wrappers of torch_remat's: nobody looks into them.

Wrappers that the project shows need no setting: they are followed like any other function. So is one for
checkpoints that the settings name all the same, where it is seen to make them.
"""

from __future__ import annotations

from collections.abc import Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.facts import Cover
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.regions import Regions
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    NONE,
    ByPhase,
    CheckpointWrapper,
    Coverage,
    Tensor,
    Value,
    alternatives,
)

_FUNCTION_NAMES = ("function", "fn", "func", "module")
_NAME_NAMES = ("name", "region_name")


class Wrappers(Regions):
    """Runs wrappers by what their names are configured to mean."""

    def call_wrapper(
        self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """Call the wrapper of this full name; None where it is none."""
        match self.project.wrappers.role(name):
            case "region":
                return self._wrap_region(state, node, operands)
            case "marker":
                self._mark_tensors(state, operands)
                return NONE
            case "checkpoint":
                return self._wrap_checkpoint(state, node, operands)
            case "guard":
                return ByPhase()
            case _:
                return None

    def _wrap_region(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """The function comes first, a name second; whether it is saved is the policy's, unless said."""
        positional = [operand for operand in operands if operand.keyword is None]
        function = _given(operands, _FUNCTION_NAMES) or next(iter(positional), None)
        name = _given(operands, _NAME_NAMES) or next(iter(positional[1:]), None)
        return self.declare_region(state, node, function, name, _given(operands, ("recompute",)), ())

    def _mark_tensors(self, state: State, operands: Sequence[Operand]) -> None:
        """What is no tensor, such as the owner of a region, is not marked and not wrong."""
        for operand in operands:
            for value in alternatives(operand.value):
                for item in (value, *self.one_hop(state, value)):
                    self.persist(state, item)
                for token in () if isinstance(value, Tensor) else frozenset(state.tokens(value)):
                    self.persist(state, Tensor(token))

    def _wrap_checkpoint(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """``wrap(function)(x)``, ``wrap(option=...)(function)(x)`` and ``wrap(function, x)``."""
        positional = [operand for operand in operands if operand.keyword is None]
        given = _given(operands, _FUNCTION_NAMES)
        function = given or next(iter(positional), None)
        wrapper = CheckpointWrapper(self.place(node), coverage=Coverage(without=Cover.UNKNOWN), certain=False)
        if function is None:
            return wrapper
        wrapper = self.wrap_function(state, wrapper, [function])
        if given is not None or len(positional) < 2:
            return wrapper
        return self.run_checkpoint(state, node, wrapper, positional[1:])


def _given(operands: Sequence[Operand], names: Sequence[str]) -> Operand | None:
    return next((operand for operand in operands if operand.keyword in names), None)
