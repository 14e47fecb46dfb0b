"""Random streams put back at replay, as a correct RecomputeStateHook would do it."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

from remat_lint.runtime_check.names import NUMPY, PYTHON
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.surroundings import Undo, kept
from remat_lint.runtime_check.witness import CheckpointRun, Phase, RegionCall, Witness


class PutBack(Witness):
    """Puts one random stream back where forward had it: when a replay begins, and after each region."""

    def __init__(self, observation: Observation, stream: Callable[[], Any], name: str) -> None:
        self._observation = observation
        self._stream = stream
        self._name = name
        self._forward: dict[str, list[Undo]] = {}
        self._replayed: dict[str, int] = {}

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        self._replayed[run.checkpoint] = 0
        if run.phase is Phase.FORWARD:
            self._forward[run.checkpoint] = []
        self._point(run.checkpoint, run.phase)

    def region_returned(self, call: RegionCall, output: Any) -> None:
        if not self._observation.keeps(call.checkpoint, call.inside):
            self._point(call.checkpoint, call.phase)

    def _point(self, checkpoint: str, phase: Phase) -> None:
        undo = self._forward[checkpoint]
        if phase is Phase.FORWARD:
            undo.append(self._taken())
            return
        if self._replayed[checkpoint] < len(undo):
            undo[self._replayed[checkpoint]]()
        self._replayed[checkpoint] += 1

    def _taken(self) -> Undo:
        if self._name == PYTHON:
            state = random.getstate()
            return lambda: random.setstate(state)
        if self._name == NUMPY:
            numpy = sys.modules["numpy"]
            drawn = numpy.random.get_state()
            return lambda: numpy.random.set_state(drawn)
        return kept(self._stream()) or (lambda: None)
