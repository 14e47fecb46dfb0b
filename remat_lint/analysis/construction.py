"""Making objects: records, objects of the project's classes, modules of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deeds, Draw
from remat_lint.analysis.facts import Random, RandomKind
from remat_lint.analysis.forms import Forms
from remat_lint.analysis.items import MODULE_CONTAINERS
from remat_lint.analysis.leads import leading_to_checkpoints
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.modes import made_for_a_mode
from remat_lint.analysis.state import State
from remat_lint.analysis.summaries import Summaries
from remat_lint.analysis.values import (
    CONTENTS,
    NONE,
    SCALAR,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    HeapObject,
    InstanceObject,
    Reference,
    Source,
    Tensor,
    Unknown,
    Value,
    contents,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import Place
from remat_lint.project import Project
from remat_lint.source import SourceFile

MAX_IN_MODE = 4096
"""The parts of a model that are put into training or evaluation with it."""

MODULE_LIST = "torch.nn.ModuleList"

_STACKS = {"torch.nn.TransformerEncoder": "encoder_layer", "torch.nn.TransformerDecoder": "decoder_layer"}
"""Modules of torch that have copies of what they are given under ``layers``."""

_RECORD_DECORATORS = frozenset(["dataclass", "define", "frozen", "mutable", "attrs"])


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: the class that declares it, and what it is where it is not given."""

    name: str
    owner: ClassValue
    has_default: bool
    factory: ir.Expr | None
    takes_position: bool


@dataclass(frozen=True, slots=True)
class _Made:
    """A module that stands for all that are constructed alike, and what its constructor did beside."""

    module: Reference
    deeds: Deeds


def _has_source_since(began: int, objects: Mapping[int, HeapObject]) -> bool:
    """Whether objects hold a generator, or another source of random numbers, that was made since then."""
    values = (value for found in objects.values() for value in contents(found))
    return any(isinstance(value, Source) and value.number > began for value in values)


