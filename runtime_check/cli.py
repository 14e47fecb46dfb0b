"""``remat-check``: the command."""

from __future__ import annotations

import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from remat_lint.runtime_check import settings
from remat_lint.runtime_check.errors import UsageError, in_one_line

if TYPE_CHECKING:
    from remat_lint.runtime_check.checker import CheckResult
    from remat_lint.runtime_check.divergence import Account
    from remat_lint.runtime_check.output import Files
    from remat_lint.runtime_check.ranks import RankGuard
    from remat_lint.runtime_check.record import Record


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    try:
        number = version("remat-lint")
    except PackageNotFoundError:
        number = "(not installed)"
    click.echo(f"remat-check {number}")
    context.exit()


_FILE = click.Path(path_type=Path)


class _Command(click.Command):
    """Says in one line what is wrong with the arguments."""

    def main(self, *args: Any, **options: Any) -> Any:
        """As click does it, but for the message."""
        try:
            status = super().main(*args, **{**options, "standalone_mode": False})
        except click.ClickException as error:
            _stop(error.format_message())
        except click.Abort:
            sys.exit(130)
        sys.exit(status or 0)


@click.command(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("targets", metavar="[PACKAGE.MODULE:FACTORY | CASE]...", nargs=-1)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="PATTERN[,PATTERN]",
    help="Also try this policy: globs of the regions to save, such as 'attention.*'. Repeatable.",
)
@click.option(
    "--unmatched",
    multiple=True,
    metavar="PATTERN",
    help="A pattern of a --policy that need match no region, as another stage of a pipeline has. Repeatable.",
)
@click.option(
    "--combinations",
    type=click.IntRange(0),
    metavar="N",
    help="Try every combination of regions where there are at most N.  [default: 64]",
)
@click.option(
    "--track",
    "tracks",
    type=click.Choice(["block", "selective"]),
    multiple=True,
    help="Also checkpoint whole blocks as torch does, or selectively. Repeatable.",
)
@click.option(
    "--segment",
    type=click.IntRange(1),
    metavar="G",
    help="Also checkpoint segments of G blocks as torch does; the last one may be shorter.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    help="Where to run; auto is CUDA where there is a GPU.  [default: auto]",
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(0, 2**32 - 1),
    multiple=True,
    metavar="N",
    help="Where random streams start. Repeatable: one check for each.  [default: 0]",
)
@click.option(
    "--noise-runs",
    type=click.IntRange(2),
    metavar="N",
    help="How often the plain step runs, to see what it does not repeat by itself.  [default: 3]",
)
@click.option(
    "--accumulate",
    "batches",
    type=click.IntRange(1),
    metavar="N",
    help="Run forward and backward N times before the gradients are compared.  [default: 1]",
)
@click.option(
    "--optimizer-step",
    "steps_optimizer",
    is_flag=True,
    default=None,
    help="Let an optimizer step then, and compare the parameters, too.",
)
@click.option(
    "--manifest",
    metavar="FILE",
    help="Compare the regions that run with a file that remat-lint manifest or --write-manifest wrote.",
)
@click.option("--update", is_flag=True, help="Write the regions that ran into the file of --manifest.")
@click.option(
    "--write-manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the regions that ran there, as a snapshot to review.",
)
@click.option(
    "--against-source",
    is_flag=True,
    default=None,
    help="Compare the regions that run with what remat-lint manifest says of the source.",
)
@click.option(
    "--memory",
    is_flag=True,
    default=None,
    help="Measure bytes by region and time, and find the policies that are worth a choice.",
)
@click.option(
    "--budget-mib",
    type=click.FloatRange(0, min_open=True),
    metavar="MIB",
    help="What a policy may retain after forward: the fastest one that does is named. Implies --memory.",
)
@click.option(
    "--max-slowdown",
    type=click.FloatRange(0, min_open=True),
    metavar="RATIO",
    help="The longest step, in proportion to the plain one: 1.2 is a fifth longer. Implies --memory.",
)
@click.option(
    "--knock-out",
    is_flag=True,
    default=None,
    help="Silence each marker in turn, to find those that no policy needs.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Give up on a case after this time: it is inconclusive then.",
)
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write a record of everything there.")
@click.option("--junit", "junit_file", type=_FILE, metavar="FILE", help="Write JUnit XML there.")
@click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write a page with pictures there.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Read [tool.remat-check] there, not in the nearest pyproject.toml.",
)
@click.option("--traceback", "wants_traceback", is_flag=True, help="Show Python tracebacks of what fails.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main(
    targets: tuple[str, ...],
    update: bool,
    write_manifest: Path | None,
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
    config: Path | None,
    wants_traceback: bool,
    **given: Any,
) -> None:
    """Run one training step with and without checkpoints and compare it bit for bit.

    FACTORY takes no argument and returns (module, inputs) or a Case; CASE is a name from
    [tool.remat-check.cases], and without any, all of them are checked. The step runs without checkpoints,
    three times, then with no region saved, all saved, each alone, every combination while they are few,
    and under every given policy.

    Exit status: 0 all equal, 1 a policy breaks the step or a manifest names other regions, 2 the target
    or an option cannot be used, 3 a budget is missed, 4 ranks differ, 5 inconclusive.
    """
    try:
        found = settings.load(Path.cwd(), config)
        cases = found.targets(targets)
        sys.argv[1:] = []  # a factory that parses arguments finds none of ours
        _require_torch()
        wanted = _Wanted(update, write_manifest, wants_traceback, _files(json_file, junit_file, html_file))
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        said = {name: value for name, value in given.items() if value not in (None, ())}
        each = {name: (factory, {**found.for_case(name), **said}) for name, factory in cases}
        try:
            statuses = _check_all(each, wanted)
        finally:  # what was found before something could not be used is not lost
            if wanted.records:
                wanted.files.write(wanted.records)
    except UsageError as error:
        _stop(str(error), error if wants_traceback else None)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
        _stop(
            f"remat-check itself failed with {in_one_line(error)}: please report it, with --traceback",
            error if wants_traceback else None,
        )
    sys.exit(next(status for status in _GRAVEST_FIRST if status in statuses))


