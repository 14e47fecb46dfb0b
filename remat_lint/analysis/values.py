"""What a name can stand for while the analyser runs a program, and how two such values are joined.

Values are immutable and hashable. What a program can change in place (lists, dicts, objects) lies in
the heap of a ``State`` and is pointed to by a ``Reference``.

A tensor that shares the storage of a saved region's output carries that output's ``Token``; a view
keeps the token, a copy loses it. Everything the analyser wants to know is where tokens go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from remat_lint.analysis.facts import Cover, Device, Kept, RandomKind, Replayer, Unsteady
from remat_lint.findings import Place, Step

if TYPE_CHECKING:
    from remat_lint.analysis import ir
    from remat_lint.analysis.modules import ModuleScope
    from remat_lint.analysis.state import Consumer

MAX_ALTERNATIVES = 4
"""A value that may be more things than this is taken to be anything that holds their tokens."""

MAX_SIZE = 256
"""A tuple of more values than this, or a longer list, is taken to be any number of anything in it."""

MAX_HELD = 12
"""Older tokens of such a value are forgotten: a value that may be that many outputs tells nothing."""


@dataclass(frozen=True, slots=True)
class Token:
    """One output of one execution of a region that may be skipped on replay.

    ``serial`` grows with every execution, so that a token can be told to be older than a region.
    The outputs of a region whose function the analyser cannot see are parts of one token, their
    ``parent``: what persists the parent persists them. ``saved_when`` is the condition, as a path
    knows it, under which the policy saves the region, where the source shows one.
    """

    serial: int
    region: str
    place: Place
    kept: Kept
    part: str = ""
    parent: Token | None = None
    resident: bool = False
    saved_when: tuple[str, bool] | None = None

    def __hash__(self) -> int:  # tokens are looked up more than anything else
        return hash((self.serial, self.part))

    def lineage(self) -> Iterator[Token]:
        """The token itself, then what it is a part of."""
        token: Token | None = self
        while token is not None:
            yield token
            token = token.parent


RandomState = tuple[RandomKind, int]
"""A kind of random state, and the number of the object that has it, 0 for the only one of its kind."""


class Lent(NamedTuple):
    """A random state that is set to one which the project keeps itself, such as that of a tracker.

    That lies at ``path`` of the object with the number ``owner``; ``name`` is it as written.
    """

    kind: RandomKind
    number: int
    owner: int
    path: str
    name: str


class Restored(NamedTuple):
    """A random state that was set to a copy, which was taken on a device if it is torch's."""

    kind: RandomKind
    number: int
    device: Device | None


Seeded = frozenset[RandomState | Lent]
"""The random states that are set, and where they were taken from."""

Links = tuple[Token | int, ...]
"""Outputs, and addresses of objects in the heap, in the order in which a value or object holds them."""


class Made(Enum):
    """Where a tensor that is no region output comes from."""

    ELSEWHERE = 0
    """A parameter, an attribute, a result of unknown code: it may be an output after all."""

    COMPUTED = 1
    """An operation in view made it: it has a storage of its own."""

    COPIED = 2
    """So did an operation that copied an output."""

    LEAF = 3
    """It is a parameter, or was made to require grad."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between elements by their numbers, which ``operation`` takes at ``place``.

    ``region`` and ``kept`` are those of the region in which it is taken, empty and None outside of regions.
    ``functions`` are those that ran then. It is not ``replayed`` where replay finds it already taken.
    """

    place: Place
    operation: str
    region: str
    kept: Kept | None
    replayed: bool
    in_checkpoint: bool
    functions: frozenset[ir.Function]


