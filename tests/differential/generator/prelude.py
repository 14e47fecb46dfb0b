"""What stands before every generated program."""

from __future__ import annotations

PRELUDE = """\
import dataclasses
import functools
import operator
import typing

import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
from torch_remat import recompute_needs_tensor as need

_policy = {}
_names = {}


def policy(name):
    return _policy.get(name, False)


def fresh(name):
    _names[name] = _names.get(name, 0) + 1
    return f"{name}.{_names[name]}"


class Pair(typing.NamedTuple):
    a: typing.Any
    b: typing.Any


@dataclasses.dataclass
class Record:
    a: typing.Any
    b: typing.Any


class Holder:
    pass


def double(t):
    return t * 2


def two(t):
    return t * 2, t.sin()


def affine(t, scale=1.0, shift=0.0):
    return t * scale + shift


def saved(function, name):
    return remat.region(function, name, recompute=False)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def join(a, b):
    return a * b.sin()


W = torch.randn(6, 6)
lin = nn.Linear(6, 6)
norm = nn.LayerNorm(6)
seq = nn.Sequential(nn.Linear(6, 6), nn.GELU())


# --- program
"""
