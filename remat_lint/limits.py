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


def refusal(raw: bytes) -> str | None:
    """What keeps a file from being parsed, its size or its depth. Other errors are LibCST's to report."""
    if len(raw) > MAX_PUNCTUATION:
        number = len(raw) - len(raw.translate(None, _PUNCTUATION))
        if number > MAX_PUNCTUATION:
            return f"the file is too large to be analysed, with {number:,} signs and line ends; exclude it"
    return TOO_DEEP if _is_nested_too_deeply(raw) else None


def _is_nested_too_deeply(raw: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(raw)
    except (RecursionError, MemoryError):
        return True
    except SyntaxError as error:
        return "too many nested" in error.msg or _bracket_depth_bound(raw) > _MAX_BRACKETS
    except ValueError:  # a NUL byte
        return False
    return False


def _bracket_depth_bound(raw: bytes) -> int:
    """How deep brackets can be nested at most: strings and comments count too, so it may be too high."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[({\])}]", raw):
        depth += 1 if bracket in b"[({" else -1
        deepest = max(deepest, depth)
    return deepest
