"""Paths in, files out: in a fixed order, each file once.

A file that is named is always taken, whatever its suffix, unless ``force_exclude`` is set. In a folder,
``*.py`` and ``*.pyi`` are taken, less what the configuration and ``.gitignore`` files exclude. Links to
folders are not followed. pathspec is imported only where there is a pattern for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from remat_lint.config import DEFAULT_EXCLUDE, Config
from remat_lint.errors import UserError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi")


def shown(path: Path) -> str:
    """A path as reports name it: relative to the working directory where it lies below it."""
    if not path.is_absolute():
        return os.path.normpath(path)
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


@dataclass
class Discovery:
    """The files to lint, what was left out and why, and what could not be looked into."""

    files: list[Path] = field(default_factory=list)
    given: set[Path] = field(default_factory=set)
    """Those of them that the user named."""

    skipped: list[tuple[Path, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def discover(paths: Sequence[Path], config: Config, *, force_exclude: bool = False) -> Discovery:
    """All files below ``paths``. Raises ``UserError`` for a path that is not there."""
    for path in paths:
        _require(path)
    found = Discovery()
    excludes = Excludes(config)
    seen: set[str] = set()
    for path in paths:
        if force_exclude and excludes.match_with_parents(path):
            found.skipped.append((path, "excluded"))
        elif path.is_dir():
            _add_unseen(_walk(path, excludes, found), seen, found)
        else:
            _add_unseen([path], seen, found)
            found.given.add(path)
    found.files.sort(key=str)
    return found


def _require(path: Path) -> None:
    if not os.path.exists(path):  # unlike Path.exists, it answers for a name of any length
        what = "is a broken link" if os.path.islink(path) else "does not exist"
        raise UserError(f"{path}: {what}; give a file or a folder of Python code")
    if not os.path.isdir(path) and not os.path.isfile(path) and not path.is_char_device():
        raise UserError(f"{path}: is no regular file; give a file or a folder of Python code")


def _add_unseen(paths: Iterable[Path], seen: set[str], found: Discovery) -> None:
    for path in paths:
        identity = os.path.realpath(path)
        if identity not in seen:
            seen.add(identity)
            found.files.append(path)


class Excludes:
    """The configured exclusions: default names compared as they are, other patterns as gitignore lines."""

    def __init__(self, config: Config) -> None:
        """Patterns are relative to the configuration's root."""
        self._root = config.root
        self._names = frozenset(config.exclude).intersection(DEFAULT_EXCLUDE)
        patterns = [p for p in config.exclude + config.extend_exclude if p not in self._names]
        self._spec = _spec(patterns) if patterns else None

    def match(self, path: Path, *, folder: bool) -> bool:
        """Whether this file or folder itself is excluded."""
        if path.name in self._names:
            return True
        if self._spec is None:
            return False
        relative = _relative(path, self._root)
        return relative is not None and self._spec.match_file(relative + "/" * folder)

    def match_with_parents(self, path: Path) -> bool:
        """Whether the file is excluded, or any folder between it and the root."""
        absolute = Path(os.path.abspath(path))
        parents = [p for p in absolute.parents if p != self._root and p.is_relative_to(self._root)]
        return self.match(absolute, folder=path.is_dir()) or any(self.match(p, folder=True) for p in parents)


class GitIgnores:
    """The ``.gitignore`` files from the repository's root down to one folder.

    The innermost that has something to say decides.
    """

    def __init__(self, layers: tuple[tuple[Path, GitIgnoreSpec], ...] = ()) -> None:
        """``layers`` run from the outside in."""
        self._layers = layers

    @classmethod
    def above(cls, folder: Path) -> GitIgnores:
        """Those of the folders that contain this one, as far as its repository reaches.

        A folder that they ignore was asked for by name, so they do not count in it.
        """
        absolute = Path(os.path.abspath(folder))
        chain = [absolute, *absolute.parents]
        roots = [i for i, parent in enumerate(chain) if (parent / ".git").exists()]
        if not roots:
            return cls()
        ignores = cls()
        for parent in reversed(chain[1 : roots[0] + 1]):
            ignores = ignores.entering(parent)
        return cls() if any(ignores.match(p, folder=True) for p in chain[: roots[0]]) else ignores

    def entering(self, folder: Path) -> GitIgnores:
        """With the ``.gitignore`` of a folder, if it has one that can be read."""
        try:
            lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return self
        return GitIgnores((*self._layers, (folder, _spec(lines))))

    def match(self, path: Path, *, folder: bool) -> bool:
        """Whether git would ignore this file or folder."""
        for base, spec in reversed(self._layers):
            relative = _relative(path, base)
            verdict = spec.check_file(relative + "/" * folder).include if relative else None
            if verdict is not None:
                return verdict
        return False


def _walk(top: Path, excludes: Excludes, found: Discovery) -> Iterator[Path]:
    """The files below a folder; iterative, since folders may nest deeper than Python's stack."""
    pending = [(top, GitIgnores.above(top))]
    while pending:
        folder, inherited = pending.pop()
        ignores = inherited.entering(folder)
        for entry in _entries(folder, found):
            path = Path(entry.path)
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.name.endswith(SUFFIXES):
                continue
            if reason := _reason_to_skip(entry, path, excludes, ignores):
                found.skipped.append((path, reason))
            elif is_folder:
                pending.append((path, ignores))
            else:
                yield path


def _entries(folder: Path, found: Discovery) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        found.problems.append(f"{folder}: cannot be read: {error.strerror}")
        return []


def _reason_to_skip(
    entry: os.DirEntry[str], path: Path, excludes: Excludes, ignores: GitIgnores
) -> str | None:
    folder = entry.is_dir(follow_symlinks=False)
    if excludes.match(path, folder=folder):
        return "excluded"
    if ignores.match(path, folder=folder):
        return "ignored by git"
    if folder or entry.is_file():
        return None
    return "broken link" if entry.is_symlink() and not path.exists() else "not a regular file"


def _relative(path: Path, base: Path) -> str | None:
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(base))
    return None if relative.startswith("..") else relative.replace(os.sep, "/")


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise UserError(f"exclude: {str(error).splitlines()[0]}") from error


class PerFileIgnores:
    """Which codes are ignored in which files: globs as in gitignore, relative to the configuration's root."""

    def __init__(self, config: Config) -> None:
        """Compiles the patterns, if there are any."""
        self._root = config.root
        self._rules = [(_spec([glob]), codes) for glob, codes in config.per_file_ignores]

    def of(self, path: str) -> tuple[str, ...]:
        """The selectors ignored in one file."""
        relative = _relative(Path(path), self._root) if self._rules else None
        if relative is None:
            return ()
        return tuple(code for spec, codes in self._rules if spec.match_file(relative) for code in codes)
