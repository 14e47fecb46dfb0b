"""The files that ``remat-check`` writes of its records: ``--json``, ``--junit``, ``--html``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from remat_lint.runtime_check import html, junit
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.record import Record, as_json


@dataclass(frozen=True)
class Files:
    """Where to write what; None for what is not wanted."""

    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None

    def require_places(self) -> None:
        """Look before the check runs whether there are folders to write to.

        Raises:
            UsageError: where there are none.
        """
        files = [file.absolute() for _, file, _ in self._wanted()]
        if len(set(files)) < len(files):
            raise UsageError("--json, --junit and --html name one file twice")
        for option, file, _ in self._wanted():
            if file.is_dir():
                raise UsageError(f"{option} {file} cannot be written: it is a folder")
            if not file.absolute().parent.is_dir():
                raise UsageError(f"{option} {file} cannot be written: there is no folder {file.parent}")

    def write(self, records: Sequence[Record]) -> None:
        """Write the records of all targets; as JSON, one of them is an object, and several are a list.

        Raises:
            UsageError: where a file cannot be written.
        """
        for option, file, rendered in self._wanted():
            try:
                file.write_text(rendered(records), encoding="utf-8")
            except OSError as error:
                raise UsageError(f"{option} {file} cannot be written: {error.strerror}") from error

    def _wanted(self) -> list[tuple[str, Path, Callable[[Sequence[Record]], str]]]:
        every = (
            ("--json", self.json, _json),
            ("--junit", self.junit, junit.rendered),
            ("--html", self.html, html.page),
        )
        return [(option, file, rendered) for option, file, rendered in every if file is not None]


def _json(records: Sequence[Record]) -> str:
    return as_json(records[0] if len(records) == 1 else records)
