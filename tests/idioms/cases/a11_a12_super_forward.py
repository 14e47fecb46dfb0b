"""A11, A12: `super().forward` of what a free function returns, its input or a region output."""

import torch_remat as remat
from blocks import Proj


class Group:
    def all_gather(self, x):
        return x * 1.0


def gather_if_sharded(mod, x):
    if mod.group is None:
        return x
    return remat.region(
        mod.group.all_gather,
        mod.remat_region_name("gather"),
        recompute=mod.remat_should_recompute("gather"),
    )(x)


class ShardedIn(Proj):
    def __init__(self, prefix, group=None):
        super().__init__(prefix)
        self.group = group

    def forward(self, x):
        return super().forward(gather_if_sharded(self, x))


WHOLE = ShardedIn("whole")
SHARDED = ShardedIn("sharded", Group())


def body_both(x):
    """runtime: ok"""
    return SHARDED(WHOLE(x))


def body_gathered(x):
    """runtime: placeholder"""
    y = gather_if_sharded(SHARDED, x)
    return y + x  # expect: RMT101 insert: remat.recompute_needs_tensor(y)
