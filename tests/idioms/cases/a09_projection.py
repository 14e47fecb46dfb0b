"""A09: a region inside a linear-like module; the marker belongs to the caller."""

import torch.nn.functional as F
import torch_remat as remat
from blocks import Proj
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Proj("gate")

    def marked(self, x):
        gate = self.gate(x)
        remat.recompute_needs_tensor(gate)
        return F.silu(gate) * x

    def unmarked(self, x):
        gate = self.gate(x)
        return F.silu(gate) * x  # expect: RMT101 insert: remat.recompute_needs_tensor(gate)


GATED = Gated()


def body_marked(x):
    """runtime: ok"""
    return GATED.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return GATED.unmarked(x)
