"""A55: a region whose function calls a module that declares one; both are the policy's."""

import torch
import torch_remat as remat
from blocks import RECOMPUTED, Block, Proj


class Latent(Block):
    def __init__(self, prefix):
        super().__init__(prefix)
        self.down = Proj(f"{prefix}.down")

    def forward(self, x):
        return remat.region(
            self._latent, self.remat_region_name("latent"), recompute=self.remat_should_recompute("latent")
        )(x)

    def _latent(self, x):
        kv = self.down(x)
        return torch.cat((kv, x), -1)  # expect: RMT101 insert: remat.recompute_needs_tensor(kv)


LATENT = Latent("block")
RECOMPUTED.append("*.latent")


def body_inner_saved(x):
    """runtime: placeholder"""
    return LATENT(x)
