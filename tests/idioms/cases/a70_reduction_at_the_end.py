"""A70: a body that ends in a reduction."""

import torch
import torch_remat as remat


def body_marked(x):
    """runtime: ok"""
    y = remat.region(torch.sin, "s", recompute=False)(x)
    remat.recompute_needs_tensor(y)
    return y.sum()


def body_unmarked(x):
    """runtime: placeholder"""
    y = remat.region(torch.sin, "s", recompute=False)(x)
    return y.sum()  # expect: RMT101 insert: remat.recompute_needs_tensor(y)
