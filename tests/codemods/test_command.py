"""The codemod as LibCST's own tool runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodContext

from remat_lint.codemods.command import InsertMarkerCommand

BEFORE = Path(__file__).parent / "pairs" / "plain.before.py"
AFTER = Path(__file__).parent / "pairs" / "plain.after.py"


def test_the_command_writes_the_markers() -> None:
    command = InsertMarkerCommand(CodemodContext(filename="model.py"))
    assert command.transform_module(cst.parse_module(BEFORE.read_bytes())).bytes == AFTER.read_bytes()


def test_a_module_without_torch_remat_stays() -> None:
    tree = cst.parse_module("import torch\n")
    assert InsertMarkerCommand(CodemodContext()).transform_module(tree).code == "import torch\n"


def test_the_tool_runs_it(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    root = str(Path(__file__).parents[2])
    path.write_bytes(BEFORE.read_bytes())
    name = "remat_lint.codemods.command.InsertMarkerCommand"
    code = "import sys; from libcst.tool import main; sys.exit(main('', sys.argv[1:]))"
    command = [sys.executable, "-c", code, "codemod", "-x", name, "--no-format", "-j", "1", str(path)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == AFTER.read_bytes()
