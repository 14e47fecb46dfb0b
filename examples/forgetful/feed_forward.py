"""SwiGLU feed-forward in two regions: ``w13`` and ``w2``."""

from __future__ import annotations

import torch.nn.functional as F
import torch_remat as remat
from torch import Tensor, nn

from .config import Config
from .module import Module


class FeedForward(Module):
    """Gate and up projection as one matrix product, then down."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.w13 = nn.Linear(config.dim, 2 * config.hidden_dim, bias=False)
        self.w2 = nn.Linear(config.hidden_dim, config.dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        both = remat.region(
            self.w13, self.remat_region_name("w13"), recompute=self.remat_should_recompute("w13")
        )(x)
        gate, up = both.chunk(2, dim=-1)
        hidden = F.silu(gate) * up
        return remat.region(
            self.w2, self.remat_region_name("w2"), recompute=self.remat_should_recompute("w2")
        )(hidden)
