"""One plain forward, written down as torch_remat would look at it under a policy.

What each region gets, saves for backward and returns, and what the markers name, stands there in order,
each tensor as a storage and its place in it. The forward is run without checkpoints, with hooks on saved
tensors around each region as torch_remat has them around a saved one; real runs never have such hooks.

At the end of the forward, all that the hooks were given is let go of. What is alive then, beside the inputs
of checkpoints, is what no policy gets rid of.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_remat._pytree import iter_arg_leaves, value_leaves

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.plan import PLAIN
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.storages import Storages, storages_of
from remat_lint.runtime_check.witness import CheckpointCall, RegionCall

Region = tuple[str, str]
"""A region by the name of its checkpoint and its own."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where a tensor lies: the number of its storage, and what it is there."""

    storage: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    @property
    def end(self) -> int:
        """One past the last element that can be reached; the offset itself for an empty tensor."""
        if 0 in self.shape:
            return self.offset
        reach = sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True))
        return self.offset + reach + 1


@dataclass(frozen=True, slots=True)
class Input:
    """An argument of a region, as it was at the call. ``version`` counts its changes in place."""

    geometry: Geometry
    version: int


@dataclass(frozen=True, slots=True)
class Match:
    """How a saved tensor lies in its region's inputs: the same as one, or a view inside some."""

    same: Input | None
    around: tuple[Input, ...]


@dataclass(slots=True, eq=False)
class Saved:
    """A tensor that an operation saved for backward. ``is_alive`` at the end of the forward."""

    storage: int
    version: int
    is_alive: bool = True


@dataclass(slots=True, eq=False)
class RegionRun:
    """One call of a region. ``saved`` has what is saved in it, and in the regions inside it, too."""

    region: Region
    own_recompute: bool
    is_decided: bool
    around: tuple[RegionRun, ...]
    honours_regions: bool
    inputs: tuple[Input, ...]
    saved: list[tuple[Saved, Match]] = field(default_factory=list)
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A region is called."""

    run: RegionRun

    @property
    def checkpoint(self) -> str:
        """The checkpoint in which that was."""
        return self.run.region[0]


@dataclass(frozen=True, slots=True, eq=False)
class Returned:
    """Its function returned."""

    run: RegionRun

    @property
    def checkpoint(self) -> str:
        """The checkpoint in which that was."""
        return self.run.region[0]


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """A marker names storages."""

    checkpoint: str
    storages: tuple[int, ...]


Event = Called | Returned | Marked


@dataclass
class Probe:
    """What happened in the plain forward.

    ``plain_bytes`` is what the plain step retains, ``base_bytes`` what every policy does.
    """

    events: list[Event] = field(default_factory=list)
    plain_bytes: int = 0
    base_bytes: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    """Bytes of the storages that checkpoints let go of; others are in the base, or not the step's."""
    dead: set[str] = field(default_factory=set)
    """Checkpoints that backward never reaches: they keep nothing."""
    _by_checkpoint: dict[str, list[Event]] = field(default_factory=dict)

    @property
    def regions(self) -> tuple[Region, ...]:
        """Every region of every checkpoint that a policy may save, in the order of their first call."""
        return tuple(
            dict.fromkeys(
                event.run.region
                for event in self.events
                if isinstance(event, Called) and event.run.is_decided and event.run.honours_regions
            )
        )

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Every checkpoint that a region or marker was seen in, in order."""
        return tuple(dict.fromkeys(event.checkpoint for event in self.events))

    def events_of(self, checkpoint: str) -> tuple[Event, ...]:
        """What happened in one checkpoint."""
        if not self._by_checkpoint:
            for event in self.events:
                self._by_checkpoint.setdefault(event.checkpoint, []).append(event)
        return tuple(self._by_checkpoint.get(checkpoint, ()))

    @property
    def nested(self) -> dict[str, tuple[str, ...]]:
        """Every region that a policy decides, by its name alone, with those that run inside it."""
        inside: dict[str, dict[str, None]] = {name: {} for _, name in self.regions}
        for event in self.events:
            if isinstance(event, Called) and event.run.region[1] in inside:
                for outer in event.run.around:
                    inside.setdefault(outer.region[1], {})[event.run.region[1]] = None
        return {name: tuple(inside[name]) for _, name in self.regions}

    def doubts(self) -> Iterable[str]:
        """What there is in the step that the rules may not cover."""
        runs = [event.run for event in self.events if isinstance(event, Called)]
        nested = dict.fromkeys(run.region[1] for run in runs if run.around)
        if nested:
            yield f"regions stand inside others: {', '.join(nested)}"
        changed = dict.fromkeys(
            run.region[1]
            for run in runs
            for saved, match in run.saved
            if any(saved.version != one.version for one in (match.same, *match.around) if one is not None)
        )
        if changed:
            yield f"inputs are changed in place in: {', '.join(changed)}"
        if any(not run.honours_regions for run in runs):
            yield "regions stand in a checkpoint of torch, which does not know them"


def probed(bench: Bench) -> Probe:
    """Run the plain forward once, and note what torch_remat would look at."""
    witnesses: list[_Probing] = []

    def watching(observation: Observation) -> list[_Probing]:
        witnesses.append(_Probing(observation))
        return witnesses

    with suppress(_ForwardIsEnough):
        failure = bench.run(PLAIN, watching).failure
        raise UsageError(f"the step fails without any checkpoint: {failure}")
    return witnesses[-1].probe


class _ForwardIsEnough(BaseException):
    """Ends the probe: what backward needs was let go of. No failure of the step, so no ``Exception``."""


def _match(saved: Geometry, inputs: Iterable[Input]) -> Match:
    alike = [
        one for one in inputs if (one.geometry.storage, one.geometry.dtype) == (saved.storage, saved.dtype)
    ]
    same = next((one for one in alike if one.geometry == saved), None)
    inside = (one for one in alike if one.geometry.offset <= saved.offset and saved.end <= one.geometry.end)
    return Match(same, tuple(inside) if saved.end > saved.offset else ())


def _unpacked(_: _Payload) -> Tensor:
    raise AssertionError("the probe has no backward")


class _Payload:
    """What a hook of the probe gives to autograd for a saved tensor."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        # Detached, so that a node that saves its own output does not keep itself alive.
        self.tensor: Tensor | None = tensor.detach()


