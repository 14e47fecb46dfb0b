"""A10: a subclass overrides what the inherited region runs; bare operations in it are the region's own."""

import torch
import torch_remat as remat
from blocks import Proj
from torch import nn


class LowRank(Proj):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.a = nn.Linear(8, 2)
        self.b = nn.Linear(2, 8)

    def _mm(self, x):
        return super()._mm(x) + self.b(self.a(x))


LOW_RANK = LowRank("low_rank")


def body_low_rank(x):
    """runtime: ok"""
    return LOW_RANK(x)


def body_read(x):
    """runtime: placeholder"""
    y = LOW_RANK(x)
    return y * 2  # expect: RMT101 insert: remat.recompute_needs_tensor(y)
