"""Exchanges the code of a function, so that it is seen wherever it was imported from, and by which name."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any


@contextlib.contextmanager
def exchanged(
    function: Callable[..., Any], replacement: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Make ``function`` call ``replacement(original)`` instead of running its own code."""
    assert isinstance(function, FunctionType)
    code, module = function.__code__, function.__globals__
    original = FunctionType(code, module, function.__name__, function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__
    entry = f"_remat_check_{next(_numbers)}"
    module[entry] = replacement(original)
    function.__code__ = _calling(entry, code.co_freevars)
    try:
        yield
    finally:
        function.__code__ = code
        del module[entry]


_numbers = itertools.count()


def _calling(entry: str, free: Sequence[str]) -> CodeType:
    """Code that calls the global ``entry``, with as many free variables as the code that it replaces."""
    mention = f"({', '.join(free)},)" if free else "()"
    source = (
        f"def outer({', '.join(free)}):\n"
        "    def tapped(*args, **kwargs):\n"
        f"        return {entry}(*args, **kwargs)\n"
        f"        {mention}\n"
        "    return tapped\n"
    )
    made: dict[str, Any] = {}
    exec(source, made)
    tapped: FunctionType = made["outer"](*free)
    return tapped.__code__
