"""What a call did, kept for the next call like it, so that code without regions is run once.

Most functions that a model calls neither receive a region's output nor declare a region. Such a call
is *quiet*: it leaves nothing behind but its result. A second call with operands of the same shape
gives the same result, with tensors of its own. This keeps the work of a project proportional to its
size where calls fan out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    External,
    FunctionValue,
    HeapObject,
    Imported,
    InstanceObject,
    ModuleValue,
    PhaseTest,
    PlaceholderTest,
    Reference,
    RegionWrapper,
    Scalar,
    Super,
    Tensor,
    Unknown,
    Value,
    contents,
    own_tokens,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue

Lookup = Callable[[State, Reference], HeapObject | None]


class NotSummarised(Exception):
    """A value whose meaning depends on the path: a token, a region, a closure."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a quiet call, and the objects that it made and returned."""

    value: Value
    heap: tuple[tuple[int, HeapObject], ...]

    def instantiate(self, state: State, fresh: Callable[[], int]) -> Value:
        """The result for another call: what shared storage shares a new one."""
        for address, found in self.heap:
            state.heap.setdefault(address, found)
        return _renumbered(self.value, {0: 0}, fresh)


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

    def put(self, key: object, state: State, value: Value) -> None:
        """Remember the result of a quiet call, where it means the same everywhere."""
        heap: dict[int, HeapObject] = {}
        try:
            self._collect(state, value, heap)
        except NotSummarised:
            return
        self._known[key] = Summary(value, tuple(heap.items()))

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
        if isinstance(value, _PATH_BOUND) or any(True for _ in own_tokens(value)):
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


def _renumbered(value: Value, numbers: dict[int, int], fresh: Callable[[], int]) -> Value:
    def new(number: int) -> int:
        if number not in numbers:
            numbers[number] = fresh()
        return numbers[number]

    match value:
        case Tensor(storage=storage, like=like):
            return replace(value, storage=new(storage), like=new(like))
        case Unknown(origin=origin):
            return replace(value, origin=new(origin))
        case SequenceValue(items=items, rest=rest):
            return replace(
                value,
                items=tuple(_renumbered(item, numbers, fresh) for item in items),
                rest=_renumbered(rest, numbers, fresh) if rest is not None else None,
            )
        case Choice(alternatives=values):
            return Choice(tuple(_renumbered(item, numbers, fresh) for item in values))
        case _:
            return value
