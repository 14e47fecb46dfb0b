"""Attributes, items, iteration and unpacking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import reduce

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.operations import RESULT_FIELDS, Bound
from remat_lint.analysis.regions import Regions
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Choice,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    ListObject,
    Method,
    ModuleValue,
    Reference,
    Scalar,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    direct_tokens,
    holds_object,
    is_blank,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue

_ANY_ITEM = "[...]"
_ANY_NAME = "*"
MODULE_CONTAINERS = (
    "torch.nn.ModuleList",
    "torch.nn.Sequential",
    "torch.nn.ModuleDict",
    "torch.nn.ParameterList",
)


class Objects(Regions):
    """Follows values into objects and containers."""

    # --- classes

    def mro(self, klass: Value) -> list[Value]:
        """The class and what it inherits from, in the order in which attributes are looked up (C3)."""
        if not isinstance(klass, ClassValue):
            return [klass]
        known = self.orders.get(klass)
        if known is None:
            known = self.orders[klass] = self._linearised(klass)
        return known

    def _linearised(self, klass: ClassValue) -> list[Value]:
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

    def declared_attribute(self, state: State, receiver: Value, order: Sequence[Value], name: str) -> Value:
        raise NotImplementedError

    # --- attributes

    def attribute_of(self, state: State, node: ir.Expr, base: Value, name: str) -> Value:
        """``base.name``."""
        match base:
            case Choice(alternatives=values):
                found = [value for value in values if value != Constant(None)] or list(values)
                joined = self.attribute_of(state, node, found[0], name)
                for other in found[1:]:
                    joined = join(joined, self.attribute_of(state, node, other, name))
                return joined
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
            case ClassValue():
                return self._static_attribute(base, name)
            case Super(owner=owner, receiver=receiver):
                return self._super_attribute(state, owner, receiver, name)
            case Unknown(held=held):
                return Unknown(held) if held else self._unknown_attribute(state, node, base, name)
            case _:
                return Method(base, name)

    def module_attribute(self, scope: ModuleScope, name: str) -> Value:
        """A global or submodule of a module of the project."""
        raise NotImplementedError

    def _unknown_attribute(self, state: State, node: ir.Expr, base: Unknown, name: str) -> Value:
        operation = torch_ops.attribute(name)
        if operation is None:
            return Unknown()
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
        own = found.get(name)
        if base.address in self.elements and own is not None:  # its parts are as many as it is
            self.elements |= {one.address for one in alternatives(own) if isinstance(one, Reference)}
        if own == NONE or (own is not None and is_blank(own)):
            declared = self.declared_attribute(state, base, self.mro(found.klass), name)
            return join(declared, NONE) if holds_object(declared) else _as_configured(own)
        if own is not None:
            return (
                SCALAR if isinstance(own, Constant) and self.is_record(found.klass) else _as_configured(own)
            )
        return self._inherited(state, node, base, found.klass, self.mro(found.klass), name)

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
        if found is None:
            base = next((one.name for one in order if isinstance(one, External)), None)
            return InheritedMethod(receiver, base, name) if base is not None else Unknown()
        if isinstance(found, Constant) and self.is_record(klass):
            return SCALAR if found.value is not None else Unknown()
        return self._bind(state, node, receiver, klass, found)

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
        if not isinstance(value, FunctionValue):
            return _as_configured(value)
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
            return Method(klass, name)
        if isinstance(found, FunctionValue):
            kinds = {self._decorator(decorator) for decorator in found.definition.decorators}
            return replace(found, receiver=klass) if "classmethod" in kinds else found
        return _as_configured(found)

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
                state.heap[one.address] = found.with_attribute(pattern, joined)

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
        for one in alternatives(base):
            found = self.object_at(state, one) if isinstance(one, Reference) else None
            if isinstance(one, Reference) and isinstance(found, InstanceObject):
                state.heap[one.address] = found.with_attribute(name, value)
            else:
                self.escape(state, value)

    # --- items

    def item_of(self, state: State, node: ir.Expr, base: Value, indices: Sequence[Operand]) -> Value:
        """``base[indices]``."""
        match base:
            case Choice(alternatives=values):
                joined = self.item_of(state, node, values[0], indices)
                for other in values[1:]:
                    joined = join(joined, self.item_of(state, node, other, indices))
                return joined
            case Tensor():
                return self._tensor_item(state, node, base, indices)
            case SequenceValue(items=items, rest=rest):
                return self._sequence_item(items, rest, indices)
            case Reference():
                return self._object_item(state, node, base, indices)
            case Unknown(held=held):
                self.read(state, node, indices)
                return Unknown(held, self.fresh())
            case ClassValue() | External():
                return base  # a generic alias
            case Scalar() | Constant():
                return SCALAR
            case _:
                self.read(state, node, indices)
                return Unknown(frozenset(state.tokens(base)))

    def _tensor_item(self, state: State, node: ir.Expr, base: Tensor, indices: Sequence[Operand]) -> Value:
        self.read(state, node, indices)  # an index that is a region output is read
        single = len(indices) == 1 and not isinstance(indices[0].expr, ir.Slice)
        only = indices[0].value if single else None
        if base.opaque and base.token is not None and isinstance(only, Constant) and _is_int(only.value):
            return self.part_of(state, base, f"[{only.value}]")
        if base.opaque and base.token is not None and isinstance(only, Scalar):
            return self.part_of(state, base, _ANY_ITEM)
        certain = not any(isinstance(index.value, Unknown) for index in indices)
        if all(_is_basic_index(index) for index in indices):
            view = self.view(node, base, None, Bound(()))
            assert isinstance(view, Tensor)
            return view if _keeps_contiguity(indices) else replace(view, layout=(*view.layout, "slice"))
        self.read(state, node, [Operand(base, getattr(node, "base", None))], certain=certain)
        return Tensor(storage=self.fresh(), grad=False if base.grad is False else None)

    def _sequence_item(
        self, items: tuple[Value, ...], rest: Value | None, indices: Sequence[Operand]
    ) -> Value:
        index = indices[0]
        if isinstance(index.expr, ir.Slice):
            bounds = _slice_bounds(index.expr)
            if bounds is not None and rest is None:
                return SequenceValue(items[bounds])
            return SequenceValue(rest=_join_items(items, rest))
        if isinstance(index.value, Constant) and isinstance(index.value.value, int):
            number = index.value.value
            if rest is None and -len(items) <= number < len(items):
                return items[number]
            if 0 <= number < len(items):
                return items[number]
            if rest is not None:
                return rest
        return _join_items(items, rest)

    def _object_item(self, state: State, node: ir.Expr, base: Reference, indices: Sequence[Operand]) -> Value:
        found = self.object_at(state, base)
        match found:
            case ListObject(items=items, rest=rest):
                item = self._sequence_item(items, rest, indices)
                if isinstance(indices[0].expr, ir.Slice) and isinstance(item, SequenceValue):
                    return self.allocate(state, ListObject(item.items, item.rest))
                return item
            case DictObject(items=pairs, rest=rest):
                key = indices[0].value
                if isinstance(key, Constant):
                    known = dict(pairs).get(key.value) if _is_hashable(key.value) else None
                    return known if known is not None else (rest or Unknown())
                return _join_items(tuple(value for _, value in pairs), rest)
            case InstanceObject(klass=External(name=name)) if name in MODULE_CONTAINERS:
                return self._container_item(found, indices)
            case InstanceObject():
                getter = self._object_attribute(state, node, base, "__getitem__")
                if isinstance(getter, FunctionValue):
                    return self.call(state, node, getter, indices)
                return Unknown()
            case _:
                return Unknown()

    def _container_item(self, found: InstanceObject, indices: Sequence[Operand]) -> Value:
        contents = found.get("contents") or Unknown()
        if isinstance(contents, SequenceValue):
            names = dict(found.arguments).get("keys")
            key = indices[0].value
            if isinstance(names, SequenceValue) and isinstance(key, Constant):
                known = dict(zip((n for n in names.items), contents.items, strict=False)).get(key)
                if known is not None:
                    return known
                return _join_items(contents.items, contents.rest)
            return self._sequence_item(contents.items, contents.rest, indices)
        return Unknown()

    def set_item(
        self, state: State, node: ir.Node, base: Operand, indices: Sequence[Operand], value: Operand
    ) -> None:
        """``base[indices] = value``."""
        for one in alternatives(base.value):
            if isinstance(one, Reference):
                self._set_object_item(state, one, indices, value.value)
            elif isinstance(one, (Tensor, Unknown)):
                self.write(state, node, replace(base, value=one))
                if isinstance(one, Unknown):
                    self.escape(state, value.value)
                if isinstance(one, Tensor) or one.computed or _is_tensor_like(indices):
                    self.read(state, node, [value, *indices])

    def _set_object_item(
        self, state: State, base: Reference, indices: Sequence[Operand], value: Value
    ) -> None:
        found = self.object_at(state, base)
        key = indices[0].value if len(indices) == 1 else None
        if isinstance(found, DictObject):
            if isinstance(key, Constant) and _is_hashable(key.value):
                items = {**dict(found.items), key.value: value}
                state.heap[base.address] = DictObject(tuple(items.items()), found.rest)
            else:
                rest = value if found.rest is None else join(found.rest, value)
                state.heap[base.address] = DictObject(found.items, rest)
        elif isinstance(found, ListObject):
            number = key.value if isinstance(key, Constant) else None
            if isinstance(number, int) and -len(found.items) <= number < len(found.items):
                changed = list(found.items)
                changed[number] = value
                state.heap[base.address] = ListObject(tuple(changed), found.rest)
            else:
                rest = value if found.rest is None else join(found.rest, value)
                state.heap[base.address] = ListObject(found.items, rest)
        elif isinstance(found, InstanceObject) and isinstance(
            contents := found.get("contents"), SequenceValue
        ):
            self.elements |= {one.address for one in alternatives(value) if isinstance(one, Reference)}
            state.heap[base.address] = _with_module(found, contents, key, value)

    # --- iteration and unpacking

    def iterate(self, state: State, node: ir.Node, value: Value) -> SequenceValue:
        """What a loop over the value sees, as a sequence."""
        match value:
            case SequenceValue():
                return value
            case Tensor(token=token) if token is not None and value.opaque:
                return SequenceValue(
                    (self.part_of(state, value, "[0]"),), self.part_of(state, value, _ANY_ITEM)
                )
            case Tensor():
                expr = node if isinstance(node, ir.Expr) else ir.Const(node.at, None)
                row = self.view(expr, value, None, Bound(()))
                return SequenceValue((row,), row)  # a tensor without rows has no data to read
            case Reference():
                return self._iterate_object(state, value)
            case Choice(alternatives=values):
                sequences = [self.iterate(state, node, one) for one in values if one != Constant(None)]
                rest: Value | None = None
                for one in sequences:
                    joined = _join_items(one.items, one.rest)
                    rest = joined if rest is None else join(rest, joined)
                return sequences[0] if len(sequences) == 1 else SequenceValue(rest=rest or Unknown())
            case Scalar() | Constant():
                return SequenceValue(rest=SCALAR)
            case _:
                return SequenceValue(rest=Unknown(frozenset(direct_tokens(value))))

    def _iterate_object(self, state: State, value: Reference) -> SequenceValue:
        found = self.object_at(state, value)
        if isinstance(found, ListObject):
            return SequenceValue(found.items, found.rest)
        if isinstance(found, DictObject):
            return SequenceValue(tuple(Constant(key) for key, _ in found.items), found.rest and SCALAR)
        if isinstance(found, InstanceObject):
            contents = found.get("contents")
            names = dict(found.arguments).get("keys")
            if isinstance(names, SequenceValue):
                return names
            if isinstance(contents, SequenceValue):
                return contents
        return SequenceValue(rest=Unknown())

    def unpack(
        self, state: State, node: ir.Node, value: Value, targets: Sequence[ir.Expr]
    ) -> Iterator[Value]:
        """The values that the targets of ``a, *b, c = value`` get, a list for the starred one."""
        if isinstance(value, Tensor) and value.opaque and value.token is not None:
            yield from self._unpack_opaque(state, value, targets)
            return
        sequence = self.iterate(state, node, value)
        star = next((i for i, target in enumerate(targets) if isinstance(target, ir.Starred)), None)
        items, rest = sequence.items, sequence.rest
        for index in range(len(targets)):
            if index == star:
                after = len(targets) - index - 1
                middle = items[index : len(items) - after] if rest is None else items[index:]
                yield self.allocate(state, ListObject(middle, rest))
            elif star is not None and index > star and rest is None:
                position = len(items) - (len(targets) - index)
                yield items[position] if 0 <= position < len(items) else Unknown()
            elif index < len(items):
                yield items[index]
            else:
                yield rest if rest is not None else Unknown()

    def _unpack_opaque(self, state: State, value: Tensor, targets: Sequence[ir.Expr]) -> Iterator[Value]:
        for index, target in enumerate(targets):
            if isinstance(target, ir.Starred):
                parts = tuple(self.part_of(state, value, f"[{index + i}]") for i in range(2))
                yield self.allocate(state, ListObject(parts, self.part_of(state, value, _ANY_ITEM)))
            else:
                yield self.part_of(state, value, f"[{index}]")


def _name_pattern(name: Operand) -> str:
    """The names that a computed name can be, as a pattern: ``layer*`` for an f-string."""
    expr = name.expr
    return expr.template.replace("{}", _ANY_NAME) if isinstance(expr, ir.Format) else _ANY_NAME


def _with_module(
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
        return found.with_attribute("contents", replace(contents, items=tuple(items)))
    if contents.rest is None and not isinstance(names, SequenceValue):
        return found.with_attribute("contents", SequenceValue((*contents.items, module)))
    if contents.rest is None and isinstance(key, Constant):
        found = replace(found, arguments=(("keys", SequenceValue((*keys, key))),))
        return found.with_attribute("contents", SequenceValue((*contents.items, module)))
    rest = module if contents.rest is None else join(contents.rest, module)
    found = replace(found, arguments=(("keys", SequenceValue(keys, SCALAR)),))
    return found.with_attribute("contents", SequenceValue(contents.items, rest))


def _join_items(items: tuple[Value, ...], rest: Value | None) -> Value:
    joined = rest
    for item in items:
        joined = item if joined is None else join(joined, item)
    return joined if joined is not None else Unknown()


def _as_configured(value: Value) -> Value:
    """A constant attribute may be another one in the next run; a string, mostly a name, is taken as it is."""
    if isinstance(value, Constant) and not isinstance(value.value, str):
        return Unknown() if value.value is None else SCALAR
    if isinstance(value, SequenceValue) and all(isinstance(item, Constant) for item in value.items):
        return Unknown()
    return value


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_hashable(value: object) -> bool:
    return isinstance(value, (str, int, float, bytes, bool, tuple, type(None), type(...)))


def _is_basic_index(index: Operand) -> bool:
    """Whether an index selects without copying: numbers, slices, ``None`` and ``...``."""
    if isinstance(index.expr, ir.Slice):
        return True
    if isinstance(index.value, Constant):
        return not isinstance(index.value.value, bool)
    if isinstance(index.value, Scalar):
        return True
    return isinstance(index.expr, ir.Call) and _is_single_number_tensor(index.expr)


def _is_single_number_tensor(call: ir.Call) -> bool:
    """``torch.tensor(1)``: an integer tensor without dimensions selects like a number."""
    function = call.function
    return (
        isinstance(function, ir.Attribute)
        and function.name == "tensor"
        and len(call.arguments) == 1
        and isinstance(call.arguments[0].value, ir.Const)
        and _is_int(call.arguments[0].value.value)
    )


def _keeps_contiguity(indices: Sequence[Operand]) -> bool:
    """Whether only the first dimension is cut: full slices and ``None`` behind it do no harm."""
    cut = False
    for index in indices:
        if isinstance(index.expr, ir.Slice):
            whole = index.expr.lower is None and index.expr.upper is None
            if index.expr.step is not None or (cut and not whole):
                return False
            cut = True
        elif isinstance(index.value, Constant) and index.value.value is None:
            continue
        elif isinstance(index.value, Constant) and index.value.value is ...:
            cut = len(indices) > 1
        elif cut:
            return False
    return True


def _is_tensor_like(indices: Sequence[Operand]) -> bool:
    """Whether indices are such as only tensors take: slices, ``...`` or several of them."""
    return len(indices) > 1 or isinstance(indices[0].expr, ir.Slice) or indices[0].value == Constant(...)


def _slice_bounds(expr: ir.Slice) -> slice | None:
    """The slice that an expression means; None where its bounds are not constant."""
    bounds: list[int | None] = []
    for part in (expr.lower, expr.upper, expr.step):
        sign = -1 if isinstance(part, ir.Unary) and part.operator == "Minus" else 1
        number = part.operand if isinstance(part, ir.Unary) else part
        if number is None:
            bounds.append(None)
        elif isinstance(number, ir.Const) and isinstance(number.value, int):
            bounds.append(sign * number.value)
        else:
            return None
    return slice(*bounds)
