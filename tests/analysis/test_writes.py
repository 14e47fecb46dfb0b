"""State that was there before checkpointed code ran: which writes are reported, and what torch_remat does.

Each row is a program. ``# advanced`` and its like say on which line a write is reported and with which
outcome, ``# diverges`` where a guard on the phase changes what is computed. The verdict is that of one
training step: ``same`` as without a checkpoint, ``twice`` (other state afterwards), ``wrong`` (other
gradients) or ``raises``.
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import DivergentReplay, StateWrite
from remat_lint.project import Project
from remat_lint.source import SourceFile

ROWS = Path(__file__).parent / "writes"
EXPECTED = re.compile(
    r"#\s*(replaced|advanced|computed|outdated|skipped|unfilled|raises|switched|diverges)\b"
)
HARMFUL = {"computed", "outdated", "skipped", "unfilled", "raises", "diverges"}
HEADER = """
import collections
import functools
import itertools
import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
"""
FOOTER = """

def step(x):
    return remat.checkpoint(region_name="block")(body)(x)
"""


def rows() -> list[Any]:
    found = []
    for table in sorted(ROWS.glob("*.txt")):
        for row in re.split(r"^=== ", table.read_text(), flags=re.MULTILINE)[1:]:
            head, _, program = row.partition("\n")
            name, _, verdict = head.rpartition(": ")
            code = HEADER + program.rstrip() + (FOOTER if "def step(" not in program else "\n")
            found.append(pytest.param(code, verdict, id=f"{table.stem}: {name}"))
    return found


def reported(code: str) -> set[tuple[int, str]]:
    source = SourceFile("model.py", code.encode())
    facts = analyse(source, Project())
    writes = {(source.span(write.place.node).line, write.outcome.value) for write in facts.of(StateWrite)}
    return writes | {(source.span(one.place.node).line, "diverges") for one in facts.of(DivergentReplay)}


def expected(code: str) -> set[tuple[int, str]]:
    lines = enumerate(code.splitlines(), start=1)
    return {(number, word) for number, line in lines for word in EXPECTED.findall(line)}


@pytest.mark.parametrize(("code", "verdict"), rows())
def test_writes(code: str, verdict: str) -> None:
    assert reported(code) == expected(code)
    words = {word for _, word in expected(code)}
    assert bool(words & HARMFUL) == (verdict in ("wrong", "raises"))
    assert words or verdict == "same"


COLLECTIVES = {
    "a buffer": """
        TOTAL = torch.ones(8)


        def reduce(tensor):
            dist.all_reduce(tensor)  # computed


        def body(x):
            reduce(TOTAL)
            return (x * TOTAL).sin()
        """,
    "what a saved region is handed": """
        def reduce(y):
            dist.all_reduce(y)  # unfilled
            return y.sum()


        def body(x):
            y = x * 2
            remat.region(reduce, "reduce", recompute=False)(y.detach())
            return (y * y).sin()
        """,
    "several tensors": """
        PARTS = [torch.zeros(8), torch.zeros(8)]


        def body(x):
            dist.all_gather(PARTS, x.detach())  # replaced
            return x.sin()
        """,
    "an input, which no version tells": """
        def body(x):
            dist.all_reduce(x)  # computed
            return x.sin()
        """,
    "what the call made": """
        def body(x):
            y = x.detach().exp()
            dist.all_reduce(y)
            return (x * y).sin()
        """,
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_change_what_they_are_handed(name: str) -> None:
    code = f"{HEADER}import torch.distributed as dist\n{textwrap.dedent(COLLECTIVES[name])}{FOOTER}"
    assert reported(code) == expected(code)


@pytest.mark.parametrize(("code", "verdict"), rows())
def test_torch_remat_does_what_the_row_says(code: str, verdict: str, tmp_path: Path) -> None:
    pytest.importorskip("torch_remat")
    from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders

    path = tmp_path / "model.py"
    path.write_text(code)
    with contextlib.nullcontext() if torch_has_placeholders() else stand_ins_installed():
        assert contextvars.copy_context().run(run, path) == verdict


def run(path: Path) -> str:
    """One step with a checkpoint and one without, each in a module of its own."""
    try:
        checkpointed = training_step(path, "step")
    except Exception:  # noqa: BLE001 - the error is the verdict
        return "raises"
    plain = training_step(path, "body")
    if checkpointed[0] != plain[0]:
        return "wrong"
    return "same" if checkpointed[1] == plain[1] else "twice"


def training_step(path: Path, name: str) -> tuple[object, str]:
    import torch

    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    torch.manual_seed(0)
    spec.loader.exec_module(module)
    x = torch.randn(4, 8, requires_grad=True)
    getattr(module, name)(x).sum().backward()
    assert x.grad is not None
    return x.grad.tolist(), str(module.state()) if hasattr(module, "state") else ""
