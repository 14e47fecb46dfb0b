"""Bytes that are alive after the forward, counted by storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402

from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.errors import UsageError  # noqa: E402
from remat_lint.runtime_check.plan import BLOCK, PLAIN, Plan, regions  # noqa: E402
from remat_lint.runtime_check.policy import ALL, NONE, given  # noqa: E402
from remat_lint.runtime_check.storages import (  # noqa: E402
    BETWEEN_REGIONS,
    CHECKPOINT_INPUTS,
    OUTSIDE,
    Memory,
    measured,
)

ROWS, WIDTH = 4, 8
TENSOR = ROWS * WIDTH * 4
"""Bytes of one tensor of rows, in float32."""


class Body(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(WIDTH, WIDTH)

    def saves(self, name: str) -> bool:
        return False

    def forward(self, x: Tensor) -> Tensor:
        return remat.checkpoint(region_name="body")(self.body)(x * 2) * 1

    def body(self, x: Tensor) -> Tensor:
        h = remat.region(self.a, "a", recompute=not self.saves("a"))(x)
        remat.recompute_needs_tensor(h)
        return h.sin()


def memory(module: Callable[[], nn.Module], plan: Plan, **options: Any) -> Memory:
    def build() -> tuple[nn.Module, tuple[Tensor]]:
        return module(), (torch.linspace(-1, 1, ROWS * WIDTH).reshape(ROWS, WIDTH),)

    with opened(build, device="cpu", **options) as make_bench:
        return measured(make_bench(), plan)


def shares(found: Memory) -> dict[tuple[str | None, str], int]:
    return {(share.checkpoint, share.part): share.retained_bytes for share in found.shares}


@pytest.mark.parametrize("stand_ins", [None, True], ids=["as built", "stand-ins"])
def test_a_saved_region_keeps_its_marked_output_and_the_checkpoint_its_input(stand_ins: bool | None) -> None:
    none = shares(memory(Body, regions(NONE), stand_ins=stand_ins))
    saved = shares(memory(Body, regions(ALL), stand_ins=stand_ins))
    assert none.pop((None, OUTSIDE)) == saved.pop((None, OUTSIDE))  # what the loss keeps
    assert none == {(None, CHECKPOINT_INPUTS): TENSOR}
    assert saved == {(None, CHECKPOINT_INPUTS): TENSOR, ("body", "a"): TENSOR}


def test_the_plain_step_keeps_what_backward_needs_and_no_weights() -> None:
    found = memory(Body, PLAIN)
    # The linear layer's input was made before the checkpoint, and sin saves its argument.
    assert (found.retained_by(CHECKPOINT_INPUTS), found.retained_by("a")) == (TENSOR, TENSOR)
    assert found.retained_by(BETWEEN_REGIONS) == 0


def test_a_block_checkpoint_keeps_as_much_as_regions_that_are_all_recomputed() -> None:
    assert memory(Body, BLOCK).shares == memory(Body, regions(NONE)).shares


class WithCache(Body):
    def body(self, x: Tensor) -> Tensor:
        self.mask = torch.ones(WIDTH)
        return super().body(x)


def test_what_the_step_leaves_in_the_module_is_retained() -> None:
    assert memory(WithCache, regions(NONE)).retained_by(BETWEEN_REGIONS) == 4 * WIDTH


class WithConstant(Body):
    def body(self, x: Tensor) -> Tensor:
        return super().body(x) * torch.tensor([0.5] * WIDTH)


def test_a_constant_tensor_belongs_to_the_step() -> None:
    plain = memory(WithConstant, PLAIN)
    assert plain.retained_by(BETWEEN_REGIONS) - memory(Body, PLAIN).retained_by(BETWEEN_REGIONS) == 4 * WIDTH


class InCycle(Body):
    def body(self, x: Tensor) -> Tensor:
        cycle: list[object] = [x + 1]
        cycle.append(cycle)
        return super().body(x)


def test_garbage_in_a_cycle_is_not_retained() -> None:
    assert memory(InCycle, regions(NONE)).shares == memory(Body, regions(NONE)).shares


def test_the_peak_counts_gradients_and_no_placeholder() -> None:
    plain, none = memory(Body, PLAIN), memory(Body, regions(NONE))
    weights = 4 * (WIDTH * WIDTH + WIDTH)
    assert not plain.peak_is_of_device
    for found in (plain, none, memory(Body, regions(given("a")))):
        assert found.retained_bytes + weights <= found.peak_bytes + 2 * TENSOR
        assert found.peak_bytes <= plain.retained_bytes + weights + 6 * TENSOR


class Failing(Body):
    def body(self, x: Tensor) -> Tensor:
        return remat.region(self.a, "a", recompute=not self.saves("a"))(x).sin()


def test_a_step_that_fails_has_no_memory() -> None:
    with pytest.raises(UsageError, match="under all, the step fails"):
        memory(Failing, regions(ALL))
