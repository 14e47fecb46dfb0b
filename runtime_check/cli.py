"""``remat-check``: the command."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

import click

from remat_lint.runtime_check.errors import UsageError, in_one_line


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    try:
        number = version("remat-lint")
    except PackageNotFoundError:
        number = "(not installed)"
    click.echo(f"remat-check {number}")
    context.exit()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("target", metavar="PACKAGE.MODULE:FACTORY")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="PATTERN[,PATTERN]",
    help="Also try this policy: globs of the regions to save, such as 'attention.*'. Repeatable.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to run; auto is CUDA where there is a GPU.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Where random streams start.",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Compare the regions that run with a file that remat-lint manifest wrote.",
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
    target: str,
    policies: tuple[str, ...],
    device: str,
    seed: int,
    manifest: Path | None,
    wants_traceback: bool,
) -> None:
    """Run one training step with and without torch_remat and compare it bit for bit.

    FACTORY takes no argument and returns (module, inputs). The step runs without checkpoints, then
    with no region saved, all saved, each alone, and under every given policy.

    Exit status: 0 all equal, 1 a policy breaks the step or the manifest names other regions, 2 the
    target or an option cannot be used, 5 the step is not reproducible by itself.
    """
    _require_torch()
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    from remat_lint.runtime_check.checker import Options, check
    from remat_lint.runtime_check.report import rendered

    try:
        result = check(target, Options(policies=policies, device=device, seeds=(seed,), manifest=manifest))
    except UsageError as error:
        _stop(str(error), error if wants_traceback else None)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
        _stop(
            f"remat-check itself failed with {in_one_line(error)}: please report it, with --traceback",
            error if wants_traceback else None,
        )
    click.echo(rendered(result))
    if wants_traceback:
        for text in dict.fromkeys(r.raised.traceback for r in result.broken if r.raised):
            click.echo(f"\n{text}", err=True)
    sys.exit(result.exit_status)


def _require_torch() -> None:
    # A CPU build of torch without numpy says so on import; it is no news about the target.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    try:
        import torch  # noqa: F401
        import torch_remat  # noqa: F401
    except ImportError as error:
        _stop(f"torch and torch-remat are needed ({error}): pip install 'remat-lint[runtime]'")


def _stop(message: str, error: BaseException | None = None) -> NoReturn:
    if error is not None:
        traceback.print_exception(error)
    click.echo(f"remat-check: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