@dataclass(frozen=True, slots=True)
class Value:
    """Anything a name can stand for."""

    def links(self) -> Links:
        """The outputs that it holds and the addresses that it refers to, its parts included, in order."""
        values = parts(self)
        return tuple(link for value in values for link in value.links()) if values else ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Something was read that may be another value when the code that read it runs again.

    It was read at ``place`` as ``what``, as written; ``number`` tells when. ``mixed`` is the operation that
    computed with it and something that may be a tensor.
    """

    what: str
    unsteady: Unsteady
    place: Place
    number: int
    mixed: Place | None = None


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """Something the analyser knows nothing about, but which tokens it may hold.

    ``origin`` identifies it where it is not 0: two views of one parameter share its storage. What was
    ``computed`` by an operator is a number or a tensor, no container. ``reading`` is what it depends on
    that may be another value on replay.
    """

    held: frozenset[Token] = frozenset()
    origin: int = 0
    computed: bool = False
    reading: Reading | None = None
    absent: bool = False
    """Whether it is None in the program at hand, and something in another configuration."""

    def links(self) -> Links:
        return tuple(self.held)


@dataclass(frozen=True, slots=True)
class Tensor(Value):
    """A tensor.

    ``layout`` are the dimension swaps since it was contiguous (empty: contiguous, as far as the
    source says). ``storage`` and ``like`` are equal for tensors that share storage, or dtype and
    device, and 0 where that is unknown. ``grad`` says whether it requires grad, None where that is
    unknown. ``resident`` tensors are kept by the operation that made them. ``opaque`` is the
    result of a region that may as well be a tuple.
    """

    token: Token | None = None
    layout: tuple[str, ...] = ()
    storage: int = 0
    like: int = 0
    grad: bool | None = None
    detached: bool = False
    resident: bool = False
    opaque: bool = False
    ends_in_units: bool = False
    made: Made = Made.ELSEWHERE
    moved: Consumer | None = field(default=None, compare=False)
    """The move to a device that gave it and may have copied: what is read of it is needed there."""

    reshaped: Consumer | None = field(default=None, compare=False)
    """The ``contiguous`` or ``reshape`` of an output of unknown layout that gave it: as above, but taken
    to have copied nothing where a marker follows."""

    decision: Decision | None = field(default=None, compare=False)
    """A decision on which its numbers depend."""

    via: tuple[Step, ...] = field(default=(), compare=False)
    """The views and calls through which it came, for messages only."""

    numbers: tuple[float, ...] = ()
    """What is in it, where the source shows that: rates that grow from layer to layer."""

    def links(self) -> Links:
        return (self.token,) if self.token is not None else ()


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A Python constant that the source shows."""

    value: object


@dataclass(frozen=True, slots=True)
class Scalar(Value):
    """A number, bool, string, size, dtype, ...: never a tensor, holds no tensor."""


@dataclass(frozen=True, slots=True)
class Setting(Scalar):
    """A scalar that is this one in the program at hand, and another one in another configuration."""

    value: object


@dataclass(frozen=True, slots=True)
class DeviceNamed(Scalar):
    """``torch.device(name)``, which is a context as well."""

    name: str


META = "meta"
"""The device whose tensors have no numbers, so that none are drawn for them."""


@dataclass(frozen=True, slots=True)
class Fickle(Scalar):
    """A scalar that may be another one when the code that read it runs again."""

    reading: Reading


USED_UP = ("iterator", "generator")
"""The kinds of what can be gone through once only."""


@dataclass(frozen=True, slots=True)
class Sequence(Value):
    """A tuple, or an iterable that is used up in order: ``items``, then any number of ``rest``."""

    items: tuple[Value, ...] = ()
    rest: Value | None = None
    fields: tuple[str, ...] = ()
    kind: str = "tuple"
    sure: int | None = None
    """How many of the items are there for certain, None for all: ``zip`` ends with its shortest argument.

    It is 0 where a condition decides whether there is anything in it at all."""
    seeded: Seeded | None = None
    """The random states that a generator function leaves set where it yields, None for anything else."""
    origin: int = 0
    """What tells an iterator, which moves on wherever it is handed, from others."""
    size: int = field(init=False, compare=False, repr=False, default=1)
    """How many values it is made of."""

    _links: Links | None = field(init=False, compare=False, repr=False, default=None)

    def __post_init__(self) -> None:
        values = parts(self)
        size = 1 + sum(value.size if isinstance(value, Sequence) else 1 for value in values)
        if size > MAX_SIZE:
            object.__setattr__(self, "items", ())
            object.__setattr__(self, "rest", _anything_of(values))
            size = 2
        object.__setattr__(self, "size", size)

    def links(self) -> Links:
        return _known_links(self, parts(self)) if self._links is None else self._links


