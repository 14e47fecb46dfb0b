"""A71: a saved output is changed in place, marked or not."""

import torch_remat as remat


def _a(x):
    return x * 2


def body_modified(x):
    """runtime: in-place"""
    y = remat.region(_a, "a", recompute=False)(x)
    remat.recompute_needs_tensor(y)
    return y.mul_(2)  # expect: RMT106
