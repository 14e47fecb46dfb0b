"""Comments silence findings on their lines, and text that only looks like one does not."""

from __future__ import annotations

import pytest

from remat_lint.findings import Finding, LocatedFinding, Location, Place, Severity
from remat_lint.suppress import Suppressions


def finding(line: int, code: str = "RMT101", end_line: int | None = None) -> LocatedFinding:
    found = Finding(code, "name", Severity.ERROR, "message", Place("x.py", 0))
    return LocatedFinding(found, Location("x.py", line, 1, end_line or line, 2))


def hidden(text: str, line: int, code: str = "RMT101", end_line: int | None = None) -> bool:
    return Suppressions.in_text(text).hide(finding(line, code, end_line))


@pytest.mark.parametrize(
    "comment",
    [
        "# remat-lint: ignore[RMT101]",
        "# remat-lint: ignore[RMT101] the marker is in the caller",
        "#remat-lint:ignore[RMT101]",
        "# remat-lint: ignore[RMT105, RMT101]",
        "# remat-lint: ignore[RMT1]",
        "# remat-lint: ignore [RMT101]",
        "# remat-lint: ignore",
        "# remat-lint: ignore because",
        "# type: ignore # remat-lint: ignore[RMT101]",
        "# noqa",
        "# NOQA",
        "# noqa: RMT101",
        "# noqa:RMT101",
        "# noqa: E501,RMT101",
        "# noqa: E501 RMT101 reason",
        "# noqa: rmt101",
        "# some words # noqa: RMT101",
    ],
)
def test_a_comment_silences_its_line(comment: str) -> None:
    text = f"a = 1\nb = 2  {comment}\nc = 3\n"
    assert [hidden(text, line) for line in (1, 2, 3)] == [False, True, False]


@pytest.mark.parametrize(
    "comment",
    [
        "# remat-lint: ignore[RMT105]",
        "# remat-lint: ignore[]",
        "# remat-lint: ignore[RMT101",
        "# remat-lint: ignored",
        "# remat-lint: ignore-all",
        "# remat-lint: ignore-file[RMT101]",
        "# remat-lint ignore[RMT101]",
        "# noqa: E501",
        "# noqa: because",
        "# noqa:",
        "# noqabene",
        "'# noqa'",
        "'# remat-lint: ignore[RMT101]'",
    ],
)
def test_what_is_no_suppression_silences_nothing(comment: str) -> None:
    assert not hidden(f"a = 1\nb = 2,  {comment}\n", 2)


def test_the_last_line_speaks_for_the_whole_statement() -> None:
    text = "a = f(\n    x,\n    y,\n)  # remat-lint: ignore[RMT101]\nb = 1\n"
    assert [hidden(text, line) for line in (1, 2, 3, 4, 5)] == [True, True, True, True, False]


def test_a_line_in_between_speaks_for_itself() -> None:
    text = "a = f(\n    x,  # noqa\n    y,\n)\n"
    assert [hidden(text, line) for line in (1, 2, 3)] == [False, True, False]


def test_the_last_line_of_a_finding_counts() -> None:
    text = "a = f(\n    g(\n    ),  # noqa\n)\n"
    assert hidden(text, 2, end_line=3)
    assert not hidden(text, 1)


def test_the_head_of_a_block_does_not_speak_for_its_body() -> None:
    text = "with a(\n    b,\n):  # noqa\n    c()\n"
    assert [hidden(text, line) for line in (1, 2, 4)] == [True, True, False]


@pytest.mark.parametrize("before", ["", "#!/usr/bin/env python\n\n", '"""Docstring."""\n', "# a\n\n# b\n"])
def test_a_file_comment_on_top_silences_the_file(before: str) -> None:
    text = before + "# remat-lint: ignore-file[RMT5] generated\nx = 1\n"
    assert hidden(text, 99, "RMT501")
    assert not hidden(text, 99, "RMT101")


def test_a_file_comment_without_codes_silences_all() -> None:
    assert hidden("# remat-lint: ignore-file\n", 99, "RMT101")


@pytest.mark.parametrize("text", ["x = 1\n# remat-lint: ignore-file\n", "x = 1  # remat-lint: ignore-file\n"])
def test_a_file_comment_below_code_silences_nothing(text: str) -> None:
    assert not hidden(text, 1)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_are_counted_with_any_newline(newline: str) -> None:
    text = newline.join(["a = 1", "b = 2  # noqa", "c = 3", ""])
    assert [hidden(text, line) for line in (1, 2, 3)] == [False, True, False]


@pytest.mark.parametrize("rest", ["(", "'''", "  x\n y\n", "if x:\npass\n", "\0", "$ ?"])
def test_a_text_that_does_not_tokenize_keeps_what_was_read_before(rest: str) -> None:
    assert hidden("a = 1  # noqa\n" + rest, 1)


@pytest.mark.parametrize("comment", ["# remat-lint: ignore[RMT4O2]", "# noqa: RMT4O2", "# noqa: RMT4xyz"])
def test_a_mistyped_code_silences_nothing(comment: str) -> None:
    assert not hidden(f"x = 1  {comment}\n", 1, "RMT402")
