"""A gated low-rank side path beside the feed-forward: one region of its own, ``down``."""

from __future__ import annotations

import torch.nn.functional as F
import torch_remat as remat
from torch import Tensor, nn

from .config import Config
from .gate import Gate
from .module import Module


class Adapter(Module):
    """Down to a few channels, up again, and as much of it as the gate lets through."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.down = nn.Linear(config.dim, config.adapter_rank, bias=False)
        self.up = nn.Linear(config.adapter_rank, config.dim, bias=False)
        self.gate = Gate(config)

    def forward(self, x: Tensor) -> Tensor:
        down_out = remat.region(
            self.down, self.remat_region_name("down"), recompute=self.remat_should_recompute("down")
        )(x)
        remat.recompute_needs_tensor(down_out)
        narrow = F.silu(down_out)
        return self.gate(x) * self.up(narrow)
