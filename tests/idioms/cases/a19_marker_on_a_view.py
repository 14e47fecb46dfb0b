"""A19: views first, the marker on a view."""

import torch_remat as remat
from blocks import Proj

PROJ = Proj("proj")


def rope(h):
    return h * 2 + h.roll(1, -1)


def body_view(x):
    """runtime: ok"""
    h = PROJ(x).view(x.shape[0], 2, -1).transpose(1, 2)
    remat.recompute_needs_tensor(h)
    return rope(h)
