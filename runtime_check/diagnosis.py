"""From an exception in a track to the line of the user's code that has to change."""

from __future__ import annotations

import contextlib
import linecache
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, TracebackType

from remat_lint.runtime_check.errors import in_one_line
from remat_lint.runtime_check.regions import SeenRegion
from remat_lint.runtime_check.users_code import is_user_code

_PLACEHOLDER = re.compile(
    r"(?P<source>\S.*) is a placeholder for the output of remat\.region '(?P<region>.+?)' \(recompute=False\)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's code."""

    path: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def text(self) -> str:
        """The source line itself, stripped."""
        return linecache.getline(self.path, self.line).strip()


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception in a track: in which ``phase``, what it says, where in the user's code.

    Where it is the read of a placeholder, ``region`` is the region whose output was read,
    ``place`` the line that reads, and ``consumer`` the line that the marker goes before: where the
    function that called the region hands the output to another one, its line, else ``place``.
    """

    phase: str
    message: str
    place: Place | None
    region: str | None = None
    checkpoint: str | None = None
    output: str | None = None
    consumer: Place | None = None
    traceback: str = field(default="", compare=False, repr=False)

    @property
    def headline(self) -> str:
        """What goes into the table."""
        return f"raises in {self.phase}"

    def __str__(self) -> str:
        if self.region is None:
            return f"{self.place}: {self.message}" if self.place else self.message
        what = f"output {self.output} of region" if self.output else "the output of region"
        inside = f" of checkpoint {self.checkpoint}" if self.checkpoint else ""
        inner = f" (in {self.place})" if self.place and self.place != self.consumer else ""
        return (
            f"{self.consumer or 'Code outside the model'} reads {what} {self.region}{inside}{inner},"
            " which has no data in replay"
        )

    @property
    def remedy(self) -> str | None:
        """What to write, where a marker is missing."""
        if self.region is None:
            return None
        line = f" before line {self.consumer.line}" if self.consumer else " before the read"
        return f"write remat.recompute_needs_tensor(...) with that output{line}"


def diagnosed(error: BaseException, phase: str, regions: Mapping[str, SeenRegion]) -> Raised:
    """Say where the exception comes from, and for the read of a placeholder also what to write."""
    frames = _user_frames(error.__traceback__)
    place = _place(frames[-1]) if frames else None
    text = "".join(traceback.format_exception(error))
    match = _PLACEHOLDER.search(str(error))
    if match is None:
        return Raised(phase, in_one_line(error), place, traceback=text)
    checkpoint, _, region = match["region"].rpartition("::")
    callers: set[CodeType] = regions[region].callers if region in regions else set()
    consumer = next((frame for frame in reversed(frames) if frame.tb_frame.f_code in callers), None)
    return Raised(
        phase,
        in_one_line(error),
        place,
        region=region,
        checkpoint=checkpoint or None,
        output=_output_name(match["source"], match["region"]),
        consumer=_place(consumer) if consumer else place,
        traceback=text,
    )


def _output_name(source: str, region: str) -> str | None:
    """Which output of a region with several: an index, or a field name."""
    name = source.removeprefix(f"{region}.")
    return None if name in ("out", source) else name


def _user_frames(step: TracebackType | None) -> list[TracebackType]:
    frames = []
    while step is not None:
        if is_user_code(step.tb_frame.f_code.co_filename):
            frames.append(step)
        step = step.tb_next
    return frames


def _place(frame: TracebackType) -> Place:
    return place_in(frame.tb_frame.f_code, frame.tb_lineno)


def place_in(code: CodeType, line: int) -> Place:
    """A line of running code, its file named from the current folder where it lies below it."""
    path = Path(code.co_filename)
    with contextlib.suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return Place(str(path), line, code.co_name)
