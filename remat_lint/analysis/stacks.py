"""A Python stack of its own for some work, so that deep code does not end the analysis.

Python limits the calls on one stack, and the operating system its size. A thread has a stack of its own; the
one that starts it does nothing until it has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_SIZE = 16 * 2**20
"""Bytes: what LibCST's parser may need, which may be asked for another module anywhere."""


def on_own_stack(work: Callable[[], Result]) -> Result:
    """The result of ``work``, or what it raises.

    >>> on_own_stack(lambda: 1 + 1)
    2
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was asked for
            errors.append(error)

    before = threading.stack_size(_SIZE)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
