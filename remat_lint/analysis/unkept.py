"""Whether anything keeps a random value for backward, as far as one function shows.

A number that is added to something or that scales it, and a tensor that is added, are needed by no backward
(measured, SEMANTICS 3): a replay that draws another one does no harm there, as long as the sum or product
goes nowhere but out of the function. The shape, dtype and device of a tensor say nothing of what is in it.
Everything that is not plainly so counts as kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from functools import lru_cache

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import children, header
from remat_lint.analysis.occurrences import occurrences
from remat_lint.analysis.suites import nested


class _Kept(Exception):
    """Something may keep the value."""


class Drawn(Enum):
    """What a draw gives, and what is made of that."""

    NOTHING = 0
    NUMBER = 1
    NOISE = 2
    """A tensor that requires no gradient."""

    RESULT = 3
    """What was made of a tensor by adding the value, or by scaling with it."""


class Fate(IntEnum):
    """What becomes of a value in the function that draws it."""

    DROPPED = 0
    RETURNED = 1
    """It goes out, as it is or in a sum, and is needed by no backward of what the function computes."""

    KEPT = 2


def fate(function: ir.Function, draw: ir.Expr, gives: Drawn, *, scaling: bool = True) -> Fate:
    """What becomes of what an expression of the function draws.

    Where the replay builds the graph anew, what scales something is needed as well: no ``scaling``.
    """
    flow = _Flow({}, draw, gives, scaling=scaling)
    try:
        for statement in occurrences(function).of(draw):
            flow.follow(statement)
    except _Kept:
        return Fate.KEPT
    others = (_fate_of_name(function, name, what, scaling) for name, what in flow.names.items())
    return max(flow.fate, *others, Fate.DROPPED)


@lru_cache(maxsize=1024)
def _fate_of_name(function: ir.Function, name: str, what: Drawn, scaling: bool) -> Fate:
    """The same of what a name of the function stands for."""
    flow, found = _Flow({name: what}, scaling=scaling), occurrences(function)
    waiting, followed = [name], {name}
    try:
        while waiting:
            for statement in found.of_name(waiting.pop()):
                flow.follow(statement)
            waiting += flow.names.keys() - followed
            followed |= flow.names.keys()
    except _Kept:
        return Fate.KEPT
    return flow.fate


class _Flow:
    """Follows a value through statements of one function. Raises ``_Kept``."""

    def __init__(
        self,
        names: dict[str, Drawn],
        draw: ir.Expr | None = None,
        drawn: Drawn = Drawn.NOTHING,
        *,
        scaling: bool,
    ) -> None:
        self._draw = draw
        self._drawn = drawn
        self._scaling = scaling
        self.names = names
        self.fate = Fate.DROPPED

    def follow(self, statement: ir.Stmt) -> None:
        """Go on with what a statement makes of the value."""
        match statement:
            case ir.Assign(targets=(ir.Name(id=name),), value=ir.Expr() as value):
                self._bind(name, self._of(value))
            case ir.AugAssign(target=ir.Name(id=name) as target, operator=operator, value=value):
                self._bind(name, self._combined(operator, target, value))
            case ir.Return(value=ir.Display(kind="tuple", items=items)):
                for item in items:
                    self._return(item)
            case ir.Return(value=ir.Expr() as value):
                self._return(value)
            case ir.FunctionDef(function=function):
                self._refuse_in(function)
            case ir.With(items=items):
                self._refuse([context for context, _ in items])
            case _:
                self._refuse(header(statement))

    def _return(self, expr: ir.Expr) -> None:
        if self._of(expr) is not Drawn.NOTHING:
            self.fate = Fate.RETURNED

    def _bind(self, name: str, what: Drawn) -> None:
        known = self.names.get(name, what)
        if known is not what and Drawn.NOTHING not in (known, what):
            raise _Kept
        if what is not Drawn.NOTHING:
            self.names[name] = what

    def _of(self, expr: ir.Expr) -> Drawn:
        match expr:
            case _ if expr is self._draw:
                self._refuse(_operands(expr))
                return self._drawn
            case ir.Name(id=name):
                return self.names.get(name, Drawn.NOTHING)
            case ir.Binary(operator=operator, left=left, right=right):
                return self._combined(operator, left, right)
            case ir.Unary(operator="Minus", operand=operand):
                return self._of(operand)
            case ir.Call(function=ir.Attribute(base=base, name="item"), arguments=()):
                return Drawn.NUMBER if self._of(base) is not Drawn.NOTHING else Drawn.NOTHING
            case _:
                self._refuse((expr,))
                return Drawn.NOTHING

    def _combined(self, operator: str, left: ir.Expr, right: ir.Expr) -> Drawn:
        first, second = self._of(left), self._of(right)
        if first is second is Drawn.NOTHING:
            return Drawn.NOTHING
        if operator in ("Add", "Subtract"):
            return _sum(first, left, second, right)
        if operator in ("Multiply", "Divide"):
            product = _product(operator, first, left, second, right)
            if self._scaling or product is not Drawn.RESULT or Drawn.RESULT in (first, second):
                return product
        raise _Kept

    def _refuse(self, exprs: Sequence[ir.Expr]) -> None:
        """The value is in none of these expressions."""
        waiting = list(exprs)
        while waiting:
            expr = waiting.pop()
            if self._is_it(expr):
                raise _Kept
            if isinstance(expr, ir.Lambda):
                self._refuse_in(expr.function)
            asked = _asked_for_metadata(expr)
            is_known = asked is not None and self._is_it(asked)
            waiting += (part for part in children(expr) if not (is_known and part is asked))

    def _is_it(self, expr: ir.Expr) -> bool:
        return expr is self._draw or (isinstance(expr, ir.Name) and expr.id in self.names)

    def _refuse_in(self, function: ir.Function) -> None:
        for statement in nested(function.body):
            self._refuse(header(statement))


def _asked_for_metadata(expr: ir.Expr) -> ir.Expr | None:
    """The tensor whose shape, dtype or device is all that an expression takes of it."""
    match expr:
        case ir.Attribute(base=base, name=name) if any(
            map(_is_metadata, (torch_ops.attribute(name), torch_ops.method(name)))
        ):
            return base
        case ir.Call(function=ir.Attribute(name=name), arguments=[first, *_]) if _is_metadata(
            torch_ops.function(f"torch.{name}")
        ):
            return first.value if first.keyword in (None, "input") else None
        case _:
            return None


def _is_metadata(operation: torch_ops.Operation | None) -> bool:
    return operation is not None and operation.effect is torch_ops.Effect.METADATA


def _operands(draw: ir.Expr) -> tuple[ir.Expr, ...]:
    return tuple(argument.value for argument in draw.arguments) if isinstance(draw, ir.Call) else ()


def _sum(first: Drawn, left: ir.Expr, second: Drawn, right: ir.Expr) -> Drawn:
    """What a sum is: with a constant, what the other side is."""
    for one, other, expr in ((first, second, right), (second, first, left)):
        if other is Drawn.NOTHING and isinstance(expr, ir.Const):
            return one
    return first if first is second else Drawn.RESULT


def _product(operator: str, first: Drawn, left: ir.Expr, second: Drawn, right: ir.Expr) -> Drawn:
    """What a product or quotient is: only a number may scale something."""
    if isinstance(right, ir.Const) or (isinstance(left, ir.Const) and operator == "Multiply"):
        return first if first is not Drawn.NOTHING else second
    if first is second is Drawn.NUMBER:
        return Drawn.NUMBER
    if (first, second) == (Drawn.NOTHING, Drawn.NUMBER):
        return Drawn.RESULT
    if (first, second) == (Drawn.NUMBER, Drawn.NOTHING) and operator == "Multiply":
        return Drawn.RESULT
    raise _Kept
