"""A51: a foreign communication function, saved, with an object that holds no output."""

import mailbox_lib as lib
import torch_remat as remat
from torch import nn


class Exchange(nn.Module):
    def __init__(self, handle):
        super().__init__()
        self.handle = handle

    def forward(self, x):
        return remat.region(lib.exchange, "exchange", recompute=False)(x.contiguous(), self.handle)
