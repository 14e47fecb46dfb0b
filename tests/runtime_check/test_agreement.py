"""``remat-check --manifest``: says which of the regions that run are not as the manifest declares them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from click.testing import CliRunner, Result  # noqa: E402

from remat_lint.cli import lint  # noqa: E402
from remat_lint.runtime_check.cli import main  # noqa: E402

Write = Callable[[str, str], None]

MODEL = """
import torch
from torch import nn
import torch_remat as remat


class Part(nn.Module):
    prefix = ""
    keep = False

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def name(self, local):
        return f"{self.prefix}.{local}" if self.prefix else local

    def forward(self, x):
        x = remat.region(self.linear, self.name("linear"), recompute=not self.keep)(x)
        return remat.region(torch.sigmoid, self.name("act"), recompute=True)(x)


class Model(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(Part() for _ in range(depth))
        self.head = Part()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x) if x.shape[0] > 1 else x


def build(size=2):
    torch.manual_seed(0)
    model = Model()
    for path, module in model.named_modules():
        if isinstance(module, Part):
            module.prefix = path
    return model, torch.ones(size, 4)


def build_small():
    return build(1)


def build_outside():
    model, inputs = build()
    for i, layer in enumerate(model.layers):
        layer.prefix = ""
        layer.forward = remat.checkpoint(region_name=f"block {i}")(layer.forward)
    return model, inputs
"""


@pytest.fixture
def checked(written_module: Write) -> Callable[..., Result]:
    """Writes a model and its manifest, changes the manifest, and runs the check."""

    def run(name: str, change: Callable[[dict[str, Any]], object] = len, factory: str = "build") -> Result:
        written_module(name, MODEL)
        listed = CliRunner().invoke(lint.cli, ["manifest", f"{name}.py"])
        manifest = json.loads(listed.stdout)
        change(manifest)
        Path("manifest.json").write_text(json.dumps(manifest))
        arguments = [f"{name}:{factory}", "--device", "cpu", "--manifest", "manifest.json"]
        return CliRunner().invoke(main, arguments)

    return run


def regions(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of the model."""
    found: list[dict[str, Any]] = manifest["classes"][1]["regions"]
    return found


def paragraph(outcome: Result) -> list[str]:
    """The verdict on the manifest."""
    return next(one for one in outcome.stdout.split("\n\n") if one.startswith("Manifest:")).splitlines()


@pytest.mark.usefixtures("in_repository")
def test_the_example_agrees_with_its_manifest(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    CliRunner().invoke(lint.cli, ["manifest", "examples/llama", "--output-file", str(file)])
    target = ["examples.llama.case:build", "--device", "cpu", "--manifest", str(file)]
    outcome = CliRunner().invoke(main, target)
    assert outcome.exit_code == 0
    assert paragraph(outcome) == [
        f"Manifest: {file} agrees with the regions of examples.llama.model.Model that ran."
    ]


def test_patterns_agree_with_every_layer(checked: Callable[..., Result]) -> None:
    outcome = checked("agreeing")
    assert outcome.exit_code == 0
    verdict = "Manifest: manifest.json agrees with the regions of agreeing.Model that ran."
    assert paragraph(outcome) == [verdict]


def test_a_conditional_region_need_not_run(checked: Callable[..., Result]) -> None:
    assert checked("without_a_head", factory="build_small").exit_code == 0


def test_checkpoints_put_around_parts_from_outside(checked: Callable[..., Result]) -> None:
    """The names begin at the part, whatever the checkpoint is called; the head is in none."""
    assert checked("checkpointed_outside", factory="build_outside").exit_code == 0


def test_a_region_that_is_not_declared_is_named(checked: Callable[..., Result]) -> None:
    outcome = checked("lacking", lambda manifest: regions(manifest).pop(0))
    assert outcome.exit_code == 1
    assert paragraph(outcome) == [
        "Manifest: manifest.json does not agree with the regions of lacking.Model that ran.",
        "    layers.0.linear ran and is not declared",
        "    layers.1.linear ran and is not declared",
    ]
    last = outcome.stdout.splitlines()[-1]
    assert last == "The step holds under 8 policies, but the manifest lists other regions."


def test_a_declared_region_that_does_not_run_is_named(checked: Callable[..., Result]) -> None:
    def add(manifest: dict[str, Any]) -> None:
        more = {**regions(manifest)[0], "name": "gone", "static": True}
        sometimes = {**more, "name": "perhaps", "conditional": True}
        regions(manifest).extend([more, sometimes])

    outcome = checked("longer", add)
    assert outcome.exit_code == 1
    assert paragraph(outcome)[1:] == ["    gone is declared and did not run (longer.py:19)"]


@pytest.mark.parametrize(("kept", "status"), [("save", 1), ("policy", 0), ("recompute", 0)])
def test_a_region_that_is_kept_otherwise_is_named(
    checked: Callable[..., Result], kept: str, status: int
) -> None:
    outcome = checked(f"keeping_{kept}", lambda manifest: regions(manifest)[-1].update(kept=kept))
    assert outcome.exit_code == status
    if status:
        place = "keeping_save.py:20"
        assert paragraph(outcome)[1:] == [f"    head.act is declared save and ran as recompute ({place})"]


def test_an_incomplete_manifest_does_not_deny_what_it_lacks(checked: Callable[..., Result]) -> None:
    def cut(manifest: dict[str, Any]) -> None:
        manifest["classes"][1]["complete"] = False
        del regions(manifest)[1:]

    outcome = checked("incomplete", cut)
    assert outcome.exit_code == 0
    assert paragraph(outcome)[1:] == [
        "    It is not complete; these ran besides: layers.0.act, layers.1.act, head.linear, head.act"
    ]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda m: m.update(version=2), "it is of version 2, and version 1 is read here"),
        (lambda m: m.pop("version"), "it is no manifest"),
        (lambda m: m.pop("classes"), "it has no list of classes"),
        (lambda m: regions(m)[0].pop("kept"), "a region in it has kept None"),
        (lambda m: regions(m)[0].update(kept="no"), "a region in it has kept 'no'"),
        (lambda m: regions(m)[0].update(line="3"), "a region in it has line '3'"),
        (lambda m: m["classes"].append(3), "it has no list of regions"),
        (lambda m: m["classes"].pop(), "has no class unusable.Model: write it anew"),
        (
            lambda m: (
                m["classes"][1].update({"class": "a.unusable.Model"})
                or m["classes"].append({**m["classes"][1], "class": "b.unusable.Model"})
            ),
            "several classes that unusable.Model may be: a.unusable.Model, b.unusable.Model",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_is_one_line(
    checked: Callable[..., Result], change: Callable[[dict[str, Any]], object], part: str
) -> None:
    outcome = checked("unusable", change)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert part in outcome.stderr
    assert outcome.stderr.startswith("remat-check: --manifest manifest.json ")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "part"), [(None, "cannot be read"), ("{", "no JSON"), ("[]", "no manifest")]
)
def test_a_file_that_is_no_manifest_is_one_line(written_module: Write, text: str | None, part: str) -> None:
    written_module("model_without_manifest", MODEL)
    if text is not None:
        Path("manifest.json").write_text(text)
    arguments = ["model_without_manifest:build", "--manifest", "manifest.json"]
    outcome = CliRunner().invoke(main, arguments)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert part in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_class_seen_from_another_folder_is_found(checked: Callable[..., Result]) -> None:
    outcome = checked("seen", lambda manifest: manifest["classes"][1].update({"class": "models.seen.Model"}))
    assert outcome.exit_code == 0
