"""A67: the policy decides how a block runs: every arm is possible."""

import torch_remat as remat
from blocks import Block, Proj


class Mixed(Block):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.proj = Proj(f"{prefix}.proj")
        self._mode = "plain"

    def configure_remat_regions(self, policy):
        self._mode = "region" if policy.selective else "plain"

    def _inner(self, x):
        return x * 2

    def forward(self, x):
        if self._mode == "region":
            y = remat.region(self._inner, self.remat_region_name("inner"), recompute=False)(x)
        else:
            y = self._inner(x)
        return y + 1  # expect: RMT101 insert: remat.recompute_needs_tensor(y)


MIXED = Mixed("mixed")
MIXED._mode = "region"


def body_mixed(x):
    """runtime: placeholder"""
    return MIXED(x)