@dataclass(frozen=True, slots=True)
class Reference(Value):
    """An object in the heap."""

    address: int

    def links(self) -> Links:
        return (self.address,)


@dataclass(frozen=True, slots=True)
class External(Value):
    """A name of a package that is not part of the project: ``torch.nn.functional.silu``."""

    name: str


@dataclass(frozen=True, slots=True)
class Source(Value):
    """An object that random numbers are drawn from, of a kind that ``random_names`` knows.

    ``number`` tells its state from others; it is 0 where the state is no object's own. ``of`` is the kind of
    that state.
    """

    kind: str
    of: RandomKind
    number: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot(Value):
    """A copy of a random state, as it was when it was ``taken``.

    ``seeded`` tells whether code that runs again takes an equal one.
    """

    of: RandomKind
    number: int
    taken: int
    seeded: bool
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class Fork(Value):
    """A context that leaves a random state as it found it."""

    of: RandomKind


@dataclass(frozen=True, slots=True)
class GradMode(Value):
    """A context in which operations have gradients, or have none; None where it changes nothing."""

    enabled: bool | None


@dataclass(frozen=True, slots=True)
class Imported(Value):
    """A name bound by an import that nobody has looked at yet: the module, and the name in it."""

    importer: ModuleScope
    module: str
    attribute: str | None
    level: int


@dataclass(frozen=True, slots=True)
class Namespace(Value):
    """A folder of the project that is imported but holds no ``__init__``: a namespace package."""

    importer: ModuleScope
    module: str
    level: int


@dataclass(frozen=True, slots=True)
class ModuleValue(Value):
    """A module of the project."""

    scope: ModuleScope = field(compare=True)


@dataclass(frozen=True, slots=True)
class Attributes(Value):
    """The attributes of an object by their names: ``vars(holder)``, and ``globals()`` of a module."""

    holder: Value


@dataclass(frozen=True, slots=True)
class ClassValue(Value):
    """A class of the project."""

    definition: ir.Class
    scope: ModuleScope
    frame: int
    bases: tuple[Value, ...]
    outer: ClassValue | None = None
    """The class in whose body it is defined."""

    def __hash__(self) -> int:  # many classes may inherit from many
        return hash((self.definition, self.frame))


