"""How one track checkpoints: not at all, as torch does, or by region under a policy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from remat_lint.runtime_check.policy import Policy


class Checkpointing(Enum):
    """What stands in the place of every checkpoint of the step."""

    PLAIN = "plain"
    """Nothing: the functions are called as they are, and keep all that backward needs."""
    BLOCK = "block"
    """``torch.utils.checkpoint``, non-reentrant, with its random state preserved."""
    SELECTIVE = "selective"
    """The same, but what matrix products and attention compute is kept."""
    REGIONS = "regions"
    """The checkpoints as they are written, with torch_remat's regions under a policy."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One track's way to run the step.

    ``policy`` decides the regions under ``REGIONS``. ``segment`` is how many successive blocks of the
    layers container share one checkpoint under ``BLOCK``; 1 leaves the checkpoints where they are.
    ``silenced`` are the markers that do nothing, each by the file and line of its call.
    """

    name: str
    checkpointing: Checkpointing
    policy: Policy | None = None
    segment: int = 1
    silenced: frozenset[tuple[str, int]] = frozenset()


PLAIN = Plan("plain", Checkpointing.PLAIN)
BLOCK = Plan("block checkpoint", Checkpointing.BLOCK)
SELECTIVE = Plan("selective checkpoint", Checkpointing.SELECTIVE)


def segments(length: int) -> Plan:
    """Segments of ``length`` blocks, each one checkpoint; the last one may be shorter."""
    return Plan(f"segments of {length}", Checkpointing.BLOCK, segment=length)


def regions(policy: Policy) -> Plan:
    """torch_remat under a policy."""
    return Plan(policy.name, Checkpointing.REGIONS, policy)
