"""The functions of a file that may lead to a checkpoint: in a file that declares no region, no other matters.

Told by names alone. A function leads there if it calls something by a name that people give to what applies a
checkpoint, by a name that is bound to such a thing, or by the name of a function that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint import checkpoint_forms
from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.once import attribute_path
from remat_lint.analysis.suites import nested

_CALLED_BY_ANYBODY = frozenset(["__init__", "__call__", "forward"])
"""Methods whose name says nothing of what is called; they run with an object of their own class."""

Use = tuple[frozenset[str], frozenset[str]]
"""Some names that are used, and what is bound to the same."""


def leading_to_checkpoints(module: ir.Module) -> set[ir.Function]:
    """The functions of a module that may apply a checkpoint, themselves or through each other."""
    called = {function: frozenset(_called_in(function)) for function in module.functions}
    uses = list(_bound_in(module.body))
    for function, names in called.items():
        uses += [(names, frozenset([function.name]) - _CALLED_BY_ANYBODY), *_bound_in(function.body)]
    known = {name for names, _ in uses for name in names if checkpoint_forms.are_named(name.encode())}
    new = known
    while new:
        found = {name for names, bound in uses if not names.isdisjoint(new) for name in bound}
        new = found - known
        known = known | found
    return {function for function, names in called.items() if not names.isdisjoint(known)}


def _bound_in(statements: Sequence[ir.Stmt]) -> Iterator[Use]:
    """What imports and assignments bind, and to what."""
    for statement in nested(statements):
        if isinstance(statement, ir.Import):
            for module, attribute, name in statement.bindings:
                yield frozenset([f"{module}.{attribute or ''}"]), frozenset([name])
        elif isinstance(statement, ir.Assign) and statement.value is not None:
            names = frozenset((*_named(statement.value), *_called(statement.value)))
            yield names, frozenset(name for one in statement.targets for name in _named(one))


def _called_in(function: ir.Function) -> Iterator[str]:
    for decorator in function.decorators:
        yield from _named(decorator)
        yield from _called(decorator)
    for statement in nested(function.body):
        for expr in header(statement):
            yield from _called(expr)
        if isinstance(statement, ir.FunctionDef):
            yield from _called_in(statement.function)


def called_paths(function: ir.Function) -> Iterator[tuple[str, ...]]:
    """The names, with attributes, that a function and those inside it call."""
    for statement in nested(function.body):
        for expr, _ in evaluated(header(statement)):
            if isinstance(expr, ir.Call) and (path := attribute_path(expr.function)):
                yield path
            elif isinstance(expr, ir.Lambda):
                yield from called_paths(expr.function)
        if isinstance(statement, ir.FunctionDef):
            yield from called_paths(statement.function)


def _called(whole: ir.Expr) -> Iterator[str]:
    for expr, _ in evaluated((whole,)):
        if isinstance(expr, ir.Call):
            yield from _named(expr.function)
        elif isinstance(expr, ir.Lambda):
            yield from _called_in(expr.function)


def _named(expr: ir.Expr) -> Iterator[str]:
    """The last names of what an expression stands for: of either arm, of what ``partial`` is given."""
    match expr:
        case ir.Name(id=name) | ir.Attribute(name=name):
            yield name
        case ir.Conditional(body=body, orelse=orelse):
            yield from (*_named(body), *_named(orelse))
        case ir.Call(function=function, arguments=[first, *_]) if "partial" in _named(function):
            yield from _named(first.value)
        case _:
            return
