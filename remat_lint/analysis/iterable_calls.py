"""``itertools``, ``operator``'s getters and what else takes iterables apart and puts them together.

Lazy iterators are run at once: what they would yield is known, and nobody changes it on the way.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from remat_lint import torch_ops
from remat_lint.analysis.builtin_calls import Builtin, BuiltinCall
from remat_lint.analysis.machine import MAX_EXACT, Operand
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Constant,
    External,
    ListObject,
    Partial,
    Tensor,
    Unknown,
    Value,
    at_hand,
    join,
    join_optional,
)
from remat_lint.analysis.values import Sequence as SequenceValue

MAX_STEPS_SHOWN = 64
"""Longer rows of numbers are not worked out."""

_GET_ITEM, _GET_ATTRIBUTE, _CALL_METHOD = (
    "operator.itemgetter()",
    "operator.attrgetter()",
    "operator.methodcaller()",
)


def _iterated(call: BuiltinCall, position: int = 0) -> SequenceValue:
    """What a loop over an argument sees."""
    given = [operand.value for operand in call.operands if operand.keyword is None]
    if position >= len(given):
        return SequenceValue(rest=Unknown())
    return call.machine.iterate(call.state, call.node, given[position])


def _in_a_row(sequences: list[SequenceValue]) -> SequenceValue:
    """One iterable after the other."""
    items: tuple[Value, ...] = ()
    rest: Value | None = None
    for sequence in sequences:
        if rest is None:
            items, rest = (*items, *sequence.items), sequence.rest
        else:
            rest = reduce(join, sequence.items, rest)
            rest = join_optional(rest, sequence.rest)
    return SequenceValue(items, rest)


def _chain(call: BuiltinCall) -> Value:
    given = [call.machine.iterate(call.state, call.node, operand.value) for operand in call.operands]
    return _in_a_row(given)


def _chain_from_iterable(call: BuiltinCall) -> Value:
    outer = _iterated(call)
    inner = (*outer.items, *((outer.rest,) if outer.rest is not None else ()))
    return _in_a_row([call.machine.iterate(call.state, call.node, value) for value in inner])


def _islice(call: BuiltinCall) -> Value:
    sequence = _iterated(call)
    bounds = [o.value.value for o in call.operands[1:] if isinstance(o.value, Constant)]
    numbers = [number for number in bounds if number is None or isinstance(number, int)]
    if sequence.rest is None and len(numbers) == len(call.operands) - 1 and 1 <= len(numbers) <= 3:
        return SequenceValue(sequence.items[slice(*numbers)])
    return SequenceValue(rest=_any_of(sequence))


def _any_of(sequence: SequenceValue) -> Value:
    joined = sequence.rest
    for item in sequence.items:
        joined = join_optional(joined, item)
    return joined if joined is not None else Unknown()


def _filter(call: BuiltinCall) -> Value:
    """What is filtered out is read by nobody: the rest is taken to be all."""
    sequence = _iterated(call, 1)
    function = call.operands[0].value if call.operands else NONE
    for item in (*sequence.items, *((sequence.rest,) if sequence.rest is not None else ())):
        operand = Operand(item, call.operands[-1].expr)
        tested = item if function == NONE else call.machine.call(call.state, call.node, function, [operand])
        call.machine.read_truth(call.state, call.node, Operand(tested, operand.expr))
    return sequence


def _zip_longest(call: BuiltinCall) -> Value:
    filler = next((o.value for o in call.operands if o.keyword == "fillvalue"), NONE)
    given = [o.value for o in call.operands if o.keyword is None]
    sequences = [call.machine.iterate(call.state, call.node, value) for value in given]
    length = max((len(sequence.items) for sequence in sequences), default=0)

    def item(sequence: SequenceValue, index: int) -> Value:
        if index < len(sequence.items):
            return sequence.items[index]
        return join(sequence.rest, filler) if sequence.rest is not None else filler

    rows = tuple(SequenceValue(tuple(item(s, i) for s in sequences)) for i in range(length))
    endless = any(sequence.rest is not None for sequence in sequences)
    rest = SequenceValue(tuple(item(s, length) for s in sequences)) if endless else None
    return SequenceValue(rows, rest)


def _pairwise(call: BuiltinCall) -> Value:
    sequence = _iterated(call)
    pairs = tuple(SequenceValue(pair) for pair in zip(sequence.items, sequence.items[1:], strict=False))
    if sequence.rest is None:
        return SequenceValue(pairs)
    last = sequence.items[-1:] or (sequence.rest,)
    return SequenceValue(pairs, SequenceValue((join(last[0], sequence.rest), sequence.rest)))


def _linspace(call: BuiltinCall) -> Value:
    """``torch.linspace(0, 0.2, 12)``: rates that grow from layer to layer."""
    machine, operation = call.machine, torch_ops.function("torch.linspace")
    assert operation is not None
    made = machine.apply(call.state, call.node, operation, None, call.operands)
    given = [at_hand(operand.value) for operand in call.operands if operand.keyword is None]
    numbers: tuple[float, ...] = ()
    match [one.value if one is not None else None for one in given]:
        case [int() | float() as start, int() | float() as end, int(steps)] if 1 <= steps <= MAX_STEPS_SHOWN:
            numbers = tuple(start + (end - start) * step / max(steps - 1, 1) for step in range(steps))
        case [int() | float() as start, int() | float() as end, _] if start == end:  # however many there are
            numbers = (start,) * (MAX_EXACT + 1)
    return replace(made, numbers=numbers) if isinstance(made, Tensor) else made


def _repeat(call: BuiltinCall) -> Value:
    return SequenceValue(rest=call.operands[0].value if call.operands else Unknown())


def _cycle(call: BuiltinCall) -> Value:
    sequence = _iterated(call)
    return SequenceValue(sequence.items, _any_of(sequence))


def _tee(call: BuiltinCall) -> Value:
    sequence = _iterated(call)
    return SequenceValue((sequence, sequence), sequence)


def _reduce(call: BuiltinCall) -> Value:
    """``functools.reduce(function, iterable, initial)``."""
    sequence = _iterated(call, 1)
    values = [*(operand.value for operand in call.operands[2:3]), *sequence.items]
    if sequence.rest is not None:
        values += [sequence.rest, sequence.rest]
    if not values:
        return Unknown()
    expr = call.operands[1].expr
    return reduce(
        lambda left, right: call.machine.call(
            call.state, call.node, call.operands[0].value, [Operand(left, expr), Operand(right, expr)]
        ),
        values,
    )


def _sorted(call: BuiltinCall) -> Value:
    """Without a key, tensors are compared with each other, which reads them."""
    sequence = _iterated(call)
    key = next((o.value for o in call.operands if o.keyword == "key"), None)
    expr = call.operands[0].expr if call.operands else None
    for item in (*sequence.items, *((sequence.rest,) if sequence.rest is not None else ())):
        operand = Operand(item, expr)
        if key is not None and key != NONE:
            operand = Operand(call.machine.call(call.state, call.node, key, [operand]), expr)
        call.machine.read_truth(call.state, call.node, operand)
    if len(sequence.items) < 2 and sequence.rest is None:
        return call.machine.allocate(call.state, ListObject(sequence.items))
    return call.machine.allocate(call.state, ListObject((), _any_of(sequence)))


def _deque(call: BuiltinCall) -> Value:
    sequence = _iterated(call) if call.operands and call.operands[0].keyword is None else SequenceValue()
    return call.machine.allocate(call.state, ListObject(sequence.items, sequence.rest, kind="deque"))


# --- getters


def _getter(name: str) -> Builtin:
    """A function that gets; what it is called with comes behind what it was made with."""

    def make(call: BuiltinCall) -> Value:
        return Partial(External(name), (SequenceValue(tuple(o.value for o in call.operands)),), ())

    return make


def _taken(call: BuiltinCall) -> tuple[tuple[Value, ...], Value]:
    """What a getter was made with, and what it is called with."""
    first, second = (operand.value for operand in call.operands[:2])
    assert isinstance(first, SequenceValue)
    return first.items, second


def _got(found: list[Value]) -> Value:
    return found[0] if len(found) == 1 else SequenceValue(tuple(found))


def _get_items(call: BuiltinCall) -> Value:
    if len(call.operands) != 2:
        return Unknown()
    keys, holder = _taken(call)
    return _got([call.machine.item_of(call.state, call.node, holder, [Operand(key)]) for key in keys])


def _get_attributes(call: BuiltinCall) -> Value:
    if len(call.operands) != 2:
        return Unknown()
    names, holder = _taken(call)
    found = []
    for name in names:
        value = holder
        for part in str(name.value).split(".") if isinstance(name, Constant) else ():
            value = call.machine.attribute_of(call.state, call.node, value, part)
        found.append(value)
    return _got(found)


def _call_method(call: BuiltinCall) -> Value:
    if len(call.operands) != 2:
        return Unknown()
    (name, *arguments), holder = _taken(call)
    operands = [Operand(argument) for argument in arguments]
    receiver = Operand(holder, call.operands[1].expr)
    method = str(name.value) if isinstance(name, Constant) else ""
    return call.machine.call_attribute(call.state, call.node, receiver, method, operands)


def _get_item(call: BuiltinCall) -> Value:
    if len(call.operands) != 2:
        return Unknown()
    return call.machine.item_of(call.state, call.node, call.operands[0].value, call.operands[1:])


ITERABLE_CALLS: dict[str, Builtin] = {
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from_iterable,
    "itertools.islice": _islice,
    "itertools.zip_longest": _zip_longest,
    "itertools.pairwise": _pairwise,
    "itertools.repeat": _repeat,
    "torch.linspace": _linspace,
    "itertools.cycle": _cycle,
    "itertools.tee": _tee,
    "itertools.count": lambda _call: SequenceValue(rest=SCALAR),
    "functools.reduce": _reduce,
    "builtins.filter": _filter,
    "builtins.sorted": _sorted,
    "collections.deque": _deque,
    "operator.itemgetter": _getter(_GET_ITEM),
    "operator.attrgetter": _getter(_GET_ATTRIBUTE),
    "operator.methodcaller": _getter(_CALL_METHOD),
    "operator.getitem": _get_item,
    _GET_ITEM: _get_items,
    _GET_ATTRIBUTE: _get_attributes,
    _CALL_METHOD: _call_method,
}

_LAZY = {
    "builtins": "zip map filter enumerate reversed",
    "itertools": "chain chain.from_iterable islice zip_longest pairwise cycle count repeat",
}
_EAGER = {
    "builtins": "list tuple set dict sorted sum min max any all",
    "collections": "deque",
    "functools": "reduce",
}

LAZY = frozenset(f"{module}.{name}" for module, names in _LAZY.items() for name in names.split())
"""Functions that give an iterator, which takes from those that they are handed."""

EAGER = frozenset(f"{module}.{name}" for module, names in _EAGER.items() for name in names.split())
"""Functions that go through what they are handed."""
