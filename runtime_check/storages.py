"""Bytes that a step keeps between forward and backward, by storage, on any device.

Every operation is seen by a dispatch mode. What it returns lies in storages; a storage that is seen for
the first time there belongs to the step, one that is seen first as an argument was there before: weights,
buffers, inputs. A weak reference tells when a storage is gone. Hooks on saved tensors are no way to count:
torch_remat persists otherwise under them.

**Retained** are the storages of the step that are alive when the loss is there and garbage in reference
cycles has been collected. What a checkpoint was given is among them, wherever it was made, and so is what
the step leaves in the module, such as a cache. Storages that are made without an operation (a NumPy array
that is shared, the state of a random generator) count as there before.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.nested import named_tensors
from remat_lint.runtime_check.placeholders import StandIn
from remat_lint.runtime_check.plan import Plan
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.witness import CheckpointCall, Witness

CHECKPOINT_INPUTS = "checkpoint inputs"
BETWEEN_REGIONS = "between regions"
OUTSIDE = "outside checkpoints"


@dataclass(frozen=True, slots=True)
class Share:
    """Part of what is retained, by where it was made.

    ``part`` is the name of the region whose function made it, the innermost one; what a checkpoint was
    given is ``CHECKPOINT_INPUTS`` instead, since no policy changes it. The others stand for code of a
    checkpoint between its regions, and for code outside of checkpoints; ``checkpoint`` is None there.
    """

    checkpoint: str | None
    part: str
    retained_bytes: int


@dataclass(frozen=True)
class Memory:
    """What one plan keeps.

    ``peak_bytes`` is the greatest number of bytes that the step had at once, gradients included, weights
    and inputs not: as the device's allocator has it, or else the running sum of the live storages.
    """

    plan: Plan
    retained_bytes: int
    shares: tuple[Share, ...]
    peak_bytes: int
    peak_is_of_device: bool

    def retained_by(self, part: str) -> int:
        """The bytes that a region, or another part, made in all checkpoints together."""
        return sum(share.retained_bytes for share in self.shares if share.part == part)


def measured(bench: Bench, plan: Plan) -> Memory:
    """Run the step under a plan and count what it keeps.

    Gradients are kept until the end, as in training, so that the peak is that of a training step.

    Raises:
        UsageError: where the step does not get through under this plan.
    """
    bench = replace(bench, start=replace(bench.start, keeps_gradients=True))
    track = bench.run(plan, lambda observation: [Storages(observation)])
    (storages,) = track.observation.witnesses
    assert isinstance(storages, Storages)
    if track.failure is not None or storages.at_end_of_forward is None:
        raise UsageError(f"under {plan.name}, the step fails, so its memory is unknown: {track.failure}")
    is_on_device = bench.start.device.type == "cuda"
    return Memory(
        plan,
        sum(share.retained_bytes for share in storages.at_end_of_forward),
        storages.at_end_of_forward,
        storages.peak_of_device if is_on_device else storages.ledger.peak_bytes,
        is_on_device,
    )


@dataclass(slots=True)
class Known:
    """A storage that is alive: whose it is, and where it was made. ``size`` is what it had at first sight."""

    storage: weakref.ref[UntypedStorage]
    serial: int
    is_of_step: bool
    checkpoint: str | None
    region: str | None
    size: int


class Ledger:
    """The storages that are alive, each under a serial number that no other one gets."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation
        self._known: dict[int, Known] = {}
        self._serials = 0
        self.live_bytes = 0
        self.peak_bytes = 0

    def note(self, storage: UntypedStorage, *, is_of_step: bool) -> Known:
        """Know a storage from now on; whose it is was settled when it was seen first."""
        key = storage._cdata
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._first_seen(storage, key, is_of_step)
        return known

    def _first_seen(self, storage: UntypedStorage, key: int, is_of_step: bool) -> Known:
        self._serials += 1
        size = storage.nbytes() if is_of_step else 0
        run, inside = self._observation.running, self._observation.running_regions

        def gone(_: object) -> None:  # the address may be used again
            self.live_bytes -= self._known.pop(key).size

        self.live_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return Known(
            weakref.ref(storage, gone),
            self._serials,
            is_of_step,
            run.checkpoint if run else None,
            inside[-1] if inside else None,
            size,
        )

    def alive(self) -> Iterator[tuple[Known, int]]:
        """The storages of the step that are alive, with the bytes that they have now."""
        gc.collect()
        for known in list(self._known.values()):
            storage = known.storage()
            if storage is not None and known.is_of_step:
                yield known, storage.nbytes()


