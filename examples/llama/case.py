"""The model with inputs, for ``remat-check``."""

from __future__ import annotations

import torch
from torch import Tensor

from .config import Config
from .model import Model


def build() -> tuple[Model, tuple[Tensor]]:
    """A model small enough to run in a moment, and two rows of tokens."""
    torch.manual_seed(0)
    config = Config()
    tokens = torch.randint(config.vocabulary, (2, 16))
    return Model(config), (tokens,)
