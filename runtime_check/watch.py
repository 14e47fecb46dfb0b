"""``remat_watch``: the checks that need no second run, around a training step as it is.

with remat_watch(model) as watch:
    loss = model(batch)
    loss.backward()
watch.raise_if_broken()
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch_remat
from torch import nn

from remat_lint.runtime_check.built_before import wrappers_reached
from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders
from remat_lint.runtime_check.plan import regions
from remat_lint.runtime_check.policy import AS_CONFIGURED
from remat_lint.runtime_check.regions import Observation, RegionCount, Tap
from remat_lint.runtime_check.replays import ModuleState, Order, Streams
from remat_lint.runtime_check.tracks import trace_names
from remat_lint.runtime_check.values import Values


class WatchFailed(AssertionError):
    """Replay did otherwise than forward, or there was nothing to see; a line for each finding."""


class Watch:
    """What was seen of the steps in a ``with remat_watch(model)`` block, so far.

    It says nothing of outputs and gradients: for those, a second run without checkpoints is needed, which
    is what ``check`` does. A checkpoint that is called again, as in the next step, gets a number after its
    name.
    """

    def __init__(self, model: nn.Module, observation: Observation, trace: Any) -> None:
        self._observation = observation
        self._trace = trace
        self._order = Order()
        self._values = Values(observation)
        self._streams = Streams()
        self._state = ModuleState(model)
        observation.witnesses = (self._order, self._values, self._streams, self._state)

    @property
    def counts(self) -> tuple[RegionCount, ...]:
        """How often each region ran, in forward and in replay, in the order of first use."""
        return self._observation.counts

    @property
    def regions(self) -> Mapping[str, tuple[str, ...]]:
        """The regions that forward called, by checkpoint, in order; those inside a saved one left out."""
        return {checkpoint: tuple(names) for checkpoint, names in self._order.forward.items()}

    @property
    def findings(self) -> tuple[str, ...]:
        """What replay did otherwise than forward, a sentence each."""
        values = [f"replay computes another {one}" for one in self._values.found]
        found = (*self._order.found, *self._observation.miscounted, *values)
        return tuple(dict.fromkeys((*found, *self._streams.found, *self._state.found)))

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What could not be looked at, a sentence each: then no findings are no pass."""
        replays = self._observation.replays
        missed = [
            name
            for name in dict.fromkeys(trace_names(self._trace.entries))
            if name not in self._observation.regions
        ]
        sentences = []
        if missed:
            sentences.append(
                f"built before the block and out of reach: {', '.join(missed)};"
                " build the module inside of the block, or call remat.region in forward"
            )
        if not replays:
            sentences.append(
                "no checkpoint was called in the block; those inside of torch.compile are not seen"
            )
        elif not any(replays.values()):
            sentences.append(
                "no checkpoint was replayed: call backward in the block, and save not every region"
            )
        return tuple(sentences)

    def raise_if_broken(self) -> None:
        """Fail where replay did otherwise than forward, or where that could not be seen.

        Raises:
            WatchFailed: an ``AssertionError`` with a line for each finding.
        """
        if self.findings:
            raise WatchFailed("\n".join(("replay is not forward again:", *self.findings)))
        if self.unchecked:
            raise WatchFailed("\n".join(("not everything was checked:", *self.unchecked)))


@contextlib.contextmanager
def remat_watch(model: nn.Module) -> Iterator[Watch]:
    """Watch a training step: forward and backward inside of the block, as they are.

    Confirms, for each checkpoint: replay calls the regions of forward in the same order and as often as
    their flags say; saved tensors and inputs of regions have the same bits; random numbers are those of
    forward; attributes, buffers and parameters of ``model`` are not changed by replay. Regions and
    checkpoints that were wrapped before the block are reached, too. On a torch build without placeholders,
    stand-ins are in place for as long as the block is open.

    Checkpoints inside of ``torch.compile`` are not seen.
    """
    tap = Tap()
    observation = Observation(regions(AS_CONFIGURED), overrides_flags=False)
    with contextlib.ExitStack() as stack:
        if not torch_has_placeholders():
            stack.enter_context(stand_ins_installed())
        trace = stack.enter_context(torch_remat.collect_trace())
        watch = Watch(model, observation, trace)
        stack.enter_context(wrappers_reached())
        stack.enter_context(tap.open())
        stack.enter_context(tap.observing(observation))
        for witness in observation.witnesses:
            stack.enter_context(witness.around())
        yield watch
