"""What replay does otherwise than forward, as far as that shows in the step itself, without a second run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from torch import Tensor, nn
from torch.utils.checkpoint import _StopRecomputationError

from remat_lint.runtime_check.described import attributes, described, is_stream, leaves, random_states
from remat_lint.runtime_check.fingerprints import Fingerprint, fingerprint
from remat_lint.runtime_check.witness import CheckpointRun, Phase, RegionCall, Witness


class Order(Witness):
    """The regions of each checkpoint, in the order of their calls; replay has to call the same."""

    def __init__(self) -> None:
        self.forward: dict[str, list[str]] = {}
        self.found: list[str] = []
        self._kept: dict[str, set[str]] = {}
        self._replay: list[str] = []

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        self._replay = []
        if run.phase is Phase.FORWARD:
            self.forward[run.checkpoint] = []
            self._kept[run.checkpoint] = set()

    def region_called(self, call: RegionCall, args: object, kwargs: object) -> None:
        kept = self._kept[call.checkpoint]
        if kept.intersection(call.inside):
            return  # replay skips what is inside a saved region
        if call.phase is Phase.REPLAY:
            self._replay.append(call.region)
            return
        self.forward[call.checkpoint].append(call.region)
        if not call.recompute:
            kept.add(call.region)

    def checkpoint_left(self, run: CheckpointRun) -> None:
        if run.phase is Phase.FORWARD:
            return
        expected = self.forward[run.checkpoint]
        if _stops_early():
            expected = expected[: len(self._replay)]
        if self._replay != expected:
            self.found.append(f"replay of {run.checkpoint} {_parting(expected, self._replay)}")


def _parting(expected: list[str], actual: list[str]) -> str:
    for before, after in zip(expected, actual, strict=False):
        if before != after:
            return f"calls region {after} where forward called {before}"
    if len(actual) < len(expected):
        return f"does not call region {expected[len(actual)]}, which forward called"
    return f"calls region {actual[len(expected)]}, which forward did not call there"


class Streams(Witness):
    """Random numbers: what replay draws has to be what forward drew."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._forward: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {}
        self._entered: Mapping[str, str] = {}

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        self._entered = dict(random_states())

    def checkpoint_left(self, run: CheckpointRun) -> None:
        left = dict(random_states())
        if run.phase is Phase.FORWARD:
            self._forward[run.checkpoint] = self._entered, left
            return
        began_at, ended_at = self._forward[run.checkpoint]
        for stream, state in left.items():
            before = self._entered.get(stream)
            moves_as_forward = before == began_at.get(stream) and (
                _stops_early() or state == ended_at.get(stream)
            )
            if state != before and not moves_as_forward:
                self.found.append(
                    f"replay of {run.checkpoint} draws other numbers than forward: {stream} is consumed"
                    " again and was not restored"
                )


class ModuleState(Witness):
    """Attributes, buffers and parameters of a module: replay must leave them as it finds them."""

    def __init__(self, module: nn.Module) -> None:
        self.found: list[str] = []
        self._module = module
        self._prints: dict[str, tuple[Tensor, int | None, Fingerprint | None]] = {}
        self._entered: Mapping[str, str] = {}

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        if run.phase is Phase.REPLAY:
            self._entered = dict(self._described())

    def checkpoint_left(self, run: CheckpointRun) -> None:
        if run.phase is Phase.FORWARD:
            return
        left = dict(self._described())
        for what in dict.fromkeys((*self._entered, *left)):
            before, after = self._entered.get(what), left.get(what)
            if before != after:
                self.found.append(f"replay of {run.checkpoint} changes {what}{_values(before, after)}")

    def _described(self) -> Iterator[tuple[str, str]]:
        for name, value in attributes(self._module):
            # Whether a stream is where it was is only known once the hooks of the checkpoint have run.
            streams = {path for path, leaf in leaves(value, name) if is_stream(leaf)}
            yield from (one for one in described(value, name) if one[0] not in streams)
        for name, buffer in self._module.named_buffers():
            yield f"buffer {name}", str(self._print(name, buffer))
        for name, parameter in self._module.named_parameters():
            yield f"parameter {name}", str((id(parameter), _version(parameter)))

    def _print(self, name: str, buffer: Tensor) -> Fingerprint | None:
        """Computed anew only where the buffer was written to."""
        known, version = self._prints.get(name), _version(buffer)
        if known is not None and known[0] is buffer and version is not None and known[1] == version:
            return known[2]
        print_ = fingerprint(buffer)
        self._prints[name] = buffer, version, print_
        return print_


def _version(tensor: Tensor) -> int | None:
    """How often the tensor was changed in place; None for an inference tensor, which does not count."""
    return None if tensor.is_inference() else tensor._version


def _values(before: str | None, after: str | None) -> str:
    if before is None or after is None or max(len(before), len(after)) > 40:
        return ""
    return f" from {before} to {after}"


def _stops_early() -> bool:
    """Is a checkpoint's function being left because torch has all that was saved?"""
    return isinstance(sys.exc_info()[1], _StopRecomputationError)
