# select: RMT206
"""What the function of a region returns."""

import collections
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch_remat as remat
from torch import nn


class Sent(NamedTuple):
    rows: torch.Tensor
    order: torch.Tensor


@dataclass
class Record:
    rows: torch.Tensor


class Plain:
    pass


class Fancy(tuple):
    pass


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * remat.region(lambda t: self.weight, "scale", recompute=True)(x)  # expect: RMT206

    def scaled(self, x):
        return remat.region(lambda t: t * self.weight, "scale", recompute=True)(x)

    def viewed(self, x):
        return x * remat.region(lambda t: self.weight.view(1, 8), "scale", recompute=True)(x)


SCALE = Scale()


def body_tensor(x):
    """runtime: ok"""
    return remat.region(torch.sin, "f", recompute=False)(x)


def body_tuple(x):
    """runtime: ok"""
    a, b = remat.region(lambda t: (t * 2, t * 3), "f", recompute=True)(x)
    return a + b


def body_list(x):
    """runtime: ok"""
    a, b = remat.region(lambda t: [t * 2, t * 3], "f", recompute=True)(x)
    return a + b


def body_named_tuple(x):
    """runtime: ok"""
    return remat.region(lambda t: Sent(t * 2, t * 3), "f", recompute=True)(x).rows


def body_result_of_torch(x):
    """runtime: ok"""
    return remat.region(lambda t: t.max(dim=-1), "f", recompute=True)(x).values


def body_chunks(x):
    """runtime: ok"""
    a, b = remat.region(lambda t: (t * 2).chunk(2, -1), "f", recompute=True)(x)
    return a + b


def body_optional(x, bias=None):
    """runtime: ok"""
    y, _ = remat.region(lambda t: (t * 2, bias), "f", recompute=True)(x)
    return y


def body_dict(x):
    """runtime: error"""
    return remat.region(lambda t: dict(y=t * 2), "f", recompute=False)(x)["y"]  # expect: RMT206


def body_dict_on_one_path(x, packed=True):
    """runtime: error"""

    def pack(t):
        if packed:
            return {"y": t * 2}
        return t * 2

    return remat.region(pack, "f", recompute=True)(x)["y"]  # expect: RMT206


def body_ordered_dict(x):
    """runtime: error"""
    pack = lambda t: {"outer": {"y": t}}  # noqa: E731
    return remat.region(pack, "f", recompute=True)(x)["outer"]["y"] * 2  # expect: RMT206


def body_list_in_a_tuple(x):
    """runtime: error"""
    a, [b] = remat.region(lambda t: (t * 2, [t * 3]), "f", recompute=True)(x)  # expect: RMT206
    return a + b


def body_number(x):
    """runtime: error"""
    remat.region(lambda t: 3, "f", recompute=True)(x)  # expect: RMT206
    return x * 2


def body_size(x):
    """runtime: error"""
    return x * remat.region(lambda t: t.shape[-1], "f", recompute=True)(x)  # expect: RMT206


def body_text(x):
    """runtime: error"""
    _, kind = remat.region(lambda t: (t * 2, "wave"), "f", recompute=True)(x)  # expect: RMT206
    return x * len(kind)


def body_bool(x):
    """runtime: error"""
    y, _ = remat.region(lambda t: (t * 2, True), "f", recompute=True)(x)  # expect: RMT206
    return y


def body_nothing(x):
    """runtime: error"""

    def log(t):
        seen = t.shape
        assert seen

    remat.region(log, "f", recompute=True)(x)  # expect: RMT206
    return x * 2


def body_set(x):
    """runtime: error"""
    (y,) = remat.region(lambda t: {t * 2}, "f", recompute=True)(x)  # expect: RMT206
    return y


def body_generator(x):
    """runtime: error"""

    def rows(t):
        for row in t.unbind(0):
            yield row * 2

    return torch.stack(list(remat.region(rows, "f", recompute=True)(x)))  # expect: RMT206


def body_dataclass(x):
    """runtime: error"""
    return remat.region(lambda t: Record(t * 2), "f", recompute=True)(x).rows  # expect: RMT206


def body_object(x):
    """runtime: error"""

    def fill(t):
        holder = Plain()
        holder.rows = t * 2
        return holder

    return remat.region(fill, "f", recompute=True)(x).rows  # expect: RMT206


def body_kind_of_tuple(x):
    """runtime: ok"""
    return remat.region(lambda t: Fancy((t * 2,)), "f", recompute=True)(x)[0]


def body_leaf(x):
    """runtime: error"""
    return x * remat.region(lambda t: torch.ones(8, requires_grad=True), "f", recompute=True)(x)  # expect: RMT206


def body_constant(x):
    """runtime: ok"""
    return x * remat.region(lambda t: torch.ones(8), "f", recompute=True)(x)


def body_computed_from_a_leaf(x):
    """runtime: ok"""
    return x * remat.region(lambda t: torch.ones(8, requires_grad=True) * 2, "f", recompute=True)(x)


def body_parameter(x):
    """runtime: error"""
    return SCALE(x)


def body_times_parameter(x):
    """runtime: ok"""
    return SCALE.scaled(x)


def body_view_of_parameter(x):
    """runtime: ok"""
    return SCALE.viewed(x)


def body_inert(x):
    """runtime: ok"""

    def outer(t):
        return remat.region(lambda u: {"y": u * 2}, "inner", recompute=False)(t)["y"]

    return remat.region(outer, "outer", recompute=False)(x)


def body_wrapper(x):
    """runtime: error"""
    pack = remat.region(lambda t: {"y": t * 2}, "f", recompute=True)  # expect: RMT206
    return pack(x)["y"]


def body_unknown(x, function=torch.sin):
    """runtime: ok"""
    return remat.region(function, "f", recompute=True)(x)


class Base(nn.Module):
    def forward(self, x):
        return remat.region(self.compute, "f", recompute=True)(x)

    def compute(self, x):
        """What a subclass computes."""


class Sine(Base):
    def compute(self, x):
        return torch.sin(x)


SINE = Sine()


def body_template(x):
    """runtime: ok"""
    return SINE(x)


def body_dict_of_collections(x):
    """runtime: error"""
    return remat.region(lambda t: collections.OrderedDict(y=t), "f", recompute=True)(x)["y"] * 2  # expect: RMT206
