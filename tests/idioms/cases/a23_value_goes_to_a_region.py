"""A23: queries and keys are marked, the values go into a region only."""

import torch_remat as remat
from blocks import Block, Proj


def rotate(q):
    return q * 2 + q.roll(1, -1)


class Attention(Block):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.qp, self.kp, self.vp = Proj("q"), Proj("k"), Proj("v")

    def attn(self, q, k, v):
        return q @ k.mT @ v

    def forward(self, x):
        q, k, v = self.qp(x), self.kp(x), self.vp(x)
        remat.recompute_needs_tensor(q, k)
        q, k = rotate(q), rotate(k)
        return remat.region(self.attn, "attn", recompute=self.remat_should_recompute("attn"))(q, k, v)


ATTENTION = Attention("attention")


def body_attention(x):
    """runtime: ok"""
    return ATTENTION(x)
