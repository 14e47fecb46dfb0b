"""A24: the values are read by a gather outside every region, too."""

import torch_remat as remat
from blocks import Block, Proj


def rotate(q):
    return q * 2 + q.roll(1, -1)


def all_gather(v):
    return v * 1.0


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
        v = all_gather(v.contiguous())  # expect: RMT101 insert: remat.recompute_needs_tensor(v)
        return remat.region(self.attn, "attn", recompute=False)(q, k, v)


ATTENTION = Attention("attention")


def body_attention(x):
    """runtime: placeholder"""
    return ATTENTION(x)
