"""Which state that was there before the running call code changes, and what comes of it on replay.

Attributes of objects, names of modules and of functions around, elements of containers, tensors in place.
What is set to a value that only depends on constants and sizes is equal each time, and no state at all: a
cache of rotary angles. What depends on the data of tensors, or on what was there before, is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.deeds import FOREIGN, Store, Write
from remat_lint.analysis.evaluation_order import children, evaluated, header
from remat_lint.analysis.facts import Outcome, Written
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.moves import ANYTHING, Moves, Terms, held_by, moved, shifted
from remat_lint.analysis.replays import Replays
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.telling import is_only_told
from remat_lint.analysis.unkept import Drawn, is_unkept
from remat_lint.analysis.values import (
    CONTEXT_VALUE,
    EVERYTHING,
    NONE,
    Attributes,
    ByPhase,
    CheckpointWrapper,
    ClassValue,
    Constant,
    DictObject,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    ListObject,
    Made,
    Reference,
    RegionWrapper,
    Scalar,
    Snapshot,
    Tensor,
    Unknown,
    Value,
    alternatives,
    contents,
    numbers,
    parts,
    reading_of,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import (
    ADVANCING,
    ANY_ELEMENT,
    SOME_ELEMENT,
    STORING,
    WEIGHTS,
    Held,
    advances,
    changed_names,
    concerns,
    grown_in,
    is_kept_by,
    key_of,
)
from remat_lint.checkpoint_forms import ATTRIBUTES
from remat_lint.findings import GuardStatement
from remat_lint.project import Project

_IDEMPOTENT = frozenset(["BitOr", "BitAnd"])
"""Operators that change nothing the second time."""

_NEUTRAL = {"Add": 0, "Subtract": 0, "BitOr": 0, "BitXor": 0, "Multiply": 1}
"""The operands with which operators change nothing."""

_COLLECTIVES = (
    "all_gather all_gather_into_tensor _all_gather_base all_to_all all_to_all_single broadcast scatter recv "
    "irecv reduce_scatter reduce_scatter_tensor _reduce_scatter_base"
)
_OVERWRITING = frozenset(
    ["zero_", "fill_", "copy_", "set_", "_foreach_copy_", "_foreach_zero_", *_COLLECTIVES.split()]
)
"""Operations in place, and collectives, that do not look at what they change."""

_SETTLED = (
    "abs ceil clamp clamp_max clamp_min clip fill_diagonal floor index_copy index_fill index_put masked_fill "
    "masked_scatter nan_to_num relu relu6 round scatter sgn sign tril triu trunc"
)
_SETTLING = frozenset(f"{name}_" for name in _SETTLED.split())
"""Operations in place that change nothing when they are done again with what they were given."""

_TRUE = ir.Const(0, True)

_TO_NUMBER = frozenset(["item", "tolist", "numpy"])
_NUMBERS = frozenset(["int", "float", "bool"])

_OF_A_TENSOR = frozenset(["data", "grad", "requires_grad"])
"""Attributes of tensors whose assignment is no state of an object."""

MAX_NESTED = 3
"""Containers inside containers deeper than this are not searched for tensors."""


@dataclass(slots=True, eq=False)
class Handled:
    """The state that some code looked at, and that which it set."""

    looked_at: set[Held] = field(default_factory=set)
    set: set[Held] = field(default_factory=set)


class Writes(Replays):
    """Notes writes."""

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

    def meet_attribute(self, state: State, expr: ir.Expr, holder: Operand, name: str, value: Value) -> None:
        """Code looks at an attribute, which may be one of the class of its object."""
        if self.handled is None and name not in self.frame.watch.changed:
            return
        found = self.object_at(state, holder.value) if isinstance(holder.value, Reference) else None
        klass = found.klass if isinstance(found, InstanceObject) else holder.value
        order = self.mro(klass) if isinstance(klass, ClassValue) else ()
        met = {_attribute_of_class(one, name) for one in order if isinstance(one, ClassValue)}
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
        is_part = expr.id in self.frame.watch.origins or not self._is_known_tensor(value)
        if owner and is_part and self._is_others(self.number_of(value)):
            self.meet(state, expr, expr.id, set(), value)

    def meet_element(self, state: State, expr: ir.Subscript, container: Operand, item: Value) -> None:
        """Code looks at an element of state; one whose key it shows is no other part of the container."""
        watch = self.frame.watch
        mentioned = watch.mentioned(expr.base)
        is_state = bool(mentioned) or (isinstance(item, Reference) and self._is_others(item.address))
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
        watch.met[expr.at] = frozenset(met)
        watch.seen |= met
        statement = self.frame.statement
        is_kept = self.keeps_its_value(statement) and not isinstance(statement, (ir.If, ir.While, ir.Assert))
        if (is_kept or _says_where(expr, statement)) and state.phase is Phase.BOTH:
            watch.read |= met

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
        return (
            frame.is_unkept
            and frame.function is not None
            and is_unkept(frame.function, expr, gives, scaling=scaling)
        )

    def keeps_its_value(self, statement: ir.Stmt | None) -> bool:
        """Whether what a statement computes goes on in the function, not into state alone."""
        match statement:
            case ir.Assign(targets=targets):
                return not all(_is_outer(target, self._outer_names()) for target in targets)
            case ir.AugAssign(target=target):
                return not _is_outer(target, self._outer_names())
            case ir.Expression() | ir.Delete():
                return False
            case _:
                return True

    def _outer_names(self) -> frozenset[str]:
        """The names of other functions and of the module that the running one binds."""
        function = self.frame.function
        return function.globals | function.nonlocals if function is not None else frozenset()

    def watch_for(self, frame: Frame) -> None:
        """A frame begins: look at the names that its file changes."""
        scope = frame.scope
        if scope not in self._changed:
            self._changed[scope] = changed_names(scope.source) | {CONTEXT_VALUE}
        frame.watch.changed = self._changed[scope]

    # --- what a value is made of

    def depends_on_data(self, state: State, value: Value, depth: int = 0) -> bool:
        """Whether a value is, or holds, a tensor whose data is not the same for every input."""
        match value:
            case Tensor(token=token, made=made, storage=storage):
                if token is not None or made is Made.LEAF:
                    return True
                return bool(storage) and not self.is_steady(storage)
            case Unknown(held=held, origin=origin):
                return bool(held) or (origin in self.tensors and not self.is_steady(origin))
            case SequenceValue(items=items, rest=rest):
                parts = (*items, rest) if rest is not None else items
                return any(self.depends_on_data(state, part, depth + 1) for part in parts)
            case Reference() if depth < MAX_NESTED:
                found = self.object_at(state, value)
                if not isinstance(found, (ListObject, DictObject)):
                    return False
                return any(self.depends_on_data(state, part, depth + 1) for part in contents(found))
            case _:
                parts = alternatives(value)
                return len(parts) > 1 and any(self.depends_on_data(state, part, depth) for part in parts)

    def is_steady(self, number: int) -> bool:
        """Whether what has this number is equal each time the code runs."""
        return number in self.steady or self.root_of(number)[0] in self.steady

    def note_nature(self, operands: Sequence[Value], result: Value) -> None:
        """An operation made something: of constants, sizes and steady things only, or of others too."""
        number = self.number_of(result)
        if not number or number in self.steady:
            return
        if all(self.is_surely_steady(operand) for operand in operands):
            self.steady.add(number)
        elif all(self.is_surely_steady(one) or self._is_learned(one) for one in operands):
            self.learned.add(number)
        elif isinstance(result, Unknown) and any(self._is_known_tensor(one) for one in operands):
            self.tensors.add(number)

    def computes_by_itself(self, value: Value) -> bool:
        """Whether a value is or holds what operations compute with by itself, not a number or the like."""
        return any(
            isinstance(one, (Tensor, SequenceValue, Reference)) or self._is_known_tensor(one)
            for one in alternatives(value)
        )

    def note_tensor(self, value: Value) -> None:
        """An operation takes this for a tensor."""
        for one in alternatives(value):
            if isinstance(one, Unknown) and one.origin:
                self.tensors.add(one.origin)

    def nature_of(self, value: Value) -> object:
        """What decides whether it matters that a callee stores a value."""
        number = self.number_of(value)
        return self.is_surely_steady(value), number in self.tensors, number in self.learned

    def note_renewed(self, pairs: Iterable[tuple[int, int]]) -> None:
        """What another call made has new numbers for this one."""
        renumbered = dict(pairs)
        for old, new in renumbered.items():
            if old in self.steady:
                self.steady.add(new)
            for known in (self.tensors, self.tallies, self.learned):
                if old in known:
                    known.add(new)
            if old in self.holders:
                holder, path = self.holders[old]
                self.lie_in(new, (renumbered.get(holder, holder), path))

    def note_computation(self) -> None:
        """The statement under way computes something that no phase can do without."""
        if self.frame.statement is not None:
            self.unguarded.add(self.place(self.frame.statement))

    def is_surely_steady(self, value: Value) -> bool:
        """Whether a value is made of constants, sizes and what objects hold, and of nothing else."""
        match value:
            case Tensor(storage=number, token=token, made=made):
                return token is None and made is not Made.LEAF and self.is_steady(number)
            case Unknown(held=held, origin=number):
                return not held and self.is_steady(number)
            case SequenceValue(items=items, rest=rest):
                return all(map(self.is_surely_steady, items if rest is None else (*items, rest)))
            case Reference():
                return False
            case _:
                return all(map(self.is_surely_steady, alternatives(value))) if _is_choice(value) else True

    def _is_learned(self, value: Value) -> bool:
        """Whether a value is made of parameters, constants and sizes: it is equal until the next step."""
        if isinstance(value, Tensor) and value.made is Made.LEAF:
            return True
        number = self.number_of(value)
        return number in self.learned or self.root_of(number)[0] in self.learned

    def _is_known_tensor(self, value: Value) -> bool:
        return isinstance(value, Tensor) or (isinstance(value, Unknown) and value.origin in self.tensors)

    def is_from_data(self, state: State, expr: ir.Expr | None) -> bool:
        """Whether the value of an expression is a number taken out of a tensor: ``loss.item()``."""
        if expr is None:
            return False
        values = self.frame.values
        for part, _ in evaluated((expr,)):
            match part:
                case ir.Call(function=ir.Attribute(base=base, name=name)) if name in _TO_NUMBER:
                    if self.depends_on_data(state, values.get(base.at, Scalar())):
                        return True
                case ir.Call(function=ir.Name(id=name), arguments=[argument]) if name in _NUMBERS:
                    if self.depends_on_data(state, values.get(argument.value.at, Scalar())):
                        return True
                case _:
                    continue
        return False

    # --- setting

    def note_attribute(
        self,
        state: State,
        target: ir.Attribute,
        holder: Operand,
        value: Operand,
        shown: ir.Node | str | None = None,
    ) -> None:
        """``holder.name = value``, or with an operator; ``shown`` as for ``_note``."""
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
            held = _attribute_of_class(klass, target.name)
        elif around is not None:
            held = (around[0], f"{around[1]}.{target.name}")
        else:
            return
        written = Written.CLASS if is_class else Written.ATTRIBUTE
        self._note_set(state, target, held, written, value, shown=shown)

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
        if function is None or target.id not in self._outer_names():
            self._note_copy(state, target.id, value.expr)
            self._note_refilled((self.frame.id, f".{target.id}"))
            return
        is_global = target.id in function.globals
        owner = self.frame.scope.frame if is_global else self.owner_around(state, target.id)
        written = Written.GLOBAL if is_global else Written.NONLOCAL
        self._note_set(state, target, (owner, f".{target.id}"), written, value)

    def note_handled(self, held: Held | None) -> None:
        """Code sets state, whatever to."""
        if self.handled is not None and held is not None:
            self.handled.set.add(held)

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

    def owner_around(self, state: State, name: str) -> int:
        """The frame of a function around the running one that a name belongs to, 0 for none."""
        for number in self.scopes_around():
            if number != self.frame.id and self.bound_in(state, number, name) is not None:
                return number
        return 0

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
            self._note(state, target, held, Written.ELEMENT, Outcome.ADVANCED, shown)
        else:
            from_key = any(
                self.depends_on_data(state, index.value) or self.is_from_data(state, index.expr)
                for index in indices
            )
            self._note_set(state, target, held, Written.ELEMENT, value, from_key=from_key, shown=shown)

    def _note_set(
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
        self.note_handled(held)
        terms = ANYTHING if _is_any_element(target, written) else self._terms_of(state, value.expr)
        self._move(state, _element(target, held), terms)
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
        watch.copy(expr, _element(target, held))
        if watch.was_replaced(held) and outcome is Outcome.ADVANCED:
            outcome = Outcome.REPLACED if self._is_new(state, value, expr) else None
        elif outcome is not Outcome.ADVANCED and written is not Written.ELEMENT:
            watch.replaced.setdefault(held, tuple(watch.arms))
        if isinstance(value.value, Reference) and watch.is_tested(_element(target, held)):
            path = f"{held[1]}[]" if written is Written.ELEMENT else held[1]
            self.note_left((held[0], path), value.value)
        self._note_refilled(held)
        if outcome is None and self._is_made_anew(held):
            outcome = Outcome.REPLACED
        if outcome is not None:
            self._note(state, target, held, written, outcome, shown)

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
        if not from_key and not self._is_new(state, value, value.expr):
            return None
        if watch.is_turned_by(_element(target, held)):
            return Outcome.SWITCHED
        if watch.is_tested(_element(target, held)):
            keeps = self._may_require_grad(state, value.value) or self._is_found_made(_element(target, held))
            return Outcome.SKIPPED if keeps else None
        return Outcome.REPLACED if from_key or not self._is_learned(value.value) else None

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

    def _is_new(self, state: State, value: Operand, expr: ir.Expr | None) -> bool:
        return self.depends_on_data(state, value.value) or self.is_from_data(state, expr)

    def _advances(self, expr: ir.Expr, target: ir.Node, held: Held) -> bool:
        watch = self.frame.watch
        if isinstance(target, ir.Subscript):  # an element of the container
            element, own = _element(target, held), self.text(target)
            is_made_of_it = not is_kept_by(expr) if isinstance(expr, ir.Call) else False
            is_made_of_it &= any(
                isinstance(part, ir.Subscript) and self.text(part) == own for part, _ in evaluated((expr,))
            )
            return is_made_of_it or concerns(element, grown_in(watch, expr))
        return advances(watch, expr, held)

    def _may_require_grad(self, state: State, value: Value) -> bool:
        tensors = (one for one in state.leaves(value) if isinstance(one, (Tensor, Unknown)))
        return any(not isinstance(one, Tensor) or one.grad is not False for one in tensors)

    # --- where the state goes

    def _note_copy(self, state: State, name: str, expr: ir.Expr | None) -> None:
        """A local name is bound to the value of an expression: it may be what state is by now."""
        local, terms = (self.frame.id, f".{name}"), self._terms_of(state, expr)
        if terms or local in state.moves:
            self._move(state, local, terms)

    def given_to_locals(self, expr: ir.Expr | None, targets: Sequence[ir.Expr]) -> dict[str, ir.Expr]:
        """The expressions that the local names of a display are bound to: ``old, new = self.n, 0``."""
        values = expr.items if isinstance(expr, ir.Display) else ()
        if len(values) != len(targets) or any(isinstance(one, ir.Starred) for one in (*values, *targets)):
            return {}
        pairs = zip(targets, values, strict=True)
        outer = self._outer_names()
        return {one.id: value for one, value in pairs if isinstance(one, ir.Name) and one.id not in outer}

    def copies_of(self, state: State, exprs: Mapping[str, ir.Expr]) -> Moves:
        """What local names will be: all values are there before the first is bound."""
        return {(self.frame.id, f".{name}"): self._terms_of(state, expr) for name, expr in exprs.items()}

    def _move(self, state: State, held: Held, terms: Terms = ANYTHING) -> None:
        state.moves = moved(state.moves, held, terms, sure=bool(self.frame.unwinding))

    def terms_of_attribute(self, state: State, holder: Operand, name: str) -> Terms:
        """What an attribute is known to hold by now."""
        held = self.held_by(state, holder)
        return held_by((held[0], f"{held[1]}.{name}"), state.moves) if held is not None else ANYTHING

    def move_attribute(self, state: State, holder: Operand, name: str, terms: Terms) -> None:
        """An attribute holds from here on what these are."""
        held = self.held_by(state, holder)
        if held is not None:
            self._move(state, (held[0], f"{held[1]}.{name}"), terms)

    def _terms_of(self, state: State, expr: ir.Expr | None) -> Terms:
        """What is known to be equal to the value of an expression."""
        match expr:
            case ir.Name(id=name) if (self.frame.id, f".{name}") in state.moves:
                return state.moves[self.frame.id, f".{name}"]
            case ir.Name() | ir.Attribute() | ir.Subscript() | ir.Call():
                met = self.frame.watch.met.get(expr.at, frozenset())
                return frozenset(term for held in met for term in held_by(held, state.moves))
            case ir.Binary(operator="Add", left=left, right=ir.Const(value=int(by))):
                return shifted(self._terms_of(state, left), by)
            case ir.Binary(operator="Add", left=ir.Const(value=int(by)), right=right):
                return shifted(self._terms_of(state, right), by)
            case ir.Binary(operator="Subtract", left=left, right=ir.Const(value=int(by))):
                return shifted(self._terms_of(state, left), -by)
            case _:
                return ANYTHING

    def _stacked(self, state: State, held: Held, name: str, count: int) -> Terms:
        """What a container is after a method: with an item more at its end, or one less."""
        by = {("append", 1): 1, ("pop", 0): -1}.get((name, count))
        return shifted(held_by(held, state.moves), by, stack=True) if by is not None else ANYTHING

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
        self._move(state, held, self._stacked(state, held, name, len(operands)))
        self.note_changed(state, receiver.expr or node, held, name, operands, whole=name == "clear")
        watch, alone = self.frame.watch, self._is_alone(node)
        adds_up = name == "update" and self.number_of(receiver.value) in self.tallies
        adds_up |= any(concerns(held, grown_in(watch, operand.expr)) for operand in operands)
        if (name in STORING and not adds_up) or (name == "pop" and len(operands) > 1 and alone):
            is_new = any(self._is_new(state, operand, operand.expr) for operand in operands)
            if self._is_made_anew(held):
                self._note(state, node, held, Written.ELEMENT, Outcome.REPLACED, receiver.expr)
                return
            if not is_new or name == "setdefault":  # the replay finds what the forward put there
                return
            lazily = watch.is_tested(held)
            outcome = Outcome.SKIPPED if lazily else Outcome.REPLACED
            if lazily and not any(self._may_require_grad(state, operand.value) for operand in operands):
                return
        elif watch.was_replaced(held):
            return
        else:
            outcome = Outcome.ADVANCED
            if name.startswith("pop"):
                outcome = self._outcome_of_taking(state, node, receiver.value)
        self._note(state, node, held, Written.ELEMENT, outcome, receiver.expr)

    def changes_in_place(self, state: State, target: Operand, value: Operand) -> bool:
        """Whether ``target += value`` of a local name changes an unknown list or tensor of somebody else."""
        if not isinstance(target.expr, ir.Name) or not isinstance(target.value, Unknown):
            return False
        found = self.object_at(state, value.value) if isinstance(value.value, Reference) else None
        return isinstance(found, ListObject) or target.value.origin in self.tensors

    def note_extended(self, state: State, statement: ir.AugAssign, target: Operand, value: Operand) -> None:
        """``target += value`` of a list, or of what is unknown."""
        if isinstance(target.value, Unknown) and target.value.origin in self.tensors:
            self.note_in_place(state, statement, target)
            return
        held = self.held_by(state, target)
        if held is not None:
            self._note_set(state, statement.target, held, Written.ELEMENT, value)

    def note_next(self, state: State, node: ir.Expr, iterator: Operand, *, told: bool = False) -> None:
        """``next(iterator)``: an iterator that was there before moves on; its items may only be ``told``."""
        held = self.held_by(state, iterator)
        if held is not None and isinstance(iterator.expr, (ir.Name, ir.Attribute, ir.Subscript)):
            outcome = Outcome.ADVANCED if told else self._outcome_of_taking(state, node, iterator.value)
            if not self.is_inert():
                self.note_unfilled(state, [held])
            self._move(state, held)
            self._note(state, node, held, Written.ITERATOR, outcome, iterator.expr)

    def note_taken(self, state: State, node: ir.Expr, queue: Value) -> bool:
        """Something is taken out of a queue for good: whether code computes with it."""
        number, outcome = self.number_of(queue), self._outcome_of_taking(state, node, queue)
        if not number or outcome is not Outcome.COMPUTED:
            return False
        self._note(state, node, (number, ""), Written.ITERATOR, outcome, node)
        return True

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
        self._move(state, held)
        if not self.frame.watch.was_replaced(held):
            written = Written.ATTRIBUTE if is_attribute else Written.ELEMENT
            is_of_list = bool(indices) and all(map(_is_position, indices))
            # After one element of a list comes another one, which is there to be deleted.
            outcome = Outcome.ADVANCED if is_of_list else Outcome.RAISES
            is_written = isinstance(target, (ir.Attribute, ir.Subscript)) and not is_of_list
            self._note(state, target, held, written, outcome, None if is_written else holder.expr)

    def tensors_in(self, state: State, operand: Operand) -> Iterator[Operand]:
        """What an operation on a list of tensors changes: each of them."""
        value, expr = operand.value, operand.expr
        found = self.object_at(state, value) if isinstance(value, Reference) else value
        if isinstance(found, (ListObject, SequenceValue)):
            shown = expr.items if isinstance(expr, ir.Display) and len(expr.items) == len(found.items) else ()
            for index, item in enumerate(found.items):
                yield Operand(item, shown[index] if shown else expr)
        else:
            yield operand

    def note_in_place(self, state: State, node: ir.Node, operand: Operand, *, counted: bool = True) -> None:
        """A tensor is changed in place, by an operation or by assigning to a part of it.

        Autograd notices what is ``counted`` by the version of the tensor.
        """
        held, certain = self.held_by(state, operand), True
        while held is not None and held[0] in self.aliases and not self._is_others(held[0]):
            held, certain = self.root_of(self.aliases[held[0]]), False
        if held is None or _is_chained(operand.expr):
            return
        self.note_handled(held)
        self._move(state, held)
        overwrites = self._overwrites(node)
        self.note_changed(state, operand.expr or node, held, self.text(node), None, whole=overwrites)
        watch, statement = self.frame.watch, self.frame.statement
        assigned = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(node, ir.Attribute) and self._is_moved(state, assigned, held):
            return
        replaces_part = isinstance(node, ir.Subscript) and not isinstance(statement, ir.AugAssign)
        grows = replaces_part and concerns(_element(node, held), grown_in(watch, assigned))
        settles = isinstance(node, ir.Call) and _method(node) in _SETTLING
        grows |= overwrites and self._is_made_of_it(node, operand.expr, held)
        again = (overwrites or replaces_part or settles) and not grows
        if overwrites and again:
            watch.replaced.setdefault(held, tuple(watch.arms))
        is_whole = (overwrites and not grows) or watch.was_replaced(held)
        outcome = Outcome.REPLACED if again or is_whole else Outcome.ADVANCED
        written = Written.BUFFER
        if self._is_input(held, operand.expr):
            written = Written.INPUT
            outcome = self._outcome_for_input(node, held, operand, outcome)
        elif is_whole and self._gives_the_same(node, held):
            outcome = Outcome.REPEATED
        counted = counted and not _goes_around_autograd(node, operand.expr)
        shown = operand.expr if operand.expr is not None else node
        self._note(state, node, held, written, outcome, shown, certain=certain, counted=counted)

    def _is_made_of_it(self, node: ir.Node, target: ir.Expr | None, held: Held) -> bool:
        """Whether a tensor is overwritten with what is computed from itself: ``b.copy_(b * 0.9 + x)``."""
        match node, self.frame.statement:
            case ir.Call(function=ir.Attribute(base=base), arguments=arguments), _ if base is target:
                given = [argument.value for argument in arguments]
            case ir.Attribute(), ir.Assign(value=ir.Expr() as value):
                given = [value]
            case _:
                return False
        watch = self.frame.watch
        computed = (
            part.function.base
            for part, _ in evaluated(given)
            if isinstance(part, ir.Call) and isinstance(part.function, ir.Attribute) and _computes(part)
        )
        return any(concerns(held, grown_in(watch, expr)) for expr in given) or any(
            concerns(held, watch.mentioned(base)) for base in computed
        )

    def _outcome_for_input(self, node: ir.Node, held: Held, operand: Operand, outcome: Outcome) -> Outcome:
        """What comes of it that what the function was handed is changed, where autograd does not see that."""
        given = self._given(node)
        if any(self._has(expr, held[0]) for expr in given) or self._is_seen_before(operand.expr):
            return Outcome.COMPUTED
        if outcome is Outcome.REPLACED and given and all(map(self._is_the_same, given)):
            return Outcome.REPEATED
        return outcome

    def _given(self, node: ir.Node) -> Sequence[ir.Expr]:
        """What a change in place is given: the expressions of its places and values."""
        statement = self.frame.statement
        match node:
            case ir.Call(function=ir.Attribute(), arguments=arguments):
                return [argument.value for argument in arguments] or [_TRUE]
            case ir.Subscript(indices=indices) if isinstance(statement, ir.Assign) and statement.value:
                return [*indices, statement.value]
            case _:
                return []

    def _has(self, expr: ir.Expr, number: int) -> bool:
        """Whether something in an expression is what has this number, or part of it."""
        values = (self.frame.values.get(part.at) for part, _ in evaluated((expr,)))
        return any(value is not None and self.root_of(self.number_of(value))[0] == number for value in values)

    def _is_seen_before(self, expr: ir.Expr | None) -> bool:
        """Whether the function looks at an argument, further up, before the statement that changes it."""
        function, statement = self.frame.function, self.frame.statement
        names = {part.id for part, _ in evaluated((expr,) if expr else ()) if isinstance(part, ir.Name)}
        if function is None or statement is None:
            return True
        return any(
            isinstance(part, ir.Name) and part.id in names
            for one in nested(function.body)
            if one.at < statement.at
            for part, _ in evaluated(_looked_at(one))
        )

    def _is_the_same(self, expr: ir.Expr) -> bool:
        """Whether an expression is equal each time, whoever shares what is changed: no object's own value."""
        if isinstance(expr, ir.Slice):
            return all(map(self._is_the_same, children(expr)))
        values = self.frame.values
        value = Constant(expr.value) if isinstance(expr, ir.Const) else values.get(expr.at)
        if value is None or reading_of(value) is not None:
            return False
        is_own = any(
            isinstance(part, ir.Attribute) and isinstance(values.get(part.base.at), Reference)
            for part, _ in evaluated((expr,))
        )
        return not is_own and (self.is_surely_steady(value) or self._is_learned(value))

    def _gives_the_same(self, node: ir.Node, held: Held) -> bool:
        """Whether a write in place is one of constants, sizes and steady things, not of what it writes to."""
        if isinstance(node, ir.Call):
            operation = torch_ops.method(_method(node))
            if operation is None or operation.draws:
                return False
        given, mentioned = self._given(node), self.frame.watch.mentioned
        return bool(given) and all(self._is_the_same(part) and held not in mentioned(part) for part in given)

    def _is_others(self, number: int) -> bool:
        """Whether what has this number was there before the running call."""
        return self.is_foreign(number, max(self.frame.id, self.replayed_since))

    def note_statistics(
        self, state: State, node: ir.Expr, reference: Reference, name: str, module: InstanceObject
    ) -> None:
        """A module of torch runs: it computes with its weights, and some keep statistics in training."""
        if not self.frame.watch.changed.isdisjoint(WEIGHTS):
            self.compute_with(state, frozenset((reference.address, f".{weight}") for weight in WEIGHTS))
        if module.get("training") == Constant(False):
            return
        shown = self._name_of_called(node) or name.rpartition(".")[2]
        if module.get(SPECTRAL) is not None:
            self._note(state, node, (reference.address, ""), Written.STATISTICS, Outcome.COMPUTED, shown)
        tracks = dict(module.arguments).get("track_running_stats", Constant(name in _TRACKING))
        if name in _COUNTING and tracks != Constant(False):
            self._note(state, node, (reference.address, ""), Written.STATISTICS, Outcome.ADVANCED, shown)

    def _name_of_called(self, node: ir.Expr) -> str | None:
        """What a call calls a module by; None where it calls something else, which calls the module."""
        if not isinstance(node, ir.Call):
            return None
        function, values = node.function, self.frame.values
        is_held = isinstance(function, ir.Attribute) and function.name not in ATTRIBUTES
        base = function.base if is_held and isinstance(function, ir.Attribute) else function
        objects = alternatives(values.get(base.at, NONE))
        is_module = any(isinstance(one, (Reference, InheritedMethod)) for one in objects)
        return self.text(function) if is_module else None

    def note_cached(
        self, state: State, node: ir.Expr, function: FunctionValue, operands: Sequence[Operand], value: Value
    ) -> None:
        """A function is called whose results are kept by its arguments: tensors are told by identity."""
        others = [operand.value for operand in operands if self.is_another_each_time(state, operand)]
        if any(self.depends_on_data(state, other) for other in others):
            self._note(state, node, (FOREIGN, ""), Written.CACHE, Outcome.ADVANCED)
        if others:
            return
        if self.depends_on_data(state, value) and self._may_require_grad(state, value):
            number = self.number_of(function.receiver or NONE)
            held = (number, f".{function.definition.name}") if number else (FOREIGN, "")
            is_known = all(isinstance(one, Tensor) for one in alternatives(value))
            # It is computed no second time.
            self._note(state, node, held, Written.CACHE, Outcome.SKIPPED, certain=is_known)

    def is_another_each_time(self, state: State, operand: Operand) -> bool:
        """Whether an argument is another one on replay, so that what is kept for the first does not count."""
        value = operand.value
        if isinstance(value, Reference):
            return not self._is_others(value.address)
        if self._is_same_object(state, operand):
            return False
        is_computed = isinstance(value, Unknown) and value.computed
        return is_computed or self.depends_on_data(state, value)

    def _is_same_object(self, state: State, operand: Operand) -> bool:
        """Whether a replay finds the same tensor here: no view, which is another one each time."""
        number = self.number_of(operand.value)
        if not number or not self._is_others(number) or any(body.rebuilt for body in self.bodies):
            return False
        match operand.expr:
            case ir.Name(id=name):
                is_local = name in state.frames.get(self.frame.id, {})
                return not is_local or self._is_handed_to_body(name)
            case ir.Attribute(base=base):
                return isinstance(self.frame.values.get(base.at), Reference)
            case _:
                return False

    def _is_handed_to_body(self, name: str) -> bool:
        """Whether a local name is an argument of the checkpointed function, and stays that."""
        function, caller = self.frame.function, self.frame.parent
        if function is None or caller is None or not self.bodies or self.bodies[-1].depth != caller.depth:
            return False
        is_given = any(parameter.name == name for parameter in function.parameters)
        return is_given and not any(name in bound_names(one) for one in nested(function.body))

    def _is_moved(self, state: State, expr: ir.Expr | None, held: Held) -> bool:
        """Whether a value is the state itself, at most on another device: ``self.w.data.to(device)``."""
        while isinstance(expr, ir.Call) and is_kept_by(expr):
            expr = _receiver(expr)
        if not isinstance(expr, ir.Attribute) or expr.at not in self.frame.values:
            return False
        return self.held_by(state, Operand(self.frame.values[expr.at], expr)) == held

    def _overwrites(self, node: ir.Node) -> bool:
        is_data = isinstance(node, ir.Attribute) and node.name == "data"
        return is_data or (isinstance(node, ir.Call) and _method(node) in _OVERWRITING)

    def _is_input(self, held: Held, expr: ir.Expr | None) -> bool:
        """Whether a tensor came into the call as itself, not as part of an object."""
        while isinstance(expr, (ir.Attribute, ir.Subscript, ir.Call)):
            if isinstance(expr, ir.Attribute) and expr.name not in _VIEWING:
                return False
            expr = _receiver(expr) if isinstance(expr, ir.Call) else expr.base
        if not isinstance(expr, ir.Name) or held[1] or held[0] in self.outside:
            return False
        return not self.frame.watch.origins.get(expr.id)

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

    # --- noting

    def _outcome_of_taking(self, state: State, node: ir.Expr, container: Value) -> Outcome:
        """What comes of it that an expression takes something out of a container for good."""
        function, statement = self.frame.function, self.frame.statement
        told = function is not None and statement is not None and is_only_told(function, statement, node)
        is_needed = not (told or self._is_alone(node) or self._is_taken_for_nothing(state, node, container))
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

    def _is_alone(self, node: ir.Expr) -> bool:
        """Whether an expression is a whole statement: nobody uses its value."""
        statement = self.frame.statement
        return isinstance(statement, ir.Expression) and statement.value is node

    def _note(
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
    ) -> None:
        """``node`` writes; ``shown`` is what it writes to, where that is another node, or has a name."""
        if self.muted or any(arm.once for arm in self.frame.watch.arms):
            return
        is_again = outcome in (Outcome.REPLACED, Outcome.REPEATED)
        if is_again and self.frame.watch.was_used(_element(node, held)):
            outcome = Outcome.COMPUTED
        target = shown if isinstance(shown, str) else self.text(_written_to(shown or node, written))
        guard, element = self._guard(outcome), _key_shown(node)
        write = Write(target, written, *held, outcome, guard, element, counted=counted)
        self.frame.watch.write(write.held)
        phase = state.phase
        if phase is Phase.BOTH and outcome is Outcome.ADVANCED and self._stays_on_replay(node):
            state.phase = Phase.FORWARD
        self.note_write(state, node, write, certain=certain)
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
        statement, outer = self.frame.statement, self._outer_names()
        if outcome is not Outcome.ADVANCED or statement is None:
            return None  # what is overwritten may be read, here or by another layer that shares it
        match statement:
            case ir.Assign(targets=targets) | ir.Delete(targets=targets):
                only_writes = all(_is_outer(target, outer) for target in targets)
            case ir.AugAssign(target=target):
                only_writes = _is_outer(target, outer)
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


