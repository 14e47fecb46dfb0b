"""Bit for bit comparison of what two tracks computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor that is not the same in two tracks: ``what`` it is, and how it differs."""

    what: str
    how: str

    def __str__(self) -> str:
        return f"{self.what} {self.how}"


def differences(
    expected: Mapping[str, Tensor | None], actual: Mapping[str, Tensor | None]
) -> Iterator[Difference]:
    """Every tensor that differs, in the order of ``expected``. None stands for "no gradient"."""
    for what in (*expected, *(name for name in actual if name not in expected)):
        how = _difference(expected.get(what), actual.get(what))
        if how:
            yield Difference(what, how)


def _difference(expected: Tensor | None, actual: Tensor | None) -> str | None:
    if expected is None and actual is None:
        return None
    if actual is None:
        return "is missing: it is there without checkpoints"
    if expected is None:
        return "is there, but not without checkpoints"
    if expected.is_sparse or actual.is_sparse:
        expected, actual = _dense(expected), _dense(actual)
    for aspect in ("shape", "dtype", "device"):
        before, after = getattr(expected, aspect), getattr(actual, aspect)
        if before != after:
            return f"has {aspect} {_plain(after)} instead of {_plain(before)}"
    changed = (_bits(expected) != _bits(actual)).sum().item()
    return None if not changed else f"differs: {_extent(expected, actual)}"


def _dense(tensor: Tensor) -> Tensor:
    return tensor.to_dense() if tensor.is_sparse else tensor


def _plain(aspect: object) -> str:
    return str(tuple(aspect)) if isinstance(aspect, torch.Size) else str(aspect)


def _bits(tensor: Tensor) -> Tensor:
    """The bytes of a tensor: NaN equals the same NaN, and -0.0 is not 0.0."""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8)


def _extent(expected: Tensor, actual: Tensor) -> str:
    per_number = _bits(expected).reshape(expected.numel(), -1) != _bits(actual).reshape(actual.numel(), -1)
    count = f"{int(per_number.any(dim=1).sum())} of {expected.numel()} numbers"
    if not (expected.is_floating_point() or expected.is_complex()):
        return count
    distance = (expected.detach() - actual.detach()).abs().double().nan_to_num(nan=float("inf"))
    return f"{count}, by at most {distance.max().item():.2g}"
