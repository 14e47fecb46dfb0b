"""The project around a file: other modules found by name, read on demand and kept.

Imports resolve as Python would resolve them with the file's own folder, the parent of its top
package, the project root and the configured source folders on the path. Installed packages are
not searched: names imported from them stay names.

Most imports of a program lead out of the project, and are asked for again in every file: what is
not there is remembered by its first part.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from os.path import abspath, basename, dirname, isdir, isfile, join
from pathlib import Path

from remat_lint import checkpoint_forms
from remat_lint.source import SourceError, SourceFile
from remat_lint.wrapper_names import NO_WRAPPERS, WrapperNames

ROOT_MARKERS = ("pyproject.toml", ".git")

_IMPORT = re.compile(
    rb"(?:^(?:\xef\xbb\xbf)?|[:;\r])[ \t\f]*"
    rb"(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\r\n#]*)"
    rb"|import[ \t]+(?P<plain>[\w.]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"\w+")


class Project:
    """Finds the source files of modules. ``roots`` are extra folders that imports start from.

    ``wrappers`` are functions whose names say what they do, wherever they are.
    """

    def __init__(self, roots: Sequence[Path] = (), wrappers: WrapperNames = NO_WRAPPERS) -> None:
        self.wrappers = wrappers
        self.unparsed: dict[str, SourceError] = {}
        """What is wrong with files that were asked for and do not parse, by their paths."""
        self._roots = tuple(abspath(root) for root in roots)
        self._files: dict[str, SourceFile | None] = {}
        self._starts: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._led_to: dict[tuple[str, str, int], str | None] = {}
        self._here: dict[tuple[str, str], bool] = {}
        self._reaching: dict[str, bool] = {}
        self._applying: dict[str, bool] = {}

    def add(self, source: SourceFile) -> None:
        """Use this file's content for its path: it was read already, or is not on disk like this."""
        path = abspath(source.path)
        known = self._files.get(path)
        self.unparsed.pop(source.path, None)
        if known is not None and known.raw != source.raw:
            self._reaching.clear()
            self._applying.clear()
        elif known is not None:
            source.share_work_of(known)
        self._files[path] = source

    def known(self, path: str) -> SourceFile | None:
        """The file at a path, where it was read already."""
        return self._files.get(abspath(path))

    def find(self, importer: SourceFile, module: str, level: int = 0) -> SourceFile | None:
        """The file of a module as ``importer`` would import it; None where it is not of the project."""
        key = (importer.path, module, level)
        if key not in self._led_to:
            self._led_to[key] = self._path_of(dirname(abspath(importer.path)), module, level)
        return self._read(self._led_to[key])

    def _path_of(self, folder: str, module: str, level: int) -> str | None:
        if not level:
            return self._absolute(folder, module)
        for _ in range(level - 1):
            folder = dirname(folder)
        return _module_file(folder, module) if module else _package_file(folder)

    def has_folder(self, importer: SourceFile, module: str, level: int = 0) -> bool:
        """Whether a module's name leads to a folder of the project: a namespace package, if not a package."""
        folder = dirname(abspath(importer.path))
        for _ in range(level - 1):
            folder = dirname(folder)
        if level or not self._is_here(folder, module):
            starts: Sequence[str] = (folder,) if level else ()
        else:
            starts = self._search_path(folder)
        return any(isdir(join(start, *module.split("."))) for start in starts)

    def _absolute(self, folder: str, module: str) -> str | None:
        key = (folder, module)
        if key not in self._found:
            candidates: Iterator[str | None] = iter(())
            if self._is_here(folder, module):
                candidates = (_module_file(start, module) for start in self._search_path(folder))
            self._found[key] = next((path for path in candidates if path is not None), None)
        return self._found[key]

    # --- which files can matter

    def may_checkpoint(self, source: SourceFile) -> bool:
        """Whether a file may declare regions or apply checkpoints, itself or through what it imports.

        Checkpoints that are not torch_remat's are looked for in the file itself, and where it takes something
        from that is named for them.
        """
        return self.reaches_remat(source) or self.applies_checkpoints(source)

    def applies_checkpoints(self, source: SourceFile) -> bool:
        """Whether a file may apply checkpoints, or take a function that does from another file."""
        if source.path not in self._applying:
            self._applying[source.path] = checkpoint_forms.are_mentioned(source.raw) or any(
                checkpoint_forms.are_mentioned(imported.raw)
                for statement in _IMPORT.finditer(source.raw)
                if checkpoint_forms.are_named(statement[0])
                for imported in self._imported_by(source, statement)
            )
        return self._applying[source.path]

    def reaches_remat(self, source: SourceFile) -> bool:
        """Whether a file, or a file of the project that it imports, however indirectly, has a relevant word.

        Nothing is parsed for this: import statements are found in the bytes.
        """
        if source.path not in self._reaching:
            self._explore(source)
        return self._reaching[source.path]

    def _explore(self, start: SourceFile) -> None:
        queue, seen = [start], {start.path}
        while queue:
            source = queue.pop()
            if self._is_relevant(source) or self._reaching.get(source.path):
                self._reaching[start.path] = True
                return
            for imported in self._imports(source):
                if imported.path not in seen and self._reaching.get(imported.path) is not False:
                    seen.add(imported.path)
                    queue.append(imported)
        self._reaching.update(dict.fromkeys(seen, False))

    def _is_relevant(self, source: SourceFile) -> bool:
        return source.is_relevant() or self.wrappers.are_mentioned(source.raw)

    def module_name(self, source: SourceFile) -> str:
        """The dotted name of a file as its own package knows it."""
        path = abspath(source.path)
        names = [] if basename(path) == "__init__.py" else [basename(path).removesuffix(".py")]
        folder = dirname(path)
        while isfile(join(folder, "__init__.py")) and dirname(folder) != folder:
            names.append(basename(folder))
            folder = dirname(folder)
        return ".".join(reversed(names))

    def _imports(self, source: SourceFile) -> Iterator[SourceFile]:
        for statement in _IMPORT.finditer(source.raw):
            yield from self._imported_by(source, statement)

    def _imported_by(self, source: SourceFile, statement: re.Match[bytes]) -> Iterator[SourceFile]:
        level = len(statement["dots"] or b"")
        module = (statement["module"] or statement["plain"] or b"").decode("ascii", "replace")
        if not level and not self._is_here(dirname(abspath(source.path)), module):
            return
        names = [name.decode("ascii", "replace") for name in _WORD.findall(statement["names"] or b"")]
        for inner in (module, *(f"{module}.{name}" if module else name for name in names)):
            found = self.find(source, inner, level) if inner or level else None
            if found is not None:
                yield found

    def _is_here(self, folder: str, module: str) -> bool:
        """Whether the first part of a module's name is of the project, for a file in this folder."""
        key = (folder, module.partition(".")[0])
        if key not in self._here:
            bases = [join(start, key[1]) for start in self._search_path(folder)]
            self._here[key] = any(isdir(base) or isfile(f"{base}.py") for base in bases)
        return self._here[key]

    # --- folders

    def _search_path(self, folder: str) -> tuple[str, ...]:
        if folder not in self._starts:
            self._starts[folder] = tuple(dict.fromkeys(self._starting_points(folder)))
        return self._starts[folder]

    def _starting_points(self, folder: str) -> Iterator[str]:
        yield folder
        top = folder
        while isfile(join(top, "__init__.py")) and dirname(top) != top:
            top = dirname(top)
        yield top
        parent = folder
        while dirname(parent) != parent:
            if any(os.path.exists(join(parent, marker)) for marker in ROOT_MARKERS):
                yield parent
                break
            parent = dirname(parent)
        yield from self._roots

    def _read(self, path: str | None) -> SourceFile | None:
        if path is None:
            return None
        if path not in self._files:
            try:
                self._files[path] = SourceFile.read(path)
            except OSError:
                self._files[path] = None
        return self._files[path]


def _module_file(start: str, module: str) -> str | None:
    base = join(start, *module.split("."))
    return f"{base}.py" if isfile(f"{base}.py") else _package_file(base)


def _package_file(folder: str) -> str | None:
    init = join(folder, "__init__.py")
    return init if isfile(init) else None
