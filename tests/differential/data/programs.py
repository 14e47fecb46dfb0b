# select: RMT101,RMT107,RMT108
"""Generated: one small program a function, with what torch_remat 0.2.2 did with it.

truth: ok | placeholder | error | wrong-gradient. Where it says `placeholder` the linter reports
RMT101, RMT107 or RMT108 in the function; where it says `ok` it reports none of them. The other
two are not judged here. Shapes: x (4, 6), w (6, 6), float32.
"""

import collections
import contextlib
import copy
import dataclasses
import functools
import io
import logging
import math
import typing

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_remat as remat


@dataclasses.dataclass
class DC:
    h: typing.Any
    k: typing.Any = None


class NT(typing.NamedTuple):
    a: typing.Any
    b: typing.Any


class Holder:
    pass


# truth: ok  (1.view: view | bare)
def program_0000(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view(2, 12)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view | marker before)
def program_0001(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.view(2, 12)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view | marker after)
def program_0002(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view(2, 12)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view | in recompute=True region(h))
def program_0003(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.view(2, 12)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view(dtype) | bare)
def program_0004(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.detach().view(torch.int32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view(dtype) | marker before)
def program_0005(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.detach().view(torch.int32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view(dtype) | marker after)
def program_0006(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.detach().view(torch.int32)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view(dtype) | in recompute=True region(h))
def program_0007(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.detach().view(torch.int32)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: transpose | bare)
def program_0024(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.transpose(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: transpose | marker before)
def program_0025(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.transpose(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: transpose | marker after)
def program_0026(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.transpose(0, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: transpose | in recompute=True region(h))
def program_0027(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.transpose(0, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: t() | bare)
def program_0032(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: t() | marker before)
def program_0033(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: t() | marker after)
def program_0034(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: t() | in recompute=True region(h))
def program_0035(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.t()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .T | bare)
def program_0036(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.T
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .T | marker before)
def program_0037(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.T
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .T | marker after)
def program_0038(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.T
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .T | in recompute=True region(h))
def program_0039(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.T

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .mH | bare)
def program_0044(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.mH
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .mH | marker before)
def program_0045(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.mH
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .mH | marker after)
def program_0046(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.mH
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: .mH | in recompute=True region(h))
def program_0047(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.mH

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: swapdims | bare)
def program_0060(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.swapdims(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: swapdims | marker before)
def program_0061(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.swapdims(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: swapdims | marker after)
def program_0062(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.swapdims(0, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: swapdims | in recompute=True region(h))
def program_0063(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.swapdims(0, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: moveaxis | bare)
def program_0068(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.moveaxis(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: moveaxis | marker before)
def program_0069(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.moveaxis(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: moveaxis | marker after)
def program_0070(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.moveaxis(0, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: moveaxis | in recompute=True region(h))
def program_0071(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.moveaxis(0, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unbind | bare)
def program_0072(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unbind(0)[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unbind | marker before)
def program_0073(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unbind(0)[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unbind | marker after)
def program_0074(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unbind(0)[1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unbind | in recompute=True region(h))
def program_0075(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unbind(0)[1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split(int) | bare)
def program_0076(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.split(3, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split(int) | marker before)
def program_0077(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.split(3, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split(int) | marker after)
def program_0078(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.split(3, dim=1)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split(int) | in recompute=True region(h))
def program_0079(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.split(3, dim=1)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: chunk | bare)
def program_0084(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.chunk(2, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: chunk | marker before)
def program_0085(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.chunk(2, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: chunk | marker after)
def program_0086(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.chunk(2, dim=1)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: chunk | in recompute=True region(h))
def program_0087(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.chunk(2, dim=1)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: tensor_split | bare)
def program_0088(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split(2, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: tensor_split | marker before)
def program_0089(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tensor_split(2, dim=1)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: tensor_split | marker after)
def program_0090(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split(2, dim=1)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: tensor_split | in recompute=True region(h))
def program_0091(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tensor_split(2, dim=1)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: hsplit | bare)
def program_0092(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.hsplit(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: hsplit | marker before)
def program_0093(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.hsplit(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: hsplit | marker after)
def program_0094(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.hsplit(2)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: hsplit | in recompute=True region(h))
def program_0095(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.hsplit(2)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsafe_chunk | bare)
def program_0100(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsafe_chunk(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsafe_chunk | marker before)
def program_0101(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsafe_chunk(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsafe_chunk | marker after)
def program_0102(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsafe_chunk(2)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsafe_chunk | in recompute=True region(h))
def program_0103(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsafe_chunk(2)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: narrow | bare)
def program_0112(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.narrow(1, 0, 3)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: narrow | marker before)
def program_0113(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.narrow(1, 0, 3)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: narrow | marker after)
def program_0114(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.narrow(1, 0, 3)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: narrow | in recompute=True region(h))
def program_0115(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.narrow(1, 0, 3)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: select | bare)
def program_0116(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.select(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: select | marker before)
def program_0117(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.select(0, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: select | marker after)
def program_0118(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.select(0, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: select | in recompute=True region(h))
def program_0119(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.select(0, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: squeeze | bare)
def program_0120(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).squeeze(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: squeeze | marker before)
def program_0121(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(0).squeeze(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: squeeze | marker after)
def program_0122(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).squeeze(0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: squeeze | in recompute=True region(h))
def program_0123(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(0).squeeze(0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsqueeze | bare)
def program_0124(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsqueeze | marker before)
def program_0125(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsqueeze | marker after)
def program_0126(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unsqueeze | in recompute=True region(h))
def program_0127(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: expand_as | bare)
def program_0132(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.expand_as(torch.zeros(2, 4, 6))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: expand_as | marker before)
def program_0133(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.expand_as(torch.zeros(2, 4, 6))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: expand_as | marker after)
def program_0134(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.expand_as(torch.zeros(2, 4, 6))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: expand_as | in recompute=True region(h))
def program_0135(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.expand_as(torch.zeros(2, 4, 6))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: broadcast_to | bare)
def program_0136(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.broadcast_to(h, (2, 4, 6))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: broadcast_to | marker before)
def program_0137(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.broadcast_to(h, (2, 4, 6))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: broadcast_to | marker after)
def program_0138(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.broadcast_to(h, (2, 4, 6))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: broadcast_to | in recompute=True region(h))
def program_0139(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.broadcast_to(h, (2, 4, 6))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as | bare)
def program_0144(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view_as(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as | marker before)
def program_0145(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.view_as(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as | marker after)
def program_0146(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view_as(x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as | in recompute=True region(h))
def program_0147(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.view_as(x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: reshape_as | bare)
def program_0148(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.reshape_as(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: reshape_as | marker before)
def program_0149(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.reshape_as(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: reshape_as | marker after)
def program_0150(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.reshape_as(x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: reshape_as | in recompute=True region(h))
def program_0151(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.reshape_as(x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: detach | bare)
def program_0156(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.detach()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: detach | marker before)
def program_0157(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.detach()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: detach | marker after)
def program_0158(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.detach()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: detach | in recompute=True region(h))
def program_0159(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.detach()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: diagonal | bare)
def program_0164(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.diagonal()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: diagonal | marker before)
def program_0165(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.diagonal()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: diagonal | marker after)
def program_0166(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.diagonal()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: diagonal | in recompute=True region(h))
def program_0167(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.diagonal()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.view: torch.diag(2D->1D) | bare)
def program_0168(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.diag(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: torch.diag(2D->1D) | marker before)
def program_0169(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.diag(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: torch.diag(2D->1D) | marker after)
def program_0170(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.diag(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: torch.diag(2D->1D) | in recompute=True region(h))
def program_0171(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.diag(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[1] | bare)
def program_0176(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[1] | marker before)
def program_0177(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[1] | marker after)
def program_0178(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[1] | in recompute=True region(h))
def program_0179(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[None] | bare)
def program_0188(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[None]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[None] | marker before)
def program_0189(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[None]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[None] | marker after)
def program_0190(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[None]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[None] | in recompute=True region(h))
def program_0191(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[None]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[...] | bare)
def program_0192(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[...]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[...] | marker before)
def program_0193(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[...]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[...] | marker after)
def program_0194(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[...]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[...] | in recompute=True region(h))
def program_0195(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[...]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[..., -1] | bare)
def program_0196(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[..., -1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[..., -1] | marker before)
def program_0197(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[..., -1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[..., -1] | marker after)
def program_0198(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[..., -1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[..., -1] | in recompute=True region(h))
def program_0199(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[..., -1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[0,1] | bare)
def program_0200(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[0, 1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[0,1] | marker before)
def program_0201(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[0, 1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[0,1] | marker after)
def program_0202(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[0, 1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[0,1] | in recompute=True region(h))
def program_0203(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[0, 1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.view: h[True] | bare)
def program_0208(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[True]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[True] | marker before)
def program_0209(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[True]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[True] | marker after)
def program_0210(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[True]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: h[True] | in recompute=True region(h))
def program_0211(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[True]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: iteration for r in h | bare)
def program_0216(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = [r for r in h][0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: iteration for r in h | marker before)
def program_0217(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = [r for r in h][0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: iteration for r in h | marker after)
def program_0218(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = [r for r in h][0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: iteration for r in h | in recompute=True region(h))
def program_0219(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return [r for r in h][0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unpack a,b,c,d=h | bare)
def program_0220(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    a, b, c, d = h
    y = a
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unpack a,b,c,d=h | marker before)
def program_0221(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    a, b, c, d = h
    y = a
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unpack a,b,c,d=h | marker after)
def program_0222(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    a, b, c, d = h
    y = a
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: unpack a,b,c,d=h | in recompute=True region(h))
def program_0223(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        a, b, c, d = h
        return a

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: len(h) | bare)
def program_0224(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * len(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: len(h) | marker before)
def program_0225(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * len(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: len(h) | marker after)
def program_0226(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * len(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: len(h) | in recompute=True region(h))
def program_0227(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * len(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: list(h) | bare)
def program_0228(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = list(h)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: list(h) | marker before)
def program_0229(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = list(h)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: list(h) | marker after)
def program_0230(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = list(h)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: list(h) | in recompute=True region(h))
def program_0231(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return list(h)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (float) | bare)
def program_0236(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.real
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (float) | marker before)
def program_0237(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.real
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (float) | marker after)
def program_0238(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.real
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (float) | in recompute=True region(h))
def program_0239(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.real

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: positive (+h) | bare)
def program_0244(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = +h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: positive (+h) | marker before)
def program_0245(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = +h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: positive (+h) | marker after)
def program_0246(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = +h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: positive (+h) | in recompute=True region(h))
def program_0247(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return +h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (real) | bare)
def program_0248(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.conj()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (real) | marker before)
def program_0249(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.conj()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (real) | marker after)
def program_0250(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.conj()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (real) | in recompute=True region(h))
def program_0251(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.conj()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: retain_grad() | bare)
def program_0260(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.retain_grad()
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: retain_grad() | marker before)
def program_0261(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h.retain_grad()
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: retain_grad() | marker after)
def program_0262(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.retain_grad()
    y = h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: retain_grad() | in recompute=True region(h))
def program_0263(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h.retain_grad()
        return h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: register_hook | bare)
def program_0264(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.register_hook(lambda g: g)
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: register_hook | marker before)
def program_0265(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h.register_hook(lambda g: g)
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: register_hook | marker after)
def program_0266(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.register_hook(lambda g: g)
    y = h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: register_hook | in recompute=True region(h))
def program_0267(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h.register_hook(lambda g: g)
        return h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: einsum ij->ji | bare)
def program_0268(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->ji", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: einsum ij->ji | marker before)
def program_0269(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ij->ji", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: einsum ij->ji | marker after)
def program_0270(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->ji", h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: einsum ij->ji | in recompute=True region(h))
def program_0271(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ij->ji", h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: as_tensor | bare)
def program_0288(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.as_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: as_tensor | marker before)
def program_0289(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.as_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: as_tensor | marker after)
def program_0290(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.as_tensor(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: as_tensor | in recompute=True region(h))
def program_0291(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.as_tensor(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split via torch.split | bare)
def program_0296(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.split(h, 2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split via torch.split | marker before)
def program_0297(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.split(h, 2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split via torch.split | marker after)
def program_0298(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.split(h, 2)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: split via torch.split | in recompute=True region(h))
def program_0299(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.split(h, 2)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as_real∘ | bare)
def program_0316(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.view_as_real(torch.view_as_complex(h.view(4, 3, 2)))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as_real∘ | marker before)
def program_0317(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.view_as_real(torch.view_as_complex(h.view(4, 3, 2)))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as_real∘ | marker after)
def program_0318(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.view_as_real(torch.view_as_complex(h.view(4, 3, 2)))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: view_as_real∘ | in recompute=True region(h))
def program_0319(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.view_as_real(torch.view_as_complex(h.view(4, 3, 2)))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: column_stack? no | bare)
def program_0320(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.swapaxes(-1, -2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: column_stack? no | marker before)
def program_0321(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.swapaxes(-1, -2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: column_stack? no | marker after)
def program_0322(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.swapaxes(-1, -2)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: column_stack? no | in recompute=True region(h))
def program_0323(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.swapaxes(-1, -2)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.alpha_dropout(eval) | bare)
def program_0324(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.alpha_dropout(h, 0.5, False)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.alpha_dropout(eval) | marker before)
def program_0325(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.alpha_dropout(h, 0.5, False)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.alpha_dropout(eval) | marker after)
def program_0326(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.alpha_dropout(h, 0.5, False)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.alpha_dropout(eval) | in recompute=True region(h))
def program_0327(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.alpha_dropout(h, 0.5, False)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.view: copy.copy(h) | bare)
def program_0332(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = copy.copy(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: copy.copy(h) | marker before)
def program_0333(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = copy.copy(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: copy.copy(h) | marker after)
def program_0334(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = copy.copy(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.view: copy.copy(h) | in recompute=True region(h))
def program_0335(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return copy.copy(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.view: F.unfold? no:tile(1,1) | bare)
def program_0340(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tile(1, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.unfold? no:tile(1,1) | marker before)
def program_0341(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tile(1, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.unfold? no:tile(1,1) | marker after)
def program_0342(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tile(1, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: F.unfold? no:tile(1,1) | in recompute=True region(h))
def program_0343(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tile(1, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.view: squeeze_ (inplace view) | bare)
def program_0344(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze_(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.view: squeeze_ (inplace view) | marker before)
def program_0345(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze_(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.view: squeeze_ (inplace view) | marker after)
def program_0346(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze_(0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.view: squeeze_ (inplace view) | in recompute=True region(h))
def program_0347(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze_(0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (complex h) | bare)
def program_0360(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    y = h.real
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (complex h) | marker before)
def program_0361(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.real
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (complex h) | marker after)
def program_0362(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    y = h.real
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: real (complex h) | in recompute=True region(h))
def program_0363(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)

    def f(h, x, w):
        return h.real

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (complex h) | bare)
def program_0368(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    y = h.conj().imag
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (complex h) | marker before)
def program_0369(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.conj().imag
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (complex h) | marker after)
def program_0370(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)
    y = h.conj().imag
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.view: conj (complex h) | in recompute=True region(h))
def program_0371(x, w, M):
    h = remat.region(lambda a: torch.complex(a @ w, a @ w), "s", recompute=False)(x)

    def f(h, x, w):
        return h.conj().imag

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape_as (h contiguous) | bare)
def program_0392(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.reshape_as(h.t()) if False else h.reshape(h.shape)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape_as (h contiguous) | marker before)
def program_0393(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.reshape_as(h.t()) if False else h.reshape(h.shape)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape_as (h contiguous) | marker after)
def program_0394(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.reshape_as(h.t()) if False else h.reshape(h.shape)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape_as (h contiguous) | in recompute=True region(h))
def program_0395(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.reshape_as(h.t()) if False else h.reshape(h.shape)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h contiguous) | bare)
def program_0396(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h contiguous) | marker before)
def program_0397(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h contiguous) | marker after)
def program_0398(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to(torch.float32)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h contiguous) | in recompute=True region(h))
def program_0399(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(torch.float32)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: type(same) (h contiguous) | bare)
def program_0408(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.type(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: type(same) (h contiguous) | marker before)
def program_0409(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.type(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: type(same) (h contiguous) | marker after)
def program_0410(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.type(torch.float32)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: type(same) (h contiguous) | in recompute=True region(h))
def program_0411(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.type(torch.float32)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: double() (h contiguous) | bare)
def program_0420(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.double()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h contiguous) | marker before)
def program_0421(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.double()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h contiguous) | marker after)
def program_0422(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.double()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h contiguous) | in recompute=True region(h))
def program_0423(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.double()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to('cpu') (h contiguous) | bare)
def program_0424(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to("cpu")
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to('cpu') (h contiguous) | marker before)
def program_0425(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to("cpu")
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to('cpu') (h contiguous) | marker after)
def program_0426(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to("cpu")
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to('cpu') (h contiguous) | in recompute=True region(h))
def program_0427(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.to("cpu")

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h contiguous) | bare)
def program_0428(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.cpu()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h contiguous) | marker before)
def program_0429(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.cpu()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h contiguous) | marker after)
def program_0430(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.cpu()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h contiguous) | in recompute=True region(h))
def program_0431(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.cpu()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: to(copy=True) (h contiguous) | bare)
def program_0436(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to(torch.float32, copy=True)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h contiguous) | marker before)
def program_0437(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(torch.float32, copy=True)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h contiguous) | marker after)
def program_0438(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.to(torch.float32, copy=True)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h contiguous) | in recompute=True region(h))
def program_0439(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(torch.float32, copy=True)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: clone (h contiguous) | bare)
def program_0440(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.clone()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h contiguous) | marker before)
def program_0441(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.clone()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h contiguous) | marker after)
def program_0442(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.clone()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h contiguous) | in recompute=True region(h))
def program_0443(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.clone()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h contiguous) | bare)
def program_0448(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h contiguous) | marker before)
def program_0449(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h contiguous) | marker after)
def program_0450(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h contiguous) | in recompute=True region(h))
def program_0451(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: reshape after t() (h contiguous) | bare)
def program_0452(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape after t() (h contiguous) | marker before)
def program_0453(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t().reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape after t() (h contiguous) | marker after)
def program_0454(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape after t() (h contiguous) | in recompute=True region(h))
def program_0455(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.t().reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: contiguous after t() (h contiguous) | bare)
def program_0456(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h contiguous) | marker before)
def program_0457(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h contiguous) | marker after)
def program_0458(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().contiguous()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h contiguous) | in recompute=True region(h))
def program_0459(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.t().contiguous()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:2].reshape(-1) (h contiguous) | bare)
def program_0460(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[:2].reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:2].reshape(-1) (h contiguous) | marker before)
def program_0461(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[:2].reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:2].reshape(-1) (h contiguous) | marker after)
def program_0462(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[:2].reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:2].reshape(-1) (h contiguous) | in recompute=True region(h))
def program_0463(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[:2].reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: h[:, :3].contiguous() (h contiguous) | bare)
def program_0472(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[:, :3].contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].contiguous() (h contiguous) | marker before)
def program_0473(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[:, :3].contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].contiguous() (h contiguous) | marker after)
def program_0474(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[:, :3].contiguous()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].contiguous() (h contiguous) | in recompute=True region(h))
def program_0475(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[:, :3].contiguous()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: expand().reshape (h contiguous) | bare)
def program_0476(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h contiguous) | marker before)
def program_0477(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h contiguous) | marker after)
def program_0478(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h contiguous) | in recompute=True region(h))
def program_0479(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(0).expand(2, *h.shape).reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: expand().contiguous (h contiguous) | bare)
def program_0480(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().contiguous (h contiguous) | marker before)
def program_0481(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(0).expand(2, *h.shape).contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().contiguous (h contiguous) | marker after)
def program_0482(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).contiguous()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().contiguous (h contiguous) | in recompute=True region(h))
def program_0483(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(0).expand(2, *h.shape).contiguous()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: repeat(1,1) (h contiguous) | bare)
def program_0484(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.repeat(1, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(1,1) (h contiguous) | marker before)
def program_0485(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.repeat(1, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(1,1) (h contiguous) | marker after)
def program_0486(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.repeat(1, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(1,1) (h contiguous) | in recompute=True region(h))
def program_0487(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.repeat(1, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: tile(2,1) (h contiguous) | bare)
def program_0492(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tile(2, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tile(2,1) (h contiguous) | marker before)
def program_0493(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tile(2, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tile(2,1) (h contiguous) | marker after)
def program_0494(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tile(2, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tile(2,1) (h contiguous) | in recompute=True region(h))
def program_0495(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tile(2, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h contiguous) | bare)
def program_0504(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(1).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h contiguous) | marker before)
def program_0505(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(1).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h contiguous) | marker after)
def program_0506(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unsqueeze(1).reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h contiguous) | in recompute=True region(h))
def program_0507(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(1).reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.maybe: view non-contig err (h contiguous) | bare)
def program_0508(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().view(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.maybe: view non-contig err (h contiguous) | marker before)
def program_0509(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t().view(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.maybe: view non-contig err (h contiguous) | marker after)
def program_0510(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.t().view(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.maybe: view non-contig err (h contiguous) | in recompute=True region(h))
def program_0511(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.t().view(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: hstack (h contiguous) | bare)
def program_0520(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.hstack([h])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h contiguous) | marker before)
def program_0521(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.hstack([h])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h contiguous) | marker after)
def program_0522(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.hstack([h])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h contiguous) | in recompute=True region(h))
def program_0523(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.hstack([h])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: sum(dim=())  (h contiguous) | bare)
def program_0524(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.sum(dim=())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: sum(dim=())  (h contiguous) | marker before)
def program_0525(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.sum(dim=())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: sum(dim=())  (h contiguous) | marker after)
def program_0526(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.sum(dim=())
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: sum(dim=())  (h contiguous) | in recompute=True region(h))
def program_0527(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.sum(dim=())

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: diag_embed (h contiguous) | bare)
def program_0532(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.diag_embed(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: diag_embed (h contiguous) | marker before)
def program_0533(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.diag_embed(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: diag_embed (h contiguous) | marker after)
def program_0534(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.diag_embed(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: diag_embed (h contiguous) | in recompute=True region(h))
def program_0535(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.diag_embed(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold (h contiguous) | bare)
def program_0540(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unfold(0, 2, 2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold (h contiguous) | marker before)
def program_0541(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unfold(0, 2, 2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold (h contiguous) | marker after)
def program_0542(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.unfold(0, 2, 2)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold (h contiguous) | in recompute=True region(h))
def program_0543(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.unfold(0, 2, 2)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h contiguous) | bare)
def program_0544(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h contiguous) | marker before)
def program_0545(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tensor_split(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h contiguous) | marker after)
def program_0546(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split(2)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h contiguous) | in recompute=True region(h))
def program_0547(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tensor_split(2)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: squeeze().contiguous() (h contiguous) | bare)
def program_0560(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.squeeze().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: squeeze().contiguous() (h contiguous) | marker before)
def program_0561(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.squeeze().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: squeeze().contiguous() (h contiguous) | marker after)
def program_0562(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.squeeze().contiguous()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: squeeze().contiguous() (h contiguous) | in recompute=True region(h))
def program_0563(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.squeeze().contiguous()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h contiguous) | bare)
def program_0564(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->ij", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h contiguous) | marker before)
def program_0565(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ij->ij", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h contiguous) | marker after)
def program_0566(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->ij", h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h contiguous) | in recompute=True region(h))
def program_0567(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ij->ij", h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: einsum ij->i (sum) (h contiguous) | bare)
def program_0568(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->i", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h contiguous) | marker before)
def program_0569(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ij->i", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h contiguous) | marker after)
def program_0570(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.einsum("ij->i", h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h contiguous) | in recompute=True region(h))
def program_0571(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ij->i", h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: reshape(-1) (h non-contiguous) | bare)
def program_0580(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape(-1) (h non-contiguous) | marker before)
def program_0581(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape(-1) (h non-contiguous) | marker after)
def program_0582(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: reshape(-1) (h non-contiguous) | in recompute=True region(h))
def program_0583(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h non-contiguous) | bare)
def program_0596(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h non-contiguous) | marker before)
def program_0597(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h non-contiguous) | marker after)
def program_0598(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float32)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(same dtype) (h non-contiguous) | in recompute=True region(h))
def program_0599(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(torch.float32)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: float() already float (h non-contiguous) | bare)
def program_0600(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.float()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: float() already float (h non-contiguous) | marker before)
def program_0601(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.float()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: float() already float (h non-contiguous) | marker after)
def program_0602(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.float()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: float() already float (h non-contiguous) | in recompute=True region(h))
def program_0603(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.float()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: to(other dtype) (h non-contiguous) | bare)
def program_0612(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float64)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(other dtype) (h non-contiguous) | marker before)
def program_0613(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(torch.float64)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(other dtype) (h non-contiguous) | marker after)
def program_0614(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float64)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(other dtype) (h non-contiguous) | in recompute=True region(h))
def program_0615(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(torch.float64)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: half() (h non-contiguous) | bare)
def program_0616(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.half()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: half() (h non-contiguous) | marker before)
def program_0617(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.half()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: half() (h non-contiguous) | marker after)
def program_0618(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.half()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: half() (h non-contiguous) | in recompute=True region(h))
def program_0619(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.half()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: double() (h non-contiguous) | bare)
def program_0620(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.double()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h non-contiguous) | marker before)
def program_0621(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.double()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h non-contiguous) | marker after)
def program_0622(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.double()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: double() (h non-contiguous) | in recompute=True region(h))
def program_0623(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.double()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h non-contiguous) | bare)
def program_0628(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.cpu()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h non-contiguous) | marker before)
def program_0629(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.cpu()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h non-contiguous) | marker after)
def program_0630(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.cpu()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: cpu() (h non-contiguous) | in recompute=True region(h))
def program_0631(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.cpu()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(x) (other tensor) (h non-contiguous) | bare)
def program_0632(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(x) (other tensor) (h non-contiguous) | marker before)
def program_0633(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(x) (other tensor) (h non-contiguous) | marker after)
def program_0634(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(x) (other tensor) (h non-contiguous) | in recompute=True region(h))
def program_0635(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: to(copy=True) (h non-contiguous) | bare)
def program_0636(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float32, copy=True)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h non-contiguous) | marker before)
def program_0637(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.to(torch.float32, copy=True)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h non-contiguous) | marker after)
def program_0638(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.to(torch.float32, copy=True)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: to(copy=True) (h non-contiguous) | in recompute=True region(h))
def program_0639(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.to(torch.float32, copy=True)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: clone (h non-contiguous) | bare)
def program_0640(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.clone()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h non-contiguous) | marker before)
def program_0641(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.clone()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h non-contiguous) | marker after)
def program_0642(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.clone()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: clone (h non-contiguous) | in recompute=True region(h))
def program_0643(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.clone()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: contiguous(channels) no (h non-contiguous) | bare)
def program_0648(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h non-contiguous) | marker before)
def program_0649(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h non-contiguous) | marker after)
def program_0650(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous(channels) no (h non-contiguous) | in recompute=True region(h))
def program_0651(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.view(h.shape[0], -1, 1, 1).contiguous(memory_format=torch.channels_last)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h non-contiguous) | bare)
def program_0656(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.t().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h non-contiguous) | marker before)
def program_0657(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t().contiguous()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h non-contiguous) | marker after)
def program_0658(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.t().contiguous()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: contiguous after t() (h non-contiguous) | in recompute=True region(h))
def program_0659(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.t().contiguous()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: h[:, :3].reshape(-1) (h non-contiguous) | bare)
def program_0664(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h[:, :3].reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].reshape(-1) (h non-contiguous) | marker before)
def program_0665(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[:, :3].reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].reshape(-1) (h non-contiguous) | marker after)
def program_0666(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h[:, :3].reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h[:, :3].reshape(-1) (h non-contiguous) | in recompute=True region(h))
def program_0667(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h[:, :3].reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: expand().reshape (h non-contiguous) | bare)
def program_0676(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h non-contiguous) | marker before)
def program_0677(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h non-contiguous) | marker after)
def program_0678(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unsqueeze(0).expand(2, *h.shape).reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: expand().reshape (h non-contiguous) | in recompute=True region(h))
def program_0679(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(0).expand(2, *h.shape).reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: repeat(2,1) (h non-contiguous) | bare)
def program_0688(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.repeat(2, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(2,1) (h non-contiguous) | marker before)
def program_0689(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.repeat(2, 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(2,1) (h non-contiguous) | marker after)
def program_0690(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.repeat(2, 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: repeat(2,1) (h non-contiguous) | in recompute=True region(h))
def program_0691(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.repeat(2, 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: unfold+flatten (h non-contiguous) | bare)
def program_0696(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unfold(1, 2, 1).flatten()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold+flatten (h non-contiguous) | marker before)
def program_0697(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unfold(1, 2, 1).flatten()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold+flatten (h non-contiguous) | marker after)
def program_0698(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unfold(1, 2, 1).flatten()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unfold+flatten (h non-contiguous) | in recompute=True region(h))
def program_0699(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.unfold(1, 2, 1).flatten()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: permute+flatten (h non-contiguous) | bare)
def program_0700(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.permute(1, 0).flatten()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: permute+flatten (h non-contiguous) | marker before)
def program_0701(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.permute(1, 0).flatten()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: permute+flatten (h non-contiguous) | marker after)
def program_0702(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.permute(1, 0).flatten()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: permute+flatten (h non-contiguous) | in recompute=True region(h))
def program_0703(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.permute(1, 0).flatten()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: unsqueeze+reshape (h non-contiguous) | bare)
def program_0704(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unsqueeze(1).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h non-contiguous) | marker before)
def program_0705(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.unsqueeze(1).reshape(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h non-contiguous) | marker after)
def program_0706(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.unsqueeze(1).reshape(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: unsqueeze+reshape (h non-contiguous) | in recompute=True region(h))
def program_0707(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.unsqueeze(1).reshape(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: view non-contig err (h non-contiguous) | bare)
def program_0708(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.t().view(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: view non-contig err (h non-contiguous) | marker before)
def program_0709(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.t().view(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: view non-contig err (h non-contiguous) | marker after)
def program_0710(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.t().view(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: view non-contig err (h non-contiguous) | in recompute=True region(h))
def program_0711(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.t().view(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: hstack (h non-contiguous) | bare)
def program_0720(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.hstack([h])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h non-contiguous) | marker before)
def program_0721(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.hstack([h])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h non-contiguous) | marker after)
def program_0722(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.hstack([h])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: hstack (h non-contiguous) | in recompute=True region(h))
def program_0723(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.hstack([h])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h non-contiguous) | bare)
def program_0744(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.tensor_split(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h non-contiguous) | marker before)
def program_0745(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tensor_split(2)[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h non-contiguous) | marker after)
def program_0746(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.tensor_split(2)[0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: tensor_split (h non-contiguous) | in recompute=True region(h))
def program_0747(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.tensor_split(2)[0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: as_tensor(dtype same) (h non-contiguous) | bare)
def program_0748(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.as_tensor(h, dtype=torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: as_tensor(dtype same) (h non-contiguous) | marker before)
def program_0749(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.as_tensor(h, dtype=torch.float32)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: as_tensor(dtype same) (h non-contiguous) | marker after)
def program_0750(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.as_tensor(h, dtype=torch.float32)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: as_tensor(dtype same) (h non-contiguous) | in recompute=True region(h))
def program_0751(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.as_tensor(h, dtype=torch.float32)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: torch.tensor(h) (h non-contiguous) | bare)
def program_0752(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: torch.tensor(h) (h non-contiguous) | marker before)
def program_0753(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: torch.tensor(h) (h non-contiguous) | marker after)
def program_0754(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.tensor(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: torch.tensor(h) (h non-contiguous) | in recompute=True region(h))
def program_0755(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.tensor(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: h.new_tensor(h) (h non-contiguous) | bare)
def program_0756(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.new_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h.new_tensor(h) (h non-contiguous) | marker before)
def program_0757(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.new_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h.new_tensor(h) (h non-contiguous) | marker after)
def program_0758(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = h.new_tensor(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: h.new_tensor(h) (h non-contiguous) | in recompute=True region(h))
def program_0759(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return h.new_tensor(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h non-contiguous) | bare)
def program_0764(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ij->ij", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h non-contiguous) | marker before)
def program_0765(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ij->ij", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h non-contiguous) | marker after)
def program_0766(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ij->ij", h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum i j->(ij)? (h non-contiguous) | in recompute=True region(h))
def program_0767(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ij->ij", h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.maybe: einsum ij->i (sum) (h non-contiguous) | bare)
def program_0768(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ij->i", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h non-contiguous) | marker before)
def program_0769(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ij->i", h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h non-contiguous) | marker after)
def program_0770(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ij->i", h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ij->i (sum) (h non-contiguous) | in recompute=True region(h))
def program_0771(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ij->i", h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ii->i on square (h non-contiguous) | bare)
def program_0772(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ii->i", h[:4, :4])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ii->i on square (h non-contiguous) | marker before)
def program_0773(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.einsum("ii->i", h[:4, :4])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ii->i on square (h non-contiguous) | marker after)
def program_0774(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)
    y = torch.einsum("ii->i", h[:4, :4])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.maybe: einsum ii->i on square (h non-contiguous) | in recompute=True region(h))
def program_0775(x, w, M):
    h = remat.region(lambda a: (a @ w).t(), "s", recompute=False)(x)

    def f(h, x, w):
        return torch.einsum("ii->i", h[:4, :4])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h + 1 | bare)
def program_0776(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h + 1
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 | marker before)
def program_0777(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h + 1
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 | marker after)
def program_0778(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h + 1
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 | in recompute=True region(h))
def program_0779(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h + 1

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: 1 + h | bare)
def program_0780(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = 1 + h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: 1 + h | marker before)
def program_0781(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = 1 + h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: 1 + h | marker after)
def program_0782(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = 1 + h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: 1 + h | in recompute=True region(h))
def program_0783(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return 1 + h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h + x | bare)
def program_0784(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h + x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + x | marker before)
def program_0785(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h + x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + x | marker after)
def program_0786(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h + x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + x | in recompute=True region(h))
def program_0787(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h + x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: x + h | bare)
def program_0788(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x + h | marker before)
def program_0789(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x + h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x + h | marker after)
def program_0790(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x + h | in recompute=True region(h))
def program_0791(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x + h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h - 1 | bare)
def program_0792(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h - 1
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h - 1 | marker before)
def program_0793(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h - 1
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h - 1 | marker after)
def program_0794(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h - 1
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h - 1 | in recompute=True region(h))
def program_0795(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h - 1

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h / 2 | bare)
def program_0800(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h / 2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h / 2 | marker before)
def program_0801(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h / 2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h / 2 | marker after)
def program_0802(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h / 2
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h / 2 | in recompute=True region(h))
def program_0803(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h / 2

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h ** 2 | bare)
def program_0804(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h**2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h ** 2 | marker before)
def program_0805(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h**2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h ** 2 | marker after)
def program_0806(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h**2
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h ** 2 | in recompute=True region(h))
def program_0807(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h**2

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h % 2 | bare)
def program_0812(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h % 2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h % 2 | marker before)
def program_0813(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h % 2
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h % 2 | marker after)
def program_0814(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h % 2
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h % 2 | in recompute=True region(h))
def program_0815(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h % 2

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: abs(h) | bare)
def program_0820(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = abs(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: abs(h) | marker before)
def program_0821(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = abs(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: abs(h) | marker after)
def program_0822(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = abs(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: abs(h) | in recompute=True region(h))
def program_0823(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return abs(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h @ w | bare)
def program_0824(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h @ w
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h @ w | marker before)
def program_0825(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h @ w
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h @ w | marker after)
def program_0826(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h @ w
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h @ w | in recompute=True region(h))
def program_0827(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h @ w

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: nn.Linear | bare)
def program_0848(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = M.lin(h) if h.shape[-1] == 6 else M.lin(h.t())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: nn.Linear | marker before)
def program_0849(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = M.lin(h) if h.shape[-1] == 6 else M.lin(h.t())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: nn.Linear | marker after)
def program_0850(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = M.lin(h) if h.shape[-1] == 6 else M.lin(h.t())
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: nn.Linear | in recompute=True region(h))
def program_0851(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return M.lin(h) if h.shape[-1] == 6 else M.lin(h.t())

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.sigmoid | bare)
def program_0856(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.sigmoid(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.sigmoid | marker before)
def program_0857(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.sigmoid(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.sigmoid | marker after)
def program_0858(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.sigmoid(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.sigmoid | in recompute=True region(h))
def program_0859(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.sigmoid(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: tanh | bare)
def program_0860(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tanh()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: tanh | marker before)
def program_0861(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tanh()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: tanh | marker after)
def program_0862(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tanh()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: tanh | in recompute=True region(h))
def program_0863(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tanh()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: exp | bare)
def program_0864(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.exp()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: exp | marker before)
def program_0865(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.exp()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: exp | marker after)
def program_0866(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.exp()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: exp | in recompute=True region(h))
def program_0867(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.exp()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: softmax | bare)
def program_0868(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.softmax(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: softmax | marker before)
def program_0869(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.softmax(-1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: softmax | marker after)
def program_0870(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.softmax(-1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: softmax | in recompute=True region(h))
def program_0871(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.softmax(-1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: log_softmax | bare)
def program_0872(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.log_softmax(h, -1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: log_softmax | marker before)
def program_0873(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.log_softmax(h, -1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: log_softmax | marker after)
def program_0874(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.log_softmax(h, -1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: log_softmax | in recompute=True region(h))
def program_0875(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.log_softmax(h, -1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.gelu | bare)
def program_0876(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.gelu(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.gelu | marker before)
def program_0877(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.gelu(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.gelu | marker after)
def program_0878(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.gelu(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.gelu | in recompute=True region(h))
def program_0879(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.gelu(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.silu | bare)
def program_0880(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.silu(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.silu | marker before)
def program_0881(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.silu(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.silu | marker after)
def program_0882(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.silu(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.silu | in recompute=True region(h))
def program_0883(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.silu(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: layer_norm | bare)
def program_0884(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.layer_norm(h, (6,))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: layer_norm | marker before)
def program_0885(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.layer_norm(h, (6,))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: layer_norm | marker after)
def program_0886(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.layer_norm(h, (6,))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: layer_norm | in recompute=True region(h))
def program_0887(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.layer_norm(h, (6,))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: sum | bare)
def program_0896(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.sum()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum | marker before)
def program_0897(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * h.sum()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum | marker after)
def program_0898(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.sum()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum | in recompute=True region(h))
def program_0899(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * h.sum()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: amax | bare)
def program_0908(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.amax(1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: amax | marker before)
def program_0909(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.amax(1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: amax | marker after)
def program_0910(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.amax(1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: amax | in recompute=True region(h))
def program_0911(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.amax(1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: argmax | bare)
def program_0912(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x[h.argmax(0) % 4, 0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: argmax | marker before)
def program_0913(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x[h.argmax(0) % 4, 0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: argmax | marker after)
def program_0914(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x[h.argmax(0) % 4, 0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: argmax | in recompute=True region(h))
def program_0915(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x[h.argmax(0) % 4, 0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: clamp | bare)
def program_0936(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.clamp(min=0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: clamp | marker before)
def program_0937(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.clamp(min=0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: clamp | marker after)
def program_0938(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.clamp(min=0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: clamp | in recompute=True region(h))
def program_0939(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.clamp(min=0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.embedding(idx from h) | bare)
def program_0944(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    idx = (h.detach() * 0).long()
    y = F.embedding(idx, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx from h) | marker before)
def program_0945(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    idx = (h.detach() * 0).long()
    y = F.embedding(idx, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx from h) | marker after)
def program_0946(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    idx = (h.detach() * 0).long()
    y = F.embedding(idx, w)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx from h) | in recompute=True region(h))
def program_0947(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        idx = (h.detach() * 0).long()
        return F.embedding(idx, w)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.embedding(idx,h as weight) | bare)
def program_0948(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.embedding(torch.tensor([0, 1]), h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx,h as weight) | marker before)
def program_0949(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = F.embedding(torch.tensor([0, 1]), h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx,h as weight) | marker after)
def program_0950(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = F.embedding(torch.tensor([0, 1]), h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.embedding(idx,h as weight) | in recompute=True region(h))
def program_0951(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return F.embedding(torch.tensor([0, 1]), h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: stack | bare)
def program_0956(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.stack([h, x])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: stack | marker before)
def program_0957(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.stack([h, x])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: stack | marker after)
def program_0958(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.stack([h, x])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: stack | in recompute=True region(h))
def program_0959(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.stack([h, x])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: where value | bare)
def program_0960(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.where(x > 0, h, x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: where value | marker before)
def program_0961(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.where(x > 0, h, x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: where value | marker after)
def program_0962(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.where(x > 0, h, x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: where value | in recompute=True region(h))
def program_0963(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.where(x > 0, h, x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: mul_ | bare)
def program_0972(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.mul_(2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: mul_ | marker before)
def program_0973(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.mul_(2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: mul_ | marker after)
def program_0974(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.mul_(2)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: mul_ | in recompute=True region(h))
def program_0975(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.mul_(2)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: += | bare)
def program_0976(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h += 1
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: += | marker before)
def program_0977(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h += 1
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: += | marker after)
def program_0978(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h += 1
    y = h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: += | in recompute=True region(h))
def program_0979(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h += 1
        return h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: copy_ into h | bare)
def program_0988(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.copy_(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: copy_ into h | marker before)
def program_0989(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.copy_(x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: copy_ into h | marker after)
def program_0990(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.copy_(x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: copy_ into h | in recompute=True region(h))
def program_0991(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.copy_(x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h.detach().add_ under no_grad | bare)
def program_1016(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        h.add_(1)
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: h.detach().add_ under no_grad | marker before)
def program_1017(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    with torch.no_grad():
        h.add_(1)
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: h.detach().add_ under no_grad | marker after)
def program_1018(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        h.add_(1)
    y = h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: h.detach().add_ under no_grad | in recompute=True region(h))
def program_1019(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        with torch.no_grad():
            h.add_(1)
        return h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: setitem h[0]=0 | bare)
def program_1020(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h[0] = 0
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: setitem h[0]=0 | marker before)
def program_1021(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h[0] = 0
    y = h
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: setitem h[0]=0 | marker after)
def program_1022(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h[0] = 0
    y = h
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: setitem h[0]=0 | in recompute=True region(h))
def program_1023(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h[0] = 0
        return h

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: setitem z[0]=h[0] | bare)
def program_1024(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    z = x * 1
    z[0] = h[0]
    y = z
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: setitem z[0]=h[0] | marker before)
def program_1025(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    z = x * 1
    z[0] = h[0]
    y = z
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: setitem z[0]=h[0] | marker after)
def program_1026(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    z = x * 1
    z[0] = h[0]
    y = z
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: setitem z[0]=h[0] | in recompute=True region(h))
def program_1027(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        z = x * 1
        z[0] = h[0]
        return z

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h as mask | bare)
def program_1036(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x[h > 0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h as mask | marker before)
def program_1037(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x[h > 0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h as mask | marker after)
def program_1038(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x[h > 0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h as mask | in recompute=True region(h))
def program_1039(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x[h > 0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: int-tensor index | bare)
def program_1040(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[torch.tensor([0, 2])]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int-tensor index | marker before)
def program_1041(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[torch.tensor([0, 2])]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int-tensor index | marker after)
def program_1042(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[torch.tensor([0, 2])]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int-tensor index | in recompute=True region(h))
def program_1043(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[torch.tensor([0, 2])]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: index_select | bare)
def program_1052(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.index_select(0, torch.tensor([0]))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: index_select | marker before)
def program_1053(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.index_select(0, torch.tensor([0]))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: index_select | marker after)
def program_1054(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.index_select(0, torch.tensor([0]))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: index_select | in recompute=True region(h))
def program_1055(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.index_select(0, torch.tensor([0]))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: masked_select | bare)
def program_1056(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.masked_select(x > 0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: masked_select | marker before)
def program_1057(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.masked_select(x > 0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: masked_select | marker after)
def program_1058(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.masked_select(x > 0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: masked_select | in recompute=True region(h))
def program_1059(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.masked_select(x > 0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: scatter | bare)
def program_1064(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.scatter(1, torch.zeros(4, 1, dtype=torch.long), 0.0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: scatter | marker before)
def program_1065(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.scatter(1, torch.zeros(4, 1, dtype=torch.long), 0.0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: scatter | marker after)
def program_1066(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.scatter(1, torch.zeros(4, 1, dtype=torch.long), 0.0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: scatter | in recompute=True region(h))
def program_1067(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.scatter(1, torch.zeros(4, 1, dtype=torch.long), 0.0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: take_along_dim | bare)
def program_1068(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.take_along_dim(h, torch.zeros(4, 1, dtype=torch.long), 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: take_along_dim | marker before)
def program_1069(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.take_along_dim(h, torch.zeros(4, 1, dtype=torch.long), 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: take_along_dim | marker after)
def program_1070(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.take_along_dim(h, torch.zeros(4, 1, dtype=torch.long), 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: take_along_dim | in recompute=True region(h))
def program_1071(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.take_along_dim(h, torch.zeros(4, 1, dtype=torch.long), 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: flip | bare)
def program_1076(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.flip(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: flip | marker before)
def program_1077(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.flip(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: flip | marker after)
def program_1078(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.flip(0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: flip | in recompute=True region(h))
def program_1079(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.flip(0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: fliplr | bare)
def program_1096(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.fliplr(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: fliplr | marker before)
def program_1097(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.fliplr(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: fliplr | marker after)
def program_1098(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.fliplr(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: fliplr | in recompute=True region(h))
def program_1099(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.fliplr(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: bmm | bare)
def program_1104(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.bmm(h[None], w[None])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bmm | marker before)
def program_1105(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.bmm(h[None], w[None])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bmm | marker after)
def program_1106(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.bmm(h[None], w[None])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bmm | in recompute=True region(h))
def program_1107(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.bmm(h[None], w[None])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.mse_loss | bare)
def program_1112(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * F.mse_loss(h, x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.mse_loss | marker before)
def program_1113(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * F.mse_loss(h, x)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.mse_loss | marker after)
def program_1114(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * F.mse_loss(h, x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.mse_loss | in recompute=True region(h))
def program_1115(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * F.mse_loss(h, x)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: F.cross_entropy | bare)
def program_1116(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * F.cross_entropy(h, torch.zeros(4, dtype=torch.long))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.cross_entropy | marker before)
def program_1117(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * F.cross_entropy(h, torch.zeros(4, dtype=torch.long))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.cross_entropy | marker after)
def program_1118(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * F.cross_entropy(h, torch.zeros(4, dtype=torch.long))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: F.cross_entropy | in recompute=True region(h))
def program_1119(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * F.cross_entropy(h, torch.zeros(4, dtype=torch.long))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.compile'd? no: vmap | bare)
def program_1124(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.vmap(lambda a: a * 2)(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.compile'd? no: vmap | marker before)
def program_1125(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.vmap(lambda a: a * 2)(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.compile'd? no: vmap | marker after)
def program_1126(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.vmap(lambda a: a * 2)(h)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.compile'd? no: vmap | in recompute=True region(h))
def program_1127(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.vmap(lambda a: a * 2)(h)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.equal(h,h) | bare)
def program_1144(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(torch.equal(h, h))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.equal(h,h) | marker before)
def program_1145(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * float(torch.equal(h, h))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.equal(h,h) | marker after)
def program_1146(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(torch.equal(h, h))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.equal(h,h) | in recompute=True region(h))
def program_1147(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * float(torch.equal(h, h))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: allclose | bare)
def program_1148(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(torch.allclose(h, h))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: allclose | marker before)
def program_1149(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * float(torch.allclose(h, h))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: allclose | marker after)
def program_1150(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(torch.allclose(h, h))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: allclose | in recompute=True region(h))
def program_1151(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * float(torch.allclose(h, h))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: .item() | bare)
def program_1156(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h[0, 0].item()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .item() | marker before)
def program_1157(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * h[0, 0].item()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .item() | marker after)
def program_1158(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h[0, 0].item()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .item() | in recompute=True region(h))
def program_1159(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * h[0, 0].item()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: .tolist() | bare)
def program_1160(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.tolist()[0][0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .tolist() | marker before)
def program_1161(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * h.tolist()[0][0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .tolist() | marker after)
def program_1162(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.tolist()[0][0]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: .tolist() | in recompute=True region(h))
def program_1163(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * h.tolist()[0][0]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: float(t) | bare)
def program_1164(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h[0, 0])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: float(t) | marker before)
def program_1165(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * float(h[0, 0])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: float(t) | marker after)
def program_1166(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h[0, 0])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: float(t) | in recompute=True region(h))
def program_1167(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * float(h[0, 0])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: int(t) | bare)
def program_1168(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * int(h[0, 0])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int(t) | marker before)
def program_1169(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * int(h[0, 0])
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int(t) | marker after)
def program_1170(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * int(h[0, 0])
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: int(t) | in recompute=True region(h))
def program_1171(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * int(h[0, 0])

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: bool(t) | bare)
def program_1172(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(bool(h[0, 0]))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bool(t) | marker before)
def program_1173(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * float(bool(h[0, 0]))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bool(t) | marker after)
def program_1174(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(bool(h[0, 0]))
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: bool(t) | in recompute=True region(h))
def program_1175(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * float(bool(h[0, 0]))

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: if h[0,0] (0-dim truth) | bare)
def program_1180(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * 2 if h[0, 0] else x * 3
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: if h[0,0] (0-dim truth) | marker before)
def program_1181(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * 2 if h[0, 0] else x * 3
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: if h[0,0] (0-dim truth) | marker after)
def program_1182(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * 2 if h[0, 0] else x * 3
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: if h[0,0] (0-dim truth) | in recompute=True region(h))
def program_1183(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * 2 if h[0, 0] else x * 3

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: print(h) | bare)
def program_1192(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    print(h)
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: print(h) | marker before)
def program_1193(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    print(h)
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: print(h) | marker after)
def program_1194(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    print(h)
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: print(h) | in recompute=True region(h))
def program_1195(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        print(h)
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: repr(h) | bare)
def program_1200(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    s = repr(h)
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: repr(h) | marker before)
def program_1201(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    s = repr(h)
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: repr(h) | marker after)
def program_1202(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    s = repr(h)
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: repr(h) | in recompute=True region(h))
def program_1203(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        s = repr(h)
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: assert (h==h).all() | bare)
def program_1216(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    assert bool((h == h).all())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: assert (h==h).all() | marker before)
def program_1217(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    assert bool((h == h).all())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: assert (h==h).all() | marker after)
def program_1218(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    assert bool((h == h).all())
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: assert (h==h).all() | in recompute=True region(h))
def program_1219(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        assert bool((h == h).all())
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: np.asarray | bare)
def program_1228(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = np.asarray(h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: np.asarray | marker before)
def program_1229(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    q = np.asarray(h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: np.asarray | marker after)
def program_1230(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = np.asarray(h.detach())
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: np.asarray | in recompute=True region(h))
def program_1231(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        q = np.asarray(h.detach())
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: data_ptr() | bare)
def program_1232(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.data_ptr()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: data_ptr() | marker before)
def program_1233(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    q = h.data_ptr()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: data_ptr() | marker after)
def program_1234(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.data_ptr()
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: data_ptr() | in recompute=True region(h))
def program_1235(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        q = h.data_ptr()
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: untyped_storage().data_ptr() | bare)
def program_1236(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.untyped_storage().data_ptr()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: untyped_storage().data_ptr() | marker before)
def program_1237(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    q = h.untyped_storage().data_ptr()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: untyped_storage().data_ptr() | marker after)
def program_1238(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.untyped_storage().data_ptr()
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: untyped_storage().data_ptr() | in recompute=True region(h))
def program_1239(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        q = h.untyped_storage().data_ptr()
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: deepcopy(detach) | bare)
def program_1244(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = copy.deepcopy(h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: deepcopy(detach) | marker before)
def program_1245(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    q = copy.deepcopy(h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: deepcopy(detach) | marker after)
def program_1246(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = copy.deepcopy(h.detach())
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: deepcopy(detach) | in recompute=True region(h))
def program_1247(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        q = copy.deepcopy(h.detach())
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.save | bare)
def program_1248(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    torch.save(h.detach(), io.BytesIO())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.save | marker before)
def program_1249(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    torch.save(h.detach(), io.BytesIO())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.save | marker after)
def program_1250(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    torch.save(h.detach(), io.BytesIO())
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.save | in recompute=True region(h))
def program_1251(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        torch.save(h.detach(), io.BytesIO())
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: __dlpack__ | bare)
def program_1260(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.detach().__dlpack__()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: __dlpack__ | marker before)
def program_1261(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    q = h.detach().__dlpack__()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: __dlpack__ | marker after)
def program_1262(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    q = h.detach().__dlpack__()
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: __dlpack__ | in recompute=True region(h))
def program_1263(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        q = h.detach().__dlpack__()
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h.sum() unused | bare)
def program_1264(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.sum()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.sum() unused | marker before)
def program_1265(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h.sum()
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.sum() unused | marker after)
def program_1266(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h.sum()
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.sum() unused | in recompute=True region(h))
def program_1267(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h.sum()
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h + 1 unused | bare)
def program_1268(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h + 1
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 unused | marker before)
def program_1269(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h + 1
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 unused | marker after)
def program_1270(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h + 1
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h + 1 unused | in recompute=True region(h))
def program_1271(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        h + 1
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h+1 under no_grad unused | bare)
def program_1272(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        q = h + 1
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h+1 under no_grad unused | marker before)
def program_1273(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    with torch.no_grad():
        q = h + 1
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h+1 under no_grad unused | marker after)
def program_1274(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        q = h + 1
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h+1 under no_grad unused | in recompute=True region(h))
def program_1275(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        with torch.no_grad():
            q = h + 1
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: no_grad metric used | bare)
def program_1276(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        q = h.mean()
    y = x * q
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: no_grad metric used | marker before)
def program_1277(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    with torch.no_grad():
        q = h.mean()
    y = x * q
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: no_grad metric used | marker after)
def program_1278(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    with torch.no_grad():
        q = h.mean()
    y = x * q
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: no_grad metric used | in recompute=True region(h))
def program_1279(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        with torch.no_grad():
            q = h.mean()
        return x * q

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: ones_like | bare)
def program_1285(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.ones_like(h) * x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: ones_like | marker before)
def program_1286(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.ones_like(h) * x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: ones_like | marker after)
def program_1287(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.ones_like(h) * x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: ones_like | in recompute=True region(h))
def program_1288(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.ones_like(h) * x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x.new_tensor(shape) | bare)
def program_1309(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.new_tensor(2.0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x.new_tensor(shape) | marker before)
def program_1310(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x * h.new_tensor(2.0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x.new_tensor(shape) | marker after)
def program_1311(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.new_tensor(2.0)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: x.new_tensor(shape) | in recompute=True region(h))
def program_1312(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x * h.new_tensor(2.0)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h[:0] (empty) sum | bare)
def program_1329(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h[:0].sum()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h[:0] (empty) sum | marker before)
def program_1330(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x + h[:0].sum()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h[:0] (empty) sum | marker after)
def program_1331(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h[:0].sum()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h[:0] (empty) sum | in recompute=True region(h))
def program_1332(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x + h[:0].sum()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.empty(h.shape) | bare)
def program_1337(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.ones(h.shape) * x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.empty(h.shape) | marker before)
def program_1338(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.ones(h.shape) * x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.empty(h.shape) | marker after)
def program_1339(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.ones(h.shape) * x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.empty(h.shape) | in recompute=True region(h))
def program_1340(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.ones(h.shape) * x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: sum([h0,h1]) | bare)
def program_1349(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[0] + h[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum([h0,h1]) | marker before)
def program_1350(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h[0] + h[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum([h0,h1]) | marker after)
def program_1351(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h[0] + h[1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: sum([h0,h1]) | in recompute=True region(h))
def program_1352(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h[0] + h[1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.tensor_split neg | bare)
def program_1353(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split([1], dim=0)[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.tensor_split neg | marker before)
def program_1354(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = h.tensor_split([1], dim=0)[1]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.tensor_split neg | marker after)
def program_1355(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h.tensor_split([1], dim=0)[1]
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.tensor_split neg | in recompute=True region(h))
def program_1356(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return h.tensor_split([1], dim=0)[1]

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: unused-grad h.detach()*0 | bare)
def program_1373(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h.detach() * 0
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: unused-grad h.detach()*0 | marker before)
def program_1374(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x + h.detach() * 0
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: unused-grad h.detach()*0 | marker after)
def program_1375(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h.detach() * 0
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: unused-grad h.detach()*0 | in recompute=True region(h))
def program_1376(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x + h.detach() * 0

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h.relu().detach() | bare)
def program_1377(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h.relu().detach()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.relu().detach() | marker before)
def program_1378(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = x + h.relu().detach()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.relu().detach() | marker after)
def program_1379(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x + h.relu().detach()
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.relu().detach() | in recompute=True region(h))
def program_1380(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return x + h.relu().detach()

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: h.resize_ no: torch.add out= | bare)
def program_1385(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    torch.add(x.detach(), 1, out=h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: h.resize_ no: torch.add out= | marker before)
def program_1386(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    torch.add(x.detach(), 1, out=h.detach())
    y = x
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: h.resize_ no: torch.add out= | marker after)
def program_1387(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    torch.add(x.detach(), 1, out=h.detach())
    y = x
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: error  (1.data: h.resize_ no: torch.add out= | in recompute=True region(h))
def program_1388(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        torch.add(x.detach(), 1, out=h.detach())
        return x

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.mul(h,2) | bare)
def program_1389(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.mul(h, 2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.mul(h,2) | marker before)
def program_1390(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.mul(h, 2)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.mul(h,2) | marker after)
def program_1391(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.mul(h, 2)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.mul(h,2) | in recompute=True region(h))
def program_1392(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.mul(h, 2)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: placeholder  (1.data: torch.chunk then cat | bare)
def program_1393(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.cat(h.chunk(2, 1), 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.chunk then cat | marker before)
def program_1394(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    y = torch.cat(h.chunk(2, 1), 1)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.chunk then cat | marker after)
def program_1395(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = torch.cat(h.chunk(2, 1), 1)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.data: torch.chunk then cat | in recompute=True region(h))
def program_1396(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def f(h, x, w):
        return torch.cat(h.chunk(2, 1), 1)

    y = remat.region(f, "r", recompute=True)(h, x, w)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.shape[0])
def program_1397(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.shape[0]
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: len(h))
def program_1400(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * len(h)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.dim())
def program_1401(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.dim()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.ndim)
def program_1402(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.ndim
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.numel())
def program_1403(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.numel()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.stride(0))
def program_1405(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.stride(0)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.device.type=='cpu'))
def program_1410(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.device.type == "cpu")
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.element_size())
def program_1411(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.element_size()
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: h.itemsize)
def program_1413(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * h.itemsize
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(torch.is_tensor(h)))
def program_1415(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(torch.is_tensor(h))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.is_leaf))
def program_1418(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.is_leaf)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.is_cuda))
def program_1419(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.is_cuda)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.layout==torch.strided))
def program_1420(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.layout == torch.strided)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.type()=='torch.FloatTensor'))
def program_1421(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.type() == "torch.FloatTensor")
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h._version))
def program_1422(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h._version)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(hasattr(h,'foo')))
def program_1428(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(hasattr(h, "foo"))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(type(h) is torch.Tensor))
def program_1434(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(type(h) is torch.Tensor)
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.is_neg()))
def program_1443(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.is_neg())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.dense_dim()))
def program_1446(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.dense_dim())
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.meta: float(h.is_same_size(x)))
def program_1448(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x * float(h.is_same_size(x))
    return remat.region(lambda a, b: a.sin().sum() + b.sin().sum(), "t", recompute=False)(y, x)


# truth: ok  (1.ret: returned directly)
def program_1450(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return h


# truth: ok  (1.ret: returned twice (h,h))
def program_1454(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return (h, h)


# truth: ok  (1.ret: returned (h, h.view))
def program_1455(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return (h, h.t())


# truth: ok  (1.ret: residual add marked)
def program_1457(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    return x + h


# truth: ok  (1.ret: region output tuple, one returned)
def program_1458(x, w, M):
    a, b = remat.region(lambda a: (a @ w, a * 2), "s", recompute=False)(x)
    return a


# truth: ok  (1.cont.R: direct kwarg)
def program_1465(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a=None: a * 2, "c", recompute=True)(a=h)


# truth: ok  (1.cont.R: NamedTuple arg)
def program_1468(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l.a * 2, "c", recompute=True)(NT(h, x))


# truth: ok  (1.cont.R: **dict kwargs)
def program_1472(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda h=None: h * 2, "c", recompute=True)(**{"h": h})


# truth: ok  (1.cont.R: *tuple args)
def program_1473(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a, b: a * 2, "c", recompute=True)(*(h, x))


# truth: ok  (1.cont.R: set? dict.values list)
def program_1476(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l[0] * 2, "c", recompute=True)(list({"h": h}.values()))


# truth: placeholder  (1.cont.R: closure lambda captures h)
def program_1477(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * h, "c", recompute=True)(x)


# truth: placeholder  (1.cont.R: functools.partial bound h)
def program_1480(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(functools.partial(torch.mul, h), "c", recompute=True)(x)


# truth: placeholder  (1.cont.R: bound method h.mul)
def program_1481(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(h.mul, "c", recompute=True)(x)


# truth: ok  (1.cont.R: view passed h.view)
def program_1484(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * 2, "c", recompute=True)(h.view(-1))


# truth: placeholder  (1.cont.R: h+1 passed)
def program_1487(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * 2, "c", recompute=True)(h + 1)


# truth: ok  (1.cont.R: region returns its arg view h.t())
def program_1488(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = remat.region(lambda a: a.t(), "c", recompute=True)(h)
    return remat.region(lambda a: a.sin(), "z", recompute=False)(y)


# truth: placeholder  (1.cont.R: deque arg)
def program_1491(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l[0] * 2, "c", recompute=True)(collections.deque([h]))


# truth: ok  (1.cont.S: direct positional)
def program_1493(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * 2, "c", recompute=False)(h)


# truth: ok  (1.cont.S: list arg)
def program_1495(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l[0] * 2, "c", recompute=False)([h, x])


# truth: ok  (1.cont.S: NamedTuple arg)
def program_1497(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l.a * 2, "c", recompute=False)(NT(h, x))


# truth: ok  (1.cont.S: dict arg)
def program_1500(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda d: d["h"] * 2, "c", recompute=False)({"h": h})


# truth: ok  (1.cont.S: **dict kwargs)
def program_1501(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda h=None: h * 2, "c", recompute=False)(**{"h": h})


# truth: ok  (1.cont.S: object attr arg)
def program_1504(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    o = Holder()
    o.h = h
    return remat.region(lambda d: d.h * 2, "c", recompute=False)(o)


# truth: ok  (1.cont.S: set? dict.values list)
def program_1505(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l[0] * 2, "c", recompute=False)(list({"h": h}.values()))


# truth: ok  (1.cont.S: closure + marker)
def program_1507(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    return remat.region(lambda a: a * h, "c", recompute=False)(x)


# truth: ok  (1.cont.S: bound method h.mul)
def program_1510(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(h.mul, "c", recompute=False)(x)


# truth: ok  (1.cont.S: view passed h.view)
def program_1513(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * 2, "c", recompute=False)(h.view(-1))


# truth: placeholder  (1.cont.S: h+1 passed)
def program_1516(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * 2, "c", recompute=False)(h + 1)


# truth: ok  (1.cont.S: region returns its arg view h.t())
def program_1517(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = remat.region(lambda a: a.t(), "c", recompute=False)(h)
    return remat.region(lambda a: a.sin(), "z", recompute=False)(y)


# truth: placeholder  (1.cont.S: region ignores h arg, bare then reads h)
def program_1518(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = remat.region(lambda a, b: b * 2, "c", recompute=False)(h, x)
    return y + h


# truth: ok  (1.cont.S: saved input of region: a*a)
def program_1519(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda a: a * a, "c", recompute=False)(h)


# truth: ok  (1.cont.S: deque arg)
def program_1520(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l[0] * 2, "c", recompute=False)(collections.deque([h]))


# truth: ok  (1.cont.S: dict subclass/OrderedDict)
def program_1521(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return remat.region(lambda l: l["h"] * 2, "c", recompute=False)(collections.OrderedDict(h=h))


# truth: ok  (1.order: bare AFTER recompute=True region(h))
def program_1523(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    z = remat.region(lambda a: a * 3, "r", recompute=True)(h)
    return z + h * 2


# truth: ok  (1.order: bare, then marker last line)
def program_1524(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = h * 2
    remat.recompute_needs_tensor(h)
    return y


# truth: ok  (1.order: marker after checkpoint-fn tail (in finally))
def program_1525(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    try:
        return h * 2
    finally:
        remat.recompute_needs_tensor(h)


# truth: placeholder  (1.order: marker on h.clone() (copy))
def program_1535(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h.clone())
    return h * 2


# truth: placeholder  (1.order: marker on h.t().contiguous())
def program_1536(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h.t().contiguous())
    return h * 2


# truth: ok  (1.order: marker on h.contiguous() (no-op))
def program_1537(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h.contiguous())
    return h * 2


# truth: ok  (1.order: tuple outs: marker on a, read a)
def program_1539(x, w, M):
    a, b = remat.region(lambda t: (t @ w, t * 2), "s", recompute=False)(x)
    remat.recompute_needs_tensor(a)
    return remat.region(lambda p, q: p + q, "t", recompute=False)(a * 2, b)


# truth: placeholder  (1.order: tuple outs: marker on a, read b)
def program_1540(x, w, M):
    a, b = remat.region(lambda t: (t @ w, t * 2), "s", recompute=False)(x)
    remat.recompute_needs_tensor(a)
    return b * 2


# truth: ok  (1.order: tuple outs: need(a,b))
def program_1541(x, w, M):
    a, b = remat.region(lambda t: (t @ w, t * 2), "s", recompute=False)(x)
    remat.recompute_needs_tensor(a, b)
    return a * b


# truth: ok  (1.order: tuple outs: need(*out))
def program_1542(x, w, M):
    out = remat.region(lambda t: (t @ w, t * 2), "s", recompute=False)(x)
    remat.recompute_needs_tensor(*out)
    return out[0] * out[1]


# truth: error  (1.order: marker on tuple object need(out))
def program_1543(x, w, M):
    out = remat.region(lambda t: (t @ w, t * 2), "s", recompute=False)(x)
    remat.recompute_needs_tensor(out)
    return out[0] * out[1]


# truth: error  (1.order: need([h]))
def program_1546(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor([h])
    return h * 2


# truth: error  (1.order: need(None))
def program_1547(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(None)
    return x * 2


# truth: ok  (1.order: need() no args)
def program_1549(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor()
    return x * 2


# truth: placeholder  (1.order: need() no args then read h)
def program_1550(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor()
    return h * 2


# truth: ok  (1.order: need(x) non-saved tensor)
def program_1551(x, w, M):
    remat.recompute_needs_tensor(x)
    return x * 2


# truth: error  (1.order: need(tensor=h) kwarg)
def program_1552(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(tensor=h)
    return h * 2


# truth: ok  (1.order: marker in nested function)
def program_1553(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)

    def g(t):
        remat.recompute_needs_tensor(t)
        return t * 2

    return g(h)


# truth: error  (1.order: marker returns None: h = need(h))
def program_1556(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h = remat.recompute_needs_tensor(h)
    return h * 2


# truth: ok  (1.order: rebind: h2=h (alias) marker on h, read h2)
def program_1558(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    h2 = h
    remat.recompute_needs_tensor(h)
    return h2 * 2


# truth: placeholder  (1.order: in loop: saved h per iter, marker last only)
def program_1559(x, w, M):
    hs = []
    for i in range(3):
        hs.append(remat.region(lambda a: a @ w, f"s{i}", recompute=False)(x))
    remat.recompute_needs_tensor(hs[-1])
    return hs[0] * hs[2]


# truth: placeholder  (1.order: marker BEFORE region (wrong tensor x))
def program_1561(x, w, M):
    remat.recompute_needs_tensor(x)
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return h * 2


# truth: placeholder  (1.order: marker on old binding, h reassigned by 2nd saved region)
def program_1562(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    h = remat.region(lambda a: a @ w, "s2", recompute=False)(h)
    return h * 2


# truth: ok  (1.order: try/except swallow placeholder error)
def program_1564(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    try:
        y = h * 2
    except RuntimeError:
        y = x * 2
    return y


# truth: wrong-gradient  (1.order: try/except swallow, sin(y))
def program_1565(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    try:
        y = h * 2
    except Exception:
        y = x * 1
    return y.sin()


# truth: ok  (1.order: is_recomputing guard on metric)
def program_1567(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    if not remat.is_recomputing():
        M.log.append(h.sum().item())
    return remat.region(lambda a, b: a + b, "t", recompute=False)(x.sin(), h)


# truth: error  (1.order: is_recomputing guard on DIFFERENTIABLE op)
def program_1568(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x.sin()
    if not remat.is_recomputing():
        y = y + h.sin()
    return y.cos()


# truth: ok  (1.order: saved output consumed only by saved regions + bare recompute path elsewhere)
def program_1569(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    y = x.sin().cos()
    return remat.region(lambda a, b: a * b, "t", recompute=False)(y, h)


# truth: placeholder  (1.order: detached alias kept, h freed, marker on detach alias)
def program_1573(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    v = h.detach()
    del h
    remat.recompute_needs_tensor(v)
    return x.view(-1) * v.view(-1)


# truth: placeholder  (1.order: .data alias kept, h deleted, marker)
def program_1574(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    v = h.data
    del h
    remat.recompute_needs_tensor(v)
    return x * v


# truth: placeholder  (1.prod: producer matmul, bare read h*2)
def program_1576(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer nn-like addmm, bare read h*2)
def program_1577(x, w, M):
    h = remat.region(lambda a: F.linear(a, w), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer relu, bare read h*2)
def program_1580(x, w, M):
    h = remat.region(lambda a: F.relu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer exp, bare read h*2)
def program_1581(x, w, M):
    h = remat.region(lambda a: a.exp(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer sqrt, bare read h*2)
def program_1582(x, w, M):
    h = remat.region(lambda a: (a * a + 1).sqrt(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer rsqrt, bare read h*2)
def program_1583(x, w, M):
    h = remat.region(lambda a: (a * a + 1).rsqrt(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer reciprocal, bare read h*2)
def program_1586(x, w, M):
    h = remat.region(lambda a: (a * a + 1).reciprocal(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer elu, bare read h*2)
def program_1587(x, w, M):
    h = remat.region(lambda a: F.elu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer selu, bare read h*2)
def program_1588(x, w, M):
    h = remat.region(lambda a: F.selu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer leaky_relu, bare read h*2)
def program_1589(x, w, M):
    h = remat.region(lambda a: F.leaky_relu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer gelu, bare read h*2)
def program_1592(x, w, M):
    h = remat.region(lambda a: F.gelu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer silu, bare read h*2)
def program_1593(x, w, M):
    h = remat.region(lambda a: F.silu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer layer_norm, bare read h*2)
def program_1595(x, w, M):
    h = remat.region(lambda a: F.layer_norm(a, (6,)), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer amax, bare read h*2)
def program_1602(x, w, M):
    h = remat.region(lambda a: a.amax(-1), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer max(dim).values, bare read h*2)
def program_1603(x, w, M):
    h = remat.region(lambda a: a.max(dim=-1).values, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer norm, bare read h*2)
def program_1604(x, w, M):
    h = remat.region(lambda a: a.norm(dim=-1), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer prod, bare read h*2)
def program_1606(x, w, M):
    h = remat.region(lambda a: a.prod(dim=-1), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer mul, bare read h*2)
def program_1607(x, w, M):
    h = remat.region(lambda a: a * a, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer sin, bare read h*2)
def program_1609(x, w, M):
    h = remat.region(lambda a: a.sin(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer pow 2, bare read h*2)
def program_1610(x, w, M):
    h = remat.region(lambda a: a**2, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer pow tensor, bare read h*2)
def program_1611(x, w, M):
    h = remat.region(lambda a: (a.abs() + 1) ** a, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer sum, bare read h*2)
def program_1613(x, w, M):
    h = remat.region(lambda a: a.sum(-1), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer cat, bare read h*2)
def program_1615(x, w, M):
    h = remat.region(lambda a: torch.cat([a, a]), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer dropout, bare read h*2)
def program_1616(x, w, M):
    h = remat.region(lambda a: F.dropout(a, 0.5, True), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer sdpa, bare read h*2)
def program_1617(x, w, M):
    h = remat.region(
        lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]), "s", recompute=False
    )(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer sigmoid then view, bare read h*2)
def program_1618(x, w, M):
    h = remat.region(lambda a: a.sigmoid().view(-1), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer relu inplace, bare read h*2)
def program_1621(x, w, M):
    h = remat.region(lambda a: F.relu(a * 1, inplace=True), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer masked_fill, bare read h*2)
def program_1622(x, w, M):
    h = remat.region(lambda a: a.masked_fill(a > 0, 0.0), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer where, bare read h*2)
def program_1623(x, w, M):
    h = remat.region(lambda a: torch.where(a > 0, a, a * 2), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer clamp, bare read h*2)
def program_1625(x, w, M):
    h = remat.region(lambda a: a.clamp(min=0), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer abs, bare read h*2)
def program_1626(x, w, M):
    h = remat.region(lambda a: a.abs(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer input itself (identity), bare read h*2)
def program_1630(x, w, M):
    h = remat.region(lambda a: a, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer a[:2] slice of input, bare read h*2)
def program_1631(x, w, M):
    h = remat.region(lambda a: a[:2], "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer a.float() no-op, bare read h*2)
def program_1633(x, w, M):
    h = remat.region(lambda a: a.float(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer normalize, bare read h*2)
def program_1636(x, w, M):
    h = remat.region(lambda a: F.normalize(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer tan, bare read h*2)
def program_1637(x, w, M):
    h = remat.region(lambda a: a.tan(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer frozen out relu(detach), bare read h*2)
def program_1640(x, w, M):
    h = remat.region(lambda a: F.relu(a.detach()), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer logsigmoid, bare read h*2)
def program_1641(x, w, M):
    h = remat.region(lambda a: F.logsigmoid(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer hardsigmoid, bare read h*2)
def program_1642(x, w, M):
    h = remat.region(lambda a: F.hardsigmoid(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer threshold, bare read h*2)
def program_1643(x, w, M):
    h = remat.region(lambda a: F.threshold(a, 0.0, 0.0), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer relu6, bare read h*2)
def program_1648(x, w, M):
    h = remat.region(lambda a: F.relu6(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer celu, bare read h*2)
def program_1649(x, w, M):
    h = remat.region(lambda a: F.celu(a), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer softmax*v (attention manual), bare read h*2)
def program_1650(x, w, M):
    h = remat.region(lambda a: a.softmax(-1) @ w, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer lstm-like tanh*sig, bare read h*2)
def program_1652(x, w, M):
    h = remat.region(lambda a: a.tanh() * a.sigmoid(), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer silu*gate, bare read h*2)
def program_1653(x, w, M):
    h = remat.region(lambda a: F.silu(a) * a, "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: ok  (1.prod: producer matmul then relu, bare read h*2)
def program_1654(x, w, M):
    h = remat.region(lambda a: F.relu(a @ w), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: producer matmul then gelu, bare read h*2)
def program_1655(x, w, M):
    h = remat.region(lambda a: F.gelu(a @ w), "s", recompute=False)(x)
    return h * 2 + x.sum()


# truth: placeholder  (1.prod: sigmoid producer within no_grad, bare read)
def program_1661(x, w, M):
    with torch.no_grad():
        h = remat.region(lambda a: a.sigmoid(), "s", recompute=False)(x)
    return h * w[:4]


# truth: ok  (1.prod: identity region, x non-leaf, need(h))
def program_1662(x, w, M):
    h = remat.region(lambda a: a, "s", recompute=False)(x)
    remat.recompute_needs_tensor(h)
    return h * 2


# truth: placeholder  (1.prod: input passthrough, bare read of a)
def program_1666(x, w, M):
    a, h = remat.region(lambda a: (a, a @ w), "s", recompute=False)(x)
    return a * 2


# truth: ok  (1.prod: unused saved region output)
def program_1668(x, w, M):
    h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return x * 2


# truth: placeholder  (1.prod: saved region in no_grad, output bare)
def program_1669(x, w, M):
    with torch.no_grad():
        h = remat.region(lambda a: a @ w, "s", recompute=False)(x)
    return x * h


# truth: ok  (1.prod: frozen everything: output has no grad; bare read)
def program_1676(x, w, M):
    h = remat.region(lambda a: a @ w.detach(), "s", recompute=False)(x.detach())
    return h * 2
