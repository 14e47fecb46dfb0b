"""From a changed tree to bytes that differ from the file only where the tree does.

LibCST does not give back every file: it drops a form feed at the start of a line, a lone carriage return
at the end, and lines above a last one of spaces. There the changed lines are carried over to the file's own
text.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from remat_lint.source import SourceFile

if TYPE_CHECKING:
    import libcst as cst


def render(source: SourceFile, tree: cst.Module) -> bytes:
    """The file's bytes with what was changed between its own tree and ``tree``.

    They are as they were where a change falls on lines that LibCST does not know as they are.
    """
    if tree is source.tree:
        return source.raw
    if source.tree.bytes == source.raw:
        return tree.bytes
    lines = _carried_over(_lines(source.text), _lines(source.tree.code), _lines(tree.code))
    return source.raw if lines is None else "".join(lines).encode(tree.encoding)


def _lines(text: str) -> list[str]:
    """Lines as Python counts them, with their ends; ``str.splitlines`` splits at form feeds too."""
    return list(io.StringIO(text, newline=""))


def _carried_over(lines: list[str], before: list[str], after: list[str]) -> list[str] | None:
    places = _places(lines, before)
    result = list(lines)
    for kind, start, end, new_start, new_end in reversed(_changes(before, after)):
        if kind == "equal":
            continue
        first = places.get(start, places.get(start - 1, -2) + 1)
        if first < 0 or [places.get(index) for index in range(start, end)] != [
            *range(first, first + end - start)
        ]:
            return None
        result[first : first + end - start] = after[new_start:new_end]
    return result


def _places(lines: list[str], before: list[str]) -> dict[int, int]:
    """Where the lines that LibCST knows are in the file."""
    return {
        start + offset: own_start + offset
        for kind, start, end, own_start, own_end in _changes(before, lines)
        if kind == "equal" or end - start == own_end - own_start
        for offset in range(end - start)
    }


def _changes(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
