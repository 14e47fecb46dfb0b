"""What a call did, kept for the next call like it, so that no function is run again for nothing.

A call that sees no name of another function does the same whenever it is given operands of the same
shape: it reads and marks the same ones of the region outputs that it is handed, reports the same facts,
and returns the same structure, with tensors and region outputs of its own. What happened to outputs that
it did not hand back is settled when it ends. This keeps the work of a project proportional to its size
where calls fan out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from remat_lint.analysis.awaited import Awaiting
from remat_lint.analysis.deeds import Deeds
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.moves import Moves
from remat_lint.analysis.state import Chain, Claim, Consumer, MarkerRun, Pending, State
from remat_lint.analysis.values import (
    ByPhase,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    DictObject,
    External,
    Fickle,
    FunctionValue,
    GradMode,
    HeapObject,
    Imported,
    InstanceObject,
    ListObject,
    Method,
    ModuleValue,
    Partial,
    PlaceholderTest,
    Reading,
    Reference,
    RegionWrapper,
    Scalar,
    Seeded,
    Snapshot,
    Source,
    Super,
    Tensor,
    Token,
    Unknown,
    Value,
    contents,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Held

Lookup = Callable[[State, Reference], HeapObject | None]


class NotSummarised(Exception):
    """A value whose meaning depends on the path: a token, a region, a closure."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What two calls must have in common, and the region outputs that this one is handed, in order."""

    key: object
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call did to an output: marked it, read it (``waiting`` for a marker or not), or nothing.

    ``read`` says whether it read it on some path, ``always`` whether on all of them.
    """

    token: Token
    marked: bool
    waiting: tuple[Pending, ...]
    read: bool
    always: bool

    @classmethod
    def of(cls, token: Token, state: State, waiting: tuple[Pending, ...]) -> Effect:
        """What has become of an output on a path."""
        return cls(token, state.is_marked(token), waiting, token in state.readers, token in state.always)


@dataclass(frozen=True, slots=True)
class Done:
    """What a call did beside its result: its facts, the region names that it used, its deeds, its seeds.

    Names are told in terms of the ``frame`` that ran, deeds in terms of the ``numbers`` that it was handed.
    ``seeded`` are the random states that are set after it, ``returned`` is the state whose value it returned,
    ``returned_late`` as it left it itself,
    ``reset`` what it always sets whole, ``moves`` are where the state went that it wrote, ``awaiting`` is
    what its checkpoints look at again.
    """

    journal: Journal
    frame: int
    claims: tuple[Claim, ...]
    deeds: Deeds
    numbers: tuple[int, ...]
    seeded: Seeded
    returned: frozenset[Held]
    returned_late: frozenset[Held]
    reset: frozenset[Held]
    moves: Moves
    awaiting: Awaiting


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a call: its result, the objects that it made, what it did, and what became of outputs.

    ``outputs`` are those that it declared and handed back, ``effects`` concern those it was handed,
    ``runs`` are the markers that it ran on any of them.
    """

    tokens: tuple[Token, ...]
    value: Value
    heap: tuple[tuple[int, HeapObject], ...]
    outputs: tuple[Effect, ...]
    effects: tuple[Effect, ...]
    runs: tuple[MarkerRun, ...]
    done: Done

    def renewal(self, tokens: Sequence[Token], fresh: Callable[[], int], numbers: Sequence[int]) -> Renewal:
        """From the numbers and tokens of the summary to those of another call, handed others."""
        handed = dict(zip(self.done.numbers, numbers, strict=False))
        return Renewal(fresh, dict(zip(self.tokens, tokens, strict=True)), handed, self.done.frame)

    def instantiate(self, state: State, renewal: Renewal, depth: int, chain: Chain) -> Value:
        """The result for another call at this depth: what shared a storage or an output shares a new one.

        ``chain`` is where that call is made.
        """
        for output in self.outputs:
            new = renewal.token(output.token)
            state.born[new] = depth
            if output.marked:
                state.mark(new)
            elif output.waiting:
                state.pending[new] = output.waiting
            note_reads(state, output, new, chain)
        for run in self.runs:
            serial = renewal.number(run.serial)
            state.runs[serial] = replace(run, serial=serial, tokens=frozenset(map(renewal.token, run.tokens)))
        for address, found in self.heap:
            state.heap[address] = renewal.object(found)
        return renewal.value(self.value)


