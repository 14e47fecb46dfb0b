"""Every rule's examples say what they say: the linter reports those lines, torch_remat does that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.findings import Finding
from remat_lint.gathering import gather
from remat_lint.project import Project
from remat_lint.rule import Example, Rule
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile
from tests.wrong_gradients import outcome


def examples() -> Iterator[Any]:
    for rule in all_rules():
        for kind, group in (("fails", rule.fails), ("passes", rule.passes)):
            for index, example in enumerate(group):
                yield pytest.param(rule, example, id=f"{rule.code}-{kind}-{index}")


def findings(rule: Rule, source: SourceFile) -> list[Finding]:
    facts = gather([analyse(source, Project())], [source.path])[source.path]
    return list(rule.check(facts))


def reported_lines(rule: Rule, code: str) -> list[int]:
    source = SourceFile("example.py", code.encode())
    return sorted({source.span(finding.place.node).line for finding in findings(rule, source)})


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_says_whether_its_fixes_are_safe(rule: Rule) -> None:
    sources = [SourceFile("example.py", example.code.encode()) for example in rule.fails]
    fixes = [finding.fix for source in sources for finding in findings(rule, source)]
    kinds = {"safe" if fix.safe else "unsafe" for fix in fixes if fix is not None}
    assert kinds <= set((rule.fix or "").split(" or ")), "what is made is said"
    assert bool(kinds) == (rule.fix is not None), "what is said is made"


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_the_linter_reports_the_lines_of_the_example(rule: Rule, example: Example) -> None:
    assert reported_lines(rule, example.code) == list(example.at)


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_no_other_rule_reports_an_example_that_passes(rule: Rule, example: Example) -> None:
    if not example.at:
        assert [other.code for other in all_rules() if reported_lines(other, example.code)] == []


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_torch_remat_does_what_the_example_says(rule: Rule, example: Example, tmp_path: Path) -> None:
    pytest.importorskip("torch_remat")

    path = tmp_path / "example.py"
    path.write_text(example.code)
    said = outcome(path)
    assert example.runtime in said, f"{rule.code}: {said}"
