"""Code that runs the first time only, because it sets what it asks: ``if not self.warned: ...``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.suites import nested

_CACHES = ("lru_cache", "cache", "cached_property", "once", "run_once", "call_once")
_FILLING = ("add", "append", "setdefault", "update")


def happens_once(test: ir.Expr, block: Sequence[ir.Stmt], local: Container[str]) -> bool:
    """Whether a block that runs under a test changes what the test asks, and for good: no ``local`` name."""
    asked = {path for expr, _ in evaluated((test,)) if (path := _path(expr)) and path not in local}
    return any(path in asked for statement in nested(block) for path in _changed(statement))


def runs_once(function: ir.Function) -> bool:
    """Whether a function does its work once: its results are kept, or its name says so (``log_once``)."""
    if function.name.endswith("_once"):
        return True
    return any(_last_name(decorator) in _CACHES for decorator in function.decorators)


def _changed(statement: ir.Stmt) -> Iterator[str]:
    """The attributes, globals and containers that a statement changes."""
    match statement:
        case ir.Assign(targets=targets):
            for target in targets:
                yield _path(target.base if isinstance(target, ir.Subscript) else target)
        case ir.Expression(value=ir.Call(function=ir.Attribute(base=base, name=name))) if name in _FILLING:
            yield _path(base)
        case _:
            return


def _path(expr: ir.Expr) -> str:
    return ".".join(attribute_path(expr))


def attribute_path(expr: ir.Expr) -> tuple[str, ...]:
    """A name and its attributes: ``self``, ``writer``, ``add_scalar``; nothing for anything else."""
    match expr:
        case ir.Name(id=name):
            return (name,)
        case ir.Attribute(base=base, name=name):
            path = attribute_path(base)
            return (*path, name) if path else ()
        case _:
            return ()


def _last_name(decorator: ir.Expr) -> str:
    match decorator:
        case ir.Call(function=function):
            return _last_name(function)
        case ir.Name(id=name) | ir.Attribute(name=name):
            return name
        case _:
            return ""
