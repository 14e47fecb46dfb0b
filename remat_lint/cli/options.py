"""What ``remat-lint`` and ``remat-fix`` share: their options, and the way from paths to sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from remat_lint.cli.terminal import complain, tell
from remat_lint.config import Config, PerFileIgnores, load, parse_codes
from remat_lint.discovery import Discovery, Excludes, discover, shown
from remat_lint.errors import UserError
from remat_lint.linter import Failure, FileReport
from remat_lint.source import SourceFile

F = TypeVar("F", bound=Callable[..., Any])
STDIN = Path("-")

# Whether it can be read is found out, and told, where it is.
_FILE = click.Path(path_type=Path, readable=False)
_PATHS = click.argument("paths", nargs=-1, type=_FILE)
_CONFIG = (
    click.option(
        "--config",
        type=_FILE,
        metavar="FILE",
        help="Read this TOML file for settings.",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)
_FILES = (
    click.option("--force-exclude", is_flag=True, help="Apply exclusions to files named here, too."),
    click.option("-q", "--quiet", is_flag=True, help="No summary, no warnings."),
    click.option("-v", "--verbose", is_flag=True, help="Say what was read, skipped and why."),
)
_OPTIONS = (
    _PATHS,
    click.option("--select", metavar="CODES", help="Rules to run: codes or prefixes, with commas."),
    click.option("--ignore", metavar="CODES", default="", help="Rules to leave out."),
    click.option("--extend-select", metavar="CODES", default="", help="Rules to run besides."),
    click.option(
        "--per-file-ignores",
        metavar="GLOB:CODE,...",
        default="",
        help="Rules to leave out in some files; replaces the setting of that name.",
    ),
    *_CONFIG,
    click.option("--no-cache", is_flag=True, help="Accepted; this version keeps no cache."),
    click.option(
        "--stdin-filename",
        type=_FILE,
        metavar="FILE",
        help="The name of what is read from standard input (`-`).",
    ),
    *_FILES,
)


def shared_options(function: F) -> F:
    """Adds the arguments that make ``Settings``, and ``paths``."""
    return _with(_OPTIONS, function)


def file_options(function: F) -> F:
    """Adds those of the arguments that are about files, not about rules."""
    return _with((_PATHS, *_CONFIG, *_FILES), function)


def _with(options: Sequence[Callable[[F], F]], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function


class Settings(NamedTuple):
    """The shared options as given."""

    select: str | None = None
    ignore: str = ""
    extend_select: str = ""
    per_file_ignores: str = ""
    config: Path | None = None
    isolated: bool = False
    no_cache: bool = False
    stdin_filename: Path | None = None
    force_exclude: bool = False
    quiet: bool = False
    verbose: bool = False


class Inputs(NamedTuple):
    """What is to be linted, under which configuration."""

    config: Config
    found: Discovery
    stdin: SourceFile | None = None

    def sources(self) -> Iterator[SourceFile | FileReport]:
        """Every file, read when its turn comes; a report where it cannot be read."""
        if self.stdin is not None:
            yield self.stdin
        for path in self.found.files:
            try:
                source = SourceFile.read(shown(path))
                source.given = path in self.found.given
                yield source
            except OSError as error:
                yield FileReport(
                    shown(path), failure=Failure(f"cannot be read: {error.strerror or error}", ours=False)
                )


def gather(paths: Sequence[Path], settings: Settings) -> Inputs:
    """Configuration and files. Raises ``UserError`` before anything is read where an argument is wrong."""
    if settings.config and settings.isolated:
        raise UserError("--config and --isolated exclude each other; give one of them")
    if STDIN in paths:
        return _gather_stdin(paths, settings)
    if settings.stdin_filename is not None:
        raise UserError("--stdin-filename needs the path `-`, which reads standard input")
    paths = paths or [Path()]
    config = _configure(_common_folder(paths), settings)
    found = discover(paths, config, force_exclude=settings.force_exclude)
    for problem in found.problems:
        complain(problem)
    for path, reason in found.skipped if settings.verbose else ():
        tell(f"skipped {shown(path)}: {reason}")
    if not found.files and not found.problems:
        number = len(found.skipped)
        but = (
            f" but {number} that {'is' if number == 1 else 'are'} excluded (`-v` names them)"
            if number
            else ""
        )
        tell(f"warning: no Python files below the paths given{but}", unless=settings.quiet)
    return Inputs(config, found)


def _gather_stdin(paths: Sequence[Path], settings: Settings) -> Inputs:
    if len(paths) > 1:
        raise UserError("`-` reads standard input and takes no other path beside it")
    name = settings.stdin_filename or STDIN
    config = _configure(_common_folder([name]), settings)
    found = Discovery()
    if settings.force_exclude and Excludes(config).match_with_parents(name):
        found.skipped.append((name, "excluded"))
    raw = sys.stdin.buffer.read()
    source = SourceFile(shown(name), raw)
    source.given = True
    return Inputs(config, found, source)


def _common_folder(paths: Sequence[Path]) -> Path:
    folders = [path if os.path.isdir(path) else path.parent for path in paths]
    try:
        return Path(os.path.commonpath([folder.absolute() for folder in folders]))
    except ValueError:  # different drives
        return Path.cwd()


def _configure(start: Path, settings: Settings) -> Config:
    stored = load(Path(os.path.abspath(start)), explicit=settings.config, isolated=settings.isolated)
    if settings.verbose:
        tell(f"settings: {stored.file or 'none'}")
    _check(stored, f"{stored.file}: ", settings)
    given = Config(
        stored.root,
        select=None if settings.select is None else parse_codes(settings.select),
        ignore=parse_codes(settings.ignore),
        extend_select=parse_codes(settings.extend_select),
        per_file_ignores=_parse_per_file(settings.per_file_ignores),
    )
    _check(given, "--", settings)
    return stored.overridden(given.select, given.ignore, given.extend_select, given.per_file_ignores)


def _check(config: Config, origin: str, settings: Settings) -> None:
    lists = [(name, codes) for name, codes in config.codes() if codes]
    if not lists:
        return
    from remat_lint.rules import all_rules
    from remat_lint.selection import check_codes

    built = {rule.code for rule in all_rules()}
    for name, codes in lists:
        for selector in check_codes(codes, built, origin + name):
            what = f"warning: {selector} is reserved for a later version and reports nothing yet"
            tell(what, unless=settings.quiet)


def _parse_per_file(text: str) -> PerFileIgnores:
    found: dict[str, list[str]] = {}
    for pair in parse_codes(text):
        glob, colon, code = pair.rpartition(":")
        if not (glob and colon and code):
            raise UserError(f"--per-file-ignores: {pair!r} is no GLOB:CODE pair; write e.g. 'tests/*:RMT1'")
        found.setdefault(glob.strip(), []).append(code.strip())
    return tuple((glob, tuple(codes)) for glob, codes in found.items())


def complain_of(report: FileReport, settings: Settings) -> None:
    """The line for a file that could not be linted."""
    failure = report.failure
    if failure is None:
        return
    if failure.ours:
        complain(f"internal error in {report.path}: {failure.message}; please report")
    else:
        complain(f"{report.path}: {failure.message}")
    if settings.verbose and failure.detail:
        tell(failure.detail.rstrip())
