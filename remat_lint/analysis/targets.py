"""How the source at a consumer calls an output: the argument that a marker there would get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import children, header
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    ListObject,
    Reference,
    Sequence,
    Tensor,
    Token,
    Value,
    alternatives,
)
from remat_lint.findings import MarkTarget

if TYPE_CHECKING:
    from remat_lint.analysis.machine import Frame


def find_target(frame: Frame, state: State, expr: ir.Expr | None, token: Token) -> MarkTarget | None:
    """The shortest expression for the token, looked for in ``expr`` first, then among all names.

    Where the token is the result of a call inside ``expr`` and has no name, the target is that
    call, to be hoisted. None where nothing in this function holds the token.
    """
    found = _in_expression(frame, state, expr, token) if expr is not None else None
    if found is None or found.hoist is not None:
        name = next((one for one in names_of(frame, state, token) if not one.startswith("*")), None)
        if name is not None:
            return MarkTarget(name)
    if found is None and frame.statement is not None:  # a name of a comprehension, bound to what a call gave
        around = (_in_expression(frame, state, part, token) for part in header(frame.statement))
        found = next((target for target in around if target is not None), None)
    return found


def _in_expression(frame: Frame, state: State, expr: ir.Expr, token: Token) -> MarkTarget | None:
    value = frame.values.get(expr.at)
    if isinstance(expr, ir.Name):
        return _name(frame, state, expr, token)
    if value is not None and isinstance(expr, (ir.Attribute, ir.Subscript)) and _is(state, value, token):
        base = _in_expression(frame, state, expr.base, token)
        if base is not None and not base.expression.startswith("*"):
            return base
        return MarkTarget(frame.scope.source.code(expr.at)) if is_path(expr) else base
    for child in children(expr):
        found = _in_expression(frame, state, child, token)
        if found is not None:
            return found
    if isinstance(expr, ir.Call) and value is not None and token in state.tokens(value):
        return _call(frame, state, expr, value, token)
    return None


def _call(frame: Frame, state: State, expr: ir.Call, value: Value, token: Token) -> MarkTarget | None:
    """A call that gives the output: to be named first, or written twice where it only looks into a dict."""
    several = not _is(state, value, token)
    if several and not (_is_flat(state, value) and _has(state, value, token)):
        return None
    function = expr.function
    if several and isinstance(function, ir.Attribute) and function.name == "values" and not expr.arguments:
        return MarkTarget(f"*{frame.scope.source.code(expr.at)}") if is_path(function.base) else None
    return MarkTarget("*" * several + _wished_name(expr, token), hoist=expr.at)


def _name(frame: Frame, state: State, expr: ir.Name, token: Token) -> MarkTarget | None:
    value = frame.values.get(expr.at)
    if value is None or expr.id in frame.comprehension:
        return None
    if _is(state, value, token):
        return MarkTarget(expr.id)
    if _is_flat(state, value) and _has(state, value, token):
        return MarkTarget(f"*{expr.id}")
    return None


def names_of(frame: Frame, state: State, token: Token) -> Iterator[str]:
    """The names in a function, or in one around it, whose tensors share the output's storage.

    Those of tensors come first; then, with a ``*``, those of tuples and lists that hold one.
    """
    names = [
        (name, value)
        for number in (frame.id, frame.closure)
        for name, value in state.frames.get(number, {}).items()
        if name not in frame.comprehension
    ]
    yield from (name for name, value in names if _is(state, value, token))
    yield from (f"*{name}" for name, value in names if _is_flat(state, value) and _has(state, value, token))


def _is(state: State, value: Value, token: Token) -> bool:
    """Whether a value is a tensor by which the token can be marked, whatever path was taken.

    A detached alias is none when nothing else of the output is left (SEMANTICS 1.5), and what was moved to
    another device may be a copy.
    """
    return any(
        isinstance(one, Tensor)
        and one.token == token
        and one.moved is None
        and (not one.detached or state.is_alive(token))
        for one in alternatives(value)
    )


def _has(state: State, value: Value, token: Token) -> bool:
    return any(_is(state, one, token) for one in state.leaves(value))


def _is_flat(state: State, value: Value) -> bool:
    """Whether ``*value`` gives tensors only."""
    if isinstance(value, Reference):
        found = state.heap.get(value.address)
        if not isinstance(found, ListObject):
            return False
        items = (*found.items, *((found.rest,) if found.rest else ()))
    elif isinstance(value, Sequence):
        items = (*value.items, *((value.rest,) if value.rest else ()))
    else:
        return False
    return all(isinstance(one, Tensor) for item in items for one in alternatives(item))


def is_path(expr: ir.Expr) -> bool:
    """Whether an expression can be written twice: names, attributes and constant or named indices."""
    if isinstance(expr, ir.Attribute):
        return is_path(expr.base)
    if isinstance(expr, ir.Subscript):
        return is_path(expr.base) and all(isinstance(i, (ir.Const, ir.Name, ir.Unary)) for i in expr.indices)
    return isinstance(expr, ir.Name)


def _wished_name(call: ir.Call, token: Token) -> str:
    """The last part of the region's name, or of the attribute or function that is called, plus ``_out``."""
    function = call.function
    if isinstance(function, ir.Attribute):
        word = function.name
    elif isinstance(function, ir.Name):
        word = function.id
    else:
        word = token.region.strip("\"'").rpartition(".")[2]
    word = word.strip("_")
    return f"{word}_out" if word.isidentifier() else "region_out"
