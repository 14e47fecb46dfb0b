"""The modules of code that a step can come to, by the names that stand in their code.

In a test run, or a large package, most modules that are loaded have nothing to do with the step, and their
tables need not be looked through after each track. Too much is better than too little here: a name that might
be a module is one, and where modules are imported by names that are computed, all are within reach.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType

_COMPUTED = ({"import_module"}, {"__import__"}, {"sys", "modules"}, {"exec"}, {"eval"})
"""Names that together say: any module may be meant."""


def within_reach(roots: Iterable[str], loaded: Mapping[str, ModuleType]) -> set[str]:
    """The names of those ``loaded`` modules that the code of ``roots`` can come to, themselves included.

    All of them where that cannot be told.
    """
    found = set[str]()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        mentioned = _mentioned(loaded[name]) if name in loaded else None
        if mentioned is None:
            return set(loaded)
        waiting += _named(name, mentioned, loaded)
        waiting += {home for home in _homes(loaded[name]) if home in loaded}
    return found


def _named(name: str, mentioned: frozenset[str], loaded: Mapping[str, ModuleType]) -> set[str]:
    """The modules that names in the code of ``name`` may stand for, absolute or seen from a package."""
    parents = _parents(name)
    found = {*parents, *mentioned} & loaded.keys()
    packages = [*parents, *found]
    for package in packages:
        for inner in {f"{package}.{one}" for one in mentioned} & loaded.keys() - found:
            found.add(inner)
            packages.append(inner)
    return found | {parent for one in found for parent in _parents(one) if parent in loaded}


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _homes(code: ModuleType) -> Iterator[str]:
    """Where the functions and classes come from that a module holds, or the classes in it: also patches."""
    kinds = [value for value in vars(code).values() if isinstance(value, type)]
    for space in (code, *kinds):
        for value in list(vars(space).values()):
            maker = value if isinstance(value, (type, FunctionType)) else type(value)
            if isinstance(maker.__module__, str):
                yield maker.__module__


def _mentioned(code: ModuleType) -> frozenset[str] | None:
    """All names and texts in the code of a module; None where it is not known, or names are computed."""
    file = getattr(code, "__file__", None)
    if file is None:
        is_a_namespace = hasattr(code, "__path__")
        return frozenset() if is_a_namespace else None
    return _mentioned_in(code.__name__, file)


@functools.cache
def _mentioned_in(name: str, file: str) -> frozenset[str] | None:
    try:
        code = SourceFileLoader(name, file).get_code(name)
    except (ImportError, OSError, SyntaxError, ValueError):
        return None
    found = set[str]()
    waiting = [code] if code is not None else []
    while waiting:
        one = waiting.pop()
        texts = {const for const in one.co_consts if isinstance(const, str)}
        names = {*one.co_names, *texts}
        if any(together <= names for together in _COMPUTED):
            return None
        found |= names
        waiting += [const for const in one.co_consts if isinstance(const, CodeType)]
    return frozenset(found)
