"""What the rules say of whole programs that draw, count and restore, each asked of torch_remat too.

Each row of a table is a program. ``# RMT402 error`` ends a line on which that rule reports something, of that
severity; no other line is reported. The head of a row says what happens at run time: ``ok``, where the
gradients are those of the program without checkpoints, ``wrong-gradient``, or the name of an error; ``not
asked`` where the machine of the test cannot tell. An error that is reported is one at run time, and the
other way round.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.config import Config
from remat_lint.fixer import Fixer
from remat_lint.gathering import gather
from remat_lint.linter import Linter
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile
from tests.analysis.test_draws import PRELUDE
from tests.wrong_gradients import outcome

TABLES = Path(__file__).parent / "verdicts"
HEADER = f"{PRELUDE}import dataclasses, functools, logging, time\nlog = logging.getLogger(__name__)\n"
FOOTER = "\n\ndef run(x):\n    return remat.checkpoint()(body)(x)\n"
EXPECTED = re.compile(r"# (RMT\d+) (error|warning)")


def rows() -> list[Any]:
    found = []
    for table in sorted(TABLES.glob("*.txt")):
        for row in re.split(r"^=== ", table.read_text(), flags=re.MULTILINE)[1:]:
            head, _, program = row.partition("\n")
            name, _, verdict = head.rpartition(": ")
            code = HEADER + program.rstrip() + ("\n" if "def run(x" in program else FOOTER)
            found.append(pytest.param(code, verdict, id=f"{table.stem}: {name}"))
    return found


def reported(code: str) -> set[tuple[int, str, str]]:
    source = SourceFile("model.py", code.encode())
    facts = gather([analyse(source, Project())], [source.path])[source.path]
    findings = [finding for rule in all_rules() if not rule.opt_in for finding in rule.check(facts)]
    return {(source.span(one.place.node).line, one.code, one.severity.value) for one in findings}


def expected(code: str) -> set[tuple[int, str, str]]:
    lines = enumerate(code.splitlines(), start=1)
    return {(number, *pair) for number, line in lines for pair in EXPECTED.findall(line)}


@pytest.mark.parametrize(("code", "verdict"), rows())
def test_the_rules_say(code: str, verdict: str) -> None:
    assert reported(code) == expected(code)
    errors = {line for line, _, severity in expected(code) if severity == "error"}
    assert bool(errors) == (verdict != "ok") or verdict == "not asked"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("code", "verdict"), rows())
def test_torch_remat_says(code: str, verdict: str, tmp_path: Path) -> None:
    pytest.importorskip("torch_remat")
    if verdict == "not asked":
        return
    path = tmp_path / "program.py"
    path.write_text(code)
    assert outcome(path).partition(":")[0] == verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("code", "verdict"), [row for row in rows() if "# RMT50" in row.values[0]])
def test_what_the_fixes_leave_is_right(code: str, verdict: str, tmp_path: Path) -> None:
    """Guards that are put in leave a program right: they are offered for nothing else."""
    pytest.importorskip("torch_remat")
    if verdict == "not asked" or not {"RMT501", "RMT502"} & {rule for _, rule, _ in expected(code)}:
        return
    path = tmp_path / "program.py"
    linter = Linter(Config(tmp_path, select=("RMT501", "RMT502")))
    fixed = Fixer(linter, unsafe=True).fix(SourceFile(str(path), code.encode())).after.raw
    left = {severity for _, _, severity in reported(fixed.decode())}
    if fixed != code.encode() and "error" not in left:
        path.write_bytes(fixed)
        assert outcome(path) == "ok"
