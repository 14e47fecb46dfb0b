"""In which statements of a function a name or an expression stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.suites import nested


class Occurrences:
    """The statements of one function by what stands in them, what lambdas and inner functions use included.

    Whoever follows a value looks at the statements in which it stands, and not at all for each value.
    """

    def __init__(self, function: ir.Function) -> None:
        self._found: dict[str | int, list[ir.Stmt]] = {}
        for statement in nested(function.body):
            for key in dict.fromkeys(_keys(statement)):
                self._found.setdefault(key, []).append(statement)

    def of_name(self, name: str) -> Sequence[ir.Stmt]:
        """The statements that mention a name."""
        return self._found.get(name, ())

    def of(self, expr: ir.Expr) -> Sequence[ir.Stmt]:
        """The statements that an expression is part of."""
        return self._found.get(expr.at, ())


@lru_cache(maxsize=256)
def occurrences(function: ir.Function) -> Occurrences:
    """What stands where in a function, worked out once."""
    return Occurrences(function)


def _keys(statement: ir.Stmt) -> Iterator[str | int]:
    match statement:
        case ir.FunctionDef(function=function):
            for one in nested(function.body):
                yield from _keys(one)
        case ir.With(items=items):
            yield from _in([context for context, _ in items])
        case _:
            yield from _in(header(statement))


def _in(exprs: Sequence[ir.Expr]) -> Iterator[str | int]:
    for expr, _ in evaluated(exprs):
        yield expr.at
        if isinstance(expr, ir.Name):
            yield expr.id
        if isinstance(expr, ir.Lambda):
            for one in nested(expr.function.body):
                yield from _keys(one)
