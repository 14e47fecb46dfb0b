"""Whether the regions that ran are those that a manifest declares for the module's class."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from remat_lint.manifest import DeclaringClass, Manifest, ManifestError, Region, from_json
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.regions import SeenRegion


@dataclass(frozen=True)
class Agreement:
    """What the comparison with a manifest says: one sentence for each region that is not as declared."""

    declared: Declared
    differences: tuple[str, ...]
    undeclared: tuple[str, ...] = ()
    """Regions that ran, and that a manifest which is not complete could not list."""


@dataclass(frozen=True)
class Declared:
    """What a manifest says of one class."""

    file: str
    entry: DeclaringClass

    def compare_recorded(self, now: DeclaringClass) -> Agreement:
        """Compare what ran before with what ran now: each region of each checkpoint, in order."""
        before = {region.name: region for region in self.entry.regions}
        after = {region.name: region for region in now.regions}
        differences = [f"{name} ran and is not declared" for name in after if name not in before]
        differences += [f"{name} is declared and did not run" for name in before if name not in after]
        for name in before.keys() & after.keys():
            was, is_now = before[name].kept, after[name].kept
            if was != is_now:
                differences.append(f"{name} is declared {was} and ran as {is_now}")
        if not differences and list(before) != list(after):
            first, other = next((a, b) for a, b in zip(before, after, strict=True) if a != b)
            differences.append(f"{other} ran before {first}, and is declared after it")
        return Agreement(self, tuple(differences))

    def compare(
        self, ran: Iterable[str], seen: Mapping[str, SeenRegion], *, is_one_checkpoint: bool
    ) -> Agreement:
        """Compare with the names that torch_remat recorded for an object of the class.

        ``is_one_checkpoint`` says that the whole object ran in one checkpoint. Otherwise a region for
        which the class shows no checkpoint may stand in none, or in one that was put around a part
        from outside.
        """
        wanted = {region: tuple(_names(region, is_one_checkpoint)) for region in self.entry.regions}
        matching = {
            name: [region for region, own in wanted.items() if any(_fits(region, one, name) for one in own)]
            for name in dict.fromkeys(ran)
        }
        found = {region for regions in matching.values() for region in regions}
        undeclared = tuple(name for name, regions in matching.items() if not regions)
        differences = [f"{name} ran and is not declared" for name in undeclared if self.entry.complete]
        for region, own in wanted.items():
            # torch_remat records no region inside one that is saved; the tap sees it.
            ran_inside = any(_fits(region, one, name) for one in own for name in seen)
            if region not in found and not ran_inside and _must_run(region, own, is_one_checkpoint):
                differences.append(f"{region.name} is declared and did not run ({region.path}:{region.line})")
        for name, regions in matching.items():
            if name in seen:
                differences += _wrongly_kept(seen[name], regions)
        differences += _out_of_order(self.entry.regions, matching)
        return Agreement(self, tuple(differences), () if self.entry.complete else undeclared)


def declared_class(file: Path, class_name: str) -> Declared:
    """The entry of a class in a manifest.

    Raises:
        UsageError: where the file is no manifest, or the class is not in it.
    """
    try:
        manifest = from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--manifest {file} cannot be read: {error.strerror}") from error
    except (ManifestError, UnicodeDecodeError) as error:
        raise UsageError(f"--manifest {file} cannot be used: {error}") from error
    return entry_of(manifest, class_name, str(file), f"--manifest {file}")


def entry_of(manifest: Manifest, class_name: str, file: str, option: str) -> Declared:
    """The entry of a class in a manifest that came from ``file``, as ``option`` asked for.

    Raises:
        UsageError: where the class is not in it, or more than one may be meant.
    """
    found = manifest.find(class_name)
    if not found:
        raise UsageError(
            f"{option} has no class {class_name}: write it anew with remat-lint manifest, for the"
            " folder that declares the class"
        )
    first, *others = found
    if others:
        names = ", ".join(one.name for one in found)
        raise UsageError(f"{option} has several classes that {class_name} may be: {names}")
    return Declared(file, first)


def _names(region: Region, is_one_checkpoint: bool) -> Iterator[str]:
    """What torch_remat may call a region: as seen from the object, or from the part that is checkpointed."""
    yield region.name
    if is_one_checkpoint or region.checkpoint == "":
        return
    scope, slash, path = region.name.rpartition("/")
    any_scope = "*" if path.startswith(f"*{region.checkpoint}.") else ""
    front = f"{any_scope}{region.checkpoint}."
    if region.checkpoint is not None and path.startswith(front):
        yield scope + slash + any_scope + path[len(front) :]
    elif region.checkpoint in (None, "*"):  # any part: the class does not show which
        parts = path.split(".")
        yield from (scope + slash + ".".join(parts[start:]) for start in range(1, len(parts)))


def _fits(region: Region, wanted: str, name: str) -> bool:
    if region.static:
        return wanted == name
    return fnmatchcase(name, re.sub(r"[?[]", lambda special: f"[{special[0]}]", wanted))


def _must_run(region: Region, names: Iterable[str], is_one_checkpoint: bool) -> bool:
    stands_in_one = is_one_checkpoint or region.checkpoint is not None
    is_known = region.static or any("*" not in name for name in names)
    return stands_in_one and is_known and not region.conditional


def _out_of_order(declared: Sequence[Region], matching: Mapping[str, Sequence[Region]]) -> Iterator[str]:
    """The first region that ran before another one which is declared before it.

    Both are in the order of their first runs. Regions of some paths only are left out.
    """
    first_runs: dict[Region, str] = {}
    for name, own in matching.items():
        for region in own[:1]:
            first_runs.setdefault(region, name)
    places = {name: place for place, name in enumerate(matching)}
    ran = [
        (region, first_runs[region]) for region in declared if region in first_runs and not region.conditional
    ]
    for (one, before), (_, after) in itertools.pairwise(ran):
        if places[before] > places[after]:
            yield f"{after} ran before {before}, and is declared after it ({one.path}:{one.line})"
            return


def _wrongly_kept(seen: SeenRegion, regions: Sequence[Region]) -> Iterator[str]:
    """``save`` and ``recompute`` are what the source says; a policy may decide either."""
    kept = "recompute" if seen.own_recompute else "save"
    if regions and not any(region.kept in (kept, "policy") for region in regions):
        declared = regions[0]
        yield f"{seen.name} is declared {declared.kept} and ran as {kept} ({declared.path}:{declared.line})"
