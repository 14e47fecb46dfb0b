"""One layer: attention, then feed-forward and adapter side by side, each added to the residual stream."""

from __future__ import annotations

import torch_remat as remat
from torch import Tensor

from .adapter import Adapter
from .attention import Attention
from .config import Config
from .feed_forward import FeedForward
from .module import Module
from .norm import RMSNorm


class Block(Module):
    """What the model checkpoints."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.dim)
        self.attention = Attention(config)
        self.feed_forward_norm = RMSNorm(config.dim)
        self.feed_forward = FeedForward(config)
        self.adapter = Adapter(config)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), table)
        normed = self.feed_forward_norm(x)
        feed_forward_out = self.feed_forward(normed)
        remat.recompute_needs_tensor(feed_forward_out)
        x = x + feed_forward_out
        return x + self.adapter(normed)
