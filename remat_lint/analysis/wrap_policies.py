"""The policies of ``torch.distributed.fsdp.wrap``, which choose the parts of a model that are wrapped.

A policy is called on one module after the other and asked first whether to go on to its parts
(``recurse=True``), then whether to wrap it. Those that go by size choose what nobody knows here.
"""

from __future__ import annotations

from dataclasses import replace

from remat_lint.analysis.builtin_calls import BUILTINS, Builtin, BuiltinCall
from remat_lint.analysis.forms import ASKED
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.values import Constant, External, Partial, Unknown, Value
from remat_lint.analysis.values import Sequence as SequenceValue

_PACKAGE = "torch.distributed.fsdp.wrap"
_OF_CLASSES = f"{_PACKAGE}._module_wrap_policy"
_OF_A_FUNCTION = f"{_PACKAGE}.lambda_auto_wrap_policy"


def _given(call: BuiltinCall, option: str) -> dict[str, Operand]:
    """The arguments of a policy by name; ``option`` comes last."""
    positional = [operand for operand in call.operands if operand.keyword is None]
    named = {operand.keyword: operand for operand in call.operands if operand.keyword is not None}
    return {**dict(zip((*ASKED, option), positional, strict=False)), **named}


def _by_class(option: str) -> Builtin:
    """A policy that chooses the modules of some classes."""

    def choose(call: BuiltinCall) -> Value:
        given = _given(call, option)
        if given["recurse"].value == Constant(True):
            return Constant(True)
        sequence = call.machine.iterate(call.state, call.node, given[option].value)
        if sequence.rest is not None:
            return Unknown()
        kinds = replace(given[option], value=SequenceValue(sequence.items))
        return BUILTINS["builtins.isinstance"](replace(call, operands=[given["module"], kinds]))

    return _if_complete(choose, option)


def _by_function(call: BuiltinCall) -> Value:
    """A policy that chooses the modules of which a function says so."""
    given = _given(call, "lambda_fn")
    if given["recurse"].value == Constant(True):
        return Constant(True)
    return call.machine.call(
        call.state, call.node, given["lambda_fn"].value, [Operand(given["module"].value)]
    )


def _by_any(call: BuiltinCall) -> Value:
    """A policy that chooses what one of several chooses."""
    given = _given(call, "policies")
    sequence = call.machine.iterate(call.state, call.node, given["policies"].value)
    handed = [replace(given[name], keyword=name) for name in ASKED]
    answers = [call.machine.call(call.state, call.node, one, handed) for one in sequence.items]
    if Constant(True) in answers:
        return Constant(True)
    is_sure = sequence.rest is None and all(one == Constant(False) for one in answers)
    return Constant(False) if is_sure else Unknown()


def _if_complete(choose: Builtin, option: str) -> Builtin:
    """The policy, which says nothing where it is not handed all that it needs."""

    def answer(call: BuiltinCall) -> Value:
        is_complete = {*ASKED, option} <= set(_given(call, option))
        return choose(call) if is_complete else Unknown()

    return answer


def _object(function: str, option: str) -> Builtin:
    """What makes an object that is called as a policy: the function with what the object was given."""

    def make(call: BuiltinCall) -> Value:
        if not call.operands:
            return Unknown()
        return Partial(External(function), (), ((option, call.operands[0].value),))

    return make


def _always(call: BuiltinCall) -> Value:
    del call
    return Constant(True)


POLICIES: dict[str, Builtin] = {
    f"{_PACKAGE}.always_wrap_policy": _always,
    f"{_PACKAGE}.transformer_auto_wrap_policy": _by_class("transformer_layer_cls"),
    _OF_CLASSES: _by_class("module_classes"),
    _OF_A_FUNCTION: _if_complete(_by_function, "lambda_fn"),
    f"{_PACKAGE}._or_policy": _if_complete(_by_any, "policies"),
    f"{_PACKAGE}.ModuleWrapPolicy": _object(_OF_CLASSES, "module_classes"),
    f"{_PACKAGE}.CustomPolicy": _object(_OF_A_FUNCTION, "lambda_fn"),
}
"""By name: the policies, and the classes whose objects are called as such."""
