"""What classes and annotations promise: instances nobody constructed, fields, attributes set late.

An annotation is read, never run: its names are looked up where it stands, and what it says of a value is
used where nothing better is known. Comes in: a class or an annotation. Goes out: a value, unknown where the
declaration says nothing that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deeds
from remat_lint.analysis.external_names import CLASSES
from remat_lint.analysis.interpreter import Interpreter
from remat_lint.analysis.items import MODULE_CONTAINERS
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.left_out import is_left_out
from remat_lint.analysis.lowering import lower_expression
from remat_lint.analysis.machine import BudgetSpent, Flow, Frame, Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Choice,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InstanceObject,
    ListObject,
    Reference,
    Tensor,
    Unknown,
    Value,
    as_setting,
    holds_object,
    join,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.project import Project

_SCALARS = frozenset(["int", "float", "bool", "str", "bytes", "complex"])
_TENSORS = frozenset(["torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"])
_WRAPPERS = frozenset(["Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"])
_LISTS = frozenset(["list", "List", "MutableSequence"])
_ITERABLES = frozenset(["Sequence", "Iterable", "Iterator", "Collection", "Generator", "Reversible"])
_MAPPINGS = frozenset(["dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"])
_ARITHMETIC = frozenset(["Subtract", "Divide", "FloorDivide", "Modulo", "Power"])
_RUN_ANYWAY = ("__init__", "forward")


_CONFIGS = ("config", "cfg")
"""What a class calls the object of its nested ``Config`` that it is built from."""


class Declarations(Interpreter):
    """The interpreter with what it can know without running a caller."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._class_names: dict[tuple[ir.Class, int], dict[str, Value]] = {}
        """The names of each class, where it is defined anew each time that a function runs."""
        self.class_journals: dict[ir.Class, Journal] = {}
        """What the decorators of methods, and the rest of a class body, showed."""
        self._instances: dict[ir.Class, Value] = {}
        self._fields: dict[tuple[ir.Class, str], Value] = {}
        self._late: dict[tuple[ir.Class, str], Value | None] = {}
        self._setters: dict[ir.Function, frozenset[str]] = {}

    def entering(self, frame: Frame) -> Entered:
        return Entered(self, frame)

    # --- classes

    def class_names(self, klass: ClassValue) -> dict[str, Value]:
        """The names that a class body binds."""
        key = (klass.definition, klass.frame)
        known = self._class_names.get(key)
        if known is not None:
            return known
        names: dict[str, Value] = {}
        self._class_names[key] = names
        frame = self.class_frame(klass)
        journal, self.journal = self.journal, Journal()
        with self.own_budget(), self.entering(frame):
            try:
                flow = self.run_block(klass.definition.body, [_around(klass.scope)])
            except BudgetSpent:
                flow = Flow()
            for path in flow.fell:
                names |= path.frames.get(frame.id, {})
                klass.scope.heap |= path.heap
                others = path.frames.keys() - {frame.id, klass.scope.frame}
                self.kept_frames |= {one: path.frames[one] for one in others}
        self.class_journals[klass.definition] = self.journal
        self.journal = journal
        return names

    def instance_of(self, klass: ClassValue) -> Value:
        """An object of the class, constructed with unknown arguments; the same one every time."""
        known = self._instances.get(klass.definition)
        if known is not None:
            return known
        self._instances[klass.definition] = Unknown()  # while it is under construction
        state = State()
        journal, self.journal = self.journal, Journal()
        try:
            with self.own_budget(), self.entering(Frame(id=self.fresh(), depth=0, scope=klass.scope)):
                instance = self._unseen(state, klass)
        except BudgetSpent:
            instance = Unknown()
        finally:
            self.journal = journal
        found = self.object_at(state, instance) if isinstance(instance, Reference) else None
        if found is not None:  # one that was constructed in view may be the same, but is no subclass
            made, instance = instance, self.allocate(state, found)
            self.open.add(instance.address)
            self.stands_for |= {made.address: instance.address} if isinstance(made, Reference) else {}
        klass.scope.heap |= state.heap
        self.kept_frames |= state.frames
        self._instances[klass.definition] = instance
        return instance

    def _unseen(self, state: State, klass: ClassValue) -> Value:
        if self.is_record(klass):  # its fields are what their annotations say
            return self.allocate(state, InstanceObject(klass))
        initializer = self.class_attribute(self.mro(klass), "__init__")
        if isinstance(initializer, FunctionValue):
            operands = list(self._unknown_operands(initializer, state))
        else:  # a container may be made with anything in it
            is_container = any(External(name) in self.mro(klass) for name in MODULE_CONTAINERS)
            operands = [Operand(Unknown(origin=self.fresh()), star=True)] if is_container else []
        return self.construct(state, ir.Const(0, None), klass, operands)

    def _unknown_operands(self, function: FunctionValue, state: State) -> Iterator[Operand]:
        """Something for every parameter but the first, as its annotation says."""
        frame = Frame(
            id=self.fresh(), depth=0, scope=function.scope, owner=function.owner, closure=function.frame
        )
        with self.entering(frame):
            for parameter in function.definition.parameters[1:]:
                value = self._handed_over(function, parameter, state)
                if parameter.kind == "positional":
                    yield Operand(value)
                elif parameter.kind == "keyword":
                    yield Operand(value, keyword=parameter.name)
                elif parameter.kind == "**":
                    yield Operand(Unknown(origin=self.fresh()), keyword="**")

    def _handed_over(self, function: FunctionValue, parameter: ir.Parameter, state: State) -> Value:
        """What a parameter is by its annotation, or, if it is called so, the configuration of its class.

        A class that it is unless somebody says otherwise is one that it may be.
        """
        default = dict(function.defaults).get(parameter.name)
        if default is not None and any(map(self.is_module_class, (default, *parts(default)))):
            return default
        if self._is_left_out(function, parameter, default):
            assert isinstance(default, Constant)
            return as_setting(default)
        if parameter.annotation is None and parameter.name.lower() in _CONFIGS and function.owner is not None:
            nested = self.class_attribute(self.mro(function.owner), "Config")
            if isinstance(nested, ClassValue):
                return self.instance_of(nested)
        return self.annotated(parameter.annotation, state)

    def _is_left_out(self, function: FunctionValue, parameter: ir.Parameter, default: Value | None) -> bool:
        """Whether a parameter is a number that all constructions in view leave as it is by default."""
        if function.owner is None or not isinstance(default, Constant):
            return False
        if type(default.value) not in (int, float):
            return False
        definition, name = function.scope.source.lowered, function.owner.definition.name
        return is_left_out(
            definition, name, parameter.name, function.definition.parameters.index(parameter) - 1
        )

    # --- attributes

    def declared_attribute(self, state: State, receiver: Value, order: Sequence[Value], name: str) -> Value:
        """What annotations in the class bodies, or assignments in any method, say of an attribute."""
        for klass in order:
            annotation = self._annotation(klass, name)
            if isinstance(klass, ClassValue) and annotation is not None:
                declared = self._declared_field(klass, name, annotation)
                if holds_object(declared):
                    return declared
        if isinstance(receiver, Reference) and order and isinstance(order[0], ClassValue):
            return self._late_attribute(state, receiver, order[0], order, name) or Unknown()
        return Unknown()

    def _annotation(self, klass: Value, name: str) -> ir.Expr | None:
        if not isinstance(klass, ClassValue):
            return None
        fields = (statement for statement in klass.definition.body if isinstance(statement, ir.Assign))
        return next((one.annotation for one in fields if _is_named(one.targets[0], name)), None)

    def _declared_field(self, klass: ClassValue, name: str, annotation: ir.Expr) -> Value:
        key = (klass.definition, name)
        known = self._fields.get(key)
        if known is None:
            self._fields[key] = Unknown()  # a type that mentions itself
            state, frame = State(), self.class_frame(klass)
            state.frames[frame.id] = self.class_names(klass)
            with self.entering(frame):
                known = self._fields[key] = _anonymous(self.annotated(annotation, state))
            klass.scope.heap |= state.heap
        return known

    def _late_attribute(
        self, state: State, receiver: Reference, klass: ClassValue, order: Sequence[Value], name: str
    ) -> Value | None:
        """An object that a method other than ``__init__`` assigns: ``setup``, ``init_weights``."""
        key = (klass.definition, name)
        if key in self._late:
            return self._late[key]
        self._late[key] = None
        found: Value | None = None
        for owner in order:
            for definition in _methods(owner):
                if isinstance(owner, ClassValue) and name in self._set_late(owner, definition):
                    value = self._run_setter(state, receiver, order, definition, name)
                    if value is not None:
                        found = value if found is None else join(found, value)
        self._late[key] = found
        return found

    def _set_late(self, owner: ClassValue, definition: ir.Function) -> frozenset[str]:
        """The attributes that a method may set to a module."""
        if definition not in self._setters:
            own = _own_names(definition)

            def counts(statement: ir.Assign) -> bool:
                match statement.value:
                    case ir.Call(function=ir.Name(id=name)) if name not in own:
                        kind = self.resolved(owner.scope.names.get(name, Unknown()))
                        return not (isinstance(kind, External) and self.returns_anything(kind.name))
                    case ir.Name(id=name) if own.get(name):
                        return False
                    case value:
                        return value is not None and _may_be_module(value)

            self._setters[definition] = assigned_attributes(definition, counts)
        return self._setters[definition]

    def _run_setter(
        self,
        state: State,
        receiver: Reference,
        order: Sequence[Value],
        definition: ir.Function,
        name: str,
    ) -> Value | None:
        method = self.class_attribute(order, definition.name)
        if not isinstance(method, FunctionValue) or method.definition is not definition:
            return None
        path = state.fork()
        journal, self.journal = self.journal, Journal()
        try:
            with self.own_budget(), self.entering(Frame(id=self.fresh(), depth=0, scope=method.scope)):
                operands = [Operand(receiver), *self._unknown_operands(method, path)]
                self.call_function(path, ir.Const(0, None), method, operands)
        except BudgetSpent:
            return None
        finally:
            self.journal = journal
        found = self.object_at(path, receiver)
        value = found.get(name) if isinstance(found, InstanceObject) else None
        if value is None or not any(self.is_module_object(path, one) for one in (value, *parts(value))):
            return None  # what else a program keeps in its objects says little about where outputs go
        method.scope.heap |= {at: item for at, item in path.heap.items() if at not in state.heap}
        self.kept_frames |= {at: names for at, names in path.frames.items() if at in self.closures}
        return value

    # --- annotations

    def annotated(self, annotation: ir.Expr | None, state: State) -> Value:
        """A value of an annotated type; unknown where the annotation does not name a class."""
        match annotation:
            case ir.Const(value=None):
                return NONE
            case ir.Const(value=str() as text):
                return self.annotated(lower_expression(text), state)
            case ir.Binary(operator="BitOr", left=left, right=right):
                return join(self.annotated(left, state), self.annotated(right, state))
            case ir.Subscript(base=base, indices=indices):
                return self._generic(base, indices, state)
            case ir.Name() | ir.Attribute():
                return self._of_type(self._named(annotation, state), state)
            case _:
                return Unknown(origin=self.fresh())

    def _generic(self, base: ir.Expr, indices: Sequence[ir.Expr], state: State) -> Value:
        """``Optional[X]``, ``list[X]``, ``dict[str, X]``, ``type[X]``, ..."""
        name = base.name if isinstance(base, ir.Attribute) else base.id if isinstance(base, ir.Name) else ""
        if name == "Optional":
            return join(self.annotated(indices[0], state), NONE)
        if name == "Union":
            return reduce(join, [self.annotated(index, state) for index in indices])
        if name in _WRAPPERS:
            return self.annotated(indices[0], state)
        if name in ("type", "Type"):
            kind = self._named(indices[0], state)
            return kind if isinstance(kind, ClassValue) else Unknown(origin=self.fresh())
        if name in _LISTS:
            return self.allocate(state, ListObject((), self._item(indices[0], state)))
        if name in _ITERABLES:
            return SequenceValue(rest=self._item(indices[0], state))
        if name in _MAPPINGS and len(indices) == 2:
            return self.allocate(state, DictObject((), self._item(indices[1], state)))
        if name in ("tuple", "Tuple"):
            if len(indices) == 2 and isinstance(indices[1], ir.Const) and indices[1].value is ...:
                return SequenceValue(rest=self._item(indices[0], state))
            return SequenceValue(tuple(self.annotated(index, state) for index in indices))
        return self._of_type(self._named(base, state), state)

    def _item(self, annotation: ir.Expr, state: State) -> Value:
        return _anonymous(self.annotated(annotation, state))

    def _named(self, expr: ir.Expr, state: State) -> Value:
        """What a dotted name stands for."""
        if isinstance(expr, ir.Const) and isinstance(expr.value, str):
            quoted = lower_expression(expr.value)
            return self._named(quoted, state) if quoted is not None else Unknown()
        if isinstance(expr, ir.Attribute):
            return self.attribute_of(state, expr, self._named(expr.base, state), expr.name)
        if not isinstance(expr, ir.Name):
            return Unknown()
        owner = self.frame.owner  # the annotations of a method see the names of its class
        found = self.class_names(owner).get(expr.id) if owner is not None else None
        return self.resolved(found) if found is not None else self.lookup(state, expr.id)

    def _of_type(self, kind: Value, state: State) -> Value:
        if isinstance(kind, Choice):
            return reduce(join, [self._of_type(one, state) for one in kind.alternatives])
        if isinstance(kind, ClassValue):
            protocol = any(isinstance(b, External) and b.name.endswith(".Protocol") for b in kind.bases)
            return (
                Unknown(origin=self.fresh())
                if protocol
                else reduce(join, map(self.instance_of, self.concrete(kind)))
            )
        if isinstance(kind, External):
            name = kind.name
            if name in _TENSORS:
                number = self.fresh()
                return Tensor(storage=number, like=number)
            if name.removeprefix("builtins.") in _SCALARS:
                return SCALAR
            if name.endswith(".Self") and self.frame.owner is not None:
                receiver = self.frame.receiver
                return receiver if isinstance(receiver, Reference) else self.instance_of(self.frame.owner)
            if name.startswith("torch.nn.") and name != "torch.nn.Module":
                return self.construct_external(state, name, ())
            if name in CLASSES:
                return self.allocate(state, InstanceObject(kind))
        return Unknown(origin=self.fresh())


