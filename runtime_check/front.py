"""The memory-time front of policies, a recommendation for a budget, and policies that differ by layer.

Bytes and times of all policies are predicted; only the candidates on the front are run: their bytes once,
their times in turn. A point is on the front if no other one retains no more and is faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import TypeVar

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.plan import PLAIN, regions
from remat_lint.runtime_check.policy import ALL, NONE, Policy, together
from remat_lint.runtime_check.prediction import Prediction, StorageModel, predicted
from remat_lint.runtime_check.probe import Region
from remat_lint.runtime_check.storages import measured
from remat_lint.runtime_check.timing import Pressure, StepTime, TimePrediction, time_predicted, timed
from remat_lint.runtime_check.verdicts import EXIT_BUDGET, EXIT_HOLDS

MIB = 2**20
CANDIDATES = 7
SHARES = (0.2, 0.35, 0.5, 0.7)
"""The budgets for which gains are told, as parts of what "all" retains beyond "none"."""
_WORK = 1_000_000  # so many looks at what happened in the probe; a second or two
_THINNED = 1000  # points of a merged front that are kept: more of them lie closer together than the noise


@dataclass(frozen=True)
class Point:
    """One policy: what is predicted of it, and what was measured; None where it did not run.

    ``retained_bytes`` is predicted, and ``step_ms`` the least time of a step by wall clock.
    """

    policy: Policy
    retained_bytes: int
    step_ms: float
    measured_bytes: int | None = None
    measured_time: StepTime | None = None

    @property
    def bytes_to_compare(self) -> int:
        """Measured bytes where there are any, else predicted ones."""
        return self.retained_bytes if self.measured_bytes is None else self.measured_bytes

    @property
    def ms_to_compare(self) -> float:
        """The measured median where there is one, else the predicted time."""
        return self.step_ms if self.measured_time is None else self.measured_time.wall.median_ms


@dataclass(frozen=True)
class Front:
    """The policies that are worth a choice, the one that retains least first.

    ``predicted`` is the front of all policies, ``candidates`` those of it that were run; ``plain`` the step
    without checkpoints, with which the slowdown is compared.
    """

    predicted: tuple[Point, ...]
    candidates: tuple[Point, ...]
    plain: StepTime
    plain_bytes: int
    bytes_prediction: Prediction
    time_prediction: TimePrediction
    pressure: Pressure
    by_layer: ByLayer

    def slowdown(self, point: Point) -> float:
        """The time of a step in proportion to the plain step's: 1.2 is a fifth longer."""
        return point.ms_to_compare / self.plain.wall.median_ms

    def recommended(
        self, *, budget_mib: float | None = None, max_slowdown: float | None = None
    ) -> Recommendation:
        """The fastest candidate that keeps to the budget and the limit; without a budget, the smallest."""
        fitting = [
            point
            for point in self.candidates
            if (budget_mib is None or point.bytes_to_compare <= budget_mib * MIB)
            and (max_slowdown is None or self.slowdown(point) <= max_slowdown)
        ]
        if budget_mib is None:
            chosen = min(fitting, key=lambda one: (one.bytes_to_compare, one.ms_to_compare), default=None)
        else:
            chosen = min(fitting, key=lambda one: (one.ms_to_compare, one.bytes_to_compare), default=None)
        nearest = min(self.candidates, key=lambda one: one.bytes_to_compare)
        return Recommendation(budget_mib, max_slowdown, chosen, nearest)


@dataclass(frozen=True)
class Recommendation:
    """What to choose. ``chosen`` is None where nothing fits; ``smallest`` is what retains least."""

    budget_mib: float | None
    max_slowdown: float | None
    chosen: Point | None
    smallest: Point

    @property
    def exit_status(self) -> int:
        """3 where a budget or limit was given and no policy keeps to it."""
        return EXIT_HOLDS if self.chosen is not None else EXIT_BUDGET

    def __str__(self) -> str:
        limits = [f"{self.budget_mib:g} MiB"] if self.budget_mib is not None else []
        limits += [f"{self.max_slowdown:g} times the plain step"] if self.max_slowdown is not None else []
        within = f" within {' and '.join(limits)}" if limits else ""
        if self.chosen is None:
            least = self.smallest.bytes_to_compare / MIB
            return f"no policy stays{within}; the least that any retains is {least:.2f} MiB"
        retained = self.chosen.bytes_to_compare / MIB
        ms = self.chosen.ms_to_compare
        return f"{self.chosen.policy.name}: {retained:.2f} MiB in {ms:.1f} ms is best{within}"


