"""A limit for how long a check may take."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType


class TimedOut(BaseException):
    """The time is over. It is no ``Exception``, so that the step cannot catch it for an error of its own."""


_AGAIN = 0.1
"""Seconds until an alarm that had no effect is repeated."""


@contextlib.contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise ``TimedOut`` in the body once it has run for so long; None sets no limit.

    The body is interrupted between two steps of Python code. Without ``SIGALRM`` (Windows), and in
    other threads than the main one, there is no limit.
    """
    has_alarm = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if seconds is None or not has_alarm:
        yield
        return
    with _collections_noted() as is_collecting:

        def ring(_signal: int, _frame: FrameType | None) -> None:
            # What is raised in a __del__, or a callback of the collector, is lost: the alarm is repeated.
            if not is_collecting() and not isinstance(sys.exc_info()[1], TimedOut):
                raise TimedOut(f"not done after {seconds:g} s")

        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _collections_noted() -> Iterator[Callable[[], bool]]:
    """Tells whether garbage is being collected, the callbacks of others included."""
    running = [False]

    def begins(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            running[0] = True

    def ends(phase: str, _info: dict[str, int]) -> None:
        if phase == "stop":
            running[0] = False

    gc.callbacks.insert(0, begins)
    gc.callbacks.append(ends)
    try:
        yield lambda: running[0]
    finally:
        gc.callbacks.remove(begins)
        gc.callbacks.remove(ends)
