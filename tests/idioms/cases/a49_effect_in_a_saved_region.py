"""A49: what a saved region does happens once."""

import torch
import torch_remat as remat
from torch import nn


class Aux(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def _inject(self, s, carrier):
        self.total.add_(s.detach().sum())
        return carrier + 0.0 * s

    def forward(self, s, carrier):
        out = remat.region(self._inject, "aux", recompute=False)(s, carrier=carrier)
        remat.recompute_needs_tensor(out)
        return out * 1.0


AUX = Aux()


def body_aux(x):
    """runtime: ok"""
    return AUX(x, x)
