"""A56: the producers run without autocast, their outputs are read outside."""

import torch
import torch_remat as remat
from blocks import Proj
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q = Proj("p"), Proj("q")
        self.keep = [0, 2]

    def marked(self, x):
        with torch.autocast("cpu", enabled=False):
            a, b = self.p(x.float()), self.q(x.float())
        remat.recompute_needs_tensor(a, b)
        return a[:, self.keep] + b[:, self.keep]

    def unmarked(self, x):
        with torch.autocast("cpu", enabled=False):
            a, b = self.p(x.float()), self.q(x.float())
        return a[:, self.keep] + b[:, self.keep]  # expect: RMT101 insert: remat.recompute_needs_tensor(a, b)


MIXED = Mixed()


def body_marked(x):
    """runtime: ok"""
    return MIXED.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return MIXED.unmarked(x)
