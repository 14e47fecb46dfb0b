"""Lint, fix, and what both leave behind."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from remat_lint.analysis import analyse
from remat_lint.codemods import apply
from remat_lint.findings import Finding
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

Findings = Callable[..., list[Finding]]
Fix = Callable[..., bytes]


@pytest.fixture(scope="session")
def findings() -> Findings:
    """The findings of one rule in a program."""

    def found(raw: bytes, code: str = "RMT101") -> list[Finding]:
        facts = analyse(SourceFile("model.py", raw), Project())
        return [finding for rule in all_rules() if rule.code == code for finding in rule.check(facts)]

    return found


@pytest.fixture(scope="session")
def fix(findings: Findings) -> Fix:
    """The fixed program, after the checks that hold for every fix."""

    def fixed(raw: bytes, code: str = "RMT101") -> bytes:
        before = findings(raw, code)
        after = apply(SourceFile("model.py", raw), before)
        ast.parse(after)
        left = findings(after, code)
        assert [finding for finding in left if finding.fix is not None] == []
        assert len(left) == sum(finding.fix is None for finding in before)
        assert apply(SourceFile("model.py", after), left) == after
        return after

    return fixed