class _Probing(Storages):
    """Writes the probe."""

    def __init__(self, observation: Observation) -> None:
        super().__init__(observation)
        self.probe = Probe()
        self._observation = observation
        self._hooks: list[AbstractContextManager[Any]] = []
        self._running: list[RegionRun] = []
        self._payloads: list[tuple[weakref.ref[_Payload], str, Saved | None]] = []
        self._frames: dict[str, CheckpointCall] = {}
        self._outputs_need_grad: set[str] = set()
        self._sizes: dict[int, int] = {}

    def checkpoint_called(self, call: CheckpointCall) -> None:
        super().checkpoint_called(call)
        self._frames[call.checkpoint] = call
        self._hook(lambda tensor: self._let_go_of(tensor, call.checkpoint, None))

    def checkpoint_returned(self, call: CheckpointCall, output: Any) -> None:
        self._unhook()
        if any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in value_leaves(output)):
            self._outputs_need_grad.add(call.checkpoint)

    def region_called(self, call: RegionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen = self._observation.regions[call.region]
        run = RegionRun(
            (call.checkpoint, call.region),
            call.recompute,
            is_decided=not self._observation.overrides_flags or seen.flag is Flag.DECIDED,
            around=tuple(self._running),
            honours_regions=self._frames[call.checkpoint].honours_regions,
            inputs=tuple(
                Input(geometry, leaf._version)
                for _, leaf in iter_arg_leaves(args, kwargs)
                if isinstance(leaf, Tensor) and (geometry := self._geometry(leaf)) is not None
            ),
        )
        self.probe.events.append(Called(run))
        self._running.append(run)
        self._hook(lambda tensor: self._saved(tensor, call.checkpoint))

    def region_ended(self, call: RegionCall, output: Any) -> None:
        self._unhook()
        run = self._running.pop()
        leaves = [leaf for leaf in value_leaves(output) if isinstance(leaf, Tensor)]
        run.outputs = tuple(storage for leaf in leaves for storage in self._numbers(leaf))
        self.probe.events.append(Returned(run))

    def marked(self, place: tuple[str, int], tensors: tuple[Tensor, ...]) -> None:
        now = self._observation.running
        assert now is not None
        storages = tuple(number for tensor in tensors for number in self._numbers(tensor))
        self.probe.events.append(Marked(now.checkpoint, storages))

    def forward_ended(self, loss: Tensor) -> None:
        probe = self.probe
        probe.plain_bytes = sum(size for _, size in self.ledger.alive())
        reached = set(self._outputs_need_grad)
        held = None
        for payload, checkpoint, saved in self._payloads:
            held = payload()
            if held is not None:
                reached.add(checkpoint)
                held.tensor = None
            elif saved is not None:
                saved.is_alive = False
        probe.dead = self._frames.keys() - reached
        for checkpoint in probe.dead:
            del self._frames[checkpoint]
        del held
        base = {known.serial: size for known, size in self.ledger.alive()}
        probe.base_bytes = sum(base.values())
        probe.sizes = {number: size for number, size in self._sizes.items() if number not in base}
        raise _ForwardIsEnough

    def over(self) -> None:
        super().over()
        while self._hooks:  # the forward failed
            self._unhook()

    def _geometry(self, tensor: Tensor) -> Geometry | None:
        numbers = self._numbers(tensor)
        if not numbers:
            return None
        is_strided = tensor.layout is torch.strided
        stride, offset = (tuple(tensor.stride()), tensor.storage_offset()) if is_strided else ((), 0)
        return Geometry(numbers[0], tensor.dtype, tuple(tensor.shape), stride, int(offset))

    def _numbers(self, tensor: Tensor) -> tuple[int, ...]:
        found = []
        for storage in storages_of(tensor):
            known = self.ledger.note(storage, is_of_step=False)
            if known.is_of_step:
                self._sizes[known.serial] = storage.nbytes()
            found.append(known.serial)
        return tuple(found)

    def _saved(self, tensor: Tensor, checkpoint: str) -> _Payload:
        geometry = self._geometry(tensor)
        if geometry is None:
            return self._let_go_of(tensor, checkpoint, None)
        saved = Saved(geometry.storage, tensor._version)
        for run in self._running:
            run.saved.append((saved, _match(geometry, run.inputs)))
        return self._let_go_of(tensor, checkpoint, saved)

    def _let_go_of(self, tensor: Tensor, checkpoint: str, saved: Saved | None) -> _Payload:
        payload = _Payload(tensor)
        self._payloads.append((weakref.ref(payload), checkpoint, saved))
        return payload

    def _hook(self, pack: Callable[[Tensor], _Payload]) -> None:
        hooks = torch.autograd.graph.saved_tensors_hooks(pack, _unpacked)
        hooks.__enter__()
        self._hooks.append(hooks)

    def _unhook(self) -> None:
        self._hooks.pop().__exit__(None, None, None)
