"""Attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import reduce

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.facts import Kept, OutsideRegion
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.operations import RESULT_FIELDS
from remat_lint.analysis.parametrizations import registered
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    NONE,
    SCALAR,
    USED_UP,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    Made,
    Method,
    ModuleValue,
    Namespace,
    Partial,
    Reference,
    RegionWrapper,
    Source,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    as_setting,
    holds_object,
    is_blank,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.wrappers import Wrappers
from remat_lint.findings import Place
from remat_lint.project import Project

_ANY_NAME = "*"

FROZEN = " frozen"
"""The attribute that says of a module that its parameters need no gradients."""

MAX_HEIRS = 4
"""Subclasses that an object of an abstract class may be of; a value has no more alternatives."""


class Objects(Wrappers):
    """Follows values into objects."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._orders: dict[ClassValue, list[Value]] = {}
        self.replaced_methods: dict[tuple[ClassValue, str], None] = {}
        """The methods that code under analysis replaced by other functions, and their classes."""
        self.parametrized: set[str] = set()
        """The names of tensors that a module has which are read through other modules."""

    # --- classes

    def mro(self, klass: Value) -> list[Value]:
        """The class and what it inherits from, in the order in which attributes are looked up (C3)."""
        if not isinstance(klass, ClassValue):
            return [klass]
        if klass not in self._orders:
            self._orders[klass] = self._linearized(klass)
        return self._orders[klass]

    def _linearized(self, klass: ClassValue) -> list[Value]:
        queues = [self.mro(base) for base in klass.bases] + [list(klass.bases)]
        order: list[Value] = [klass]
        while queues := [queue for queue in queues if queue]:
            for queue in queues:
                head = queue[0]
                if not any(head in other[1:] for other in queues):
                    break
            else:  # no consistent order: Python would refuse the class
                head = queues[0][0]
            order.append(head)
            queues = [[value for value in queue if value != head] for queue in queues]
        return order

    def class_attribute(self, order: Sequence[Value], name: str) -> Value | None:
        """What the first class of an order that defines a name defines it as."""
        for klass in order:
            found = self.class_names(klass).get(name) if isinstance(klass, ClassValue) else None
            if found is not None:
                return found
        return None

    def class_names(self, klass: ClassValue) -> dict[str, Value]:
        raise NotImplementedError

    def is_record(self, klass: Value) -> bool:
        raise NotImplementedError

    def class_of(self, state: State, value: Value) -> Value:
        """``type(value)``, where it is known not to be a subclass."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if not isinstance(value, Reference) or not isinstance(found, InstanceObject):
            return SCALAR
        return found.klass if value.address not in self.open else Unknown()

    def declared_attribute(self, state: State, receiver: Value, order: Sequence[Value], name: str) -> Value:
        raise NotImplementedError

    def concrete(self, klass: ClassValue) -> list[ClassValue]:
        """The class, or, if it leaves ``forward`` to them, the subclasses beside it and in this file."""
        order = self.mro(klass)
        is_module = any(isinstance(one, External) and one.name == "torch.nn.Module" for one in order)
        if not is_module or not self._leaves_forward(order):
            return [klass]
        heirs = [one for one in self.subclasses_here(klass) if not self._leaves_forward(self.mro(one))]
        return heirs[:MAX_HEIRS] or [klass]

    def subclasses_here(self, klass: ClassValue) -> list[ClassValue]:
        """The subclasses of a class beside it and in the running file."""
        scopes = dict.fromkeys((klass.scope, self.frame.scope))
        values = (value for scope in scopes for value in scope.names.values())
        classes = dict.fromkeys(value for value in values if isinstance(value, ClassValue))
        return [one for one in classes if klass in self.mro(one)[1:]]

    def _leaves_forward(self, order: Sequence[Value]) -> bool:
        forward = self.class_attribute(order, "forward")
        if isinstance(forward, FunctionValue):
            return forward.definition.is_left_to_subclasses
        return forward is None and not any(
            isinstance(one, External) and one.name.startswith("torch.nn.") and one.name != "torch.nn.Module"
            for one in order
        )

    # --- attributes

    def attribute_of(self, state: State, node: ir.Expr, base: Value, name: str) -> Value:
        """``base.name``."""
        match base:
            case Choice(alternatives=values):
                found = [value for value in values if value != Constant(None)] or list(values)
                return reduce(join, [self.attribute_of(state, node, one, name) for one in found])
            case Reference():
                return self._object_attribute(state, node, base, name)
            case Tensor():
                return self._tensor_attribute(state, node, base, name)
            case SequenceValue(fields=fields) if name in fields and fields.index(name) < len(base.items):
                return base.items[fields.index(name)]
            case External(name=module):
                return External(f"{module}.{name}")
            case ModuleValue(scope=scope):
                return self.module_attribute(scope, name)
            case Namespace():
                return self.namespace_attribute(base, name)
            case ClassValue():
                return self._static_attribute(base, name)
            case Super(owner=owner, receiver=receiver):
                return self._super_attribute(state, owner, receiver, name)
            case Source():
                return self.attribute_of_source(state, base, name)
            case Unknown():
                return self._unknown_attribute(state, node, base, name)
            case _:
                return Method(base, name)

    def special_method(self, state: State, value: Value, name: str) -> FunctionValue | None:
        """The method of the project that Python calls on an object for an operator, builtin or statement."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if not isinstance(found, InstanceObject) or not isinstance(found.klass, ClassValue):
            return None
        method = self.class_attribute(self.mro(found.klass), name)
        return replace(method, receiver=value) if isinstance(method, FunctionValue) else None

    def call_special(
        self, state: State, node: ir.Node, value: Value, name: str, operands: Sequence[Operand] = ()
    ) -> Value | None:
        """What such a method returns, called for a node; None where no class of the project has it."""
        method = self.special_method(state, value, name)
        if method is None:
            return None
        return self.call(
            state, node if isinstance(node, ir.Expr) else ir.Const(node.at, None), method, operands
        )

    def call_special_of(self, state: State, node: ir.Node, value: Value, names: Sequence[str]) -> None:
        """Call the first of such methods that an object has."""
        for name in names:
            if self.call_special(state, node, value, name) is not None:
                return

    def module_attribute(self, scope: ModuleScope, name: str) -> Value:
        """A global or submodule of a module of the project."""
        raise NotImplementedError

    def namespace_attribute(self, folder: Namespace, name: str) -> Value:
        """A module of a folder of the project."""
        raise NotImplementedError

    def _unknown_attribute(self, state: State, node: ir.Expr, base: Unknown, name: str) -> Value:
        operation = torch_ops.attribute(name)
        if base.held or operation is None:
            return Unknown(base.held)
        return self.apply(state, node, operation, Operand(base), ())

    def _tensor_attribute(self, state: State, node: ir.Expr, base: Tensor, name: str) -> Value:
        operation = torch_ops.attribute(name)
        if operation is not None:
            return self.apply(state, node, operation, Operand(base), ())
        if base.opaque and base.token is not None and name in RESULT_FIELDS:
            return self.part_of(state, base, f"[{RESULT_FIELDS.index(name)}]")
        if torch_ops.method(name) is not None:
            return Method(base, name)
        if base.opaque and base.token is not None:
            return self.part_of(state, base, f".{name}")
        return Unknown()

    def _object_attribute(self, state: State, node: ir.Expr, base: Reference, name: str) -> Value:
        found = self.object_at(state, base)
        if not isinstance(found, InstanceObject):
            return Method(base, name)
        if name == "__class__":
            return self.class_of(state, base)
        if name == "__dict__":
            return self.attributes_of(base)
        if name in self.parametrized:
            return self._read_through(state, node, base, found, name)
        return self._plain_attribute(state, node, base, found, name)

    def _read_through(
        self, state: State, node: ir.Expr, base: Reference, found: InstanceObject, name: str
    ) -> Value:
        """A tensor of a module that others compute anew whenever it is read."""
        value = self._plain_attribute(state, node, base, found, name)
        for _, part in (one for one in registered(found) if one[0] == name):
            value = self.call(state, node, part, [Operand(value)])
        return value

    def _plain_attribute(
        self, state: State, node: ir.Expr, base: Reference, found: InstanceObject, name: str
    ) -> Value:
        own = found.get(name)
        if own is not None:
            return self._own_attribute(state, base, found, own, name)
        order = self.mro(found.klass)
        if name == "training" and self.replaying and self._has_mode(found.klass, order):
            return Constant(True)  # backward replays: nobody runs it in evaluation
        return self._inherited(state, node, base, found.klass, order, name)

    def _has_mode(self, klass: Value, order: Sequence[Value]) -> bool:
        """Whether only ``train()`` and ``eval()`` set ``training`` of such objects: they are modules."""
        is_derived = any(isinstance(one, External) for one in order)
        is_own = self.is_record(klass) or self.class_attribute(order, "training") is not None
        return is_derived and not is_own and "training" not in self.frame.watch.changed

    def _own_attribute(
        self, state: State, base: Reference, found: InstanceObject, own: Value, name: str
    ) -> Value:
        """What an object holds under a name; nothing that matters may be less than what is declared."""
        if base.address in self.elements:  # its parts are as many as it is
            parts = {self.number_of(one) for one in alternatives(own) if isinstance(one, (Reference, Tensor))}
            self.elements |= parts - self.shared
        if own == NONE or is_blank(own):
            declared = self.declared_attribute(state, base, self.mro(found.klass), name)
            if holds_object(declared):
                return join(declared, NONE)
        if name == "training":  # it is no setting, but was set
            return own
        is_known = self.is_known_part(base, name)
        if isinstance(own, Constant) and self.is_record(found.klass):
            return as_setting(own) if is_known else SCALAR
        return self.as_configured(own, is_known=is_known)

    def is_known_part(self, holder: Value, name: str) -> bool:
        """Whether a constant that an object or class holds is that in the program at hand.

        An object that nobody constructed may hold anything, and what code changes is another one at times.
        """
        is_open = isinstance(holder, Reference) and holder.address in self.open
        return not is_open and name not in self.frame.watch.changed

    def as_configured(self, value: Value, *, is_known: bool) -> Value:
        """A constant attribute may be another one in the next run; a string, mostly a name, stays.

        An empty string is a name that somebody will set.
        """
        if isinstance(value, Constant) and not (isinstance(value.value, str) and value.value):
            if is_known:
                return as_setting(value)
            return Unknown() if value.value is None else SCALAR
        if not isinstance(value, SequenceValue) or value.kind in USED_UP:
            return value
        return Unknown() if all(isinstance(item, Constant) for item in value.items) else value

    def _inherited(
        self, state: State, node: ir.Expr, receiver: Value, klass: Value, order: Sequence[Value], name: str
    ) -> Value:
        found = self.class_attribute(order, name)
        if found is None or found == NONE or is_blank(found):
            computed = self._under_computed_name(state, receiver, name) if found is None else None
            if computed is not None:
                return computed
            declared = self.declared_attribute(state, receiver, order, name)
            if holds_object(declared):
                return declared
        if found is None and name == "_modules":
            return self._modules_of(state, receiver)
        if found is None:
            base = next((one.name for one in order if isinstance(one, External)), None)
            if base is None:
                return Unknown()
            weight = _weight_of(base, name)
            is_frozen = isinstance(weight, Tensor) and self._is_frozen(state, receiver)
            return Tensor(grad=False) if is_frozen else weight or InheritedMethod(receiver, base, name)
        if isinstance(found, Constant) and self.is_record(klass):
            if self.is_known_part(receiver, name):
                return as_setting(found)
            return SCALAR if found.value is not None else Unknown()
        if not isinstance(found, (FunctionValue, Partial, CheckpointWrapper)):
            return self.as_configured(found, is_known=self.is_known_part(receiver, name))
        return self._bind(state, node, receiver, klass, found)

    def _is_frozen(self, state: State, receiver: Value) -> bool:
        found = self.object_at(state, receiver) if isinstance(receiver, Reference) else None
        return isinstance(found, InstanceObject) and found.get(FROZEN) == Constant(True)

    def _modules_of(self, state: State, receiver: Value) -> Value:
        found = self.object_at(state, receiver) if isinstance(receiver, Reference) else None
        if not isinstance(found, InstanceObject):
            return Unknown()
        return self.allocate(state, DictObject(*self.children_in(state, found)))

    def children_in(
        self, state: State, found: InstanceObject
    ) -> tuple[tuple[tuple[object, Value], ...], Value | None]:
        """The modules that a module holds, by name, and what it holds under any other name."""
        contents = found.get(CONTENTS)
        if isinstance(contents, SequenceValue):
            names = dict(found.arguments).get("keys")
            keys = names.items if isinstance(names, SequenceValue) else ()
            named = [key.value for key in keys if isinstance(key, Constant)] or map(
                str, range(len(contents.items))
            )
            return tuple(zip(named, contents.items, strict=False)), contents.rest
        held = [
            (name, value)
            for name, value in found.attributes
            if any(self.is_module_object(state, one) for one in alternatives(value))
        ]
        sure = tuple((name, value) for name, value in held if _ANY_NAME not in name)
        others = [value for name, value in held if _ANY_NAME in name] or ([] if held else [Unknown()])
        return sure, reduce(join, others) if others else None

    def is_module_object(self, state: State, value: Value) -> bool:
        """Whether a value is a module, or a container of modules, of ``torch.nn``."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        order = self.mro(found.klass) if isinstance(found, InstanceObject) else []
        return any(isinstance(one, External) and one.name.startswith("torch.nn.") for one in order)

    def _under_computed_name(self, state: State, receiver: Value, name: str) -> Value | None:
        """What ``setattr(self, f"layer{i}", ...)`` left under a name such as ``layer0``."""
        found = self.object_at(state, receiver) if isinstance(receiver, Reference) else None
        attributes = found.attributes if isinstance(found, InstanceObject) else ()
        known = [
            value
            for key, value in attributes
            if _ANY_NAME in key and key != _ANY_NAME and fnmatchcase(name, key)
        ]
        return reduce(join, known) if known else None

    def _bind(self, state: State, node: ir.Expr, receiver: Value, klass: Value, value: Value) -> Value:
        if isinstance(value, Partial) and value.is_method:
            return replace(value, positional=(receiver, *value.positional), is_method=False)
        if isinstance(value, CheckpointWrapper) and isinstance(value.function, FunctionValue):
            return replace(value, function=self._bind(state, node, receiver, klass, value.function))
        if not isinstance(value, FunctionValue):
            return value
        kinds = {self._decorator(decorator) for decorator in value.definition.decorators}
        if "staticmethod" in kinds:
            return value
        bound = replace(value, receiver=klass if "classmethod" in kinds else receiver)
        if kinds & {"property", "cached_property", "functools.cached_property"}:
            return self.call(state, node, bound, ())
        return bound

    def _decorator(self, decorator: ir.Expr) -> str:
        if isinstance(decorator, ir.Name):
            return decorator.id
        if isinstance(decorator, ir.Attribute) and isinstance(decorator.base, ir.Name):
            return f"{decorator.base.id}.{decorator.name}"
        return ""

    def _static_attribute(self, klass: ClassValue, name: str) -> Value:
        found = self.class_attribute(self.mro(klass), name)
        if found is None:
            return self.attributes_of(klass) if name == "__dict__" else Method(klass, name)
        if isinstance(found, FunctionValue):
            kinds = {self._decorator(decorator) for decorator in found.definition.decorators}
            return replace(found, receiver=klass) if "classmethod" in kinds else found
        return self.as_configured(found, is_known=self.is_known_part(klass, name))

    def _super_attribute(self, state: State, owner: ClassValue, receiver: Value, name: str) -> Value:
        klass: Value = owner
        if isinstance(receiver, Reference):
            found = self.object_at(state, receiver)
            klass = found.klass if isinstance(found, InstanceObject) else owner
        elif isinstance(receiver, ClassValue):  # in a class method
            klass = receiver
        order = self.mro(klass)
        if owner in order:
            order = order[order.index(owner) + 1 :]
        node = ir.Const(0, None)
        return self._inherited(state, node, receiver, klass, order, name)

    def set_named(self, state: State, base: Value, name: Operand, value: Value) -> None:
        """``setattr(base, name, value)``; a computed name stands for all that it may be."""
        if isinstance(name.value, Constant) and isinstance(name.value.value, str):
            self.set_attribute(state, base, name.value.value, value)
            return
        pattern = _name_pattern(name)
        for one in alternatives(base):
            found = self.object_at(state, one) if isinstance(one, Reference) else None
            if isinstance(one, Reference) and isinstance(found, InstanceObject):
                known = found.get(pattern)
                joined = value if known is None else join(known, value)
                changed = self._with_part(state, found, pattern, value)
                state.heap[one.address] = changed.with_attribute(pattern, joined)

    def get_named(self, state: State, node: ir.Expr, base: Value, name: Operand) -> Value:
        """``getattr(base, name)``."""
        if isinstance(name.value, Constant) and isinstance(name.value.value, str):
            return self.attribute_of(state, node, base, name.value.value)
        found = self.object_at(state, base) if isinstance(base, Reference) else None
        if isinstance(found, InstanceObject):
            pattern = _name_pattern(name)
            known = [value for key, value in found.attributes if key == pattern or fnmatchcase(key, pattern)]
            if known and pattern != _ANY_NAME:
                return reduce(join, known)
            computed = [value for key, value in found.attributes if _ANY_NAME in key]
            if computed:
                return reduce(join, computed)
        return Unknown(frozenset(state.tokens(base)))

    def set_attribute(self, state: State, base: Value, name: str, value: Value) -> None:
        """``base.name = value``."""
        state.forget("", name)
        if name == "forward" and self.frame.statement is not None and _may_checkpoint(value):
            self.note_wrapped(state, self.place(self.frame.statement), value)
        for one in alternatives(base):
            if name == "forward" and isinstance(one, Unknown) and one.origin in self.picked:
                self._note_outside(value)
            if isinstance(one, Source):
                self.set_attribute_of_source(state, one, name, value)
            if isinstance(one, ClassValue):
                self._set_method(one, name, value)
            found = self.object_at(state, one) if isinstance(one, Reference) else None
            if not isinstance(one, Reference) or not isinstance(found, InstanceObject):
                self.escape(state, value)
            elif not self._differs_among_equals(one, found, value):
                changed = self._with_part(state, found, name, value)
                state.heap[one.address] = changed.with_attribute(name, value)

    def _with_part(self, state: State, found: InstanceObject, name: str, value: Value) -> InstanceObject:
        """A container of modules with what is set as its attribute: that is a part like any other."""
        held, before = found.get(CONTENTS), found.get(name)
        is_module = any(self.is_module_object(state, one) for one in alternatives(value))
        if not isinstance(held, SequenceValue) or not is_module:
            return found
        if before in held.items:
            items = tuple(value if one == before else one for one in held.items)
            return found.with_attribute(CONTENTS, replace(held, items=items))
        return with_module(found, held, Constant(name) if _ANY_NAME not in name else None, value)

    def _set_method(self, klass: ClassValue, name: str, value: Value) -> None:
        """``Class.name = function``: what a module does as it is loaded holds for whoever uses the class.

        So does a checkpoint, whoever applies it: one that is applied again is the same.
        """
        *_, outermost = self.active_frames()
        is_loading = outermost.kind == "module" and isinstance(value, FunctionValue)
        if is_loading or isinstance(value, CheckpointWrapper):
            self.class_names(klass)[name] = value
            if self.is_led_here():
                self.replaced_methods[klass, name] = None
        elif isinstance(value, Constant):  # nobody knows who looked at it before
            found = self.class_attribute(self.mro(klass), name)
            if found is not None:
                self.class_names(klass)[name] = join(found, value)

    def _note_outside(self, forward: Value) -> None:
        """A region is put around a module whose consumers nobody can know."""
        for one in alternatives(forward):
            if isinstance(one, RegionWrapper) and one.kept is not Kept.RECOMPUTE:
                statement, path = self.frame.statement, self.frame.scope.source.path
                elsewhere = one.place.path != path and statement is not None
                place = Place(path, statement.at) if elsewhere and statement is not None else one.place
                self.journal.note(OutsideRegion(place, one.name.text, one.kept))

    def _differs_among_equals(self, base: Reference, found: InstanceObject, value: Value) -> bool:
        """Whether a module is told from outside what it alone is called: modules made alike are one here."""
        if not isinstance(value, Constant) or not isinstance(value.value, str):
            return False
        order = self.mro(found.klass)
        is_module = any(isinstance(one, External) and one.name.startswith("torch.nn.") for one in order)
        frame = self.frame
        handed = frame.operands[0].value if frame.owner is not None and frame.operands else frame.receiver
        return is_module and base != handed


def with_module(
    found: InstanceObject, contents: SequenceValue, key: Value | None, module: Value
) -> InstanceObject:
    """A container of modules with one more, or another one under a name or number that it has."""
    names = dict(found.arguments).get("keys")
    keys = (
        names.items if isinstance(names, SequenceValue) else tuple(map(Constant, range(len(contents.items))))
    )
    if key in keys:
        items = list(contents.items)
        items[keys.index(key)] = module
        return found.with_attribute(CONTENTS, replace(contents, items=tuple(items)))
    if contents.rest is None and not isinstance(names, SequenceValue):
        return found.with_attribute(CONTENTS, SequenceValue((*contents.items, module)))
    if contents.rest is None and isinstance(key, Constant):
        found = replace(found, arguments=(("keys", SequenceValue((*keys, key))),))
        return found.with_attribute(CONTENTS, SequenceValue((*contents.items, module)))
    rest = module if contents.rest is None else join(contents.rest, module)
    if isinstance(names, SequenceValue):
        found = replace(found, arguments=(("keys", SequenceValue(keys, SCALAR)),))
    return found.with_attribute(CONTENTS, SequenceValue(contents.items, rest))


def _weight_of(module: str, name: str) -> Value | None:
    """A parameter of a module of torch: some have none under a name, if they are told so."""
    if name not in ("weight", "bias") or torch_ops.module(module) is None:
        return None
    parameter = Tensor(made=Made.LEAF)
    is_sure = name == "weight" and module.rpartition(".")[2] in _WEIGHTED
    return parameter if is_sure else Choice((parameter, NONE))


_WEIGHTED = frozenset(
    ["Linear", "Bilinear", "Embedding", "EmbeddingBag"]
    + [f"Conv{way}{number}d" for way in ("", "Transpose") for number in (1, 2, 3)]
)
"""Modules that always have a weight."""


def _may_checkpoint(value: Value) -> bool:
    """Whether what takes the place of a ``forward`` is a function that was made around another one."""
    if isinstance(value, FunctionValue):
        return value.frame != value.scope.frame
    return isinstance(value, Partial)


def _name_pattern(name: Operand) -> str:
    """The names that a computed name can be, as a pattern: ``layer*`` for an f-string."""
    expr = name.expr
    return expr.template.replace("{}", _ANY_NAME) if isinstance(expr, ir.Format) else _ANY_NAME
