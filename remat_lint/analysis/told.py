"""Whether a drawn value is only told: printed, logged, or what decides whether something is.

Nothing that a function computes depends on such a value, as far as the function shows: it stays in local
names, and those go nowhere else. Everything that is not plainly so counts as computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import children, evaluated, header
from remat_lint.analysis.occurrences import occurrences
from remat_lint.analysis.suites import nested

_TEXTS = frozenset(["hex", "token_hex", "token_urlsafe"])
"""Attributes and functions that give a random text."""


_DESCRIPTIONS = frozenset(["shape", "dtype", "device", "ndim", "layout", "itemsize"])
"""What is known of a tensor whatever its numbers are."""


Known = dict[tuple[ir.Function, str], bool]
"""Whether a name of a function only stands for what is told, as far as that is known by now."""


def is_told(
    function: ir.Function,
    draw: ir.Expr,
    tells: Callable[[ir.Expr], bool],
    computes: Callable[[Sequence[ir.Stmt]], bool],
    known: Known,
) -> bool:
    """Whether what an expression of the function draws is only told.

    ``tells`` says so of a function that is called, ``computes`` of a block that it computes something.
    """
    telling = _Telling(draw, tells, computes)
    if not all(map(telling.is_harmless, occurrences(function).of(draw))):
        return False
    return all(_is_name_told(function, name, telling, known) for name in tuple(telling.names))


def _is_name_told(function: ir.Function, name: str, telling: _Telling, known: Known) -> bool:
    """Whether what a name stands for is only told, and so are the names that it is given to."""
    if (function, name) in known:
        return known[function, name]
    telling.names = {name}
    waiting, followed = [name], {name}
    found = occurrences(function)
    while waiting:
        if not all(map(telling.is_harmless, found.of_name(waiting.pop()))):
            known[function, name] = False
            return False
        waiting += telling.names - followed
        followed |= telling.names
    known.update(((function, one), True) for one in followed)
    return True


def decides(function: ir.Function, draw: ir.Expr) -> bool:
    """Whether a condition of the function depends on what an expression draws, as a number."""
    return draw.at in _deciding(function)


@lru_cache(maxsize=256)
def _deciding(function: ir.Function) -> frozenset[int]:
    """Where the expressions stand on whose values conditions depend, by way of names, too."""
    given: dict[str, list[ir.Expr]] = {}
    tests: list[ir.Expr] = []
    for statement in nested(function.body):
        tests += _tests(statement)
        match statement:
            case ir.Assign(targets=(ir.Name(id=name),), value=ir.Expr() as value):
                given.setdefault(name, []).append(value)
    found: set[int] = set()
    while tests:
        expr = tests.pop()
        found.add(expr.at)
        match expr:
            case ir.Name(id=name):
                tests += given.pop(name, ())
            case ir.Call(function=ir.Attribute(base=base, name="item" | "any" | "all")):
                tests.append(base)
            case ir.Binary() | ir.Comparison() | ir.Unary() | ir.Boolean():
                tests += children(expr)
            case _:
                pass
    return frozenset(found)


def _tests(statement: ir.Stmt) -> list[ir.Expr]:
    """The conditions of a statement, those in its expressions too."""
    own = [statement.test] if isinstance(statement, (ir.If, ir.While)) else []
    return own + [one.test for one, _ in evaluated(header(statement)) if isinstance(one, ir.Conditional)]


class _Telling:
    """Looks at statements in which a value may stand."""

    def __init__(
        self,
        draw: ir.Expr,
        tells: Callable[[ir.Expr], bool],
        computes: Callable[[Sequence[ir.Stmt]], bool],
    ) -> None:
        self._draw, self._tells, self._computes = draw, tells, computes
        self.names: set[str] = set()
        """The names that the value, or what is made of it, is given to."""

    def is_harmless(self, statement: ir.Stmt) -> bool:
        """Whether nothing is computed with the value in a statement."""
        if isinstance(statement, ir.FunctionDef):
            return not any(self._is_in(header(one)) for one in nested(statement.function.body))
        if not self._is_in(header(statement)):
            return True
        match statement:
            case ir.Assign(targets=(ir.Name(id=name),), value=ir.Expr()):
                self.names.add(name)
                return True
            case ir.Assign(targets=(ir.Attribute(base=base),), value=ir.Expr() as value):
                return _is_text(value) and not self._is_in((base,))
            case ir.Expression(value=ir.Call(function=function, arguments=arguments)) as whole:
                is_only_drawn = whole.value is not self._draw and self._tells(function)
                return is_only_drawn and not any(_is_walrus(one.value) for one in arguments)
            case ir.If(test=test, body=body, orelse=orelse):
                return not _is_walrus(test) and not self._computes((*body, *orelse))
            case ir.With(items=items):
                calls = [context for context, _ in items if self._is_in((context,))]
                return all(isinstance(one, ir.Call) and self._tells(one.function) for one in calls)
            case ir.Raise() | ir.Assert():
                return True
            case _:
                return False

    def _is_in(self, exprs: Iterable[ir.Expr]) -> bool:
        found = [expr for expr, _ in evaluated(tuple(exprs))]
        described = {id(e.base) for e in found if isinstance(e, ir.Attribute) and e.name in _DESCRIPTIONS}
        for expr in found:
            if id(expr) in described:
                continue
            if expr is self._draw or (isinstance(expr, ir.Name) and expr.id in self.names):
                return True
            if isinstance(expr, ir.Lambda) and any(
                self._is_in(header(one)) for one in nested(expr.function.body)
            ):
                return True
        return False


def _is_walrus(expr: ir.Expr) -> bool:
    return any(isinstance(part, ir.Walrus) for part, _ in evaluated((expr,)))


def _is_text(expr: ir.Expr) -> bool:
    """Whether an expression is a text, with which nothing is computed."""
    match expr:
        case ir.Format():
            return True
        case ir.Attribute(name=name):
            return name in _TEXTS
        case ir.Call(function=ir.Name(id=name) | ir.Attribute(name=name)):
            return name == "str" or name in _TEXTS
        case ir.Binary(operator="Add", left=left, right=right):
            return _is_text(left) or _is_text(right)
        case _:
            return False
