"""One file in, its report out. Nothing here prints or ends the process.

What goes wrong inside the tool itself becomes a ``Failure`` of that file, and the other files go on. The
parts that need LibCST are imported for the first file that has a relevant word.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from remat_lint.project import Project

if TYPE_CHECKING:
    from remat_lint.config import Config
    from remat_lint.findings import LocatedFinding
    from remat_lint.pipeline import Pipeline
    from remat_lint.source import SourceFile


class Failure(NamedTuple):
    """Why a file could not be linted; ``ours`` where the tool is to blame, ``detail`` its traceback."""

    message: str
    ours: bool = True
    detail: str = ""


@dataclass
class FileReport:
    """What is known of one file after its run. ``every_code`` counts findings before any selection."""

    path: str
    relevant: bool = False
    findings: list[LocatedFinding] = field(default_factory=list)
    suppressed: int = 0
    given_up: Counter[str] = field(default_factory=Counter)
    every_code: Counter[str] = field(default_factory=Counter)
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None


class Linter:
    """Lints the files of one run under one configuration."""

    def __init__(self, config: Config) -> None:
        """Nothing is read or imported yet."""
        self._config = config
        self._pipeline: Pipeline | None = None
        self._project = self._new_project()

    def lint(self, source: SourceFile) -> FileReport:
        """The report of a file, whatever its bytes are."""
        self._project.add(source)
        relevant = self._project.reaches_remat(source) or (source.given and not source.compiles())
        report = FileReport(source.path, relevant=relevant)
        if not report.relevant:
            return report
        try:
            found = self._the_pipeline().run(source, self._project)
        except Exception as error:  # noqa: BLE001 - the last resort: one file must not end the run
            report.failure = internal_failure(error)
            return report
        report.findings, report.suppressed, report.given_up = found.findings, found.suppressed, found.given_up
        report.every_code, report.warnings = found.every_code, found.warnings
        return report

    def forget_sources(self) -> None:
        """Drops what is known of the project's files: to be called when one was or will be rewritten."""
        self._project = self._new_project()

    def _new_project(self) -> Project:
        return Project([self._config.root, *self._config.src], self._config.wrappers)

    def _the_pipeline(self) -> Pipeline:
        if self._pipeline is None:
            from remat_lint.pipeline import Pipeline

            self._pipeline = Pipeline(self._config)
        return self._pipeline


def internal_failure(error: Exception) -> Failure:
    """What a file's report says where the tool itself failed."""
    import traceback

    first_line = (str(error).splitlines() or [""])[0]
    name = type(error).__name__
    return Failure(f"{name}: {first_line}" if first_line else name, detail=traceback.format_exc())
