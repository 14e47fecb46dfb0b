"""The front of policies: what is predicted, what is chosen, and what a budget says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402

from remat_lint.runtime_check import timing  # noqa: E402
from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.errors import UsageError  # noqa: E402
from remat_lint.runtime_check.front import MIB, Front, Point, by_layer, front, front_of  # noqa: E402
from remat_lint.runtime_check.plan import PLAIN, Plan, regions  # noqa: E402
from remat_lint.runtime_check.policy import ALL, NONE, Policy  # noqa: E402
from remat_lint.runtime_check.prediction import StorageModel  # noqa: E402
from remat_lint.runtime_check.probe import Region, probed  # noqa: E402
from remat_lint.runtime_check.storages import measured  # noqa: E402
from remat_lint.runtime_check.timing import (  # noqa: E402
    Pressure,
    Spread,
    StepTime,
    TimePrediction,
    Times,
    timed,
)
from tests.runtime_check.layered import four_layers, six_layers  # noqa: E402


def step_time(plan: Plan, ms: float) -> StepTime:
    spread = Spread(ms, 0.0, ms, 3)
    return StepTime(plan, spread, spread)


def times(region_ms: Mapping[Region, float], none_ms: float, all_ms: float) -> TimePrediction:
    anchors = (step_time(regions(NONE), none_ms), step_time(regions(ALL), all_ms))
    return TimePrediction(region_ms, Times(anchors, Pressure(None)))


def points(*pairs: tuple[int, float]) -> list[Point]:
    return [Point(Policy(f"{retained}/{ms}", ()), retained, ms) for retained, ms in pairs]


def test_the_front_has_no_point_to_which_another_one_is_preferable() -> None:
    found = front_of(points((1, 9.0), (2, 9.0), (2, 7.0), (3, 8.0), (4, 5.0), (4, 6.0)))
    assert [(one.retained_bytes, one.step_ms) for one in found] == [(1, 9.0), (2, 7.0), (4, 5.0)]


def test_time_is_brought_to_scale_by_the_two_anchors() -> None:
    a, b = ("layer", "a"), ("layer", "b")
    predicted = times({a: 1.0, b: 3.0}, none_ms=20.0, all_ms=12.0)
    assert [predicted.step_ms(saved) for saved in ((), {a}, {b}, {a, b})] == [20.0, 18.0, 14.0, 12.0]
    assert predicted.is_resolved
    assert not times({a: 1.0}, none_ms=11.0, all_ms=12.0).is_resolved
    assert times({a: 1.0}, none_ms=11.0, all_ms=12.0).step_ms(()) == 12.0


@pytest.fixture(scope="module")
def measured_front() -> Front:
    with opened(four_layers, device="cpu") as make_bench:
        return front(make_bench(), candidates=3, runs=1)


def test_candidates_are_run_and_retain_what_is_predicted(measured_front: Front) -> None:
    assert 1 <= len(measured_front.candidates) <= 3
    for one in measured_front.candidates:
        assert one in [replace(p, measured_bytes=one.measured_bytes, measured_time=one.measured_time)
                       for p in measured_front.predicted]  # fmt: skip
        assert one.measured_bytes == one.retained_bytes
        assert one.measured_time is not None
        assert one.measured_time.wall.runs == 1
    assert measured_front.predicted[0].policy is NONE


def candidates(front: Front, *pairs: tuple[float, float]) -> Front:
    """The front with other candidates: MiB and milliseconds, beside a plain step of 10 ms."""
    made = [Point(Policy(f"{mib:g}", ()), 0, 0.0, int(mib * MIB), step_time(PLAIN, ms)) for mib, ms in pairs]
    return replace(front, candidates=tuple(made), plain=step_time(PLAIN, 10.0))


def test_the_fastest_policy_within_the_budget_is_recommended(measured_front: Front) -> None:
    found = candidates(measured_front, (1, 16.0), (2, 14.0), (4, 12.0))
    within = found.recommended(budget_mib=3)
    assert within.chosen is not None
    assert (within.chosen.policy.name, within.exit_status) == ("2", 0)
    assert str(within) == "2: 2.00 MiB in 14.0 ms is best within 3 MiB"
    smallest = found.recommended(max_slowdown=1.5)
    assert smallest.chosen is not None
    assert smallest.chosen.policy.name == "2"


def test_a_budget_that_no_policy_keeps_to_is_missed_with_status_3(measured_front: Front) -> None:
    found = candidates(measured_front, (1, 16.0), (2, 14.0))
    missed = found.recommended(budget_mib=0.5)
    assert (missed.chosen, missed.exit_status) == (None, 3)
    assert str(missed) == "no policy stays within 0.5 MiB; the least that any retains is 1.00 MiB"
    assert found.recommended(budget_mib=1, max_slowdown=1.5).exit_status == 3


def test_policies_by_layer_are_no_worse_than_uniform_ones_and_retain_what_is_predicted() -> None:
    with opened(six_layers, device="cpu") as make_bench:
        bench = make_bench()
        model = StorageModel(probed(bench))
        cost = {region: 1.0 + len(region[1]) for region in model.probe.regions}
        predicted = times(cost, none_ms=100.0, all_ms=50.0)
        uniform = front_of(
            Point(policy, model.retained_bytes(policy), predicted.step_ms(model.saved(policy)))
            for policy in (NONE, Policy("qkv", ("qkv",)), Policy("wo + w2", ("wo", "w2")), ALL)
        )
        found = by_layer(model, predicted, uniform)
        assert [gain.share for gain in found.gains] == [0.2, 0.35, 0.5, 0.7]
        assert all(gain.by_layer.retained_bytes <= gain.budget_bytes for gain in found.gains)
        assert all(gain.saved_share >= 0 for gain in found.gains)
        assert any(gain.saved_share > 0.05 for gain in found.gains)
        chosen = found.gains[1].by_layer
        assert measured(bench, regions(chosen.policy)).retained_bytes == chosen.retained_bytes


def test_the_clock_runs_plans_in_turn_and_keeps_every_run() -> None:
    with opened(four_layers, device="cpu") as make_bench:
        found = timed(make_bench(), [PLAIN, regions(NONE)], runs=2)
    assert [one.plan.name for one in found.steps] == ["plain", "none"]
    for one in found.steps:
        assert (one.wall.runs, one.cpu.runs) == (2, 2)
        assert 0 < one.wall.minimum_ms <= one.wall.median_ms
    assert found["none"] is found.steps[1]


def test_a_busy_machine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Pressure(0.5).is_contended
    assert "contended" in str(Pressure(0.5))
    assert not Pressure(0.01).is_contended
    assert not Pressure(None).is_contended
    assert "unknown" in str(Pressure(None))
    monkeypatch.setattr(timing, "PRESSURE", tmp_path / "none")
    with opened(four_layers, device="cpu") as make_bench:
        assert timed(make_bench(), [PLAIN], runs=1).pressure == Pressure(None)


def test_a_step_without_regions_has_no_front() -> None:
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.a(x)

    with opened(lambda: (Plain(), (torch.ones(2, 4),)), device="cpu") as make_bench:
        bench = make_bench()
        with pytest.raises(UsageError, match="no region"):
            front(bench)
