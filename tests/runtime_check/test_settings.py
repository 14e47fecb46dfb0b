"""``[tool.remat-check]``: cases by name, settings for all and for one, one clear line for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from click.testing import CliRunner, Result

from remat_lint.runtime_check import Options, settings
from remat_lint.runtime_check.cli import main
from remat_lint.runtime_check.errors import UsageError

MODEL = """
import torch
from torch import nn
import torch_remat as remat

MAYBE = True

class Model(nn.Module):
    def __init__(self, drops):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.drops = drops

    def forward(self, x):
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x):
        h = remat.region(self.linear, "linear", recompute=MAYBE)(x)
        remat.recompute_needs_tensor(h)
        h = remat.region(torch.sigmoid, "act", recompute=MAYBE)(h)
        return nn.functional.dropout(h, 0.5, training=self.drops).sin()

def right():
    return Model(False), torch.ones(2, 4)

def wrong():
    return Model(True), torch.ones(2, 4)
"""


@pytest.fixture
def run(written_module: Callable[[str, str], None]) -> Callable[..., Result]:
    """Writes the models and a configuration, and runs the command."""

    def run(config: str, *arguments: str) -> Result:
        written_module("cases_of_settings", MODEL)
        Path("pyproject.toml").write_text(config)
        return CliRunner().invoke(main, list(arguments))

    return run


TWO_CASES = """
[tool.remat-check]
device = "cpu"
combinations = 0

[tool.remat-check.cases.right]
factory = "cases_of_settings:right"
policies = ["lin*"]

[tool.remat-check.cases.wrong]
factory = "cases_of_settings:wrong"
"""


def test_all_cases_run_and_the_gravest_counts(run: Callable[..., Result]) -> None:
    outcome = run(TWO_CASES)
    assert outcome.exit_code == 1
    assert "right (cases_of_settings:right) on cpu" in outcome.stdout
    assert "wrong (cases_of_settings:wrong) on cpu" in outcome.stdout
    assert "lin*" in outcome.stdout.split("wrong (")[0]
    assert "lin*" not in outcome.stdout.split("wrong (")[1]


def test_a_case_is_chosen_by_its_name_and_an_option_replaces_its_settings(
    run: Callable[..., Result],
) -> None:
    outcome = run(TWO_CASES, "right", "--policy", "act")
    assert outcome.exit_code == 0
    rows = [line.split()[0] for line in outcome.stdout.splitlines() if line]
    assert rows.count("act") == 2, "alone, and as given"
    assert "lin*" not in rows


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            "[tool.remat-check]\npolicy = []",
            "unknown key 'policy' in [tool.remat-check]; did you mean policies?",
        ),
        (
            "[tool.remat-check]\nseeds = 3",
            "remat-check.seeds must be a list of numbers such as [0, 1], not 3",
        ),
        ("[tool.remat-check]\nseeds = [-1]", "must be a whole number of at least 0, not -1"),
        ("[tool.remat-check]\npolicies = ['a', 1]", "must be a list of strings"),
        (
            "[tool.remat-check]\ndevice = 'tpu'",
            "remat-check.device must be one of auto, cpu, cuda, not 'tpu'",
        ),
        ("[tool.remat-check]\ntracks = ['sac']", "must be one of block, selective, not 'sac'"),
        ("[tool.remat-check]\nnoise-runs = 1", "must be a whole number of at least 2, not 1"),
        ("[tool.remat-check]\noptimizer-step = 1", "must be true or false, not 1"),
        ("[tool.remat-check]\ntimeout = 0", "must be a number greater than 0, not 0"),
        (
            "[tool.remat-check]\nrank-groups = [0, 1]",
            "must be a list of lists of ranks such as [[0, 1], [2, 3]], not [0, 1]",
        ),
        ("[tool.remat-check]\nmanifest = 1", "remat-check.manifest must be a string, not 1"),
        (
            "[tool.remat-check.cases.a]\nseeds = [1]",
            'has no factory: write factory = "package.module:function"',
        ),
        ("[tool.remat-check.cases]\na = 1", "remat-check.cases must hold a table for each case"),
        ("[tool]\nremat-check = 1", "tool.remat-check must be a table"),
        ("[tool.remat-check", "no valid TOML"),
        ("[tool.remat-check]", "nothing to check: give package.module:factory, or name cases"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(
    run: Callable[..., Result], config: str, message: str
) -> None:
    outcome = run(config)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert outcome.stderr.startswith("remat-check: ")
    assert len(outcome.stderr.splitlines()) == 1


def test_a_case_that_is_not_there(run: Callable[..., Result]) -> None:
    outcome = run(TWO_CASES, "rihgt")
    assert outcome.exit_code == 2
    assert "rihgt is no case of" in outcome.stderr
    assert "did you mean right?" in outcome.stderr


def test_every_key_sets_a_field_of_the_options() -> None:
    assert {name for name, _ in settings.KEYS.values()} <= set(Options.__dataclass_fields__)


def test_an_explicit_file_must_hold_the_table(tmp_path: Path) -> None:
    file = tmp_path / "check.toml"
    file.write_text("[tool.other]\n")
    with pytest.raises(UsageError, match=r"has no table \[tool.remat-check\]"):
        settings.load(tmp_path, file)
    file.write_text("[tool.remat-check]\nseeds = [1, 2]\n")
    assert settings.load(tmp_path, file).common == {"seeds": (1, 2)}


def test_what_ran_is_written_as_a_manifest_and_confirmed(run: Callable[..., Result]) -> None:
    assert run(TWO_CASES, "right", "--write-manifest", "ran.json").exit_code == 0
    assert run(TWO_CASES, "right", "--manifest", "ran.json", "--against-source").exit_code == 0
    Path("ran.json").write_text(Path("ran.json").read_text().replace("body.act", "body.activation"))
    changed = run(TWO_CASES, "right", "--manifest", "ran.json")
    assert changed.exit_code == 1
    assert "act ran and is not declared" in changed.stdout
    assert run(TWO_CASES, "right", "--manifest", "ran.json", "--update").exit_code == 0
    assert run(TWO_CASES, "right", "--manifest", "ran.json").exit_code == 0


def test_the_order_of_regions_is_part_of_the_manifest(run: Callable[..., Result]) -> None:
    run(TWO_CASES, "right", "--write-manifest", "ran.json")
    text = Path("ran.json").read_text()
    swapped = (
        text.replace("body.act", "body.x").replace("body.linear", "body.act").replace("body.x", "body.linear")
    )
    Path("ran.json").write_text(swapped)
    outcome = run(TWO_CASES, "right", "--manifest", "ran.json")
    assert outcome.exit_code == 1
    assert "body.linear ran before body.act, and is declared after it" in outcome.stdout


def test_update_needs_a_file(run: Callable[..., Result]) -> None:
    outcome = run(TWO_CASES, "right", "--update")
    assert outcome.exit_code == 2
    assert "--update: name the file to update with --manifest" in outcome.stderr


def test_a_case_that_takes_too_long_is_inconclusive(run: Callable[..., Result]) -> None:
    outcome = run(
        TWO_CASES, "right", "--timeout", "0.001", "--json", "r.json", "--junit", "r.xml", "--html", "r.html"
    )
    assert outcome.exit_code == 5
    assert "right: not done after 0.001 s, so it is inconclusive" in outcome.stderr
    record = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert record["target"].startswith("right (")
    assert (record["verdict"], record["exit_status"]) == ("inconclusive", 5)
    assert record["explanation"] == "not done after 0.001 s"
    assert 'errors="1"' in Path("r.xml").read_text(encoding="utf-8")
    assert "not done after 0.001 s" in Path("r.html").read_text(encoding="utf-8")


def test_a_policy_that_is_given_twice_is_tried_once(run: Callable[..., Result]) -> None:
    once = run(TWO_CASES, "right", "--policy", "*lin*,*act*")
    assert once.exit_code == 0
    assert "*lin*,*act*" in once.stdout
    assert run(TWO_CASES, "right", *2 * ["--policy", "*lin*,*act*"]).stdout == once.stdout


DEEP = """
import torch
from torch import nn
import torch_remat as remat

