"""What a check found beside the policies' verdicts, as a record holds it: causes, costs, markers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from remat_lint.runtime_check.cause import Cause
from remat_lint.runtime_check.checker import CheckResult
from remat_lint.runtime_check.costs import Costs
from remat_lint.runtime_check.front import MIB, ByLayer, Front, Point
from remat_lint.runtime_check.knockout import KnockOut
from remat_lint.runtime_check.plan import PLAIN
from remat_lint.runtime_check.policy import ALL
from remat_lint.runtime_check.record import (
    CostRecord,
    DivergenceRecord,
    FrontRecord,
    MarkerRecord,
    Quantity,
    RanksRecord,
    Sections,
    excerpt,
    relative,
)
from remat_lint.runtime_check.storages import BETWEEN_REGIONS, CHECKPOINT_INPUTS, OUTSIDE, Memory

_WORTH = 0.005  # of the replay time: what policies for each layer gain less is not told


def sections_of(result: CheckResult, ranks: RanksRecord | None = None) -> Sections:
    """The sections of a result's record; what was not asked for is None."""
    costs = result.costs
    return Sections(
        divergences={name: divergence_record(cause) for name, cause in result.causes.items()},
        explanation=str(result.explanation) if result.explanation else None,
        retained_bytes=_by_region(costs.memory) if costs else None,
        front=front_record(costs) if costs else None,
        knock_out=list(_markers(result.knock_out)) if result.knock_out else None,
        ranks=ranks,
    )


def divergence_record(cause: Cause) -> DivergenceRecord:
    """A cause with the source around its line."""
    place = cause.place
    return DivergenceRecord(
        checkpoint=cause.checkpoint,
        region=cause.region,
        op=cause.operation,
        file=place.path if place else None,
        line=place.line if place else None,
        kind=cause.kind.value,
        message=str(cause),
        names=cause.names,
        written=str(cause.written) if cause.written else None,
        remedy=cause.remedy,
        excerpt=excerpt(place.path, place.line) if place else (),
    )


def front_record(costs: Costs) -> FrontRecord:
    """What policies cost, predicted beside measured, the front's points first."""
    memory = {one.plan.name: one for one in costs.memory}
    front, recommendation = costs.front, costs.recommendation
    points = list(_points(front)) if front else []
    named = {point.policy.name for point in points}
    rest = [one for name, one in memory.items() if name not in named]
    doubts = [costs.no_front] if costs.no_front else []
    if front is not None:
        doubts += front.bytes_prediction.doubts
        doubts += [str(front.pressure)] if front.pressure.is_contended else []
    is_timed = front is not None and front.time_prediction.is_resolved
    if front is not None and not is_timed:
        recommendation = recommendation if costs.has_limits else None
        doubts.append(
            "the times of none and all cannot be told apart here, so policies are not compared by time"
        )
    return FrontRecord(
        costs=(
            *(_cost(one, memory.get(one.policy.name)) for one in points),
            *(_measured_only(one, front) for one in rest),
        ),
        budget_bytes=None if costs.budget_mib is None else round(costs.budget_mib * MIB),
        slowdown_limit=costs.max_slowdown,
        recommended=recommendation.chosen.policy.name if recommendation and recommendation.chosen else None,
        recommendation=str(recommendation) if recommendation else None,
        by_layer=tuple(gains(front.by_layer)) if front is not None and is_timed else (),
        doubts=tuple(doubts),
    )


def gains(by_layer: ByLayer) -> Iterator[str]:
    """What policies that choose for each layer would save, a sentence for each budget."""
    for gain in by_layer.gains:
        if gain.saved_share < _WORTH:
            continue
        yield (
            f"within {gain.budget_bytes / MIB:.2f} MiB, replay would take {gain.by_layer_replay_ms:.2f} ms"
            f" with a policy for each layer, {gain.saved_share:.0%} less than the"
            f" {gain.uniform_replay_ms:.2f} ms of the best one for all"
        )


def _points(front: Front) -> Iterator[Point]:
    """The candidates that ran, and the others of the predicted front."""
    ran = {point.policy.name: point for point in front.candidates}
    for point in front.predicted:
        yield ran.get(point.policy.name, point)


def _cost(point: Point, memory: Memory | None) -> CostRecord:
    wall = point.measured_time.wall if point.measured_time else None
    return CostRecord(
        point.policy.name,
        Quantity(point.retained_bytes, point.measured_bytes),
        Quantity(measured=memory.peak_bytes if memory else None),
        Quantity(point.step_ms, wall.median_ms if wall else None, wall.mad_ms if wall else None),
        on_front=True,
    )


def _measured_only(memory: Memory, front: Front | None) -> CostRecord:
    plain = front.plain.wall if front is not None and memory.plan == PLAIN else None
    return CostRecord(
        memory.plan.name,
        Quantity(measured=memory.retained_bytes),
        Quantity(measured=memory.peak_bytes),
        Quantity(measured=plain.median_ms, error=plain.mad_ms) if plain else Quantity(),
        on_front=False,
    )


def _by_region(memory: tuple[Memory, ...]) -> Mapping[tuple[str, str], int]:
    """Bytes by checkpoint and region where all are saved; as configured, where no policy decides."""
    chosen = next((one for one in memory if one.plan.name == ALL.name), memory[-1])
    return {
        (share.checkpoint, share.part): share.retained_bytes
        for share in chosen.shares
        if share.checkpoint is not None and share.part not in (CHECKPOINT_INPUTS, BETWEEN_REGIONS, OUTSIDE)
    }


def _markers(found: KnockOut) -> Iterator[MarkerRecord]:
    for marker in found.markers:
        file, line = marker.place
        yield MarkerRecord(relative(file), line, marker.need.value, marker.policy, marker.breaks)
