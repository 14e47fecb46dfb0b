"""``remat-lint manifest`` from its arguments to its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from remat_lint.analysis.declared import declaring_classes
from remat_lint.analysis.facts import DeclaringClass
from remat_lint.cli import lint
from remat_lint.manifest import from_json, to_json
from remat_lint.project import Project
from remat_lint.source import SourceFile

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/manifest.schema.json").read_text(encoding="utf-8"))
Run = Callable[..., Result]
Model = Callable[..., Path]

BLOCK = """
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def forward(self, x):
        return torch_remat.region(self.lin, "lin", recompute=False)(x)
"""


def of_examples() -> str:
    return CliRunner().invoke(lint.cli, ["manifest", str(ROOT / "examples/llama")]).stdout


def test_the_manifest_fits_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(of_examples()), SCHEMA)


def test_what_is_written_can_be_read() -> None:
    text = of_examples()
    assert to_json(from_json(text)) == text


def test_the_example_of_the_page_is_what_the_command_writes() -> None:
    page = (ROOT / "docs/manifest.md").read_text(encoding="utf-8")
    (shown,) = json.loads(page.split("```json\n")[1].split("```")[0])["classes"]
    written = {one["class"]: one for one in json.loads(of_examples())["classes"]}[shown["class"]]
    for one in (written, *written["regions"]):
        one["path"] = str(Path(one["path"]).resolve().relative_to(ROOT))
    assert shown == {**written, "regions": written["regions"][:1]}


def test_a_class_is_named_by_its_package_and_its_place(remat_lint: Run, model: Model) -> None:
    model(BLOCK, name="pkg/inner/model.py")
    for folder in ("pkg", "pkg/inner"):
        Path(folder, "__init__.py").touch()
    result = remat_lint("manifest")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {
        "version": 1,
        "classes": [
            {
                "class": "pkg.inner.model.Block",
                "path": "pkg/inner/model.py",
                "line": 4,
                "complete": True,
                "regions": [
                    {
                        "name": "lin",
                        "kept": "save",
                        "static": True,
                        "conditional": False,
                        "checkpoint": None,
                        "inside": None,
                        "path": "pkg/inner/model.py",
                        "line": 9,
                        "column": 16,
                    }
                ],
            }
        ],
    }


def test_classes_stand_in_the_order_of_their_files_and_lines(remat_lint: Run, model: Model) -> None:
    model(BLOCK, BLOCK.replace("Block", "A"), name="b.py")
    model(BLOCK, name="a.py")
    result = remat_lint("manifest", "b.py", "a.py")
    assert [one["class"] for one in json.loads(result.stdout)["classes"]] == ["a.Block", "b.Block", "b.A"]


def test_a_file_without_regions_is_an_empty_manifest(remat_lint: Run, model: Model) -> None:
    model("class Plain: pass")
    assert json.loads(remat_lint("manifest", "model.py").stdout) == {"version": 1, "classes": []}


def test_a_file_that_does_not_parse_is_one_line_and_the_others_are_listed(
    remat_lint: Run, model: Model
) -> None:
    model(BLOCK, name="good.py")
    model("class (", name="broken.py")
    result = remat_lint("manifest")
    assert result.exit_code == 2
    assert result.stderr.startswith("remat-lint: broken.py: ")
    assert result.stderr.endswith("(line 2)\n")
    assert result.stderr.count("\n") == 1
    assert [one["class"] for one in json.loads(result.stdout)["classes"]] == ["good.Block"]


def test_a_path_that_does_not_exist_is_one_line(remat_lint: Run) -> None:
    result = remat_lint("manifest", "gone.py")
    assert result.exit_code == 2
    assert result.stderr.startswith("remat-lint: gone.py: does not exist")
    assert result.stderr.count("\n") == 1


def test_standard_input_is_refused(remat_lint: Run) -> None:
    result = remat_lint("manifest", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`-` is not taken here" in result.stderr


def test_the_manifest_can_go_to_a_file(remat_lint: Run, model: Model) -> None:
    model(BLOCK)
    written = remat_lint("manifest").stdout
    assert remat_lint("manifest", "--output-file", "manifest.json").stdout == ""
    assert Path("manifest.json").read_text() == written
    result = remat_lint("manifest", "--output-file", "gone/manifest.json")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_excluded_files_are_left_out(remat_lint: Run, model: Model) -> None:
    model(BLOCK, name="old.py")
    Path("pyproject.toml").write_text('[tool.remat-lint]\nexclude = ["old.py"]\n')
    assert json.loads(remat_lint("manifest").stdout)["classes"] == []
    assert json.loads(remat_lint("manifest", "--isolated").stdout)["classes"] != []
    assert json.loads(remat_lint("manifest", "--force-exclude", "old.py").stdout)["classes"] == []


def test_what_fails_inside_is_named_and_the_others_are_listed(
    remat_lint: Run, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: SourceFile, project: Project) -> tuple[DeclaringClass, ...]:
        if source.path == "bad.py":
            raise KeyError("planted")
        return declaring_classes(source, project)

    monkeypatch.setattr("remat_lint.listing.declaring_classes", failing)
    model(BLOCK, name="bad.py")
    model(BLOCK, name="good.py")
    result = remat_lint("manifest")
    assert result.exit_code == 2
    assert result.stderr == "remat-lint: internal error in bad.py: KeyError: 'planted'; please report\n"
    assert [one["class"] for one in json.loads(result.stdout)["classes"]] == ["good.Block"]
