"""Which line of the user's code writes to an attribute, a global or a buffer while a checkpoint replays."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from remat_lint.runtime_check.diagnosis import Place, place_in
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.users_code import is_user_code
from remat_lint.runtime_check.witness import CheckpointCall, CheckpointRun, Phase, Witness

Reader = Callable[[], Any]
"""Gives what is watched as something that can be compared: text."""


@dataclass(frozen=True, slots=True)
class Write:
    """A line that changed something, in a replay of ``checkpoint`` and inside ``region``.

    ``is_torchs`` says that it is torch's own checkpoint, which ``remat.is_recomputing()`` knows nothing of.
    """

    what: str
    place: Place
    checkpoint: str
    region: str | None
    is_torchs: bool


class LineWatch(Witness):
    """Looks, after each line of the user's code in a replay, whether something watched has changed."""

    def __init__(self, observation: Observation, readers: Callable[[], Mapping[str, Reader]]) -> None:
        self._observation = observation
        self._make_readers = readers
        self._readers: Mapping[str, Reader] = {}
        self._values: dict[str, Any] = {}
        self._last: tuple[CodeType, int] | None = None
        self._before: Any = None
        self._torchs = set[str]()
        self.writes: list[Write] = []

    def checkpoint_called(self, call: CheckpointCall) -> None:
        if not call.honours_regions:
            self._torchs.add(call.checkpoint)

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        before = sys.gettrace()
        try:
            yield
        finally:
            sys.settrace(before)

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        if run.phase is Phase.REPLAY:
            self._readers = self._readers or self._make_readers()
            self._values = {what: read() for what, read in self._readers.items()}
            self._last = None
            self._before = sys.gettrace()
            sys.settrace(self._traced)

    def checkpoint_left(self, run: CheckpointRun) -> None:
        if run.phase is Phase.REPLAY:
            sys.settrace(self._before)
            self._look()

    def _traced(self, frame: FrameType, event: str, _: Any) -> Any:
        if not is_user_code(frame.f_code.co_filename):
            return None
        self._look()
        if event == "return":
            # The caller's line goes on, and may be the one that keeps what it got.
            caller = frame.f_back
            if caller is not None and is_user_code(caller.f_code.co_filename):
                self._last = caller.f_code, caller.f_lineno
        else:
            self._last = frame.f_code, frame.f_lineno
        return self._traced

    def _look(self) -> None:
        for what, read in self._readers.items():
            value = read()
            if value == self._values[what]:
                continue
            self._values[what] = value
            run = self._observation.running
            if self._last is not None and run is not None:
                inside = self._observation.running_regions
                region = inside[-1] if inside else None
                place = place_in(*self._last)
                self.writes.append(Write(what, place, run.checkpoint, region, run.checkpoint in self._torchs))
