"""Comparison is of bits: NaN equals NaN, 0.0 is not -0.0, and None is no tensor."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from torch import Tensor  # noqa: E402

from remat_lint.runtime_check.compare import differences  # noqa: E402

NAN = float("nan")


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
    assert list(differences({"t": before}, {"t": after})) == []


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        (torch.zeros(2), -torch.zeros(2), "differs: 2 of 2 numbers, by at most 0"),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), "differs: 1 of 2 numbers, by at most 0.5"),
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, 2.0]), "differs: 1 of 2 numbers, by at most inf"),
        (torch.tensor([1, 2]), torch.tensor([2, 1]), "differs: 2 of 2 numbers"),
        (torch.tensor([True]), torch.tensor([False]), "differs: 1 of 1 numbers"),
        (torch.ones(2), torch.ones(3), "has shape (3,) instead of (2,)"),
        (torch.ones(2), torch.ones(2).double(), "has dtype torch.float64 instead of torch.float32"),
        (torch.ones(2), None, "is missing: it is there without checkpoints"),
        (None, torch.ones(2), "is there, but not without checkpoints"),
    ],
)
def test_other_bits_differ(before: Tensor | None, after: Tensor | None, how: str) -> None:
    assert [str(d) for d in differences({"t": before}, {"t": after})] == [f"t {how}"]


def test_tensors_that_only_one_track_has() -> None:
    found = [d.what for d in differences({"a": torch.ones(1)}, {"b": torch.ones(1)})]
    assert found == ["a", "b"]
