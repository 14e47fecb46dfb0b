"""Markers that no policy needs are found, and none that one needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402

from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.knockout import KnockOut, Need, knocked_out  # noqa: E402
from tests.runtime_check.layered import four_layers  # noqa: E402


class Body(nn.Module):
    """One checkpoint. What a marker is expected to be stands beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def saves(self, name: str) -> bool:
        return False

    def region(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        return remat.region(function, name, recompute=not self.saves(name))

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x * 2) * 1

    def body(self, x: Tensor) -> Tensor:
        raise NotImplementedError


def found(module: type[nn.Module]) -> KnockOut:
    with opened(lambda: (module(), (torch.linspace(-1, 1, 32).reshape(4, 8),)), device="cpu") as make_bench:
        return knocked_out(make_bench())


class OneForNothing(Body):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a")(x)
        remat.recompute_needs_tensor(h)  # needed
        y = h.sin()
        remat.recompute_needs_tensor(y)  # unneeded
        return self.region(self.b, "b")(y)


class TakenByARegion(Body):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a")(x)
        remat.recompute_needs_tensor(h)  # unneeded
        return self.region(self.b, "b")(h)


class InEachOthersPlace(Body):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(self.a, "a")(x)
        remat.recompute_needs_tensor(h)  # unneeded
        remat.recompute_needs_tensor(h)  # needed
        return h.sin()


class OwnOutput(Body):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(torch.sigmoid, "a")(x)
        remat.recompute_needs_tensor(h)  # kept by autograd in this torch build
        return h.sin()


class OwnOutputThatNobodyReads(Body):
    def body(self, x: Tensor) -> Tensor:
        h = self.region(torch.sigmoid, "a")(x)
        remat.recompute_needs_tensor(h)  # unneeded
        return self.region(self.b, "b")(h)


class OnlyWhereTheOuterOneRuns(Body):
    """Under "all", the marker inside stands in a region that is skipped."""

    def body(self, x: Tensor) -> Tensor:
        def inner(t: Tensor) -> Tensor:
            h = self.region(self.a, "outer.inner")(t)
            remat.recompute_needs_tensor(h)  # needed
            return h.sin() * t

        return self.region(inner, "outer")(x)


class WithoutAnyPolicyThatHolds(Body):
    def body(self, x: Tensor) -> Tensor:
        remat.recompute_needs_tensor(x)  # unknown
        return remat.region(self.a, "a", recompute=False)(x).sin()


@pytest.mark.parametrize(
    "program",
    [
        OneForNothing, TakenByARegion, InEachOthersPlace, OwnOutput, OwnOutputThatNobodyReads,
        OnlyWhereTheOuterOneRuns, WithoutAnyPolicyThatHolds,
    ],
)  # fmt: skip
def test_markers_are_what_stands_beside_them_in(program: type[Body]) -> None:
    lines, first = inspect.getsourcelines(program)
    expected = {
        number: line.partition("# ")[2].strip()
        for number, line in enumerate(lines, first)
        if "recompute_needs_tensor(" in line
    }
    markers = found(program).markers
    assert {marker.place[1]: marker.need.value for marker in markers} == expected
    assert {marker.place[0] for marker in markers} == {__file__}


def test_a_needed_marker_names_the_policy_that_needs_it() -> None:
    (marker,) = (one for one in found(OneForNothing).markers if one.need is Need.NEEDED)
    assert marker.policy == "all"
    assert "reads the output of region a" in (marker.breaks or "")


def test_no_marker_of_the_layered_model_is_unneeded() -> None:
    with opened(four_layers, device="cpu") as make_bench:
        result = knocked_out(make_bench())
    assert len(result.policies) == 32
    assert [str(marker) for marker in result.markers if marker.need is not Need.NEEDED] == []
    assert len(result.markers) == 4
