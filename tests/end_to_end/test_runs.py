"""Runs of several files: what a checkpoint in one of them replays in another is told where it lies, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from remat_lint.cli import fix, lint

BLOCKS = """\
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return F.dropout(x, 0.5).sin()
"""
APPLY = """\
import torch_remat as remat


def apply_ac(model):
    for name, layer in model.layers.items():
        layer.forward = remat.checkpoint(region_name=name)(layer.forward)
"""
MODEL = """\
from apply import apply_ac
from blocks import Block
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"first": Block(), "second": Block()})


def build():
    model = Model()
    apply_ac(model)
    return model
"""
OTHER = """\
import torch_remat as remat
from blocks import Block


def step(x):
    return remat.checkpoint()(Block())(x)
"""
FOUND = [("RMT501", "blocks.py", 11), ("RMT402", "blocks.py", 12)]

Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in four files: its blocks, where they are put together, and two checkpoints."""
    for name, text in {"blocks": BLOCKS, "apply": APPLY, "model": MODEL, "other": OTHER}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def linted(*arguments: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(lint.cli, ["check", "--output-format", "json", *arguments])
    assert result.exit_code in (0, 1), result.output
    return list(json.loads(result.stdout))


def places(findings: list[dict[str, object]]) -> list[tuple[object, object, object]]:
    return [(one["code"], one["path"], one["line"]) for one in findings]


def chain(finding: dict[str, object]) -> list[str]:
    steps = finding["chain"]
    assert isinstance(steps, list)
    return [f"{step['path']}:{step['line']}" for step in steps]


@pytest.mark.parametrize(
    "files", [("blocks.py", "apply.py", "model.py"), ("model.py", "apply.py", "blocks.py"), (".",)]
)
def test_a_finding_stands_on_its_line_whatever_the_order(project: Path, files: tuple[str, ...]) -> None:
    assert places(linted(*files)) == FOUND


def test_the_way_leads_through_the_files(project: Path) -> None:
    found = linted("blocks.py", "apply.py", "model.py")
    assert [chain(one) for one in found] == [["model.py:14", "apply.py:6"]] * 2


def test_two_checkpoints_of_one_block_are_one_finding(project: Path) -> None:
    found = linted("blocks.py", "apply.py", "model.py", "other.py")
    assert places(found) == FOUND
    assert [chain(one) for one in found] == [["other.py:6"]] * 2, "the shortest way is told"


def test_a_block_alone_has_nothing_to_say(project: Path) -> None:
    assert linted("blocks.py") == []


def test_without_the_block_the_finding_stands_where_the_way_leaves_the_run(project: Path) -> None:
    assert places(linted("other.py")) == [("RMT402", "other.py", 6), ("RMT501", "other.py", 6)]
    assert [chain(one)[-1] for one in linted("other.py")] == ["blocks.py:12", "blocks.py:11"]


def test_the_last_file_of_the_run_on_the_way_is_the_place(project: Path) -> None:
    assert {(path, line) for _, path, line in places(linted("model.py", "apply.py"))} == {("apply.py", 6)}
    assert {(path, line) for _, path, line in places(linted("model.py"))} == {("model.py", 14)}


def test_a_comment_silences_on_the_line_of_the_finding(project: Path) -> None:
    block = project / "blocks.py"
    block.write_text(BLOCKS.replace("+= 1", "+= 1  # noqa: RMT501"), encoding="utf-8")
    assert places(linted(".")) == FOUND[1:]
    assert ("RMT501", "other.py", 6) in places(linted("other.py")), "there the line is another one"


def test_ignores_of_a_file_are_those_of_the_file_that_the_finding_stands_in(project: Path) -> None:
    assert linted("--per-file-ignores", "blocks.py:RMT4,blocks.py:RMT5", ".") == []
    assert places(linted("--per-file-ignores", "other.py:RMT", ".")) == FOUND


def test_the_fix_is_made_in_the_file_of_the_finding(project: Path) -> None:
    result = CliRunner().invoke(fix.cli, ["--write", "--unsafe-fixes", "."])
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("Fixed 1 finding in 1 file; 1 without a fix")
    assert "        if not remat.is_recomputing():\n            self.calls += 1\n" in (
        project / "blocks.py"
    ).read_text(encoding="utf-8")
    assert places(linted(".")) == [("RMT402", "blocks.py", 14)]


def test_nothing_is_fixed_in_a_file_that_the_run_leaves_out(project: Path) -> None:
    result = CliRunner().invoke(fix.cli, ["--write", "--unsafe-fixes", "other.py"])
    assert result.stderr == "Fixed 0 findings; 2 without a fix: see remat-lint.\n"
    assert (project / "blocks.py").read_text(encoding="utf-8") == BLOCKS


def test_an_imported_file_that_does_not_parse_is_reported_where_it_is_of_the_run(project: Path) -> None:
    (project / "blocks.py").write_text("class Block(:\n", encoding="utf-8")
    assert places(linted(".")) == [("RMT900", "blocks.py", 1)]
    told = CliRunner().invoke(lint.cli, ["--statistics", "model.py"])
    assert told.stdout.startswith("No findings in 1 file.\n")
    assert "blocks.py, which is imported, does not parse\n" in told.stdout