class Model(nn.Module):
    def __init__(self, depth, both):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        self.both = both

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = remat.checkpoint(region_name=f"layers.{index}")(self.body)(layer, x, index)
        return x

    def body(self, layer, x, index):
        x = remat.region(layer, "linear", recompute=True)(x)
        return remat.region(torch.sin, "act", recompute=True)(x) if index == self.both else x.sin()

def three():
    return Model(3, 1), torch.ones(2, 4)

def four():
    return Model(4, 1), torch.ones(2, 4)

def elsewhere():
    return Model(3, 2), torch.ones(2, 4)
"""


@pytest.mark.parametrize(
    ("factory", "difference"),
    [
        ("four", "layers.3.linear ran and is not declared"),
        ("elsewhere", "layers.1.act is declared and did not run"),
    ],
)
def test_regions_are_those_of_their_checkpoint(
    written_module: Callable[[str, str], None], factory: str, difference: str
) -> None:
    written_module("deep_cases", DEEP)
    assert CliRunner().invoke(main, ["deep_cases:three", "--write-manifest", "ran.json"]).exit_code == 0
    assert CliRunner().invoke(main, ["deep_cases:three", "--manifest", "ran.json"]).exit_code == 0
    outcome = CliRunner().invoke(main, [f"deep_cases:{factory}", "--manifest", "ran.json"])
    assert outcome.exit_code == 1
    assert difference in outcome.stdout


@pytest.mark.parametrize("limit", ["--timeout", "--budget-mib", "--max-slowdown"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_limits_are_numbers(run: Callable[..., Result], limit: str, value: str) -> None:
    outcome = run(TWO_CASES, "right", limit, value)
    assert outcome.exit_code == 2
    assert f"{limit} must be a number" in outcome.stderr


def test_records_of_what_could_be_checked_are_written(run: Callable[..., Result]) -> None:
    outcome = run(TWO_CASES, "right", "cases_of_settings:missing", "--json", "found.json")
    assert outcome.exit_code == 2
    assert '"target": "right (cases_of_settings:right)"' in Path("found.json").read_text()
    outcome = run(TWO_CASES, "right", "--json", "same.out", "--html", "same.out")
    assert outcome.exit_code == 2
    assert "name one file twice" in outcome.stderr
