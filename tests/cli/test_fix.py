"""``remat-fix``: the diff, the writing, and the refusal of fixes that do not hold."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from remat_lint.errors import UserError
from remat_lint.fixer import Outcome, write
from remat_lint.source import SourceFile

Run = Callable[..., Result]
Model = Callable[..., Path]


def test_the_diff_is_the_default_and_changes_nothing(remat_fix: Run, model: Model) -> None:
    path = model("x = bad()")
    before = path.read_bytes()
    result = remat_fix("model.py")
    assert result.exit_code == 0
    assert result.stdout == (
        "--- a/model.py\n+++ b/model.py\n@@ -1,2 +1,2 @@\n import torch_remat\n-x = bad()\n+x = good()\n"
    )
    assert result.stderr == "Would fix 1 finding in 1 file; run with --write to apply.\n"
    assert path.read_bytes() == before


def test_write_changes_the_file_and_a_second_run_nothing(remat_fix: Run, model: Model) -> None:
    path = model("bad()", "hopeless()")
    first = remat_fix("--write", "model.py")
    assert (first.exit_code, first.stdout) == (0, "")
    assert first.stderr == "Fixed 1 finding in 1 file; 1 without a fix: see remat-lint.\n"
    assert path.read_text() == "import torch_remat\ngood()\nhopeless()\n"
    assert remat_fix("--write", "model.py").stderr.startswith("Fixed 0 findings;")


def test_check_exits_with_1_if_something_would_change(remat_fix: Run, model: Model) -> None:
    path = model("bad()")
    result = remat_fix("--check", "model.py")
    assert (result.exit_code, result.stdout) == (1, "would fix model.py\n")
    assert "bad()" in path.read_text()
    model("good()")
    assert remat_fix("--check", "model.py").exit_code == 0


def test_unsafe_fixes_are_made_on_request_only(remat_fix: Run, model: Model) -> None:
    path = model("risky()")
    assert "1 more with --unsafe-fixes" in remat_fix("--write", "model.py").stderr
    assert "risky()" in path.read_text()
    remat_fix("--write", "--unsafe-fixes", "model.py")
    assert "good()" in path.read_text()


@pytest.mark.parametrize("comment", ["# noqa: RMT101", "# remat-lint: ignore"])
def test_a_suppressed_line_is_not_rewritten(remat_fix: Run, model: Model, comment: str) -> None:
    path = model(f"bad()  {comment}")
    before = path.read_bytes()
    assert remat_fix("--write", "model.py").exit_code == 0
    assert path.read_bytes() == before


def test_only_selected_rules_are_mended(remat_fix: Run, model: Model) -> None:
    path = model("bad()")
    remat_fix("--write", "--select", "RMT106", "model.py")
    assert "bad()" in path.read_text()


def test_a_fix_that_leaves_its_finding_is_a_bug_and_the_good_ones_are_kept(
    remat_fix: Run, model: Model
) -> None:
    path = model("stubborn()", "bad()")
    result = remat_fix("--write", "model.py")
    assert result.exit_code == 2
    assert path.read_text() == "import torch_remat\nstubborn()\ngood()\n"
    assert (
        "remat-fix: bug in the fix of RMT101 at model.py:2:1: the finding would still be there;"
        " not applied, please report\n" in result.stderr
    )


def test_a_fix_that_the_codemod_leaves_out_is_no_bug_and_the_finding_stays(
    remat_fix: Run, model: Model
) -> None:
    path = model("shy()", "bad()")
    result = remat_fix("--write", "model.py")
    assert result.exit_code == 0
    assert path.read_text() == "import torch_remat\nshy()\ngood()\n"
    assert "bug" not in result.stderr


def test_a_fix_that_makes_a_new_finding_is_a_bug(remat_fix: Run, model: Model) -> None:
    path = model("worse()")
    result = remat_fix("--write", "model.py")
    assert result.exit_code == 2
    assert "worse()" in path.read_text()
    assert "it would cause RMT101" in result.stderr


def test_a_fix_that_fails_is_a_bug(remat_fix: Run, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    path = model("bad()")

    def fail(*_: object) -> bytes:
        raise ValueError("planted")

    monkeypatch.setattr("remat_lint.codemods.apply", fail)
    result = remat_fix("--write", "model.py")
    assert result.exit_code == 2
    assert "it failed with ValueError: planted; not applied" in result.stderr
    assert "bad()" in path.read_text()


def test_standard_input_is_fixed_to_standard_output(remat_fix: Run, folder: Path) -> None:
    text = b"\xef\xbb\xbfimport torch_remat\r\nbad()"
    fixed = remat_fix("--write", "-", stdin=text)
    assert fixed.stdout_bytes == b"\xef\xbb\xbfimport torch_remat\r\ngood()"
    assert "+good()\n\\ No newline at end of file\n" in remat_fix("-", stdin=text).stdout
    unchanged = b"x = 1\n"
    assert remat_fix("--write", "-", stdin=unchanged).stdout_bytes == unchanged


def test_the_mode_of_a_written_file_is_kept_and_nothing_is_left_over(
    remat_fix: Run, model: Model, folder: Path
) -> None:
    path = model("bad()")
    path.chmod(0o754)
    remat_fix("--write", "model.py")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert [entry.name for entry in folder.iterdir()] == ["model.py"]


def test_a_link_stays_a_link(remat_fix: Run, model: Model, folder: Path) -> None:
    path = model("bad()", name="real/model.py")
    (folder / "link.py").symlink_to(path)
    remat_fix("--write", "link.py")
    assert (folder / "link.py").is_symlink()
    assert "good()" in path.read_text()


def _outcome(path: Path, after: bytes) -> Outcome:
    return Outcome(SourceFile.read(path), SourceFile(str(path), after))


def test_a_file_that_changed_meanwhile_is_not_overwritten(model: Model) -> None:
    path = model("bad()")
    outcome = _outcome(path, b"good()\n")
    path.write_text("edited\n")
    with pytest.raises(UserError, match=r"model\.py: changed while it was being fixed"):
        write(outcome)
    assert path.read_text() == "edited\n"


def test_a_write_that_fails_leaves_the_file_and_no_other(
    model: Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = model("bad()")
    outcome = _outcome(path, b"good()\n")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UserError, match="cannot be written: No space left"):
        write(outcome)
    assert path.read_bytes() == before
    assert [entry.name for entry in folder.iterdir()] == ["model.py"]


def test_a_read_only_file_is_left_alone(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    path = model("bad()")
    outcome = _outcome(path, b"good()\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UserError, match="is read-only"):
        write(outcome)


def test_write_and_check_do_not_go_together(remat_fix: Run, model: Model) -> None:
    model("bad()")
    result = remat_fix("--write", "--check", "model.py")
    assert (result.exit_code, result.stderr) == (2, "remat-fix: give --write or --check, not both\n")


def test_coloured_diffs_are_for_terminals(
    remat_fix: Run, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model("bad()")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m+good()" in remat_fix("model.py").stdout
