"""What runs now, as one line on a terminal that each track writes anew."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.witness import Witness


class Progress:
    """Writes the name of each track that begins; nothing where the stream is no terminal.

    Call it with the observation of a track: it is no witness of it, and gives none. The line is wiped out
    at the end of the ``with`` block, so that reports stand alone.
    """

    def __init__(self, stream: TextIO, case: str) -> None:
        self._stream = stream
        self._case = case
        self._is_shown = stream.isatty()
        self._tracks = 0
        self._length = 0
        self._began_s = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._write("")

    def __call__(self, observation: Observation) -> tuple[Witness, ...]:
        """A track begins."""
        self._tracks += 1
        passed = int(time.monotonic() - self._began_s)
        self._write(f"{self._case}: run {self._tracks}, {observation.plan.name} ({passed} s)")
        return ()

    def _write(self, line: str) -> None:
        """In the place of the line before, cut to the width of the terminal."""
        if not self._is_shown:
            return
        line = line[: shutil.get_terminal_size().columns - 1]
        end = "" if line else "\r"
        self._stream.write(f"\r{line.ljust(self._length)}{end}")
        self._stream.flush()
        self._length = len(line)
