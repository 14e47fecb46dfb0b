"""The modules whose state is looked after: those that the code of the step can come to, and no others."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remat_lint.runtime_check.reach import within_reach

WAYS = {
    "import pkg.state": "pkg.state.SEEN",
    "import pkg.state as s": "s.SEEN",
    "from pkg import state": "state.SEEN",
    "from pkg.state import SEEN": "SEEN",
    "from . import state": "state.SEEN",
    "from .state import SEEN": "SEEN",
    "from pkg.between import state": "state.SEEN",
    "from .between import SEEN": "SEEN",
    "from .between import count": "count()",
    "import pkg": "pkg.state.SEEN",
    "def late(): from .state import SEEN": "late()",
    "def late(): import pkg.state": "late()",
    "import importlib; s = importlib.import_module('pkg.state')": "s.SEEN",
    "import importlib; s = importlib.import_module('pkg.' + 'state')": "s.SEEN",
    "import sys; s = sys.modules['pkg.' + 'st' + 'ate']": "s.SEEN",
    "from importlib import import_module as load; s = load('pkg.' + 'state')": "s.SEEN",
}


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., set[str]]]:
    """Loads a package whose module ``model`` begins with a line, and gives what is within its reach."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "pkg"
    (folder / "deep").mkdir(parents=True)
    files = {
        "__init__": "",
        "state": "SEEN = {}\n",
        "between": "from pkg import state\nfrom pkg.state import SEEN\ndef count():\n    SEEN['x'] = 1\n",
        "tables": "ROWS = [1, 2]\n",
        "patch": "import pkg.model\ndef forward(self):\n    pass\npkg.model.Model.forward = forward\n",
        "deep.__init__": "",
        "deep.layer": "from ..state import SEEN\n",
    }
    for name, text in files.items():
        (folder / f"{name.replace('.', '/')}.py").write_text(text)

    def load(line: str, used: str = "None") -> set[str]:
        (folder / "model.py").write_text(f"{line}\nclass Model:\n    def forward(self):\n        {used}\n")
        importlib.invalidate_caches()
        for name in ("state", "tables", "between", "model", "deep.layer"):
            importlib.import_module(f"pkg.{name}")
        return within_reach(["pkg.model"], _of_pkg())

    yield load
    for name in _of_pkg():
        del sys.modules[name]


def _of_pkg() -> dict[str, object]:
    return {name: code for name, code in sys.modules.items() if name.partition(".")[0] == "pkg"}


@pytest.mark.parametrize("line", list(WAYS))
def test_a_module_that_is_mentioned_is_within_reach(line: str, loaded: Callable[..., set[str]]) -> None:
    assert "pkg.state" in loaded(line, WAYS[line])


def test_a_module_that_is_not_mentioned_is_not(loaded: Callable[..., set[str]]) -> None:
    assert loaded("from pkg.deep import layer") == {
        "pkg",
        "pkg.model",
        "pkg.deep",
        "pkg.deep.layer",
        "pkg.state",
    }


def test_who_patches_a_class_is_within_reach(loaded: Callable[..., set[str]]) -> None:
    assert loaded("import math") == {"pkg", "pkg.model"}
    importlib.import_module("pkg.patch")
    assert "pkg.patch" in within_reach(["pkg.model"], _of_pkg())


def test_all_are_within_reach_of_code_that_nobody_knows(loaded: Callable[..., set[str]]) -> None:
    loaded("import math")
    assert within_reach(["pkg.model", "made.by.exec"], _of_pkg()) == set(_of_pkg())
