"""The fixer's part of the comparison: a fixed program is silent, runs, and computes the same."""

from __future__ import annotations

from tests.differential.oracle import OK, PLACEHOLDER, WRONG, Comparison, Judgement, lint, runtime_verdicts

try:
    from remat_lint.codemods import apply
except ImportError:  # not written yet
    apply = None  # type: ignore[assignment]


def fix_failures(comparison: Comparison) -> list[str]:
    """What is wrong with the fixes of a program; nothing where they hold."""
    if apply is None or comparison.judgement is Judgement.DISCARDED:
        return []
    file, findings = lint(comparison.source)
    fixable = [finding for finding in findings if finding.fix is not None]
    if not fixable:
        return []
    fixed = apply(file, fixable).decode()
    after, left = lint(fixed)
    failures = [f"still reported: {f.message}" for f in left if f.code == "RMT101" and f.fix is not None]
    if apply(after, [finding for finding in left if finding.fix is not None]).decode() != fixed:
        failures.append("a second fix changes something")
    if len(fixable) == len(findings):
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
