"""A14: a region that is called with keywords only, then a view that is returned."""

import torch
import torch_remat as remat
from torch import nn


class Stacked(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8, 8))

    def _kernel(self, tokens, counts):
        return tokens @ self.weight

    def forward(self, x, counts):
        y = remat.region(self._kernel, "stacked_mm", recompute=False)(tokens=x, counts=counts)
        return y.reshape(x.shape[0], -1)


STACKED = Stacked()


def body_stacked(x):
    """runtime: ok"""
    return STACKED(x, x.detach().sum(-1))
