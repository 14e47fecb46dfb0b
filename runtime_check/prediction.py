"""What every policy retains, told from one run without checkpoints.

The probe runs the plain forward and writes down, in order, what torch_remat looks at: what each region
gets, saves for backward and returns, and what the markers name, each as storage and geometry. Under any
policy, torch_remat's rules can then be followed on paper:

* a saved region keeps what its operations save for backward, unless it is one of its inputs, or a view
  inside one, that no saved region made: replay makes that again;
* it keeps an output if that is saved for backward in the region itself, if a recomputed region takes it
  (or a view of it) later, or a marker names it;
* a region inside a saved one is part of that one; everything else is made again by replay;
* what a checkpoint is given stays, and so does what code outside of checkpoints saves.

The probe looks at saved tensors through hooks, around each region as torch_remat has them around a saved
one. Real runs never have hooks. The storages that no policy gets rid of are found by letting go of all
that the hooks were given, at the end of the probe's forward.

This is exact as long as the forward does the same under every policy, and checkpoints keep tensors
themselves and not what hooks make of them (offloading). So a prediction holds only if real runs confirm
it to the byte.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_remat._pytree import iter_arg_leaves, value_leaves

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.plan import PLAIN, regions
from remat_lint.runtime_check.policy import ALL, NONE, Policy
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.storages import Memory, Storages, measured, storages_of
from remat_lint.runtime_check.witness import CheckpointCall, RegionCall

Region = tuple[str, str]
"""A region by the name of its checkpoint and its own."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is retained under any policy, and whether real runs confirm that.

    ``checks`` are the policies that were run, each with the predicted beside the measured memory;
    ``doubts`` say what there is in the step that the rules may not cover, a sentence each.
    """

    probe: Probe
    checks: tuple[Checked, ...]
    doubts: tuple[str, ...]

    @property
    def validated(self) -> bool:
        """Did every real run retain what was predicted, to the byte?"""
        return all(one.holds for one in self.checks)

    @property
    def why_not(self) -> str | None:
        """The runs that retained something else, and what may be the reason; None where it holds."""
        wrong = [str(one) for one in self.checks if not one.holds]
        return "; ".join([*wrong, *self.doubts]) if wrong else None

    def retained_bytes(self, policy: Policy) -> int | None:
        """What the policy retains; None where real runs do not confirm the prediction."""
        return self.probe.retained_bytes(policy) if self.validated else None


@dataclass(frozen=True, slots=True)
class Checked:
    """One policy as predicted, and as it ran."""

    policy: Policy
    predicted_bytes: int
    memory: Memory

    @property
    def holds(self) -> bool:
        """Are they the same to the byte?"""
        return self.predicted_bytes == self.memory.retained_bytes

    def __str__(self) -> str:
        verb = "as predicted" if self.holds else f"where {self.predicted_bytes} were predicted"
        return f"{self.policy.name} retains {self.memory.retained_bytes} bytes, {verb}"


def predicted(bench: Bench, *, validation: Sequence[Policy] | None = None) -> Prediction:
    """Probe the step once, and run some policies to see whether what is predicted of them is so.

    Without other wishes they are none, all, and every other region in the order of their first call:
    there, saved and recomputed regions meet.

    Raises:
        UsageError: where the step does not get through under one of them.
    """
    probe = probed(bench)
    if validation is None:
        alternating = Policy(
            "every other region", tuple(dict.fromkeys(name for _, name in probe.regions))[::2]
        )
        validation = [NONE, ALL, alternating]
    checks = [
        Checked(policy, probe.retained_bytes(policy), measured(bench, regions(policy)))
        for policy in validation
    ]
    return Prediction(probe, tuple(checks), tuple(probe.doubts()))


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


@dataclass(frozen=True, slots=True)
class _Geometry:
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
class _Input:
    """An argument of a region, as it was at the call. ``version`` counts its changes in place."""

    geometry: _Geometry
    version: int


@dataclass(frozen=True, slots=True)
class _Match:
    """How a saved tensor lies in its region's inputs: the same as one, or a view inside some."""

    same: _Input | None
    around: tuple[_Input, ...]


@dataclass(slots=True, eq=False)
class _Saved:
    """A tensor that an operation saved for backward, in the regions that ran then, the outermost first."""

    storage: int
    version: int
    matches: tuple[tuple[_Run, _Match], ...]
    is_alive: bool = True


@dataclass(slots=True, eq=False)
class _Run:
    """One call of a region."""

    region: Region
    own_recompute: bool
    is_decided: bool
    around: tuple[_Run, ...]
    honours_regions: bool
    inputs: tuple[_Input, ...]
    saved: list[_Saved] = field(default_factory=list)
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Called:
    """A region is called."""

    run: _Run


