"""Which parameters of the classes of a file every call in it leaves to their defaults."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.suites import nested


def is_left_out(module: ir.Module, name: str, parameter: str, index: int) -> bool:
    """Whether the file makes objects of a class, and none with something else for a parameter.

    A class that has subclasses, or that is handed on, is made by others too.
    """
    calls = _calls(module).get(name, [])
    return bool(calls) and not any(_gives(call, parameter, index) for call in calls)


def _gives(call: ir.Call, parameter: str, index: int) -> bool:
    places = [one for one in call.arguments if one.keyword is None]
    is_spread = any(one.star for one in call.arguments)
    return is_spread or index < len(places) or any(one.keyword == parameter for one in call.arguments)


@lru_cache(maxsize=8)
def _calls(module: ir.Module) -> dict[str, list[ir.Call]]:
    """The calls of each name that is used for nothing else."""
    found: dict[str, list[ir.Call]] = {}
    used: set[str] = set()
    for expr in _expressions(module):
        called = expr.function if isinstance(expr, ir.Call) else None
        if isinstance(expr, ir.Call) and isinstance(called, ir.Name):
            found.setdefault(called.id, []).append(expr)
        elif isinstance(expr, ir.Name):
            used.add(expr.id)
    return {name: calls for name, calls in found.items() if name not in used}


def _expressions(module: ir.Module) -> Iterator[ir.Expr]:
    """All expressions of a file, but for the names that calls call, and the classes that are asked for."""
    bodies = [module.body, *(function.body for function in module.functions)]
    for statement in (one for body in bodies for one in nested(body)):
        bases = statement.klass.bases if isinstance(statement, ir.ClassDef) else ()
        exprs = [expr for expr, _ in evaluated((*header(statement), *bases))]
        calls = [expr for expr in exprs if isinstance(expr, ir.Call)]
        asking = [one for one in calls if getattr(one.function, "id", "") in ("super", "isinstance")]
        passed = {id(argument.value) for one in asking for argument in one.arguments}
        passed |= {id(one.function) for one in calls}
        yield from (expr for expr in exprs if id(expr) not in passed)
