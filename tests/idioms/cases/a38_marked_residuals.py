"""A38: each branch is marked before its residual add."""

import torch_remat as remat
from blocks import WIDTH, FeedForward, Proj
from torch import nn


class Layer(nn.Module):
    def __init__(self, prefix):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn, self.ffn = Proj(f"{prefix}.attn"), FeedForward(f"{prefix}.ffn")

    def forward(self, x):
        h = self.attn(self.n1(x))
        remat.recompute_needs_tensor(h)
        x = x + h
        f = self.ffn(self.n2(x))
        remat.recompute_needs_tensor(f)
        return x + f


LAYER = Layer("layer")


def body_layer(x):
    """runtime: ok"""
    return LAYER(x)
