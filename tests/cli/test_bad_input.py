"""Whatever is handed to the commands: one clear line or a finding, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Model = Callable[..., Path]

WRONG_ARGUMENTS = [
    (["gone.py"], "gone.py: does not exist"),
    (["model.py", "gone"], "gone: does not exist"),
    (["link.py"], "link.py: is a broken link"),
    (["x" * 5000], "does not exist"),
    (["--select", "RMT999", "."], "--select: unknown rule code 'RMT999'"),
    (
        ["--select", "rmt101", "."],
        "--select: unknown rule code 'rmt101'; codes are in capital letters: RMT101",
    ),
    (["--ignore", "E501", "."], "--ignore: unknown rule code 'E501'"),
    (["--extend-select", "RMT101,R", "."], "--extend-select: unknown rule code 'R'"),
    (["--per-file-ignores", "RMT101", "."], "--per-file-ignores: 'RMT101' is no GLOB:CODE pair"),
    (["--per-file-ignores", "*.py:XYZ1", "."], "--per-file-ignores: unknown rule code 'XYZ1'"),
    (["--config", "gone.toml", "."], "gone.toml: cannot be read"),
    (["--config", "pyproject.toml", "--isolated", "."], "--config and --isolated exclude each other"),
    (["--no-such-option", "."], "--no-such-option"),
    (["-", "model.py"], "`-` reads standard input"),
    (["--stdin-filename", "x.py", "."], "--stdin-filename needs the path `-`"),
]

WRONG_SETTINGS = [
    ("[tool.remat-lint\n", "pyproject.toml: no valid TOML"),
    ("x = \xff\n", "pyproject.toml: no valid TOML"),
    (
        "[tool.remat-lint]\nselectt = []\n",
        "unknown key 'selectt' in [tool.remat-lint]; known keys: checkpoint-wrappers,",
    ),
    (
        "[tool.remat-lint]\nselect = 'RMT101'\n",
        'select must be a list of strings such as ["..."], not a string',
    ),
    (
        "[tool.remat-lint]\nselect = [1]\n",
        'select must be a list of strings such as ["..."], not one with a number',
    ),
    ("[tool.remat-lint]\nselect = true\n", "not a boolean"),
    ("[tool.remat-lint]\nselect = ['RMT999']\n", "select: unknown rule code 'RMT999'"),
    ("[tool.remat-lint]\nper-file-ignores = []\n", "per-file-ignores must be a table"),
    ("[tool.remat-lint.per-file-ignores]\n'a.py' = 'RMT1'\n", "per-file-ignores.'a.py' must be a list"),
    ("[tool]\nremat-lint = 3\n", "tool.remat-lint must be a table, not a number"),
]


def assert_one_line(result: Result, message: str) -> None:
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output


@pytest.fixture
def workplace(folder: Path, model: Model) -> Path:
    (folder / "link.py").symlink_to("nowhere.py")
    (folder / "pyproject.toml").write_text("[project]\n")
    return model("bad()")


@pytest.mark.parametrize(("args", "message"), WRONG_ARGUMENTS)
def test_a_wrong_argument_is_one_line_and_touches_nothing(
    remat_lint: Run, remat_fix: Run, workplace: Path, args: list[str], message: str
) -> None:
    before = workplace.read_bytes()
    assert_one_line(remat_lint(*args), message)
    assert_one_line(remat_fix("--write", *args), message)
    assert workplace.read_bytes() == before


@pytest.mark.parametrize(("text", "message"), WRONG_SETTINGS)
def test_a_wrong_setting_is_one_line_and_touches_nothing(
    remat_lint: Run, remat_fix: Run, workplace: Path, text: str, message: str
) -> None:
    before = workplace.read_bytes()
    (workplace.parent / "pyproject.toml").write_bytes(text.encode("latin-1"))
    assert_one_line(remat_lint("."), message)
    assert_one_line(remat_fix("--write", "."), message)
    assert workplace.read_bytes() == before


def test_a_broken_pyproject_is_not_read_when_isolated(remat_lint: Run, workplace: Path) -> None:
    (workplace.parent / "pyproject.toml").write_text("[[[")
    assert remat_lint("--isolated", "model.py").exit_code == 1


UNREADABLE = {
    "syntax": b"import torch_remat\ndef f(:\n",
    "indentation": b"import torch_remat\nif x:\npass\n",
    "nul": b"import torch_remat\nx = '\0'\n",
    "undecodable": b"import torch_remat\nx = '\xff\xfe'\n",
    "unknown encoding": b"# coding: klingon\nimport torch_remat\n",
    "brackets": b"import torch_remat\nx = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "open brackets": b"import torch_remat\nx = " + b"[" * 100_000,
    "signs": b"import torch_remat\nx = " + b"-" * 50_000 + b"1\n",
    "size": b"import torch_remat; x = [" + b"1," * 600_000 + b"]\n",
    "recursion": b"import torch_remat\ndeep()\n",
}


@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_that_does_not_parse_is_a_finding_and_the_others_go_on(
    remat_lint: Run, model: Model, folder: Path, raw: bytes
) -> None:
    (folder / "broken.py").write_bytes(raw)
    model("bad()")
    result = remat_lint("--select", "RMT101", "--output-format", "json", ".")
    assert [(f["path"], f["code"]) for f in json.loads(result.stdout)] == [
        ("broken.py", "RMT900"),
        ("model.py", "RMT101"),
    ]
    assert (result.exit_code, result.stderr) == (1, "")


def test_a_syntax_error_points_at_its_place(remat_lint: Run, folder: Path) -> None:
    (folder / "broken.py").write_bytes(UNREADABLE["syntax"])
    assert remat_lint("broken.py").stdout.startswith("broken.py:2:7: RMT900 ")


def test_a_syntax_error_can_be_ignored(remat_lint: Run, folder: Path) -> None:
    (folder / "broken.py").write_bytes(UNREADABLE["syntax"])
    assert remat_lint("--ignore", "RMT900", "broken.py").exit_code == 0


@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_that_does_not_parse_is_not_rewritten(remat_fix: Run, folder: Path, raw: bytes) -> None:
    (folder / "broken.py").write_bytes(raw)
    assert remat_fix("--write", "broken.py").exit_code == 0
    assert (folder / "broken.py").read_bytes() == raw


def test_a_file_that_was_named_is_reported_even_if_nothing_in_it_matters(
    remat_lint: Run, folder: Path
) -> None:
    (folder / "broken.py").write_bytes(b"def f(:\n")
    (folder / "bytes.py").write_bytes(b"\xff\xfe\x00")
    assert remat_lint("broken.py").stdout.startswith("broken.py:1:7: RMT900 ")
    assert remat_lint("bytes.py").stdout.startswith("bytes.py:1:1: RMT900 ")
    assert remat_lint(".").exit_code == 0


HARMLESS = {
    "empty": b"",
    "one newline": b"\n",
    "long line": b"import torch_remat; x = '" + b"a" * 10_000_000 + b"'\n",
    "byte-order mark": b"\xef\xbb\xbfimport torch_remat\n",
    "carriage returns": b"import torch_remat\rx = 1\r",
    "no final newline": b"import torch_remat",
    "form feed": b"import torch_remat\n\x0cx = 1\n",
    "latin-1": b"# coding: latin-1\nimport torch_remat\nx = '\xff'\n",
    "only a comment": b"# torch_remat",
}


@pytest.mark.parametrize("raw", HARMLESS.values(), ids=HARMLESS.keys())
def test_odd_but_harmless_files_are_clean(remat_lint: Run, folder: Path, raw: bytes) -> None:
    (folder / "odd.py").write_bytes(raw)
    result = remat_lint("odd.py")
    assert (result.exit_code, result.stdout) == (0, "No findings in 1 file.\n")


def test_a_finding_in_a_very_long_line_is_cut_to_its_place(remat_lint: Run, model: Model) -> None:
    model("x = '" + "a" * 1_000_000 + "', bad()")
    lines = remat_lint("model.py").stdout.splitlines()
    assert all(len(line) < 200 for line in lines)
    assert lines[1].endswith("a', bad()")


def test_a_folder_named_like_a_module_is_walked(remat_lint: Run, model: Model) -> None:
    model("bad()", name="x.py/model.py")
    assert "x.py/model.py:2:1: RMT101" in remat_lint(".").stdout


def test_broken_links_in_a_folder_are_skipped(remat_lint: Run, workplace: Path) -> None:
    result = remat_lint("--verbose", ".")
    assert "skipped link.py: broken link" in result.stderr
    assert result.exit_code == 1


def test_an_internal_error_is_one_line_and_the_others_go_on(remat_lint: Run, model: Model) -> None:
    model("crash()", name="a.py")
    model("bad()", name="b.py")
    result = remat_lint(".")
    assert result.exit_code == 2
    assert "b.py:2:1: RMT101" in result.stdout
    assert "1 file could not be linted" in result.stdout
    assert result.stderr == "remat-lint: internal error in a.py: KeyError: 'planted\\ncrash'; please report\n"
    assert "Traceback" in remat_lint("--verbose", ".").stderr


def test_an_internal_error_leaves_the_file_alone(remat_fix: Run, model: Model) -> None:
    path = model("bad()", "crash()")
    result = remat_fix("--write", "model.py")
    assert result.exit_code == 2
    assert "internal error in model.py" in result.stderr
    assert "bad()" in path.read_text()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_in_a_folder_is_not_opened(remat_lint: Run, folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    result = remat_lint("--verbose", ".")
    assert "skipped pipe.py: not a regular file" in result.stderr


def test_an_unreadable_file_is_one_line_and_the_others_go_on(
    remat_lint: Run, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model("bad()", name="a.py")
    model("bad()", name="b.py")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = remat_lint(".")
    assert result.exit_code == 2
    assert result.stderr == "remat-lint: a.py: cannot be read: Permission denied\n"
    assert "b.py:2:1: RMT101" in result.stdout


def test_a_folder_that_nobody_may_look_into_is_one_line(
    remat_lint: Run, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model("bad()", name="a.py")

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    result = remat_lint("a.py")
    assert result.exit_code == 2
    assert result.stderr.endswith("pyproject.toml: Permission denied\n")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_a_full_disk_is_one_line(model: Model) -> None:
    model("bad()", name="a.py")
    with open("/dev/full", "w") as full:
        code = "from remat_lint.cli.lint import main; main()"
        command = [sys.executable, "-c", code, "."]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "remat-lint: No space left on device\n")


def test_a_report_file_that_cannot_be_written_is_one_line(remat_lint: Run, model: Model) -> None:
    model("bad()")
    assert_one_line(
        remat_lint("--output-file", "no/such/folder.txt", "."), "--output-file: no/such/folder.txt"
    )


def test_a_name_that_no_encoding_has_is_shown(remat_lint: Run, folder: Path) -> None:
    name = os.fsdecode(b"m\xffodel.py")
    (folder / name).write_text("import torch_remat\nbad()\n")
    result = remat_lint(".")
    assert result.exit_code == 1
    assert json.loads(remat_lint("--output-format", "json", ".").stdout)[0]["path"] == name
