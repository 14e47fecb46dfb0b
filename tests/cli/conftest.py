"""A planted rule and fix, so that the commands are tested apart from the analysis.

``bad(...)`` is a finding of RMT101 with a safe fix, ``risky(...)`` one of RMT105 with an unsafe fix,
``hopeless(...)`` one of RMT106 without a fix, ``stubborn(...)`` has a fix that mends nothing, ``shy(...)``
one that the codemod leaves out, ``worse(...)`` one that adds a finding, ``crash(...)`` is an error inside
the tool, ``deep(...)`` a recursion without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import libcst as cst
import pytest
from click.testing import CliRunner, Result

from remat_lint.analysis.facts import GivenUp, ModuleFacts
from remat_lint.cli import fix, lint
from remat_lint.findings import Finding, Fix, InsertMarker, Place, Severity, Step
from remat_lint.project import Project
from remat_lint.rule import Example, Rule
from remat_lint.source import SourceFile

HEADER = "import torch_remat\n"
FIXED = {
    b"bad(": b"good(",
    b"risky(": b"good(",
    b"worse(": b"bad(), bad(",
    b"stubborn(": b"stubborn(*(), ",
}
CODES = {
    "bad": "RMT101",
    "risky": "RMT105",
    "hopeless": "RMT106",
    "stubborn": "RMT101",
    "shy": "RMT101",
    "worse": "RMT101",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the planted names."""

    place: Place
    name: str


class Planted(Rule):
    """Reports the planted names of one code."""

    severity = Severity.ERROR
    fails = (Example("bad()", at=(1,)),)
    passes = (Example("good()"),)

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        for call in facts.facts:
            if isinstance(call, Call) and CODES.get(call.name) == self.code:
                edit = InsertMarker(call.place.path, call.place.node, ())
                fix = None if call.name == "hopeless" else Fix("planted", edit, safe=call.name != "risky")
                note = Step(call.place, "it is called here")
                yield self.at(call.place, f"`{call.name}` is called", fix=fix, related=(note,))


class Marker(Planted):
    """Calls that read."""

    code, name = "RMT101", "missing-marker"
    fix = "safe"


class Tensor(Planted):
    """Calls that mark."""

    code, name = "RMT105", "marker-not-a-tensor"


class Modified(Planted):
    """Calls that write."""

    code, name, severity = "RMT106", "saved-output-modified", Severity.WARNING


class OptIn(Planted):
    """Opt-in, and fixable."""

    code, name, opt_in = "RMT104", "ungrouped-markers", True
    fix = "safe"


def planted_analysis(source: SourceFile, project: Project) -> ModuleFacts:
    """The planted calls of a file; the tree's nodes are numbered by a walk of their own."""
    facts: list[object] = []
    for index, node in enumerate(source.nodes):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
            place = Place(source.path, index)
            if node.func.value == "crash":
                raise KeyError("planted\ncrash")
            if node.func.value == "deep":
                raise RecursionError
            if node.func.value == "lost":
                facts.append(GivenUp(place, "lost its way"))
            facts.append(Call(place, node.func.value))
    return ModuleFacts(source.path, tuple(facts))  # type: ignore[arg-type]


def planted_codemods(source: SourceFile, findings: Sequence[Finding]) -> bytes:
    """Replaces the planted name at each finding's place."""
    lines = source.raw.splitlines(keepends=True)
    for finding in findings:
        span = source.span(finding.place.node)
        line = lines[span.line - 1]
        for name, better in FIXED.items():
            line = line.replace(name, better, 1)
        lines[span.line - 1] = line
    return b"".join(lines)


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the planted parts where the real ones are looked up."""
    rules = [Marker(), OptIn(), Tensor(), Modified()]
    import_module("remat_lint.pipeline")  # else it would keep what is planted
    monkeypatch.setattr("remat_lint.pipeline.all_rules", lambda: rules)
    monkeypatch.setattr("remat_lint.rules.all_rules", lambda: rules)
    monkeypatch.setattr("remat_lint.pipeline.analyse", planted_analysis)
    monkeypatch.setattr("remat_lint.codemods.apply", planted_codemods, raising=False)
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(folder: Path) -> Callable[..., Path]:
    """Writes a relevant file with the given lines below the import."""

    def write(*lines: str, name: str = "model.py") -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + "".join(line + "\n" for line in lines))
        return path

    return write


@pytest.fixture
def remat_lint(folder: Path) -> Callable[..., Result]:
    """Runs ``remat-lint`` in the working directory."""

    def run(*args: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(lint.cli, list(args), input=stdin)

    return run


@pytest.fixture
def remat_fix(folder: Path) -> Callable[..., Result]:
    """Runs ``remat-fix`` in the working directory."""

    def run(*args: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(fix.cli, list(args), input=stdin)

    return run