def note_reads(state: State, effect: Effect, token: Token, chain: Chain) -> None:
    """The reads of a call, repeated for another one."""
    if effect.read:
        always = state.always
        state.need(token, chain)
        if not effect.always:
            state.always = always


class Summaries:
    """The ends of calls, by function and by the shape of their operands."""

    def __init__(self, object_at: Lookup, nature: Callable[[Value], object]) -> None:
        self._object_at = object_at
        self._nature = nature
        self._known: dict[object, Summary] = {}

    def signature(
        self, state: State, function: FunctionValue, operands: Sequence[Operand], context: object
    ) -> Signature | None:
        """The signature of a call; None for one that cannot be summarised."""
        if function.frame != function.scope.frame:
            return None  # it sees the names of another function
        return self._signature(state, (function.definition, function.owner, context), operands)

    def construction(self, state: State, klass: ClassValue, operands: Sequence[Operand]) -> Signature | None:
        """The signature of a construction; None for one that is handed region outputs or closures."""
        signature = self._signature(state, klass, operands)
        return signature if signature is not None and not signature.tokens else None

    def _signature(self, state: State, what: object, operands: Sequence[Operand]) -> Signature | None:
        tokens: dict[Token, int] = {}
        try:
            shapes = tuple((o.keyword, o.star, self._shape(state, o.value, tokens)) for o in operands)
        except NotSummarised:
            return None
        return Signature((what, shapes), tuple(tokens))

    def reachable(self, state: State, value: Value) -> dict[int, HeapObject] | None:
        """The objects that a value refers to; None where it holds something bound to this path."""
        heap: dict[int, HeapObject] = {}
        try:
            self._collect(state, value, heap)
        except NotSummarised:
            return None
        return None if state.holds_tokens(value) else heap

    def get(self, signature: Signature) -> Summary | None:
        return self._known.get(signature.key)

    def put(self, signature: Signature, state: State, value: Value, before: State, done: Done) -> None:
        """Remember the end of a call that began in ``before``, where it means the same everywhere.

        The outputs that it did not hand back are dropped from the path: nobody can mark them any more.
        """
        heap: dict[int, HeapObject] = {}
        try:
            self._collect(state, value, heap)
        except NotSummarised:
            return
        if _changed_others(state, before, heap):
            return
        kept = {part for token in state.tokens(value) for part in token.lineage()}
        new = [token for token in state.born if token not in before.born]
        parts_of_old = {token for token in new if any(part in before.born for part in token.lineage())}
        if any(t in state.marked or t in state.pending or t in state.readers for t in parts_of_old):
            return  # a part of an output that it was handed has a fate of its own
        self._drop(state, done.journal, [token for token in new if token not in kept])
        self._known[signature.key] = Summary(
            signature.tokens,
            value,
            tuple((address, found) for address, found in heap.items() if address not in before.heap),
            tuple(Effect.of(token, state, state.pending.get(token, ())) for token in new if token in kept),
            tuple(_effects(signature.tokens, before, state)),
            tuple(run for serial, run in state.runs.items() if serial not in before.runs),
            done,
        )

    def _drop(self, state: State, journal: Journal, tokens: Sequence[Token]) -> None:
        journal.settle({token: state.pending.pop(token) for token in tokens if token in state.pending})
        dropped = frozenset(tokens)
        ended = [
            run
            for run in state.runs.values()
            if run.tokens <= dropped or state.readers_of(run.tokens & dropped)
        ]
        journal.judge(state, ended)
        for run in ended:
            del state.runs[run.serial]
        for token in tokens:
            del state.born[token]
            state.readers.pop(token, None)
        state.marked -= dropped
        state.always -= dropped

    def _shape(self, state: State, value: Value, tokens: dict[Token, int]) -> object:
        """What matters of an operand; the outputs in it are numbered as they come."""
        match value:
            case Tensor(moved=Consumer()) | Tensor(reshaped=Consumer()):
                raise NotSummarised  # what reads it is reported where it was moved
            case Tensor(token=token, layout=layout, grad=grad, detached=detached, opaque=opaque):
                output = _output_shape(state, token, tokens) if token is not None else None
                nature = (self._nature(value), value.decision)
                return ("tensor", output, layout, grad, detached, opaque, nature)
            case Unknown(held=held, reading=reading):
                ordered = sorted(held, key=lambda token: (token.serial, token.part))
                outputs = tuple(_output_shape(state, token, tokens) for token in ordered)
                return ("unknown", outputs, _reading_shape(reading), self._nature(value), value.absent)
            case Fickle(reading=reading):
                return ("fickle", _reading_shape(reading))
            case Scalar() | Constant() | GradMode() | External() | ClassValue() | ModuleValue():
                return value
            case Source(kind=kind, of=of, number=number):
                return ("source", kind, of, (of, number) in state.seeded)
            case SequenceValue(items=items, rest=rest, kind=kind):
                return (
                    kind,
                    tuple(self._shape(state, item, tokens) for item in items),
                    self._shape(state, rest, tokens) if rest is not None else None,
                )
            case Choice(alternatives=values, absent=absent):
                return ("choice", absent, tuple(self._shape(state, item, tokens) for item in values))
            case FunctionValue(frame=frame, scope=scope, defaults=()) if frame == scope.frame:
                return (value.definition, self._receiver_shape(state, value, tokens))
            case Reference():
                if state.holds_tokens(value):
                    raise NotSummarised
                found = self._object_at(state, value)
                return (value, None if isinstance(found, InstanceObject) else found)
            case _:
                raise NotSummarised

    def _receiver_shape(self, state: State, value: FunctionValue, tokens: dict[Token, int]) -> object:
        return self._shape(state, value.receiver, tokens) if value.receiver is not None else None

    def _collect(self, state: State, value: Value, heap: dict[int, HeapObject]) -> None:
        """Gather the objects that a result refers to. Raises ``NotSummarised``."""
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, _PATH_BOUND):
                raise NotSummarised
            if isinstance(one, FunctionValue) and one.frame != one.scope.frame:
                raise NotSummarised
            waiting += reversed(parts(one))
            if isinstance(one, Reference) and one.address not in heap:
                found = self._object_at(state, one)
                if found is not None:
                    heap[one.address] = found
                    waiting += reversed(list(contents(found)))


