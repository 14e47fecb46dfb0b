"""Copies of modules: ``copy.deepcopy(layer)`` and its like.

A copy is an object of its own: what is done to it later is not done to what it was made from. Copies that one
expression makes of one module are one object, as modules are that are constructed alike.
"""

from __future__ import annotations

from remat_lint.analysis.builtin_calls import Builtin, BuiltinCall
from remat_lint.analysis.values import (
    Choice,
    DictObject,
    HeapObject,
    InstanceObject,
    ListObject,
    Reference,
    Value,
    alternatives,
    contents,
)
from remat_lint.analysis.values import Sequence as SequenceValue


class _Copying:
    """One copy, of a value and of what it refers to."""

    def __init__(self, call: BuiltinCall) -> None:
        self._call = call
        self._made: dict[int, Reference] = {}

    def of(self, value: Value) -> Value:
        match value:
            case Reference(address=address):
                if address not in self._made:
                    self._copy(value)
                return self._made[address]
            case Choice(alternatives=values):
                return Choice(tuple(map(self.of, values)))
            case SequenceValue(items=items, rest=rest):
                more = self.of(rest) if rest is not None else None
                return SequenceValue(tuple(map(self.of, items)), more, kind=value.kind)
            case _:
                return value

    def _copy(self, value: Reference) -> None:
        machine, state = self._call.machine, self._call.state
        made = self._made[value.address] = machine.copy_at(self._call.node, value)
        found = machine.object_at(state, value)
        if found is not None:
            state.heap[made.address] = self._parts(found)

    def _parts(self, found: HeapObject) -> HeapObject:
        match found:
            case InstanceObject(klass=klass, attributes=attributes, arguments=arguments):
                copied = tuple((name, self.of(value)) for name, value in attributes)
                return InstanceObject(klass, copied, arguments)
            case ListObject():
                copied_items = tuple(map(self.of, found.items))
                return ListObject(copied_items, self.of(found.rest) if found.rest is not None else None)
            case DictObject():
                pairs = tuple((key, self.of(value)) for key, value in found.items)
                return DictObject(pairs, self.of(found.rest) if found.rest is not None else None)


def _deepcopy(call: BuiltinCall) -> Value:
    value = call.operands[0].value if call.operands else None
    if value is None or not _holds_module(call, value):
        return call.machine.call_unknown(call.state, call.node, call.operands)
    made = _Copying(call).of(value)
    call.machine.note_made(call.state, call.node, made)
    return made


def _holds_module(call: BuiltinCall, value: Value) -> bool:
    """Whether a value is a module, or a list or dict that has one in it."""
    machine, state = call.machine, call.state
    for one in alternatives(value):
        found = machine.object_at(state, one) if isinstance(one, Reference) else None
        held = contents(found) if isinstance(found, (ListObject, DictObject)) else ()
        if any(machine.is_module_object(state, part) for part in (one, *held)):
            return True
    return False


def _clones(call: BuiltinCall) -> Value:
    """``_get_clones(module, n)``: a list of copies."""
    return call.machine.module_list(call.state, _deepcopy(call))


COPIES: dict[str, Builtin] = {
    "copy.deepcopy": _deepcopy,
    "copy.copy": _deepcopy,
    "torch.nn.modules.transformer._get_clones": _clones,
}
"""By name. What a shallow copy shares with the first module are weights and parts that do the same."""