@dataclass(frozen=True, slots=True)
class FunctionValue(Value):
    """A function, method or lambda of the project; ``frame`` is where its free names are looked up."""

    definition: ir.Function
    scope: ModuleScope
    frame: int
    owner: ClassValue | None = None
    receiver: Value | None = None
    defaults: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Method(Value):
    """A method, fetched but not called, of a value that is no object of the project."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class InheritedMethod(Value):
    """A method that an object of the project inherits from a class outside it (``nn.Linear.forward``)."""

    receiver: Value
    base: str
    name: str


@dataclass(frozen=True, slots=True)
class Super(Value):
    """``super()``: attributes are looked up behind ``owner`` in the receiver's classes."""

    owner: ClassValue
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial(Value):
    """``functools.partial``; a ``partialmethod`` also gets the object whose attribute it is."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class RegionName:
    """What a region or a name scope is called.

    ``text`` is for people. ``identity`` is equal for names that are equal at run time, as long as none of
    the ``variables`` is written (``12:stage``, a name of a frame, or ``.prefix``, an attribute of any
    object); it is empty where nobody knows.
    """

    text: str
    identity: str = ""
    variables: frozenset[str] = frozenset()

    def under(self, scopes: tuple[RegionName, ...]) -> RegionName:
        """The qualified name: that of the region with those of the scopes around it, joined with ``/``."""
        if not scopes:
            return self
        names = (*scopes, self)
        return RegionName(
            "/".join(name.text for name in names),
            "/".join(name.identity for name in names) if all(name.identity for name in names) else "",
            frozenset(variable for name in names for variable in name.variables),
        )


@dataclass(frozen=True, slots=True)
class NameScope(Value):
    """What ``remat.name_scope(prefix)`` returns."""

    name: RegionName


@dataclass(frozen=True, slots=True)
class RegionWrapper(Value):
    """What ``remat.region(...)`` returns."""

    place: Place
    function: Value
    name: RegionName
    kept: Kept
    saved_when: tuple[str, bool] | None = None


EVERYTHING = "*"
"""The path to all that an object holds."""


def holds(whole: Iterable[tuple[int, str]], held: tuple[int, str]) -> bool:
    """Whether state is part of all that one of these objects holds."""
    owner, path = held
    paths = (around for one, around in whole if one == owner and around.endswith(EVERYTHING))
    wholes = (around.removesuffix(EVERYTHING) for around in paths)
    return any(path == around or path.startswith((f"{around}.", f"{around}[")) for around in wholes)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The random states that a checkpoint restores before it runs code again.

    It is not ``known`` whole where it may restore others as well.
    """

    kinds: frozenset[RandomKind] = frozenset()
    objects: frozenset[int] = frozenset()
    """The numbers of generator objects."""

    attributes: frozenset[tuple[int, str]] = frozenset()
    """State of the project's own: the number of an object, and the path to its attribute."""

    devices: frozenset[Device] = frozenset(Device)
    """The devices whose default generators it restores, if it does those of torch."""

    trackers: bool = False
    """Whether the states are restored that its package keeps for its own draws."""

    known: bool = True
    always: bool = True
    """Whether it does so on every way: a condition may leave the hooks out."""

    without: Cover = Cover.NO_HOOK
    """Why any other state is not restored."""

    def restores(self, held: tuple[int, str]) -> bool:
        """Whether state of the project's own is restored, by itself or with all that an object holds."""
        return held in self.attributes or holds(self.attributes, held)


@dataclass(frozen=True, slots=True)
class CheckpointWrapper(Value):
    """What ``remat.checkpoint(...)`` returns, and what that returns for a function; or another checkpoint.

    ``place`` is where it was made, ``by`` says whose it is. It is not ``certain`` where it may do nothing.
    """

    place: Place
    function: Value | None = None
    hooks: tuple[str, ...] = ()
    """The options that gave it hooks."""

    coverage: Coverage = Coverage()
    by: Replayer = Replayer.REMAT
    certain: bool = True
    made_for: str = ""
    """The class whose objects all run under it, where a framework makes it."""

    stops_early: bool = False
    """Whether its replay may end the function by an error, as soon as backward has what it needs."""

    goes_on: bool = False
    """Whether another function of the same checkpoint takes what the function returns."""


@dataclass(frozen=True, slots=True)
class Compiled(Value):
    """``torch.compile(...)`` of something: reads what it is given, regions and markers inside are inert."""

    function: Value


@dataclass(frozen=True, slots=True)
class ByPhase(Scalar):
    """A constant that is another one on replay: ``remat.is_recomputing()``, and what is made of it.

    A mode of autograd is one as well.
    """

    forward: object = False
    replay: object = True


@dataclass(frozen=True, slots=True)
class PlaceholderTest(Value):
    """``remat.is_placeholder(tensor)``."""

    tested: Value


