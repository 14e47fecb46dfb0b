"""Is a region's ``recompute=`` written as a constant? Asked of the source of the running call.

An author who writes ``recompute=True`` has settled the matter: such a region may be what
persists another's output, and no policy ever saves it. Anything else (a policy helper, an
attribute, a variable) is decided at run time, so a check may decide it. The call that is
being executed is found by its position in the source, so no cooperation is needed.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
from enum import Enum
from types import CodeType, FrameType

Span = tuple[int, int, int, int]


class Flag(Enum):
    """How the source writes a region's flag."""

    CONSTANT = "constant"
    DECIDED = "decided"
    UNREADABLE = "unreadable"
    """No source, or a call without the keyword: a partial, a dict of arguments."""


class SourceFlags:
    """Reads each file once and answers for each call once."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[Span, Flag]] = {}
        self._known: dict[tuple[CodeType, int], Flag] = {}

    def at(self, frame: FrameType) -> Flag:
        """How the call that ``frame`` is executing writes its ``recompute`` argument."""
        key = (frame.f_code, frame.f_lasti)
        if key not in self._known:
            calls = self._calls_of(frame.f_code.co_filename)
            self._known[key] = _flag_of_running_call(frame, calls)
        return self._known[key]

    def _calls_of(self, path: str) -> dict[Span, Flag]:
        if path not in self._calls:
            linecache.checkcache(path)
            self._calls[path] = _flags_in("".join(linecache.getlines(path)))
        return self._calls[path]


def _flags_in(source: str) -> dict[Span, Flag]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    flags: dict[Span, Flag] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node.end_lineno is None or node.end_col_offset is None:
            continue
        for keyword in node.keywords:
            if keyword.arg == "recompute":
                span = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
                constant = isinstance(keyword.value, ast.Constant)
                flags[span] = Flag.CONSTANT if constant else Flag.DECIDED
    return flags


def _flag_of_running_call(frame: FrameType, calls: dict[Span, Flag]) -> Flag:
    if sys.version_info >= (3, 11):
        positions = frame.f_code.co_positions()
        span = next(itertools.islice(positions, frame.f_lasti // 2, None), None)
        return calls.get(span, Flag.UNREADABLE) if span and None not in span else Flag.UNREADABLE  # type: ignore[arg-type]
    else:  # noqa: RET505 - mypy knows this branch by it; Python 3.10 knows only the line: it has to be unambiguous.
        candidates = {flag for span, flag in calls.items() if span[0] <= frame.f_lineno <= span[1]}
        return candidates.pop() if len(candidates) == 1 else Flag.UNREADABLE
