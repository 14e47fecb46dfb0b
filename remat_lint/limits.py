"""Why a file is not given to the parser: a question to ask before LibCST sees it.

LibCST's parser recurses in native code without a limit, and ends the process where the stack ends. It takes
about 4 kB and 0.1 ms for every small token. CPython's own parser has limits, and takes a tenth of the time.
"""

from __future__ import annotations

import ast
import re
import warnings

TOO_DEEP = "the code is nested too deeply to be analysed; split the expression or the function"
MAX_PUNCTUATION = 500_000
_PUNCTUATION = b",.:;()[]{}=+-*/%&|^~<>@\n"
# A tree this deep takes LibCST 0.3 s, one three times as deep may end the process.
_MAX_BRACKETS = 1000
_MAX_DEPTH = 450
"""Operators in a row, as in a sum, are nested too: LibCST needs a time that grows with their square."""

_LONG_LINES, _LONG_COLUMNS = 8, 200
"""An expression is looked into that takes more lines than this, or is longer."""


def refusal(raw: bytes) -> tuple[str, int] | None:
    """What keeps a file from being parsed, its size or its depth, and the line of that.

    Other errors are LibCST's to report.
    """
    if len(raw) > MAX_PUNCTUATION:
        number = len(raw) - len(raw.translate(None, _PUNCTUATION))
        if number > MAX_PUNCTUATION:
            return f"the file is too large to be analysed, with {number:,} signs and line ends; exclude it", 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            depth, line = _deepest(ast.parse(raw))
    except (RecursionError, MemoryError):
        return TOO_DEEP, 1
    except SyntaxError as error:
        is_deep = "too many nested" in error.msg or _bracket_depth_bound(raw) > _MAX_BRACKETS
        return (TOO_DEEP, 1) if is_deep else None
    except ValueError:  # a NUL byte
        return None
    return (TOO_DEEP, line) if depth > _MAX_DEPTH else None


def deepest_line(raw: bytes) -> int:
    """The line of a file that parses where the deepest expression begins."""
    return _deepest(ast.parse(raw))[1]


def _deepest(tree: ast.Module) -> tuple[int, int]:
    """How deep the expressions of a file are nested at most, and where; short ones are not looked into."""
    deepest = (0, 1)
    waiting: list[tuple[ast.AST, int, int]] = [(child, 0, 1) for child in tree.body]
    while waiting:
        node, depth, line = waiting.pop()
        if isinstance(node, ast.expr):
            if not depth and not _is_long(node):
                continue
            line = line if depth else node.lineno
            depth += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 1
            deepest = max(deepest, (depth, line), key=lambda found: found[0])
        waiting += ((child, depth, line) for child in ast.iter_child_nodes(node))
    return deepest


def _is_long(node: ast.expr) -> bool:
    last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return last - node.lineno > _LONG_LINES or end - node.col_offset > _LONG_COLUMNS


def _bracket_depth_bound(raw: bytes) -> int:
    """How deep brackets can be nested at most: strings and comments count too, so it may be too high."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[({\])}]", raw):
        depth += 1 if bracket in b"[({" else -1
        deepest = max(deepest, depth)
    return deepest
