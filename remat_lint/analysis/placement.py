"""Where the marker for a read goes, and why sometimes nowhere.

A marker is a statement of its own directly before the statement that reads. An output without a
name gets one first: its call is moved in front of the statement, which is allowed only if nothing
that Python evaluates before it can have an effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import BareRead, Output
from remat_lint.analysis.journal import region_steps, unique
from remat_lint.analysis.state import Consumer
from remat_lint.analysis.values import Token
from remat_lint.findings import InsertMarker, MarkTarget


class Placement:
    """Turns the unserved reads of one statement into one fact.

    ``pure`` are the calls, by file and node, that have no effect but their result; ``bound`` the names
    that a statement has on the paths where it needs no marker.
    """

    def __init__(self, pure: set[tuple[str, int]], bound: Mapping[ir.Stmt, set[str]]) -> None:
        self._pure = pure
        self._bound = bound

    def bare_read(self, reads: list[tuple[Token, Consumer]]) -> BareRead:
        """The fact for the reads of one statement, in the order in which they happen."""
        reads = list(self._by_common_names(reads))
        first = reads[0][1]
        targets = list(dict.fromkeys(consumer.target for _, consumer in reads))
        known = [target for target in targets if target is not None]
        obstacle = self._obstacle(first, known) if len(known) == len(targets) else first.obstacle or _NO_NAME
        insertion = None
        if obstacle is None and first.statement is not None:
            insertion = InsertMarker(first.place.path, first.statement.at, tuple(known))
        outputs = _outputs(reads)
        certain = any(consumer.certain for _, consumer in reads)
        operations = {consumer.operation for _, consumer in reads}
        operation = first.operation if len(operations) == 1 else "this statement"
        resident = all(token.resident for token, _ in reads)
        return BareRead(first.place, operation, outputs, certain, resident, insertion, obstacle)

    def _by_common_names(self, reads: Sequence[tuple[Token, Consumer]]) -> Iterator[tuple[Token, Consumer]]:
        """The reads, each output by a name that it has on all paths: one of a branch may be unbound."""
        common: dict[Token, tuple[str, ...]] = {}
        for token, consumer in reads:
            names = [name for name in common.get(token, consumer.names) if name in consumer.names]
            common[token] = tuple(name for name in names if self._is_bound(consumer, name))
        for token, consumer in reads:
            shared, target = common[token], consumer.target
            if shared and target is not None and target.expression in set(consumer.names).difference(shared):
                consumer = replace(consumer, name=shared[0].lstrip("*"), target=MarkTarget(shared[0]))
            yield token, consumer

    def _is_bound(self, consumer: Consumer, name: str) -> bool:
        bound = self._bound.get(consumer.statement) if consumer.statement is not None else None
        return bound is None or name.lstrip("*") in bound

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
        if any(isinstance(e, ir.Await) and e.value.at == node for e, _ in evaluated(header(statement))):
            return "it is awaited"
        effects = False
        whole = frozenset(other for other in hoists if not _contains(statement, other, node))
        for expr, conditional in evaluated(header(statement), False, whole):
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
    found: dict[object, Output] = {}
    for token, consumer in reads:
        key = (consumer.name, token.region, () if consumer.name else consumer.steps)
        known = found.get(key)
        if known is None:
            steps = unique((*region_steps(token), *consumer.steps))
            found[key] = Output(consumer.name, token.region, token.kept, steps)
    return tuple(found.values())


_NO_NAME = "no name or expression at the consumer stands for it"


def _contains(statement: ir.Stmt, outer: int, inner: int) -> bool:
    """Whether one expression of a statement lies inside another one."""
    for expr, _ in evaluated(header(statement)):
        if expr.at == outer and expr.at != inner:
            return any(part.at == inner for part, _ in evaluated((expr,)))
    return False


def _walruses(exprs: Sequence[ir.Expr]) -> Iterator[ir.Walrus]:
    for expr, _ in evaluated(exprs):
        if isinstance(expr, ir.Walrus):
            yield expr
