"""What a call did, kept for the next call like it, so that no function is run again for nothing.

A call that is handed no region output, and sees no name of another function, does the same whenever
it is given operands of the same shape: it reports the same facts and returns the same structure, with
tensors and region outputs of its own. What happened to outputs that it did not hand back is settled
when it ends. This keeps the work of a project proportional to its size where calls fan out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from remat_lint.analysis.journal import Journal
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import Pending, State
from remat_lint.analysis.values import (
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    DictObject,
    External,
    FunctionValue,
    HeapObject,
    Imported,
    InstanceObject,
    ListObject,
    Method,
    ModuleValue,
    Partial,
    PhaseTest,
    PlaceholderTest,
    Reference,
    RegionWrapper,
    Scalar,
    Super,
    Tensor,
    Token,
    Unknown,
    Value,
    contents,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue

Lookup = Callable[[State, Reference], HeapObject | None]


class NotSummarised(Exception):
    """A value whose meaning depends on the path: a token, a region, a closure."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a call: its result, the objects that it made, its facts, and the outputs it handed back.

    ``outputs`` says for each output whether it is persisted, and which reads wait for a marker.
    """

    value: Value
    heap: tuple[tuple[int, HeapObject], ...]
    journal: Journal
    outputs: tuple[tuple[Token, bool, tuple[Pending, ...]], ...]

    def instantiate(self, state: State, journal: Journal, depth: int, fresh: Callable[[], int]) -> Value:
        """The result for another call at this depth: what shared a storage or an output shares a new one."""
        journal.absorb(self.journal)
        renewal = _Renewal(fresh)
        for token, marked, waiting in self.outputs:
            new = renewal.token(token)
            state.born[new] = depth
            if marked:
                state.mark(new)
            elif waiting:
                state.pending[new] = waiting
        for address, found in self.heap:
            state.heap[address] = renewal.object(found)
        return renewal.value(self.value)


class Summaries:
    """Quiet calls by function and by the shape of their operands."""

    def __init__(self, object_at: Lookup) -> None:
        self._object_at = object_at
        self._known: dict[object, Summary] = {}

    def key(
        self, state: State, function: FunctionValue, operands: Sequence[Operand], context: object
    ) -> object | None:
        """What two calls must have in common; None for a call that cannot be summarised."""
        if function.frame != function.scope.frame:
            return None  # it sees the names of another function
        try:
            shapes = tuple((o.keyword, o.star, self._shape(state, o.value)) for o in operands)
        except NotSummarised:
            return None
        return (function.definition, function.owner, context, shapes)

    def get(self, key: object | None) -> Summary | None:
        return self._known.get(key) if key is not None else None

    def put(
        self,
        key: object,
        state: State,
        value: Value,
        journal: Journal,
        before: State,
    ) -> None:
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
        outputs = [
            (token, state.is_marked(token), state.pending.get(token, ()))
            for token in state.born
            if token not in before.born and token in kept
        ]
        self._drop(state, journal, [t for t in state.born if t not in before.born and t not in kept])
        made = tuple((address, found) for address, found in heap.items() if address not in before.heap)
        self._known[key] = Summary(value, made, journal, tuple(outputs))

    def _drop(self, state: State, journal: Journal, tokens: Sequence[Token]) -> None:
        journal.settle({token: state.pending.pop(token) for token in tokens if token in state.pending})
        for token in tokens:
            del state.born[token]
        state.marked -= frozenset(tokens)

    def _shape(self, state: State, value: Value) -> object:
        match value:
            case Tensor(token=None, layout=layout, grad=grad, detached=detached):
                return ("tensor", layout, grad, detached)
            case Unknown(held=held) if not held:
                return "unknown"
            case Scalar() | Constant() | External() | ClassValue() | ModuleValue():
                return value
            case SequenceValue(items=items, rest=rest, kind=kind):
                return (
                    kind,
                    tuple(self._shape(state, item) for item in items),
                    self._shape(state, rest) if rest is not None else None,
                )
            case Choice(alternatives=values):
                return ("choice", tuple(self._shape(state, item) for item in values))
            case FunctionValue(frame=frame, scope=scope, defaults=()) if frame == scope.frame:
                return (value.definition, self._receiver_shape(state, value))
            case Reference():
                if any(True for _ in state.tokens(value)):
                    raise NotSummarised
                found = self._object_at(state, value)
                return (value, None if isinstance(found, InstanceObject) else found)
            case _:
                raise NotSummarised

    def _receiver_shape(self, state: State, value: FunctionValue) -> object:
        return self._shape(state, value.receiver) if value.receiver is not None else None

    def _collect(self, state: State, value: Value, heap: dict[int, HeapObject]) -> None:
        """Gather the objects that a result refers to. Raises ``NotSummarised``."""
        if isinstance(value, _PATH_BOUND):
            raise NotSummarised
        if isinstance(value, FunctionValue) and value.frame != value.scope.frame:
            raise NotSummarised
        for part in parts(value):
            self._collect(state, part, heap)
        if isinstance(value, Reference) and value.address not in heap:
            found = self._object_at(state, value)
            if found is not None:
                heap[value.address] = found
                for item in contents(found):
                    self._collect(state, item, heap)


_PATH_BOUND = (RegionWrapper, CheckpointWrapper, Compiled, PhaseTest, PlaceholderTest, Super, Imported)
"""Values whose meaning depends on where they are."""


def _changed_others(state: State, before: State, returned: dict[int, HeapObject]) -> bool:
    """Whether a call left an output in an object that was there before it."""
    return any(
        any(True for item in contents(found) for _ in state.tokens(item))
        for address, found in state.heap.items()
        if before.heap.get(address) is not found and (address in before.heap or address not in returned)
    )


class _Renewal:
    """Copies values, with new numbers and tokens for old ones, equal where the old ones were equal."""

    def __init__(self, fresh: Callable[[], int]) -> None:
        self._fresh = fresh
        self._numbers = {0: 0}
        self._tokens: dict[Token, Token] = {}

    def number(self, old: int) -> int:
        if old not in self._numbers:
            self._numbers[old] = self._fresh()
        return self._numbers[old]

    def token(self, old: Token) -> Token:
        if old not in self._tokens:
            parent = self.token(old.parent) if old.parent is not None else None
            serial = parent.serial if parent is not None else self._fresh()
            self._tokens[old] = replace(old, serial=serial, parent=parent)
        return self._tokens[old]

    def object(self, found: HeapObject) -> HeapObject:
        match found:
            case ListObject(items=items, rest=rest):
                return ListObject(tuple(map(self.value, items)), self._optional(rest))
            case DictObject(items=items, rest=rest):
                return DictObject(tuple((k, self.value(v)) for k, v in items), self._optional(rest))
            case InstanceObject(attributes=attributes):
                renewed = tuple((name, self.value(value)) for name, value in attributes)
                return replace(found, attributes=renewed)

    def _optional(self, value: Value | None) -> Value | None:
        return self.value(value) if value is not None else None

    def value(self, value: Value) -> Value:
        match value:
            case Tensor(token=token, storage=storage, like=like):
                new = self.token(token) if token is not None else None
                return replace(value, token=new, storage=self.number(storage), like=self.number(like))
            case Unknown(held=held, origin=origin):
                return replace(value, held=frozenset(map(self.token, held)), origin=self.number(origin))
            case SequenceValue(items=items, rest=rest):
                return replace(value, items=tuple(map(self.value, items)), rest=self._optional(rest))
            case Choice(alternatives=values):
                return Choice(tuple(map(self.value, values)))
            case Partial(function, positional, keywords):
                named = tuple((name, self.value(item)) for name, item in keywords)
                return Partial(self.value(function), tuple(map(self.value, positional)), named)
            case Method(receiver=receiver):
                return replace(value, receiver=self.value(receiver))
            case _:
                return value