@dataclass(frozen=True, slots=True, eq=False)
class _Returned:
    """Its function returned."""

    run: _Run


@dataclass(frozen=True, slots=True, eq=False)
class _Marked:
    """A marker names storages."""

    checkpoint: str
    storages: tuple[int, ...]


_Event = _Called | _Returned | _Marked


@dataclass(frozen=True, slots=True)
class KeptStorage:
    """A storage that a policy keeps beyond what every policy keeps, and the region that it is kept for."""

    storage: int
    region: Region
    retained_bytes: int


@dataclass
class Probe:
    """What happened in the plain forward.

    ``plain_bytes`` is what the plain step retains, ``base_bytes`` what every policy does.
    """

    events: list[_Event] = field(default_factory=list)
    plain_bytes: int = 0
    base_bytes: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    """Bytes of the storages that checkpoints let go of; others are in the base, or not the step's."""
    dead: set[str] = field(default_factory=set)
    """Checkpoints that backward never reaches: they keep nothing."""

    @property
    def regions(self) -> tuple[Region, ...]:
        """Every region of every checkpoint that a policy may save, in the order of their first call."""
        return tuple(
            dict.fromkeys(
                event.run.region
                for event in self.events
                if isinstance(event, _Called) and event.run.is_decided and event.run.honours_regions
            )
        )

    def retained_bytes(self, policy: Policy) -> int:
        """The bytes that are alive after the forward under a policy."""
        return self.base_bytes + sum(one.retained_bytes for one in self.kept(policy))

    def kept(self, policy: Policy) -> tuple[KeptStorage, ...]:
        """What the policy keeps beyond the base: each storage once, for the first region that keeps it."""
        owners: dict[int, Region] = {}
        for storage, region in _Replayed(policy, self.dead).keeping(self.events):
            owners.setdefault(storage, region)
        return tuple(
            KeptStorage(storage, region, self.sizes[storage])
            for storage, region in owners.items()
            if storage in self.sizes
        )

    @property
    def nested(self) -> dict[str, tuple[str, ...]]:
        """Every region that a policy decides, by its name alone, with those that run inside it."""
        inside: dict[str, dict[str, None]] = {name: {} for _, name in self.regions}
        for event in self.events:
            if isinstance(event, _Called) and event.run.region[1] in inside:
                for outer in event.run.around:
                    inside.setdefault(outer.region[1], {})[event.run.region[1]] = None
        return {name: tuple(inside[name]) for _, name in self.regions}

    def doubts(self) -> Iterable[str]:
        """What there is in the step that the rules may not cover."""
        runs = [event.run for event in self.events if isinstance(event, _Called)]
        nested = dict.fromkeys(run.region[1] for run in runs if run.around)
        if nested:
            yield f"regions stand inside others: {', '.join(nested)}"
        changed = dict.fromkeys(
            run.region[1]
            for run in runs
            for saved in run.saved
            for _, match in saved.matches
            if any(saved.version != one.version for one in (match.same, *match.around) if one is not None)
        )
        if changed:
            yield f"inputs are changed in place in: {', '.join(changed)}"
        if any(not run.honours_regions for run in runs):
            yield "regions stand in a checkpoint of torch, which does not know them"


class _Replayed:
    """torch_remat's bookkeeping during a forward, under one policy."""

    def __init__(self, policy: Policy, dead: Iterable[str]) -> None:
        self._policy = policy
        self._dead = dead
        self._producers: dict[tuple[str, int], list[Region]] = {}
        self._stubs: dict[int, frozenset[int]] = {}

    def keeping(self, events: Iterable[_Event]) -> Iterable[tuple[int, Region]]:
        """The storages that are kept, each with the region that keeps it; some more than once."""
        for event in events:
            if isinstance(event, _Marked):
                if event.checkpoint not in self._dead:
                    yield from self._persisted(event.checkpoint, event.storages)
            elif self._is_inert(event.run):
                continue
            elif isinstance(event, _Called):
                yield from self._called(event.run)
            elif self._is_saved(event.run):
                yield from self._returned(event.run)

    def _is_inert(self, run: _Run) -> bool:
        """Has the region no part of its own in what is kept?"""
        is_dead = run.region[0] in self._dead
        return is_dead or not run.honours_regions or any(map(self._is_saved, run.around))

    def _called(self, run: _Run) -> Iterable[tuple[int, Region]]:
        checkpoint = run.region[0]
        given = [one.geometry.storage for one in run.inputs]
        if not self._is_saved(run):
            yield from self._persisted(checkpoint, given)
            return
        self._stubs[id(run)] = frozenset(s for s in given if (checkpoint, s) in self._producers)

    def _returned(self, run: _Run) -> Iterable[tuple[int, Region]]:
        kept = [one for one in run.saved if self._keeps(run, one)]
        yield from ((one.storage, run.region) for one in kept if one.is_alive)
        resident = {one.storage for one in kept}
        for storage in run.outputs:
            self._producers.setdefault((run.region[0], storage), []).append(run.region)
        yield from self._persisted(run.region[0], (s for s in run.outputs if s in resident))

    def _keeps(self, run: _Run, saved: _Saved) -> bool:
        """Is the tensor kept as it is, rather than made again from an input that replay has?"""
        match = next(match for one, match in saved.matches if one is run)
        stubs = self._stubs[id(run)]
        if match.same is not None:
            return saved.version != match.same.version or match.same.geometry.storage in stubs
        real = [one for one in match.around if one.geometry.storage not in stubs]
        return not real or saved.version != real[0].version

    def _persisted(self, checkpoint: str, storages: Iterable[int]) -> Iterable[tuple[int, Region]]:
        for storage in storages:
            for region in self._producers.get((checkpoint, storage), ()):
                yield storage, region

    def _is_saved(self, run: _Run) -> bool:
        if not run.is_decided or self._policy.patterns is None:
            return not run.own_recompute
        return self._policy.saves(*run.region)


