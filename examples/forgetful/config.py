"""What the model looks like, and which regions keep their activations."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True, kw_only=True)
class RegionPolicy:
    """Glob patterns over region names inside a block, such as ``attention.*`` or ``feed_forward.w13``.

    A region is saved where a pattern of ``save_regions`` matches its name and none of
    ``recompute_regions`` does.
    """

    save_regions: tuple[str, ...] = ()
    recompute_regions: tuple[str, ...] = ()

    def saves(self, region: str) -> bool:
        """Does the region keep its activations?"""
        wanted = any(fnmatchcase(region, pattern) for pattern in self.save_regions)
        refused = any(fnmatchcase(region, pattern) for pattern in self.recompute_regions)
        return wanted and not refused


@dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes of the model. ``softcap`` bounds the logits; None leaves them as they are."""

    vocabulary: int = 64
    dim: int = 32
    hidden_dim: int = 64
    heads: int = 4
    layers: int = 2
    adapter_rank: int = 4
    max_length: int = 64
    softcap: float | None = 30.0
    regions: RegionPolicy = field(default_factory=RegionPolicy)

    @property
    def head_dim(self) -> int:
        """Channels of one attention head."""
        return self.dim // self.heads
