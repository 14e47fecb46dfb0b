"""Markers: ``remat.recompute_needs_tensor``, and what an execution of one is good for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.facts import Fate, Marker
from remat_lint.analysis.journal import Evidence
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.names import Names
from remat_lint.analysis.state import Consumer, MarkerRun, Phase, State
from remat_lint.analysis.targets import is_path
from remat_lint.analysis.values import (
    NONE,
    Constant,
    DictObject,
    ListObject,
    Made,
    Reference,
    Scalar,
    Tensor,
    Token,
    Unknown,
    Value,
    alternatives,
    contents,
    own_tokens,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import EditMarker


class Markers(Names):
    """Runs markers."""

    def run_marker(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """``remat.recompute_needs_tensor(*tensors)``."""
        self.note_aware()
        written = node.arguments if isinstance(node, ir.Call) else ()
        for index, argument in enumerate(written):
            given = [operand for operand in operands if operand.expr is argument.value]
            run = self._marker_run(state, node, index, argument, given)
            for operand in given:
                self._mark(state, node, operand)
            if not any(self._is_wrong(state, operand) for operand in given):
                self._remember(state, run, given)
        exprs = {id(argument.value) for argument in written}
        for operand in operands:
            if id(operand.expr) not in exprs:  # handed over by `map`, a `partial`, a wrapper
                self._mark(state, node, operand)
        return NONE

    def _marker_run(
        self, state: State, node: ir.Expr, index: int, argument: ir.Argument, given: Sequence[Operand]
    ) -> MarkerRun:
        """What is known of an argument of a marker just before it runs."""
        held = (own_tokens(one) for operand in given for one in alternatives(operand.value))
        tokens = frozenset(token for found in held for token in found)
        return MarkerRun(
            self.fresh(),
            self.place(node),
            index,
            argument.star + self.text(argument.value),
            self.frame.id,
            self.frame.function,
            self.frame.statement,
            tokens,
            is_path(argument.value),
            late=_waiting_for(state, tokens),
            again=all(state.is_marked(token) for token in tokens),
        )

    def _remember(self, state: State, run: MarkerRun, given: Sequence[Operand]) -> None:
        """Keep the run until it is known who reads the outputs; what needs no waiting is said now."""
        values = [one for operand in given for one in alternatives(operand.value)]
        if self.compiled:
            self.journal.testify(run, Evidence.COMPILED)
        elif state.phase is Phase.REPLAY:
            self.journal.testify(run, Evidence.REPLAY_ONLY)
        elif self.is_inert() or not values or any(not state.is_marked(token) for token in run.tokens):
            self.journal.testify(run, Evidence.UNKNOWN)
        elif run.tokens:
            state.runs[run.serial] = run
        elif all(isinstance(one, Tensor) and one.made is Made.COPIED for one in values):
            self.journal.testify(run, Evidence.COPY)
        else:
            made = all(self._is_made_here(one) for one in values)
            self.journal.testify(run, Evidence.NO_OUTPUT if made else Evidence.UNKNOWN)

    def _is_made_here(self, value: Value) -> bool:
        """Whether a value is certainly no output, nor shares its storage with one."""
        if isinstance(value, Tensor):
            return value.made is not Made.ELSEWHERE and value.storage not in self.handed
        return isinstance(value, Unknown) and value.computed

    def _is_wrong(self, state: State, operand: Operand) -> bool:
        return not operand.star and self._not_a_tensor(state, operand.value) is not None

    def _mark(self, state: State, node: ir.Expr, operand: Operand) -> None:
        if operand.star:
            for item in (*self.one_hop(state, operand.value), operand.value):
                self.persist(state, item)
            return
        wrong = self._not_a_tensor(state, operand.value)
        if wrong is not None:
            self._note_wrong_argument(state, node, operand, wrong)
            for item in self.one_hop(state, operand.value):
                self.persist(state, item)  # one cause, one finding
        self.persist(state, operand.value)
        if isinstance(operand.value, Unknown):  # one of these outputs, whichever the path took
            for token in operand.value.held:
                self.persist(state, Tensor(token))

    def _not_a_tensor(self, state: State, value: Value) -> str | None:
        """What a marked value is, where it is certainly no tensor."""
        match value:
            case Constant(value=None):
                return "None"
            case Constant() | Scalar():
                return "no tensor"
            case SequenceValue(kind=kind):
                return f"a {kind}"
            case Reference():
                found = self.object_at(state, value)
                if isinstance(found, (ListObject, DictObject)):
                    return "a list" if isinstance(found, ListObject) else "a dict"
                return None
            case _:
                return None

    def _note_wrong_argument(self, state: State, node: ir.Expr, operand: Operand, what: str) -> None:
        edit, statement = None, self.frame.statement
        written = node.arguments if isinstance(node, ir.Call) else ()
        index = next((i for i, one in enumerate(written) if one.value is operand.expr and not one.star), None)
        if index is not None and isinstance(statement, ir.Expression) and statement.value is node:
            code = self._unpacked(state, written[index].value, operand.value)
            path = self.frame.scope.source.path
            edit = EditMarker(path, statement.at, replace=((index, code),)) if code else None
        self.journal.note(
            Marker(self.place(node), (self.as_written(operand),), Fate.NO_TENSOR, what, edit=edit)
        )

    def _unpacked(self, state: State, expr: ir.Expr, value: Value) -> str:
        """How the tensors in a container are handed over; empty where it holds something else."""
        items = self.one_hop(state, value)
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if isinstance(found, DictObject):
            items = tuple(contents(found))
        if not items or not all(isinstance(one, Tensor) for item in items for one in alternatives(item)):
            return ""
        if isinstance(expr, ir.Display) and expr.kind in ("list", "tuple"):
            return ", ".join(self.text(item) for item in expr.items)
        if not isinstance(expr, (ir.Name, ir.Attribute, ir.Subscript)):
            return ""
        return f"*{self.text(expr)}.values()" if isinstance(found, DictObject) else f"*{self.text(expr)}"

    # --- what torch_remat sees in an argument

    def direct_tensors(self, state: State, value: Value) -> Iterator[Tensor]:
        """The tensors that torch_remat sees in an argument: itself, or one hop into a tuple or list."""
        for one in alternatives(value):
            if isinstance(one, Tensor):
                yield one
            for item in self.one_hop(state, one):
                yield from (leaf for leaf in alternatives(item) if isinstance(leaf, Tensor))

    def one_hop(self, state: State, value: Value) -> tuple[Value, ...]:
        if isinstance(value, SequenceValue) and value.kind == "tuple":
            return (*value.items, *((value.rest,) if value.rest else ()))
        if isinstance(value, Reference):
            found = self.object_at(state, value)
            if isinstance(found, ListObject) and found.kind == "list":
                return (*found.items, *((found.rest,) if found.rest else ()))
        return ()


def _waiting_for(state: State, tokens: frozenset[Token]) -> tuple[Token, Consumer] | None:
    """The first consumer that certainly read one of these outputs, and that a marker would serve now."""
    for waiting, consumers in state.pending.items():
        for consumer in consumers if not tokens.isdisjoint(waiting.lineage()) else ():
            if isinstance(consumer, Consumer) and consumer.certain:
                return waiting, consumer
    return None