@dataclass(frozen=True, slots=True)
class Choice(Value):
    """One of several values, depending on the path."""

    alternatives: tuple[Value, ...]
    absent: bool | None = None
    """Whether it is None in the program at hand, and an object in another configuration, or the reverse."""

    _links: Links | None = field(init=False, compare=False, repr=False, default=None)

    def links(self) -> Links:
        return _known_links(self, self.alternatives) if self._links is None else self._links


NONE = Constant(None)
SCALAR = Scalar()
UNKNOWN = Unknown()


def _known_links(holder: Sequence | Choice | HeapObject, held: Iterable[Value]) -> Links:
    """The links of something that is asked for them again and again: worked out once."""
    links = tuple(link for value in held for link in value.links())
    object.__setattr__(holder, "_links", links)
    return links


def alternatives(value: Value) -> tuple[Value, ...]:
    """The values that a value may be."""
    return value.alternatives if isinstance(value, Choice) else (value,)


def join(first: Value, second: Value) -> Value:
    """The value that is either. Commutative up to the order of alternatives, and idempotent.

    >>> join(NONE, SCALAR) == Choice((NONE, SCALAR)) and join(NONE, NONE) == NONE
    True
    """
    if first is second or first == second:
        return first
    if isinstance(first, Sequence) and isinstance(second, Sequence) and _have_one_shape(first, second):
        pairs = zip(first.items, second.items, strict=True)
        items = tuple(join(mine, other) for mine, other in pairs)
        origin = first.origin if first.origin == second.origin else 0
        rest = join_optional(first.rest, second.rest)
        return Sequence(items, rest, first.fields, first.kind, origin=origin)
    both = tuple(dict.fromkeys(map(_in_any_program, (*alternatives(first), *alternatives(second)))))
    plain = [v for v in both if _is_plain(v)]
    if len(plain) > 1:  # nothing is decided on the difference between two values without tokens
        both = (*(v for v in both if not _is_plain(v)), _join_plain(plain))
    if len(both) == 1:
        return both[0]
    if len(both) > MAX_ALTERNATIVES:
        return _anything_of(both)
    return Choice(both)


def _in_any_program(value: Value) -> Value:
    """The value without what it is in the program at hand."""
    if isinstance(value, Setting):
        return SCALAR
    return replace(value, absent=False) if isinstance(value, Unknown) and value.absent else value


def at_hand(value: Value) -> Constant | None:
    """What a value is in the program at hand, if it is a constant there."""
    match value:
        case Constant():
            return value
        case Setting(value=known):
            return Constant(known)
        case Unknown(absent=True) | Choice(absent=True):
            return NONE
        case _:
            return None


def as_setting(value: Constant) -> Value:
    """The constant where another configuration has another one."""
    return Unknown(absent=True) if value.value is None else Setting(value.value)


def of_settings(function: Callable[..., object], *operands: Value) -> Value | None:
    """What a function makes of values that are constants in the program at hand; None of others."""
    given = [known.value for operand in operands if (known := at_hand(operand)) is not None]
    if len(given) < len(operands):
        return None
    try:
        made = function(*given)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return Setting(made) if isinstance(made, (bool, int, float)) else None


def settled(joined: Value, live: Iterable[Value]) -> Value:
    """What is one of several values, of which only the live ones are there in the program at hand."""
    values = tuple(live)
    known = {at_hand(value) for value in values}
    if isinstance(joined, Choice) and NONE in joined.alternatives:
        is_there = all(isinstance(value, Reference) for value in values)
        return replace(joined, absent=not is_there) if is_there or known == {NONE} else joined
    if (
        len(known) != 1
        or not isinstance(joined, (Scalar, Unknown))
        or reading_of(joined)
        or own_tokens(joined)
    ):
        return joined
    (only,) = known
    return joined if only is None else as_setting(only)


