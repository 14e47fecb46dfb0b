"""``remat-lint`` from its arguments to its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Model = Callable[..., Path]


def codes(result: Result) -> list[tuple[int, str]]:
    return [(found["line"], found["code"]) for found in json.loads(result.stdout)]


def test_a_clean_file_exits_with_0(remat_lint: Run, model: Model) -> None:
    model("good()")
    result = remat_lint("model.py")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "No findings in 1 file.\n", "")


def test_a_finding_is_shown_with_its_line_and_exits_with_1(remat_lint: Run, model: Model) -> None:
    model("x = bad()")
    result = remat_lint("model.py")
    assert result.exit_code == 1
    assert result.stdout == (
        "model.py:2:5: RMT101 [*] `bad` is called\n"
        " 2 | x = bad()\n"
        "   |     ^^^^^\n"
        "   = note: model.py:2:5: it is called here\n"
        "\n"
        "Found 1 finding (1 fixable with remat-fix).\n"
    )


def test_the_current_folder_is_the_default(remat_lint: Run, model: Model) -> None:
    model("bad()", name="pkg/model.py")
    assert "pkg/model.py:2:1: RMT101" in remat_lint().stdout


def test_check_may_be_named(remat_lint: Run, model: Model) -> None:
    model("bad()")
    assert remat_lint("check", "model.py").stdout == remat_lint("model.py").stdout


def test_options_may_come_first(remat_lint: Run, model: Model) -> None:
    model("bad()")
    result = remat_lint("--isolated", "--no-cache", "--output-format", "json", "model.py")
    assert codes(result) == [(2, "RMT101")]


def test_json_has_the_documented_keys(remat_lint: Run, model: Model) -> None:
    model("bad()")
    (found,) = json.loads(remat_lint("--output-format", "json", "model.py").stdout)
    assert found == {
        "code": "RMT101",
        "name": "missing-marker",
        "severity": "error",
        "message": "`bad` is called",
        "path": "model.py",
        "line": 2,
        "column": 1,
        "end_line": 2,
        "end_column": 6,
        "fix": "safe",
        "chain": [],
        "related": [{"path": "model.py", "line": 2, "column": 1, "message": "it is called here"}],
    }


def test_findings_are_ordered_by_path_and_place(remat_lint: Run, model: Model) -> None:
    model("hopeless(); bad()", "bad()", name="b.py")
    model("bad()", name="a.py")
    found = json.loads(remat_lint("--output-format", "json", "b.py", "a.py").stdout)
    assert [(f["path"], f["line"], f["code"]) for f in found] == [
        ("a.py", 2, "RMT101"),
        ("b.py", 2, "RMT106"),
        ("b.py", 2, "RMT101"),
        ("b.py", 3, "RMT101"),
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["RMT101", "RMT105", "RMT106"]),
        (["--select", "RMT101"], ["RMT101"]),
        (["--select", "RMT105,RMT106"], ["RMT105", "RMT106"]),
        (["--select", "RMT1", "--ignore", "RMT105"], ["RMT101", "RMT106"]),
        (["--select", "RMT105", "--ignore", "RMT1"], ["RMT105"]),
        (["--select", "RMT101", "--extend-select", "RMT106"], ["RMT101", "RMT106"]),
        (["--ignore", "RMT"], []),
        (["--ignore", "ALL", "--extend-select", "RMT106"], ["RMT106"]),
        (["--per-file-ignores", "model.py:RMT10"], []),
        (["--per-file-ignores", "other.py:RMT1,*.py:RMT105"], ["RMT101", "RMT106"]),
        (["--select", "RMT7"], []),
    ],
)
def test_selectors_choose_the_rules(
    remat_lint: Run, model: Model, options: list[str], expected: list[str]
) -> None:
    model("bad()", "risky()", "hopeless()")
    result = remat_lint("--output-format", "json", *options, "model.py")
    assert [code for _, code in codes(result)] == expected
    assert result.exit_code == bool(expected)


def test_a_code_of_a_later_version_is_named_in_a_warning(remat_lint: Run, model: Model) -> None:
    model("bad()")
    result = remat_lint("--select", "RMT101,RMT7", "model.py")
    assert result.stderr == "warning: RMT7 is reserved for a later version and reports nothing yet\n"
    assert result.exit_code == 1


def test_exit_zero_hides_findings_from_the_status_only(remat_lint: Run, model: Model) -> None:
    model("bad()")
    result = remat_lint("--exit-zero", "model.py")
    assert result.exit_code == 0
    assert "RMT101" in result.stdout


def test_quiet_leaves_out_the_summary(remat_lint: Run, model: Model) -> None:
    model("bad()")
    assert "Found" not in remat_lint("--quiet", "model.py").stdout
    model("good()")
    assert remat_lint("--quiet", "model.py").stdout == ""


def test_the_report_goes_to_a_file(remat_lint: Run, model: Model, folder: Path) -> None:
    model("bad()")
    result = remat_lint("--output-file", "report.json", "--output-format", "json", "model.py")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads((folder / "report.json").read_text())[0]["code"] == "RMT101"


def test_statistics_count_rules_files_and_limits(remat_lint: Run, model: Model) -> None:
    model("bad()", "bad()", "hopeless()  # noqa", "lost()")
    (Path("plain.py")).write_text("x = 1\n")
    out = remat_lint("--statistics", ".").stdout
    assert "     2  RMT101  missing-marker\n" in out
    assert "     2  files read\n     1  of them analysed" in out
    assert "     1  findings suppressed by comments\n" in out
    assert "         1  lost its way\n" in out


def test_statistics_leave_json_on_stdout_alone(remat_lint: Run, model: Model) -> None:
    model("bad()")
    result = remat_lint("--statistics", "--output-format", "json", "model.py")
    assert codes(result) == [(2, "RMT101")]
    assert "files read" in result.stderr


def test_standard_input_is_linted_under_the_given_name(remat_lint: Run, folder: Path) -> None:
    text = b"import torch_remat\nbad()\n"
    assert "-:2:1: RMT101" in remat_lint("-", stdin=text).stdout
    assert "pkg/new.py:2:1: RMT101" in remat_lint("-", "--stdin-filename", "pkg/new.py", stdin=text).stdout


def test_suppressed_findings_are_silent(remat_lint: Run, model: Model) -> None:
    model("bad()  # remat-lint: ignore[RMT101] for the test", "bad()  # noqa: RMT101", "bad()  # noqa: E501")
    assert codes(remat_lint("--output-format", "json", "model.py")) == [(4, "RMT101")]


def test_a_comment_that_names_no_rule_is_told(remat_lint: Run, model: Model) -> None:
    model(
        "bad()  # remat-lint: ignore[RMT999, RMT101]",
        "good()  # remat-lint: ignore[RMT70, missing-marker, RMT1010] reason",
        "good()  # remat-lint: ignore[RMT7, rmt101]",
        "good()  # noqa: RMT999",
        "good('# remat-lint: ignore[RMT999]')",
    )
    result = remat_lint("model.py")
    assert (result.exit_code, result.stdout) == (0, "No findings in 1 file.\n")
    advice = "; `remat-lint rule --all` lists the codes\n"
    assert result.stderr == (
        f"warning: model.py:2: unknown rule code 'RMT999'{advice}"
        f"warning: model.py:3: unknown rule code 'missing-marker', 'RMT1010'{advice}"
    )
    assert remat_lint("--quiet", "model.py").stderr == ""


def test_settings_come_from_the_nearest_pyproject(remat_lint: Run, model: Model, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.remat-lint]\nselect = ["RMT105"]\n')
    (folder / "pkg").mkdir()
    (folder / "pkg/pyproject.toml").write_text("[project]\n")
    model("bad()", "risky()", name="pkg/model.py")
    assert codes(remat_lint("--output-format", "json", "pkg")) == [(3, "RMT105")]
    assert len(codes(remat_lint("--output-format", "json", "--isolated", "pkg"))) == 2
    assert codes(remat_lint("--output-format", "json", "--select", "RMT101", "pkg")) == [(2, "RMT101")]


def test_a_config_file_may_be_named(remat_lint: Run, model: Model, folder: Path) -> None:
    (folder / "lint.toml").write_text('ignore = ["RMT101"]\n')
    model("bad()", "risky()")
    assert codes(remat_lint("--config", "lint.toml", "--output-format", "json", ".")) == [(3, "RMT105")]


def test_version_names_the_program(remat_lint: Run) -> None:
    assert remat_lint("--version").stdout == "remat-lint 0.1.0\n"


def test_colours_are_for_terminals_only(
    remat_lint: Run, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model("bad()")
    assert "\x1b[" not in remat_lint("model.py").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in remat_lint("model.py").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in remat_lint("model.py").stdout


def test_a_rule_is_explained(remat_lint: Run) -> None:
    result = remat_lint("rule", "RMT101")
    assert result.exit_code == 0
    assert result.stdout.startswith("# missing-marker (RMT101)\n")
    assert "## Use instead\n\n```python\ngood()\n```\n" in result.stdout
    assert remat_lint("rule", "missing-marker").stdout == result.stdout


def test_all_rules_are_listed_with_what_is_special_about_them(remat_lint: Run) -> None:
    assert remat_lint("rule", "--all").stdout.splitlines()[:3] == [
        "RMT101  missing-marker             error    fix",
        "RMT104  ungrouped-markers          error    fix, opt-in",
        "RMT105  marker-not-a-tensor        error",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rule", "RMT999"], "unknown rule 'RMT999'; `remat-lint rule --all` lists the rules"),
        (["rule", "RMT201"], "RMT201 is reserved for a later version; it reports nothing yet"),
        (["rule"], "give the code of a rule, or --all to list them"),
        (["rule", "RMT101", "--all"], "give the code of a rule, or --all to list them"),
    ],
)
def test_a_rule_that_is_not_there_is_a_one_line_error(remat_lint: Run, args: list[str], message: str) -> None:
    result = remat_lint(*args)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"remat-lint: {message}\n")


def test_verbose_names_the_settings_and_what_was_skipped(remat_lint: Run, model: Model, folder: Path) -> None:
    model("bad()", name="build/model.py")
    result = remat_lint("--verbose", ".")
    assert "settings: none\nskipped build: excluded\n" in result.stderr
    assert "warning: no Python files below the paths given" in result.stderr
    assert result.exit_code == 0
