"""The text report: carets stand below what they mean, and nothing moves the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remat_lint.findings import (
    Finding,
    Fix,
    InsertMarker,
    LocatedFinding,
    Location,
    Place,
    Related,
    Severity,
)
from remat_lint.report import diff, text
from remat_lint.report.statistics import Statistics
from remat_lint.report.statistics import render as render_statistics
from remat_lint.report.summary import summarise

SAFE = Fix("edit-markers", InsertMarker("m.py", 0, ()))
UNSAFE = Fix("edit-markers", InsertMarker("m.py", 0, ()), safe=False)


def located(
    line: str = "    return F.silu(y)", column: int = 12, end: int = 21, **traits: object
) -> LocatedFinding:
    finding = Finding("RMT101", "missing-marker", Severity.ERROR, "`y` is read", Place("m.py", 0), **traits)  # type: ignore[arg-type]
    return LocatedFinding(finding, Location("m.py", 7, column, 7, end), line)


def test_a_finding_has_its_line_its_notes_and_the_reason_why_it_is_not_fixable() -> None:
    there = Location("other.py", 3, 9, 3, 20)
    found = located(unfixable="`y` has no name")
    found = LocatedFinding(
        found.finding,
        found.location,
        found.source_line,
        related=(Related(there, 'region "w13" is declared here'),),
        chain=(Related(there, "called from `forward`"),),
    )
    assert text.render([found], colour=False) == (
        "m.py:7:12: RMT101 `y` is read\n"
        " 7 |     return F.silu(y)\n"
        "   |            ^^^^^^^^^\n"
        '   = note: other.py:3:9: region "w13" is declared here\n'
        "   = reached: other.py:3:9: called from `forward`\n"
        "   = no fix: `y` has no name\n"
    )


def test_a_finding_without_a_line_is_shown_by_its_place() -> None:
    assert text.render([located(line="")], colour=False) == "m.py:7:12: RMT101 `y` is read\n"


def test_a_fix_that_is_made_only_on_request_is_not_promised() -> None:
    safe, unsafe = (text.render([located(line="", fix=fix)], colour=False) for fix in (SAFE, UNSAFE))
    assert safe == "m.py:7:12: RMT101 [*] `y` is read\n"
    assert unsafe == (
        "m.py:7:12: RMT101 `y` is read\n"
        "   = fix: with --unsafe-fixes only: it loses a comment, or changes what runs\n"
    )


def test_a_finding_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    finding = located("x = f(", 5, 2)
    finding = LocatedFinding(finding.finding, Location("m.py", 7, 5, 9, 2), "x = f(")
    assert "   |     ^^\n" in text.render([finding], colour=False)


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "caret"),
    [
        ("f(y)", 1, 5, "f(y)", "^^^^"),
        ("\tf(y)", 2, 6, "    f(y)", "    ^^^^"),
        ("x\t= f(y)", 5, 9, "x    = f(y)", "       ^^^^"),
        ("s = '日本'; f(y)", 11, 15, "s = '日本'; f(y)", "            ^^^^"),
        ("é = f(y)".replace("é", "e\u0301"), 6, 10, "e\u0301 = f(y)", "    ^^^^"),
        ("f(y)", 9, 12, "f(y)", "    ^"),
        ("f(y)", 0, 0, "f(y)", "^"),
        ("a\x1b[2Jb()", 6, 9, "a\ufffd[2Jb()", "     ^^^"),
    ],
)
def test_carets_stand_below_the_place(line: str, column: int, end: int, shown: str, caret: str) -> None:
    assert text.excerpt(line, column, end) == (shown, caret)


@given(st.text(max_size=300), st.integers(-2, 310), st.integers(-2, 310))
def test_any_line_is_shown_on_one_line_without_control_characters(line: str, column: int, end: int) -> None:
    shown, caret = text.excerpt(line, column, end)
    assert all(c.isprintable() or c == "\u3000" for c in shown)
    assert caret.strip("^ ") == ""
    assert len(shown) <= 4 * (text.MAX_WIDTH + 2)
    assert not any(unicodedata.category(c) == "Cc" for c in shown)


@pytest.mark.parametrize(
    ("fixes", "expected"),
    [
        ([], "No findings in 4 files."),
        ([None], "Found 1 finding."),
        ([SAFE, SAFE, None], "Found 3 findings (2 fixable with remat-fix)."),
        ([SAFE, UNSAFE], "Found 2 findings (1 fixable with remat-fix, 1 with remat-fix --unsafe-fixes)."),
    ],
)
def test_the_summary_counts_what_can_be_fixed(fixes: list[Fix | None], expected: str) -> None:
    assert summarise([located(fix=fix) for fix in fixes], linted=4) == expected


def test_colours_change_no_letter() -> None:
    import click

    plain = text.render([located(fix=SAFE)], colour=False)
    coloured = text.render([located(fix=SAFE)], colour=True)
    assert coloured != plain
    assert click.unstyle(coloured) == plain


def test_a_diff_can_be_applied() -> None:
    rendered = diff.render("/a/m.py", "x\r\ny", "x\r\nz\r\ny", colour=False)
    assert rendered == (
        "--- a/a/m.py\n+++ b/a/m.py\n@@ -1,2 +1,3 @@\n x\r\n+z\r\n y\n\\ No newline at end of file\n"
    )
    assert diff.render("m.py", "x\n", "x\n", colour=False) == ""


def test_statistics_name_every_reason() -> None:
    counted = Statistics(files=3, relevant=2, skipped=1, suppressed=0)
    counted.given_up.update(["recursion", "recursion", "unknown base"])
    assert render_statistics(counted, [located(), located()]).splitlines() == [
        "     2  RMT101  missing-marker",
        "     3  files read",
        "     2  of them analysed (the others hold no relevant word)",
        "     1  files or folders skipped",
        "     0  findings suppressed by comments",
        "     3  places where the analysis gave up",
        "         2  recursion",
        "         1  unknown base",
    ]
