"""Functions of Python and its standard library that move tensors about without computing with them.

Everything else that is given a tensor reads it, so only what does not read, or hands its arguments
on, stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from remat_lint.analysis import ir
from remat_lint.analysis.decisions import decision_in
from remat_lint.analysis.in_place import SPECTRAL
from remat_lint.analysis.machine import MAX_EXACT, Operand
from remat_lint.analysis.special_calls import CONTEXT_VARIABLE, word
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTEXT_VALUE,
    NONE,
    SCALAR,
    Attributes,
    ClassValue,
    Constant,
    DeviceNamed,
    DictObject,
    External,
    FunctionValue,
    GradMode,
    InstanceObject,
    ListObject,
    ModuleValue,
    Partial,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    bound_to,
    contents,
    join,
    of_phases,
    parts,
    scalar_from,
)
from remat_lint.analysis.values import Sequence as SequenceValue

if TYPE_CHECKING:
    from remat_lint.analysis.calls import Calls


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """One call: who runs it, on which path, where, and what it is given."""

    machine: Calls
    state: State
    node: ir.Expr
    operands: Sequence[Operand]


Builtin = Callable[[BuiltinCall], Value]


def _no_read(call: BuiltinCall) -> Value:
    return scalar_from(operand.value for operand in call.operands)


def _type(call: BuiltinCall) -> Value:
    if len(call.operands) != 1:
        return _no_read(call)
    return call.machine.class_of(call.state, call.operands[0].value)


def _len(call: BuiltinCall) -> Value:
    """Nothing is in a list that a call made for itself, until it puts something there."""
    value = call.operands[0].value if call.operands else NONE
    call.machine.look_into(call.state, value)
    found = call.machine.object_at(call.state, value) if isinstance(value, Reference) else value
    is_known = not isinstance(value, Reference) or call.machine.is_kept_to_itself(value.address)
    return Constant(0) if is_known and found in (ListObject(), SequenceValue()) else _no_read(call)


def _isinstance(call: BuiltinCall) -> Value:
    """Decided where the analyser knows what the value is: a helper that walks containers is followed."""
    if len(call.operands) != 2:
        return SCALAR
    kinds = call.operands[1].value
    wanted = kinds.items if isinstance(kinds, SequenceValue) else (kinds,)
    value = call.operands[0].value
    found = call.machine.object_at(call.state, value) if isinstance(value, Reference) else None
    if isinstance(value, Reference) and isinstance(found, InstanceObject):
        return _is_object_of(call, value, found.klass, wanted)
    names = {one.name.removeprefix("builtins.") for one in wanted if isinstance(one, External)}
    known = _kinds_of(call, value)
    return Constant(bool(names & known)) if known and len(names) == len(wanted) else SCALAR


def _is_object_of(
    call: BuiltinCall, value: Reference, klass: ClassValue | External, wanted: Sequence[Value]
) -> Value:
    """Whether an object is of one of these classes, as far as they and its bases are in view."""
    machine = call.machine
    order = machine.mro(klass)
    if any(one in order for one in wanted):
        return Constant(True)
    if any(isinstance(one, External) and one.name == "torch.nn.Module" for one in wanted):
        return Constant(True) if machine.is_module_object(call.state, value) else SCALAR
    is_whole = all(isinstance(one, ClassValue) or _is_of_torch(one) for one in (*order, *wanted))
    may_be_heir = value.address in machine.open and any(klass in machine.mro(one) for one in wanted)
    return Constant(False) if is_whole and not may_be_heir else SCALAR


def _is_of_torch(value: Value) -> bool:
    """Whether a class is one of those of torch that have no others for bases which anyone asks for."""
    return isinstance(value, External) and value.name.startswith("torch.nn.") and "_" not in value.name


def _kinds_of(call: BuiltinCall, value: Value) -> frozenset[str]:
    """The types that a value is an instance of; empty where that is not known."""
    found = call.machine.object_at(call.state, value) if isinstance(value, Reference) else None
    sequence = ("collections.abc.Sequence", "typing.Sequence")
    if isinstance(value, Tensor) and not value.opaque:
        return frozenset({"torch.Tensor"})
    if isinstance(value, SequenceValue) and value.kind == "tuple":
        return frozenset({"tuple", *sequence})
    if isinstance(found, ListObject):
        return frozenset({"list", *sequence})
    if isinstance(found, DictObject):
        return frozenset({"dict", "collections.abc.Mapping", "typing.Mapping"})
    return frozenset({type(value.value).__name__}) if isinstance(value, Constant) else frozenset()


def _replaced(call: BuiltinCall) -> Value:
    """``dataclasses.replace(record, field=value)``: another object with some other attributes."""
    record = call.operands[0].value if call.operands else NONE
    found = call.machine.object_at(call.state, record) if isinstance(record, Reference) else None
    if not isinstance(found, InstanceObject):
        return Unknown(frozenset(t for o in call.operands for t in call.state.tokens(o.value)))
    for operand in call.operands[1:]:
        if operand.keyword is not None:
            found = found.with_attribute(operand.keyword, operand.value)
    return call.machine.allocate(call.state, found)


def _tree_map(call: BuiltinCall) -> Value:
    """``tree_map(function, tree)`` and ``tree_map_only(type, function, tree)``: calls it on every leaf."""
    if len(call.operands) < 2:
        return Unknown()
    *_, function, tree = (operand.value for operand in call.operands[:3])
    results = [
        call.machine.call(call.state, call.node, function, [Operand(leaf, call.operands[-1].expr)])
        for leaf in _leaves(call, tree)
    ]
    held = (token for result in results for token in call.state.tokens(result))
    return Unknown(frozenset(held), call.machine.fresh())


def _leaves(call: BuiltinCall, value: Value) -> Iterator[Value]:
    found = call.machine.object_at(call.state, value) if isinstance(value, Reference) else None
    if isinstance(found, (ListObject, DictObject)):
        for item in contents(found):
            yield from _leaves(call, item)
    elif isinstance(value, SequenceValue):
        for item in parts(value):
            yield from _leaves(call, item)
    else:
        yield value


def _reads(call: BuiltinCall) -> Value:
    call.machine.read(call.state, call.node, call.operands)
    return scalar_from(operand.value for operand in call.operands)


def _reads_number(call: BuiltinCall) -> Value:
    """A number that Python counts or decides with."""
    call.machine.select(call.state, call.node, decision_in(call.operands))
    number = of_phases(int, *(operand.value for operand in call.operands))
    return number or _reads(call)


def _reads_to_tensor(call: BuiltinCall) -> Value:
    call.machine.read(call.state, call.node, call.operands)
    values = [operand.value for operand in call.operands]
    if any(isinstance(value, Tensor) for value in values):
        call.machine.mix(call.state, call.node, call.operands)
        return Tensor(storage=call.machine.fresh())
    if values and all(isinstance(value, (Constant, Scalar)) for value in values):
        return scalar_from(values)
    return Unknown(origin=call.machine.fresh(), reading=call.machine.mixed(call.node, call.operands))


def _range(call: BuiltinCall) -> Value:
    numbers = [o.value.value for o in call.operands if isinstance(o.value, Constant)]
    exact = [number for number in numbers if isinstance(number, int)]
    if len(exact) == len(call.operands) and 1 <= len(exact) <= 3 and 0 not in exact[2:]:
        return counted_by(range(*exact))
    values = [operand.value for operand in call.operands]
    return of_phases(range, *values) or SequenceValue(rest=scalar_from(values))


def counted_by(numbers: range) -> SequenceValue:
    """What a loop over a range sees: each number where they are few."""
    if len(numbers) <= MAX_EXACT:
        return SequenceValue(tuple(map(Constant, numbers)))
    return SequenceValue((SCALAR,), SCALAR)


def _listed(call: BuiltinCall) -> Value:
    if not call.operands:
        return call.machine.allocate(call.state, ListObject())
    sequence = call.machine.iterate(call.state, call.node, call.operands[0].value)
    return call.machine.allocate(call.state, ListObject(sequence.items, sequence.rest, sure=sequence.sure))


def _iterator(call: BuiltinCall) -> Value:
    given = call.operands[0].value if call.operands else Unknown()
    if call.machine.is_used_up(call.state, given):
        return given  # an iterator is its own
    sequence = call.machine.iterate(call.state, call.node, given)
    return replace(sequence, kind="iterator", fields=(), origin=call.machine.fresh())


def _tupled(call: BuiltinCall) -> Value:
    if not call.operands:
        return SequenceValue()
    sequence = call.machine.iterate(call.state, call.node, call.operands[0].value)
    return SequenceValue(sequence.items, sequence.rest, sure=sequence.sure)


def _reversed(call: BuiltinCall) -> Value:
    sequence = call.machine.iterate(call.state, call.node, call.operands[0].value)
    return SequenceValue(tuple(reversed(sequence.items)), sequence.rest)


def _enumerate(call: BuiltinCall) -> Value:
    sequence = call.machine.iterate(call.state, call.node, call.operands[0].value)
    items = tuple(SequenceValue((Constant(i), item)) for i, item in enumerate(sequence.items))
    rest = SequenceValue((SCALAR, sequence.rest)) if sequence.rest is not None else None
    return SequenceValue(items, rest, sure=sequence.sure)


def _zip(call: BuiltinCall) -> Value:
    sequences = [
        call.machine.iterate(call.state, call.node, o.value) for o in call.operands if o.keyword is None
    ]
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
    known = min((len(s.items) for s in sequences), default=0)
    return SequenceValue(items, rest, sure=known if known < length else None)


def _map(call: BuiltinCall) -> Value:
    if len(call.operands) < 2:
        return Unknown()
    function = call.operands[0].value
    zipped = _zip(replace(call, operands=call.operands[1:]))
    assert isinstance(zipped, SequenceValue)

    def run(arguments: Value) -> Value:
        items = arguments.items if isinstance(arguments, SequenceValue) else ()
        handed = [Operand(item, call.operands[1].expr) for item in items]
        return call.machine.call(call.state, call.node, function, handed)

    items = tuple(run(item) for item in zipped.items)
    return SequenceValue(items, run(zipped.rest) if zipped.rest is not None else None)


def _next(call: BuiltinCall) -> Value:
    if call.operands:
        call.machine.note_next(call.state, call.node, call.operands[0])
    sequence = (
        call.machine.iterate(call.state, call.node, call.operands[0].value)
        if call.operands
        else SequenceValue()
    )
    joined: Value | None = sequence.rest
    for item in sequence.items:
        joined = item if joined is None else join(joined, item)
    return joined or Unknown()


def _dict(call: BuiltinCall) -> Value:
    items: list[tuple[object, Value]] = []
    rest: Value | None = None
    for operand in call.operands:
        if operand.keyword is not None and operand.keyword != "**":
            items.append((operand.keyword, operand.value))
            continue
        found = (
            call.machine.object_at(call.state, operand.value)
            if isinstance(operand.value, Reference)
            else None
        )
        pairs = _pairs(call, operand.value)
        if isinstance(found, DictObject):
            items += found.items
            rest = found.rest
        elif pairs is not None:
            items += pairs
        else:
            rest = _value_in_pairs(call, operand.value)
    return call.machine.allocate(call.state, DictObject(tuple(items), rest))


def _value_in_pairs(call: BuiltinCall, value: Value) -> Value:
    """Any value of ``dict(model.named_modules())``, whose keys nobody knows."""
    sequence = call.machine.iterate(call.state, call.node, value)
    pairs = (*sequence.items, *((sequence.rest,) if sequence.rest is not None else ()))
    values = [one.items[1] for one in pairs if isinstance(one, SequenceValue) and len(one.items) == 2]
    if not values or len(values) < len(pairs):
        return Unknown(frozenset(call.state.tokens(value)))
    return reduce(join, values)


def _pairs(call: BuiltinCall, value: Value) -> list[tuple[object, Value]] | None:
    """What ``dict([("a", x), ("b", y)])`` holds; None where the source does not show every key."""
    sequence = call.machine.iterate(call.state, call.node, value)
    pairs: list[tuple[object, Value]] = []
    for item in sequence.items:
        if not isinstance(item, SequenceValue) or len(item.items) != 2:
            return None
        key, held = item.items
        if not isinstance(key, Constant) or not isinstance(key.value, (str, int)):
            return None
        pairs.append((key.value, held))
    return pairs if sequence.rest is None else None


def _defaultdict(call: BuiltinCall) -> Value:
    factory = call.operands[0].value if call.operands else None
    made = _dict(replace(call, operands=call.operands[1:]))
    assert isinstance(made, Reference)
    found = call.machine.object_at(call.state, made)
    assert isinstance(found, DictObject)
    call.state.heap[made.address] = replace(found, factory=factory)
    return made


def _named_tuple(call: BuiltinCall) -> Value:
    """``namedtuple("Pair", "first second")`` and ``NamedTuple("Pair", [("first", Tensor)])``."""
    fields = call.operands[1].value if len(call.operands) > 1 else NONE
    if isinstance(fields, Constant) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    else:
        listed = call.machine.iterate(call.state, call.node, fields).items
        firsts = [one.items[0] if isinstance(one, SequenceValue) and one.items else one for one in listed]
        names = [str(one.value) for one in firsts if isinstance(one, Constant)]
    at, annotation = call.node.at, ir.Const(call.node.at, None)
    body = tuple(ir.Assign(at, (ir.Name(at, name),), None, annotation) for name in names)
    frame = call.machine.frame
    return ClassValue(
        ir.Class(at, "namedtuple", (), body), frame.scope, frame.id, (External("typing.NamedTuple"),)
    )


def _partial_method(call: BuiltinCall) -> Value:
    made = _partial(call)
    return replace(made, is_method=True) if isinstance(made, Partial) else made


def _container(call: BuiltinCall) -> Value:
    """A container whose contents torch_remat does not look at: a deque, a set."""
    return Unknown(
        frozenset(t for operand in call.operands for t in call.state.tokens(operand.value)),
        call.machine.fresh(),
    )


def _partial(call: BuiltinCall) -> Value:
    if not call.operands:
        return Unknown()
    positional = tuple(o.value for o in call.operands[1:] if o.keyword is None)
    keywords = tuple((o.keyword, o.value) for o in call.operands if o.keyword is not None)
    return Partial(call.operands[0].value, positional, keywords)


def _method(call: BuiltinCall) -> Value:
    """``types.MethodType(function, receiver)``."""
    if len(call.operands) != 2:
        return Unknown()
    function, receiver = (operand.value for operand in call.operands)
    return bound_to(function, receiver)


def _getattr(call: BuiltinCall) -> Value:
    if len(call.operands) < 2:
        return Unknown()
    holder, named = call.operands[:2]
    if name := word([named]):
        return call.machine.fetch(call.state, call.node, holder, name)
    call.machine.look_at_everything(holder.value)
    return call.machine.get_named(call.state, call.node, holder.value, named)


def _hasattr(call: BuiltinCall) -> Value:
    if len(call.operands) == 2 and (name := word(call.operands[1:])):
        call.machine.meet_attribute(call.state, call.node, call.operands[0], name, NONE)
    return _no_read(call)


def _staticmethod(call: BuiltinCall) -> Value:
    """The function, which is bound to nothing."""
    function = call.operands[0].value if call.operands else Unknown()
    return Partial(function, (), ()) if isinstance(function, FunctionValue) else function


def _setattr(call: BuiltinCall) -> Value:
    if len(call.operands) > 2:
        call.machine.act(call.state, call.node, call.operands[0], "__setattr__", call.operands[1:3])
    return NONE


def _delattr(call: BuiltinCall) -> Value:
    if len(call.operands) == 2:
        call.machine.act(call.state, call.node, call.operands[0], "__delattr__", call.operands[1:])
    return NONE


def _vars(call: BuiltinCall) -> Value:
    return call.machine.attributes_of(call.operands[0].value) if call.operands else Unknown()


def _globals(call: BuiltinCall) -> Value:
    return Attributes(ModuleValue(call.machine.frame.scope))


def _context_variable(call: BuiltinCall) -> Value:
    default = next((o.value for o in call.operands if o.keyword == "default"), Unknown())
    made = InstanceObject(External(CONTEXT_VARIABLE), ((CONTEXT_VALUE, default),))
    return call.machine.allocate(call.state, made)


def _spectral_norm(call: BuiltinCall) -> Value:
    """The module itself, which changes with every call in training from now on."""
    module = next((o.value for o in call.operands if o.keyword in (None, "module")), Unknown())
    call.machine.set_attribute(call.state, module, SPECTRAL, Constant(True))
    return module


def _second(call: BuiltinCall) -> Value:
    return call.operands[1].value if len(call.operands) > 1 else Unknown()


def _super(call: BuiltinCall) -> Value:
    return call.machine.call_super(call.operands)


def _mode(enabled: bool | None) -> Builtin:
    return lambda _: GradMode(enabled)


def _given_mode(call: BuiltinCall) -> Value:
    """``torch.set_grad_enabled(flag)``."""
    value = call.operands[0].value if call.operands else NONE
    if isinstance(value, Constant):
        return GradMode(bool(value.value))
    return of_phases(lambda enabled: GradMode(bool(enabled)), value) or Unknown()


def _device(call: BuiltinCall) -> Value:
    """``torch.device("meta")``."""
    value = call.operands[0].value if call.operands else NONE
    if isinstance(value, Constant) and isinstance(value.value, str):
        return DeviceNamed(value.value)
    return SCALAR


BUILTINS: dict[str, Builtin] = {
    "torch.device": _device,
    **dict.fromkeys(["torch.no_grad", "torch.autograd.no_grad", "torch.inference_mode"], _mode(False)),
    "torch.enable_grad": _mode(True),
    "torch.set_grad_enabled": _given_mode,
    "contextlib.nullcontext": _mode(None),
    **dict.fromkeys(
        [
            "builtins.issubclass",
            "builtins.id",
            "builtins.hash",
            "builtins.callable",
            "torch.is_tensor",
            "torch.is_floating_point",
            "torch.is_complex",
        ],
        _no_read,
    ),
    "builtins.len": _len,
    "builtins.type": _type,
    **dict.fromkeys(["builtins.int", "builtins.bool"], _reads_number),
    **dict.fromkeys(
        [
            "builtins.float",
            "builtins.str",
            "builtins.repr",
            "builtins.print",
            "builtins.format",
            "builtins.any",
            "builtins.all",
            "builtins.complex",
            "builtins.round",
        ],
        _reads,
    ),
    **dict.fromkeys(
        [
            "builtins.sum",
            "builtins.max",
            "builtins.min",
            "builtins.abs",
            "builtins.pow",
            "builtins.divmod",
        ],
        _reads_to_tensor,
    ),
    "builtins.isinstance": _isinstance,
    "torch.utils._pytree.tree_map": _tree_map,
    "torch.utils._pytree.tree_map_only": _tree_map,
    "dataclasses.replace": _replaced,
    "copy.replace": _replaced,
    "builtins.range": _range,
    "builtins.list": _listed,
    "builtins.tuple": _tupled,
    "builtins.iter": _iterator,
    "builtins.set": _container,
    "builtins.frozenset": _container,
    "collections.defaultdict": _defaultdict,
    "collections.namedtuple": _named_tuple,
    "typing.NamedTuple": _named_tuple,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "builtins.reversed": _reversed,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.next": _next,
    "builtins.super": _super,
    "builtins.getattr": _getattr,
    "builtins.hasattr": _hasattr,
    "builtins.setattr": _setattr,
    "builtins.delattr": _delattr,
    "builtins.vars": _vars,
    "builtins.globals": _globals,
    "builtins.staticmethod": _staticmethod,
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    "types.MethodType": _method,
    "typing.cast": _second,
    "torch.jit.annotate": _second,
    CONTEXT_VARIABLE: _context_variable,
    "torch.nn.utils.spectral_norm": _spectral_norm,
    "torch.nn.utils.parametrizations.spectral_norm": _spectral_norm,
}
