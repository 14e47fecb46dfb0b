"""A28: two outputs, a marker before each consumer."""

import torch_remat as remat


def _two(x):
    return x * 2, x * 3


def body_marked(x):
    """runtime: ok"""
    a, b = remat.region(_two, "two", recompute=False)(x)
    remat.recompute_needs_tensor(a)
    a = a.sigmoid()
    remat.recompute_needs_tensor(b)
    return a * b


def body_unmarked(x):
    """runtime: placeholder"""
    a, b = remat.region(_two, "two", recompute=False)(x)
    a = a.sigmoid()  # expect: RMT101 insert: remat.recompute_needs_tensor(a)
    return a * b  # expect: RMT101 insert: remat.recompute_needs_tensor(b)
