"""The whole model. Every block, and the head, is one checkpoint."""

from __future__ import annotations

import torch_remat as remat
from torch import Tensor, nn

from .block import Block
from .config import Config
from .head import Head
from .module import name_regions
from .rotary import rotary_table


class Model(nn.Module):
    """Tokens in, logits out."""

    table: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.dim)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.head = Head(config)
        self.register_buffer("table", rotary_table(config.max_length, config.head_dim), persistent=False)
        for block in self.layers:
            name_regions(block, config.regions)
        name_regions(self.head, config.regions, prefix="head")

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for index, block in enumerate(self.layers):
            x = remat.checkpoint(region_name=f"layers.{index}")(block)(x, self.table)
        return remat.checkpoint(region_name="head")(self.head)(x)
