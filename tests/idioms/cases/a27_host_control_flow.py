"""A27: a number read out of an output decides how much is returned."""

import torch
import torch_remat as remat


def _plan(x):
    return x * 2, torch.tensor(3)


def body_marked(x):
    """runtime: ok"""
    y, n = remat.region(_plan, "plan", recompute=False)(x)
    remat.recompute_needs_tensor(n)
    return y[: int(n)]


def body_unmarked(x):
    """runtime: placeholder"""
    y, n = remat.region(_plan, "plan", recompute=False)(x)
    return y[: int(n)]  # expect: RMT101 insert: remat.recompute_needs_tensor(n)
