"""Whether a file is nested too deeply to be parsed: a question to ask before LibCST sees it.

LibCST's parser recurses in native code without a limit, and ends the process where the stack ends. CPython's
own parser has limits and says so, for a tenth of the time.
"""

from __future__ import annotations

import ast
import re
import warnings

# A tree this deep takes LibCST 0.3 s, one three times as deep may end the process.
_MAX_BRACKETS = 1000


def is_nested_too_deeply(raw: bytes) -> bool:
    """Whether CPython refuses the file for its depth. Other errors are left to LibCST to report."""
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