class Entered:
    """Runs a frame, and puts everything back as it was."""

    def __init__(self, machine: Declarations, frame: Frame) -> None:
        self._machine = machine
        self._frame = frame

    def __enter__(self) -> None:
        machine = self._machine
        self._before = {name: getattr(machine, name) for name in _OF_A_RUN if hasattr(machine, name)}
        machine.frame, machine.regions, machine.grad_enabled, machine.swallowing = self._frame, [], True, 0
        machine.name_scopes, machine.checkpoints, machine.compiled = (), [], False
        machine.on_meta = False
        machine.deeds, machine.replaying, machine.bodies, machine.replayed_since = Deeds(), 0, [], 0
        self._start = machine.fresh()

    def __exit__(self, *_: object) -> None:
        self._machine.outside.add(self._start, self._machine.fresh())
        for name, value in self._before.items():
            setattr(self._machine, name, value)


_OF_A_RUN = (
    "frame",
    "regions",
    "grad_enabled",
    "on_meta",
    "swallowing",
    "name_scopes",
    "checkpoints",
    "compiled",
    "deeds",
    "replaying",
    "bodies",
    "replayed_since",
)
"""What the machine knows of the code that runs now."""


def _around(scope: ModuleScope) -> State:
    """What the body of a class finds in its module, which may still be running."""
    state, running = State(), scope.running
    if running is not None:
        state.heap = dict(running.heap)
        state.frames[scope.frame] = dict(running.frames.get(scope.frame, {}))
    return state


