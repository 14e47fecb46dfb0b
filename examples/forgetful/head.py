"""From the residual stream to logits: one region, ``logits``."""

from __future__ import annotations

import torch
import torch_remat as remat
from torch import Tensor, nn

from .config import Config
from .module import Module
from .norm import RMSNorm


class Head(Module):
    """Normalise, project to the vocabulary, and bound the logits where the model asks for it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.softcap = config.softcap
        self.norm = RMSNorm(config.dim)
        self.output = nn.Linear(config.dim, config.vocabulary, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        logits = remat.region(
            self.output, self.remat_region_name("logits"), recompute=self.remat_should_recompute("logits")
        )(self.norm(x))
        if self.softcap is not None:
            logits = torch.tanh(logits / self.softcap) * self.softcap
        return logits
