"""``remat-fix``: shows what would change; writes it on request."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remat_lint import __version__
from remat_lint.cli.options import Inputs, Settings, complain_of, gather, shared_options
from remat_lint.cli.terminal import (
    CLEAN,
    FAILED,
    FINDINGS,
    Command,
    complain,
    put,
    put_bytes,
    tell,
    wants_colour,
)
from remat_lint.errors import UserError
from remat_lint.linter import FileReport, Linter

if TYPE_CHECKING:
    from remat_lint.fixer import Outcome


@click.command("remat-fix", cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@shared_options
@click.option("--write", is_flag=True, help="Change the files.")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if something would.")
@click.option("--unsafe-fixes", is_flag=True, help="Also fixes that change what runs or lose a comment.")
@click.version_option(__version__, prog_name="remat-fix", message="%(prog)s %(version)s")
def cli(paths: tuple[Path, ...], write: bool, check: bool, unsafe_fixes: bool, **shared: Any) -> int:
    """Mend what remat-lint found: show the diff, or --write it.

    With `-`, standard input is fixed: the diff goes to standard output, with --write the whole text.
    Exit status: 0 done, 1 something would change (with --check), 2 the tool or its configuration failed.
    """
    if write and check:
        raise UserError("give --write or --check, not both")
    mode = "write" if write else "check" if check else None
    settings = Settings(**shared)
    inputs = gather(paths, settings)
    tally = _Tally()
    failed = bool(inputs.found.problems)
    for result in _outcomes(inputs, unsafe=unsafe_fixes):
        if isinstance(result, FileReport):
            complain_of(result, settings)
            failed = True
        else:
            failed |= _show(result, mode, tally, from_stdin=inputs.stdin is not None)
    tell(tally.summary(mode), unless=settings.quiet)
    if failed:
        return FAILED
    return FINDINGS if mode == "check" and tally.files else CLEAN


class _Tally:
    """What the run did so far, for its last line."""

    def __init__(self) -> None:
        self.files = self.fixed = self.unfixed = self.unsafe = 0

    def add(self, outcome: Outcome) -> None:
        self.files += outcome.changed
        self.fixed += outcome.fixed
        self.unfixed += outcome.unfixed
        self.unsafe += outcome.unsafe

    def summary(self, mode: str | None) -> str:
        if not (self.fixed or self.unfixed or self.unsafe):
            return "Nothing to fix."
        verb = "Fixed" if mode == "write" else "Would fix"
        parts = [f"{verb} {self.fixed} finding{'s' * (self.fixed != 1)}"]
        parts[0] += f" in {self.files} file{'s' * (self.files != 1)}" * bool(self.files)
        parts += [f"{self.unsafe} more with --unsafe-fixes"] * bool(self.unsafe)
        parts += [f"{self.unfixed} without a fix: see remat-lint"] * bool(self.unfixed)
        parts += ["run with --write to apply"] * bool(self.files and mode is None)
        return "; ".join(parts) + "."


def _outcomes(inputs: Inputs, *, unsafe: bool) -> Iterator[Outcome | FileReport]:
    """One file after the other: a changed one is seen as it is now by the files after it."""
    from remat_lint.fixer import Fixer, Outcome

    read = list(inputs.sources())
    yield from (one for one in read if isinstance(one, FileReport))
    sources = [one for one in read if not isinstance(one, FileReport)]
    if inputs.stdin is not None and inputs.found.skipped:
        yield from (Outcome(source, source) for source in sources)
        return
    for outcome in Fixer(Linter(inputs.config), unsafe=unsafe).fix_all(sources):
        yield FileReport(outcome.before.path, failure=outcome.failure) if outcome.failure else outcome


def _show(outcome: Outcome, mode: str | None, tally: _Tally, *, from_stdin: bool) -> bool:
    """Reports or writes one file; whether something went wrong."""
    for bug in outcome.bugs:
        complain(bug)
    if mode == "write":
        try:
            _write(outcome, from_stdin=from_stdin)
        except UserError as error:
            complain(str(error))
            return True
    elif outcome.changed and mode == "check":
        put(f"would fix {outcome.before.path}\n")
    elif outcome.changed:
        _put_diff(outcome)
    tally.add(outcome)
    return bool(outcome.bugs)


def _write(outcome: Outcome, *, from_stdin: bool) -> None:
    from remat_lint.fixer import write

    if from_stdin:
        put_bytes(outcome.after.raw)
    elif outcome.changed:
        write(outcome)


def _put_diff(outcome: Outcome) -> None:
    from remat_lint.report.diff import render

    colour = wants_colour(sys.stdout)
    put(render(outcome.before.path, outcome.before.text, outcome.after.text, colour=colour), colour=colour)


def main() -> None:
    """The console script."""
    cli.main(prog_name="remat-fix")


if __name__ == "__main__":
    main()
