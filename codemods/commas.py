"""White space between the items of a list, for one more item: it looks like that between the others."""

from __future__ import annotations

import libcst as cst

Space = cst.BaseParenthesizableWhitespace


def separator_like(space: Space | None) -> Space:
    """What stands between two items, without the comments that stand there now."""
    if isinstance(space, cst.ParenthesizedWhitespace):
        return _bare(space)
    return space or cst.SimpleWhitespace(" ")


def shared(separator: Space, ending: Space) -> tuple[Space, Space]:
    """The space after the item that was last and the one after the new last item.

    ``ending`` is what followed the old one: a comment in it stays with the old one where there is room.
    """
    if isinstance(separator, cst.ParenthesizedWhitespace) and isinstance(ending, cst.ParenthesizedWhitespace):
        kept = separator.with_changes(first_line=ending.first_line, empty_lines=ending.empty_lines)
        return kept, _bare(ending)
    return separator, ending


def has_comment(space: Space) -> bool:
    """Whether anything but white space would be lost with it."""
    return isinstance(space, cst.ParenthesizedWhitespace) and (
        space.first_line.comment is not None or any(line.comment for line in space.empty_lines)
    )


def _bare(space: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    line = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=space.first_line.newline)
    return space.with_changes(first_line=line, empty_lines=())
