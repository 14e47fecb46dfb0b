"""Time per step: measured in turn with error bars, and predicted from the times of regions.

What a policy adds to a step is the second run of its recomputed regions. Each region's forward is timed in
an instrumented plain run; the sum over what a policy recomputes is brought to scale by two anchors that are
measured as whole steps: no region saved, and all saved. Singles are no anchors: twelve small differences
between noisy steps have more noise than the whole effect.

A machine that does other things, too, makes every figure worthless in its own way. Linux tells how long
tasks waited for a processor (pressure stall information); plans are run in turn, so that a bad moment
strikes all of them; and the minimum stands beside the median.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.plan import PLAIN, Plan, regions
from remat_lint.runtime_check.policy import ALL, NONE
from remat_lint.runtime_check.prediction import StorageModel
from remat_lint.runtime_check.probe import Region
from remat_lint.runtime_check.witness import Phase, RegionCall, Witness

PRESSURE = Path("/proc/pressure/cpu")
CONTENDED = 0.1
"""The share of the time that tasks waited for a processor from which on figures are doubtful."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeated measurements in milliseconds. ``mad`` is the median of the distances to the median."""

    median_ms: float
    mad_ms: float
    minimum_ms: float
    runs: int

    def __str__(self) -> str:
        return f"{self.median_ms:.1f} ± {self.mad_ms:.1f} ms"


@dataclass(frozen=True, slots=True)
class StepTime:
    """One plan's forward and backward. ``cpu`` is the time of all threads of this process."""

    plan: Plan
    wall: Spread
    cpu: Spread


@dataclass(frozen=True, slots=True)
class Pressure:
    """The share of the time that some task of the machine waited for a processor; None where unknown."""

    waiting: float | None

    @property
    def is_contended(self) -> bool:
        """Is the machine so busy that times say little?"""
        return self.waiting is not None and self.waiting > CONTENDED

    def __str__(self) -> str:
        if self.waiting is None:
            return "it is unknown whether the machine did something else meanwhile"
        state = "contended: times say little" if self.is_contended else "quiet"
        return f"tasks waited for a processor {self.waiting:.0%} of the time: the machine was {state}"


@dataclass(frozen=True)
class Times:
    """Plans that were run in turn, in the order in which they were given."""

    steps: tuple[StepTime, ...]
    pressure: Pressure

    def __getitem__(self, plan: str) -> StepTime:
        """The times of the plan of this name."""
        return next(one for one in self.steps if one.plan.name == plan)


def timed(bench: Bench, plans: Sequence[Plan], *, runs: int = 7) -> Times:
    """Run plans in turn, each ``runs`` times after one run to warm up.

    Gradients are kept and nothing is compared meanwhile.

    Raises:
        UsageError: where the step does not get through under one of them.
    """
    bench = replace(bench, start=replace(bench.start, keeps_gradients=True))
    samples: list[list[tuple[float, float]]] = [[] for _ in plans]
    with _pressure() as pressure:
        for number in range(runs + 1):
            for turn in range(len(plans)):
                # Another one begins each time: what runs first finds other caches.
                index = (number + turn) % len(plans)
                samples[index].append(_once(bench, plans[index]))
    steps = (_step_time(plan, some[1:]) for plan, some in zip(plans, samples, strict=True))
    return Times(tuple(steps), pressure.found)


def _once(bench: Bench, plan: Plan) -> tuple[float, float]:
    clock = _Clock(bench.start.device)
    track = bench.run(plan, lambda _: [clock])
    if track.failure is not None:
        raise UsageError(f"under {plan.name}, the step fails, so its time is unknown: {track.failure}")
    return clock.wall_ms, clock.cpu_ms


def _step_time(plan: Plan, samples: Sequence[tuple[float, float]]) -> StepTime:
    wall, cpu = (_spread(column) for column in zip(*samples, strict=True))
    return StepTime(plan, wall, cpu)


def _spread(samples: Sequence[float]) -> Spread:
    median = statistics.median(samples)
    mad = statistics.median(abs(one - median) for one in samples)
    return Spread(median, mad, min(samples), len(samples))


