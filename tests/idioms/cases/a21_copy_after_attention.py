"""A21: a region output that is copied by `contiguous` after a transpose."""

import torch_remat as remat
from blocks import Proj

OUT = Proj("out")


def attend(q, k, v):
    return (q @ k.mT @ v).view(4, 2, 4).transpose(0, 1)


def body_marked(x):
    """runtime: ok"""
    o = remat.region(attend, "attn", recompute=False)(x, x, x)
    remat.recompute_needs_tensor(o)
    return OUT(o.contiguous().view(4, 8))


def body_chained(x):
    """runtime: placeholder"""
    return OUT(remat.region(attend, "attn", recompute=False)(x, x, x).contiguous().view(4, 8))  # expect: RMT101 insert: attn_out = remat.region(attend, "attn", recompute=False)(x, x, x); remat.recompute_needs_tensor(attn_out)
