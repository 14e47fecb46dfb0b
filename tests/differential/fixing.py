"""The fixer's part of the comparison: a fixed program is silent, runs, and computes the same."""

from __future__ import annotations

from remat_lint.codemods import apply
from remat_lint.source import SourceFile
from tests.differential.oracle import (
    OK,
    PATH,
    PLACEHOLDER,
    WRONG,
    Comparison,
    Judgement,
    lint,
    runtime_verdicts,
)


def fix_failures(comparison: Comparison) -> list[str]:
    """What is wrong with the fixes of a program; nothing where they hold."""
    if comparison.judgement is Judgement.DISCARDED:
        return []
    fixable = [finding for finding in comparison.findings if finding.fix is not None]
    if not fixable:
        return []
    fixed = apply(comparison.file, fixable).decode()
    after = SourceFile(PATH, fixed.encode())
    left = [finding for finding in lint(after) if finding.fix is not None]
    failures = [f"still reported: {f.message}" for f in left if f.code == "RMT101"]
    if left and apply(after, left).decode() != fixed:
        failures.append("a second fix changes something")
    if len(fixable) == len(comparison.findings):
        failures += _run_failures(comparison, fixed)
    return [f"{failure}\n{fixed}" for failure in failures]


def _run_failures(comparison: Comparison, fixed: str) -> list[str]:
    verdicts = runtime_verdicts(fixed, set())
    if not verdicts:
        return ["the fixed program does not run"]
    before = {verdict for verdict, _ in comparison.verdicts.values()}
    if not before <= {OK, PLACEHOLDER}:
        return []
    return [
        f"fixed, it still ends in {verdict}: {why}"
        for verdict, why in verdicts.values()
        if verdict in (PLACEHOLDER, WRONG) or verdict != OK
    ]
