"""A58: a bound method as the function of a region, with many tensors."""

import torch
import torch_remat as remat
from torch import nn


class Experts(nn.Module):
    def _first(self, x, w1, b1, scale, counts):
        return (x @ w1 + b1) * scale + counts

    def forward(self, x, w1, b1, scale, counts):
        return remat.region(self._first, "first", recompute=False)(x, w1, b1, scale, counts)


EXPERTS = Experts()
WEIGHT, BIAS = torch.eye(8), torch.ones(8)


def body_experts(x):
    """runtime: ok"""
    return EXPERTS(x, WEIGHT, BIAS, 2.0, BIAS)
