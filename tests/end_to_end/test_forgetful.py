"""The whole way of a user: lint the forgetful example, see it fail, fix it, see it hold."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = "examples.forgetful.case:build"

MISTAKES = {
    "adapter.py": "down",
    "attention.py": "qkv",
    "block.py": "wo",
    "feed_forward.py": "w13",
    "gate.py": "score",
    "head.py": "logits",
}
"""For each file, the region whose output its forgotten marker would have kept."""


def run(module: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignore)
    return tmp_path


def test_forgotten_markers_are_found_mended_and_confirmed(copy: Path) -> None:
    pytest.importorskip("torch_remat")
    linted = run("remat_lint", "--isolated", "--output-format", "json", "examples", folder=copy)
    findings = json.loads(linted.stdout)
    assert linted.returncode == 1
    assert {Path(f["path"]).name: f["code"] for f in findings} == dict.fromkeys(MISTAKES, "RMT101")
    assert len(findings) == len(MISTAKES)
    assert all(f["fix"] == "safe" for f in findings)

    broken = run("remat_lint.runtime_check.cli", TARGET, "--device", "cpu", folder=copy)
    assert broken.returncode == 1
    for finding in findings:
        # The run stops where the data is missing: inside the function that the finding's line calls.
        lines = [finding, *finding["related"]]
        assert any(f"{place['path']}:{place['line']} reads" in broken.stdout for place in lines), finding
    for region in MISTAKES.values():
        assert f".{region}" in broken.stdout

    before = {path: path.read_bytes() for path in (copy / "examples/llama").glob("*.py")}
    fixed = run("remat_lint.cli.fix", "--write", "--isolated", "examples", folder=copy)
    assert fixed.returncode == 0, fixed.stderr
    assert {path: path.read_bytes() for path in before} == before
    silent = run("remat_lint", "--isolated", "examples", folder=copy)
    assert silent.returncode == 0, silent.stdout

    holds = run("remat_lint.runtime_check.cli", TARGET, "--device", "cpu", folder=copy)
    assert holds.returncode == 0, holds.stdout
    assert "Holds bit for bit" in holds.stdout
