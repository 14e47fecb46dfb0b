"""A finding that crosses a frame says how the output came there, with file and line on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from remat_lint.analysis import analyse
from remat_lint.locate import Locator
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

BLOCKS = """\
import torch_remat as remat
from torch import nn


class Projection(nn.Module):
    class Config:
        def build(self):
            return Projection()

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return remat.region(self.lin, "mm", recompute=False)(x)


def project(part, x):
    return part(x), part(x)
"""

ATTENTION = """\
import torch_remat as remat
from torch import nn

from blocks import Projection, project


class Attention(nn.Module):
    def __init__(self, config: Projection.Config):
        super().__init__()
        self.q = config.build()

    def forward(self, x):
"""

ROWS = {
    "a module": (
        "return self.q(x) * 2",
        "returned by Projection.forward (blocks.py:14), called as self.q (attention.py:13)",
    ),
    "under a name": (
        "q = self.q(x)\nq = q.view(-1)\nreturn q * 2",
        "returned by Projection.forward (blocks.py:14), called as self.q (attention.py:13)",
    ),
    "a helper that returns several": (
        "q, k = project(self.q, x)\nreturn q * k",
        "returned by project (blocks.py:18), called as project (attention.py:13)",
    ),
    "hidden from a region": (
        "q = self.q(x)\nreturn remat.region(lambda t: t * q, 'mul', recompute=True)(x)",
        "returned by Projection.forward (blocks.py:14), called as self.q (attention.py:13)",
    ),
    "changed in place": (
        "q = self.q(x)\nremat.recompute_needs_tensor(q)\nreturn q.add_(1.0)",
        "returned by Projection.forward (blocks.py:14), called as self.q (attention.py:13)",
    ),
}


@pytest.mark.parametrize(("body", "how"), ROWS.values(), ids=ROWS.keys())
def test_a_finding_says_how_the_output_came_there(body: str, how: str, tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS, encoding="utf-8")
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    path = tmp_path / "attention.py"
    path.write_text(ATTENTION + indented, encoding="utf-8")
    source, project = SourceFile.read(path), Project()
    facts = analyse(source, project)
    findings = [finding for rule in all_rules() for finding in rule.check(facts)]
    (located,) = Locator(source, project).locate(findings)
    assert how in [step.message for step in located.related]
