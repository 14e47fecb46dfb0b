"""A44: an accumulator that starts with the output itself; the marker does no harm then."""

import torch_remat as remat
from blocks import Proj

PROJ = Proj("proj")


def accumulate(h, acc, first):
    remat.recompute_needs_tensor(h)
    acc = h if first else acc + h
    return acc, h


def body_first(x):
    """runtime: ok"""
    return accumulate(PROJ(x), x, True)


def body_later(x):
    """runtime: ok"""
    return accumulate(PROJ(x), x, False)
