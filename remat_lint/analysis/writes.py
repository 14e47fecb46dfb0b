"""Which state that was there before the running call code changes, and what comes of it on replay.

Attributes of objects, names of modules and of functions around, elements of containers, tensors in place.
What is set to a value that only depends on constants and sizes is equal each time, and no state at all: a
cache of rotary angles. What depends on the data of tensors, or on what was there before, is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.callers import Callers
from remat_lint.analysis.deeds import FOREIGN, Store, Write
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import Outcome, Written
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.moves import ANYTHING, Terms, held_by
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.state_reads import attribute_of_class, is_outer
from remat_lint.analysis.telling import is_only_told
from remat_lint.analysis.unkept import Drawn
from remat_lint.analysis.values import (
    ByPhase,
    CheckpointWrapper,
    ClassValue,
    Constant,
    DictObject,
    InstanceObject,
    ListObject,
    Reference,
    RegionWrapper,
    Scalar,
    Snapshot,
    Tensor,
    Value,
    contents,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import (
    ADVANCING,
    STORING,
    Held,
    advances,
    concerns,
    element_of,
    grown_in,
    is_kept_by,
    key_shown,
)
from remat_lint.findings import GuardStatement

_IDEMPOTENT = frozenset(["BitOr", "BitAnd"])
"""Operators that change nothing the second time."""

_NEUTRAL = {"Add": 0, "Subtract": 0, "BitOr": 0, "BitXor": 0, "Multiply": 1}
"""The operands with which operators change nothing."""

_OF_A_TENSOR = frozenset(["data", "grad", "requires_grad"])
"""Attributes of tensors whose assignment is no state of an object."""


class Writes(Callers):
    """Notes writes."""

    # --- setting

    def note_attribute(
        self,
        state: State,
        target: ir.Attribute,
        holder: Operand,
        value: Operand,
        shown: ir.Node | str | None = None,
    ) -> None:
        """``holder.name = value``, or with an operator; ``shown`` as for ``note_outcome``."""
        if isinstance(value.value, (RegionWrapper, CheckpointWrapper)):
            return  # a model is set up here, not run
        if isinstance(holder.value, (Tensor,)) or target.name in _OF_A_TENSOR:
            return
        around = self.held_by(state, holder)
        is_class = isinstance(holder.value, ClassValue) or _names_a_class(target.base)
        klass = self._named_class(state, holder) if is_class else None
        if klass is None and is_class:
            around = around or (FOREIGN, "")
        if klass is not None:
            held = attribute_of_class(klass, target.name)
        elif around is not None:
            held = (around[0], f"{around[1]}.{target.name}")
        else:
            return
        written = Written.CLASS if is_class else Written.ATTRIBUTE
        self.note_set(state, target, held, written, value, shown=shown)

    def _named_class(self, state: State, holder: Operand) -> ClassValue | None:
        """The class of the project that an expression stands for: ``Layer``, ``type(self)``."""
        if isinstance(holder.value, ClassValue):
            return holder.value
        match holder.expr:
            case ir.Attribute(base=expr) | ir.Call(arguments=[ir.Argument(value=expr)]):
                of = self.frame.values.get(expr.at)
            case _:
                of = None
        found = self.object_at(state, of) if isinstance(of, Reference) else None
        klass = found.klass if isinstance(found, InstanceObject) else None
        return klass if isinstance(klass, ClassValue) else None

    def note_name(self, state: State, target: ir.Name, value: Operand) -> None:
        """A name is bound, which may belong to the module or to a function around."""
        function = self.frame.function
        if function is None or target.id not in self.outer_names():
            self.note_copy(state, target.id, value.expr)
            self._note_refilled((self.frame.id, f".{target.id}"))
            return
        is_global = target.id in function.globals
        owner = self.frame.scope.frame if is_global else self.owner_around(state, target.id)
        written = Written.GLOBAL if is_global else Written.NONLOCAL
        self.note_set(state, target, (owner, f".{target.id}"), written, value)

    def note_element(
        self,
        state: State,
        target: ir.Node,
        holder: Operand,
        indices: Sequence[Operand],
        value: Operand,
    ) -> None:
        """``holder[indices] = value`` of a container."""
        shown = None if isinstance(target, ir.Subscript) else holder.expr
        held, watch = self.held_by(state, holder), self.frame.watch
        if held is None:
            return
        if any(concerns(held, grown_in(watch, index.expr)) for index in indices):  # ``seen[len(seen)] = x``
            self.note_handled(held)
            self.note_outcome(state, target, held, Written.ELEMENT, Outcome.ADVANCED, shown)
        else:
            from_key = any(
                self.depends_on_data(state, index.value) or self.is_from_data(state, index.expr)
                for index in indices
            )
            self.note_set(state, target, held, Written.ELEMENT, value, from_key=from_key, shown=shown)

    def note_set(
        self,
        state: State,
        target: ir.Node,
        held: Held,
        written: Written,
        value: Operand,
        *,
        from_key: bool = False,
        shown: ir.Node | str | None = None,
    ) -> None:
        """State is set to a value; ``from_key`` under a key of data, ``shown`` as for ``note_outcome``."""
        self.note_handled(held)
        found = held_by(element_of(target, held), state.moves)
        terms = ANYTHING if _is_any_element(target, written) else self.known_terms(state, value)
        self.move_state(state, element_of(target, held), terms)
        if written is not Written.NONLOCAL:
            self.note_rewritten(state, element_of(target, held), terms)
        self.note_changed(
            state, shown if isinstance(shown, ir.Node) else target, held, "=", [value], whole=True
        )
        if self.is_foreign(held[0], max(self.frame.id, self.replayed_since)) and any(
            isinstance(leaf, Snapshot) and not leaf.seeded for leaf in state.leaves(value.value)
        ):
            self.note_deed(state, target, Store(*held))
        watch = self.frame.watch
        expr = self._source_of(value)
        outcome = self._outcome(state, target, held, Operand(value.value, expr), from_key=from_key)
        if outcome is None and isinstance(expr, ir.Const):
            outcome = self._outcome_of_constant(element_of(target, held), found, terms)
        watch.copy(expr, element_of(target, held))
        if watch.was_replaced(held) and outcome is Outcome.ADVANCED:
            outcome = Outcome.REPLACED if self.is_new(state, value, expr) else None
        elif outcome is not Outcome.ADVANCED and written is not Written.ELEMENT:
            watch.replace(held)
        if isinstance(value.value, Reference) and watch.is_tested(element_of(target, held)):
            path = f"{held[1]}[]" if written is Written.ELEMENT else held[1]
            self.note_left((held[0], path), value.value)
        self._note_refilled(held)
        if outcome is None and self._is_made_anew(held):
            outcome = Outcome.REPLACED
        if outcome is not None:
            is_new = from_key or self.is_new(state, value, expr)
            self.note_outcome(state, target, held, written, outcome, shown, is_new=is_new)

    def _outcome_of_constant(self, held: Held, found: Terms, terms: Terms) -> Outcome | None:
        """What comes of it that state is set to a constant, if the code computed with what it was before."""
        watch = self.frame.watch
        if watch.redirects(held):
            return Outcome.SWITCHED
        return Outcome.REPEATED if self.is_another(found, terms) else None

    def _is_made_anew(self, held: Held) -> bool:
        """Whether a replay makes what has this state, and leaves out the saved region that runs."""
        return self.is_inert() and not self.is_foreign(held[0], self.replayed_since)

    def _note_refilled(self, held: Held) -> None:
        """State is set on every path, which a saved region may have filled before."""
        if not self.is_inert() and not self.frame.watch.arms:
            self.filled.pop(held, None)

    def _source_of(self, value: Operand) -> ir.Expr | None:
        """The expression that gave a value; one that was unpacked is part of what the statement assigns."""
        statement = self.frame.statement
        return value.expr or (statement.value if isinstance(statement, ir.Assign) else None)

    def _outcome(
        self, state: State, target: ir.Node, held: Held, value: Operand, *, from_key: bool
    ) -> Outcome | None:
        """What comes of it that the state is set to this value again; None for nothing."""
        watch, statement = self.frame.watch, self.frame.statement
        if isinstance(statement, ir.AugAssign) and statement.target is target:
            if statement.operator not in _IDEMPOTENT:
                return Outcome.ADVANCED
        elif (value.expr is not None and self._advances(value.expr, target, held)) or self._takes_over(
            target
        ):
            return Outcome.ADVANCED
        if not from_key and not self.is_new(state, value, value.expr):
            return None
        if watch.is_turned_by(element_of(target, held)):
            return Outcome.SWITCHED
        if watch.is_tested(element_of(target, held)):
            keeps = self.may_require_grad(state, value.value) or self._is_found_made(element_of(target, held))
            return Outcome.SKIPPED if keeps else None
        return Outcome.REPLACED if from_key or not self.is_learned(value.value) else None

    def _is_found_made(self, held: Held) -> bool:
        """Whether the arm that runs where this state is not there yet keeps tensors on the way to it."""
        arms = self.frame.watch.arms
        return bool(arms) and self.deeds.keeps and concerns(held, arms[-1].tested)

    def _takes_over(self, target: ir.Node) -> bool:
        """Whether a target gets what another one of the same statement had: ``a, b = b, a``."""
        statement = self.frame.statement
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Display):
            return False
        given = statement.value.items
        for targets in statement.targets:
            if (
                isinstance(targets, ir.Display)
                and target in targets.items
                and len(given) == len(targets.items)
            ):
                own = self.text(given[targets.items.index(target)])
                return any(self.text(one) == own for one in targets.items if one is not target)
        return False

    def _advances(self, expr: ir.Expr, target: ir.Node, held: Held) -> bool:
        watch = self.frame.watch
        if isinstance(target, ir.Subscript):  # an element of the container
            own = self.text(target)
            parts = (part for part, _ in evaluated((expr,)) if isinstance(part, ir.Subscript))
            is_computed = isinstance(expr, ir.Call) and not is_kept_by(expr)
            if is_computed and any(self.text(part) == own for part in parts):
                return True
            return concerns(element_of(target, held), grown_in(watch, expr))
        return advances(watch, expr, held)

    # --- methods and functions that change

    def note_mutation(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> None:
        """``receiver.name(operands)`` may change a container."""
        if name not in ADVANCING and name not in STORING:
            return
        held = self.held_by(state, receiver)
        self.note_handled(held)
        if held is None or (name == "remove" and not operands):
            return
        terms = self.stacked(state, held, name, len(operands))
        self.move_state(state, held, terms)
        if name != "setdefault":
            self.note_rewritten(state, held, terms)
        self.note_changed(state, receiver.expr or node, held, name, operands, whole=name == "clear")
        watch, alone = self.frame.watch, self._is_alone(node)
        adds_up = name == "update" and self.number_of(receiver.value) in self.tallies
        adds_up |= any(concerns(held, grown_in(watch, operand.expr)) for operand in operands)
        if (name in STORING and not adds_up) or (name == "pop" and len(operands) > 1 and alone):
            is_new = any(self.is_new(state, operand, operand.expr) for operand in operands)
            if self._is_made_anew(held):
                self.note_outcome(state, node, held, Written.ELEMENT, Outcome.REPLACED, receiver.expr)
                return
            if not is_new or name == "setdefault":  # the replay finds what the forward put there
                return
            lazily = watch.is_tested(held)
            outcome = Outcome.SKIPPED if lazily else Outcome.REPLACED
            if lazily and not any(self.may_require_grad(state, operand.value) for operand in operands):
                return
        elif watch.was_replaced(held):
            return
        else:
            outcome = Outcome.ADVANCED
            if name.startswith("pop"):
                outcome = self._outcome_of_taking(state, node, receiver.value)
        self.note_outcome(state, node, held, Written.ELEMENT, outcome, receiver.expr)

    def note_next(self, state: State, node: ir.Expr, iterator: Operand, *, told: bool = False) -> None:
        """``next(iterator)``: an iterator that was there before moves on; its items may only be ``told``."""
        held = self.held_by(state, iterator)
        if held is not None and isinstance(iterator.expr, (ir.Name, ir.Attribute, ir.Subscript)):
            outcome = Outcome.ADVANCED if told else self._outcome_of_taking(state, node, iterator.value)
            if not self.is_inert():
                self.note_unfilled(state, [held])
            self.move_state(state, held)
            if self._goes_to_state(node):  # which tells whether it is computed with
                self.frame.watch.met[node.at] = frozenset([held])
            self.note_outcome(state, node, held, Written.ITERATOR, outcome, iterator.expr)

    def note_taken(self, state: State, node: ir.Expr, queue: Value) -> bool:
        """Something is taken out of a queue for good: whether code computes with it."""
        number, outcome = self.number_of(queue), self._outcome_of_taking(state, node, queue)
        if not number or outcome is not Outcome.COMPUTED:
            return False
        self.note_outcome(state, node, (number, ""), Written.ITERATOR, outcome, node)
        return True

    def _outcome_of_taking(self, state: State, node: ir.Expr, container: Value) -> Outcome:
        """What comes of it that an expression takes something out of a container for good."""
        function, statement = self.frame.function, self.frame.statement
        told = function is not None and statement is not None and is_only_told(function, statement, node)
        is_left = told or self._goes_to_state(node) or self._is_alone(node)
        is_needed = not (is_left or self._is_taken_for_nothing(state, node, container))
        return Outcome.COMPUTED if is_needed else Outcome.ADVANCED

    def _is_taken_for_nothing(self, state: State, node: ir.Expr, container: Value) -> bool:
        """Whether no backward needs what is taken out: a number, where nothing else is held, or a tensor."""
        found = self.object_at(state, container) if isinstance(container, Reference) else container
        held: Iterable[Value] = ()
        if isinstance(found, SequenceValue):
            held = parts(found)
        elif isinstance(found, (ListObject, DictObject)):
            held = contents(found)
        are_numbers = [isinstance(one, (Constant, Scalar)) for one in held]
        gives = Drawn.NUMBER if are_numbers and all(are_numbers) else Drawn.NOISE
        return self.is_unkept_here(node, gives)

    def _goes_to_state(self, node: ir.Expr) -> bool:
        """Whether other state is set to an expression, and nothing else is done with it here."""
        statement = self.frame.statement
        is_value = isinstance(statement, ir.Assign) and statement.value is node
        return is_value and not self.keeps_its_value(statement)

    def _is_alone(self, node: ir.Expr) -> bool:
        """Whether an expression is a whole statement: nobody uses its value."""
        statement = self.frame.statement
        return isinstance(statement, ir.Expression) and statement.value is node

    def note_deletion(
        self, state: State, target: ir.Expr, holder: Operand, indices: Sequence[ir.Expr | None] = ()
    ) -> None:
        """``del holder.name``, ``del holder[key]``: the replay finds nothing to delete, which raises."""
        around = self.held_by(state, holder)
        if around is None or isinstance(holder.value, Tensor):
            return
        is_attribute = isinstance(target, ir.Attribute)
        held = (around[0], f"{around[1]}.{target.name}") if isinstance(target, ir.Attribute) else around
        self.note_handled(held)
        self.move_state(state, held)
        if not self.frame.watch.was_replaced(held):
            written = Written.ATTRIBUTE if is_attribute else Written.ELEMENT
            is_of_list = bool(indices) and all(map(_is_position, indices))
            # After one element of a list comes another one, which is there to be deleted.
            outcome = Outcome.ADVANCED if is_of_list else Outcome.RAISES
            is_written = isinstance(target, (ir.Attribute, ir.Subscript)) and not is_of_list
            self.note_outcome(state, target, held, written, outcome, None if is_written else holder.expr)

    # --- noting

    def note_changed(
        self,
        state: State,
        shown: ir.Node,
        held: Held,
        how: str,
        given: Sequence[Operand] | None,
        *,
        whole: bool,
    ) -> None:
        """State, or something that a call made, is set or changed.

        That is done with what is ``given``, or with what the statement mentions; it is set ``whole`` where
        nothing is left of what it was.
        """
        raise NotImplementedError

    def note_outcome(
        self,
        state: State,
        node: ir.Node,
        held: Held,
        written: Written,
        outcome: Outcome,
        shown: ir.Node | str | None = None,
        *,
        certain: bool = True,
        counted: bool = True,
        is_new: bool = True,
    ) -> None:
        """``node`` writes; ``shown`` is what it writes to, where that is another node, or has a name."""
        is_once = any(arm.once for arm in self.frame.watch.arms) and outcome is not Outcome.SWITCHED
        if self.muted or is_once:
            return
        is_again = outcome in (Outcome.REPLACED, Outcome.REPEATED)
        if is_again and self.frame.watch.was_used(element_of(node, held)):
            outcome = Outcome.COMPUTED
        target = shown if isinstance(shown, str) else self.text(_written_to(shown or node, written))
        guard, element = self._guard(outcome), key_shown(node)
        write = Write(target, written, *held, outcome, guard, element, counted=counted, is_new=is_new)
        self.frame.watch.write(write.held)
        phase = state.phase
        if phase is Phase.BOTH and outcome is Outcome.ADVANCED and self._stays_on_replay(node):
            state.phase = Phase.FORWARD
        self.note_write(state, node, write, certain=certain and self.frame.watch.is_sure_of(write.held))
        state.phase = phase

    def _stays_on_replay(self, node: ir.Node) -> bool:
        """Whether a statement adds nothing on replay: ``self.calls += not remat.is_recomputing()``."""
        match self.frame.statement:
            case ir.AugAssign(target=target, operator=operator, value=value) as statement:
                operands = [value] if node in (target, statement) else []
            case ir.Assign(value=ir.Binary(operator=operator, left=left, right=right)):
                operands = [right] if operator == "Subtract" else [left, right]
            case _:
                return False
        values = (self.frame.values.get(operand.at) for operand in operands)
        neutral = _NEUTRAL.get(operator)
        return any(isinstance(value, ByPhase) and value.replay == neutral for value in values)

    def _guard(self, outcome: Outcome) -> GuardStatement | None:
        """What makes the statement run in the forward only, where it does nothing but write."""
        statement, outer = self.frame.statement, self.outer_names()
        if outcome is not Outcome.ADVANCED or statement is None:
            return None  # what is overwritten may be read, here or by another layer that shares it
        match statement:
            case ir.Assign(targets=targets) | ir.Delete(targets=targets):
                only_writes = all(is_outer(target, outer) for target in targets)
            case ir.AugAssign(target=target):
                only_writes = is_outer(target, outer)
            case ir.Expression(value=ir.Call()):
                only_writes = True
            case _:
                only_writes = False
        binds = any(
            isinstance(expr, (ir.Walrus, ir.Yield, ir.Await)) for expr, _ in evaluated(header(statement))
        )
        if not only_writes or binds:
            return None
        return GuardStatement(self.frame.scope.source.path, statement.at)


def _written_to(node: ir.Node, written: Written) -> ir.Node:
    """What to name for a node that writes: what its methods are called on, or the function."""
    if isinstance(node, ir.Call) and written in (Written.STATISTICS, Written.CACHE):
        return node.function
    while isinstance(node, ir.Call) and not _fetches(node):
        node = node.receiver or node.function
    return node


def _fetches(call: ir.Call) -> bool:
    """Whether a call is another way to write an attribute."""
    return isinstance(call.function, ir.Name) and call.function.id == "getattr"


def _is_position(index: ir.Expr | None) -> bool:
    """Whether an index is a place in a list: a number or a slice."""
    match index:
        case ir.Const(value=value):
            return isinstance(value, int)
        case ir.Unary(operand=operand):
            return _is_position(operand)
        case _:
            return isinstance(index, ir.Slice)


def _is_any_element(target: ir.Node, written: Written) -> bool:
    """Whether it is not said which element of a container is written."""
    if written is not Written.ELEMENT:
        return False
    indices = target.indices if isinstance(target, ir.Subscript) else ()
    return len(indices) != 1 or not isinstance(indices[0], ir.Const)


def _names_a_class(expr: ir.Expr) -> bool:
    """``type(self)``, ``self.__class__``."""
    match expr:
        case ir.Attribute(name="__class__"):
            return True
        case ir.Call(function=ir.Name(id="type"), arguments=[_]):
            return True
        case _:
            return False
