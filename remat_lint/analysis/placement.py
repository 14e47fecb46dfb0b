"""Where the marker for a read goes, and why sometimes nowhere.

A marker is a statement of its own directly before the statement that reads. An output without a
name gets one first: its call is moved in front of the statement, which is allowed only if nothing
that Python evaluates before it can have an effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.facts import BareRead, Output
from remat_lint.analysis.journal import region_steps, unique
from remat_lint.analysis.state import Consumer
from remat_lint.analysis.targets import children
from remat_lint.analysis.values import Token
from remat_lint.findings import InsertMarker, MarkTarget


class Placement:
    """Turns the unserved reads of one statement into one fact.

    ``pure`` are the calls, by file and node, that have no effect but their result.
    """

    def __init__(self, pure: set[tuple[str, int]]) -> None:
        self._pure = pure

    def bare_read(self, reads: list[tuple[Token, Consumer]]) -> BareRead:
        """The fact for the reads of one statement, in the order in which they happen."""
        first = reads[0][1]
        targets = list(dict.fromkeys(consumer.target for _, consumer in reads))
        known = [target for target in targets if target is not None]
        obstacle = self._obstacle(first, known) if len(known) == len(targets) else _NO_NAME
        insertion = None
        if obstacle is None and first.statement is not None:
            insertion = InsertMarker(first.place.path, first.statement.at, tuple(known))
        outputs = _outputs(reads)
        certain = any(consumer.certain for _, consumer in reads)
        return BareRead(first.place, first.operation, outputs, certain, insertion, obstacle)

    def _obstacle(self, consumer: Consumer, targets: Sequence[MarkTarget]) -> str | None:
        statement = consumer.statement
        if statement is None:
            return "it is read outside every statement"
        if consumer.function is not None and consumer.function.is_lambda:
            return "a lambda has no room for a statement: make it a function"
        hoists = [target.hoist for target in targets if target.hoist is not None]
        bound = {walrus.target.id for walrus in _walruses(header(statement))}
        for target in targets:
            if target.hoist is None and target.expression.lstrip("*").split("[")[0].split(".")[0] in bound:
                return "its name is bound inside the statement that reads it"
        for node in hoists:
            obstacle = self._cannot_hoist(consumer.place.path, statement, node, hoists)
            if obstacle is not None:
                return obstacle
        return None

    def _cannot_hoist(self, path: str, statement: ir.Stmt, node: int, hoists: Sequence[int]) -> str | None:
        if isinstance(statement, ir.While):
            return "it is computed in the condition of a loop, which runs again on every turn"
        if isinstance(statement, ir.If) and statement.is_elif:
            return "it is computed in the condition of an `elif`"
        effects = False
        for expr, conditional in _evaluated(header(statement), False, frozenset(hoists)):
            if expr.at == node:
                if conditional:
                    return "it is computed only under a condition, or again and again, inside an expression"
                return "something evaluated before it may have an effect" if effects else None
            if expr.at not in hoists and self._has_effect(path, expr):
                effects = True
        return "it is computed where no name can be given to it"

    def _has_effect(self, path: str, expr: ir.Expr) -> bool:
        if isinstance(expr, (ir.Walrus, ir.Await, ir.Yield)):
            return True
        return isinstance(expr, ir.Call) and (path, expr.at) not in self._pure


def _outputs(reads: list[tuple[Token, Consumer]]) -> tuple[Output, ...]:
    """The outputs as the source at the consumer calls them, each once."""
    found: dict[tuple[str, str], Output] = {}
    for token, consumer in reads:
        key = (consumer.name, token.region)
        known = found.get(key)
        if known is None:
            steps = unique((*region_steps(token), *consumer.steps))
            found[key] = Output(consumer.name, token.region, token.kept, steps)
    return tuple(found.values())


_NO_NAME = "no name or expression at the consumer stands for it"


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


def _evaluated(
    exprs: Sequence[ir.Expr], conditional: bool = False, whole: frozenset[int] = frozenset()
) -> Iterator[tuple[ir.Expr, bool]]:
    """All expressions inside, innermost first as evaluated, and whether one may be skipped or repeated.

    What is inside the expressions ``whole`` is left out.
    """
    for expr in exprs:
        for parts, uncertain in _parts(expr) if expr.at not in whole else ():
            yield from _evaluated(parts, conditional or uncertain, whole)
        yield expr, conditional


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


def _walruses(exprs: Sequence[ir.Expr]) -> Iterator[ir.Walrus]:
    for expr, _ in _evaluated(exprs):
        if isinstance(expr, ir.Walrus):
            yield expr
