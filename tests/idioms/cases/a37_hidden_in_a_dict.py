"""A37: a saved output in a dict argument: torch_remat does not see it there."""

import torch_remat as remat


def _a(x):
    return x * 2


def _b(d):
    return d["y"].sin() + 1


def hidden(d):
    y = remat.region(_a, "a", recompute=False)(d["x"])
    return remat.region(_b, "b", recompute=True)({"y": y})  # expect: RMT107


def body_dict(x):
    """runtime: placeholder"""
    return hidden({"x": x})
