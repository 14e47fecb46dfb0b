"""``[tool.remat-lint]``: read once, checked, and handed on as one frozen object.

The nearest ``pyproject.toml`` that has the table counts, looked for from the linted paths upwards. What the
command line says replaces what the file says; ``--isolated`` reads no file at all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from remat_lint.errors import UserError
from remat_lint.wrapper_names import WrapperNames

TABLE = "remat-lint"
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

PerFileIgnores = tuple[tuple[str, tuple[str, ...]], ...]


class Config(NamedTuple):
    """All settings. Globs are relative to ``root``; ``file`` is where they were read, if anywhere."""

    root: Path
    file: Path | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: PerFileIgnores = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    src: tuple[Path, ...] = ()
    region_wrappers: tuple[str, ...] = ()
    marker_wrappers: tuple[str, ...] = ()
    checkpoint_wrappers: tuple[str, ...] = ()
    recompute_guards: tuple[str, ...] = ()

    @property
    def wrappers(self) -> WrapperNames:
        """The functions that are named as wrappers of torch_remat's."""
        return WrapperNames(
            frozenset(self.region_wrappers),
            frozenset(self.marker_wrappers),
            frozenset(self.checkpoint_wrappers),
            frozenset(self.recompute_guards),
        )

    def codes(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every list of rule codes, with the name of its setting."""
        lists = [
            ("select", self.select or ()),
            ("ignore", self.ignore),
            ("extend-select", self.extend_select),
        ]
        return lists + [("per-file-ignores", codes) for _, codes in self.per_file_ignores]

    def overridden(
        self,
        select: tuple[str, ...] | None = None,
        ignore: tuple[str, ...] = (),
        extend_select: tuple[str, ...] = (),
        per_file_ignores: PerFileIgnores = (),
    ) -> Config:
        """With what the command line says: a new ``select`` drops the file's choice of rules."""
        base = self if select is None else self._replace(select=select, ignore=(), extend_select=())
        return base._replace(
            ignore=base.ignore + ignore,
            extend_select=base.extend_select + extend_select,
            per_file_ignores=per_file_ignores or base.per_file_ignores,
        )


def parse_codes(text: str) -> tuple[str, ...]:
    """``"RMT101, RMT2"`` as its selectors."""
    return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)


def load(start: Path, *, explicit: Path | None = None, isolated: bool = False) -> Config:
    """The configuration for files below ``start``.

    Raises ``UserError`` for a file that cannot be read or parsed, an unknown key, a value of a wrong type.
    """
    if isolated:
        return Config(root=Path.cwd())
    if explicit is not None:
        return _from_file(explicit, _read_toml(explicit), required=True) or Config(root=Path.cwd())
    for folder in (start, *start.parents):
        candidate = folder / "pyproject.toml"
        if candidate.is_file():
            found = _from_file(candidate, _read_toml(candidate), required=False)
            if found is not None:
                return found
    return Config(root=Path.cwd())


def _read_toml(path: Path) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise UserError(f"{path}: no valid TOML: {reason}") from error


def _from_file(path: Path, document: Mapping[str, Any], *, required: bool) -> Config | None:
    """The settings of a TOML file, None where it has no table for this tool."""
    tools = document.get("tool", {})
    if isinstance(tools, dict) and TABLE in tools:
        table = tools[TABLE]
    elif not required:
        return None
    elif path.name == "pyproject.toml":
        raise UserError(f"{path}: has no table [tool.{TABLE}]")
    else:
        table = document
    if not isinstance(table, dict):
        raise UserError(f"{path}: tool.{TABLE} must be a table, not {_kind(table)}")
    config = Config(root=path.parent.resolve(), file=path)
    settings = {key: _setting(path, key, value) for key, value in table.items()}
    if "src" in settings:
        settings["src"] = tuple(config.root / folder for folder in settings["src"])
    return config._replace(**{key.replace("-", "_"): value for key, value in settings.items()})


def _setting(path: Path, key: str, value: object) -> Any:
    reader = _READERS.get(key)
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise UserError(f"{path}: unknown key {key!r} in [tool.{TABLE}]; known keys: {known}")
    return reader(f"{path}: {key}", value)


def _strings(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        wrong = (
            next(item for item in value if not isinstance(item, str)) if isinstance(value, list) else value
        )
        inside = ", not one with " if isinstance(value, list) else ", not "
        raise UserError(f'{where} must be a list of strings such as ["..."]{inside}{_kind(wrong)}')
    return tuple(value)


def _dotted_names(where: str, value: object) -> tuple[str, ...]:
    names = _strings(where, value)
    for name in names:
        if "." not in name or not all(part.isidentifier() for part in name.split(".")):
            raise UserError(f'{where}: {name!r} is no full name such as "package.module.function"')
    return names


def _strings_by_glob(where: str, value: object) -> PerFileIgnores:
    if not isinstance(value, dict):
        raise UserError(f'{where} must be a table such as {{ "tests/*" = ["RMT1"] }}, not {_kind(value)}')
    return tuple((glob, _strings(f"{where}.{glob!r}", codes)) for glob, codes in value.items())


def _kind(value: object) -> str:
    names: Sequence[tuple[type, str]] = (
        (bool, "a boolean"),
        (int, "a number"),
        (float, "a number"),
        (str, "a string"),
        (list, "a list"),
        (dict, "a table"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "a date or time")


_READERS: dict[str, Callable[[str, object], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "per-file-ignores": _strings_by_glob,
    "exclude": _strings,
    "extend-exclude": _strings,
    "src": _strings,
    "region-wrappers": _dotted_names,
    "marker-wrappers": _dotted_names,
    "checkpoint-wrappers": _dotted_names,
    "recompute-guards": _dotted_names,
}
