"""The result of a check as one record: what the JSON, the JUnit file and the HTML page are made from.

``docs/remat-check.schema.json`` describes it key by key. A record holds no NaN and no infinity: where
a distance has no bound, because a number is finite on one side only, it is the text ``infinite``; a
cosine that does not exist is null. A section that was not asked for is null.
"""

from __future__ import annotations

import json
import linecache
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from remat_lint.runtime_check.checker import CheckResult
from remat_lint.runtime_check.compare import Difference, Extent
from remat_lint.runtime_check.diagnosis import Raised
from remat_lint.runtime_check.environment import Environment, Evidence, environment
from remat_lint.runtime_check.placeholders import torch_has_placeholders
from remat_lint.runtime_check.verdicts import (
    EXIT_BROKEN,
    EXIT_BUDGET,
    EXIT_HOLDS,
    EXIT_INCONCLUSIVE,
    EXIT_RANKS,
    PolicyResult,
    StateDifference,
)

VERSION = 1
INFINITE = "infinite"
_AROUND = 3  # lines of source on each side of a place

VERDICTS = {
    EXIT_HOLDS: "holds",
    EXIT_BROKEN: "broken",
    EXIT_BUDGET: "budget missed",
    EXIT_RANKS: "ranks differ",
    EXIT_INCONCLUSIVE: "inconclusive",
}
"""The verdict on the whole, by exit status."""

Distance = float | str | None


@dataclass(frozen=True)
class Line:
    """A line of source, by its number in the file."""

    number: int
    text: str


@dataclass(frozen=True)
class CountRecord:
    """How often a region ran in one run of its checkpoint under one policy."""

    policy: str
    forward: int
    replay: int
    kept: bool


@dataclass(frozen=True)
class RegionRecord:
    """One region of one checkpoint. ``order`` counts from 1 inside the checkpoint."""

    checkpoint: str
    name: str
    order: int
    flag: str
    file: str | None
    line: int | None
    retained_bytes: int | None
    counts: tuple[CountRecord, ...]


@dataclass(frozen=True)
class DifferenceRecord:
    """A tensor that is not as in the plain step."""

    what: str
    how: str
    changed: int | None
    numbers: int | None
    largest_absolute_error: Distance
    largest_relative_error: Distance
    cosine: float | None


@dataclass(frozen=True)
class StateRecord:
    """State that is not as the plain step leaves it, as text; null on the side where it is missing."""

    what: str
    expected: str | None
    actual: str | None


@dataclass(frozen=True)
class ReplayedRecord:
    """A value that replay computed otherwise than forward."""

    checkpoint: str
    region: str | None
    what: str


@dataclass(frozen=True)
class RaisedRecord:
    """The exception that ended a track. ``remedy`` is what to write, where a marker is missing."""

    phase: str
    message: str
    file: str | None
    line: int | None
    checkpoint: str | None
    region: str | None
    output: str | None
    remedy: str | None
    excerpt: tuple[Line, ...]


@dataclass(frozen=True)
class DivergenceRecord:
    """The first operation at which replay parts from forward, and which kind of reason it has.

    ``names`` are the attributes, buffers, globals or random streams that are other ones then, ``written``
    the file and line that write the first of them in replay, ``remedy`` what to write instead.
    """

    checkpoint: str | None
    region: str | None
    op: str | None
    file: str | None
    line: int | None
    kind: str
    message: str
    names: tuple[str, ...]
    written: str | None
    remedy: str | None
    excerpt: tuple[Line, ...]


@dataclass(frozen=True)
class PolicyRecord:
    """One track against the plain one.

    ``globs`` is null where the module's own flags decide. ``findings`` says in sentences what is wrong,
    the cause first; the fields after it say the same apart.
    """

    name: str
    checkpointing: str
    globs: tuple[str, ...] | None
    saved: tuple[str, ...]
    verdict: str
    seed: int
    findings: tuple[str, ...]
    differences: tuple[DifferenceRecord, ...]
    state: tuple[StateRecord, ...]
    replayed: tuple[ReplayedRecord, ...]
    miscounted: tuple[str, ...]
    state_dict_keys: tuple[str, ...]
    raised: RaisedRecord | None
    first_divergence: DivergenceRecord | None


@dataclass(frozen=True)
class NoiseRecord:
    """What repeated plain runs do not agree on."""

    runs: int
    tensors: tuple[DifferenceRecord, ...]
    state: tuple[StateRecord, ...]


@dataclass(frozen=True)
class ConfirmationRecord:
    """One thing that the check confirms."""

    name: str
    status: str
    details: tuple[str, ...]


@dataclass(frozen=True)
class Quantity:
    """Predicted beside measured; ``error`` is half the length of the measurement's error bar."""

    predicted: float | None = None
    measured: float | None = None
    error: float | None = None

    @property
    def best(self) -> float | None:
        """The measured value, else the predicted one."""
        return self.predicted if self.measured is None else self.measured


