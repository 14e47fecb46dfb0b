"""``remat-lint``: findings on stdout, exit status 1 where there are any."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remat_lint import __version__
from remat_lint.cli.manifest import manifest
from remat_lint.cli.options import Inputs, Settings, complain_of, gather, shared_options
from remat_lint.cli.terminal import CLEAN, FAILED, FINDINGS, Command, Group, put, put_file, tell, wants_colour
from remat_lint.errors import UserError
from remat_lint.linter import FileReport, Linter

if TYPE_CHECKING:
    from remat_lint.findings import LocatedFinding

_VERSION = click.version_option(__version__, prog_name="remat-lint", message="%(prog)s %(version)s")


@click.group("remat-lint", cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@_VERSION
def cli() -> None:
    """Finds mistakes in code that is checkpointed with torch_remat or torch.utils.checkpoint.

    Forgotten markers, misused regions and checkpoints, and what must not run twice: random numbers,
    state, prints, logging, communication between ranks.

    `remat-lint PATHS` is short for `remat-lint check PATHS`; `remat-lint check --help` shows its options.
    Exit status: 0 clean, 1 findings, 2 the tool or its configuration failed.
    """


cli.add_command(manifest)


@cli.command(cls=Command)
@shared_options
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--output-file",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Write the report there, not to stdout.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--statistics", is_flag=True, help="Add counts of rules, files and analysis limits.")
@_VERSION
def check(
    paths: tuple[Path, ...],
    output_format: str,
    output_file: Path | None,
    exit_zero: bool,
    statistics: bool,
    **shared: Any,
) -> int:
    """Lint files and folders (default: the current folder). `-` reads standard input."""
    settings = Settings(**shared)
    inputs = gather(paths, settings)
    reports = _lint(inputs)
    findings = sorted(
        (finding for report in reports for finding in report.findings), key=lambda found: found.sort_key
    )
    colour = output_file is None and wants_colour(sys.stdout)
    summary = "" if settings.quiet else _summary(findings, reports)
    text = _render(output_format, findings, colour=colour, summary=summary)
    if output_file is None:
        put(text, colour=colour)
    else:
        put_file(output_file, text)
    for report in reports:
        complain_of(report, settings)
        for warning in report.warnings:
            tell(f"warning: {warning}", unless=settings.quiet)
    if statistics:
        _put_statistics(inputs, reports, findings, aside=output_format != "text" or output_file is not None)
    if inputs.found.problems or any(report.failure for report in reports):
        return FAILED
    return FINDINGS if findings and not exit_zero else CLEAN


def _lint(inputs: Inputs) -> list[FileReport]:
    if inputs.stdin is not None and inputs.found.skipped:
        return []
    sources = list(inputs.sources())
    linted = Linter(inputs.config).lint_all([one for one in sources if not isinstance(one, FileReport)])
    return [*linted, *(one for one in sources if isinstance(one, FileReport))]


def _summary(findings: Sequence[LocatedFinding], reports: Sequence[FileReport]) -> str:
    from remat_lint.report.summary import summarise

    failed = sum(report.failure is not None for report in reports)
    return summarise(findings, linted=len(reports) - failed, failed=failed)


def _render(output_format: str, findings: Sequence[LocatedFinding], *, colour: bool, summary: str) -> str:
    if output_format == "json":
        from remat_lint.report import json

        return json.render(findings)
    if not findings:
        return summary + "\n" * bool(summary)
    from remat_lint.report import text

    return text.render(findings, colour=colour, summary=summary)


def _put_statistics(
    inputs: Inputs, reports: Sequence[FileReport], findings: Sequence[LocatedFinding], *, aside: bool
) -> None:
    """After a text report on stdout; beside any other, on stderr."""
    from remat_lint.report.statistics import Statistics, render

    counted = Statistics(
        files=len(reports),
        relevant=sum(report.relevant for report in reports),
        skipped=len(inputs.found.skipped),
        suppressed=sum(report.suppressed for report in reports),
    )
    for report in reports:
        counted.given_up.update(report.given_up)
    text = render(counted, findings)
    if aside:
        tell(text.rstrip())
    else:
        put("\n" + text)


@cli.command(cls=Command)
@click.argument("code", required=False)
@click.option("--all", "everything", is_flag=True, help="List all rules.")
def rule(code: str | None, everything: bool) -> int:
    """Explain a rule, such as `remat-lint rule RMT101`."""
    from remat_lint.report.rule_page import page, table
    from remat_lint.rules import all_rules
    from remat_lint.selection import RESERVED

    rules = all_rules()
    if everything == (code is not None):
        raise UserError("give the code of a rule, or --all to list them")
    if code is None:
        put(table(rules))
        return CLEAN
    for candidate in rules:
        if code.upper() == candidate.code or code == candidate.name:
            put(page(candidate))
            return CLEAN
    if code.upper() in RESERVED:
        raise UserError(f"{code.upper()} is reserved for a later version; it reports nothing yet")
    raise UserError(f"unknown rule {code!r}; `remat-lint rule --all` lists the rules")


def main() -> None:
    """The console script."""
    cli.main(prog_name="remat-lint")
