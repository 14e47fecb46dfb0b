"""Whether replay computes the values of the forward: saved tensors and the inputs of regions.

torch compares only shapes and types of what is saved (``determinism_check="default"``). The check
here is registered beside that one and compares fingerprints. What a skipped region was given never
becomes a saved tensor, so the inputs of regions are compared at their calls.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch.utils.checkpoint as torch_checkpoint
from torch import Tensor

from remat_lint.runtime_check.fingerprints import Fingerprint, fingerprint
from remat_lint.runtime_check.nested import named_tensors
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.witness import CheckpointRun, Phase, RegionCall, Witness

CHECK = "remat-check"
"""The name under which torch's registry of determinism checks has the check of values."""


@dataclass(frozen=True, slots=True)
class ReplayedOtherwise:
    """A value that replay made, and that is not the forward's.

    ``what`` is a saved tensor or an input of a region; ``region`` the region that saved or took it.
    """

    checkpoint: str
    region: str | None
    what: str

    def __str__(self) -> str:
        place = f" of region {self.region}" if self.region else ""
        return f"{self.what}{place} in checkpoint {self.checkpoint}"


class Values(Witness):
    """Compares each replay with the forward, and keeps what differs, in the order it was seen."""

    def __init__(self, observation: Observation) -> None:
        self._observation = observation
        self._inputs: dict[tuple[str, str, int], dict[str, Fingerprint]] = {}
        self._calls: Counter[str] = Counter()
        self._saved: dict[str, int] = {}
        self.found: list[ReplayedOtherwise] = []

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        self._calls.clear()

    def region_called(self, call: RegionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = {
            name: seen
            for name, tensor in named_tensors((*args, kwargs) if kwargs else args, "input")
            if (seen := fingerprint(tensor)) is not None
        }
        # Under one checkpoint of torch, several blocks may call their regions by one name.
        self._calls[call.region] += 1
        key = (call.checkpoint, call.region, self._calls[call.region])
        if call.phase is Phase.FORWARD:
            self._inputs[key] = given
            return
        before = self._inputs.get(key, {})
        for name, seen in given.items():
            if name in before and seen.difference(before[name]):
                self._note(ReplayedOtherwise(call.checkpoint, call.region, name))

    def saved(self, tensor: Tensor) -> _Value:
        """What torch compares: made once in the forward for each saved tensor, and once after replay."""
        run = self._observation.running
        if run is None:
            return _Value(self, None, fingerprint(tensor))
        number = self._saved[run.checkpoint] = self._saved.get(run.checkpoint, 0) + 1
        inside = self._observation.running_regions
        origin = ReplayedOtherwise(run.checkpoint, inside[-1] if inside else None, f"saved tensor {number}")
        return _Value(self, origin, fingerprint(tensor))

    def _note(self, found: ReplayedOtherwise) -> None:
        if found not in self.found:
            self.found.append(found)

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        checks: dict[str, Callable[[Tensor], Any]] = torch_checkpoint._allowed_determinism_checks_to_fns
        checks[CHECK] = self.saved
        self._observation.determinism_check = CHECK
        try:
            yield
        finally:
            del checks[CHECK]


class _Value:
    """A saved tensor: never unlike another one, so that torch goes on, but the difference is noted."""

    __slots__ = ("_origin", "_print", "_values")

    def __init__(self, values: Values, origin: ReplayedOtherwise | None, print_: Fingerprint | None) -> None:
        self._values = values
        self._origin = origin
        self._print = print_

    def __ne__(self, other: object) -> bool:
        assert isinstance(other, _Value)
        if self._origin and self._print and other._print and other._print.difference(self._print):
            self._values._note(self._origin)
        return False

    def __eq__(self, other: object) -> bool:
        return not self != other

    __hash__ = None  # type: ignore[assignment]