def _join_plain(values: list[Value]) -> Value:
    """One of several values without tokens.

    All that matters of tensors is whether they require grad, and on which decision they depend; of
    anything, whether it may be another value on replay.
    """
    reading = reading_in(values)
    if reading is not None:
        number = all(isinstance(value, (Scalar, Constant)) for value in values)
        return Fickle(reading) if number else Unknown(reading=reading)
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) < len(values):
        return UNKNOWN
    needs_no_grad = all(tensor.grad is False for tensor in tensors)
    decision = next((tensor.decision for tensor in tensors if tensor.decision is not None), None)
    if not needs_no_grad and decision is None:
        return UNKNOWN
    return Tensor(grad=False if needs_no_grad else None, decision=decision)


def reading_of(value: Value) -> Reading | None:
    """What a value depends on that may be another one on replay."""
    if isinstance(value, (Fickle, Unknown)):
        return value.reading
    return reading_in(value.alternatives) if isinstance(value, Choice) else None


def reading_in(values: Iterable[Value]) -> Reading | None:
    """The first thing that one of these values depends on and that may be another one on replay."""
    return next((reading for value in values if (reading := reading_of(value)) is not None), None)


def in_phases(forward: Value, replay: Value) -> Value | None:
    """What is one constant in the forward and another one on replay; None for anything else."""
    if isinstance(forward, GradMode) and isinstance(replay, GradMode):
        return forward if forward == replay else ByPhase(forward, replay)
    if not (isinstance(forward, (Constant, ByPhase)) and isinstance(replay, (Constant, ByPhase))):
        return None
    first = forward.forward if isinstance(forward, ByPhase) else forward.value
    second = replay.replay if isinstance(replay, ByPhase) else replay.value
    return Constant(first) if first is second else ByPhase(first, second)


def of_phases(function: Callable[..., object], *operands: Value) -> Value | None:
    """What a function makes of constants of which one, at least, is another one on replay; else None."""
    if not any(isinstance(operand, ByPhase) for operand in operands):
        return None
    constants = [operand for operand in operands if isinstance(operand, (Constant, ByPhase))]
    if len(constants) < len(operands):
        return None
    ways = (
        [one.value if isinstance(one, Constant) else one.forward for one in constants],
        [one.value if isinstance(one, Constant) else one.replay for one in constants],
    )
    try:
        return ByPhase(*(function(*given) for given in ways))
    except (TypeError, ValueError, ArithmeticError):
        return None


def scalar_from(values: Iterable[Value]) -> Scalar:
    """A scalar that is computed from these values."""
    reading = reading_in(values)
    return SCALAR if reading is None else Fickle(reading)


def _anything_of(values: Iterable[Value]) -> Unknown:
    """Something that holds the newest of the tokens that the values hold."""
    held = {token for value in values for token in direct_tokens(value)}
    return Unknown(frozenset(sorted(held, key=lambda token: (token.serial, token.part))[-MAX_HELD:]))


def _have_one_shape(first: Sequence, second: Sequence) -> bool:
    return (len(first.items), first.fields, first.kind) == (len(second.items), second.fields, second.kind)


def _is_plain(value: Value) -> bool:
    """Whether a value is a tensor, number or unknown thing without a token (``None`` is not one)."""
    if isinstance(value, Constant):
        return value.value is not None
    return isinstance(value, (Scalar, Unknown, Tensor)) and not any(direct_tokens(value))


def map_tensors(value: Value, change: Callable[[Tensor], Value]) -> Value:
    """The same value with every tensor changed, in tuples and alternatives too."""
    match value:
        case Tensor():
            return change(value)
        case Sequence(items=items, rest=rest):
            rest = map_tensors(rest, change) if rest is not None else None
            return replace(value, items=tuple(map_tensors(item, change) for item in items), rest=rest)
        case Choice(alternatives=values):
            changed = tuple(map_tensors(item, change) for item in values)
            return Choice(changed, absent=value.absent)
        case _:
            return value


def bound_to(function: Value, receiver: Value) -> Value:
    """The method that a function is of an object."""
    if isinstance(function, FunctionValue) and function.receiver is None:
        return replace(function, receiver=receiver)
    return Partial(function, (receiver,), ())


