"""``vmap``, ``functional_call`` and what else of torch runs a function in its own way.

They compute with what they are handed. The function runs as if it were called there, once, whatever they do
to its result: what it draws, writes and sends is done with each call of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remat_lint.analysis.builtin_calls import Builtin, BuiltinCall
from remat_lint.analysis.facts import RandomKind
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.values import (
    NONE,
    Constant,
    External,
    ListObject,
    Partial,
    Reference,
    Tensor,
    Unknown,
    Value,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue

_CALLED = "()"
"""Stands at the end of the name of what a transform makes of a function."""

_DRAWING = "torch.func.transformed" + _CALLED
_NOT_DRAWING = "torch.func.vmapped" + _CALLED
"""What runs the function where random operations of torch raise: no program gets further with them."""

_PACKAGES = ("torch.func", "functorch", "torch._functorch.apis", "torch._functorch.eager_transforms")


def _transform(*, vectorizes: bool) -> Builtin:
    """What makes another function of one; ``vectorizes`` says whether that runs under ``vmap``."""

    def make(call: BuiltinCall) -> Value:
        named = {operand.keyword: operand.value for operand in call.operands}
        given = [operand.value for operand in call.operands if operand.keyword is None]
        function = named.get("func") or (given[0] if given else None)
        if function is None:
            return Unknown()
        randomness = named.get("randomness") or (given[3] if len(given) > 3 else Constant("error"))
        raises = vectorizes and randomness == Constant("error")
        return Partial(External(_NOT_DRAWING if raises else _DRAWING), (function,), ())

    return make


def _at_once(call: BuiltinCall) -> Value:
    """``vjp(function, *inputs)`` and its like, which run the function as they are called."""
    return _run(call, [one for operand in call.operands[1:] for one in _unpacked(call, operand)])


def _transformed(call: BuiltinCall) -> Value:
    return _run(call, call.operands[1:])


def _vmapped(call: BuiltinCall) -> Value:
    since = len(call.machine.deeds)
    value = _run(call, call.operands[1:])
    call.machine.deeds.forget_draws(since, RandomKind.TORCH)
    return value


def _run(call: BuiltinCall, operands: Sequence[Operand]) -> Value:
    """Run the function that comes first with what it is handed, of which nothing is known inside."""
    machine, state = call.machine, call.state
    if not call.operands:
        return Unknown()
    result = machine.call_unknown(state, call.node, operands)
    inside = [
        replace(one, value=Tensor(storage=machine.fresh())) if state.holds_tokens(one.value) else one
        for one in operands
    ]
    value = machine.call(state, call.node, call.operands[0].value, inside)
    return join(result, value) if not state.holds_tokens(value) else result


def _unpacked(call: BuiltinCall, operand: Operand) -> Sequence[Operand]:
    """A tuple or list of operands, one by one; anything else is one itself."""
    value = operand.value
    found = call.machine.object_at(call.state, value) if isinstance(value, Reference) else value
    if isinstance(found, (SequenceValue, ListObject)):
        return [replace(operand, value=item) for item in found.items]
    return [operand]


def _functional_call(call: BuiltinCall) -> Value:
    """``functional_call(module, parameters, args, kwargs)``: the module runs, with other parameters."""
    names = ("module", "parameter_and_buffer_dicts", "args", "kwargs")
    given = dict(zip(names, [o for o in call.operands if o.keyword is None], strict=False))
    named = given | {o.keyword: o for o in call.operands if o.keyword is not None}
    module, parameters, args = (named.get(name) for name in names[:3])
    if module is None:
        return Unknown()
    if parameters is not None:
        call.machine.read(call.state, call.node, [parameters], certain=False)
    operands = _unpacked(call, args) if args is not None and args.value != NONE else []
    keywords = named.get("kwargs")
    if keywords is not None and keywords.value != NONE:
        operands = [*operands, replace(keywords, keyword="**")]
    return call.machine.call(call.state, call.node, module.value, operands)


TRANSFORMS: dict[str, Builtin] = {
    "torch.vmap": _transform(vectorizes=True),
    **{
        f"{package}.{name}": _transform(vectorizes=name != "functionalize")
        for package in _PACKAGES
        for name in ("vmap", "jacfwd", "functionalize")
    },
    **{f"{package}.jvp": _at_once for package in _PACKAGES},
    **{
        f"torch.autograd.functional.{name}": _at_once
        for name in ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp")
    },
    "torch.func.functional_call": _functional_call,
    "torch.nn.utils.stateless.functional_call": _functional_call,
    _DRAWING: _transformed,
    _NOT_DRAWING: _vmapped,
}
"""By name. Those that differentiate backwards, as ``torch.func.grad``, raise in what is checkpointed."""