SPECTRAL = "spectral_norm"
"""The attribute that marks a module whose weight is divided by a norm, which it estimates as it runs."""

_TRACKING = frozenset(
    f"torch.nn.{lazy}BatchNorm{number}d" for lazy in ("", "Lazy") for number in (1, 2, 3)
) | {"torch.nn.SyncBatchNorm"}
"""Modules with running statistics, unless they are told to have none."""

_COUNTING = _TRACKING | {
    f"torch.nn.{lazy}InstanceNorm{number}d" for lazy in ("", "Lazy") for number in (1, 2, 3)
}
"""Modules that may have some."""

_VIEWING = frozenset(["data", "T", "mT", "H", "mH", "real", "imag"])


def _written_to(node: ir.Node, written: Written) -> ir.Node:
    """What to name for a node that writes: what its methods are called on, or the function."""
    if isinstance(node, ir.Call) and written in (Written.STATISTICS, Written.CACHE):
        return node.function
    while isinstance(node, ir.Call) and not _fetches(node):
        node = _receiver(node) or node.function
    return node


def _fetches(call: ir.Call) -> bool:
    """Whether a call is another way to write an attribute."""
    return isinstance(call.function, ir.Name) and call.function.id == "getattr"


def _is_data(value: Value, state: frozenset[Held]) -> bool:
    """Whether a value is no state that a call finds in something, but what it was handed itself."""
    return not state or (isinstance(value, (Tensor, Unknown)) and not any(path for _, path in state))


