"""A20: the marker is on a copy: the copy reads, and the marker does nothing."""

import torch_remat as remat
from blocks import Proj

PROJ = Proj("proj")


def body_copy(x):
    """runtime: placeholder"""
    h = PROJ(x).t().contiguous()  # expect: RMT101 insert: PROJ_out = PROJ(x); remat.recompute_needs_tensor(PROJ_out)
    remat.recompute_needs_tensor(h)  # expect: RMT108
    return h + 1
