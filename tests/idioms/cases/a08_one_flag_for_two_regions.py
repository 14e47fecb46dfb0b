"""A08: one policy decision serves two regions."""

import torch_remat as remat
from blocks import Block


class Shuffle(Block):
    def _out(self, x):
        return x.flip(-1)

    def _back(self, t):
        return t.flip(-1)

    def forward(self, x):
        again = self.remat_should_recompute("shuffle")
        t = remat.region(self._out, self.remat_region_name("send"), recompute=again)(x)
        return remat.region(self._back, self.remat_region_name("recv"), recompute=again)(t)


SHUFFLE = Shuffle("shuffle")


def body_shuffle(x):
    """runtime: ok"""
    return SHUFFLE(x)
