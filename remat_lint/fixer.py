"""Fixes, proved by analysing again: one that leaves its finding, or makes a new one, is never handed out.

All fixes of a file that one codemod makes are tried at once. Where that does not hold they are tried one by
one, so that one bad fix costs only itself. Writing is a step of its own: atomic, and refused where the file
changed in the meantime.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from remat_lint.errors import UserError
from remat_lint.findings import Finding, LocatedFinding
from remat_lint.linter import Failure, FileReport, Linter
from remat_lint.source import SourceFile

Apply = Callable[[SourceFile, Sequence[Finding]], bytes]


@dataclass(slots=True)
class Outcome:
    """What became of one file. ``bugs`` are fixes of ours that did not hold, a line each."""

    before: SourceFile
    after: SourceFile
    fixed: int = 0
    unfixed: int = 0
    unsafe: int = 0
    bugs: list[str] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def changed(self) -> bool:
        """Whether there is something to write."""
        return self.before.raw != self.after.raw


@dataclass(frozen=True, slots=True)
class _Attempt:
    source: SourceFile
    report: FileReport
    objection: str = ""


class Fixer:
    """Applies the fixes of one run, with the linter that judges them."""

    def __init__(self, linter: Linter, *, unsafe: bool = False, apply: Apply | None = None) -> None:
        """``apply`` makes the changes; the project's codemods where none is given."""
        self._linter = linter
        self._unsafe = unsafe
        self._apply = apply

    def fix(self, source: SourceFile) -> Outcome:
        """The file with every fix that holds."""
        return next(self.fix_all([source]))

    def fix_all(self, sources: Sequence[SourceFile]) -> Iterator[Outcome]:
        """The files of a run, in their order, each with every fix that holds beside the ones before it."""
        changed = False
        for source, report in zip(sources, self._linter.lint_all(sources), strict=True):
            if changed and report.findings:
                report = self._linter.lint_again(source)
            outcome = self._fix_one(source, report)
            changed |= outcome.changed
            yield outcome

    def _fix_one(self, source: SourceFile, report: FileReport) -> Outcome:
        outcome = Outcome(source, source, failure=report.failure)
        outcome.unsafe = sum(f.fix_kind == "unsafe" for f in report.findings) * (not self._unsafe)
        wanted = self._wanted(report)
        outcome.unfixed = len(report.findings) - len(wanted) - outcome.unsafe
        if not wanted:
            return outcome
        outcome.after = self._in_batches(source, report, outcome)
        return outcome

    def _wanted(self, report: FileReport) -> list[LocatedFinding]:
        kinds = ("safe", "unsafe") if self._unsafe else ("safe",)
        return [finding for finding in report.findings if finding.fix_kind in kinds]

    def _in_batches(self, source: SourceFile, report: FileReport, outcome: Outcome) -> SourceFile:
        """Keeps the fixes that hold, as many at once as do. A batch that does not hold is halved.

        Every round either mends a finding, makes the batch smaller or sets a finding aside, so
        there is an end.
        """
        kept, aside, size = _Attempt(source, report), 0, sys.maxsize
        attempt = kept
        while batch := _of_one_codemod(self._wanted(kept.report)[aside:])[:size]:
            attempt = self._attempt(kept.source, kept.report, batch)
            if not attempt.objection:
                kept, size = attempt, 2 * size
                outcome.fixed += len(batch)
            elif len(batch) > 1:
                size = len(batch) // 2
            else:
                aside += 1
                if attempt.objection == _NOTHING_WRITTEN:
                    outcome.unfixed += 1
                else:
                    outcome.bugs.append(_bug(batch[0], attempt.objection))
        if kept is not attempt:
            self._linter.lint_again(kept.source)  # not the text that was only tried
        return kept.source

    def _attempt(self, source: SourceFile, report: FileReport, wanted: Sequence[LocatedFinding]) -> _Attempt:
        try:
            raw = self._codemods()(source, [located.finding for located in wanted])
        except Exception as error:  # noqa: BLE001 - a broken fix must not end the run
            return _Attempt(source, report, f"it failed with {type(error).__name__}: {error}")
        if raw == source.raw:
            return _Attempt(source, report, _NOTHING_WRITTEN)
        fixed = SourceFile(source.path, raw)
        after = self._linter.lint_again(fixed)
        return _Attempt(fixed, after, _objection(report, after, len(wanted)))

    def _codemods(self) -> Apply:
        if self._apply is None:
            from remat_lint.codemods import apply

            self._apply = apply
        return self._apply


def _of_one_codemod(findings: Sequence[LocatedFinding]) -> list[LocatedFinding]:
    """Those that the first one's codemod mends: another one would find the file changed."""
    return [one for one in findings if _codemod(one) == _codemod(findings[0])]


def _codemod(located: LocatedFinding) -> str:
    fix = located.finding.fix
    return fix.codemod if fix is not None else ""


_NOTHING_WRITTEN = "nothing was written"
"""A codemod leaves out what it cannot write without losing something: no bug, the finding stays."""


def _objection(before: FileReport, after: FileReport, mended: int) -> str:
    """Why the new text is no better, empty if it is: findings are counted by code, before any selection."""
    if after.failure:
        return f"the result cannot be analysed: {after.failure.message}"
    new = [code for code, number in after.every_code.items() if number > before.every_code[code]]
    if new:
        return f"it would cause {', '.join(sorted(new))}"
    if after.every_code.total() > before.every_code.total() - mended:
        return "the finding would still be there"
    return ""


def _bug(located: LocatedFinding, objection: str) -> str:
    where = located.location
    return (
        f"bug in the fix of {located.code} at {where.path}:{where.line}:{where.column}:"
        f" {objection}; not applied, please report"
    )


def write(outcome: Outcome) -> None:
    """Replaces the file in one step, keeping its mode.

    Raises ``UserError`` where it changed since it was read, or cannot be written.
    """
    target = Path(os.path.realpath(outcome.before.path))
    try:
        if target.read_bytes() != outcome.before.raw:
            raise UserError(
                f"{outcome.before.path}: changed while it was being fixed; left as it is, run again"
            )
        if not os.access(target, os.W_OK) or not target.stat().st_mode & 0o222:
            raise UserError(f"{outcome.before.path}: is read-only; left as it is")
        _replace(target, outcome.after.raw)
    except OSError as error:
        raise UserError(f"{outcome.before.path}: cannot be written: {error.strerror or error}") from error


def _replace(target: Path, raw: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(raw)
        shutil.copymode(target, name)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