@dataclass(frozen=True, slots=True)
class Gain:
    """What policies by layer would save at one budget, against the best policy that is the same everywhere.

    ``share`` is the budget's part of what "all" retains beyond "none". Times are predicted for replay only.
    """

    share: float
    budget_bytes: int
    uniform: Point
    by_layer: Point
    uniform_replay_ms: float
    by_layer_replay_ms: float

    @property
    def saved_share(self) -> float:
        """The part of the replay time that goes away."""
        return 1 - self.by_layer_replay_ms / self.uniform_replay_ms if self.uniform_replay_ms else 0.0


@dataclass(frozen=True)
class ByLayer:
    """The predicted front of policies that choose for each checkpoint by itself, with its gains.

    Empty where the case sets its policy itself: its patterns know no checkpoints.
    """

    points: tuple[Point, ...]
    gains: tuple[Gain, ...]


def front(bench: Bench, *, candidates: int = CANDIDATES, runs: int = 7) -> Front:
    """Predict bytes and times of all policies, and run the candidates on the front.

    Raises:
        UsageError: where real runs do not confirm the predicted bytes, or the step has no regions.
    """
    bytes_prediction = predicted(bench)
    if not bytes_prediction.validated:
        raise UsageError(f"bytes cannot be predicted for this step: {bytes_prediction.why_not}")
    model = bytes_prediction.model
    if not model.probe.nested:
        raise UsageError("no region of the step is decided by a policy, so there is nothing to choose")
    times = time_predicted(bench, model, runs=runs)
    uniform = front_of(list(_uniform(model, times)))
    chosen = _spread_over(uniform, candidates)
    found = timed(bench, [PLAIN, *(regions(one.policy) for one in chosen)], runs=runs)
    plain, *times_of_chosen = found.steps
    ran = tuple(
        replace(
            point,
            measured_bytes=measured(bench, regions(point.policy)).retained_bytes,
            measured_time=time,
        )
        for point, time in zip(chosen, times_of_chosen, strict=True)
    )
    waiting = [one.waiting for one in (found.pressure, times.anchors.pressure) if one.waiting is not None]
    return Front(
        tuple(uniform),
        ran,
        plain,
        model.probe.plain_bytes,
        bytes_prediction,
        times,
        Pressure(max(waiting, default=None)),
        ByLayer((), ()) if bench.start.sets_policy else by_layer(model, times, uniform),
    )


def by_layer(model: StorageModel, times: TimePrediction, uniform: Sequence[Point]) -> ByLayer:
    """Choose for each checkpoint by itself, and compare with what is best as one policy for all."""
    merged: list[_Choice] = [_Choice(0, 0.0, frozenset())]
    for checkpoint in model.probe.checkpoints:
        own = _pareto(_choices(model, times, checkpoint), _Choice.weight)
        pairs = _pareto(itertools.product(merged, own), _sum)
        merged = _thinned([one.with_(other) for one, other in pairs])
    # Storages that two checkpoints keep count once now, and policies that are the same everywhere take part.
    chosen = ((_policy_of(one.saved), model.saved_with(one.saved)) for one in merged)
    points = front_of([*uniform, *(_point(policy, saved, model, times) for policy, saved in chosen)])
    return ByLayer(tuple(points), tuple(_gains(model, times, uniform, points)))


def front_of(points: Iterable[Point]) -> list[Point]:
    """The points to which no other one is preferable, the one that retains least first."""
    return _pareto(points, _weight)


def _weight(point: Point) -> tuple[int, float]:
    return point.retained_bytes, point.step_ms


@dataclass(frozen=True, slots=True)
class _Choice:
    """Some regions of some checkpoints: what saving them retains, and what the others take in replay."""

    retained_bytes: int
    replay_ms: float
    saved: frozenset[Region]

    def weight(self) -> tuple[int, float]:
        return self.retained_bytes, self.replay_ms

    def with_(self, other: _Choice) -> _Choice:
        return _Choice(
            self.retained_bytes + other.retained_bytes,
            self.replay_ms + other.replay_ms,
            self.saved | other.saved,
        )


def _sum(pair: tuple[_Choice, _Choice]) -> tuple[int, float]:
    one, other = pair
    return one.retained_bytes + other.retained_bytes, one.replay_ms + other.replay_ms


_T = TypeVar("_T")
_Item = TypeVar("_Item")