@dataclass(frozen=True)
class _Wanted:
    """What the command does beside the check."""

    update: bool
    write_manifest: Path | None
    traceback: bool
    files: Files
    records: list[Record] = field(default_factory=list)
    """Of the cases that were checked so far."""


def _files(json_file: Path | None, junit_file: Path | None, html_file: Path | None) -> Files:
    from remat_lint.runtime_check.output import Files

    files = Files(json_file, junit_file, html_file)
    files.require_places()
    return files


_GRAVEST_FIRST = (1, 4, 3, 5, 0)
"""Of several cases, the gravest exit status counts."""


def _check_all(each: Mapping[str, tuple[str, dict[str, Any]]], wanted: _Wanted) -> list[int]:
    """Check the cases, on this rank or in this process alone, and say what is found."""
    from remat_lint.runtime_check.ranks import RankSettings, joined

    devices = {str(options.get("device", "auto")) for _, options in each.values()}
    patience_s = max(options.get("rank_start_timeout", 60.0) for _, options in each.values())
    common = RankSettings(start_timeout_s=patience_s)
    with joined(common, "cpu" if devices == {"cpu"} else "auto") as guard:
        return [_check(name, *each[name], wanted, guard) for name in each]


def _check(name: str, factory: str, options: dict[str, Any], wanted: _Wanted, guard: RankGuard | None) -> int:
    """Check one case, say what is found, and return its exit status, which is the same on all ranks."""
    from remat_lint.runtime_check.deadline import TimedOut
    from remat_lint.runtime_check.ranks import gravest
    from remat_lint.runtime_check.record import of_all_ranks
    from remat_lint.runtime_check.verdicts import EXIT_INCONCLUSIVE, EXIT_USAGE

    to_stderr = partial(click.echo, err=True)
    show: Callable[[str], None] = click.echo
    title = factory if name == factory else f"{name} ({factory})"
    if guard is not None:
        guard.parted = partial(_record_parting, title, options, wanted, guard.world)
    try:
        status, text = _checked(name, factory, title, options, wanted, guard)
    except TimedOut as error:
        status, text = EXIT_INCONCLUSIVE, f"remat-check: {name}: {error}, so it is inconclusive"
        show = to_stderr
        if guard is None or guard.rank == 0:
            wanted.records.append(_unfinished(title, options, str(error), status))
    except UsageError as error:
        if guard is None:
            raise
        status, text, show = EXIT_USAGE, f"remat-check: {error}", to_stderr
    if guard is None:
        show(text)
        return status
    statuses = guard.conclude(status, text, show)
    status = gravest(statuses)
    if status == EXIT_USAGE:
        sys.exit(status)
    if guard.rank == 0:
        wanted.records[-1] = of_all_ranks(wanted.records[-1], status, statuses)
    return status