def parts(value: Value) -> tuple[Value, ...]:
    """The values that a value is made of, without following references into the heap."""
    match value:
        case Sequence(items=items, rest=rest):
            return items if rest is None else (*items, rest)
        case Choice(alternatives=values):
            return values
        case Partial(function, positional, keywords):
            return (function, *positional, *(item for _, item in keywords))
        case Method(receiver=receiver) | InheritedMethod(receiver=receiver):
            return (receiver,)
        case Attributes(holder=holder):
            return (holder,)
        case FunctionValue(receiver=receiver, defaults=defaults):
            bound = (receiver,) if receiver is not None else ()
            return (*bound, *(item for _, item in defaults))
        case RegionWrapper(function=function):
            return (function,)
        case _:
            return ()


def numbers(value: Value) -> Iterator[int]:
    """The numbers of the objects and storages in a value, in order: as many for values of one shape."""
    match value:
        case Unknown(origin=number, reading=Reading(number=read)):
            yield from (number, read)
        case (
            Tensor(storage=number)
            | Unknown(origin=number)
            | Reference(address=number)
            | Source(number=number)
        ):
            yield number
        case Fickle(reading=Reading(number=number)):
            yield number
        case _:
            if isinstance(value, Sequence) and value.kind in USED_UP:
                yield value.origin
            for part in parts(value):
                yield from numbers(part)


def own_tokens(value: Value) -> frozenset[Token]:
    """The tokens of a value itself, not of its parts."""
    if isinstance(value, Tensor):
        return frozenset((value.token,)) if value.token is not None else frozenset()
    return value.held if isinstance(value, Unknown) else frozenset()


def direct_tokens(value: Value) -> Iterator[Token]:
    """The tokens in a value, without following references into the heap."""
    yield from own_tokens(value)
    for part in parts(value):
        yield from direct_tokens(part)


def is_blank(value: Value) -> bool:
    """Whether nothing at all is known of a value."""
    return isinstance(value, Unknown) and not value.held and not value.computed


def holds_object(value: Value) -> bool:
    """Whether a value is or directly holds something that can be called or looked into."""
    if isinstance(value, (Reference, ClassValue, FunctionValue, RegionWrapper, CheckpointWrapper)):
        return True
    return isinstance(value, (Choice, Sequence, Partial)) and any(holds_object(part) for part in parts(value))


# --- what lies in the heap -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListObject:
    """A list, or a deque: ``items`` in order, then any number of ``rest``."""

    items: tuple[Value, ...] = ()
    rest: Value | None = None
    kind: str = "list"
    sure: int | None = None
    """How many of the items are there for certain, None for all.

    It is 0 where a condition decides whether there is anything in it at all."""
    _links: Links | None = field(init=False, compare=False, repr=False, default=None)

    def __post_init__(self) -> None:
        if len(self.items) > MAX_SIZE:
            object.__setattr__(self, "rest", _anything_of(contents(self)))
            object.__setattr__(self, "items", ())

    def links(self) -> Links:
        """The outputs and addresses that it holds itself."""
        return _known_links(self, contents(self)) if self._links is None else self._links


@dataclass(frozen=True, slots=True)
class DictObject:
    """A dict: values by constant key, and ``rest``, the value under any other key."""

    items: tuple[tuple[object, Value], ...] = ()
    rest: Value | None = None
    factory: Value | None = None
    """What makes the value of a missing key, in a ``defaultdict``."""
    _links: Links | None = field(init=False, compare=False, repr=False, default=None)

    def links(self) -> Links:
        """The outputs and addresses that it holds itself."""
        return _known_links(self, contents(self)) if self._links is None else self._links


CONTEXT_VALUE = " value"
"""The attribute under which a variable of ``contextvars``, or its token, has its value."""

CONTENTS = " contents"
"""The attribute under which a container of modules has what is in it, in order."""