@dataclass(frozen=True)
class TimePrediction:
    """The time of a step under any policy, by wall clock.

    ``region_ms`` is what the function of each region that a policy decides takes in the forward, those
    inside it not counted. ``anchors`` are the steps under none and all.
    """

    region_ms: Mapping[Region, float]
    anchors: Times

    @property
    def recompute_ms(self) -> float:
        """What it costs to recompute all regions."""
        return max(0.0, self._fastest(NONE.name) - self._fastest(ALL.name))

    @property
    def is_resolved(self) -> bool:
        """Is the whole effect greater than the noise of the two anchors?"""
        none, everything = self.anchors[NONE.name].wall, self.anchors[ALL.name].wall
        return none.median_ms - everything.median_ms > none.mad_ms + everything.mad_ms

    def step_ms(self, saved: Collection[Region]) -> float:
        """The least time of a step in which these regions are not run again."""
        return self._fastest(ALL.name) + self.replay_ms(self.region_ms.keys() - set(saved))

    def replay_ms(self, recomputed: Iterable[Region]) -> float:
        """What some regions take in replay."""
        everything = sum(self.region_ms.values())
        share = sum(self.region_ms.get(region, 0.0) for region in recomputed)
        return self.recompute_ms * share / everything if everything else 0.0

    def _fastest(self, plan: str) -> float:
        return self.anchors[plan].wall.minimum_ms


def time_predicted(bench: Bench, model: StorageModel, *, runs: int = 7) -> TimePrediction:
    """Time the regions in plain steps, and two whole steps: no region saved, and all."""
    decided = model.saved(ALL) - model.saved(NONE)
    samples: list[Mapping[Region, float]] = []
    for _ in range(runs):
        clock = _RegionClock(bench.start.device)
        bench.run(PLAIN, lambda _, clock=clock: [clock])  # type: ignore[misc]
        samples.append(clock.region_ms)
    least = {
        region: max(0.0, min(one[region] for one in samples)) for region in samples[0] if region in decided
    }
    return TimePrediction(least, timed(bench, [regions(NONE), regions(ALL)], runs=runs))


def _synchronized(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class _Clock(Witness):
    """Times forward and backward, and not what is done with their results."""

    def __init__(self, device: torch.device) -> None:
        self.wall_ms = self.cpu_ms = 0.0
        self._device = device

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        _synchronized(self._device)
        self._begun = time.perf_counter(), time.process_time()
        yield

    def backward_ended(self) -> None:
        _synchronized(self._device)
        wall, cpu = self._begun
        self.wall_ms = (time.perf_counter() - wall) * 1e3
        self.cpu_ms = (time.process_time() - cpu) * 1e3


class _RegionClock(Witness):
    """Times the function of each region in the forward."""

    def __init__(self, device: torch.device) -> None:
        self.region_ms: dict[Region, float] = {}
        self._device = device
        self._running: list[tuple[Region, float]] = []

    def region_began(self, call: RegionCall) -> None:
        _synchronized(self._device)
        self._running.append(((call.checkpoint, call.region), time.perf_counter()))

    def region_ended(self, call: RegionCall, output: Any) -> None:
        _synchronized(self._device)
        region, begun = self._running.pop()
        if call.phase is Phase.REPLAY:
            return
        taken = (time.perf_counter() - begun) * 1e3
        self.region_ms[region] = self.region_ms.get(region, 0.0) + taken
        if self._running:  # the one around it waited meanwhile
            around, _ = self._running[-1]
            self.region_ms[around] = self.region_ms.get(around, 0.0) - taken


@dataclass
class _Watched:
    found: Pressure = field(default_factory=lambda: Pressure(None))


@contextlib.contextmanager
def _pressure() -> Iterator[_Watched]:
    """How much tasks wait for a processor while the block runs."""
    watched = _Watched()
    before, begun = _waited_s(), time.perf_counter()
    yield watched
    after, taken = _waited_s(), time.perf_counter() - begun
    if before is not None and after is not None and taken > 0:
        watched.found = Pressure(min(1.0, (after - before) / taken))


def _waited_s() -> float | None:
    """Seconds in which some task waited, since the machine started."""
    try:
        line = PRESSURE.read_text(encoding="ascii").splitlines()[0]
        return int(line.rpartition("total=")[2]) / 1e6
    except (OSError, ValueError, IndexError):
        return None
