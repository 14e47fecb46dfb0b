"""``torch.nn.utils.parametrize``: modules through which a tensor of another module is read.

Whoever reads ``module.weight`` then runs them on what it was, one after the other, the module's own
``forward`` too. That runs again on replay like any other code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from remat_lint.analysis.values import (
    Constant,
    InstanceObject,
    Reference,
    Unknown,
    Value,
)
from remat_lint.analysis.values import Sequence as SequenceValue

if TYPE_CHECKING:
    from remat_lint.analysis.builtin_calls import Builtin, BuiltinCall

_PARAMETRIZED = " parametrizations"
"""The attribute under which a module has the names of such tensors, each with what it is read through."""


def registered(found: InstanceObject) -> Sequence[tuple[str, Value]]:
    """What the tensors of a module are read through, by their names, in order."""
    pairs = found.get(_PARAMETRIZED)
    items = pairs.items if isinstance(pairs, SequenceValue) else ()
    return [
        (name.value, part)
        for pair in items
        if isinstance(pair, SequenceValue)
        for name, part in [pair.items]
        if isinstance(name, Constant) and isinstance(name.value, str)
    ]


def _register(call: BuiltinCall) -> Value:
    """``register_parametrization(module, "weight", parametrization)``: gives the module."""
    module, name, part = _given(call, "module", "tensor_name", "parametrization")
    found = call.machine.object_at(call.state, module) if isinstance(module, Reference) else None
    if isinstance(found, InstanceObject) and isinstance(name, Constant):
        _set(call, module, [*registered(found), (str(name.value), part)])
        call.machine.parametrized.add(str(name.value))
    return module


def _remove(call: BuiltinCall) -> Value:
    """``remove_parametrizations(module, "weight")``: gives the module."""
    module, name = _given(call, "module", "tensor_name")
    found = call.machine.object_at(call.state, module) if isinstance(module, Reference) else None
    if isinstance(found, InstanceObject):
        _set(call, module, [one for one in registered(found) if Constant(one[0]) != name])
    return module


def _set(call: BuiltinCall, module: Value, pairs: Sequence[tuple[str, Value]]) -> None:
    items = tuple(SequenceValue((Constant(name), part)) for name, part in pairs)
    call.machine.set_attribute(call.state, module, _PARAMETRIZED, SequenceValue(items))


def _given(call: BuiltinCall, *names: str) -> list[Value]:
    """The arguments of a call, by position or by name."""
    named = {operand.keyword: operand.value for operand in call.operands}
    given = [operand.value for operand in call.operands if operand.keyword is None]
    return [
        given[index] if index < len(given) else named.get(name, Unknown()) for index, name in enumerate(names)
    ]


PARAMETRIZATIONS: dict[str, Builtin] = {
    "torch.nn.utils.parametrize.register_parametrization": _register,
    "torch.nn.utils.parametrize.remove_parametrizations": _remove,
}
