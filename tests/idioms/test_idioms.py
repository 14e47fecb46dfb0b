"""The idioms of model code: small programs, each with what the linter, the fixer and torch_remat say of it.

``# expect: RMT101`` stands on a line that is reported, and no other line is; codes of rules that do not
exist yet are left out. ``# insert: ...`` behind it gives the lines that the fix writes in front, separated by
``;``. A ``def body_*(x)`` runs under one checkpoint, a ``def run_*(x)`` makes its own; the docstring says how
that ends.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from remat_lint.config import Config
from remat_lint.fixer import Fixer, Outcome
from remat_lint.linter import Linter
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(FOLDER.glob("a*.py"))
OPTED_IN = ("RMT209",)
EXPECT = re.compile(r"#\s*expect:\s*(?P<codes>RMT\d+(?:\s*,\s*RMT\d+)*)(?:\s+insert: (?P<lines>.*))?")

each_idiom = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


def test_every_idiom_is_here() -> None:
    numbers = [
        int(number) for path in CASES for number in re.findall(r"\ba(\d\d)", path.stem.replace("_", " "))
    ]
    assert numbers == list(range(1, 76))


@each_idiom
def test_the_linter_says(path: Path) -> None:
    report = Linter(Config(root=FOLDER, extend_select=OPTED_IN)).lint(SourceFile.read(path))
    assert report.failure is None
    found = {(finding.location.line, finding.finding.code) for finding in report.findings}
    assert found == {(number, code) for number, codes, _ in _expected(path) for code in codes}


@each_idiom
def test_the_fix_writes(path: Path) -> None:
    expected = {number: lines for number, codes, lines in _expected(path) if lines and "RMT101" in codes}
    outcome = _fixed(path)
    assert outcome.bugs == []
    assert _inserted(outcome.before.text, outcome.after.text) == expected


def _expected(path: Path) -> list[tuple[int, list[str], list[str]]]:
    built = {rule.code for rule in all_rules() if not rule.opt_in or rule.code in OPTED_IN}
    found = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if match := EXPECT.search(line):
            codes = [code for code in re.split(r"\s*,\s*", match["codes"]) if code in built]
            found.append(
                (number, codes, [part.strip() for part in (match["lines"] or "").split(";") if part])
            )
    return found


def _fixed(path: Path) -> Outcome:
    return Fixer(Linter(Config(root=FOLDER, select=("RMT101",)))).fix(SourceFile.read(path))


def _inserted(before: str, after: str) -> dict[int, list[str]]:
    """The lines that were written, by the number of the reported line that they are for."""
    old, new = before.splitlines(), after.splitlines()
    found: dict[int, list[str]] = {}
    for tag, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        reported = next(n for n in range(start + 1, len(old) + 1) if EXPECT.search(old[n - 1]))
        rewritten = reported <= end  # a call was taken out of the reported line
        found[reported] = [line.strip() for line in new[first : last - rewritten]]
    return found
