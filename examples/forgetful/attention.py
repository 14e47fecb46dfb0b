"""Causal self-attention in three regions: ``qkv``, ``inner_attention`` and ``wo``."""

from __future__ import annotations

import torch.nn.functional as F
import torch_remat as remat
from torch import Tensor, nn

from .config import Config
from .module import Module
from .rotary import rotate


class Attention(Module):
    """Multi-head attention with rotary positions."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.wq = nn.Linear(config.dim, config.dim, bias=False)
        self.wk = nn.Linear(config.dim, config.dim, bias=False)
        self.wv = nn.Linear(config.dim, config.dim, bias=False)
        self.wo = nn.Linear(config.dim, config.dim, bias=False)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        q, k, v = remat.region(
            self.project, self.remat_region_name("qkv"), recompute=self.remat_should_recompute("qkv")
        )(x)
        q, k = rotate(q, k, table)
        mixed = remat.region(
            self.attend,
            self.remat_region_name("inner_attention"),
            recompute=self.remat_should_recompute("inner_attention"),
        )(q, k, v)
        return remat.region(
            self.wo, self.remat_region_name("wo"), recompute=self.remat_should_recompute("wo")
        )(mixed)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: (batch, heads, length, head_dim) each."""
        return self.split_heads(self.wq(x)), self.split_heads(self.wk(x)), self.split_heads(self.wv(x))

    def split_heads(self, x: Tensor) -> Tensor:
        """Heads before positions, as attention wants them."""
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Every position looks at itself and what came before; heads are joined again."""
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return mixed.transpose(1, 2).flatten(2)
