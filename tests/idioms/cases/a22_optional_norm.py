"""A22: an optional norm, a marker for each consumer that the configuration may choose."""

import torch_remat as remat
from blocks import WIDTH, Proj
from torch import nn


def rotate(q):
    return q * 2 + q.roll(1, -1)


class Query(nn.Module):
    def __init__(self, prefix, normalize):
        super().__init__()
        self.qp = Proj(prefix)
        self.qnorm = nn.LayerNorm(WIDTH) if normalize else None

    def forward(self, x):
        q = self.qp(x)
        if self.qnorm is not None:
            remat.recompute_needs_tensor(q)
            q = self.qnorm(q)
        remat.recompute_needs_tensor(q)
        return rotate(q)


NORMALIZED, PLAIN = Query("normalized", True), Query("plain", False)


def body_normalized(x):
    """runtime: ok"""
    return NORMALIZED(x)


def body_plain(x):
    """runtime: ok"""
    return PLAIN(x)
