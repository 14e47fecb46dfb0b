"""The tables of ``rows/``: a name, a program, and what becomes of it.

A table that is named after a rule (``rmt103_taken_out.txt``) is about its fix, all others about RMT101.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROWS = Path(__file__).parent / "rows"
PAIRS = Path(__file__).parent / "pairs"


def _rows() -> Iterator[Any]:
    for table in sorted(ROWS.glob("*.txt")):
        text = table.read_text(encoding="utf-8")
        for row in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
            name, _, programs = row.partition("\n")
            before, _, after = programs.partition("--- becomes\n")
            after = after.rstrip("\n") + "\n"
            yield pytest.param(_code(table), before, after, id=f"{table.stem}: {name}")


def _code(path: Path) -> str:
    """The rule whose fix a file is about."""
    return path.stem[:6].upper() if path.stem.startswith("rmt") else "RMT101"


@pytest.mark.parametrize(("code", "before", "after"), list(_rows()))
def test_row(code: str, before: str, after: str, fix: Callable[..., bytes]) -> None:
    assert fix(before.encode(), code).decode() == after


@pytest.mark.parametrize(
    "before", sorted(PAIRS.glob("*.before.py")), ids=lambda path: path.name.partition(".")[0]
)
def test_pair(before: Path, fix: Callable[..., bytes]) -> None:
    """Whole files, byte for byte: the ones with tabs, carriage returns or a byte-order mark too."""
    after = before.with_name(before.name.replace(".before.", ".after."))
    assert fix(before.read_bytes(), _code(before)) == after.read_bytes()
