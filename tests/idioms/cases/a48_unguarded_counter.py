"""A48: a buffer that counts in the body counts twice."""

import torch
import torch_remat as remat
from blocks import WIDTH, Proj
from torch import nn


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = Proj("core")
        self.register_buffer("load", torch.zeros(WIDTH))

    def forward(self, x, hist):
        self.load.add_(hist)  # expect: RMT502
        return self.core(x)


COUNTED = Counted()


def run_counted(x):
    return remat.checkpoint(region_name="block")(COUNTED)(x, torch.ones(WIDTH))
