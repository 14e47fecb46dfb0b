"""A75: a block whose torch_remat calls were taken out has nothing to report."""

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(8, 8)

    def forward(self, x):
        gate, up = self.up(x).chunk(2, -1)
        h = F.silu(gate) * up
        h += x
        return x + self.down(h)


LAYER = Layer()


def body_layer(x):
    """runtime: ok"""
    return LAYER(x)
