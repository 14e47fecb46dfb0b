"""Functions of Python and its standard library that move tensors about without computing with them.

Everything else that is given a tensor reads it, so only what does not read, or hands its arguments
on, stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from remat_lint.analysis import ir
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    CheckpointWrapper,
    Constant,
    DictObject,
    ListObject,
    Partial,
    Reference,
    Tensor,
    Unknown,
    Value,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue

if TYPE_CHECKING:
    from remat_lint.analysis.calls import Calls

Builtin = Callable[["Calls", State, ir.Expr, Sequence[Operand]], Value]

MAX_EXACT = 3
"""Ranges up to this length are run exactly."""


def _no_read(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    return SCALAR


def _reads(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    calls.read(state, node, operands)
    return SCALAR


def _reads_to_tensor(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    calls.read(state, node, operands)
    tensor = any(isinstance(operand.value, Tensor) for operand in operands)
    return Tensor(storage=calls.fresh()) if tensor else Unknown(origin=calls.fresh())


def _range(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    numbers = [o.value.value for o in operands if isinstance(o.value, Constant)]
    exact = [number for number in numbers if isinstance(number, int)]
    if len(exact) == len(operands) and 1 <= len(exact) <= 3 and 0 not in exact[2:]:
        values = range(*exact)
        if len(values) <= MAX_EXACT:
            return SequenceValue(tuple(Constant(number) for number in values))
        return SequenceValue((SCALAR,), SCALAR)
    return SequenceValue(rest=SCALAR)


def _listed(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    if not operands:
        return calls.allocate(state, ListObject())
    sequence = calls.iterate(state, node, operands[0].value)
    return calls.allocate(state, ListObject(sequence.items, sequence.rest))


def _tupled(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    if not operands:
        return SequenceValue()
    sequence = calls.iterate(state, node, operands[0].value)
    return SequenceValue(sequence.items, sequence.rest)


def _reversed(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    sequence = calls.iterate(state, node, operands[0].value)
    return SequenceValue(tuple(reversed(sequence.items)), sequence.rest)


def _enumerate(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    sequence = calls.iterate(state, node, operands[0].value)
    items = tuple(SequenceValue((Constant(i), item)) for i, item in enumerate(sequence.items))
    rest = SequenceValue((SCALAR, sequence.rest)) if sequence.rest is not None else None
    return SequenceValue(items, rest)


def _zip(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    sequences = [calls.iterate(state, node, o.value) for o in operands if o.keyword is None]
    exact = [len(sequence.items) for sequence in sequences if sequence.rest is None]
    length = min(exact) if exact else max((len(s.items) for s in sequences), default=0)

    def item(sequence: SequenceValue, index: int) -> Value:
        if index < len(sequence.items):
            return sequence.items[index]
        return sequence.rest if sequence.rest is not None else Unknown()

    items = tuple(SequenceValue(tuple(item(s, i) for s in sequences)) for i in range(length))
    rest = None
    if not exact:
        rest = SequenceValue(tuple(s.rest or Unknown() for s in sequences))
    return SequenceValue(items, rest)


def _map(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    if len(operands) < 2:
        return Unknown()
    function = operands[0].value
    zipped = _zip(calls, state, node, operands[1:])
    assert isinstance(zipped, SequenceValue)

    def run(arguments: Value) -> Value:
        items = arguments.items if isinstance(arguments, SequenceValue) else ()
        handed = [Operand(item, operands[1].expr) for item in items]
        return calls.call(state, node, function, handed)

    items = tuple(run(item) for item in zipped.items)
    return SequenceValue(items, run(zipped.rest) if zipped.rest is not None else None)


def _next(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    sequence = calls.iterate(state, node, operands[0].value) if operands else SequenceValue()
    joined: Value | None = sequence.rest
    for item in sequence.items:
        joined = item if joined is None else join(joined, item)
    return joined or Unknown()


def _dict(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    items: list[tuple[object, Value]] = []
    rest: Value | None = None
    for operand in operands:
        if operand.keyword is not None and operand.keyword != "**":
            items.append((operand.keyword, operand.value))
            continue
        found = calls.object_at(state, operand.value) if isinstance(operand.value, Reference) else None
        if isinstance(found, DictObject):
            items += found.items
            rest = found.rest
        else:
            rest = Unknown(frozenset(state.tokens(operand.value)))
    return calls.allocate(state, DictObject(tuple(items), rest))


def _container(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    """A container whose contents torch_remat does not look at: a deque, a set."""
    return Unknown(frozenset(t for operand in operands for t in state.tokens(operand.value)), calls.fresh())


def _partial(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    if not operands:
        return Unknown()
    positional = tuple(o.value for o in operands[1:] if o.keyword is None)
    keywords = tuple((o.keyword, o.value) for o in operands if o.keyword is not None)
    return Partial(operands[0].value, positional, keywords)


def _getattr(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    name = operands[1].value if len(operands) > 1 else NONE
    if isinstance(name, Constant) and isinstance(name.value, str):
        return calls.attribute_of(state, node, operands[0].value, name.value)
    return Unknown(frozenset(state.tokens(operands[0].value)) if operands else frozenset())


def _setattr(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    if len(operands) > 2 and isinstance(operands[1].value, Constant):
        calls.set_attribute(state, operands[0].value, str(operands[1].value.value), operands[2].value)
    return NONE


def _second(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    return operands[1].value if len(operands) > 1 else Unknown()


def _first(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    return operands[0].value if operands else Unknown()


def _torch_checkpoint(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    """``torch.utils.checkpoint.checkpoint(f, h)`` is a bare operation: it saves ``h`` and hands it to ``f``."""
    if not operands:
        return Unknown()
    options = ("use_reentrant", "preserve_rng_state", "determinism_check", "context_fn", "debug", "early_stop")
    handed = [operand for operand in operands[1:] if operand.keyword not in options]
    calls.read(state, node, handed)
    return calls.call(state, node, operands[0].value, handed)



def _super(calls: Calls, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
    return calls.call_super()


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(
        "builtins.len builtins.isinstance builtins.issubclass builtins.type builtins.id builtins.hash "
        "builtins.hasattr builtins.callable torch.is_tensor torch.is_floating_point torch.is_complex".split(),
        _no_read,
    ),
    **dict.fromkeys(
        "builtins.float builtins.int builtins.bool builtins.str builtins.repr builtins.print builtins.format "
        "builtins.any builtins.all builtins.complex builtins.round".split(),
        _reads,
    ),
    **dict.fromkeys(
        "builtins.sum builtins.max builtins.min builtins.abs builtins.pow builtins.sorted builtins.divmod".split(),
        _reads_to_tensor,
    ),
    "builtins.range": _range,
    "builtins.list": _listed,
    "builtins.tuple": _tupled,
    "builtins.iter": _tupled,
    "builtins.set": _container,
    "builtins.frozenset": _container,
    "collections.deque": _container,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "builtins.reversed": _reversed,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.next": _next,
    "builtins.super": _super,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "functools.partial": _partial,
    "typing.cast": _second,
    "copy.replace": _first,
    "itertools.chain": _container,
    "torch.jit.annotate": _second,
    "torch.utils.checkpoint.checkpoint": _torch_checkpoint,
}
