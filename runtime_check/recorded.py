"""A manifest of the regions that ran: written on request, kept under review, confirmed by later runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from pathlib import Path

from torch import nn

from remat_lint.manifest import DeclaringClass, Manifest, ManifestError, Region, from_json, to_json
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.regions import RegionCount, SeenRegion
from remat_lint.runtime_check.source_flags import Flag


def recorded_class(
    kind: type[nn.Module],
    counts: Iterable[RegionCount],
    seen: dict[str, SeenRegion],
    *,
    is_one_checkpoint: bool,
) -> DeclaringClass:
    """The entry of a class, from one run of an object of it.

    A region's name begins with its checkpoint's, as ``remat-lint manifest`` names the parts of a model,
    unless the whole object ran in one checkpoint.
    """
    regions = []
    for one in counts:
        region = seen[one.region]
        path, line = region.place
        kept = "recompute" if region.own_recompute else "save"
        checkpoint = None if is_one_checkpoint else one.checkpoint
        regions.append(
            Region(
                name=one.region if checkpoint is None else f"{checkpoint}.{one.region}",
                kept=kept if region.flag is Flag.CONSTANT else "policy",
                static=True,
                conditional=False,
                checkpoint=checkpoint,
                inside=None,
                path=_relative(path),
                line=line,
                column=1,
            )
        )
    file, first_line = _defined(kind)
    return DeclaringClass(
        f"{kind.__module__}.{kind.__qualname__}", file, first_line, True, tuple(regions), recorded=True
    )


def write(file: Path, entry: DeclaringClass) -> None:
    """Put a class's entry into a manifest; the file is made where there is none.

    Raises:
        UsageError: where the file is no manifest, or cannot be written.
    """
    try:
        manifest = from_json(file.read_text(encoding="utf-8")) if file.exists() else Manifest()
        others = [one for one in manifest.classes if one.name != entry.name]
        classes = sorted([*others, entry], key=lambda one: (one.path, one.line))
        file.write_text(to_json(Manifest(tuple(classes))), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    except (ManifestError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is there and is no manifest: {error}") from error


def _defined(kind: type) -> tuple[str, int]:
    try:
        return _relative(inspect.getfile(kind)), inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return "<unknown>", 1


def _relative(path: str) -> str:
    relative = os.path.relpath(path)
    return Path(path if relative.startswith("..") else relative).as_posix()
