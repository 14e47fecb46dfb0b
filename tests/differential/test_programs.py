"""Hundreds of tiny programs with torch_remat's verdict in a comment: the linter agrees with nearly all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

PROGRAMS = Path(__file__).parent / "data" / "programs.py"
JUDGED = ("RMT101", "RMT107", "RMT108")
TRUTH = re.compile(r"# truth: (?P<verdict>[a-z-]+)  \((?P<what>.*)\)")

SAME_DTYPE = "a cast reads unless the output has that dtype already, which only the run knows"
ACCEPTED_FALSE = {
    "program_0396": SAME_DTYPE,  # h.to(torch.float32)
    "program_0408": SAME_DTYPE,  # h.type(torch.float32)
    "program_0596": SAME_DTYPE,  # the same of a transposed output
    "program_0600": SAME_DTYPE,  # h.float()
    "program_0748": SAME_DTYPE,  # torch.as_tensor(h, dtype=torch.float32)
}
"""Programs that are reported although they run, and why that stands."""


class Program(NamedTuple):
    """One function of the file: its name, what torch_remat did, and its lines."""

    name: str
    verdict: str
    what: str
    first: int
    last: int


def _programs(text: str) -> Iterator[Program]:
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if TRUTH.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        truth = TRUTH.match(lines[start])
        assert truth is not None
        name = lines[start + 1].removeprefix("def ").partition("(")[0]
        yield Program(name, truth["verdict"], truth["what"], start + 1, end)


@cache
def _disagreements() -> tuple[list[str], list[str], int]:
    file = SourceFile("programs.py", PROGRAMS.read_bytes())
    facts = analyse(file, Project())
    found = {
        file.span(finding.place.node).line
        for rule in all_rules()
        if rule.code in JUDGED
        for finding in rule.check(facts)
    }
    missed, false, right = [], [], 0
    for program in _programs(file.text):
        reported = not found.isdisjoint(range(program.first, program.last + 1))
        if program.verdict == "placeholder" and not reported:
            missed.append(f"{program.name} ({program.what})")
        elif program.verdict == "ok" and reported:
            false.append(program.name)
        elif program.verdict in ("placeholder", "ok"):
            right += 1
    return missed, false, right


def test_no_placeholder_error_is_missed() -> None:
    assert _disagreements()[0] == []


def test_what_is_reported_though_it_runs() -> None:
    assert sorted(_disagreements()[1]) == sorted(ACCEPTED_FALSE)


def test_the_file_was_read_whole() -> None:
    missed, false, right = _disagreements()
    assert len(missed) + len(false) + right > 800
