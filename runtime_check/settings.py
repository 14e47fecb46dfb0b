"""``[tool.remat-check]`` of ``pyproject.toml``: named cases, and how they are checked.

The table holds settings for all cases, and ``[tool.remat-check.cases.NAME]`` one case each: its factory,
and settings of its own. What the command line says replaces both.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remat_lint.runtime_check.errors import UsageError

TABLE = "remat-check"


@dataclass(frozen=True)
class Settings:
    """What a file says. ``cases`` are factories by name; ``common`` and ``own`` are options by field name."""

    file: Path | None = None
    common: Mapping[str, Any] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def for_case(self, name: str) -> dict[str, Any]:
        """The options for a case, or for a target that is none."""
        return {**self.common, **self.own.get(name, {})}

    def targets(self, given: Sequence[str]) -> list[tuple[str, str]]:
        """Name and factory of each case: those that are given, or all.

        Raises:
            UsageError: where a name is no case and names no factory, or there is nothing to check.
        """
        if not given and not self.cases:
            raise UsageError(
                "nothing to check: give package.module:factory, or name cases in [tool.remat-check.cases]"
            )
        return [self._target(one) for one in given or self.cases]

    def _target(self, given: str) -> tuple[str, str]:
        if given in self.cases:
            return given, self.cases[given]
        if ":" in given or not self.cases:
            return given, given
        close = difflib.get_close_matches(given, self.cases, 1)
        hint = f"did you mean {close[0]}?" if close else f"the cases are: {', '.join(self.cases)}"
        raise UsageError(f"{given} is no case of {self.file} and no package.module:factory; {hint}")


def load(start: Path, explicit: Path | None = None) -> Settings:
    """The settings of a file, or of the nearest ``pyproject.toml`` with the table, from ``start`` upwards.

    Raises:
        UsageError: for a file that cannot be read, an unknown key, a value of a wrong type.
    """
    if explicit is not None:
        table = _table(explicit)
        if table is None:
            raise UsageError(f"{explicit}: has no table [tool.{TABLE}]")
        return _settings(explicit, table)
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file() and (table := _table(file)) is not None:
            return _settings(file, table)
    return Settings()


def _table(file: Path) -> Mapping[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise UsageError(f"{file}: no valid TOML: {reason}") from error
    tools = document.get("tool", {})
    table = tools.get(TABLE) if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{file}: tool.{TABLE} must be a table")
    return table


def _settings(file: Path, table: Mapping[str, Any]) -> Settings:
    cases = table.get("cases", {})
    if not isinstance(cases, dict) or not all(isinstance(case, dict) for case in cases.values()):
        raise UsageError(f"{file}: {TABLE}.cases must hold a table for each case")
    factories, own = {}, {}
    for name, case in cases.items():
        where = f"{TABLE}.cases.{name}"
        if "factory" not in case:
            raise UsageError(f'{file}: {where} has no factory: write factory = "package.module:function"')
        factories[name] = _text(f"{file}: {where}.factory", case["factory"])
        own[name] = _options(file, where, {key: value for key, value in case.items() if key != "factory"})
    common = {key: value for key, value in table.items() if key != "cases"}
    return Settings(file, _options(file, TABLE, common), factories, own)


def _options(file: Path, where: str, table: Mapping[str, Any]) -> dict[str, Any]:
    options = {}
    for key, value in table.items():
        if key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, 1)
            hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(sorted(KEYS))}"
            raise UsageError(f"{file}: unknown key {key!r} in [tool.{where}]; {hint}")
        name, read = KEYS[key]
        options[name] = read(f"{file}: {where}.{key}", value)
    return options


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where} must be a string, not {value!r}")
    return value


def _texts(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f'{where} must be a list of strings such as ["..."], not {value!r}')
    return tuple(value)


def _flag(where: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where} must be true or false, not {value!r}")
    return value


def _number(least: int) -> Callable[[str, object], int]:
    def read(where: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise UsageError(f"{where} must be a whole number of at least {least}, not {value!r}")
        return value

    return read


def _amount(where: str, value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
        raise UsageError(f"{where} must be a number greater than 0, not {value!r}")
    return float(value)


def _seeds(where: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise UsageError(f"{where} must be a list of numbers such as [0, 1], not {value!r}")
    return tuple(_number(0)(where, item) for item in value)


def _one_of(*choices: str) -> Callable[[str, object], str]:
    def read(where: str, value: object) -> str:
        if value not in choices:
            raise UsageError(f"{where} must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return read


def _tracks(where: str, value: object) -> tuple[str, ...]:
    return tuple(_one_of("block", "selective")(where, item) for item in _texts(where, value))


def _groups(where: str, value: object) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise UsageError(f"{where} must be a list of lists of ranks such as [[0, 1], [2, 3]], not {value!r}")
    return tuple(tuple(_number(0)(where, rank) for rank in group) for group in value)


KEYS: Mapping[str, tuple[str, Callable[[str, object], Any]]] = {
    "policies": ("policies", _texts),
    "unmatched": ("unmatched", _texts),
    "combinations": ("combinations", _number(0)),
    "tracks": ("tracks", _tracks),
    "segment": ("segment", _number(1)),
    "device": ("device", _one_of("auto", "cpu", "cuda")),
    "seeds": ("seeds", _seeds),
    "noise-runs": ("noise_runs", _number(2)),
    "accumulate": ("batches", _number(1)),
    "optimizer-step": ("steps_optimizer", _flag),
    "manifest": ("manifest", _text),
    "against-source": ("against_source", _flag),
    "memory": ("memory", _flag),
    "budget-mib": ("budget_mib", _amount),
    "max-slowdown": ("max_slowdown", _amount),
    "knock-out": ("knock_out", _flag),
    "timeout": ("timeout", _amount),
    "rank-groups": ("rank_groups", _groups),
    "rank-timeout": ("rank_timeout", _amount),
    "rank-start-timeout": ("rank_start_timeout", _amount),
}
"""Every key, with the field of ``Options`` that it sets and what reads its value."""
