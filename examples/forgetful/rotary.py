"""Rotary position embedding: pairs of channels are turned by an angle that grows with the position."""

from __future__ import annotations

import torch
from torch import Tensor


def rotary_table(length: int, head_dim: int, base: float = 10_000.0) -> Tensor:
    """Cosine and sine of every angle: (length, head_dim / 2, 2)."""
    frequency = base ** (-torch.arange(0, head_dim, 2) / head_dim)
    angle = torch.outer(torch.arange(length), frequency)
    return torch.stack((angle.cos(), angle.sin()), dim=-1)


def rotate(q: Tensor, k: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """Turn queries and keys, both (batch, heads, length, head_dim)."""
    return turn(q, table), turn(k, table)


def turn(x: Tensor, table: Tensor) -> Tensor:
    """Turn the channel pairs of ``x`` by the angles of its positions."""
    cos, sin = table[: x.shape[-2]].unbind(dim=-1)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(dim=-1)
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2)
