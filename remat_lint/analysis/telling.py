"""What is only told: printed, logged, or put where an object keeps it, as far as one function shows."""

from __future__ import annotations

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.external_names import only_tells_by_method
from remat_lint.analysis.once import attribute_path
from remat_lint.analysis.suites import nested

_KEEPING = ("append", "add", "extend")


def is_only_told(function: ir.Function, statement: ir.Stmt, expr: ir.Expr) -> bool:
    """Whether the value of an expression of a statement goes nowhere else; names do where they are used."""
    match statement:
        case ir.Assign(targets=(ir.Name(id=name),), value=value) if value is expr:
            others = [one for one in nested(function.body) if one is not statement]
            if any(isinstance(one, ir.FunctionDef) for one in others):
                return False
            return all(_tells(one) for one in others if _mentions(one, name))
        case _:
            return _tells(statement)


def _mentions(statement: ir.Stmt, name: str) -> bool:
    return any(
        isinstance(expr, ir.Lambda) or (isinstance(expr, ir.Name) and expr.id == name)
        for expr, _ in evaluated(header(statement))
    )


def _tells(statement: ir.Stmt) -> bool:
    match statement:
        case ir.Expression(value=ir.Call(function=ir.Name(id="print"))):
            return True
        case ir.Expression(value=ir.Call(function=ir.Attribute(base=ir.Attribute(), name=name))) if (
            name in _KEEPING
        ):
            return True
        case ir.Expression(value=ir.Call(function=ir.Attribute() as function)):
            way = attribute_path(function)
            return bool(way) and only_tells_by_method(way[-2], way[-1])
        case _:
            return False
