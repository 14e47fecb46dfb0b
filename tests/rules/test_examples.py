"""Every rule's examples say what they say: the linter reports those lines, torch_remat does that."""

from __future__ import annotations

import contextlib
import contextvars
import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.gathering import gather
from remat_lint.project import Project
from remat_lint.rule import Example, Rule
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile


def examples() -> Iterator[Any]:
    for rule in all_rules():
        for kind, group in (("fails", rule.fails), ("passes", rule.passes)):
            for index, example in enumerate(group):
                yield pytest.param(rule, example, id=f"{rule.code}-{kind}-{index}")


def reported_lines(rule: Rule, code: str) -> list[int]:
    source = SourceFile("example.py", code.encode())
    facts = gather([analyse(source, Project())], [source.path])[source.path]
    return sorted({source.span(finding.place.node).line for finding in rule.check(facts)})


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_the_linter_reports_the_lines_of_the_example(rule: Rule, example: Example) -> None:
    assert reported_lines(rule, example.code) == list(example.at)


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_no_other_rule_reports_an_example_that_passes(rule: Rule, example: Example) -> None:
    if not example.at:
        assert [other.code for other in all_rules() if reported_lines(other, example.code)] == []


@pytest.mark.parametrize(("rule", "example"), list(examples()))
def test_torch_remat_does_what_the_example_says(rule: Rule, example: Example, tmp_path: Path) -> None:
    pytest.importorskip("torch_remat")
    from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders

    path = tmp_path / "example.py"
    path.write_text(example.code)
    with contextlib.nullcontext() if torch_has_placeholders() else stand_ins_installed():
        outcome = contextvars.copy_context().run(run_under_a_checkpoint, load(path))
    assert example.runtime in outcome, f"{rule.code}: {outcome}"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("rule_example", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rule_example"] = module
    spec.loader.exec_module(module)
    return module


def run_under_a_checkpoint(module: ModuleType) -> str:
    """ "ok" where the gradients equal those of the plain run, else "wrong-gradient" or the error."""
    import torch
    import torch_remat

    def body(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch_remat.checkpoint(region_name="example")(module.body)(x)
        return result

    function = getattr(module, "run", body)
    try:
        checkpointed = gradient(function)
    except Exception as error:  # noqa: BLE001 - the error is the outcome
        return f"{type(error).__name__}: {error}"
    with checkpoints_switched_off(module):
        plain = gradient(function)
    return "ok" if torch.equal(checkpointed, plain) else "wrong-gradient"


def gradient(function: Any) -> Any:
    """The gradient of the input, with all random states set before the forward."""
    import torch

    torch.manual_seed(0)
    x = torch.randn(4, 8, requires_grad=True)
    random.seed(0)
    function(x).sum().backward()
    assert x.grad is not None
    return x.grad


@contextlib.contextmanager
def checkpoints_switched_off(module: ModuleType) -> Iterator[None]:
    """The functions that make checkpoints run what they are given."""
    import torch.utils.checkpoint
    import torch_remat

    def remat_checkpoint(**_: Any) -> Any:
        return lambda function: function

    def torch_checkpoint(function: Any, *args: Any, **_: Any) -> Any:
        return function(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_remat, "checkpoint", remat_checkpoint)
        patch.setattr(torch.utils.checkpoint, "checkpoint", torch_checkpoint)
        if hasattr(module, "checkpoint"):
            patch.setattr(module, "checkpoint", torch_checkpoint)
        yield
