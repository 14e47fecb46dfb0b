"""A13: one region callable, called on one branch or the other, then a view, then a region."""

import contextlib

import torch_remat as remat
from blocks import Proj


def no_typecheck():
    return contextlib.nullcontext()


class ShardedOut(Proj):
    def __init__(self, prefix, checked):
        super().__init__(prefix)
        self.checked = checked
        self.n = 2

    def _reduce(self, y):
        return y.sum(1)

    def forward(self, x):
        mm = remat.region(
            self._mm, self.remat_region_name("mm"), recompute=self.remat_should_recompute("mm")
        )
        if self.checked:
            y = mm(x)
        else:
            with no_typecheck():
                y = mm(x)
        y = y.unflatten(0, (self.n, -1))
        return remat.region(
            self._reduce,
            self.remat_region_name("reduce"),
            recompute=self.remat_should_recompute("reduce"),
        )(y)


CHECKED, UNCHECKED = ShardedOut("checked", True), ShardedOut("unchecked", False)


def body_checked(x):
    """runtime: ok"""
    return CHECKED(x)


def body_unchecked(x):
    """runtime: ok"""
    return UNCHECKED(x)
