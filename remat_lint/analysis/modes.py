"""The statements that make modules which are put into training or evaluation, one apart from others.

Told by names alone, within one file: ``a, b = Block(), Block()`` makes such modules where ``a.eval()`` is
called anywhere, and ``layers = [Block() for _ in range(4)]`` where ``layers[0].eval()`` is. What puts all of
a list into a mode, or a module with its parts, tells none of those parts from the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.suites import nested

MODES = frozenset(["eval", "train"])
"""The methods that put a module and its parts into evaluation or training."""

_ITEM = "[]"


def made_for_a_mode(module: ir.Module) -> set[ir.Stmt]:
    """The assignments of a module that make such modules."""
    bodies = (module.body, *(function.body for function in module.functions))
    statements = [statement for body in bodies for statement in nested(body)]
    moded = {name for one in statements for name in _moded(header(one))}
    for statement in reversed(statements):  # ``m = self.block``, then ``m.eval()``
        if isinstance(statement, ir.Assign) and any(
            isinstance(target, ir.Name) and target.id in moded for target in statement.targets
        ):
            moded.update(_names(statement.value) if statement.value is not None else ())
    return {one for one in statements if isinstance(one, ir.Assign) and _makes(one, moded)}


def _moded(exprs: Iterable[ir.Expr]) -> Iterator[str]:
    """The last names of what is put into a mode, or holds it."""
    for expr, _ in evaluated(tuple(exprs)):
        match expr:
            case ir.Call(function=ir.Attribute(base=base, name=name)) if name in MODES:
                yield from _names(base)
            case _:
                continue


def _names(expr: ir.Expr) -> Iterator[str]:
    match expr:
        case ir.Name(id=name) | ir.Attribute(name=name):
            yield name
        case ir.Subscript(base=base):
            yield from (f"{name}{_ITEM}" for name in _names(base))
        case ir.Display(items=items):
            for item in items:
                yield from _names(item)
        case _:
            return


def _makes(statement: ir.Assign, moded: set[str]) -> bool:
    """Whether an assignment makes one of these, or calls ``Block().eval()``."""
    if statement.value is None:
        return False
    inner = [expr for expr, _ in evaluated((statement.value,))]
    calls = (one.function for one in inner if isinstance(one, ir.Call))
    if any(isinstance(one, ir.Attribute) and one.name in MODES for one in calls):
        return True
    names = {name for target in statement.targets for name in _names(target)}
    is_one = not any(isinstance(one, ir.Comprehension) for one in inner)
    return any(f"{name}{_ITEM}" in moded or (is_one and name in moded) for name in names)
