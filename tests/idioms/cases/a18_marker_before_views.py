"""A18: the marker first, its views afterwards."""

import torch
import torch_remat as remat
from blocks import Proj

PACKED = Proj("packed", 12)


def body_marked(x):
    """runtime: ok"""
    p = PACKED(x)
    remat.recompute_needs_tensor(p)
    q, k, v = p.split((4, 4, 4), -1)
    return torch.cat((q.contiguous(), k.contiguous(), v), -1)


def body_unmarked(x):
    """runtime: placeholder"""
    p = PACKED(x)
    q, k, v = p.split((4, 4, 4), -1)
    return torch.cat((q.contiguous(), k.contiguous(), v), -1)  # expect: RMT101 insert: remat.recompute_needs_tensor(q, k)
