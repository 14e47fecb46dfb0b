"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_remat")
# What tests in the same process import is forgotten after them, and torch registers some libraries only once.
pytest.importorskip("torch._dynamo")
pytest.importorskip("torch.distributed._functional_collectives")

pytest_plugins = ["pytester"]

PLUGIN = "remat_lint.runtime_check.plugin"
MODEL = """
import time
import torch
import torch_remat as remat
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    keep = False

    def __init__(self, bare=torch.sin):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.bare = bare

    def forward(self, x):
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x):
        h = remat.region(self.linear, "linear", recompute=not self.keep)(x)
        remat.recompute_needs_tensor(h)
        return self.bare(h)


def build():
    return Model(), torch.ones(2, 4)


def dropping():
    return Model(lambda h: F.dropout(h, 0.5).sin()), torch.ones(2, 4)


def never_the_same():
    model = Model()
    model.bare = lambda h, number=time.perf_counter(): h.sin() * number
    return model, torch.ones(2, 4)
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run pytest on a test file, beside a module ``model`` with steps to check."""
    pytester.makepyfile(model_of_plugin=MODEL)
    pytester.syspathinsert()

    def with_plugin(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(f"import pytest\nimport model_of_plugin as model\n{source}")
        return pytester.runpytest("-p", PLUGIN, "--strict-markers", *options)

    return with_plugin


def test_fixture_passes_what_holds_and_fails_what_breaks(run: Run) -> None:
    done = run(
        "def test_good(remat_check):\n"
        "    assert remat_check(model.build, policies=['lin*'])['lin*'].totals('linear') == (1,)\n"
        "def test_bad(remat_check):\n"
        "    remat_check('model_of_plugin:dropping')\n"
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "*test_bad*",
            "model_of_plugin:dropping on cpu, *",
            "*Broken under 3 of 3 policies.*",
            "*remat-check call*",
            "none: differs: *random state not restored*",
            "all: differs: *",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")


def test_marker_makes_a_check_of_what_the_test_returns(run: Run) -> None:
    done = run(
        "@pytest.fixture\n"
        "def width(): return 4\n"
        "@pytest.mark.remat_check(seeds=(0, 1))\n"
        "@pytest.mark.parametrize('rows', [1, 2])\n"
        "def test_good(width, rows): return model.Model(), model.torch.ones(rows, width)\n"
        "@pytest.mark.remat_check()\n"
        "def test_bad(): return model.dropping()\n"
        "@pytest.mark.remat_check\n"
        "def test_nothing(): pass\n"
        "@pytest.mark.remat_check('lin*')\n"
        "def test_position(): return model.build()\n",
        "-W",
        "error::pytest.PytestReturnNotNoneWarning",
    )
    done.assert_outcomes(passed=2, failed=3)
    done.stdout.fnmatch_lines(
        [
            "*::test_bad on cpu, *",
            "*remat-check: factory *returned None: return (module, inputs) or a Case*",
            "*takes options by name only*",
        ]
    )


def test_what_is_inconclusive_fails_unless_it_may_be(run: Run) -> None:
    done = run(
        "def test_unsteady(remat_check): remat_check(model.never_the_same)\n"
        "def test_allowed(remat_check):\n"
        "    assert remat_check(model.never_the_same, inconclusive_ok=True).exit_status == 5\n"
        "def test_broken_all_the_same(remat_check): remat_check(model.dropping, inconclusive_ok=True)\n"
    )
    done.assert_outcomes(failed=2, passed=1)
    done.stdout.fnmatch_lines(["inconclusive: nothing was confirmed, which is no pass", "*Inconclusive: *"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("remat_check(model.build, policy='x')", "there is no option policy; the options are: policies, *"),
        ("remat_check(model.build, policies=['x*'])", "--policy x[*] matches no region*"),
        ("remat_check('no_such_module:build')", "there is no module no_such_module*"),
        ("remat_check(lambda: 3)", "*returned an object of type int*"),
    ],
)
def test_what_cannot_be_checked_is_one_line(run: Run, call: str, message: str) -> None:
    done = run(f"def test_it(remat_check):\n    {call}\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([f"remat-check: {message}"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_named_case_of_the_settings(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(
        '[tool.remat-check.cases.small]\nfactory = "model_of_plugin:build"\npolicies = ["lin*"]\n'
    )
    done = run("def test_it(remat_check):\n    assert remat_check('small')['lin*'].name == 'lin*'\n")
    done.assert_outcomes(passed=1)


def test_records_are_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    source = (
        "def test_two(remat_check):\n"
        "    remat_check(model.build, seeds=(3,))\n"
        "    remat_check('model_of_plugin:dropping')\n"
        "@pytest.mark.remat_check\n"
        "def test_marked(): return model.build()\n"
        "def test_other(): pass\n"
    )
    run(source, f"--remat-json={file}", "-v").stdout.fnmatch_lines(["*::test_marked all: equal"])
    first, second, third = json.loads(file.read_text(encoding="utf-8"))
    assert [one["verdict"] for one in (first, second, third)] == ["holds", "broken", "holds"]
    assert [one["test"].rpartition("::")[2] for one in (first, second, third)] == [
        *("test_two", "test_two", "test_marked")
    ]
    assert (first["seeds"], second["target"]) == ([3], "model_of_plugin:dropping")
    assert third["target"] == third["test"]


def test_a_place_for_records_that_is_none(run: Run, tmp_path: Path) -> None:
    done = run("def test_it(): pass\n", f"--remat-json={tmp_path / 'no' / 'records.json'}")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --remat-json * cannot be written: there is no such folder"])


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package can be imported in other processes, installed or not."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.mark.usefixtures("importable")
def test_torch_is_not_imported_before_it_is_needed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\ndef test_it(): assert not {'torch', 'click', 'jinja2'} & sys.modules.keys()\n"
    )
    done = pytester.runpytest_subprocess("-p", PLUGIN, "--import-mode=importlib")
    done.assert_outcomes(passed=1)


@pytest.mark.usefixtures("importable")
def test_plugin_loads_by_name_and_by_entry_point_at_once(pytester: pytest.Pytester) -> None:
    """Both in one run: pytest refuses a plugin that is registered under two names."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    (line,) = [
        line for line in project.read_text(encoding="utf-8").splitlines() if line.startswith(f'"{PLUGIN}"')
    ]
    information = pytester.mkdir("plugin_of_test-1.dist-info")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin-of-test\nVersion: 1\n")
    name, _, value = line.replace('"', "").partition(" = ")
    (information / "entry_points.txt").write_text(f"[pytest11]\n{name} = {value}\n")
    pytester.makepyfile("def test_it(request): assert request.config.getoption('--remat-json') is None\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    pytester.runpytest_subprocess("-p", PLUGIN).assert_outcomes(passed=1)
