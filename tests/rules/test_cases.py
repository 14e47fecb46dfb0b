"""The case files: ordinary model code that carries its expectations in comments.

``# select: RMT101,RMT102`` names the rules a file is about, ``# expect: RMT101`` a line that is
reported. Codes of rules that do not exist yet are left out on both sides.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.py"))
EXPECT = re.compile(r"#\s*expect:\s*(?P<codes>RMT\d+(?:\s*,\s*RMT\d+)*)")
SELECT = re.compile(r"^# select: (?P<codes>\S+)$", re.MULTILINE)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    source = SourceFile.read(path)
    select = SELECT.search(source.text)
    assert select is not None
    prefixes = tuple(select["codes"].split(","))
    rules = [rule for rule in all_rules() if rule.code.startswith(prefixes)]
    facts = analyse(source, Project())
    found = {
        (source.span(finding.place.node).line, finding.code)
        for rule in rules
        for finding in rule.check(facts)
    }
    built = {rule.code for rule in rules}
    expected = {
        (number, code)
        for number, line in enumerate(source.text.splitlines(), start=1)
        if (match := EXPECT.search(line))
        for code in re.split(r"\s*,\s*", match["codes"])
        if code in built
    }
    assert found == expected
