"""Comparison is of bits: NaN equals NaN, 0.0 is not -0.0, and None is no tensor."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from torch import Tensor  # noqa: E402

from remat_lint.runtime_check.compare import differences, extent  # noqa: E402
from remat_lint.runtime_check.fingerprints import fingerprint  # noqa: E402

NAN, INF = float("nan"), float("inf")


def compared(before: Tensor | None, after: Tensor | None) -> list[str]:
    """What the comparison says of a tensor before and after, with its extent where bits differ."""
    prints = [{"t": None if tensor is None else fingerprint(tensor)} for tensor in (before, after)]
    found = differences(*prints)
    return [
        str(replace(one, extent=extent(before, after)) if before is not None and after is not None else one)
        for one in found
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (torch.ones(3), torch.ones(3)),
        (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0])),
        (torch.tensor(2.0), torch.tensor(2.0)),
        (torch.ones(0, 4), torch.ones(0, 4)),
        (torch.eye(3), torch.eye(3).t()),
        (torch.tensor([True, False]), torch.tensor([True, False])),
        (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16)),
        (torch.ones(2, dtype=torch.complex64).conj(), torch.ones(2, dtype=torch.complex64).conj()),
        (torch.eye(3).to_sparse(), torch.eye(3).to_sparse()),
        (None, None),
    ],
)
def test_same_bits_are_equal(before: Tensor | None, after: Tensor | None) -> None:
    assert compared(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        (torch.zeros(2), -torch.zeros(2), "differs: 2 of 2 numbers, by at most 0 (relative 0, cosine 0)"),
        (
            torch.tensor([1.0, 2.0]),
            torch.tensor([1.0, 2.5]),
            "differs: 1 of 2 numbers, by at most 0.5 (relative 0.25, cosine 0.996546)",
        ),
        (
            torch.tensor([1.0, NAN]),
            torch.tensor([1.0, 2.0]),
            "differs: 1 of 2 numbers, by at most inf (relative inf, cosine nan)",
        ),
        (
            torch.tensor([0.0, 1.0]),
            torch.tensor([1.0, 1.0]),
            "differs: 1 of 2 numbers, by at most 1 (relative inf, cosine 0.707107)",
        ),
        (
            torch.tensor([1.0, INF]),
            torch.tensor([1.0, 2.0]),
            "differs: 1 of 2 numbers, by at most inf (relative inf, cosine nan)",
        ),
        (torch.tensor([1, 2]), torch.tensor([2, 1]), "differs: 2 of 2 numbers"),
        (torch.tensor([True]), torch.tensor([False]), "differs: 1 of 1 numbers"),
        (torch.ones(2), torch.ones(3), "has shape (3,) instead of (2,)"),
        (torch.ones(2), torch.ones(2).double(), "has dtype float64 instead of float32"),
        (torch.ones(2), None, "is missing: it is there without checkpoints"),
        (None, torch.ones(2), "is there, but not without checkpoints"),
    ],
)
def test_other_bits_differ(before: Tensor | None, after: Tensor | None, how: str) -> None:
    assert compared(before, after) == [f"t {how}"]


def test_tensors_that_only_one_track_has() -> None:
    one = fingerprint(torch.ones(1))
    assert [d.what for d in differences({"a": one}, {"b": one})] == ["a", "b"]