@dataclass(frozen=True, slots=True)
class InstanceObject:
    """An object: its class (of the project, or ``External``) and its attributes.

    Objects of ``nn`` classes remember what they were constructed with: ``arguments``.
    """

    klass: ClassValue | External
    attributes: tuple[tuple[str, Value], ...] = ()
    arguments: tuple[tuple[str, Value], ...] = ()
    _links: Links | None = field(init=False, compare=False, repr=False, default=None)

    def links(self) -> Links:
        """The outputs and addresses that it holds itself."""
        return _known_links(self, contents(self)) if self._links is None else self._links

    def get(self, name: str) -> Value | None:
        for known, value in self.attributes:
            if known == name:
                return value
        return None

    def with_attribute(self, name: str, value: Value) -> InstanceObject:
        attributes = {**dict(self.attributes), name: value}
        return InstanceObject(self.klass, tuple(attributes.items()), self.arguments)


HeapObject = ListObject | DictObject | InstanceObject


def contents(found: HeapObject) -> Iterator[Value]:
    """The values that an object holds."""
    if isinstance(found, InstanceObject):
        yield from (value for _, value in found.attributes)
        yield from (value for _, value in found.arguments)
        return
    if isinstance(found, ListObject):
        yield from found.items
    elif isinstance(found, DictObject):
        yield from (value for _, value in found.items)
        if found.factory is not None:
            yield found.factory
    if found.rest is not None:
        yield found.rest


def join_optional(first: Value | None, second: Value | None) -> Value | None:
    if first is None or second is None:
        return first if second is None else second
    return join(first, second)


def join_objects(first: HeapObject, second: HeapObject) -> HeapObject:
    """The heap object that is either."""
    if first == second:
        return first
    match first, second:
        case ListObject(a, a_rest, kind), ListObject(b, b_rest):
            return ListObject(*_join_rows(a, a_rest, b, b_rest), kind)
        case DictObject(a_items, a_rest, factory), DictObject(b_items, b_rest):
            left, right = dict(a_items), dict(b_items)
            items = {
                key: join(left.get(key, right.get(key, UNKNOWN)), right.get(key, left.get(key, UNKNOWN)))
                for key in {**left, **right}
            }
            return DictObject(tuple(items.items()), join_optional(a_rest, b_rest), factory)
        case InstanceObject(klass, a_attributes, a_arguments), InstanceObject(_, b_attributes, b_arguments):
            attributes = _join_attributes(dict(a_attributes), dict(b_attributes))
            arguments = _join_attributes(dict(a_arguments), dict(b_arguments))
            return InstanceObject(klass, tuple(attributes.items()), tuple(arguments.items()))
        case _:
            return first


def _join_rows(
    a: tuple[Value, ...], a_rest: Value | None, b: tuple[Value, ...], b_rest: Value | None
) -> tuple[tuple[Value, ...], Value | None]:
    """Items and rest of what is either of two lists: the surplus of the longer one may be there or not."""
    shorter, longer = sorted((a, b), key=len)
    rest = join_optional(a_rest, b_rest)
    for item in longer[len(shorter) :]:
        rest = join_optional(rest, item)
    return tuple(join(x, y) for x, y in zip(a, b, strict=False)), rest


def _join_attributes(mine: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    joined: dict[str, Value] = {}
    if "training" in mine or "training" in other:  # every module is made in training
        mine, other = {"training": Constant(True), **mine}, {"training": Constant(True), **other}
    for name in {**mine, **other}:
        first, second = mine.get(name, other.get(name, UNKNOWN)), other.get(name, mine.get(name, UNKNOWN))
        is_filled = name in (CONTENTS, "keys")  # of a container of modules, in a loop
        if is_filled and isinstance(first, Sequence) and isinstance(second, Sequence):
            joined[name] = Sequence(*_join_rows(first.items, first.rest, second.items, second.rest))
        else:
            joined[name] = join(first, second)
    return joined
