"""In which order Python evaluates the parts of a statement, and which of them it may skip or repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint.analysis import ir


def header(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The expressions that a statement evaluates before any statement inside it runs."""
    match statement:
        case ir.Expression(value=value):
            return (value,)
        case ir.Assign(value=ir.Expr() as value, targets=targets):
            return (value, *targets)
        case ir.AugAssign(target=target, value=value):
            return (target, value)
        case ir.Return(value=ir.Expr() as value):
            return (value,)
        case ir.Raise(values=values):
            return values
        case ir.Assert(test=test, message=message):
            return (test, *((message,) if message is not None else ()))
        case ir.If(test=test) | ir.While(test=test):
            return (test,)
        case ir.For(iterable=iterable):
            return (iterable,)
        case ir.With(items=items):
            return tuple(context for context, _ in items[:1])
        case ir.Match(subject=subject):
            return (subject,)
        case _:
            return ()


def evaluated(
    exprs: Sequence[ir.Expr], conditional: bool = False, whole: frozenset[int] = frozenset()
) -> Iterator[tuple[ir.Expr, bool]]:
    """All expressions inside, innermost first as evaluated, and whether one may be skipped or repeated.

    What is inside the expressions ``whole`` is left out.
    """
    waiting = [(expr, conditional, expr.at in whole) for expr in reversed(exprs)]
    while waiting:
        expr, uncertain, is_last = waiting.pop()
        if is_last:
            yield expr, uncertain
            continue
        waiting.append((expr, uncertain, True))
        parts = [
            (part, uncertain or maybe, part.at in whole) for some, maybe in _parts(expr) for part in some
        ]
        waiting += reversed(parts)


def _parts(expr: ir.Expr) -> Iterator[tuple[Sequence[ir.Expr], bool]]:
    """The parts of an expression, and for each whether Python may skip or repeat it."""
    match expr:
        case ir.Conditional(test=test, body=body, orelse=orelse):
            yield (test,), False
            yield (body, orelse), True
        case ir.Boolean(left=left, right=right):
            yield (left,), False
            yield (right,), True
        case ir.Comprehension():
            first, *others = children(expr)
            yield (first,), False
            yield others, True
        case _:
            yield list(children(expr)), False


def children(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of an expression in the order in which Python evaluates them."""
    for name in _PARTS.get(type(expr), ()):
        part = getattr(expr, name)
        for item in part if isinstance(part, tuple) else (part,):
            yield from _expressions(item)


def _expressions(part: object) -> Iterator[ir.Expr]:
    if isinstance(part, ir.Expr):
        yield part
    elif isinstance(part, ir.Argument):
        yield part.value
    elif isinstance(part, ir.Clause):
        yield part.iterable
    elif isinstance(part, tuple):  # key and value of a dict display
        yield from (item for item in part if isinstance(item, ir.Expr))


_PARTS: dict[type[ir.Expr], tuple[str, ...]] = {
    ir.Attribute: ("base",),
    ir.Starred: ("value",),
    ir.Walrus: ("value",),
    ir.Unary: ("operand",),
    ir.Await: ("value",),
    ir.Yield: ("value",),
    ir.Call: ("function", "arguments"),
    ir.Subscript: ("base", "indices"),
    ir.Slice: ("lower", "upper", "step"),
    ir.Format: ("values",),
    ir.Display: ("items",),
    ir.DictDisplay: ("items",),
    ir.Binary: ("left", "right"),
    ir.Boolean: ("left", "right"),
    ir.Comparison: ("left", "rights"),
    ir.Conditional: ("test", "body", "orelse"),
    ir.Comprehension: ("clauses", "key", "element"),
}