def _computes(call: ir.Call) -> bool:
    """Whether a method makes something else of the data of a tensor, and again of what it made."""
    name = _method(call)
    operation = torch_ops.method(name)
    is_settled = is_kept_by(call) or f"{name}_" in _SETTLING
    return operation is not None and operation.effect is torch_ops.Effect.READ and not is_settled


def _is_chained(expr: ir.Expr | None) -> bool:
    """Whether something is what a change in place gave back, which is noted already: ``x.mul_(2)``.

    A change that is none the second time says nothing of what comes behind it.
    """
    match expr:
        case ir.Call(function=ir.Attribute(name=name)):
            return name.endswith("_") and not name.endswith("__") and name not in _SETTLING
        case _:
            return False


def _is_position(index: ir.Expr | None) -> bool:
    """Whether an index is a place in a list: a number or a slice."""
    match index:
        case ir.Const(value=value):
            return isinstance(value, int)
        case ir.Unary(operand=operand):
            return _is_position(operand)
        case _:
            return isinstance(index, ir.Slice)


def _is_choice(value: Value) -> bool:
    return len(alternatives(value)) > 1


def _is_outer(target: ir.Expr, outer: frozenset[str]) -> bool:
    """Whether a target is no local name."""
    match target:
        case ir.Name(id=name):
            return name in outer
        case ir.Display(items=items):
            return all(_is_outer(item, outer) for item in items)
        case _:
            return isinstance(target, (ir.Attribute, ir.Subscript))


