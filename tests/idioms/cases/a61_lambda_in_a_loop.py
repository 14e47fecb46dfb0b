"""A61: a default argument holds what the lambda needs; without it the last layer is replayed for all."""

import torch
import torch_remat as remat
from torch import nn

LAYERS = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(2))


def run_captured(x):
    """runtime: ok"""
    for i, f in enumerate(LAYERS):
        step = lambda t, f=f, n=f"l{i}": remat.checkpoint(region_name=n)(f)(t)
        x = step(x)
    return x


def run_late(x):
    """runtime: wrong-gradient"""
    for f in LAYERS:
        x = remat.checkpoint(region_name="l")(lambda t: f(t))(x)  # expect: RMT603
    return x
