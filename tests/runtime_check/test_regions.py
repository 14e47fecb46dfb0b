"""Every region call is seen, counted and decided, however it is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

import torch_remat._api as api  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch_remat import checkpoint, region  # noqa: E402
from torch_remat import region as aliased  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, check  # noqa: E402
from remat_lint.runtime_check.source_flags import Flag  # noqa: E402

BEFORE = remat.region(torch.sin, "early", recompute=True)


def maybe() -> bool:
    return True


def run_body(body: Callable[[Tensor], Tensor]) -> CheckResult:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return checkpoint(region_name="body")(body)(x)

    return check(lambda: (Model(), torch.ones(2, 3)), Options(device="cpu"))


def by_attribute(x: Tensor) -> Tensor:
    return remat.region(torch.sin, "r", recompute=maybe())(x)


def by_name(x: Tensor) -> Tensor:
    return region(torch.sin, "r", recompute=maybe())(x)


def by_alias(x: Tensor) -> Tensor:
    return aliased(function=torch.sin, name="r", recompute=maybe())(x)


def by_default_argument(x: Tensor, wrap: Callable[..., Any] = region) -> Tensor:
    wrapper = wrap(
        torch.sin,
        "r",
        recompute=maybe(),
    )
    return wrapper(x)


def through_a_project_helper(x: Tensor) -> Tensor:
    return save_or_not(torch.sin, "r", maybe())(x)


def save_or_not(function: Callable[..., Any], name: str, again: bool) -> Callable[..., Any]:
    return remat.region(function, name, recompute=again)


@pytest.mark.parametrize(
    "body", [by_attribute, by_name, by_alias, by_default_argument, through_a_project_helper]
)
def test_region_is_decided_by_the_policy(body: Callable[[Tensor], Tensor]) -> None:
    result = run_body(body)
    assert [one.name for one in result.results] == ["none", "all", "r"]
    assert [one.totals("r") for one in result.results] == [(2,), (1,), (1,)]


def constant_true(x: Tensor) -> Tensor:
    return remat.region(torch.sin, "r", recompute=True)(x)


def constant_over_lines(x: Tensor) -> Tensor:
    return remat.region(
        torch.sin,
        "r",
        recompute=True,
    )(x)


def by_partial(x: Tensor) -> Tensor:
    return partial(remat.region, recompute=True)(torch.sin, "r")(x)


def by_dict(x: Tensor) -> Tensor:
    return remat.region(torch.sin, "r", **{"recompute": True})(x)  # noqa: PIE804 - that is the case


@pytest.mark.parametrize(
    ("body", "flag"),
    [
        (constant_true, Flag.CONSTANT),
        (constant_over_lines, Flag.CONSTANT),
        (by_partial, Flag.UNREADABLE),
        (by_dict, Flag.UNREADABLE),
    ],
)
def test_flag_that_the_author_settled_stays(body: Callable[[Tensor], Tensor], flag: Flag) -> None:
    result = run_body(body)
    assert [one.flag for one in result.regions] == [flag]
    assert [one.name for one in result.results] == ["as configured"]
    assert result.results[0].totals("r") == (2,)


def test_constant_beside_a_decided_region() -> None:
    result = run_body(lambda x: constant_true(remat.region(torch.cos, "c", recompute=maybe())(x)))
    assert [one.name for one in result.results] == ["none", "all", "c"]
    assert result["all"].totals("r") == (2,)
    assert result["all"].totals("c") == (1,)


def test_region_built_before_the_check_is_reported() -> None:
    result = run_body(lambda x: BEFORE(x))
    assert result.untapped == ("early",)
    assert result.regions == ()


def test_wrapper_built_in_the_factory_is_decided() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.sin = remat.region(torch.sin, "r", recompute=maybe())
            self.run = remat.checkpoint(region_name="body")(self.body)

        def forward(self, x: Tensor) -> Tensor:
            return self.run(x)

        def body(self, x: Tensor) -> Tensor:
            return self.sin(x)

    result = check(lambda: (Model(), torch.ones(2, 3)), Options(device="cpu"))
    assert result["r"].totals("r") == (1,)


def test_names_of_scopes_and_unnamed_checkpoints() -> None:
    def body(x: Tensor) -> Tensor:
        for index in range(2):
            with remat.name_scope(f"part{index}"):
                x = by_attribute(x)
        return x

    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return remat.checkpoint()(body)(remat.checkpoint()(body)(x))

    result = check(lambda: (Model(), torch.ones(2, 3)), Options(device="cpu", policies=["checkpoint (2)::*"]))
    assert [one.name for one in result.regions] == ["part0/r", "part1/r"]
    assert result.checkpoints == ("checkpoint", "checkpoint (2)")
    assert result["part0/r"].totals("part1/r") == (2, 2)
    assert result["checkpoint (2)::*"].totals("part1/r") == (2, 1)


def test_modules_own_combination_is_tried_too() -> None:
    flags = {"a": False, "b": False, "c": True}

    def body(x: Tensor) -> Tensor:
        for name in flags:
            x = remat.region(torch.sin, name, recompute=flags[name])(x)
        return x

    result = run_body(body)
    own = result["as configured"]
    assert [own.totals(name) for name in flags] == [(1,), (1,), (2,)]


def test_torch_remat_is_as_before_after_a_check() -> None:
    before = api.region.__code__, api.checkpoint.__code__, dict(vars(api))
    run_body(by_attribute)
    check(lambda: (nn.Linear(2, 2), torch.ones(2)), Options(device="cpu", stand_ins=True))
    assert (api.region.__code__, api.checkpoint.__code__, dict(vars(api))) == before