def _match(saved: _Geometry, inputs: Iterable[_Input]) -> _Match:
    alike = [
        one for one in inputs if (one.geometry.storage, one.geometry.dtype) == (saved.storage, saved.dtype)
    ]
    same = next((one for one in alike if one.geometry == saved), None)
    inside = (one for one in alike if one.geometry.offset <= saved.offset and saved.end <= one.geometry.end)
    return _Match(same, tuple(inside) if saved.end > saved.offset else ())


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
        self._running: list[_Run] = []
        self._payloads: list[tuple[weakref.ref[_Payload], str, _Saved | None]] = []
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
        run = _Run(
            (call.checkpoint, call.region),
            call.recompute,
            is_decided=not self._observation.overrides_flags or seen.flag is Flag.DECIDED,
            around=tuple(self._running),
            honours_regions=self._frames[call.checkpoint].honours_regions,
            inputs=tuple(
                _Input(geometry, leaf._version)
                for _, leaf in iter_arg_leaves(args, kwargs)
                if isinstance(leaf, Tensor) and (geometry := self._geometry(leaf)) is not None
            ),
        )
        self.probe.events.append(_Called(run))
        self._running.append(run)
        self._hook(lambda tensor: self._saved(tensor, call.checkpoint))

    def region_ended(self, _call: RegionCall, output: Any) -> None:
        self._unhook()
        run = self._running.pop()
        leaves = [leaf for leaf in value_leaves(output) if isinstance(leaf, Tensor)]
        run.outputs = tuple(storage for leaf in leaves for storage in self._numbers(leaf))
        self.probe.events.append(_Returned(run))

    def marked(self, _place: tuple[str, int], tensors: tuple[Tensor, ...]) -> None:
        now = self._observation.running
        assert now is not None
        storages = tuple(number for tensor in tensors for number in self._numbers(tensor))
        self.probe.events.append(_Marked(now.checkpoint, storages))

    def forward_ended(self, _loss: Tensor) -> None:
        probe = self.probe
        probe.plain_bytes = sum(size for _, size in self.ledger.alive())
        reached = set(self._outputs_need_grad)
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

    def _geometry(self, tensor: Tensor) -> _Geometry | None:
        numbers = self._numbers(tensor)
        if not numbers:
            return None
        is_strided = tensor.layout is torch.strided
        stride, offset = (tuple(tensor.stride()), tensor.storage_offset()) if is_strided else ((), 0)
        return _Geometry(numbers[0], tensor.dtype, tuple(tensor.shape), stride, int(offset))

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
        matches = tuple((run, _match(geometry, run.inputs)) for run in self._running)
        saved = _Saved(geometry.storage, tensor._version, matches)
        for run in self._running:
            run.saved.append(saved)
        return self._let_go_of(tensor, checkpoint, saved)

    def _let_go_of(self, tensor: Tensor, checkpoint: str, saved: _Saved | None) -> _Payload:
        payload = _Payload(tensor)
        self._payloads.append((weakref.ref(payload), checkpoint, saved))
        return payload

    def _hook(self, pack: Callable[[Tensor], _Payload]) -> None:
        hooks = torch.autograd.graph.saved_tensors_hooks(pack, _unpacked)
        hooks.__enter__()
        self._hooks.append(hooks)

    def _unhook(self) -> None:
        self._hooks.pop().__exit__(None, None, None)
