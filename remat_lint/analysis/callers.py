"""What the callers of checkpoints do to state between a forward and its replay.

Comes in: what a checkpointed function computed with, and the state that code sets outside checkpoints. Goes
out: a fact for state that is, where the code under way ends, not what the forward found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.awaited import Awaited, Awaiting
from remat_lint.analysis.deeds import Deeds, Use
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import UnstableInput, Unsteady
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.moves import (
    ANYTHING,
    Moves,
    Term,
    Terms,
    after,
    constant,
    differ,
    either,
    held_by,
    is_constant,
    moved,
    shifted,
    then,
)
from remat_lint.analysis.replays import Replay
from remat_lint.analysis.state import State
from remat_lint.analysis.state_moves import StateMoves
from remat_lint.analysis.suites import bound_locals, nested
from remat_lint.analysis.values import EVERYTHING, Constant, InstanceObject, Value
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Held, concerned
from remat_lint.findings import Place

_WITHOUT_GRADIENTS = (
    "argmax argmin bool detach detach_ float inference_mode int item no_grad numpy requires_grad_ "
    "set_grad_enabled tolist"
)
_CUTTING = frozenset([*_WITHOUT_GRADIENTS.split(), "copy", "deepcopy"])
"""What code calls that uses a result without its gradients, or another object each time."""

_CONVERTING = frozenset(["float", "int", "bool", "str"])


class Callers(StateMoves):
    """Follows state from checkpoints to the end of the code that calls them."""

    def await_replay(self, state: State, replay: Replay, before: Moves, deeds: Deeds) -> None:
        """A checkpoint has run a function that did this: what it computed with is looked at again."""
        if self.bodies:
            return  # the checkpoint around it runs it again
        frames = (frame.function for frame in self.active_frames())
        reached = not any(function is not None and _may_cut(function) for function in frames)
        for deed in deeds:
            if not isinstance(deed.act, Use) or deed.act.replayed:
                continue
            held = (deed.act.number, deed.act.path)
            is_own = any(held_by(one, before) != held_by(one, state.moves) for one in concerned(held))
            if is_own or replay.coverage.restores(held):
                continue
            replayed = self.replayed_by(replay, deed)
            terms = held_by(held, state.moves)
            one = Awaited(
                held, deed.place, deed.act.shown, deed.act.decides, replayed, terms, reached=reached
            )
            self._look_again(state, one)

    def _look_again(self, state: State, one: Awaited) -> None:
        known = state.awaiting.found.get(one.key)
        if known is not None:
            self.note_outdated([known])  # it is one thing for that checkpoint, another for this one
        state.awaiting = state.awaiting.with_one(one)

    def note_outdated(self, awaited: Iterable[Awaited]) -> None:
        """Nobody puts back what was written over what these were: backward comes from here on."""
        for one in awaited:
            if one.written is not None:
                self.journal.note(self._outdated(one))

    def outdated(self, awaiting: Awaiting) -> Iterator[UnstableInput]:
        """What the replays to come find written over, unless somebody else puts it back."""
        return (self._outdated(one) for one in awaiting if one.written is not None)

    def _outdated(self, one: Awaited) -> UnstableInput:
        replayed = replace(one.replayed, certain=one.replayed.certain and one.certain)
        what = one.held[1].lstrip(".")
        if one.shown is not None:
            what = " ".join(self.scopes[one.shown.path].source.code(one.shown.node).split())
        return UnstableInput(
            one.place,
            what,
            Unsteady.STATE,
            one.decides,
            one.place,
            replayed,
            one.written,
            reached=one.reached,
        )

    def note_rewritten(self, state: State, held: Held, terms: Terms, node: ir.Node | None = None) -> None:
        """Code sets state, at ``node`` or by the running statement, to what these are.

        What is made, and what code sets where it is not there, is set before it is looked at.
        """
        frame, node = self.frame, node or self.frame.statement
        if self.bodies or self.muted or node is None or frame.watch.is_tested(held):
            return
        if any(arm.once for arm in frame.watch.arms) or any(map(_constructs, self.active_frames())):
            return
        self._rewrite(state, held, terms, self.place(node))

    def note_all_rewritten(self, state: State, value: Value, node: ir.Node) -> None:
        """Code sets attributes of an object that it does not name."""
        number = self.number_of(value)
        if number and not self.bodies:
            owner, path = self.root_of(number)
            state.awaiting = state.awaiting.rewritten((owner, path + EVERYTHING), self.place(node))

    def _rewrite(self, state: State, held: Held, terms: Terms, place: Place) -> None:
        terms = self._known(terms)
        changed = (one.after(held, terms, self._known(one.terms), place) for one in state.awaiting)
        state.awaiting = state.awaiting.of(changed).rewritten(held, place)

    def note_backward_on(self, state: State) -> None:
        """Backward runs, or somebody else does who may run it."""
        state.awaiting = state.awaiting.after_backward(self.fresh())

    # --- calls

    def own_awaiting(self, state: State, frame: Frame) -> Awaiting:
        """What a call leaves awaited, as its caller sees it: nobody else sets what it made."""
        awaiting = state.awaiting
        foreign = [one for one in awaiting if self.is_foreign(one.held[0], frame.id)]
        self.note_outdated(one for one in awaiting if not self.is_foreign(one.held[0], frame.id))
        written = {held: at for held, at in awaiting.written.items() if self.is_foreign(held[0], frame.id)}
        return Awaiting({one.key: one for one in foreign}, written, awaiting.backward)

    def hand_back_state(self, state: State, frame: Frame, moves: Moves, awaiting: Awaiting) -> Moves:
        """A call has ended, before which these were: bring what it did to state into terms of its caller.

        What comes back is where the state had gone before it, and what it was handed.
        """
        called, did, state.moves = state.awaiting, state.moves, moves
        of = [*did.values(), *(one.terms for one in called), *(frame.at_yield or ({},))[0].values()]
        asked = {term.of for terms in of for term in terms if term.of[0] == frame.id}
        handed = self._handed(state, frame) if asked else {}
        before = {**moves, **{held: handed.get(held, ANYTHING) for held in asked}}
        composed = then(before, did, sure=bool(self.frame.unwinding))
        state.moves = {held: terms for held, terms in composed.items() if held not in asked}
        state.awaiting = awaiting.after_backward(self.fresh()) if called.backward else awaiting
        if not self.bodies:
            for held, place in called.written.items():
                self._rewrite(state, held, held_by(held, state.moves), place)
        for one in called:
            if self.is_one(state, one.held[0]):
                self._look_again(state, replace(one, terms=after(before, one.terms)))
            else:
                self.note_outdated([one])
        return before

    def _handed(self, state: State, frame: Frame) -> Moves:
        """What a call is handed under the names of its parameters."""
        parameters = frame.function.parameters if frame.function is not None else ()
        slots = [one.name for one in parameters if one.kind == "positional"]
        given = [operand for operand in frame.operands if operand.keyword is None]
        if any(operand.star for operand in given):
            return {}
        named = [*zip(slots, given, strict=False), *((o.keyword, o) for o in frame.operands if o.keyword)]
        return {(frame.id, f".{name}"): self.known_terms(state, operand) for name, operand in named}

    # --- context managers

    def note_yield(self, state: State) -> None:
        """A generator hands over to the code that runs it, which may run backward before it goes on."""
        frame = self.frame
        moves, written = frame.at_yield or (state.moves, state.awaiting.written)
        frame.at_yield = either(moves, state.moves), {**written, **state.awaiting.written}
        if state.awaiting.found:
            self.note_backward_on(state)

    def open_context(self, state: State, frame: Frame, before: Moves, value: Value) -> None:
        """A generator has run to its end: if it is a context manager, a ``with`` comes in between.

        What it sets before, and at its end with all attributes of the object, is put back.
        """
        if frame.at_yield is None or not isinstance(value, SequenceValue):
            return
        moves, written = frame.at_yield
        opened = {held: terms for held, terms in then(before, moves).items() if held in written}
        if not opened:
            return
        self.opened[value.origin] = opened
        ending = {held[0] for held in state.awaiting.written.keys() - written if held[1].endswith(EVERYTHING)}
        back = {held: held_by(held, before) for held in opened if held[0] in ending}
        state.moves = {**state.moves, **back}

    def enter_context(self, state: State, value: Value, node: ir.Expr) -> Moves:
        """A ``with`` begins: state is as its context manager sets it. What that leaves comes back."""
        moves = self.opened.get(self.number_of(value), {})
        left = {held: held_by(held, state.moves) for held in moves}
        for held, terms in moves.items():
            state.moves = moved(state.moves, held, terms, sure=False)
            self.note_rewritten(state, held, terms, node)
        return left

    def leave_context(self, state: State, left: Moves, node: ir.Expr) -> None:
        """A ``with`` ends: its context manager goes on."""
        for held, terms in left.items():
            state.moves = {**state.moves, held: terms}
            self.note_rewritten(state, held, terms, node)

    # --- what is equal

    def move_attribute(self, state: State, holder: Operand, name: str, terms: Terms) -> None:
        super().move_attribute(state, holder, name, terms)
        held = self.held_by(state, holder)
        if held is not None:
            self.note_rewritten(state, (held[0], f"{held[1]}.{name}"), terms)

    def known_terms(self, state: State, operand: Operand) -> Terms:
        """What is known to be equal to an operand."""
        return self.terms_of(state, operand.expr) | self._equal_to(operand)

    def _equal_to(self, operand: Operand) -> Terms:
        """What the value of an operand is known to be, in whichever turn of a loop it is asked for."""
        value, expr, function = operand.value, operand.expr, self.frame.function
        if isinstance(value, Constant):
            return constant(value.value)
        if function is None or expr is None or not self._is_settled_in(function, expr):
            return ANYTHING
        name = f".{expr.id}" if isinstance(expr, ir.Name) else f"= {self.text(expr)}"
        return frozenset([Term((self.frame.id, name))])

    def _is_settled_in(self, function: ir.Function, expr: ir.Expr) -> bool:
        """Whether an expression is the same wherever a function evaluates it."""
        changed = self.frame.watch.changed | _bound_again(function)
        for part, _ in evaluated((expr,)):
            match part:
                case ir.Name(id=name) | ir.Attribute(name=name) if name not in changed:
                    continue
                case ir.Const() | ir.Binary() | ir.Unary():
                    continue
                case ir.Call(function=ir.Name(id=name)) if name in _CONVERTING:
                    continue
                case _:
                    return False
        return True

    def is_another(self, found: Terms, terms: Terms) -> bool:
        """Whether state is known to be set to something else than was found there."""
        return differ(self._known(found), self._known(terms))

    def _known(self, terms: Terms) -> Terms:
        """These, and the constants that they are if nothing else was set there since modules were loaded."""
        found = set(terms)
        for term in terms:
            first = None if is_constant(term.of) else self._at_first(term.of)
            if isinstance(first, Constant):
                is_number = isinstance(first.value, (int, float))
                found |= shifted(constant(first.value), term.by) if is_number or not term.by else ANYTHING
        return frozenset(found)

    def _at_first(self, held: Held) -> Value | None:
        """What state is when all modules are loaded."""
        number, name = held[0], held[1].removeprefix(".")
        for scope in self.scopes.values():
            if number == scope.frame:
                return scope.names.get(name)
            found = scope.heap.get(number)
            if isinstance(found, InstanceObject):
                return found.get(name)
        return None


def _constructs(frame: Frame) -> bool:
    return frame.function is not None and frame.function.name == "__init__"


@lru_cache(maxsize=256)
def _may_cut(function: ir.Function) -> bool:
    """Whether a function may use the result of a checkpoint without its gradients, or copies its object."""
    calls = (
        part.function
        for statement in nested(function.body)
        for part, _ in evaluated(header(statement))
        if isinstance(part, ir.Call)
    )
    names = (
        one.name if isinstance(one, ir.Attribute) else one.id
        for one in calls
        if isinstance(one, (ir.Attribute, ir.Name))
    )
    return not _CUTTING.isdisjoint(names)


@lru_cache(maxsize=256)
def _bound_again(function: ir.Function) -> frozenset[str]:
    """The names that a function binds more than once: in a loop, or in several places."""
    bound = Counter(parameter.name for parameter in function.parameters)
    for statement in nested(function.body):
        bound.update(bound_locals(statement))
        if isinstance(statement, (ir.For, ir.While)):
            bound.update(name for one in nested((statement,)) for name in bound_locals(one))
    return frozenset(name for name, times in bound.items() if times > 1)
