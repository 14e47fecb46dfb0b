"""What torch_remat does with the idioms, and with what the fixer makes of them."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    remat = pytest.importorskip("torch_remat")

from remat_lint.config import Config
from remat_lint.fixer import Fixer
from remat_lint.linter import Linter
from remat_lint.runtime_check.placeholders import torch_has_placeholders
from remat_lint.source import SourceFile

pytestmark = [
    pytest.mark.filterwarnings("default"),  # torch warns of what some idioms do
    pytest.mark.skipif(not torch_has_placeholders(), reason="needs a torch that has placeholders"),
]

FOLDER = Path(__file__).parent / "cases"
RUN = re.compile(r'^def ((?:body|run)_\w+)\(x\):\n    """runtime: ([a-z-]+)"""', re.MULTILINE)
RUNS = [
    pytest.param(path, name, verdict, id=f"{path.stem}-{name}")
    for path in sorted(FOLDER.glob("a*.py"))
    for name, verdict in RUN.findall(path.read_text())
]
IN_PLACE = ("modified in-place", "is a view and is being modified inplace")


@pytest.mark.parametrize(("path", "name", "verdict"), RUNS)
def test_torch_remat_says(path: Path, name: str, verdict: str) -> None:
    assert _verdict(path, path.read_text(), name) == verdict


@pytest.mark.parametrize(("path", "name"), [run.values[:2] for run in RUNS if run.values[2] == "placeholder"])
def test_the_fixed_program_runs(path: Path, name: str) -> None:
    linter = Linter(Config(root=FOLDER, select=("RMT101", "RMT107", "RMT208")))
    outcome = Fixer(linter).fix(SourceFile.read(path))
    left = linter.lint(outcome.after).findings
    assert len(left) == outcome.unfixed
    if not left:
        assert _verdict(path, outcome.after.text, name) == "ok"


def _verdict(path: Path, text: str, name: str) -> str:
    """How a function ends under a checkpoint, compared with the same function without one."""
    try:
        replayed = _train(path, text, name, checkpointed=True)
    except Exception as error:  # noqa: BLE001 - the verdict is the exception
        if "placeholder" in str(error):
            return "placeholder"
        return "in-place" if any(part in str(error) for part in IN_PLACE) else "error"
    plain = _train(path, text, name, checkpointed=False)
    same = len(plain) == len(replayed) and all(map(torch.equal, plain, replayed))
    return "ok" if same else "wrong-gradient"


def _train(path: Path, text: str, name: str, *, checkpointed: bool) -> list[Any]:
    """Outputs and gradients of one step in a module of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        patch.delitem(sys.modules, "blocks", raising=False)
        if not checkpointed:
            patch.setattr(remat, "checkpoint", lambda **_: lambda function: function)
        torch.manual_seed(0)
        module = _load(path, text)
        function = getattr(module, name)
        if name.startswith("body_"):
            function = remat.checkpoint(region_name="idiom")(function)
        x = torch.linspace(-1, 1, 32).view(4, 8).requires_grad_()
        result = function(x)
        outs = list(result) if isinstance(result, (tuple, list)) else [result]
        sum(out.double().sum() for out in outs).backward()
        sys.modules.pop("blocks", None)
    modules = [value for value in vars(module).values() if isinstance(value, torch.nn.Module)]
    leaves = [x, *(parameter for found in modules for parameter in found.parameters())]
    return [out.detach() for out in outs] + [leaf.grad for leaf in leaves if leaf.grad is not None]


def _load(path: Path, text: str) -> Any:
    spec = importlib.util.spec_from_loader(path.stem, None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    finally:
        del sys.modules[path.stem]
    return module
