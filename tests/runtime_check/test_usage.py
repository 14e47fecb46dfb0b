"""What cannot be checked: exit status 2 and one line that says why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from click.testing import CliRunner  # noqa: E402

from remat_lint.runtime_check.cli import main  # noqa: E402

MODEL = """
import torch
from torch import nn
import torch_remat as remat


class Model(nn.Module):
    keep = False

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return remat.checkpoint(region_name="body")(self.body)(x)

    def body(self, x):
        return remat.region(self.linear, "linear", recompute=not self.keep)(x)


def build():
    return Model(), torch.ones(2, 4)
"""

BAD_FACTORIES = [
    ("returns nothing", "def build(): pass", "returned None: return (module, inputs) or a Case"),
    ("returns a number", "def build(): return 3", "returned an object of type int"),
    ("returns three things", "def build(): return 1, 2, 3", "returned a tuple of 3"),
    ("returns no module", "def build(): return 1, (2,)", "type int where the module should be"),
    (
        "returns a class",
        "from torch import nn\ndef build(): return nn.Linear, ()",
        "type type where the module should be",
    ),
    (
        "returns no inputs",
        "from torch import nn\ndef build(): return nn.Linear(2, 2), None",
        "returned None as inputs",
    ),
    (
        "returns keys that are no names",
        "from torch import nn\ndef build(): return nn.Linear(2, 2), {1: 2}",
        "type dict as inputs",
    ),
    ("raises", "def build(): raise ValueError('no\\nweights')", "raised ValueError: no weights"),
    ("leaves", "import sys\ndef build(): sys.exit(0)", "raised SystemExit: 0"),
    ("wants arguments", "def build(size): return size", "raised TypeError"),
    ("is no function", "build = 3", "is no function but an object of type int"),
    ("does not exist", "def biuld(): pass", "has no attribute build: did you mean biuld?"),
    ("does not parse", "def build(:", "does not import: SyntaxError"),
    ("does not import", "import nothing_of_this_name", "does not import: ModuleNotFoundError"),
    ("fails on import", "1 / 0", "does not import: ZeroDivisionError"),
    ("leaves on import", "raise SystemExit(3)", "does not import: SystemExit"),
    (
        "makes inputs that do not fit",
        "import torch\nfrom torch import nn\ndef build(): return nn.Linear(2, 2), torch.ones(3)",
        "fails without any checkpoint, in forward: RuntimeError",
    ),
    (
        "makes a step without gradients",
        "import torch\nfrom torch import nn\n"
        "class M(nn.Module):\n    def forward(self, x): return x.detach()\n"
        "def build(): return M(), torch.ones(3)",
        "no output of the module requires a gradient",
    ),
    (
        "makes another module each time",
        "import itertools, torch\nfrom torch import nn\nsizes = itertools.count(1)\n"
        "def build(): return nn.Linear(3, next(sizes)), torch.ones(3)",
        "other parameters each time",
    ),
    (
        "gives a Case with a list",
        "import torch\nfrom torch import nn\nfrom remat_lint.runtime_check import Case\n"
        "def build(): return Case(nn.Linear(2, 2), [torch.ones(2)])",
        "a Case takes args as a tuple",
    ),
]


def assert_one_clear_line(outcome: object, part: str) -> None:
    stdout, stderr, status = outcome.stdout, outcome.stderr, outcome.exit_code  # type: ignore[attr-defined]
    assert status == 2, (stdout, stderr)
    assert stdout == ""
    assert part in stderr
    assert stderr.startswith("remat-check: ")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("source", "part"), [row[1:] for row in BAD_FACTORIES], ids=[r[0] for r in BAD_FACTORIES]
)
def test_unusable_factory(source: str, part: str, request: pytest.FixtureRequest) -> None:
    write: Callable[[str, str], None] = request.getfixturevalue("written_module")
    name = f"bad_{abs(hash(source))}"
    write(name, source)
    assert_one_clear_line(CliRunner().invoke(main, [f"{name}:build", "--device", "cpu"]), part)


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ("no_colon", "names no factory: write package.module:factory"),
        (":build", "names no factory"),
        ("module:", "names no factory"),
        ("no_such_module:build", "there is no module no_such_module"),
        ("torch.no_such_part:build", "there is no module torch.no_such_part"),
        ("torch:nn", "is no function"),
        ("no such/path.py:build", "is a file: write the module's name"),
        ("./model.py:build", "is a file: write the module's name"),
        ("..:build", "write the module's name"),
    ],
)
def test_unusable_target(target: str, part: str) -> None:
    assert_one_clear_line(CliRunner().invoke(main, [target]), part)


def test_pattern_without_a_region(written_module: Callable[[str, str], None]) -> None:
    written_module("model_for_patterns", MODEL)
    outcome = CliRunner().invoke(main, ["model_for_patterns:build", "--policy", "attention.*"])
    assert_one_clear_line(outcome, "--policy attention.* matches no region; the regions are: linear")
    outcome = CliRunner().invoke(main, ["model_for_patterns:build", "--policy", " , "])
    assert_one_clear_line(outcome, "--policy is empty")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu(written_module: Callable[[str, str], None]) -> None:
    written_module("model_for_cuda", MODEL)
    outcome = CliRunner().invoke(main, ["model_for_cuda:build", "--device", "cuda"])
    assert_one_clear_line(outcome, "torch finds no CUDA GPU here")


def test_traceback_on_request(written_module: Callable[[str, str], None]) -> None:
    written_module("raising_factory", "def build(): raise ValueError('no weights')")
    outcome = CliRunner().invoke(main, ["raising_factory:build", "--traceback"])
    assert outcome.exit_code == 2
    assert "Traceback" in outcome.stderr
    assert outcome.stderr.endswith("raised ValueError: no weights\n")


def test_missing_torch_names_the_extra(tmp_path: Path) -> None:
    """In a process of its own, where torch cannot be imported."""
    blocked = "import sys; sys.modules['torch'] = None; from remat_lint.runtime_check.cli import main; main()"
    repository = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", blocked, "a.b:c"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'remat-lint[runtime]'" in done.stderr


def test_version_needs_no_target() -> None:
    outcome = CliRunner().invoke(main, ["--version"])
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("remat-check ")


def test_given_policies_are_rows_of_the_table(written_module: Callable[[str, str], None]) -> None:
    written_module("model_for_rows", MODEL)
    options = ["--policy", "lin*", "--policy", "body::linear,lin?ar"]
    outcome = CliRunner().invoke(main, ["model_for_rows:build", "--device", "cpu", *options])
    assert outcome.exit_code == 0
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert ["lin*", "1", "equal"] in rows
    assert ["body::linear,lin?ar", "1", "equal"] in rows
