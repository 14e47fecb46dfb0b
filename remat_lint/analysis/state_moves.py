"""What state is known to be equal to: copies that code makes of it, and what it adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.moves import ANYTHING, Moves, Terms, constant, held_by, moved, shifted
from remat_lint.analysis.state import State
from remat_lint.analysis.state_reads import StateReads
from remat_lint.analysis.values import UNKNOWN, Constant
from remat_lint.analysis.watch import Held

RESULT = (0, " result")
"""What a call returns, as if it were state."""


class StateMoves(StateReads):
    """Follows state from name to name."""

    def note_copy(self, state: State, name: str, expr: ir.Expr | None) -> None:
        """A local name is bound to the value of an expression: it may be what state is by now."""
        local, terms = (self.frame.id, f".{name}"), self.terms_of(state, expr)
        if terms or local in state.moves:
            self.move_state(state, local, terms)

    def given_to_locals(self, expr: ir.Expr | None, targets: Sequence[ir.Expr]) -> dict[str, ir.Expr]:
        """The expressions that the local names of a display are bound to: ``old, new = self.n, 0``."""
        values = expr.items if isinstance(expr, ir.Display) else ()
        if len(values) != len(targets) or any(isinstance(one, ir.Starred) for one in (*values, *targets)):
            return {}
        pairs = zip(targets, values, strict=True)
        outer = self.outer_names()
        return {one.id: value for one, value in pairs if isinstance(one, ir.Name) and one.id not in outer}

    def copies_of(self, state: State, exprs: Mapping[str, ir.Expr]) -> Moves:
        """What local names will be: all values are there before the first is bound."""
        return {(self.frame.id, f".{name}"): self.terms_of(state, expr) for name, expr in exprs.items()}

    def move_state(self, state: State, held: Held, terms: Terms = ANYTHING) -> None:
        """State is set to what these are, or to something unknown."""
        state.moves = moved(state.moves, held, terms, sure=bool(self.frame.unwinding))

    def terms_of_attribute(self, state: State, holder: Operand, name: str) -> Terms:
        """What an attribute is known to hold by now."""
        held = self.held_by(state, holder)
        return held_by((held[0], f"{held[1]}.{name}"), state.moves) if held is not None else ANYTHING

    def move_attribute(self, state: State, holder: Operand, name: str, terms: Terms) -> None:
        """An attribute holds from here on what these are."""
        held = self.held_by(state, holder)
        if held is not None:
            self.move_state(state, (held[0], f"{held[1]}.{name}"), terms)

    def move_result(self, state: State, terms: Terms) -> None:
        """The function returns what is equal to these."""
        if terms or RESULT in state.moves:
            state.moves = moved(state.moves, RESULT, terms, sure=False)

    def note_result(self, state: State, node: ir.Expr) -> None:
        """A call has returned: what it gives is known in terms of state, or it is anything."""
        moves = dict(state.moves)
        moves[self._result_of(node)] = moves.pop(RESULT, ANYTHING)
        state.moves = moves

    def _result_of(self, call: ir.Expr) -> Held:
        return self.frame.id, f" {call.at}"

    def terms_of(self, state: State, expr: ir.Expr | None) -> Terms:
        """What is known to be equal to the value of an expression."""
        match expr:
            case ir.Name(id=name) if (self.frame.id, f".{name}") in state.moves:
                return state.moves[self.frame.id, f".{name}"]
            case ir.Call() if self._result_of(expr) in state.moves:
                return state.moves[self._result_of(expr)]
            case ir.Name() | ir.Attribute() | ir.Subscript() | ir.Call():
                met = self.frame.watch.met.get(expr.at, frozenset())
                if len(met) > 1 and (own := self.held_by(state, Operand(UNKNOWN, expr))) in met:
                    # An attribute may be that of a class as well.
                    met = frozenset(held for held in met if held == own or not held[1])
                return frozenset(term for held in met for term in held_by(held, state.moves))
            case ir.Binary(operator="Add", left=left, right=ir.Const(value=int(by) | float(by))):
                return shifted(self._terms_of_part(state, left), by)
            case ir.Binary(operator="Add", left=ir.Const(value=int(by) | float(by)), right=right):
                return shifted(self._terms_of_part(state, right), by)
            case ir.Binary(operator="Subtract", left=left, right=ir.Const(value=int(by) | float(by))):
                return shifted(self._terms_of_part(state, left), -by)
            case _:
                return ANYTHING

    def _terms_of_part(self, state: State, expr: ir.Expr) -> Terms:
        value = self.frame.values.get(expr.at)
        known = constant(value.value) if isinstance(value, Constant) else ANYTHING
        return self.terms_of(state, expr) | known

    def stacked(self, state: State, held: Held, name: str, count: int) -> Terms:
        """What a container is after a method: with an item more at its end, or one less."""
        by = {("append", 1): 1, ("pop", 0): -1}.get((name, count))
        return shifted(held_by(held, state.moves), by, stack=True) if by is not None else ANYTHING
