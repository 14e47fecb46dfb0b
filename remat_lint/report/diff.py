"""What a fix changes, as a unified diff that ``git apply`` and ``patch -p1`` take."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator

from remat_lint.report.text import Paint

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def render(path: str, before: str, after: str, *, colour: bool) -> str:
    """The diff of one file, empty where nothing changed."""
    return "".join(_painted(line, Paint(colour)) for line in _lines(path, before, after))


def _lines(path: str, before: str, after: str) -> Iterator[str]:
    name = path.lstrip("/")
    old, new = (list(io.StringIO(text, newline="\n")) for text in (before, after))
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _painted(line: str, paint: Paint) -> str:
    if line.startswith(("---", "+++")):
        return paint(line, bold=True)
    return paint(line, _COLOURS[line[0]]) if line[0] in _COLOURS else line
