"""Models of several layers for the tests of memory, time and markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch_remat as remat
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEADS = 16, 2


class Block(nn.Module):
    """A checkpointed layer whose regions are decided by a policy."""

    def saves(self, name: str) -> bool:
        return False

    def region(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        return remat.region(function, name, recompute=not self.saves(name))


class Layered(nn.Module):
    """Layers, each a checkpoint, and a head outside of them."""

    def __init__(self, blocks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(blocks)
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            x = remat.checkpoint(region_name=f"layers.{index}")(layer)(x)
        return self.head(F.layer_norm(x, (WIDTH,)))


def heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class MarkedBlock(Block):
    """Five regions, with views and bare operations between them."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w13 = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.w2 = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.region(self.qkv, "attention.qkv")(F.layer_norm(x, (WIDTH,))).chunk(3, dim=-1)
        remat.recompute_needs_tensor(q)
        mixed = self.region(attend, "attention.inner")(heads(q * 0.5), heads(k), heads(v))
        h = self.region(self.wo, "attention.wo")(mixed)
        remat.recompute_needs_tensor(h)
        x = x + h
        gate, up = self.region(self.w13, "feed_forward.w13")(F.layer_norm(x, (WIDTH,))).chunk(2, dim=-1)
        remat.recompute_needs_tensor(gate, up)
        y = self.region(self.w2, "feed_forward.w2")(F.silu(gate) * up)
        remat.recompute_needs_tensor(y)
        return x + y


FIVE = ("attention.qkv", "attention.inner", "attention.wo", "feed_forward.w13", "feed_forward.w2")


class ChainedBlock(Block):
    """Twelve regions that hand their outputs directly on, so that no marker is needed."""

    def __init__(self, hidden: int, window: int | None) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)
        self.w1 = nn.Linear(WIDTH, hidden, bias=False)
        self.w3 = nn.Linear(WIDTH, hidden, bias=False)
        self.w2 = nn.Linear(hidden, WIDTH, bias=False)
        self.window = window

    def norm(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (WIDTH,))

    def turn(self, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (heads(part) for part in qkv.chunk(3, dim=-1))
        return q * 0.5 + q.flip(-1), k * 0.5 - k.flip(-1), v

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self.window is None:
            return attend(q, k, v)
        length = q.shape[-2]
        mask = torch.ones(length, length).tril().triu(1 - self.window).bool()
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.region(self.norm, "norm1")(x)
        qkv = self.region(self.qkv, "qkv")(normed)
        mixed = self.region(self.attend, "attend")(*self.region(self.turn, "turn")(qkv))
        x = self.region(torch.add, "add1")(x, self.region(self.wo, "wo")(mixed))
        normed = self.region(self.norm, "norm2")(x)
        gate, up = self.region(self.w1, "w1")(normed), self.region(self.w3, "w3")(normed)
        both = self.region(lambda gate, up: F.silu(gate) * up, "both")(gate, up)
        return self.region(torch.add, "add2")(x, self.region(self.w2, "w2")(both))


TWELVE = ("norm1", "qkv", "turn", "attend", "wo", "add1", "norm2", "w1", "w3", "both", "w2", "add2")


def rows() -> Tensor:
    return torch.linspace(-1, 1, 2 * 8 * WIDTH).reshape(2, 8, WIDTH)


def four_layers() -> tuple[nn.Module, tuple[Tensor]]:
    return Layered(MarkedBlock() for _ in range(4)), (rows(),)


def six_layers() -> tuple[nn.Module, tuple[Tensor]]:
    sizes = ((32, None), (32, 3), (64, None), (48, 3), (32, None), (64, 2))
    return Layered(ChainedBlock(hidden, window) for hidden, window in sizes), (rows(),)
