"""What stops a check before it can say anything about the model."""

from __future__ import annotations


class UsageError(Exception):
    """The target, its factory or an option cannot be used; the message is one line for the user."""


def in_one_line(error: BaseException) -> str:
    """Type and message of an exception, without line breaks."""
    message = " ".join(str(error).split())
    if len(message) > 300:
        message = message[:297] + "..."
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