def _pareto(points: Iterable[_T], weight: Callable[[_T], tuple[int, float]]) -> list[_T]:
    kept: list[_T] = []
    for point in sorted(points, key=weight):
        if not kept or weight(point)[1] < weight(kept[-1])[1]:
            kept.append(point)
    return kept


def _thinned(choices: Sequence[_Choice]) -> list[_Choice]:
    """At most so many, evenly by their bytes, with both ends."""
    if len(choices) <= _THINNED:
        return list(choices)
    step = (choices[-1].retained_bytes - choices[0].retained_bytes) / (_THINNED - 1)
    by_bucket = {int((one.retained_bytes - choices[0].retained_bytes) / step): one for one in choices}
    return [choices[0], *(one for one in by_bucket.values() if one is not choices[0])]


def _choices(model: StorageModel, times: TimePrediction, checkpoint: str) -> Iterator[_Choice]:
    """Combinations of the regions of one checkpoint."""
    here = [region for region in model.probe.regions if region[0] == checkpoint]
    decided = frozenset(here)
    everything = {region for region in times.region_ms if region[0] == checkpoint}

    def choice(chosen: Collection[Region]) -> _Choice:
        saved = model.saved_with(chosen)
        retained = model.bytes_of(model.kept_in(checkpoint, saved))
        return _Choice(retained, times.replay_ms(everything - saved), saved & decided)

    return _tried(here, choice, _Choice.weight, len(model.probe.events_of(checkpoint)))


def _uniform(model: StorageModel, times: TimePrediction) -> Iterator[Point]:
    """Combinations of regions by name, the same in every checkpoint."""
    nested = model.probe.nested

    def point(chosen: Collection[str]) -> Point:
        policy = ALL if len(chosen) == len(nested) else together(chosen, nested) if chosen else NONE
        return _point(policy, model.saved(policy), model, times)

    return _tried(list(nested), point, _weight, len(model.probe.events))


def _tried(
    items: Sequence[_Item],
    made: Callable[[Collection[_Item]], _T],
    weight: Callable[[_T], tuple[int, float]],
    events: int,
) -> Iterator[_T]:
    """What is made of every combination; where that is too much work, of those on one way to all of them."""
    if 2 ** len(items) * events <= _WORK:
        for size in range(len(items) + 1):
            yield from map(made, itertools.combinations(items, size))
        return
    chosen: tuple[_Item, ...] = ()
    now = made(chosen)
    yield now
    while len(chosen) < len(items):
        retained, taken = weight(now)

        def gain_by_byte(more: _T, retained: int = retained, taken: float = taken) -> tuple[float, float]:
            added, left = weight(more)
            return (taken - left) / max(1, added - retained), -added

        ways = {item: made((*chosen, item)) for item in items if item not in chosen}
        best = max(ways, key=lambda item: gain_by_byte(ways[item]))
        chosen, now = (*chosen, best), ways[best]
        yield from ways.values()


def _point(policy: Policy, saved: Collection[Region], model: StorageModel, times: TimePrediction) -> Point:
    retained = model.probe.base_bytes + model.bytes_of(model.kept(saved))
    return Point(policy, retained, times.step_ms(saved))


def _policy_of(chosen: Iterable[Region]) -> Policy:
    """A policy that names each region with its checkpoint."""
    names = [f"{checkpoint}::{region}" for checkpoint, region in sorted(chosen)]
    return Policy(" + ".join(names) or NONE.name, tuple(map(escape, names)))


def _spread_over(points: Sequence[Point], wanted: int) -> list[Point]:
    """So many points, both ends among them, evenly over the front."""
    if len(points) <= wanted:
        return list(points)
    last = len(points) - 1
    return [points[round(number * last / (wanted - 1))] for number in range(wanted)]


def _gains(
    model: StorageModel, times: TimePrediction, uniform: Sequence[Point], points: Sequence[Point]
) -> Iterator[Gain]:
    least, most = (model.retained_bytes(policy) for policy in (NONE, ALL))
    for share in SHARES:
        budget = least + round(share * (most - least))
        same, own = _fastest_within(uniform, budget), _fastest_within(points, budget)
        same_ms, own_ms = (
            times.replay_ms(times.region_ms.keys() - model.saved(one.policy)) for one in (same, own)
        )
        yield Gain(share, budget, same, own, same_ms, own_ms)


def _fastest_within(points: Sequence[Point], budget: int) -> Point:
    return min((one for one in points if one.retained_bytes <= budget), key=lambda one: one.step_ms)
