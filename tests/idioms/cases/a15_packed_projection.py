"""A15: one packed projection and two views of it: one marker covers the storage."""

import torch.nn.functional as F
import torch_remat as remat
from blocks import Proj
from torch import nn


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.packed = Proj("packed", 16)

    def forward(self, x):
        g, u = self.packed(x).unflatten(-1, (2, -1)).unbind(-2)
        remat.recompute_needs_tensor(g)
        return F.silu(g) * u


PACKED = Packed()


def body_packed(x):
    """runtime: ok"""
    return PACKED(x)
