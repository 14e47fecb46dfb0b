"""Findings as people read them: the place, the line with a caret below it, and the places that explain it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import click

from remat_lint.findings import LocatedFinding, Related, Severity

TAB = 4
MAX_WIDTH = 120
_ELLIPSIS = "…"
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def render(findings: Sequence[LocatedFinding], *, colour: bool, summary: str = "") -> str:
    """All findings, each followed by an empty line, and the summary if there is one."""
    paint = Paint(colour)
    blocks = ["\n".join(_block(finding, paint)) + "\n" for finding in findings]
    return "\n".join(blocks + [summary + "\n"] * bool(summary))


class Paint:
    """Colours where they are wanted, and nothing else."""

    def __init__(self, colour: bool) -> None:
        """``colour`` is whether the reader's terminal shows colours."""
        self._colour = colour

    def __call__(self, text: str, fg: str | None = None, *, bold: bool = False) -> str:
        """The text, styled."""
        return click.style(text, fg=fg, bold=bold or None) if self._colour else text


def _block(located: LocatedFinding, paint: Paint) -> Iterator[str]:
    finding, where = located.finding, located.location
    code = paint(finding.code, _COLOURS[finding.severity], bold=True)
    place = f"{paint(printable(where.path), bold=True)}:{where.line}:{where.column}:"
    fixable = paint(" [*]", "cyan") * (located.fix_kind == "safe")
    yield f"{place} {code}{fixable} {printable(finding.message)}"
    gutter = len(str(where.line))
    if located.source_line.strip():
        end = where.end_column if where.end_line == where.line else len(located.source_line) + 1
        line, caret = excerpt(located.source_line, where.column, end)
        bar = paint("|", "blue")
        yield f" {paint(str(where.line), 'blue')} {bar} {line}"
        yield f" {' ' * gutter} {bar} {paint(caret, _COLOURS[finding.severity], bold=True)}"
    margin = " " * (gutter + 2) + paint("=", "blue")
    yield from (f"{margin} {note}" for note in _notes(located, paint))


def _notes(located: LocatedFinding, paint: Paint) -> Iterator[str]:
    for step in located.related:
        yield _note(step, "note", paint)
    for step in located.chain:
        yield _note(step, "reached", paint)
    if located.fix_kind == "unsafe":
        yield f"{paint('fix', bold=True)}: with --unsafe-fixes only: it loses a comment, or changes what runs"
    if located.finding.unfixable:
        yield f"{paint('no fix', bold=True)}: {printable(located.finding.unfixable)}"


def _note(step: Related, kind: str, paint: Paint) -> str:
    where = step.location
    place = f"{printable(where.path)}:{where.line}:{where.column}"
    return f"{paint(kind, bold=True)}: {place}: {printable(step.message)}"


def excerpt(line: str, column: int, end_column: int) -> tuple[str, str]:
    """A source line as shown and the carets below it. Columns count from 1; a long line is cut.

    >>> excerpt("    return F.silu(y)", 12, 21)
    ('    return F.silu(y)', '           ^^^^^^^^^')
    """
    start = min(max(column - 1, 0), len(line))
    end = min(max(end_column - 1, start), len(line))
    first = max(0, start - MAX_WIDTH // 2) if len(line) > MAX_WIDTH else 0
    last = min(len(line), first + MAX_WIDTH)
    before = _ELLIPSIS * bool(first) + _shown(line[first:start])
    marked = _shown(line[start : min(end, last)])
    after = _shown(line[min(end, last) : last]) + _ELLIPSIS * (last < len(line))
    return before + marked + after, " " * _width(before) + "^" * max(1, _width(marked))


def _shown(text: str) -> str:
    return printable(text.replace("\t", " " * TAB))


def printable(text: str) -> str:
    """The text without anything that could move a terminal's cursor or change its state."""
    return "".join(c if c.isprintable() or c == "\u3000" else "\ufffd" for c in text)


def _width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(_character_width(c) for c in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
