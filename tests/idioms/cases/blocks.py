"""What the idioms share: a base class with the two policy helpers, and parts that declare regions."""

from fnmatch import fnmatch

import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn

WIDTH = 8
RECOMPUTED: list[str] = []


class Block(nn.Module):
    """A module whose regions are named below ``prefix``, and saved unless a pattern says otherwise."""

    def __init__(self, prefix=""):
        super().__init__()
        self.prefix = prefix

    @staticmethod
    def register_remat_region(name):
        return name

    def remat_region_name(self, name):
        return f"{self.prefix}.{name}" if self.prefix else name

    def remat_should_recompute(self, name):
        return any(fnmatch(self.remat_region_name(name), pattern) for pattern in RECOMPUTED)


class Proj(Block):
    """A projection that is a region: what it returns is its caller's business."""

    def __init__(self, prefix, into=WIDTH):
        super().__init__(prefix)
        self.weight = nn.Parameter(torch.linspace(-0.5, 0.5, into * WIDTH).view(into, WIDTH))

    def forward(self, x):
        return remat.region(
            self._mm, self.remat_region_name("mm"), recompute=self.remat_should_recompute("mm")
        )(x)

    def _mm(self, x):
        return F.linear(x, self.weight)


class FeedForward(Block):
    """Two projections with an activation between them; the second one is a region that is returned."""

    def __init__(self, prefix):
        super().__init__(prefix)
        self.up = Proj(f"{prefix}.up")
        self.down = Proj(f"{prefix}.down")

    def forward(self, x):
        up = self.up(x)
        remat.recompute_needs_tensor(up)
        return self.down(F.silu(up))
