"""Regions and checkpoints of another file: a finding stands where they are put together, and says how."""

from __future__ import annotations

from pathlib import Path

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import ReplayFact
from remat_lint.gathering import gather
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

PARTS = """\
import torch
import torch_remat as remat
from torch import nn


class Wave(nn.Module):
    def forward(self, x):
        return remat.region(torch.sin, "wave", recompute=True)(x)


class Nested(nn.Module):
    def forward(self, x):
        return remat.checkpoint(region_name="inner")(torch.sin)(x)


def pack(x):
    return {"y": x}
"""

HEADER = """\
import torch_remat as remat
from torch import nn

from parts import Nested, Wave, pack


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.wave, self.nested = Wave(), Nested()

    def forward(self, x):
"""

ROWS = {
    "a name twice": (
        "x = self.wave(x)\nreturn self.wave(x)",
        ("RMT201", 14, ["main.py:13 `wave` is used here first", "parts.py:8 region `wave` is called here"]),
    ),
    "recomputed inside saved": (
        "return remat.region(self.wave, 'outer', recompute=False)(x)",
        ("RMT202", 13, ["parts.py:8 region wave is called here"]),
    ),
    "recomputed inside saved, through a method": (
        "return remat.region(self._run, 'outer', recompute=False)(x)\n"
        "def _run(self, x):\n    return self.wave(x)",
        ("RMT202", 13, ["main.py:15 Wave.forward is called here", "parts.py:8 region wave is called here"]),
    ),
    "the output of a region": (
        "return remat.region(pack, 'pack', recompute=True)(x)['y']",
        ("RMT206", 13, []),
    ),
    "a checkpoint inside": (
        "return remat.checkpoint()(self.nested)(x)",
        ("RMT302", 13, ["parts.py:13 the inner one runs here"]),
    ),
    "the output of a checkpoint": ("return remat.checkpoint()(pack)(x)['y']", ("RMT304", 13, [])),
}


@pytest.mark.parametrize("title", ROWS)
def test_the_finding_stands_where_the_parts_are_put_together(title: str, tmp_path: Path) -> None:
    body, expected = ROWS[title]
    first, *rest = body.split("\n")
    indents = ["        ", "    " if "def " in body else "        ", "    "]
    code = HEADER + "".join(f"{i}{line}\n" for i, line in zip(indents, (first, *rest), strict=False))
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "main.py").write_text(code)
    source = SourceFile.read(tmp_path / "main.py")
    facts = analyse(source, Project([tmp_path]))
    sources = {one: SourceFile.read(tmp_path / one) for one in ("main.py", "parts.py")}
    found = [
        (
            finding.code,
            source.span(finding.place.node).line,
            [
                f"{Path(step.place.path).name}:"
                f"{sources[Path(step.place.path).name].span(step.place.node).line} {step.note}"
                for step in (*finding.related, *finding.chain)
            ],
        )
        for rule in all_rules()
        for finding in rule.check(facts)
    ]
    assert found == [expected]


@pytest.mark.parametrize(
    ("statement", "step"),
    [
        ("print(x.shape)", "`print` is called {here}"),
        ("SEEN.append(x.shape)", "`SEEN` is written {here}"),
        ("return x * time.time()", "`time.time()` decides {here}"),
        (
            "x = x * 2 if remat.is_recomputing() else x\n    return x * x",
            "`x` is not the same in both phases {here}",
        ),
        ("torch.rand(1)\n    return x", "`torch.rand` is called {here}"),
    ],
)
def test_the_way_to_another_file_ends_with_what_is_done_there(
    statement: str, step: str, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text(
        "import time\nimport torch\nimport torch_remat as remat\nSEEN = []\n\n\n"
        f"def help(x):\n    {statement}\n"
    )
    path = tmp_path / "model.py"
    path.write_text(
        "import torch_remat as remat\nfrom helper import help\n\n\n"
        "def body(x):\n    y = help(x)\n    return x.sin() if y is None else y.sin()\n\n\n"
        "def step(x):\n    return remat.checkpoint(region_name='layers.0')(body)(x)\n"
    )
    source, project = SourceFile(str(path), path.read_bytes()), Project()
    project.add(source)
    facts = gather([analyse(source, project)], [source.path])[source.path]
    found = [fact for fact in facts.facts if isinstance(fact, ReplayFact)]
    assert [fact.replayed.chain[-1].note for fact in found] == [step]
