"""What a track computes, operation by operation, and where replay computes something else.

The operations of each run of a checkpoint are one stream. Replay skips saved regions, so their
operations are left out of the forward's stream when the two are laid side by side. Views and what
only allocates memory are left out of both: neither has values of its own.

A difference is a *divergence* where nothing before explains it. What is computed from it differs as
well and is no divergence of its own; it only shows whether the difference reaches the gradients.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from remat_lint.runtime_check import tracks
from remat_lint.runtime_check.diagnosis import Place, place_in
from remat_lint.runtime_check.fingerprints import Fingerprint, fingerprint
from remat_lint.runtime_check.names import Names, storage_of
from remat_lint.runtime_check.nested import map_tensors, named_tensors
from remat_lint.runtime_check.placeholders import is_view
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.users_code import user_frames
from remat_lint.runtime_check.witness import CheckpointRun, Phase, RegionCall, Witness

BACKWARD = "backward"
"""The stream of what backward computes itself, outside replays."""

_REPEATS = 20
# Their results hold whatever the memory held before.
_ALLOCATES = ("empty", "new_empty", "set_", "resize_")

Prints = tuple["Fingerprint | None", ...]
Part = tuple[str, str]
"""A stream: the checkpoint, or nothing outside of all, and the phase."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that ran, or one call of a region. ``place`` is the user's line that asked for it.

    ``inputs`` are fingerprints from before, ``outputs`` from after, of what it returned and of what it wrote;
    None stands for a tensor without values: a placeholder, or memory that nothing has been written to.
    """

    name: str
    checkpoint: str
    region: str | None
    place: Place | None
    inputs: Prints
    outputs: Prints
    scalars: tuple[str, ...]
    storages: tuple[int | None, ...] = ()
    returned: int = 0
    """How many of the outputs it returned; it wrote to the others."""
    written: tuple[int | None, ...] = ()
    is_seeded: bool = False
    is_kept: bool = False
    is_region: bool = False


class How(Enum):
    """What is not the same."""

    OPERATION = "another operation"
    SCALARS = "another number"
    INPUTS = "another input"
    OUTPUTS = "another output"


class Repeated(Enum):
    """What an operation does when it runs again with the same inputs."""

    DRAWS = "draws random numbers"
    VARIES = "computes something else"
    SAME = "computes the same"


@dataclass(frozen=True, slots=True)
class Source:
    """An input that differs: what it is called, what it was called before, and what wrote to it last."""

    name: str | None
    before: str | None
    writer: Operation | None


@dataclass(slots=True)
class Divergence:
    """The place in a stream where something differs that nothing before explains.

    ``expected`` is the operation of the forward, ``actual`` the one of replay; one of them is missing
    where its stream has ended.
    """

    how: How
    checkpoint: str
    index: int
    expected: Operation | None
    actual: Operation | None
    sources: tuple[Source, ...] = ()
    repeated: Repeated | None = None
    generator: str | None = None
    reaches_gradients: bool = False

    in_replay: bool = True
    """Whether replay was laid beside its forward, and not one track beside another."""
    skips: bool = False
    """Replay goes on with something that forward did later."""

    @property
    def operation(self) -> Operation:
        """The operation to show: the one that only one of the two runs, as far as that is known."""
        found = self.expected if self.skips or self.actual is None else self.actual
        assert found is not None
        return found


@dataclass
class Moment:
    """The state just before one operation of a checkpoint, in both phases."""

    checkpoint: str
    index: int
    states: dict[Phase, dict[str, str]] = field(default_factory=dict)
    entries: dict[Phase, dict[str, str]] = field(default_factory=dict)
    """The state when the checkpoint's function began."""
    streams: tuple[str, ...] = ()
    """The random streams that are no operation's, by name."""


@dataclass(frozen=True, slots=True)
class _Given:
    tensor: Tensor
    is_written: bool
    storage: int | None
    print_: Fingerprint | None


