"""What a process imports, and how it ends when its reader goes away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("libcst", "pathspec", "torch", "torch_remat", "remat_lint.analysis", "tomllib", "difflib")
PROBE = """
import sys
from remat_lint.cli.{command} import main
sys.argv = [{command!r}, *{args!r}]
try:
    main()
except SystemExit as end:
    print(*sorted(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
    raise
"""


def loaded(command: str, *args: str) -> set[str]:
    probe = PROBE.format(command=command, args=list(args), heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def irrelevant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text("import torch\n")
    return "plain.py"


def test_the_version_imports_nothing_heavy(irrelevant: str) -> None:
    assert loaded("lint", "--version") == set()
    assert loaded("fix", "--version") == set()


@pytest.mark.parametrize("options", [[], ["--isolated", "--no-cache", "--output-format", "json"]])
def test_a_file_without_a_relevant_word_imports_nothing_heavy(irrelevant: str, options: list[str]) -> None:
    assert loaded("lint", *options, irrelevant) == set()


def test_a_folder_without_a_relevant_file_imports_nothing_heavy(irrelevant: str) -> None:
    assert loaded("lint", ".") == set()
    assert loaded("fix", ".") == set()


def test_choosing_rules_does_not_import_libcst(irrelevant: str) -> None:
    assert loaded("lint", "--select", "RMT1", irrelevant).isdisjoint({"libcst", "torch"})


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_goes_away_ends_the_run_quietly(irrelevant: str) -> None:
    program = f"{sys.executable} -m remat_lint"
    command = f"{program} check --help | true; {program} rule --all | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_the_module_is_the_command(irrelevant: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "remat_lint", "gone.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("remat-lint: gone.py: does not exist")
