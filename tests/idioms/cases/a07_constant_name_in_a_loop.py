"""A07: a constant name in a loop without a scope is used twice: raises."""

import torch_remat as remat
from torch import nn

BLOCKS = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))


def run_blocks(blocks, x):
    for b in blocks:
        x = remat.region(b, "core", recompute=False)(x)  # expect: RMT201
    return x


def body_loop(x):
    """runtime: error"""
    return run_blocks(BLOCKS, x)
