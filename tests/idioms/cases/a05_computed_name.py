"""A05: a name that is put together at run time is nobody's duplicate."""

import torch_remat as remat


def _mix(x):
    return x.cumsum(-1)


def mix(x, stage):
    name = f"mix.{stage}"
    return remat.region(_mix, name, recompute=True)(x)


def body_two_stages(x):
    """runtime: ok"""
    x = mix(x, 0)
    return mix(x, 1) * 2
