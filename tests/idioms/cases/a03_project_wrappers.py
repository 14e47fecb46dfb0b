"""A03: wrappers of the project around both functions, each a no-op without torch_remat."""

import torch
from blocks import WIDTH, Block
from torch import nn

try:
    import torch_remat as remat
except ImportError:
    remat = None


def maybe_remat_save_region(function, name, *, owner):
    if remat is None:
        return function
    return remat.region(
        function, owner.remat_region_name(name), recompute=owner.remat_should_recompute(name)
    )


def maybe_remat_recompute_needs(owner, *tensors):
    if remat is None or owner is None:
        return
    remat.recompute_needs_tensor(*tensors)


class Up(Block):
    def __init__(self):
        super().__init__("up")
        self.weight = nn.Parameter(torch.ones(WIDTH, WIDTH))

    def _up(self, x):
        return x @ self.weight

    def marked(self, x):
        h = maybe_remat_save_region(self._up, "up", owner=self)(x)
        maybe_remat_recompute_needs(self, h)
        return h.relu()

    def unmarked(self, x):
        h = maybe_remat_save_region(self._up, "up", owner=self)(x)
        return h.relu()  # expect: RMT101 insert: remat.recompute_needs_tensor(h)


UP = Up()


def body_marked(x):
    """runtime: ok"""
    return UP.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return UP.unmarked(x)
