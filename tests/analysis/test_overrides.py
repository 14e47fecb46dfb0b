"""A method that a class inherits is judged again where the class overrides what it uses."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import BareRead
from remat_lint.project import Project
from remat_lint.source import SourceFile

IMPORTS = "import torch\nimport torch_remat as remat\nfrom torch import nn\n\n"
BASE = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
    def forward(self, x):
        y = remat.region(self.lin, "lin", recompute=False)(x)
        return self.finish(self.between(y))
    def between(self, y):
        return y
    def finish(self, y):
        return y.view(-1)
"""


def _reads(path: Path) -> list[BareRead]:
    return list(analyse(SourceFile.read(path), Project()).of(BareRead))


def _lines(path: Path) -> list[int]:
    source = SourceFile.read(path)
    return [source.span(read.place.node).line for read in _reads(path)]


@pytest.mark.parametrize(
    ("name", "subclass"),
    [
        ("a method that only viewed", "def finish(self, y):\n        return y.sin()  # read"),
        ("a method that handed on", "def between(self, y):\n        return y * 2  # read"),
        ("the same again", "def between(self, y):\n        return y.view(-1)"),
        ("another method", "def other(self, y):\n        return y.sin()"),
    ],
)
def test_the_override_reads(name: str, subclass: str, tmp_path: Path) -> None:
    assert name
    text = f"{IMPORTS}{BASE}\n\nclass Sub(Base):\n    {subclass}\n"
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    expected = [number for number, line in enumerate(text.splitlines(), start=1) if "# read" in line]
    assert _lines(path) == expected


def test_what_the_override_returns_is_read_in_the_base_class(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        IMPORTS
        + textwrap.dedent("""
            class Base(nn.Module):
                def forward(self, x):
                    return self.core(x) + 1
                def core(self, x):
                    return x.sin()

            class Sub(Base):
                def core(self, x):
                    return remat.region(torch.cumsum, "s", recompute=False)(x, 0)
        """),
        encoding="utf-8",
    )
    assert _lines(path) == [8]


def test_an_attribute_that_the_subclass_sets(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        IMPORTS
        + textwrap.dedent("""
            class Part(nn.Module):
                def forward(self, x):
                    return remat.region(torch.cumsum, "s", recompute=False)(x, 0)

            class Base(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.part = nn.Linear(8, 8)
                def forward(self, x):
                    return self.part(x) + 1

            class Sub(Base):
                def __init__(self):
                    super().__init__()
                    self.part = Part()
        """),
        encoding="utf-8",
    )
    assert _lines(path) == [15]


def test_a_read_in_another_file_is_reported_at_the_region(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(
        "from torch import nn\n\nclass Base(nn.Module):\n"
        "    def forward(self, x):\n        return self.core(x) + 1\n"
        "    def core(self, x):\n        return x.sin()\n",
        encoding="utf-8",
    )
    path = tmp_path / "sub.py"
    path.write_text(
        "import torch\nimport torch_remat as remat\nfrom base import Base\n\nclass Sub(Base):\n"
        '    def core(self, x):\n        return remat.region(torch.cumsum, "s", recompute=False)(x, 0)\n',
        encoding="utf-8",
    )
    (read,) = _reads(path)
    assert _lines(path) == [7]
    assert read.insertion is None
    assert read.obstacle == "the statement that reads it is in another file"
    assert {Path(step.place.path).name for step in read.outputs[0].steps} == {"base.py", "sub.py"}


ABSTRACT = """
class Base(nn.Module):
    class Config:
        def build(self):
            ...

class Saved(Base):
    class Config(Base.Config):
        pass
    def forward(self, x):
        return remat.region(torch.cumsum, "s", recompute=False)(x, 0)

class Plain(Base):
    def forward(self, x):
        return x.sin()
"""


@pytest.mark.parametrize("how", ["part: Base", "part: 'Base | None'"])
def test_a_part_of_an_abstract_class_may_be_of_any_subclass(how: str, tmp_path: Path) -> None:
    text = f"{IMPORTS}{ABSTRACT}\n\nclass Block(nn.Module):\n    {how}\n"
    text += "    def forward(self, x):\n        return x + self.part(x)  # read\n"
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    assert _lines(path) == [text.count("\n")]


def test_a_part_that_the_config_of_an_abstract_class_builds(tmp_path: Path) -> None:
    text = f"{IMPORTS}{ABSTRACT}\n\nclass Block(nn.Module):\n    def __init__(self, part: Base.Config):\n"
    text += "        super().__init__()\n        self.part = part.build()\n"
    text += "    def forward(self, x):\n        return x + self.part(x)  # read\n"
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    assert _lines(path) == [text.count("\n")]


def test_a_subclass_is_built_from_a_configuration_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        IMPORTS
        + textwrap.dedent("""
            class Linear(nn.Module):
                class Config:
                    def build(self):
                        ...
                def forward(self, x):
                    return remat.region(torch.cumsum, "s", recompute=False)(x, 0)

            class Base(nn.Module):
                class Config:
                    def build(self):
                        ...

            class Heir(Base):
                class Config(Base.Config):
                    out: Linear.Config
                def __init__(self, config: Config):
                    super().__init__()
                    self.out = config.out.build()
                def forward(self, x):
                    return self.out(x)

            class Block(nn.Module):
                def __init__(self, part: Base.Config):
                    super().__init__()
                    self.part = part.build()
                def forward(self, x):
                    h = self.part(x)
                    return x + h
        """),
        encoding="utf-8",
    )
    assert _lines(path) == [path.read_text(encoding="utf-8").count("\n")]
