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
        self._project = Project([config.root, *config.src], config.wrappers)
        self._sources: dict[str, SourceFile] = {}
        self._facts: dict[str, ModuleFacts] = {}

    def lint(self, source: SourceFile) -> FileReport:
        """The report of a file, whatever its bytes are."""
        return self.lint_all([source])[0]

    def lint_all(self, sources: Iterable[SourceFile]) -> list[FileReport]:
        """The reports of the files of a run, in their order: what one of them replays may lie in another."""
        run = [(source, FileReport(source.path)) for source in sources]
        self._sources = {source.path: source for source, _ in run}
        self._facts = {}
        for source, _ in run:
            self._project.add(source)
        for source, report in run:
            self._learn(source, report)
        for source, report in run:
            if not report.relevant and source.path in self._project.unparsed:  # another file imports it
                report.take(self._the_pipeline().unreadable(source, self._project.unparsed[source.path]))
        self._judge_all(run, list(self._facts.values()))
        return [report for _, report in run]

    def lint_again(self, source: SourceFile) -> FileReport:
        """The report of a file of the last run with other content; the other files stay as they are."""
        self._project.add(source)
        self._sources[source.path] = source
        from remat_lint.gathering import tells_of

        tellers = [
            path
            for path, facts in self._facts.items()
            if path != source.path and tells_of(facts, source.path)
        ]
        report = FileReport(source.path)
        self._learn(source, report)
        for path in tellers:
            self._learn(self._sources[path], FileReport(path))
        known = [self._facts[path] for path in (source.path, *tellers) if path in self._facts]
        self._judge_all([(source, report)], known)
        return report

    def _learn(self, source: SourceFile, report: FileReport) -> None:
        facts = self._analyse(source, report)
        if facts is not None:
            self._facts[source.path] = facts
        else:
            self._facts.pop(source.path, None)

    def _analyse(self, source: SourceFile, report: FileReport) -> ModuleFacts | None:
        """The facts of a file; None where nothing in it matters, or it cannot be analysed."""
        report.relevant = self._project.may_checkpoint(source) or (source.given and not source.compiles())
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
        if not facts:
            return
        from remat_lint.gathering import gather

        gathered = gather(facts, self._sources)
        for source, report in run:
            if source.path in gathered and report.failure is None:
                try:
                    report.take(self._the_pipeline().judge(source, gathered[source.path], self._project))
                except Exception as error:  # noqa: BLE001 - as above
                    report.failure = internal_failure(error)

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
