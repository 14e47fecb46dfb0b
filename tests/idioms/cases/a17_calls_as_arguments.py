"""A17: calls that declare regions stand as arguments of a region: nothing between them reads."""

import torch
import torch_remat as remat
from blocks import WIDTH, Proj
from torch import nn


def scan(q, k, decay):
    return (q * k).cumsum(0) * decay


class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.qp, self.kp = Proj("q"), Proj("k")
        self.log_decay = nn.Parameter(torch.ones(WIDTH))
        self.norm = nn.LayerNorm(WIDTH)

    def marked(self, x):
        o = remat.region(scan, "scan", recompute=False)(self.qp(x), self.kp(x), self.log_decay)
        remat.recompute_needs_tensor(o)
        return self.norm(o)

    def unmarked(self, x):
        o = remat.region(scan, "scan", recompute=False)(self.qp(x), self.kp(x), self.log_decay)
        return self.norm(o)  # expect: RMT101 insert: remat.recompute_needs_tensor(o)


SCAN = Scan()


def body_marked(x):
    """runtime: ok"""
    return SCAN.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return SCAN.unmarked(x)
