"""A45: the trailing add reads, however late it comes: nothing stops the replay before it."""

from blocks import FeedForward
from torch import nn
import torch_remat as remat


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ffn = FeedForward("ffn")

    def forward(self, x):
        return x + self.ffn(x)  # expect: RMT101 insert: ffn_out = self.ffn(x); remat.recompute_needs_tensor(ffn_out)


LAYER = Layer()


def body_layer(x):
    """runtime: placeholder"""
    return LAYER(x)
