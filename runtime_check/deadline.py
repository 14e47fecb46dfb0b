"""A limit for how long a check may take."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class TimedOut(BaseException):
    """The time is over. It is no ``Exception``, so that the step cannot catch it for an error of its own."""


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

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimedOut(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
