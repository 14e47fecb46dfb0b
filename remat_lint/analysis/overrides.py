"""Methods that a class inherits and that do something else in it, because it overrides what they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.suites import nested

SUPER = "super()"
"""Stands among the attributes that a function uses where it calls what stands behind its class."""


class Mentions:
    """The attributes that functions use, each function looked through once."""

    def __init__(self) -> None:
        self._known: dict[ir.Function, frozenset[str]] = {}

    def of(self, function: ir.Function) -> frozenset[str]:
        """The names of all attributes in a function, lambdas and nested functions included."""
        if function not in self._known:
            self._known[function] = frozenset(_mentioned(function))
        return self._known[function]

    def affected(self, own: frozenset[str], inherited: Mapping[str, ir.Function]) -> list[str]:
        """The inherited methods that use, directly or through each other, a name that a class has of its own.

        Those that others of them use are left out: they run with the others.
        """
        uses = {name: self.of(function) for name, function in inherited.items()}
        affected: dict[str, None] = {}
        fresh = own
        while fresh:
            found = [name for name, used in uses.items() if name not in affected and used & fresh]
            affected.update(dict.fromkeys(found))
            fresh = frozenset(found)
        used_by_others = {
            used for name in affected for used in uses[name] if used in affected and used != name
        }
        return [name for name in affected if name not in used_by_others] or list(affected)


def _mentioned(function: ir.Function, receiver: str | None = None) -> Iterator[str]:
    """The attributes that a function uses; a module that is called itself uses its ``forward``."""
    if receiver is None and function.parameters:
        receiver = function.parameters[0].name
    for statement in nested(function.body):
        for expr, _ in evaluated(header(statement)):
            if isinstance(expr, ir.Attribute):
                yield expr.name
                if expr.name == "__call__":
                    yield "forward"
            elif isinstance(expr, ir.Name) and expr.id == "super":
                yield SUPER
            elif isinstance(expr, ir.Call) and isinstance(expr.function, ir.Name):
                if expr.function.id == receiver:
                    yield "forward"
            elif isinstance(expr, ir.Lambda):
                yield from _mentioned(expr.function, receiver)
        if isinstance(statement, ir.FunctionDef):
            yield from _mentioned(statement.function, receiver)
