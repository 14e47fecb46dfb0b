"""Making objects: records, objects of the project's classes, modules of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.containers import Containers
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.objects import MODULE_CONTAINERS
from remat_lint.analysis.state import State
from remat_lint.analysis.summaries import Summaries
from remat_lint.analysis.values import (
    SCALAR,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InstanceObject,
    Reference,
    Unknown,
    Value,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.project import Project


class Construction(Containers):
    """Calls classes."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.summaries = Summaries(self.object_at)
        self._modules: dict[object, Value] = {}

    def construct(self, state: State, node: ir.Expr, klass: ClassValue, operands: Sequence[Operand]) -> Value:
        """``Class(...)``: a NamedTuple, a dataclass, or an object whose ``__init__`` runs.

        Modules that are constructed alike are one object: they differ in their weights only.
        """
        bases = {base.name for base in self.mro(klass) if isinstance(base, External)}
        if bases & {"typing.NamedTuple", "collections.namedtuple"}:
            names = tuple(self.annotated_names(klass))
            by_name = self._by_field(names, operands)
            items = tuple(by_name.get(name, Unknown()) for name in names)
            return SequenceValue(items, fields=names)
        if not any(base.startswith("torch.nn.") for base in bases):
            return self._construct_object(state, node, klass, operands)
        signature = self.summaries.construction(state, klass, operands)
        known = self._modules.get(signature.key) if signature is not None else None
        if known is not None:
            return known
        module = self._construct_object(state, node, klass, operands)
        objects = self.summaries.reachable(state, module)
        if signature is not None and objects is not None:
            self._modules[signature.key] = module
            klass.scope.heap |= objects
        return module

    def _construct_object(
        self, state: State, node: ir.Expr, klass: ClassValue, operands: Sequence[Operand]
    ) -> Reference:
        order = self.mro(klass)
        reference = self.allocate(state, InstanceObject(klass))
        initializer = self.class_attribute(order, "__init__")
        if isinstance(initializer, FunctionValue):
            self.call(state, node, replace(initializer, receiver=reference), operands)
        elif any("dataclass" in self.decorator_name(d) for d in klass.definition.decorators):
            names = tuple(name for one in reversed(order) for name in self.annotated_names(one))
            for name, value in self._by_field(tuple(dict.fromkeys(names)), operands).items():
                self.set_attribute(state, reference, name, value)
        elif operands and (external := next((b for b in order if isinstance(b, External)), None)):
            self.initialize_external(state, reference, external.name, operands)
        return reference

    def decorator_name(self, decorator: ir.Expr) -> str:
        return self._decorator(decorator.function if isinstance(decorator, ir.Call) else decorator)

    def _by_field(self, names: Sequence[str], operands: Sequence[Operand]) -> dict[str, Value]:
        positional = [operand.value for operand in operands if operand.keyword is None]
        found = dict(zip(names, positional, strict=False))
        found |= {o.keyword: o.value for o in operands if o.keyword is not None and o.keyword in names}
        return found

    def annotated_names(self, klass: Value) -> list[str]:
        """The fields that a class body declares with an annotation."""
        if not isinstance(klass, ClassValue):
            return []
        return [
            statement.targets[0].id
            for statement in klass.definition.body
            if isinstance(statement, ir.Assign)
            and statement.annotation is not None
            and isinstance(statement.targets[0], ir.Name)
        ]

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
            state.heap[reference.address] = found.with_attribute("contents", contents)
            return
        operation = torch_ops.module(name)
        parameters = operation.constructor if operation is not None else ()
        given = [
            (operand.keyword or (parameters[index] if index < len(parameters) else ""), operand.value)
            for index, operand in enumerate(operands)
        ]
        state.heap[reference.address] = replace(found, arguments=tuple(given))

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
                return SequenceValue(tuple(positional)), None
        first = positional[0] if positional else SequenceValue()
        found = self.object_at(state, first) if isinstance(first, Reference) else None
        if isinstance(found, DictObject):
            names = SequenceValue(tuple(Constant(key) for key, _ in found.items), found.rest and SCALAR)
            return SequenceValue(tuple(value for _, value in found.items), found.rest), names
        sequence = self.iterate(state, ir.Const(0, None), first)
        return SequenceValue(sequence.items, sequence.rest), None
