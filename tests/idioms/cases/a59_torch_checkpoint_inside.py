"""A59: PyTorch's own checkpoint is a bare operation: it saves its input and reads it."""

import torch.utils.checkpoint
import torch_remat as remat
from blocks import Proj
from torch import nn


class Tail(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = Proj("proj")

    def tail(self, y):
        return y.sin() * 2

    def marked(self, x):
        y = self.proj(x)
        remat.recompute_needs_tensor(y)
        return torch.utils.checkpoint.checkpoint(self.tail, y, use_reentrant=False)

    def unmarked(self, x):
        y = self.proj(x)
        return torch.utils.checkpoint.checkpoint(self.tail, y, use_reentrant=False)  # expect: RMT101 insert: remat.recompute_needs_tensor(y)


TAIL = Tail()


def body_marked(x):
    """runtime: ok"""
    return TAIL.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return TAIL.unmarked(x)
