"""What happens in a track, told to whoever wants to see it: traces, counts, bytes, times, ranks.

A witness never changes the step: it gets the very tensors that the step computes with, reads them
and lets go of them. Hooks on saved tensors are no way to look: they change what torch_remat persists.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from torch import Tensor


class Phase(Enum):
    """Which run of a checkpoint's function it is: the first one, or one that backward asked for."""

    FORWARD = "forward"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class CheckpointRun:
    """One call of a checkpoint in one phase. ``checkpoint`` is its name, numbered where that repeats."""

    checkpoint: str
    phase: Phase


@dataclass(frozen=True, slots=True)
class CheckpointCall:
    """A checkpoint is called: what it keeps until backward, whatever the policy.

    ``honours_regions`` is False for torch's own checkpoint, which replays regions like other code.
    """

    checkpoint: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    honours_regions: bool


@dataclass(frozen=True, slots=True)
class RegionCall:
    """One call of a region. ``recompute`` is what the track decided; ``inside`` the regions around it."""

    checkpoint: str
    phase: Phase
    region: str
    recompute: bool
    inside: tuple[str, ...] = ()


class Witness:
    """Is told what happens, in order; every method does nothing by default."""

    def around(self) -> AbstractContextManager[Any]:
        """A context that is open for forward and backward: a dispatch mode, say."""
        return contextlib.nullcontext()

    def checkpoint_called(self, call: CheckpointCall) -> None:
        """The step calls a checkpoint; told once, before the function begins for the first time."""

    def checkpoint_returned(self, call: CheckpointCall, output: Any) -> None:
        """Its function returned ``output`` for the first time."""

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        """The function of a checkpoint begins, for the first time or in replay."""

    def checkpoint_left(self, run: CheckpointRun) -> None:
        """It ended, with a result or an exception."""

    def region_called(self, call: RegionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A region is called, also where replay skips it; the arguments may be placeholders then."""

    def region_began(self, call: RegionCall) -> None:
        """The region's function begins: it is not skipped."""

    def region_ended(self, call: RegionCall, output: Any) -> None:
        """The region's function returned ``output``."""

    def region_returned(self, call: RegionCall, output: Any) -> None:
        """The call returned to the model, which gets ``output``: possibly placeholders."""

    def marked(self, place: tuple[str, int], tensors: tuple[Tensor, ...]) -> None:
        """``recompute_needs_tensor`` was called at this file and line, in either phase."""

    def forward_ended(self, loss: Tensor) -> None:
        """The loss is there, and backward has not begun."""

    def backward_ended(self) -> None:
        """All gradients are there."""
