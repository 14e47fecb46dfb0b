"""A50: a guard that rebinds a tensor which is used later: the replay computes something else."""

import torch
import torch_remat as remat
from blocks import WIDTH, Proj
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = Proj("core")
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        if not remat.is_recomputing():
            x = x * self.scale.exp()  # expect: RMT506
        return self.core(x)


SCALED = Scaled()


def body_scaled(x):
    """runtime: error"""
    return SCALED(x)