class Trace(Witness):
    """Writes down the operations of a track, and lays those of replay beside those of the forward.

    With ``expected``, another trace, the operations outside replay are laid beside that one's. With a
    ``moment``, the state at that point is written down.
    """

    def __init__(
        self,
        observation: Observation,
        names: Names,
        *,
        expected: Trace | None = None,
        moment: Moment | None = None,
    ) -> None:
        self.streams: dict[Part, list[Operation]] = {}
        self.found: list[Divergence] = []
        self.names = names
        self._observation = observation
        self._expected = expected
        self._moment = moment
        self._outside = Phase.FORWARD.value
        self._comparisons: dict[Part, _Comparison] = {}
        self._lines: dict[int, Place | None] = {}
        self._places: dict[tuple[CodeType, int], Place] = {}
        self._memory = _Memory()
        self._buffers: dict[int, str] | None = None

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        with _Mode(self):
            yield

    def forward_ended(self, loss: Tensor) -> None:
        self._outside = BACKWARD

    def backward_ended(self) -> None:
        self._outside = Phase.FORWARD.value

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        part = run.checkpoint, run.phase.value
        self.streams[part] = []
        self._comparisons.pop(part, None)
        if self._moment and self._moment.checkpoint == run.checkpoint:
            self._moment.entries.setdefault(run.phase, self.names.state())
            self._moment.streams = tuple(sorted(self.names.streams()))

    def checkpoint_left(self, run: CheckpointRun) -> None:
        # torch's checkpoint ends a replay by an exception once it has all that was saved; torch_remat ends
        # one that comes to a region by another way than forward did.
        error = sys.exc_info()[1]
        broke_off = error is not None and "different code paths" not in str(error)
        comparison = self._comparison((run.checkpoint, run.phase.value))
        if comparison is not None and run.phase is Phase.REPLAY and not broke_off:
            comparison.ended()
        if self._moment and self._moment.checkpoint == run.checkpoint:
            self._moment.states.setdefault(run.phase, self.names.state(self._frames()))

    def region_called(self, call: RegionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._observation.keeps(call.checkpoint, call.inside):
            self._note_region(f"region {call.region}", call, (args, kwargs), (f"recompute={call.recompute}",))

    def region_returned(self, call: RegionCall, output: Any) -> None:
        if not self._observation.keeps(call.checkpoint, call.inside):
            self._note_region(f"the output of region {call.region}", call, output, ())

    def _note_region(self, name: str, call: RegionCall, value: Any, scalars: tuple[str, ...]) -> None:
        self._take_moment()
        given = [self._given(tensor, False) for _, tensor in named_tensors(value, "")]
        inside = call.inside[-1] if call.inside else None
        operation = Operation(
            name=name,
            checkpoint=call.checkpoint,
            region=inside,
            place=self._place(),
            inputs=tuple(one.print_ for one in given),
            outputs=(),
            scalars=scalars,
            storages=tuple(one.storage for one in given),
            is_region=True,
        )
        self._note(operation, given, [], None, all_count=torch.is_grad_enabled())

    def dispatched(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation of the step and note it."""
        name = _name(func)
        if name.startswith(_ALLOCATES):
            output = func(*args, **kwargs)
            self._memory.allocated(output)
            return output
        if name != "lift_fresh" and hasattr(func, "_schema") and is_view(func):
            return func(*args, **kwargs)
        given = [self._given(tensor, is_written) for tensor, is_written in _tensors_given(func, args, kwargs)]
        self._take_moment()
        is_compared = self._comparison(self._part) is not None
        writes = any(one.is_written for one in given)
        again_args, again_kwargs = _copies((args, kwargs)) if is_compared and writes else (args, kwargs)
        output = func(*args, **kwargs)
        returned = [tensor for _, tensor in named_tensors(output, "")]
        written = [one for one in given if self._was_written(one)]
        operation = self._operation(name, func, given, written, returned, (args, kwargs))
        fresh = [storage_of(tensor) for tensor in returned]
        self._note(
            operation,
            given,
            [*fresh, *operation.written],
            lambda: _repeated(func, again_args, again_kwargs),
            generator=next((v for v in _values((args, kwargs)) if isinstance(v, torch.Generator)), None),
            leaves_torch=not returned and output is not None,
        )
        self._memory.computed(fresh, operation)
        return output

    def _operation(
        self,
        name: str,
        func: Any,
        given: Sequence[_Given],
        written: Sequence[_Given],
        returned: Sequence[Tensor],
        arguments: Any,
    ) -> Operation:
        regions = self._observation.running_regions
        checkpoint, _ = self._part
        return Operation(
            name=name,
            checkpoint=checkpoint,
            region=regions[-1] if regions else None,
            place=self._place(),
            inputs=tuple(one.print_ for one in given),
            outputs=tuple(_print(t) for t in (*returned, *(one.tensor for one in written))),
            scalars=tuple(_scalars(arguments)),
            storages=tuple(one.storage for one in given),
            returned=len(returned),
            written=tuple(one.storage for one in written),
            is_seeded=torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()),
            is_kept=self._observation.keeps(checkpoint, regions),
        )

    def _note(
        self,
        operation: Operation,
        given: Sequence[_Given],
        made: Sequence[int | None],
        repeat: Callable[[], Repeated] | None,
        *,
        generator: torch.Generator | None = None,
        all_count: bool = False,
        leaves_torch: bool = False,
    ) -> None:
        comparison = self._comparison(self._part)
        self.streams.setdefault(self._part, []).append(operation)
        if comparison is None:
            return
        is_differentiable = torch.is_grad_enabled() and any(one.tensor.requires_grad for one in given)
        found = comparison.next(
            operation, made, leaves_torch=leaves_torch, counts=all_count or is_differentiable
        )
        if found is None:
            return
        if found.how is How.INPUTS:
            assert found.expected is not None
            pairs = zip(found.expected.inputs, operation.inputs, strict=True)
            found.sources = tuple(
                self._source(now, before)
                for (was, is_now), now, before in zip(
                    pairs, operation.storages, found.expected.storages, strict=True
                )
                if was is not None and is_now is not None and was != is_now
            )
        if found.how is How.OUTPUTS and repeat is not None:
            found.repeated = repeat()
            found.generator = self.names.of_generator(generator) if generator is not None else None

    def _source(self, now: int | None, before: int | None) -> Source:
        name = self.names.of_storage(now, self._frames())
        return Source(
            name,
            name if now == before else self.names.of_storage(before),
            self._memory.writers.get(now) if now == before else None,
        )

    def _comparison(self, part: Part) -> _Comparison | None:
        if part not in self._comparisons:
            checkpoint, phase = part
            if phase == Phase.REPLAY.value:
                forward = self.streams.get((checkpoint, Phase.FORWARD.value), [])
                expected = [one for one in forward if not one.is_kept]
            elif self._expected is not None:
                expected = self._expected.streams.get(part, [])
            else:
                return None
            is_replay = phase == Phase.REPLAY.value
            self._comparisons[part] = _Comparison(expected, self.found, self._memory.taints, is_replay)
        return self._comparisons[part]

    @property
    def _part(self) -> Part:
        run = self._observation.running
        return (run.checkpoint, run.phase.value) if run else ("", self._outside)

    def _given(self, tensor: Tensor, is_written: bool) -> _Given:
        storage = storage_of(tensor)
        is_empty = storage in self._memory.unwritten
        return _Given(tensor, is_written, storage, None if is_empty else _print(tensor))

    def _was_written(self, given: _Given) -> bool:
        """Batch normalisation writes to its buffers, and its schema does not say so."""
        if given.is_written:
            return True
        if self._buffers is None:
            self._buffers = self.names.buffers()
        return given.storage in self._buffers and _print(given.tensor) != given.print_

    def _take_moment(self) -> None:
        run, moment = self._observation.running, self._moment
        if moment is None or run is None or run.checkpoint != moment.checkpoint:
            return
        if self._observation.keeps(run.checkpoint, self._observation.running_regions):
            return
        done = sum(not one.is_kept for one in self.streams[self._part])
        if done == moment.index:
            moment.states.setdefault(run.phase, self.names.state(self._frames()))

    def _frames(self) -> Iterator[Any]:
        return user_frames(tracks.run.__code__)

    def _place(self) -> Place | None:
        """The user's line that runs; in backward the one whose gradient is computed."""
        node: Any = torch._C._current_autograd_node()
        frame = next(self._frames(), None)
        if frame is None:
            return self._lines.get(node._sequence_nr()) if node is not None else None
        at = frame.f_code, frame.f_lineno
        if at not in self._places:
            self._places[at] = place_in(*at)
        if node is None:  # the last node that was made is the one that this operation belongs to
            latest = torch._C._autograd._get_sequence_nr() - 1  # pyright: ignore[reportAttributeAccessIssue]
            self._lines[latest] = self._places[at]
        return self._places[at]


class _Memory:
    """What is known of storages: which hold nothing yet, what wrote to them, which hold other values."""

    def __init__(self) -> None:
        self.unwritten: set[int] = set()
        self.writers: dict[int | None, Operation] = {}
        self.taints: dict[int | None, Divergence] = {}

    def allocated(self, output: Any) -> None:
        """These outputs hold whatever the memory held before."""
        for _, tensor in named_tensors(output, ""):
            storage = storage_of(tensor)
            if storage is not None:
                self.unwritten.add(storage)
                self.writers.pop(storage, None)
                self.taints.pop(storage, None)

    def computed(self, returned: Sequence[int | None], operation: Operation) -> None:
        """An operation made new storages and wrote to old ones."""
        for storage in (*returned, *operation.written):
            if storage is None:
                continue
            self.unwritten.discard(storage)
            if storage in operation.written:
                self.writers[storage] = operation
            elif storage not in operation.storages:
                self.writers.pop(storage, None)


class _Comparison:
    """Lays one stream beside the one that is expected, operation by operation."""

    def __init__(
        self,
        expected: list[Operation],
        found: list[Divergence],
        taints: dict[int | None, Divergence],
        is_replay: bool,
    ) -> None:
        self._is_replay = is_replay
        self._expected = expected
        self._found = found
        self._taints = taints
        self._index = -1
        self._has_ended = False
        self._left_torch: Divergence | None = None
        """The difference that a number read from a tensor, or its shape, has carried into Python."""

    def next(
        self, actual: Operation, made: Sequence[int | None], *, leaves_torch: bool, counts: bool
    ) -> Divergence | None:
        """The divergence that begins with this operation, if any."""
        if self._has_ended:
            return None
        self._index += 1
        expected = self._expected[self._index] if self._index < len(self._expected) else None
        if expected is None or _shape(expected) != _shape(actual):
            return self._other_operation(expected, actual)
        inputs = {
            storage
            for was, now, storage in zip(expected.inputs, actual.inputs, actual.storages, strict=True)
            if was is not None and now is not None and was != now
        }
        unlike = [
            was is not None and now is not None and was != now
            for was, now in zip(expected.outputs, actual.outputs, strict=False)
        ]
        unlike_scalars = expected.scalars != actual.scalars
        if unlike_scalars and actual.is_region:
            # Under another policy a region's flag is another one, but not in the replay of the same track.
            if self._is_replay:
                return self._other_operation(expected, actual)
            unlike_scalars = False
        root, is_new = self._root(inputs, unlike_scalars, any(unlike), expected, actual)
        if root is None:
            for storage in made:
                self._taints.pop(storage, None)
            return None
        if leaves_torch or _is_seen_by_python(expected, actual):
            self._left_torch = root
        for storage in (*inputs, *itertools.compress(made, unlike)):
            self._taints.setdefault(storage, root)
        if counts and (any(unlike[: actual.returned]) or actual.is_region):
            root.reaches_gradients = True
        return root if is_new else None

    def ended(self) -> None:
        """The stream has come to its end."""
        if not self._has_ended and self._index + 1 < len(self._expected):
            self._index += 1
            self._other_operation(self._expected[self._index], None)

    def _root(
        self, inputs: set[int | None], scalars: bool, outputs: bool, expected: Operation, actual: Operation
    ) -> tuple[Divergence | None, bool]:
        """What explains that this operation differs, and whether it is told for the first time."""
        if scalars and self._left_torch is not None:
            return self._left_torch, False
        known = next((self._taints[storage] for storage in inputs if storage in self._taints), None)
        if scalars:
            how = How.SCALARS
        elif known is not None:
            return known, False
        elif inputs:
            how = How.INPUTS
        elif outputs:
            how = How.OUTPUTS
        else:
            return None, False
        return self._new(how, expected, actual), True

    def _other_operation(self, expected: Operation | None, actual: Operation | None) -> Divergence:
        self._has_ended = True
        if self._left_torch is not None:
            self._left_torch.reaches_gradients = True
        found = self._new(How.OPERATION, expected, actual)
        found.reaches_gradients = True
        later = self._expected[self._index + 1 :]
        found.skips = actual is not None and any(
            (one.name, one.place) == (actual.name, actual.place) for one in later
        )
        return found

    def _new(self, how: How, expected: Operation | None, actual: Operation | None) -> Divergence:
        one = expected or actual
        assert one is not None
        found = Divergence(how, one.checkpoint, self._index, expected, actual, in_replay=self._is_replay)
        self._found.append(found)
        return found


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, trace: Trace) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._trace = trace

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._trace.dispatched(func, args, kwargs or {})


def _is_seen_by_python(expected: Operation, actual: Operation) -> bool:
    """Do the outputs differ in what code can branch on without reading a value?"""
    return any(
        was is not None and now is not None and (was.shape, was.dtype) != (now.shape, now.dtype)
        for was, now in zip(expected.outputs, actual.outputs, strict=False)
    )


def _shape(operation: Operation) -> tuple[str, int]:
    return operation.name, len(operation.inputs)


def _name(func: Any) -> str:
    schema = getattr(func, "_schema", None)
    return str(func) if schema is None else str(schema.name).removeprefix("aten::")


def _print(tensor: Tensor) -> Fingerprint | None:
    try:
        return fingerprint(tensor)
    except (RuntimeError, NotImplementedError):  # kinds of tensors without bytes of their own
        return None


def _tensors_given(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Tensor, bool]]:
    """The tensors among the arguments, and whether the operation says that it writes to them."""
    schema = getattr(func, "_schema", None)
    by_name = {one.name: one for one in schema.arguments} if schema is not None else {}
    positional = list(by_name)
    named = [*zip(positional, args, strict=False)] if schema is not None else [("", one) for one in args]
    for name, value in (*named, *kwargs.items()):
        alias = by_name[name].alias_info if name in by_name else None
        for _, tensor in named_tensors(value, ""):
            yield tensor, alias is not None and alias.is_write


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _values(item)
    else:
        yield value


def _scalars(arguments: Any) -> Iterator[str]:
    """The numbers and options among the arguments, exactly."""
    for value in _values(arguments):
        if not isinstance(value, (Tensor, torch.Generator)):
            yield repr(value) if isinstance(value, (int, float, complex, str)) else str(value)


def _copies(arguments: Any) -> Any:
    with torch.no_grad():
        return map_tensors(arguments, lambda tensor: tensor if _print(tensor) is None else tensor.clone())


def _repeated(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Repeated:
    """Run the operation again, on copies of its inputs; the random streams stay where they are."""
    seen: list[Prints] = []
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        before = _random_states(devices)
        for _ in range(_REPEATS):
            again, again_kwargs = _copies((args, kwargs))
            output = func(*again, **again_kwargs)
            seen.append(tuple(_print(tensor) for _, tensor in named_tensors(output, "")))
            if _random_states(devices) != before:
                return Repeated.DRAWS
            if seen[-1] != seen[0]:
                return Repeated.VARIES
    return Repeated.SAME


def _random_states(devices: Sequence[int]) -> list[Fingerprint | None]:
    states = [torch.get_rng_state(), *(torch.cuda.get_rng_state(device) for device in devices)]
    return [fingerprint(state) for state in states]
