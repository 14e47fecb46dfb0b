"""The case files: ordinary model code that carries its expectations in comments.

``# select: RMT101,RMT102`` names the rules a file is about, ``# expect: RMT101`` a line that is
reported. Codes of rules that do not exist yet are left out on both sides. ``runtime: ok`` or
``runtime: error`` in the docstring of ``body_*`` (run under one checkpoint) or ``run_*`` (makes its own)
says what torch_remat does.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.py"))
EXPECT = re.compile(r"#\s*expect:\s*(?P<codes>RMT\d+(?:\s*,\s*RMT\d+)*)")
PROGRAM = re.compile(r'^def ((?:body|run)_\w+)\(.*\n    """runtime: (ok|error)', re.MULTILINE)
RAISING = ("regions", "region_names", "region_outputs", "region_pairs", "checkpoints")
SELECT = re.compile(r"^# select: (?P<codes>\S+)$", re.MULTILINE)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    source = SourceFile.read(path)
    select = SELECT.search(source.text)
    assert select is not None
    prefixes = tuple(select["codes"].split(","))
    rules = [rule for rule in all_rules() if rule.code.startswith(prefixes)]
    facts = analyse(source, Project())
    found = {
        (source.span(finding.place.node).line, finding.code)
        for rule in rules
        for finding in rule.check(facts)
    }
    built = {rule.code for rule in rules}
    expected = {
        (number, code)
        for number, line in enumerate(source.text.splitlines(), start=1)
        if (match := EXPECT.search(line))
        for code in re.split(r"\s*,\s*", match["codes"])
        if code in built
    }
    assert found == expected


def programs() -> Iterator[Any]:
    """The functions of the files about regions and checkpoints, whose errors torch_remat raises itself."""
    for path in CASES:
        for name, verdict in PROGRAM.findall(path.read_text()) if path.stem in RAISING else ():
            yield pytest.param(path, name, verdict, id=f"{path.stem}-{name}")


@pytest.mark.parametrize(("path", "name", "verdict"), list(programs()))
def test_torch_remat_does_what_the_case_says(path: Path, name: str, verdict: str) -> None:
    torch = pytest.importorskip("torch")
    remat = pytest.importorskip("torch_remat")
    from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders

    def run() -> str:
        function = getattr(load(path), name)
        x = torch.randn(4, 8, requires_grad=True)
        try:
            (remat.checkpoint()(function) if name.startswith("body_") else function)(x).sum().backward()
        except Exception:  # noqa: BLE001 - the error is the verdict
            return "error"
        return "ok"

    with contextlib.nullcontext() if torch_has_placeholders() else stand_ins_installed():
        assert contextvars.copy_context().run(run) == verdict


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