class Storages(Witness):
    """Counts while the step runs; the first micro-batch's forward is what is told."""

    def __init__(self, observation: Observation) -> None:
        self.ledger = Ledger(observation)
        self.at_end_of_forward: tuple[Share, ...] | None = None
        self.peak_of_device = 0
        """The allocator's peak over what it had before; 0 where no device tells."""
        self._before = 0
        self._given: set[int] = set()

    def around(self) -> SeeingStorages:
        return SeeingStorages(self)

    def checkpoint_called(self, call: CheckpointCall) -> None:
        for _, tensor in named_tensors((call.args, call.kwargs), ""):
            for storage in storages_of(tensor):
                known = self.ledger.note(storage, is_of_step=False)
                self._given.add(known.serial)

    def forward_ended(self, loss: Tensor) -> None:
        if self.at_end_of_forward is None:
            self.at_end_of_forward = tuple(self._shares())

    def _shares(self) -> Iterator[Share]:
        sums: dict[tuple[str | None, str], int] = {}
        for known, size in self.ledger.alive():
            part = known.region or (BETWEEN_REGIONS if known.checkpoint else OUTSIDE)
            if known.serial in self._given:
                part = CHECKPOINT_INPUTS
            where = known.checkpoint if part is not CHECKPOINT_INPUTS else None
            sums[where, part] = sums.get((where, part), 0) + size
        for (where, part), size in sums.items():
            if size:
                yield Share(where, part, size)

    def begun(self) -> None:
        """The step begins: the device counts its peak from here."""
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
            self._before = torch.cuda.memory_allocated()

    def over(self) -> None:
        """The step is over."""
        if torch.cuda.is_available():
            self.peak_of_device = torch.cuda.max_memory_allocated() - self._before


class SeeingStorages(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tells a ``Storages`` of what every operation takes and returns."""

    def __init__(self, storages: Storages) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._storages = storages

    def __enter__(self) -> SeeingStorages:
        self._storages.begun()
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)  # type: ignore[no-untyped-call]
        self._storages.over()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation."""
        kwargs = kwargs or {}
        note = self._storages.ledger.note
        # A constant tensor reaches the dispatcher as the argument of this operation.
        makes_argument = func is torch.ops.aten.lift_fresh.default
        for storage in _storages_in(args):
            note(storage, is_of_step=makes_argument)
        for storage in _storages_in(kwargs.values()):
            note(storage, is_of_step=False)
        output = func(*args, **kwargs)
        for storage in _storages_in((output,)):
            note(storage, is_of_step=True)
        return output


def _storages_in(values: Iterable[Any]) -> Iterator[UntypedStorage]:
    for value in values:
        if isinstance(value, Tensor):
            yield from storages_of(value)
        elif isinstance(value, (tuple, list)):
            yield from _storages_in(value)
        elif isinstance(value, UntypedStorage):
            yield value


def storages_of(tensor: Tensor) -> Iterator[UntypedStorage]:
    """The storages in which a tensor's data lies: none for a placeholder, several for a sparse one."""
    wrapper: Any = tensor
    if type(tensor) is not Tensor and is_traceable_wrapper_subclass(wrapper):
        inner, _ = wrapper.__tensor_flatten__()
        for name in inner:
            yield from storages_of(getattr(wrapper, name))
    elif tensor.layout is torch.strided:
        if tensor.device.type != "meta" and not isinstance(tensor, StandIn):
            yield tensor.untyped_storage()
    elif tensor.layout is torch.sparse_coo:
        yield tensor._indices().untyped_storage()
        yield tensor._values().untyped_storage()
