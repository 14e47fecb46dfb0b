"""Bit for bit comparison of what two tracks computed, and how far apart what differs is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from remat_lint.runtime_check.fingerprints import Fingerprint


@dataclass(frozen=True, slots=True)
class Extent:
    """How far apart two tensors of one shape and type are.

    ``largest`` is the greatest absolute difference, ``relative`` the greatest one in proportion to the
    expected number, ``cosine`` the cosine similarity of the two as vectors; None where they hold no
    real or complex floating numbers. A number that is finite in one tensor only is infinitely far.
    """

    changed: int
    numbers: int
    largest: float | None = None
    relative: float | None = None
    cosine: float | None = None

    def __str__(self) -> str:
        count = f"{self.changed} of {self.numbers} numbers"
        if self.largest is None:
            return count
        return (
            f"{count}, by at most {self.largest:.2g} (relative {self.relative:.2g}, cosine {self.cosine:.6g})"
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor that is not the same in two tracks: ``what`` it is, ``how`` it differs, and how far."""

    what: str
    how: str
    extent: Extent | None = None

    def __str__(self) -> str:
        return f"{self.what} {self.how}" + (f": {self.extent}" if self.extent else "")


def differences(
    expected: Mapping[str, Fingerprint | None], actual: Mapping[str, Fingerprint | None]
) -> Iterator[Difference]:
    """Every tensor that differs, in the order of ``expected``. None stands for "no gradient"."""
    for what in (*expected, *(name for name in actual if name not in expected)):
        how = _difference(expected.get(what), actual.get(what))
        if how:
            yield Difference(what, how)


def _difference(expected: Fingerprint | None, actual: Fingerprint | None) -> str | None:
    if expected is None and actual is None:
        return None
    if actual is None:
        return "is missing: it is there without checkpoints"
    if expected is None:
        return "is there, but not without checkpoints"
    return actual.difference(expected)


def extent(expected: Tensor, actual: Tensor) -> Extent | None:
    """How far apart two tensors are; None where shape or type differ, so that there is no distance."""
    if expected.is_sparse or actual.is_sparse:
        expected, actual = _dense(expected), _dense(actual)
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return None
    per_number = _bits(expected).reshape(expected.numel(), -1) != _bits(actual).reshape(actual.numel(), -1)
    changed = int(per_number.any(dim=1).sum())
    if not (expected.is_floating_point() or expected.is_complex()):
        return Extent(changed, expected.numel())
    before, after = _vector(expected), _vector(actual)
    distance = (before - after).abs().nan_to_num(nan=inf, posinf=inf)
    distance[(before == after) | (before.isnan() & after.isnan())] = 0.0
    relative = torch.where(distance == 0, distance, distance / before.abs()).nan_to_num(nan=inf, posinf=inf)
    cosine = torch.nn.functional.cosine_similarity(before, after, dim=0)
    return Extent(
        changed,
        expected.numel(),
        distance.max().item() if changed else 0.0,
        relative.max().item() if changed else 0.0,
        cosine.item(),
    )


def _dense(tensor: Tensor) -> Tensor:
    return tensor.to_dense() if tensor.is_sparse else tensor


def _vector(tensor: Tensor) -> Tensor:
    tensor = tensor.detach()
    return (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).double().reshape(-1)


def _bits(tensor: Tensor) -> Tensor:
    """The bytes of a tensor: NaN equals the same NaN, and -0.0 is not 0.0."""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8)