def _anonymous(value: Value) -> Value:
    """The same for a value that stands for many: no two tensors are known to share their storage."""
    match value:
        case Tensor():
            return Tensor()
        case Choice(alternatives=values):
            return reduce(join, [_anonymous(one) for one in values])
        case SequenceValue(items=items, rest=rest):
            rest = _anonymous(rest) if rest is not None else None
            return SequenceValue(tuple(map(_anonymous, items)), rest)
        case Unknown():
            return Unknown()
        case _:
            return value


def _is_named(target: ir.Expr, name: str) -> bool:
    return isinstance(target, ir.Name) and target.id == name


def _methods(owner: Value) -> Iterator[ir.Function]:
    """The methods of a class that may assign attributes after the object was made."""
    if isinstance(owner, ClassValue):
        for statement in owner.definition.body:
            if isinstance(statement, ir.FunctionDef) and statement.function.name not in _RUN_ANYWAY:
                yield statement.function


def assigned_attributes(
    definition: ir.Function, counts: Callable[[ir.Assign], bool] = lambda _: True
) -> frozenset[str]:
    """The attributes of its first parameter that a method assigns, in the assignments that count."""
    if not definition.parameters:
        return frozenset()
    receiver = definition.parameters[0].name
    return frozenset(
        target.name
        for statement in nested(definition.body)
        if isinstance(statement, ir.Assign) and counts(statement)
        for target in statement.targets
        if isinstance(target, ir.Attribute) and _is_named(target.base, receiver)
    )


def _own_names(definition: ir.Function) -> dict[str, bool]:
    """The names that a method binds: whether each is only ever a function that is defined in it."""
    kinds = dict.fromkeys((parameter.name for parameter in definition.parameters), False)
    for statement in nested(definition.body):
        if isinstance(statement, ir.FunctionDef) and not statement.function.decorators:
            kinds.setdefault(statement.function.name, True)
        else:
            kinds.update(dict.fromkeys(bound_names(statement), False))
    return kinds


def _may_be_module(value: ir.Expr) -> bool:
    """Whether a value may be a module, as its expression shows: no method is run for others."""
    match value:
        case ir.Const() | ir.Format() | ir.Comparison() | ir.Lambda() | ir.DictDisplay():
            return False
        case ir.Display(kind=kind) | ir.Comprehension(kind=kind):
            return kind not in ("list", "dict")
        case ir.Binary(operator=operator):
            return operator not in _ARITHMETIC
        case _:
            return True
