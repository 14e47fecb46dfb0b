"""A29: the tuple is kept, one starred marker marks all of it."""

import torch_remat as remat


def _many(x):
    return x * 2, x * 3, x * 4


def body_marked(x):
    """runtime: ok"""
    outs = remat.region(_many, "many", recompute=False)(x)
    remat.recompute_needs_tensor(*outs)
    first, *rest = outs
    return first + sum(rest)


def body_unmarked(x):
    """runtime: placeholder"""
    outs = remat.region(_many, "many", recompute=False)(x)
    first, *rest = outs
    return first + sum(rest)  # expect: RMT101 insert: remat.recompute_needs_tensor(*rest, first)
