"""One file in, its report out. Nothing here prints or ends the process.

What goes wrong inside the tool itself becomes a ``Failure`` of that file, and the other files go on. The
parts that need LibCST are imported for the first file that has a relevant word.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from remat_lint.project import Project
from remat_lint.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remat_lint.analysis.facts import ModuleFacts
    from remat_lint.config import Config
    from remat_lint.findings import LocatedFinding
    from remat_lint.pipeline import Findings, Pipeline
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

    def take(self, found: Findings) -> None:
        """What the rules say of the file."""
        self.findings, self.suppressed = found.findings, found.suppressed
        self.given_up, self.every_code = found.given_up, found.every_code
        self.warnings = found.warnings


class Linter:
    """Lints the files of one run under one configuration."""

    def __init__(self, config: Config) -> None:
        """Nothing is read or imported yet."""
        self._config = config
        self._pipeline: Pipeline | None = None
        self._project = self._new_project()

    def lint(self, source: SourceFile) -> FileReport:
        """The report of a file, whatever its bytes are."""
        return self.lint_all([source])[0]

    def lint_all(self, sources: Iterable[SourceFile]) -> list[FileReport]:
        """The reports of the files of a run, in their order: what one of them replays may lie in another."""
        run = [(source, FileReport(source.path)) for source in sources]
        for source, _ in run:
            self._project.add(source)
        facts = [known for source, report in run if (known := self._analyse(source, report)) is not None]
        if facts:
            self._judge_all(run, facts)
        return [report for _, report in run]

    def _analyse(self, source: SourceFile, report: FileReport) -> ModuleFacts | None:
        """The facts of a file; None where nothing in it matters, or it cannot be analysed."""
        report.relevant = self._project.reaches_remat(source) or (source.given and not source.compiles())
        if not report.relevant:
            return None
        try:
            return self._the_pipeline().analyse(source, self._project)
        except SourceError as error:
            report.take(self._the_pipeline().unreadable(source, error))
        except Exception as error:  # noqa: BLE001 - the last resort: one file must not end the run
            report.failure = internal_failure(error)
        return None

    def _judge_all(self, run: list[tuple[SourceFile, FileReport]], facts: list[ModuleFacts]) -> None:
        from remat_lint.gathering import gather

        gathered = gather(facts, [source.path for source, _ in run])
        for source, report in run:
            if source.path in gathered and report.failure is None:
                try:
                    report.take(self._the_pipeline().judge(source, gathered[source.path], self._project))
                except Exception as error:  # noqa: BLE001 - as above
                    report.failure = internal_failure(error)

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
