"""The regions that the classes of a file declare, with their lines: what a manifest holds of it."""

from __future__ import annotations

import os

from remat_lint.analysis.declared import declaring_classes
from remat_lint.analysis.facts import DeclaredRegion
from remat_lint.limits import TOO_DEEP
from remat_lint.locate import Locator
from remat_lint.manifest import DeclaringClass, Region
from remat_lint.project import Project
from remat_lint.source import SourceError, SourceFile


def classes_of(source: SourceFile, project: Project) -> list[DeclaringClass]:
    """The classes of a file that declare regions. Raises ``SourceError``."""
    locator, module = Locator(source, project), _module_name(source.path)
    try:
        found = declaring_classes(source, project)
    except RecursionError as error:
        raise SourceError(TOO_DEEP) from error
    classes = []
    for one in found:
        where = locator.location(one.place)
        regions = tuple(_region(region, locator) for region in one.regions)
        classes.append(DeclaringClass(f"{module}.{one.name}", where.path, where.line, one.complete, regions))
    return classes


def _region(found: DeclaredRegion, locator: Locator) -> Region:
    where = locator.location(found.place)
    return Region(
        found.name,
        found.kept.value,
        found.static,
        found.conditional,
        found.checkpoint,
        found.inside,
        where.path,
        where.line,
        where.column,
    )


def _module_name(path: str) -> str:
    """How Python calls the module in a file, as far as packages have an ``__init__``."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = [name.removesuffix(".pyi").removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
