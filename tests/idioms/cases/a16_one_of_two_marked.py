"""A16: two modules, two regions, one marker: the other is missing."""

import torch.nn.functional as F
import torch_remat as remat
from blocks import Proj
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Proj("gate")
        self.up = Proj("up")

    def forward(self, x):
        g, u = self.gate(x), self.up(x)
        remat.recompute_needs_tensor(g)
        return F.silu(g) * u  # expect: RMT101 insert: remat.recompute_needs_tensor(g, u)


GATED = Gated()


def body_gated(x):
    """runtime: placeholder"""
    return GATED(x)
