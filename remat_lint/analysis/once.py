"""Code that runs the first time only, because it sets what it asks: ``if not self.warned: ...``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.suites import nested

_CACHES = ("lru_cache", "cache", "cached_property", "once", "run_once", "call_once")
_KEEPING = ("lru_cache", "cache", "cached_property")
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


def keeps_results(function: ir.Function) -> bool:
    """Whether a decorator keeps what a function returns, for calls with equal arguments."""
    return any(
        _last_name(decorator) in _KEEPING and not _keeps_none(decorator) for decorator in function.decorators
    )


def _keeps_none(decorator: ir.Expr) -> bool:
    arguments = decorator.arguments if isinstance(decorator, ir.Call) else ()
    return any(
        isinstance(one.value, ir.Const) and one.value.value == 0 and one.keyword in (None, "maxsize")
        for one in arguments
    )


def fills_cache(function: ir.Function, tests: Sequence[ir.Expr], block: Sequence[ir.Stmt]) -> bool:
    """Whether a block under tests only fills what they ask, which the function leaves as it is then."""
    inner = list(nested(block))
    aliases = _aliases(function)
    names = [expr.id for expr, _ in evaluated(tests) if isinstance(expr, ir.Name)]
    asked = {path for expr, _ in evaluated(tests) if (path := _held(expr))}
    asked |= {aliases[name] for name in names if name in aliases}
    stored = {path for statement in inner for path in _stored(function, statement)}
    if not asked & stored:
        return False
    others = (one for one in nested(function.body) if not any(one is other for other in inner))
    is_kept = not any(path in stored for other in others for path in _stored(function, other))
    local = {name for one in inner for name in _stored_names(one)} | aliases.keys()
    return is_kept and all(_fills(function, one, local, stored) for one in inner)


@lru_cache(maxsize=256)
def _aliases(function: ir.Function) -> Mapping[str, str]:
    """The local names that stand for what was kept, and where that was."""
    return {
        statement.targets[0].id: path
        for statement in nested(function.body)
        if isinstance(statement, ir.Assign)
        and isinstance(statement.targets[0], ir.Name)
        and statement.value is not None
        and (path := _held(statement.value))
    }


def _held(expr: ir.Expr) -> str:
    """The attribute, global or container that an expression takes something from, or asks for."""
    match expr:
        case ir.Call(function=ir.Name(id="hasattr" | "getattr"), arguments=[base, named, *_]):
            name = named.value.value if isinstance(named.value, ir.Const) else ""
            return f"{_path(base.value)}.{name}" if _path(base.value) else ""
        case ir.Call(function=ir.Attribute(base=base, name="get")) | ir.Subscript(base=base):
            return _path(base)
        case ir.Call():
            return ""
        case _:
            return _path(expr)


def _stored(function: ir.Function, statement: ir.Stmt) -> Iterator[str]:
    """The attributes, globals and containers that a statement stores into, or changes in place."""
    match statement:
        case ir.Assign(targets=targets):
            for target in targets:
                if not _is_local(function, target):
                    yield _path(target.base if isinstance(target, ir.Subscript) else target)
        case ir.AugAssign(target=target) if not _is_local(function, target):
            yield _path(target.base if isinstance(target, ir.Subscript) else target)
        case ir.Expression(value=ir.Call(function=ir.Attribute(base=base, name=name))):
            if name in _FILLING or name.endswith("_"):
                yield _path(base)
        case _:
            return


def _is_local(function: ir.Function, target: ir.Expr) -> bool:
    return isinstance(target, ir.Name) and target.id not in function.globals | function.nonlocals


def _stored_names(statement: ir.Stmt) -> Iterator[str]:
    """The local names whose values a statement stores."""
    match statement:
        case ir.Assign(targets=targets, value=ir.Name(id=name)):
            if not all(isinstance(target, ir.Name) for target in targets):
                yield name
        case ir.Assign(targets=targets) if len(targets) > 1:
            yield from (target.id for target in targets if isinstance(target, ir.Name))
        case _:
            return


def _fills(function: ir.Function, statement: ir.Stmt, local: Container[str], stored: Container[str]) -> bool:
    """Whether a statement of a block only leads to what the block stores."""
    match statement:
        case ir.Assign(targets=targets):
            return all(
                target.id in local or not _is_local(function, target)
                for target in targets
                if isinstance(target, ir.Name)
            )
        case ir.Return(value=ir.Expr() as value):
            return _held(value) in stored or (isinstance(value, ir.Name) and value.id in local)
        case ir.Expression():
            return any(_stored(function, statement))
        case _:
            return False


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