@dataclass(frozen=True)
class CostRecord:
    """What one policy costs: bytes retained after forward, peak bytes, milliseconds of a step."""

    policy: str
    retained_bytes: Quantity
    peak_bytes: Quantity
    step_ms: Quantity
    on_front: bool


@dataclass(frozen=True)
class FrontRecord:
    """Memory against time. ``recommended`` is a policy, ``recommendation`` the sentence about it.

    ``by_layer`` are sentences on policies that differ from layer to layer, ``doubts`` on what there is
    against the figures.
    """

    costs: tuple[CostRecord, ...]
    budget_bytes: int | None = None
    slowdown_limit: float | None = None
    recommended: str | None = None
    recommendation: str | None = None
    by_layer: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class MarkerRecord:
    """A call of ``recompute_needs_tensor``: whether it is ``needed``, by which policy, and what breaks."""

    file: str
    line: int
    need: str
    policy: str | None
    breaks: str | None


@dataclass(frozen=True)
class RanksRecord:
    """What the ranks said of each other. ``suspects`` are the ranks that differ or did not report."""

    world_size: int
    agree: bool
    suspects: tuple[int, ...]
    findings: tuple[str, ...]


@dataclass(frozen=True)
class ManifestRecord:
    """Whether the regions are those that a manifest lists."""

    file: str
    entry: str
    differences: tuple[str, ...]
    undeclared: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """Everything about one target. ``test`` is the pytest node that asked, where one did."""

    version: int
    target: str
    test: str | None
    verdict: str
    exit_status: int
    evidence_level: str
    evidence: str
    environment: Environment
    seeds: tuple[int, ...]
    checkpoints: tuple[str, ...]
    wraps_module: bool
    unreached: tuple[str, ...]
    noise_floor: NoiseRecord
    regions: tuple[RegionRecord, ...]
    policies: tuple[PolicyRecord, ...]
    controls: tuple[PolicyRecord, ...]
    explanation: str | None
    confirmations: tuple[ConfirmationRecord, ...]
    manifests: tuple[ManifestRecord, ...]
    front: FrontRecord | None
    knock_out: tuple[MarkerRecord, ...] | None
    ranks: RanksRecord | None


@dataclass(frozen=True)
class Sections:
    """What a record holds beside the check itself; what was not asked for stays as it is here.

    ``divergences`` are by the name of the policy, ``retained_bytes`` by checkpoint and region;
    ``explanation`` says whose fault it is that policies break the step.
    """

    divergences: Mapping[str, DivergenceRecord] | None = None
    explanation: str | None = None
    retained_bytes: Mapping[tuple[str, str], int] | None = None
    front: FrontRecord | None = None
    knock_out: Sequence[MarkerRecord] | None = None
    ranks: RanksRecord | None = None
    exit_status: int | None = None
    """Where it is not the result's own: a budget was missed, ranks differ."""


def record_of(
    result: CheckResult,
    sections: Sections = Sections(),
    *,
    seeds: Sequence[int] = (0,),
    test: str | None = None,
) -> Record:
    """The record of a result. ``seeds`` are those that were asked for."""
    status = result.exit_status if sections.exit_status is None else sections.exit_status
    evidence = evidence_of(result, sections.front)
    divergences = sections.divergences or {}
    return Record(
        version=VERSION,
        target=result.target,
        test=test,
        verdict=VERDICTS[status],
        exit_status=status,
        evidence_level=evidence.value,
        evidence=evidence.meaning,
        environment=environment(result.device, uses_stand_ins=result.uses_stand_ins),
        seeds=tuple(seeds),
        checkpoints=result.checkpoints,
        wraps_module=result.wraps_module,
        unreached=result.untapped,
        noise_floor=NoiseRecord(
            result.noise.runs,
            tuple(map(_difference, result.noise.differences)),
            tuple(map(_state, result.noise.state)),
        ),
        regions=tuple(_regions(result, sections.retained_bytes or {})),
        policies=tuple(_policy(one, divergences.get(one.name)) for one in result.policies),
        controls=tuple(_policy(one, divergences.get(one.name)) for one in result.controls),
        explanation=sections.explanation,
        confirmations=tuple(
            ConfirmationRecord(one.name, one.status.value, one.details) for one in result.confirmations
        ),
        manifests=tuple(
            ManifestRecord(str(one.declared.file), one.declared.entry.name, one.differences, one.undeclared)
            for one in result.agreements
        ),
        front=sections.front,
        knock_out=None if sections.knock_out is None else tuple(sections.knock_out),
        ranks=sections.ranks,
    )


def unfinished(
    target: str,
    why: str,
    *,
    exit_status: int,
    device: torch.device,
    seeds: Sequence[int] = (0,),
    ranks: RanksRecord | None = None,
) -> Record:
    """The record of a check that did not come to its end: nothing was confirmed."""
    return Record(
        version=VERSION,
        target=target,
        test=None,
        verdict=VERDICTS[exit_status],
        exit_status=exit_status,
        evidence_level=Evidence.STRUCTURE.value,
        evidence=Evidence.STRUCTURE.meaning,
        environment=environment(str(device), uses_stand_ins=not torch_has_placeholders()),
        seeds=tuple(seeds),
        checkpoints=(),
        wraps_module=False,
        unreached=(),
        noise_floor=NoiseRecord(0, (), ()),
        regions=(),
        policies=(),
        controls=(),
        explanation=why,
        confirmations=(),
        manifests=(),
        front=None,
        knock_out=None,
        ranks=ranks,
    )


