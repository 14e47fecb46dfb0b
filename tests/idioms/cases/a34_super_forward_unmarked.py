"""A34: `super().forward` hands on an unmarked output; the subclass that reads it marks it."""

import torch_remat as remat
from blocks import FeedForward
from torch import nn


class Gated(FeedForward):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.g = nn.Linear(8, 8)

    def forward(self, x):
        y = super().forward(x)
        remat.recompute_needs_tensor(y)
        return y * self.g(x).sigmoid()


class Unmarked(Gated):
    def forward(self, x):
        y = super(Gated, self).forward(x)
        return y * self.g(x).sigmoid()  # expect: RMT101 insert: remat.recompute_needs_tensor(y)


GATED, UNMARKED = Gated("gated"), Unmarked("unmarked")


def body_gated(x):
    """runtime: ok"""
    return GATED(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return UNMARKED(x)
