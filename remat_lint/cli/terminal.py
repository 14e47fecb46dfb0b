"""The one place that talks to a terminal: streams, colours, one-line errors, exit statuses."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from remat_lint.errors import UserError

CLEAN, FINDINGS, FAILED = 0, 1, 2
INTERRUPTED = 130

ALLOCATIONS = 50_000
"""Objects made between two looks for garbage: syntax trees live long, and looking takes a fifth of a run."""


class Command(click.Command):
    """A command whose callback returns its exit status, and whose errors take one line on stderr."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Runs the command and ends the process with its status."""
        options["standalone_mode"] = False
        gc.set_threshold(ALLOCATIONS)
        _never_fail_to_encode()
        sys.exit(self._status(*args, **options))

    def _status(self, *args: Any, **options: Any) -> int:
        try:
            return super().main(*args, **options) or CLEAN
        except UserError as error:
            complain(str(error), self.name)
        except click.ClickException as error:
            complain(error.format_message(), self.name)
        except (click.Abort, KeyboardInterrupt):
            return INTERRUPTED
        except OSError as error:
            named = f"{error.filename}: " if error.filename is not None else ""
            complain(f"{named}{error.strerror or error}", self.name)
        except Exception as error:  # noqa: BLE001 - the last resort: users get no traceback
            complain(f"internal error: {type(error).__name__}: {error}; please report", self.name)
            if {"-v", "--verbose"}.intersection(sys.argv):
                traceback.print_exc()
        return FAILED


class Group(Command, click.Group):
    """Commands, of which one runs where none is named."""

    default = "check"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the default command's name in front where the first word is no command."""
        own = {*self.commands, *self.get_help_option_names(ctx), "--version"}
        if not args or args[0] not in own:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def complain(message: str, program: str | None = None) -> None:
    """One line on stderr, with the program's name in front: that of the running command if none is given."""
    name = program or click.get_current_context().find_root().info_name
    line = " ".join(message.split())
    _write(sys.stderr, f"{name}: {line}\n")


def tell(message: str, *, unless: bool = False) -> None:
    """A line for people on stderr."""
    if not unless:
        _write(sys.stderr, message + "\n")


def put(text: str, *, colour: bool = False) -> None:
    """The result itself, on stdout."""
    _write(sys.stdout, text, colour=colour)


def put_bytes(data: bytes) -> None:
    """The result as bytes, on stdout."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def put_file(path: Path, text: str) -> None:
    """The result in a file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output-file: {path} cannot be written: {error.strerror}") from error


def wants_colour(stream: TextIO) -> bool:
    """Whether colours are read by a person there; https://no-color.org is honoured."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _write(stream: TextIO, text: str, *, colour: bool = False) -> None:
    try:
        click.echo(text, file=stream, nl=False, color=colour)
        stream.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise
        _close_quietly(stream)  # the reader has gone, as `| head` does: no error of ours


def _close_quietly(stream: TextIO) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError:
        return


def _never_fail_to_encode() -> None:
    """File names and source lines may hold characters that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
