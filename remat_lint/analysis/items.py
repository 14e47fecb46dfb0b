"""Items, iteration and unpacking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.decisions import decision_in
from remat_lint.analysis.external_names import FILE
from remat_lint.analysis.facts import Unsteady
from remat_lint.analysis.machine import MAX_EXACT, Operand
from remat_lint.analysis.objects import with_module
from remat_lint.analysis.operations import Bound
from remat_lint.analysis.registered import Registered
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    SCALAR,
    USED_UP,
    Choice,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InstanceObject,
    ListObject,
    Reference,
    Scalar,
    Snapshot,
    Tensor,
    Unknown,
    Value,
    alternatives,
    direct_tokens,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import ANY_ELEMENT, key_of

_ANY_ITEM = "[...]"
MODULE_CONTAINERS = (
    "torch.nn.ModuleList",
    "torch.nn.Sequential",
    "torch.nn.ModuleDict",
    "torch.nn.ParameterList",
)


class Items(Registered):
    """Follows values into containers."""

    def item_of(self, state: State, node: ir.Expr, base: Value, indices: Sequence[Operand]) -> Value:
        """``base[indices]``."""
        self.select(state, node, decision_in(indices))
        self.look_into(state, base, key_of(node) if isinstance(node, ir.Subscript) else ANY_ELEMENT)
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
                return Unknown(held)
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
                    if known is None and found.factory is not None:
                        known = self.call(state, node, found.factory, ())
                        self._set_object_item(state, base, indices, known)
                        self.note_left((base.address, "[]"), known)
                    return known if known is not None else (rest or Unknown())
                if found.factory is not None and rest is None:
                    rest = self.call(state, node, found.factory, ())
                    self.note_left((base.address, "[]"), rest)
                return _join_items(tuple(value for _, value in pairs), rest)
            case InstanceObject():
                getter = self._object_attribute(state, node, base, "__getitem__")
                if isinstance(getter, FunctionValue):
                    return self.call(state, node, getter, indices)
                return self._container_item(state, found, indices)
            case _:
                return Unknown()

    def _container_item(self, state: State, found: InstanceObject, indices: Sequence[Operand]) -> Value:
        contents = found.get(CONTENTS) or Unknown()
        if isinstance(contents, SequenceValue):
            names = dict(found.arguments).get("keys")
            key = indices[0].value
            if isinstance(names, SequenceValue) and isinstance(key, Constant) and not _is_int(key.value):
                known = dict(zip((n for n in names.items), contents.items, strict=False)).get(key)
                if known is not None:
                    return known
                return _join_items(contents.items, contents.rest)
            item = self._sequence_item(contents.items, contents.rest, indices)
            if isinstance(indices[0].expr, ir.Slice):  # a container of the same class
                return self.allocate(state, InstanceObject(found.klass, ((CONTENTS, item),)))
            return item
        return Unknown()

    def set_item(
        self, state: State, node: ir.Node, base: Operand, indices: Sequence[Operand], value: Operand
    ) -> None:
        """``base[indices] = value``."""
        if not self.is_tensor_like(base.value, indices):
            self.note_element(state, node, base, indices, value)
        self.select(state, node, decision_in(indices))
        for one in alternatives(base.value):
            if isinstance(one, Reference):
                self._set_object_item(state, one, indices, value.value)
            elif isinstance(one, (Tensor, Unknown)):
                if self.is_tensor_like(one, indices):
                    self.write(state, node, replace(base, value=one))
                if isinstance(one, Unknown):
                    self.escape(state, value.value)
                if self.is_tensor_like(one, indices):
                    self.read(state, node, [value, *indices])

    def is_tensor_like(self, base: Value, indices: Sequence[Operand]) -> bool:
        """Whether a value is a tensor, or is indexed as only tensors are."""
        if any(isinstance(i.value, Constant) and isinstance(i.value.value, str) for i in indices):
            return False
        if not isinstance(base, Unknown):
            return isinstance(base, Tensor)
        return base.computed or base.origin in self.tensors or _is_tensor_like(indices)

    def _set_object_item(
        self, state: State, base: Reference, indices: Sequence[Operand], value: Value
    ) -> None:
        found = self.object_at(state, base)
        key = indices[0].value if len(indices) == 1 else None
        if isinstance(found, DictObject):
            if isinstance(key, Constant) and _is_hashable(key.value):
                items = {**dict(found.items), key.value: value}
                state.heap[base.address] = replace(found, items=tuple(items.items()))
            else:
                rest = value if found.rest is None else join(found.rest, value)
                state.heap[base.address] = replace(found, rest=rest)
        elif isinstance(found, ListObject):
            number = key.value if isinstance(key, Constant) else None
            if isinstance(number, int) and -len(found.items) <= number < len(found.items):
                changed = list(found.items)
                changed[number] = value
                state.heap[base.address] = replace(found, items=tuple(changed))
            else:
                rest = value if found.rest is None else join(found.rest, value)
                state.heap[base.address] = replace(found, rest=rest)
        elif isinstance(found, InstanceObject) and isinstance(contents := found.get(CONTENTS), SequenceValue):
            self.elements |= {one.address for one in alternatives(value) if isinstance(one, Reference)}
            state.heap[base.address] = with_module(found, contents, key, value)

    # --- iteration and unpacking

    def iterate(self, state: State, node: ir.Node, value: Value) -> SequenceValue:
        """What a loop over the value sees, as a sequence."""
        self.look_into(state, value)
        match value:
            case SequenceValue():
                return value
            case Tensor(token=token) if token is not None and value.opaque:
                return SequenceValue(
                    (self.part_of(state, value, "[0]"),), self.part_of(state, value, _ANY_ITEM)
                )
            case Tensor(numbers=numbers) if numbers and value.storage not in self.changed:
                rows = tuple(replace(value, numbers=(number,)) for number in numbers)
                return SequenceValue(rows[:MAX_EXACT], rows[-1] if len(rows) > MAX_EXACT else None)
            case Tensor():
                expr = node if isinstance(node, ir.Expr) else ir.Const(node.at, None)
                row = self.view(expr, value, None, Bound(()))
                return SequenceValue((row,), row)  # a tensor without rows has no data to read
            case Reference():
                return self._iterate_object(state, node, value)
            case Choice(alternatives=values):
                sequences = [self.iterate(state, node, one) for one in values if one != Constant(None)]
                rest: Value | None = None
                for one in sequences:
                    joined = _join_items(one.items, one.rest)
                    rest = joined if rest is None else join(rest, joined)
                return sequences[0] if len(sequences) == 1 else SequenceValue(rest=rest or Unknown())
            case Scalar() | Constant():
                return SequenceValue(rest=SCALAR)
            case Snapshot():  # of several devices
                return SequenceValue(rest=value)
            case _:
                rest = Unknown(frozenset(direct_tokens(value)))
                return SequenceValue(rest=self.fetched(rest, value, "[]"))

    def _iterate_object(self, state: State, node: ir.Node, value: Reference) -> SequenceValue:
        made = self.call_special(state, node, value, "__iter__")
        if made is not None and self.special_method(state, made, "__iter__") is None:
            return self.iterate(state, node, made)
        taken = self.call_special(state, node, made or value, "__next__")
        if taken is not None:
            return SequenceValue(rest=taken)
        found = self.object_at(state, value)
        if isinstance(found, ListObject):
            return SequenceValue(found.items, found.rest, sure=found.sure)
        if isinstance(found, DictObject):
            return SequenceValue(tuple(Constant(key) for key, _ in found.items), found.rest and SCALAR)
        if isinstance(found, InstanceObject):
            if found.klass == External(FILE) and not self.is_foreign(value.address, self.frame.id):
                return SequenceValue(rest=self.fickle(node, Unsteady.FILE))
            contents = found.get(CONTENTS)
            names = dict(found.arguments).get("keys")
            if isinstance(names, SequenceValue) and External("torch.nn.ModuleDict") in self.mro(found.klass):
                return names
            if isinstance(contents, SequenceValue):
                return contents
        return SequenceValue(rest=Unknown())

    def is_used_up(self, state: State, value: Value) -> bool:
        """Whether a loop over something leaves nothing for the next one: an iterator, an open file."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        is_file = isinstance(found, InstanceObject) and found.klass == External(FILE)
        return is_file or (isinstance(value, SequenceValue) and value.kind in USED_UP)

    def take_all(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> None:
        """Code goes through these: an iterator among them moves on."""
        for operand in operands:
            if self.is_used_up(state, operand.value):
                self.note_next(state, node, operand)

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


def _join_items(items: tuple[Value, ...], rest: Value | None) -> Value:
    joined = rest
    for item in items:
        joined = item if joined is None else join(joined, item)
    return joined if joined is not None else Unknown()


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
