"""A66: patterns of a policy; the later list wins, and a pattern may match nothing."""

from dataclasses import dataclass, field

from blocks import Proj
from torch import nn


@dataclass(kw_only=True)
class ActivationRematConfig:
    save_regions: list[str]
    recompute_regions: list[str] = field(default_factory=list)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = Proj("experts.up"), Proj("experts.down")

    def forward(self, x):
        return self.down(self.up(x))


policy = ActivationRematConfig(save_regions=["*"], recompute_regions=["*up.*"])