def of_all_ranks(record: Record, status: int, statuses: Mapping[int, int]) -> Record:
    """One rank's record as that of the job: the gravest status counts; where they differ, all are told."""
    ranks = record.ranks
    if ranks is not None and len({*statuses.values()}) > 1:
        found = tuple(f"rank {rank}: exit status {one}" for rank, one in statuses.items())
        ranks = replace(ranks, findings=found)
    return replace(record, exit_status=status, verdict=VERDICTS[status], ranks=ranks)


def as_json(records: Record | Sequence[Record]) -> str:
    """The text of one record, or of a list of them."""
    values = asdict(records) if isinstance(records, Record) else [asdict(one) for one in records]
    return json.dumps(values, indent=2, allow_nan=False) + "\n"


def evidence_of(result: CheckResult, front: FrontRecord | None = None) -> Evidence:
    """What the result says something about: not values, where none could be compared."""
    if result.noise or not result.checkpoints or not result.has_gradients:
        return Evidence.STRUCTURE
    if result.uses_stand_ins:
        return Evidence.SHIM
    if not result.device.startswith("cuda"):
        return Evidence.CPU_BITWISE
    timed = front is not None and any(cost.step_ms.measured is not None for cost in front.costs)
    return Evidence.CUDA_BENCHMARK if timed else Evidence.CUDA_BITWISE


def excerpt(file: str | None, line: int | None) -> tuple[Line, ...]:
    """The lines of source around a place; none where the file cannot be read."""
    if file is None or line is None:
        return ()
    lines = linecache.getlines(file)
    around = range(max(1, line - _AROUND), min(len(lines), line + _AROUND) + 1)
    return tuple(Line(number, lines[number - 1].rstrip("\r\n")) for number in around)


def relative(file: str) -> str:
    """The path as seen from the current folder, where it lies in there."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def _regions(result: CheckResult, retained: Mapping[tuple[str, str], int]) -> Iterator[RegionRecord]:
    seen = {region.name: region for region in result.regions}
    by_place: dict[tuple[str, str], list[CountRecord]] = {}
    for one in (*result.policies, *result.controls):
        for count in one.counts:
            runs = CountRecord(one.name, count.forward, count.replay, count.kept)
            by_place.setdefault((count.checkpoint, count.region), []).append(runs)
    order: dict[str, int] = {}
    for (checkpoint, name), counts in by_place.items():
        order[checkpoint] = order.get(checkpoint, 0) + 1
        region = seen.get(name)
        file, line = region.place if region else (None, None)
        yield RegionRecord(
            checkpoint,
            name,
            order[checkpoint],
            region.flag.value if region else "unreadable",
            relative(file) if file else None,
            line,
            retained.get((checkpoint, name)),
            tuple(counts),
        )


def _policy(one: PolicyResult, divergence: DivergenceRecord | None) -> PolicyRecord:
    return PolicyRecord(
        name=one.name,
        checkpointing=one.plan.checkpointing.value,
        globs=one.policy.patterns,
        saved=tuple(f"{count.checkpoint}::{count.region}" for count in one.counts if count.kept),
        verdict=one.verdict.value,
        seed=one.seed,
        findings=((divergence.message,) if divergence else ()) + one.findings,
        differences=tuple(map(_difference, one.differences)),
        state=tuple(map(_state, one.state)),
        replayed=tuple(ReplayedRecord(r.checkpoint, r.region, r.what) for r in one.replayed),
        miscounted=one.miscounted,
        state_dict_keys=one.keys,
        raised=_raised(one.raised) if one.raised is not None else None,
        first_divergence=divergence,
    )


def _difference(one: Difference) -> DifferenceRecord:
    far = one.extent or Extent(0, 0)
    known = one.extent is not None
    cosine = far.cosine if far.cosine is not None and math.isfinite(far.cosine) else None
    return DifferenceRecord(
        one.what,
        one.how,
        far.changed if known else None,
        far.numbers if known else None,
        _distance(far.largest),
        _distance(far.relative),
        cosine,
    )


def _distance(value: float | None) -> Distance:
    return value if value is None or math.isfinite(value) else INFINITE


def _state(one: StateDifference) -> StateRecord:
    return StateRecord(one.what, one.expected, one.actual)


def _raised(one: Raised) -> RaisedRecord:
    place = one.consumer or one.place
    file, line = (place.path, place.line) if place else (None, None)
    return RaisedRecord(
        one.phase,
        one.message,
        file,
        line,
        one.checkpoint,
        one.region,
        one.output,
        one.remedy,
        excerpt(file, line),
    )
