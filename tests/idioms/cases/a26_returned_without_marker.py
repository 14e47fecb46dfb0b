"""A26: an output that is returned needs no marker; a checkpoint returns tensors only."""

import torch_remat as remat
from blocks import Proj
from torch import nn


class Branch(nn.Module):
    def __init__(self, tuple_out):
        super().__init__()
        self.proj = Proj("proj")
        self.tuple_out = tuple_out

    def forward(self, x):
        y = self.proj(x)
        return (y, x) if self.tuple_out else y.unsqueeze(0)


TUPLE, SINGLE = Branch(True), Branch(False)


def body_tuple(x):
    """runtime: ok"""
    return TUPLE(x)


def body_single(x):
    """runtime: ok"""
    return SINGLE(x)


def with_none(x):
    return TUPLE.proj(x), None


def run_none(x):
    """runtime: error"""
    return remat.checkpoint(region_name="block")(with_none)(x)  # expect: RMT304
