"""The project around a file: other modules found by name, read on demand and kept.

Imports resolve as Python would resolve them with the file's own folder, the parent of its top
package, the project root and the configured source folders on the path. Installed packages are
not searched: names imported from them stay names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from remat_lint.source import SourceFile

ROOT_MARKERS = ("pyproject.toml", ".git")

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    rb"(?P<names>\([^)]*\)|[^\r\n#]*)|import[ \t]+(?P<plain>[\w.]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"\w+")


class Project:
    """Finds the source files of modules. ``roots`` are extra folders that imports start from."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = tuple(Path(root).resolve() for root in roots)
        self._files: dict[Path, SourceFile | None] = {}
        self._search: dict[Path, tuple[Path, ...]] = {}
        self._found: dict[tuple[Path, str], Path | None] = {}
        self._reaching: dict[str, bool] = {}

    def add(self, source: SourceFile) -> None:
        """Use this file's content for its path (standard input, or a file that was just fixed)."""
        self._files[Path(source.path).resolve()] = source
        self._reaching.clear()

    def find(self, importer: SourceFile, module: str, level: int = 0) -> SourceFile | None:
        """The file of a module as ``importer`` would import it; None where it is not of the project."""
        folder = Path(importer.path).resolve().parent
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return self._read(_module_file(folder, module) if module else _package_file(folder))
        key = (folder, module)
        if key not in self._found:
            candidates = (_module_file(start, module) for start in self._search_path(folder))
            self._found[key] = next((path for path in candidates if path is not None), None)
        return self._read(self._found[key])

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
            if source.is_relevant() or self._reaching.get(source.path):
                self._reaching[start.path] = True
                return
            for imported in self._imports(source):
                if imported.path not in seen and self._reaching.get(imported.path) is not False:
                    seen.add(imported.path)
                    queue.append(imported)
        self._reaching |= dict.fromkeys(seen, False)

    def _imports(self, source: SourceFile) -> Iterator[SourceFile]:
        for match in _IMPORT.finditer(source.raw):
            dots, module, names = (
                match["dots"] or b"",
                match["module"] or match["plain"] or b"",
                match["names"],
            )
            base, level = module.decode(errors="replace"), len(dots)
            found = self.find(source, base, level) if base or level else None
            if found is not None:
                yield found
            for name in _WORD.findall(names or b""):
                inner = f"{base}.{name.decode(errors='replace')}" if base else name.decode(errors="replace")
                submodule = self.find(source, inner, level)
                if submodule is not None:
                    yield submodule

    def _search_path(self, folder: Path) -> tuple[Path, ...]:
        if folder not in self._search:
            self._search[folder] = tuple(dict.fromkeys(self._starts(folder)))
        return self._search[folder]

    def _starts(self, folder: Path) -> Iterator[Path]:
        yield folder
        top = folder
        while (top / "__init__.py").is_file() and top.parent != top:
            top = top.parent
        yield top
        for parent in (folder, *folder.parents):
            if any((parent / marker).exists() for marker in ROOT_MARKERS):
                yield parent
                break
        yield from self._roots

    def _read(self, path: Path | None) -> SourceFile | None:
        if path is None:
            return None
        if path not in self._files:
            try:
                self._files[path] = SourceFile.read(path)
            except OSError:
                self._files[path] = None
        return self._files[path]


def _module_file(start: Path, module: str) -> Path | None:
    base = start.joinpath(*module.split("."))
    if base.with_name(base.name + ".py").is_file():
        return base.with_name(base.name + ".py")
    return _package_file(base)


def _package_file(folder: Path) -> Path | None:
    init = folder / "__init__.py"
    return init if init.is_file() else None
