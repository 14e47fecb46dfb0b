"""From node indices to lines and columns, for the files that have findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from remat_lint.discovery import shown
from remat_lint.findings import Finding, LocatedFinding, Location, Place, Related, Step
from remat_lint.project import Project
from remat_lint.source import SourceError, SourceFile


class Locator:
    """Turns node indices into lines and columns. Other files are read only if a finding points there."""

    def __init__(self, source: SourceFile, project: Project) -> None:
        """``source`` is the file that was analysed."""
        self._project = project
        self._sources = {source.path: source}
        self._lines: dict[str, list[str]] = {}

    def locate(self, findings: Iterable[Finding]) -> Iterator[LocatedFinding]:
        """Each finding with its place and the places that explain it."""
        for finding in findings:
            where, line = self._location(finding.place)
            yield LocatedFinding(
                finding, where, line, self._related(finding.related), self._related(finding.chain)
            )

    def location(self, place: Place) -> Location:
        """One place as people count."""
        return self._location(place)[0]

    def _related(self, steps: Iterable[Step]) -> tuple[Related, ...]:
        return tuple(self._step(step) for step in steps)

    def _step(self, step: Step) -> Related:
        where, line = self._location(step.place)
        note = step.note.replace("{here}", _in_brackets(where))
        if step.there is not None:
            note = note.replace("{there}", _in_brackets(self._location(step.there)[0]))
        return Related(where, note, line)

    def _location(self, place: Place) -> tuple[Location, str]:
        source = self._sources.get(place.path)
        if source is None:
            known = self._project.known(place.path)
            source = self._sources[place.path] = known or SourceFile.read(place.path)
        span = source.span(place.node)
        where = Location(shown(Path(place.path)), span.line, span.column, span.end_line, span.end_column)
        return where, self._line(source, span.line)

    def _line(self, source: SourceFile, number: int) -> str:
        if source.path not in self._lines:
            self._lines[source.path] = lines_of(source)
        return line_at(self._lines[source.path], number)


def _in_brackets(where: Location) -> str:
    return f"({PurePath(where.path).name}:{where.line})"


def lines_of(source: SourceFile) -> list[str]:
    """The lines as Python counts them, without their ends; none where the file cannot be decoded."""
    try:
        return re.split(r"\r\n|\r|\n", source.text)
    except SourceError:
        return []


def line_at(lines: Sequence[str], number: int) -> str:
    """A line by its number from 1, empty where there is none."""
    return lines[number - 1] if 0 < number <= len(lines) else ""
