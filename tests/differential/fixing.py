"""The fixer's part of the comparison: a fixed program is silent, runs, and computes the same."""

from __future__ import annotations

import re

from remat_lint.codemods import apply
from remat_lint.source import SourceFile
from tests.differential.oracle import (
    OK,
    PATH,
    PLACEHOLDER,
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
        if verdict != OK and not _is_its_own(why, comparison, fixed)
    ]


def _is_its_own(why: str, comparison: Comparison, fixed: str) -> bool:
    """Whether what ends the program is a name that it never bound, and that no marker uses."""
    unbound = re.search(r"(?:NameError|UnboundLocalError).*'(\w+)'", why)
    before = comparison.file.text.splitlines()
    written = (line for line in fixed.splitlines() if line not in before)
    return unbound is not None and not any(unbound[1] in line for line in written)