def _receiver(call: ir.Call) -> ir.Expr | None:
    """What a method is called on."""
    return call.function.base if isinstance(call.function, ir.Attribute) else None


def _element(node: ir.Node, held: Held) -> Held:
    """What a node writes of a container: the only element, if the source shows its key."""
    return held[0], held[1] + _key_shown(node)


def _key_shown(node: ir.Node) -> str:
    key = key_of(node) if isinstance(node, ir.Subscript) else ANY_ELEMENT
    return key if key != ANY_ELEMENT else ""


def _says_where(expr: ir.Expr, statement: ir.Stmt | None) -> bool:
    """Whether an expression says which element it is that a statement sets."""
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    keys = [key for target in targets if isinstance(target, ir.Subscript) for key in target.indices]
    return any(part is expr for part, _ in evaluated(keys))


def _is_any_element(target: ir.Node, written: Written) -> bool:
    """Whether it is not said which element of a container is written."""
    if written is not Written.ELEMENT:
        return False
    indices = target.indices if isinstance(target, ir.Subscript) else ()
    return len(indices) != 1 or not isinstance(indices[0], ir.Const)


def _looked_at(statement: ir.Stmt) -> Sequence[ir.Expr]:
    """The expressions whose values a statement uses, but for what it changes in place."""
    match statement:
        case ir.Assign(targets=targets, value=ir.Expr() as value):
            indices = (index for one in targets if isinstance(one, ir.Subscript) for index in one.indices)
            return (value, *indices)
        case ir.Expression(value=ir.Call(arguments=arguments) as call) if _method(call).endswith("_"):
            return [argument.value for argument in arguments]
        case _:
            return header(statement)


def _method(call: ir.Call) -> str:
    return call.function.name if isinstance(call.function, ir.Attribute) else ""


def _attribute_of_class(klass: ClassValue, name: str) -> Held:
    return klass.frame, f".{klass.definition.name}.{name}"


def _names_a_class(expr: ir.Expr) -> bool:
    """``type(self)``, ``self.__class__``."""
    match expr:
        case ir.Attribute(name="__class__"):
            return True
        case ir.Call(function=ir.Name(id="type"), arguments=[_]):
            return True
        case _:
            return False


def _goes_around_autograd(node: ir.Node, expr: ir.Expr | None) -> bool:
    """Whether a write is made through ``.data``, which autograd does not see."""
    exprs = [one for one in (expr, node) if isinstance(one, ir.Expr)]
    return any(
        isinstance(part, ir.Attribute) and part.name == "data"
        for one in exprs
        for part, _ in evaluated((one,))
    )
