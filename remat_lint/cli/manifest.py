"""``remat-lint manifest``: the regions that each class declares, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remat_lint.cli.options import STDIN, Inputs, Settings, complain_of, file_options, gather
from remat_lint.cli.terminal import CLEAN, FAILED, Command, put, put_file
from remat_lint.errors import UserError
from remat_lint.linter import Failure, FileReport, internal_failure
from remat_lint.project import Project
from remat_lint.source import SourceError, SourceFile

if TYPE_CHECKING:
    from remat_lint.manifest import DeclaringClass


@click.command(cls=Command)
@file_options
@click.option(
    "--output-file",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Write the manifest there, not to stdout.",
)
def manifest(paths: tuple[Path, ...], output_file: Path | None, **shared: Any) -> int:
    """List the regions that each class declares (default: of the current folder), as JSON.

    `remat-check --manifest FILE` compares them with those that run. Exit status: 0 done, 2 the tool or its
    configuration failed.
    """
    from remat_lint.manifest import Manifest, to_json

    if STDIN in paths:
        raise UserError("`-` is not taken here: a manifest names the files that declare regions")
    settings = Settings(**shared)
    inputs = gather(paths, settings)
    classes: list[DeclaringClass] = []
    failed = bool(inputs.found.problems)
    for found in _found(inputs):
        if isinstance(found, FileReport):
            complain_of(found, settings)
            failed = True
        else:
            classes.append(found)
    text = to_json(Manifest(tuple(sorted(classes, key=lambda one: (one.path, one.line)))))
    if output_file is None:
        put(text)
    else:
        put_file(output_file, text)
    return FAILED if failed else CLEAN


def _found(inputs: Inputs) -> Iterator[DeclaringClass | FileReport]:
    """The classes of every file; a report where a file cannot be read."""
    project = Project([inputs.config.root, *inputs.config.src], inputs.config.wrappers)
    for source in inputs.sources():
        if isinstance(source, FileReport):
            yield source
            continue
        project.add(source)
        if project.reaches_remat(source) or (source.given and not source.compiles()):
            yield from _of_file(source, project)


def _of_file(source: SourceFile, project: Project) -> Iterator[DeclaringClass | FileReport]:
    from remat_lint.listing import classes_of

    try:
        yield from classes_of(source, project)
    except SourceError as error:
        where = f"{error.message} (line {error.line})"
        yield FileReport(source.path, failure=Failure(where, ours=False))
    except Exception as error:  # noqa: BLE001 - the last resort: one file must not end the run
        yield FileReport(source.path, failure=internal_failure(error))
