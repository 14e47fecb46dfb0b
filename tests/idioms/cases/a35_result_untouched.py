"""A35: an override counts under a guard and returns the result of its base untouched."""

import torch
import torch_remat as remat
from blocks import FeedForward


class Logged(FeedForward):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if not remat.is_recomputing():
            self.seen.add_(1)
        return super().forward(x)


LOGGED = Logged("logged")


def body_logged(x):
    """runtime: ok"""
    return LOGGED(x)
