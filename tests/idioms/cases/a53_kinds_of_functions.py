"""A53: a lambda, a nested function, a torch function and a partial as the functions of regions."""

import functools

import torch
import torch_remat as remat

WEIGHT = torch.eye(8)


def kinds(x, w):
    def body(t):
        return t @ w

    a = remat.region(lambda t: t * 2, "l", recompute=False)(x)
    b = remat.region(body, "d", recompute=False)(a)
    c = remat.region(torch.mul, "m", recompute=True)(b, b)
    return remat.region(functools.partial(torch.add, alpha=2), "p", recompute=False)(c, x)


def body_kinds(x):
    """runtime: ok"""
    return kinds(x, WEIGHT)
