"""A54: a saved output gets into a region that is replayed by closure or partial."""

import functools

import torch
import torch_remat as remat


def body_captured(x):
    """runtime: placeholder"""
    a = remat.region(torch.exp, "a", recompute=False)(x * 1)
    b = remat.region(torch.neg, "n", recompute=False)(x)
    return remat.region(lambda t: t + b, "c", recompute=True)(a)  # expect: RMT107


def body_partial(x):
    """runtime: placeholder"""
    b = remat.region(torch.neg, "n", recompute=False)(x)
    return remat.region(functools.partial(torch.add, b), "c", recompute=True)(x)  # expect: RMT107


def body_captured_by_a_saved_region(x):
    """runtime: ok"""
    a = remat.region(torch.exp, "a", recompute=False)(x * 1)
    b = remat.region(torch.neg, "n", recompute=False)(x)
    return remat.region(lambda t: t + b, "c", recompute=False)(a)