_PATH_BOUND = (
    RegionWrapper,
    CheckpointWrapper,
    Compiled,
    ByPhase,
    PlaceholderTest,
    Super,
    Imported,
    Snapshot,
)
"""Values whose meaning depends on where they are."""


def _changed_others(state: State, before: State, returned: dict[int, HeapObject]) -> bool:
    """Whether a call left an output in an object that was there before it."""
    return bool(state.born) and any(
        any(state.holds_tokens(item) for item in contents(found))
        for address, found in state.heap.items()
        if before.heap.get(address) is not found and (address in before.heap or address not in returned)
    )


def _output_shape(state: State, token: Token, tokens: dict[Token, int]) -> object:
    """An output as a callee sees it: which one, and whether marking or reading it would change anything."""
    fate = (state.is_marked(token), any(part in state.pending for part in token.lineage()))
    parent = _output_shape(state, token.parent, tokens) if token.parent is not None else None
    number = tokens.setdefault(token, len(tokens))
    return (number, token.kept, token.part, token.resident, fate, parent)


def _reading_shape(reading: Reading | None) -> object:
    return (reading.what, reading.place, reading.mixed) if reading is not None else None


def _effects(tokens: Sequence[Token], before: State, after: State) -> Iterator[Effect]:
    """What a call did to the outputs that it was handed."""
    for token in tokens:
        waiting = tuple(
            one for one in after.pending.get(token, ()) if one not in before.pending.get(token, ())
        )
        new = after.marked - before.marked
        effect = Effect(
            token, token in new, waiting, _reads(token, before, after), token in after.always - before.always
        )
        if effect.marked or waiting or effect.read:
            yield effect


