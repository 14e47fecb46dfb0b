"""What is kept of a tensor to know it again: shape, type and a digest of its bytes.

The digest is XXH3 with 128 bits, which depends on the order of the bytes. Sums and XORs of elements
do not: they take permuted rows and most dropout masks for the same.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import torch
import torch_remat
import xxhash
from torch import Tensor
from torch._C import _len_torch_dispatch_stack
from torch.utils._python_dispatch import _disable_current_modes

_CHUNK = 64 * 1024 * 1024  # bytes that are copied from a device at once


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A tensor without its data. Equal where the bits are: NaN equals the same NaN, -0.0 is not 0.0."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    digest: bytes

    def difference(self, expected: Fingerprint) -> str | None:
        """How this tensor differs from the expected one; None where it does not."""
        if self.digest == expected.digest and self.shape == expected.shape and self.dtype is expected.dtype:
            return None if self.device == expected.device else self._otherwise(expected, "device")
        for aspect in ("shape", "dtype", "device"):
            if getattr(expected, aspect) != getattr(self, aspect):
                return self._otherwise(expected, aspect)
        return "differs"

    def _otherwise(self, expected: Fingerprint, aspect: str) -> str:
        before, after = (str(getattr(one, aspect)).removeprefix("torch.") for one in (expected, self))
        return f"has {aspect} {after} instead of {before}"


def fingerprint(tensor: Tensor) -> Fingerprint | None:
    """The fingerprint of a tensor; None for a placeholder or another tensor without data.

    No operation is dispatched for contiguous tensors on the CPU, so that modes see nothing; what others need
    is hidden from them.
    """
    if tensor.device.type == "meta":
        return None
    if tensor.layout is torch.strided and torch_remat.is_placeholder(tensor):
        return None
    return Fingerprint(tuple(tensor.shape), tensor.dtype, tensor.device, _digest(tensor))


def _digest(tensor: Tensor) -> bytes:
    if _is_plain(tensor):
        return _digest_of_memory(xxhash.xxh3_128(), tensor).digest()
    if not _len_torch_dispatch_stack():  # to disable no mode takes longer than the digest of a small tensor
        return _digest_of_other(tensor.detach())
    with _disable_current_modes():
        return _digest_of_other(tensor.detach())


def _is_plain(tensor: Tensor) -> bool:
    return (
        tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and type(tensor) in (Tensor, torch.nn.Parameter)
        and tensor.is_contiguous()
        and not (tensor.is_conj() or tensor.is_neg())
    )


def _digest_of_other(tensor: Tensor) -> bytes:
    local = getattr(tensor, "to_local", None)
    if local is not None:  # a DTensor: what this rank holds
        return _digest(local())
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    flat = tensor.resolve_conj().resolve_neg().contiguous().reshape(-1)
    state = xxhash.xxh3_128()
    step = max(1, _CHUNK // max(1, flat.element_size()))
    for start in range(0, flat.numel(), step):
        _digest_of_memory(state, flat[start : start + step].cpu())
    return state.digest()


def _digest_of_memory(state: xxhash.xxh3_128, tensor: Tensor) -> xxhash.xxh3_128:
    size = tensor.numel() * tensor.element_size()
    if size:
        state.update((ctypes.c_char * size).from_address(tensor.data_ptr()))
    return state