def _record_parting(
    title: str, options: dict[str, Any], wanted: _Wanted, world: int, account: Account
) -> None:
    """Write what is known where ranks part: the process ends then."""
    from remat_lint.runtime_check.record import RanksRecord
    from remat_lint.runtime_check.verdicts import EXIT_RANKS

    ranks = RanksRecord(
        world, agree=False, suspects=account.suspects, findings=tuple(account.text.splitlines())
    )
    record = _unfinished(title, options, "The ranks do not do the same.", EXIT_RANKS)
    try:
        wanted.files.write([*wanted.records, replace(record, ranks=ranks)])
    except UsageError as error:
        click.echo(f"remat-check: {error}", err=True)


def _unfinished(title: str, options: dict[str, Any], why: str, status: int) -> Record:
    from remat_lint.runtime_check.bench import device_for
    from remat_lint.runtime_check.record import unfinished

    device = device_for(options.get("device", "auto"))
    return unfinished(title, why, exit_status=status, device=device, seeds=options.get("seeds", (0,)))


def _checked(
    name: str, factory: str, title: str, options: dict[str, Any], wanted: _Wanted, guard: RankGuard | None
) -> tuple[int, str]:
    """Check one case: its exit status, and what is to be said."""
    from remat_lint.runtime_check.checker import Options, check
    from remat_lint.runtime_check.progress import Progress
    from remat_lint.runtime_check.record import RanksRecord, record_of
    from remat_lint.runtime_check.report import rendered
    from remat_lint.runtime_check.sections import sections_of

    manifest = options.get("manifest")
    if wanted.update:
        if manifest is None:
            raise UsageError("--update: name the file to update with --manifest, or use --write-manifest")
        options = {**options, "manifest": None}
    for limit in ("timeout", "budget_mib", "max_slowdown"):
        if not math.isfinite(options.get(limit) or 0):
            raise UsageError(f"--{limit.replace('_', '-')} must be a number, not {options[limit]}")
    chosen = Options(**options)
    with Progress(sys.stderr, name) as progress:
        result = check(factory, chosen, guard, standing=progress)
    result = replace(result, target=title)
    if guard is None or guard.rank == 0:
        # Ranks that part end the job: who gets here has done the same as the others.
        ranks = None if guard is None else RanksRecord(guard.world, agree=True, suspects=(), findings=())
        wanted.records.append(record_of(result, sections_of(result, ranks), seeds=chosen.seeds))
    if wanted.traceback:
        for text in dict.fromkeys(r.raised.traceback for r in result.broken if r.raised):
            click.echo(f"\n{text}", err=True)
    for file in (wanted.write_manifest, Path(manifest) if wanted.update and manifest else None):
        if file is not None and (guard is None or guard.rank == 0):
            _write_manifest(file, result)
    return result.exit_status, rendered(result)


def _write_manifest(file: Path, result: CheckResult) -> None:
    from remat_lint.runtime_check.recorded import write

    if result.recorded is None or not result.recorded.regions:
        raise UsageError(f"{file} is not written: no region ran")
    write(file, result.recorded)
    click.echo(f"remat-check: {file} holds the {len(result.recorded.regions)} regions that ran", err=True)


def _require_torch() -> None:
    # A CPU build of torch without numpy says so on import; it is no news about the target.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    try:
        import torch  # noqa: F401
        import torch_remat  # noqa: F401
        import xxhash  # noqa: F401
    except ImportError as error:
        _stop(f"torch, torch-remat and xxhash are needed ({error}): pip install 'remat-lint[runtime]'")


def _stop(message: str, error: BaseException | None = None) -> NoReturn:
    if error is not None:
        traceback.print_exception(error)
    click.echo(f"remat-check: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
