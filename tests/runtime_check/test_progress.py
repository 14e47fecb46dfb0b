"""Progress is one line on a terminal, and nothing elsewhere."""

from __future__ import annotations

from io import StringIO

import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from remat_lint.runtime_check.plan import PLAIN, Plan, segments
from remat_lint.runtime_check.progress import Progress
from remat_lint.runtime_check.regions import Observation


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def written(stream: StringIO, *plans: Plan) -> str:
    with Progress(stream, "llama") as progress:
        for plan in plans:
            assert progress(Observation(plan)) == ()
    return stream.getvalue()


def seen(text: str) -> list[str]:
    """What stood on the line, one after the other."""
    return [line.rstrip() for line in text.split("\r") if line.strip()]


def test_line_is_written_anew_and_wiped_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter((10.0, 10.5, 13.0))
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    text = written(Terminal(), segments(2), PLAIN)
    assert seen(text) == ["llama: run 1, segments of 2 (0 s)", "llama: run 2, plain (3 s)"]
    assert "\n" not in text
    _, first, second, blank, last = text.split("\r")
    assert len(first) == len(second)
    assert (blank.strip(), last) == ("", "")


def test_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    assert seen(written(Terminal(), PLAIN)) == ["llama: run"]


def test_nothing_where_there_is_no_terminal() -> None:
    assert written(StringIO(), PLAIN) == ""
