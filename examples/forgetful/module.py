"""The base of all modules with regions: it knows their names and asks the policy."""

from __future__ import annotations

from torch import nn

from .config import RegionPolicy


class Module(nn.Module):
    """A module that declares regions under local names."""

    region_prefix: str = ""
    region_policy: RegionPolicy = RegionPolicy()

    def remat_region_name(self, local: str) -> str:
        """The region's name inside its block: ``qkv`` of the attention is ``attention.qkv``."""
        return f"{self.region_prefix}.{local}" if self.region_prefix else local

    def remat_should_recompute(self, local: str) -> bool:
        """Is the region run again in backward, instead of keeping its activations?"""
        return not self.region_policy.saves(self.remat_region_name(local))


def name_regions(block: nn.Module, policy: RegionPolicy, prefix: str = "") -> None:
    """Tell every module of a checkpointed block where it stands in it, and the policy."""
    for path, module in block.named_modules(prefix=prefix):
        if isinstance(module, Module):
            module.region_prefix = path
            module.region_policy = policy
