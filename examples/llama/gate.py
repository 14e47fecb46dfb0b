"""How much of a side path each token takes: one region, ``score``."""

from __future__ import annotations

import torch_remat as remat
from torch import Tensor, nn

from .config import Config
from .module import Module


class Gate(Module):
    """A number between 0 and 1 for every token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.score = nn.Linear(config.dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        score = remat.region(
            self.score, self.remat_region_name("score"), recompute=self.remat_should_recompute("score")
        )(x)
        remat.recompute_needs_tensor(score)
        return score.sigmoid()