def _reads(token: Token, before: State, after: State) -> bool:
    return bool(after.readers.get(token, frozenset()) - before.readers.get(token, frozenset()))


class Renewal:
    """Copies values, with new numbers and tokens for old ones, equal where the old ones were equal."""

    def __init__(
        self, fresh: Callable[[], int], tokens: dict[Token, Token], numbers: dict[int, int], since: int
    ) -> None:
        """``numbers`` are those that were handed in; what is older than ``since`` stays what it is."""
        self._fresh = fresh
        self._numbers = numbers | {0: 0}
        self._tokens = tokens
        self._since = since

    def number(self, old: int) -> int:
        if old not in self._numbers:
            self._numbers[old] = self._fresh() if old > self._since else old
        return self._numbers[old]

    def renewed(self) -> Iterator[tuple[int, int]]:
        """The old and new numbers of what the call made."""
        return ((old, new) for old, new in self._numbers.items() if old > self._since)

    def token(self, old: Token) -> Token:
        if old not in self._tokens:
            parent = self.token(old.parent) if old.parent is not None else None
            serial = parent.serial if parent is not None else self._fresh()
            self._tokens[old] = replace(old, serial=serial, parent=parent)
        return self._tokens[old]

    def object(self, found: HeapObject) -> HeapObject:
        match found:
            case ListObject(items=items, rest=rest):
                return replace(found, items=tuple(map(self.value, items)), rest=self._optional(rest))
            case DictObject(items=items, rest=rest):
                pairs = tuple((key, self.value(value)) for key, value in items)
                return replace(found, items=pairs, rest=self._optional(rest))
            case InstanceObject(attributes=attributes):
                renewed = tuple((name, self.value(value)) for name, value in attributes)
                return replace(found, attributes=renewed)

    def _reading(self, reading: Reading | None) -> Reading | None:
        return replace(reading, number=self.number(reading.number)) if reading is not None else None

    def _optional(self, value: Value | None) -> Value | None:
        return self.value(value) if value is not None else None

    def value(self, value: Value) -> Value:
        match value:
            case Tensor(token=token, storage=storage, like=like):
                new = self.token(token) if token is not None else None
                return replace(value, token=new, storage=self.number(storage), like=self.number(like))
            case Unknown(held=held, origin=origin, reading=reading):
                renewed, read = frozenset(map(self.token, held)), self._reading(reading)
                return replace(value, held=renewed, origin=self.number(origin), reading=read)
            case Fickle(reading=reading):
                return replace(value, reading=replace(reading, number=self.number(reading.number)))
            case SequenceValue(items=items, rest=rest, origin=origin):
                renewed_items = tuple(map(self.value, items))
                return replace(
                    value, items=renewed_items, rest=self._optional(rest), origin=self.number(origin)
                )
            case Choice(alternatives=values, absent=absent):
                return Choice(tuple(map(self.value, values)), absent=absent)
            case Partial(function, positional, keywords):
                named = tuple((name, self.value(item)) for name, item in keywords)
                return Partial(self.value(function), tuple(map(self.value, positional)), named)
            case Method(receiver=receiver):
                return replace(value, receiver=self.value(receiver))
            case _:
                return value
