"""Regions whose name and policy come from two helpers of one object, as they are written.

``remat.region(f, self.remat_region_name("k"), recompute=self.remat_should_recompute("k"))``: each helper gets
the local name of the region. Nothing is evaluated here; what stands in a variable is looked up where the
function assigns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.names import assigned_names, inner_statements


@dataclass(frozen=True, slots=True)
class Lookup:
    """A call of a helper with one argument, the local name of a region."""

    call: ir.Call
    method: ir.Attribute
    argument: ir.Expr


def name_lookup(function: ir.Function | None, expr: ir.Expr | None) -> Lookup | None:
    """The helper's call that gives a region its name."""
    return _lookup(assigned_value(function, expr))


def policy_lookup(function: ir.Function | None, expr: ir.Expr | None) -> Lookup | None:
    """The helper's call that decides about one region; None where a variable decides about several."""
    expr = _without_not(expr)
    if isinstance(expr, ir.Name) and function is not None and _decisions(function.body, expr.id) != 1:
        return None
    return _lookup(_without_not(assigned_value(function, expr)))


def _lookup(expr: ir.Expr | None) -> Lookup | None:
    if not isinstance(expr, ir.Call) or not isinstance(expr.function, ir.Attribute):
        return None
    if len(expr.arguments) != 1 or expr.arguments[0].star:
        return None
    return Lookup(expr, expr.function, expr.arguments[0].value)


def _without_not(expr: ir.Expr | None) -> ir.Expr | None:
    while isinstance(expr, ir.Unary) and expr.operator == "Not":
        expr = expr.operand
    return expr


def assigned_value(function: ir.Function | None, expr: ir.Expr | None) -> ir.Expr | None:
    """What a variable was assigned, where the function does that in one place."""
    if not isinstance(expr, ir.Name) or function is None:
        return expr
    binding = [one for one in inner_statements(function.body) if expr.id in assigned_names(one)]
    if len(binding) == 1 and isinstance(binding[0], ir.Assign) and isinstance(binding[0].targets[0], ir.Name):
        return binding[0].value
    return None


def _decisions(body: Sequence[ir.Stmt], name: str) -> int:
    """For how many regions of a function a variable is the ``recompute``, in functions inside it too."""
    return sum(_decides(argument, name) for call in _calls(body) for argument in call.arguments)


def _decides(argument: ir.Argument, name: str) -> bool:
    value = _without_not(argument.value)
    return argument.keyword == "recompute" and isinstance(value, ir.Name) and value.id == name


def _calls(body: Sequence[ir.Stmt]) -> Iterator[ir.Call]:
    for statement in inner_statements(body):
        if isinstance(statement, ir.FunctionDef):
            yield from _calls(statement.function.body)
        for expr, _ in evaluated(header(statement)):
            if isinstance(expr, ir.Call):
                yield expr
            elif isinstance(expr, ir.Lambda):
                yield from _calls(expr.function.body)
