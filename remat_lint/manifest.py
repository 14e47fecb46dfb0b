"""The manifest: which regions each class declares, as a JSON file between the linter and the runtime checker.

``docs/manifest.md`` says what each key means, ``docs/manifest.schema.json`` what a file may hold. This module
imports nothing of either side.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

VERSION = 1
KEPT = ("save", "recompute", "policy")


class ManifestError(Exception):
    """A text is no manifest that this version can read."""


@dataclass(frozen=True, slots=True)
class Region:
    """A region that runs when an object of the class is called; its name is relative to the object.

    ``*`` in a name or path that is not ``static`` stands for any text.
    """

    name: str
    kept: str
    static: bool
    conditional: bool
    checkpoint: str | None
    inside: str | None
    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class DeclaringClass:
    """A class and its regions, in the order in which they first run.

    Where it is not ``complete``, something was called that the source does not show. Where it is
    ``recorded``, it is not what the source says but what ran: each region of each checkpoint, in order.
    """

    name: str
    path: str
    line: int
    complete: bool
    regions: tuple[Region, ...]
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The classes of some files, ordered by path and line."""

    classes: tuple[DeclaringClass, ...] = ()

    def find(self, name: str) -> tuple[DeclaringClass, ...]:
        """The classes of this qualified name, or of one that ends alike, as seen from another folder."""
        exact = tuple(one for one in self.classes if one.name == name)
        return exact or tuple(one for one in self.classes if _end_alike(one.name, name))


def to_json(manifest: Manifest) -> str:
    """The manifest as a file holds it."""
    classes = []
    for one in manifest.classes:
        written = {("class" if key == "name" else key): value for key, value in asdict(one).items()}
        if not one.recorded:
            del written["recorded"]
        classes.append(written)
    return json.dumps({"version": VERSION, "classes": classes}, indent=2) + "\n"


def from_json(text: str) -> Manifest:
    """The manifest in a file's text. Raises ``ManifestError``."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"it is no JSON: {error}") from error
    if not isinstance(whole, dict) or "version" not in whole:
        raise ManifestError("it is no manifest: an object with a version was expected")
    if whole["version"] != VERSION:
        raise ManifestError(f"it is of version {whole['version']!r}, and version {VERSION} is read here")
    return Manifest(tuple(_class(one) for one in _items(whole, "classes")))


def _class(found: Any) -> DeclaringClass:
    regions = tuple(Region(**_checked(Region, one, "region")) for one in _items(found, "regions"))
    named = {"recorded": False, **found, "name": found.get("class"), "regions": regions}
    return DeclaringClass(**_checked(DeclaringClass, named, "class"))


def _items(found: Any, key: str) -> Sequence[Any]:
    value = found.get(key) if isinstance(found, dict) else None
    if not isinstance(value, list):
        raise ManifestError(f"it has no list of {key}")
    return value


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "str | None": (str, type(None)),
    "tuple[Region, ...]": (tuple,),
}
"""What the fields may hold, by their annotations."""


def _checked(kind: type[Region | DeclaringClass], found: Any, what: str) -> dict[str, Any]:
    """The values of a record's fields; other keys are left out."""
    if not isinstance(found, dict):
        raise ManifestError(f"it holds {found!r} where a {what} was expected")
    values = {}
    for field in fields(kind):
        value = found.get(field.name)
        if not isinstance(value, _TYPES[str(field.type)]) or (field.name == "kept" and value not in KEPT):
            raise ManifestError(f"a {what} in it has {field.name} {value!r}")
        values[field.name] = value
    return values


def _end_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return longer.endswith(f".{shorter}")