class Construction(Forms):
    """Calls classes."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._leading: dict[str, set[ir.Function]] = {}
        self.summaries = Summaries(self.object_at, self.nature_of)
        self._modules: dict[object, _Made] = {}
        self._moded: dict[str, set[ir.Stmt]] = {}
        self._copies: dict[tuple[Place, int], Reference] = {}

    def construct(self, state: State, node: ir.Expr, klass: ClassValue, operands: Sequence[Operand]) -> Value:
        """``Class(...)``: a NamedTuple, a dataclass, or an object whose ``__init__`` runs.

        Modules that are constructed alike are one object: they differ in their weights only, unless each
        makes a generator of its own, or is put into training or evaluation by itself.
        """
        bases = {base.name for base in self.mro(klass) if isinstance(base, External)}
        if "typing.NamedTuple" in bases:
            fields = self._fields_of(self.mro(klass))
            given = _by_field(tuple(fields), operands)
            items = [given.get(name) or self._default(state, node, fields[name]) for name in fields]
            return SequenceValue(tuple(item or Unknown() for item in items), fields=tuple(fields))
        if not any(base.startswith("torch.nn.") for base in bases):
            return self._construct_object(state, node, klass, operands)
        if self._gets_own_mode():
            modules, self._modules = self._modules, {}  # nor is any part of it a part of another one
            try:
                return self._construct_object(state, node, klass, operands)
            finally:
                self._modules = modules
        signature = self.summaries.construction(state, klass, operands)
        key = (signature.key, self.on_meta) if signature is not None else None
        known = self._modules.get(key)
        if known is not None:
            self._note_rebuilt(state, known.module)
            if any(isinstance(deed.act, Draw) for deed in known.deeds):
                self.note_maker()
            self.repeat_call(node, known.deeds)
            return known.module
        began = self.fresh()
        with self.deeds_apart() as deeds:
            module = self._construct_object(state, node, klass, operands)
        objects = self.summaries.reachable(state, module)
        if key is not None and objects is not None and not _has_source_since(began, objects):
            self._modules[key] = _Made(module, deeds)
            klass.scope.heap |= objects
        return module

    def _gets_own_mode(self) -> bool:
        """Whether the statement under way makes a module that its file puts into training or evaluation."""
        source = self.frame.scope.source
        if source.path not in self._moded:
            self._moded[source.path] = made_for_a_mode(source.lowered)
        return self.frame.statement in self._moded[source.path]

    def note_made(self, state: State, node: ir.Expr, value: Value, operands: Sequence[Operand] = ()) -> None:
        """Code makes an object: where it did so before, the two are one here only.

        What another statement made, and both were handed, is one.
        """
        if isinstance(value, Reference):
            self.shared |= self._handed_from_elsewhere(state, operands) - self.several
            if value.address in self.made_by:
                objects = self.summaries.reachable(state, value) or {}
                self.several.update(objects.keys() - self.shared)
                if self.made_by[value.address] is not self.frame.statement:
                    held = (one for found in objects.values() for one in contents(found))
                    tensors = {one.storage for one in held if isinstance(one, Tensor)}
                    self.several.update(tensors - self.shared)
            self.made_by.setdefault(value.address, self.frame.statement)
            self._note_wrapper(state, node, value)

    def copy_at(self, node: ir.Expr, original: Reference) -> Reference:
        """What a copy of an object that an expression makes is: the same each time."""
        return self._copies.setdefault((self.place(node), original.address), Reference(self.fresh()))

    def _handed_from_elsewhere(self, state: State, operands: Sequence[Operand]) -> set[int]:
        """The objects and tensors among these, and their parts, that the statement under way did not make."""
        handed = (operand.value for operand in operands if isinstance(operand.value, Reference))
        named = (operand.value for operand in operands if not isinstance(operand.expr, ir.Call))
        return {one.storage for one in named if isinstance(one, Tensor)} | {
            address
            for one in handed
            if self.made_by.get(one.address, self.frame.statement) is not self.frame.statement
            for address in self.summaries.reachable(state, one) or ()
        }

    def _note_rebuilt(self, state: State, module: Value) -> None:
        """A module like one that was made before is made again: its parts are the caller's own."""
        number = self.fresh()
        self.rebuilt |= dict.fromkeys(self.summaries.reachable(state, module) or (), number)

    def _construct_object(
        self, state: State, node: ir.Expr, klass: ClassValue, operands: Sequence[Operand]
    ) -> Reference:
        order = self.mro(klass)
        reference = self.allocate(state, InstanceObject(klass))
        initializer = self.class_attribute(order, "__init__")
        if self.is_record(klass):
            self._fill_record(state, node, reference, order, operands)
        elif isinstance(initializer, FunctionValue):
            self.call(state, node, replace(initializer, receiver=reference), operands)
        elif external := next((b for b in order if isinstance(b, External)), None):
            self.draw_weights(state, node, external.name, operands)
            if operands or external.name in MODULE_CONTAINERS:
                self.initialize_external(state, reference, external.name, operands)
        return reference

    def _note_wrapper(self, state: State, node: ir.Expr, made: Reference) -> None:
        """A module that may make checkpoints runs as it was made, filled and changed."""
        found = self.object_at(state, made)
        order = self.mro(found.klass) if isinstance(found, InstanceObject) else ()
        forward = self.class_attribute(order, "forward")
        if isinstance(forward, FunctionValue):
            source = forward.scope.source
            if self.project.applies_checkpoints(source) and forward.definition in self.leading_in(source):
                self.note_wrapped(state, self.place(node), made)

    def is_module_class(self, value: Value) -> bool:
        """Whether a value is a class of the project whose objects are modules."""
        order = self.mro(value) if isinstance(value, ClassValue) else ()
        return any(isinstance(one, External) and one.name.startswith("torch.nn.") for one in order)

    def leading_in(self, source: SourceFile) -> set[ir.Function]:
        """The functions of a file that may lead to a checkpoint."""
        if source.path not in self._leading:
            self._leading[source.path] = leading_to_checkpoints(source.lowered)
        return self._leading[source.path]

    def decorator_name(self, decorator: ir.Expr) -> str:
        return self._decorator(decorator.function if isinstance(decorator, ir.Call) else decorator)

    # --- records

    def is_record(self, klass: Value) -> bool:
        """Whether a decorator writes the class's ``__init__``, from its annotated names."""
        for one in self.mro(klass):
            if isinstance(one, ClassValue):
                if "__init__" in self.class_names(one):
                    return False
                names = [self.decorator_name(decorator) for decorator in one.definition.decorators]
                if any(name.rpartition(".")[2] in _RECORD_DECORATORS for name in names):
                    return True
        return False

    def _fill_record(
        self,
        state: State,
        node: ir.Expr,
        reference: Reference,
        order: Sequence[Value],
        operands: Sequence[Operand],
    ) -> None:
        fields = self._fields_of(order)
        given = _by_field([name for name, one in fields.items() if one.takes_position], operands)
        given |= {o.keyword: o.value for o in operands if o.keyword in fields}
        open_ended = any(operand.star or operand.keyword == "**" for operand in operands)
        for name, field in fields.items():
            value = given.get(name)
            if value is None and not open_ended:
                value = self._default(state, node, field)
            if value is not None:
                self.set_attribute(state, reference, name, value)
        after = self.class_attribute(order, "__post_init__")
        if isinstance(after, FunctionValue):
            self.call(state, node, replace(after, receiver=reference), ())

    def _fields_of(self, order: Sequence[Value]) -> dict[str, Field]:
        """The fields of a record, those of its bases first."""
        fields: dict[str, Field] = {}
        for klass in reversed(order):
            if isinstance(klass, ClassValue):
                for statement in klass.definition.body:
                    field = _field(klass, statement)
                    if field is not None:
                        fields[field.name] = field
        return fields

    def _default(self, state: State, node: ir.Expr, field: Field) -> Value | None:
        """What a field is where it is not given: its default, or what its factory makes."""
        if field.factory is None:
            return self.class_names(field.owner).get(field.name) if field.has_default else None
        frame = self.class_frame(field.owner)
        state.frames[frame.id] = self.class_names(field.owner)
        caller, self.frame = self.frame, frame
        try:
            factory = self.evaluate(field.factory, state)
        finally:
            self.frame = caller
            state.frames.pop(frame.id, None)
        return self.call(state, node, factory, ())

    def class_frame(self, klass: ClassValue) -> Frame:
        """A frame in which the body of a class is evaluated."""
        return Frame(
            id=self.fresh(), depth=0, scope=klass.scope, owner=klass, closure=klass.frame, kind="class"
        )

    def annotated_names(self, klass: Value) -> list[str]:
        """The fields of a record of this class, in the order of their positions."""
        return list(self._fields_of(self.mro(klass)))

    # --- modules of torch.nn

    def draw_weights(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> None:
        """A module that is made draws its weights, unless they are not there yet."""
        operation = torch_ops.module(name)
        device = next((o.value for o in operands if o.keyword == "device"), NONE)
        if operation is not None and operation.constructor_draws and not self.is_on_meta(device):
            self.note_maker()
            self.draw(state, node, Random(RandomKind.TORCH), self.called(node))

    def note_maker(self) -> None:
        """The root that runs makes modules with weights."""
        if self.root is not None and not self.bodies:
            self.makers.add(self.root)

    def set_mode(self, state: State, module: Value, *, is_training: bool) -> None:
        """Put a module and all its parts into training or evaluation: it is no longer like others."""
        parts = dict.fromkeys(self.modules_in(state, module, MAX_IN_MODE))
        state.modes = self.fresh()
        self._modules = {key: made for key, made in self._modules.items() if made.module not in parts}
        for part in parts:
            self.set_attribute(state, part, "training", Constant(is_training))

    def construct_external(self, state: State, name: str, operands: Sequence[Operand]) -> Reference:
        """An object of an ``nn`` class; containers remember what is in them."""
        reference = self.allocate(state, InstanceObject(External(name)))
        self.initialize_external(state, reference, name, operands)
        return reference

    def initialize_external(
        self, state: State, reference: Reference, name: str, operands: Sequence[Operand]
    ) -> None:
        found = self.object_at(state, reference)
        assert isinstance(found, InstanceObject)
        if name in MODULE_CONTAINERS:
            contents, names = self._container_contents(state, name, operands)
            self.note_elements(contents)
            found = replace(found, arguments=(("keys", names),) if names is not None else ())
            state.heap[reference.address] = found.with_attribute(CONTENTS, contents)
            return
        operation = torch_ops.module(name)
        parameters = operation.constructor if operation is not None else ()
        given = [
            (operand.keyword or (parameters[index] if index < len(parameters) else ""), operand.value)
            for index, operand in enumerate(operands)
        ]
        found = replace(found, arguments=tuple(given))
        if name in _STACKS and given:  # of copies of the layer
            layer = dict(given).get(_STACKS[name], given[0][1])
            found = found.with_attribute("layers", self.module_list(state, layer))
        state.heap[reference.address] = found

    def module_list(self, state: State, module: Value) -> Reference:
        """An ``nn.ModuleList`` of any number of modules like one."""
        contents = SequenceValue(rest=module)
        self.note_elements(contents)
        return self.allocate(state, InstanceObject(External(MODULE_LIST), ((CONTENTS, contents),)))

    def _container_contents(
        self, state: State, name: str, operands: Sequence[Operand]
    ) -> tuple[Value, Value | None]:
        positional = [operand.value for operand in operands if operand.keyword is None]
        if name.endswith("Sequential") and not (len(positional) == 1 and isinstance(positional[0], Unknown)):
            found = (
                self.object_at(state, positional[0])
                if positional and isinstance(positional[0], Reference)
                else None
            )
            if not isinstance(found, DictObject):
                certain = tuple(operand.value for operand in operands if not operand.star)
                more = [operand.value for operand in operands if operand.star]
                return SequenceValue(certain, reduce(join, more) if more else None), None
        first = positional[0] if positional else SequenceValue()
        found = self.object_at(state, first) if isinstance(first, Reference) else None
        if isinstance(found, DictObject):
            names = SequenceValue(tuple(Constant(key) for key, _ in found.items), found.rest and SCALAR)
            return SequenceValue(tuple(value for _, value in found.items), found.rest), names
        sequence = self.iterate(state, ir.Const(0, None), first)
        is_named = name.endswith("ModuleDict") and not positional
        return SequenceValue(sequence.items, sequence.rest), SequenceValue() if is_named else None


def _by_field(names: Sequence[str], operands: Sequence[Operand]) -> dict[str | None, Value]:
    """The operands of a record's constructor by the names of its fields."""
    positional = [operand.value for operand in operands if operand.keyword is None and not operand.star]
    found: dict[str | None, Value] = dict(zip(names, positional, strict=False))
    return found | {o.keyword: o.value for o in operands if o.keyword in names}


def _field(owner: ClassValue, statement: ir.Stmt) -> Field | None:
    """The field that a statement of a class body declares."""
    if not isinstance(statement, ir.Assign) or statement.annotation is None:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ir.Name) or _last_name(statement.annotation) == "ClassVar":
        return None
    options: dict[str | None, ir.Expr] = {}
    if isinstance(value, ir.Call) and _last_name(value.function) == "field":
        options = {argument.keyword: argument.value for argument in value.arguments}
        value = options.get("default")
    factory = options.get("default_factory") or options.get("factory")
    return Field(target.id, owner, value is not None, factory, not _is_false(options.get("init")))


def _is_false(expr: ir.Expr | None) -> bool:
    return isinstance(expr, ir.Const) and expr.value is False


def _last_name(expr: ir.Expr) -> str:
    if isinstance(expr, ir.Subscript):
        return _last_name(expr.base)
    return expr.name if isinstance(expr, ir.Attribute) else expr.id if isinstance(expr, ir.Name) else ""
