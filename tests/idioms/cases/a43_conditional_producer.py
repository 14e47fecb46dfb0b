"""A43: one of two producers, one consumer: one marker behind the choice."""

import torch_remat as remat
from blocks import FeedForward, Proj
from torch import nn


class Layer(nn.Module):
    def __init__(self, prefix, use_moe):
        super().__init__()
        self.use_moe = use_moe
        self.moe, self.ffn = Proj(f"{prefix}.moe"), FeedForward(f"{prefix}.ffn")

    def marked(self, x):
        f = self.moe(x) if self.use_moe else self.ffn(x)
        remat.recompute_needs_tensor(f)
        return x + f

    def unmarked(self, x):
        f = self.moe(x) if self.use_moe else self.ffn(x)
        return x + f  # expect: RMT101 insert: remat.recompute_needs_tensor(f)


MOE, DENSE = Layer("moe", True), Layer("dense", False)


def body_moe(x):
    """runtime: ok"""
    return MOE.marked(x)


def body_dense(x):
    """runtime: ok"""
    return DENSE.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return MOE.unmarked(x)
