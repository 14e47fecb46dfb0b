"""What a user has to mend before the tool can work: shown as one line, exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """The message names the object, says what is wrong with it and what to write instead."""
