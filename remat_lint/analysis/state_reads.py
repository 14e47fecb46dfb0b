"""Where code looks at state that was there before the running call, and whether it computes with it.

Attributes of objects, names of modules and of functions around, elements of containers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.natures import Natures
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.unkept import Drawn, Fate, fate
from remat_lint.analysis.values import (
    CONTEXT_VALUE,
    EVERYTHING,
    Attributes,
    ClassValue,
    Constant,
    InstanceObject,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    alternatives,
    numbers,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import ANY_ELEMENT, SOME_ELEMENT, Held, changed_names, key_of
from remat_lint.project import Project


@dataclass(slots=True, eq=False)
class Handled:
    """The state that some code looked at, and that which it set."""

    looked_at: set[Held] = field(default_factory=set)
    set: set[Held] = field(default_factory=set)


class StateReads(Natures):
    """Notes reads of state."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.handled: Handled | None = None
        """Which attributes are looked at and set, where somebody asks."""
        self._changed: dict[ModuleScope, frozenset[str]] = {}

    # --- which state an expression stands for

    def held_by(self, state: State, operand: Operand) -> Held | None:
        """The state that an operand stands for: its value, or, where that has no number, where it lies."""
        number = self.number_of(operand.value)
        if number:
            return self.root_of(number)
        values, expr = self.frame.values, operand.expr
        match expr:
            case ir.Attribute(base=base, name=name) if base.at in values:
                around = self.held_by(state, Operand(values[base.at], base))
                return (around[0], f"{around[1]}.{name}") if around is not None else None
            case ir.Subscript(base=base) as expr if base.at in values:
                around = self.held_by(state, Operand(values[base.at], base))
                return (around[0], around[1] + key_of(expr)) if around is not None else None
            case ir.Name(id=name):
                owner = self.owner_of(state, name)
                return (owner, f".{name}") if owner not in (0, self.frame.id) else None
            case _:
                return None

    def owner_of(self, state: State, name: str) -> int:
        """The frame that a name belongs to, 0 for none."""
        for number in self.scopes_around():
            if self.bound_in(state, number, name) is not None:
                return number
        return self.frame.scope.frame if name in self.frame.scope.names else 0

    def owner_around(self, state: State, name: str) -> int:
        """The frame of a function around the running one that a name belongs to, 0 for none."""
        for number in self.scopes_around():
            if number != self.frame.id and self.bound_in(state, number, name) is not None:
                return number
        return 0

    def bound_in(self, state: State, frame: int, name: str) -> Value | None:
        """What a name is bound to in a frame, if it is."""
        found = state.frames.get(frame, {}).get(name)
        return found if found is not None else self.kept_frames.get(frame, {}).get(name)

    def scopes_around(self) -> Iterator[int]:
        """The frames in which a name is looked up, the running one first."""
        yield self.frame.id
        number = self.frame.closure
        while number:
            yield number
            number = self.closures.get(number, 0)

    def outer_names(self) -> frozenset[str]:
        """The names of other functions and of the module that the running one binds."""
        function = self.frame.function
        return function.globals | function.nonlocals if function is not None else frozenset()

    # --- looking

    def watch_for(self, frame: Frame) -> None:
        """A frame begins: look at the names that its file changes."""
        scope = frame.scope
        if scope not in self._changed:
            self._changed[scope] = changed_names(scope.source) | {CONTEXT_VALUE}
        frame.watch.changed = self._changed[scope]

    def meet_attribute(self, state: State, expr: ir.Expr, holder: Operand, name: str, value: Value) -> None:
        """Code looks at an attribute, which may be one of the class of its object."""
        if self.handled is None and name not in self.frame.watch.changed:
            return
        found = self.object_at(state, holder.value) if isinstance(holder.value, Reference) else None
        klass = found.klass if isinstance(found, InstanceObject) else holder.value
        order = self.mro(klass) if isinstance(klass, ClassValue) else ()
        met = {attribute_of_class(one, name) for one in order if isinstance(one, ClassValue)}
        around = self.held_by(state, holder) if klass is not holder.value or not met else None
        if around is not None:
            met.add((around[0], f"{around[1]}.{name}"))
        if met:
            self.meet(state, expr, name, met, value)

    def meet_name(self, state: State, expr: ir.Name, value: Value) -> None:
        """Code looks at a name of the module or of a function around, or at what it was handed under one."""
        owner = self.owner_of(state, expr.id)
        held = (owner, f".{expr.id}")
        if owner and (owner != self.frame.id or held in self.filled):
            self.meet(state, expr, expr.id, {held}, value)
            return
        is_part = expr.id in self.frame.watch.origins or not self.is_known_tensor(value)
        if owner and is_part and self.is_others(self.number_of(value)):
            self.meet(state, expr, expr.id, set(), value)

    def meet_element(self, state: State, expr: ir.Subscript, container: Operand, item: Value) -> None:
        """Code looks at an element of state; one whose key it shows is no other part of the container."""
        watch = self.frame.watch
        mentioned = watch.mentioned(expr.base)
        is_state = bool(mentioned) or (isinstance(item, Reference) and self.is_others(item.address))
        held = self.held_by(state, Operand(item, expr)) if is_state else None
        if held is None:
            return
        around, key = self.held_by(state, container), key_of(expr)
        watch.seen.add(held)
        watch.met[expr.at] = frozenset([held])
        if around is not None and key != ANY_ELEMENT:
            number, path = around
            element = {(number, path + key), (number, path + SOME_ELEMENT)}
            watch.met[expr.at] |= (mentioned - {around}) | element
        elif around is not None:
            watch.met[expr.at] |= {(around[0], around[1] + key)}

    def meet(self, state: State, expr: ir.Expr, name: str, met: set[Held], value: Value) -> None:
        """Code looks at state under a name: remember it where the file changes such."""
        number = self.number_of(value)
        if number:
            met.add(self.root_of(number))
        if self.handled is not None:
            self.handled.looked_at |= met
        watch = self.frame.watch
        if name not in watch.changed or state.phase is Phase.REPLAY or self.is_evaluation(state):
            return
        returned = watch.met.get(expr.at, frozenset())  # by a property
        watch.met[expr.at] = returned | met
        watch.seen |= met
        statement = self.frame.statement
        is_kept = self.keeps_its_value(statement) and not isinstance(statement, (ir.If, ir.While, ir.Assert))
        if (is_kept or _says_where(expr, statement)) and state.phase is Phase.BOTH:
            watch.read |= met

    def look_into(self, state: State, value: Value, key: str = "") -> None:
        """Code looks at what a container holds under a key, or at its length."""
        if self.filled and isinstance(value, Reference) and not self.is_inert():
            parts = (key, SOME_ELEMENT) if key not in ("", ANY_ELEMENT) else (key,)
            self.note_unfilled(state, [(value.address, part) for part in parts])

    def look_at_data(self, state: State, value: Value) -> None:
        """Code looks at the data of a tensor: that of the output of a region is kept, or lacks a marker."""
        if isinstance(value, Tensor) and value.token is not None:
            return
        number = self.number_of(value)
        handed = (
            one for region in self.regions for operand in region.operands for one in numbers(operand.value)
        )
        if not self.is_inert() or number in handed:  # a region saves what it is handed as the replay has it
            self.note_unfilled(state, [(number, "")])

    def look_at_everything(self, value: Value, *, sets: bool = False) -> None:
        """Code asks an object for all that it holds, or ``sets`` what it has a name for."""
        number = self.number_of(value)
        if self.handled is not None and number:
            owner, around = self.root_of(number)
            self.handled.looked_at.add((owner, around + EVERYTHING))
            if sets:
                self.handled.set.add((owner, around + EVERYTHING))

    def attributes_of(self, value: Value) -> Attributes:
        """All that an object holds, by its names."""
        self.look_at_everything(value)
        return Attributes(value)

    def note_returned(self, expr: ir.Expr | None, values: Sequence[Value]) -> None:
        """The function hands these to its caller: state, but for what it has set itself.

        What it computed from state and other data, its caller need not be told of; containers and objects are
        followed by themselves, but for what chose them.
        """
        watch, returned = self.frame.watch, [one for value in values for one in alternatives(value)]
        if any(isinstance(one, (SequenceValue, Reference)) for one in returned):
            watch.hand_back(watch.choosing(expr), expr)
            return
        state = {held for held in watch.mentioned(expr) if not watch.was_replaced(held)}
        if any(map(self.is_known_tensor, returned)):
            state -= watch.used.keys()
        watch.hand_back(state, expr)

    def note_handled(self, held: Held | None) -> None:
        """Code sets state, whatever to."""
        if self.handled is not None and held is not None:
            self.handled.set.add(held)

    # --- computing

    def note_use(self, state: State, operands: Sequence[Operand]) -> None:
        """An operation computes with these: with state, where it meets other data and is kept."""
        watch = self.frame.watch
        if not (watch.met or watch.origins) or not self.keeps_its_value(self.frame.statement):
            return
        mentioned = [
            frozenset[Held]() if self.is_operand_unkept(operand) else watch.mentioned(operand.expr)
            for operand in operands
        ]
        used = frozenset[Held]().union(*mentioned)
        others = (
            operand.value
            for operand, own in zip(operands, mentioned, strict=True)
            if isinstance(operand.expr, ir.Binary) or _is_data(operand.value, own)  # of state and other data
        )
        if used and not all(map(self.is_surely_steady, others)):
            self.compute_with(state, used, [operand.expr for operand in operands if operand.expr is not None])

    def is_operand_unkept(self, operand: Operand) -> bool:
        """Whether no backward needs what an operation is given."""
        is_number = isinstance(operand.value, (Constant, Scalar))
        gives = Drawn.NUMBER if is_number else Drawn.NOISE
        return operand.expr is not None and self.is_unkept_here(operand.expr, gives)

    def is_unkept_here(self, expr: ir.Expr, gives: Drawn) -> bool:
        """Whether no backward needs an expression of the running function that gives this."""
        frame = self.frame
        scaling = not any(body.rebuilt for body in self.bodies)
        if frame.function is None:
            return False
        kept = fate(frame.function, expr, gives, scaling=scaling)
        return kept is Fate.DROPPED or (kept is Fate.RETURNED and frame.is_unkept)

    def keeps_its_value(self, statement: ir.Stmt | None) -> bool:
        """Whether what a statement computes goes on in the function, not into state alone."""
        match statement:
            case ir.Assign(targets=targets):
                return not all(is_outer(target, self.outer_names()) for target in targets)
            case ir.AugAssign(target=target):
                return not is_outer(target, self.outer_names())
            case ir.Expression() | ir.Delete():
                return False
            case _:
                return True

    def note_computation(self) -> None:
        """The statement under way computes something that no phase can do without."""
        if self.frame.statement is not None:
            self.unguarded.add(self.place(self.frame.statement))


def attribute_of_class(klass: ClassValue, name: str) -> Held:
    """The state that an attribute of a class is."""
    return klass.frame, f".{klass.definition.name}.{name}"


def is_outer(target: ir.Expr, outer: frozenset[str]) -> bool:
    """Whether a target is no local name."""
    match target:
        case ir.Name(id=name):
            return name in outer
        case ir.Display(items=items):
            return all(is_outer(item, outer) for item in items)
        case _:
            return isinstance(target, (ir.Attribute, ir.Subscript))


def _is_data(value: Value, state: frozenset[Held]) -> bool:
    """Whether a value is no state that a call finds in something, but what it was handed itself."""
    return not state or (isinstance(value, (Tensor, Unknown)) and not any(path for _, path in state))


def _says_where(expr: ir.Expr, statement: ir.Stmt | None) -> bool:
    """Whether an expression says which element it is that a statement sets."""
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    keys = [key for target in targets if isinstance(target, ir.Subscript) for key in target.indices]
    return any(part is expr for part, _ in evaluated(keys))
