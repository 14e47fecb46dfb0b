"""A57: a compiled function reads what eager regions return; a marker inside it does nothing."""

import torch
import torch_remat as remat
from blocks import Proj
from torch import nn


@torch.compile
def squash(y, g):
    return y * g.sigmoid()


@torch.compile
def squash_marked(y, g):
    remat.recompute_needs_tensor(y, g)  # expect: RMT108
    return y * g.sigmoid()


class Compiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.gate = Proj("up"), Proj("gate")

    def marked(self, x):
        y, g = self.up(x), self.gate(x)
        remat.recompute_needs_tensor(y, g)
        return squash(y, g)

    def unmarked(self, x):
        y, g = self.up(x), self.gate(x)
        return squash(y, g)  # expect: RMT101 insert: remat.recompute_needs_tensor(y, g)

    def marked_inside(self, x):
        y, g = self.up(x), self.gate(x)
        return squash_marked(y, g)  # expect: RMT101 insert: remat.recompute_needs_tensor(y, g)
