"""Small trees of modules: imports lead where Python would find them, whatever their form.

Every file is a dict entry; a line that ends in ``# read`` is reported by RMT101, no other line is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from remat_lint.cli import lint
from remat_lint.config import Config, load
from remat_lint.errors import UserError
from remat_lint.fixer import Fixer
from remat_lint.linter import Linter
from remat_lint.source import SourceFile
from remat_lint.wrapper_names import WrapperNames

PROJ = """\
import torch_remat as remat
from torch import nn

class Proj(nn.Module):
    def _mm(self, x):
        return x @ x.mT
    def forward(self, x):
        return remat.region(self._mm, "mm", recompute=False)(x)

class _Hidden(Proj):
    pass

class Identity(nn.Module):
    def forward(self, x):
        return x
"""

BLOCK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = {proj}()
    def forward(self, x):
        return self.proj(x) * 2  # read
"""


def block(imports: str, proj: str = "Proj") -> str:
    return f"from torch import nn\n{imports}\n{BLOCK.format(proj=proj)}"


TREES: dict[str, dict[str, str]] = {
    "a_module_beside": {"proj.py": PROJ, "model.py": block("from proj import Proj")},
    "an_import_in_an_import": {
        "proj.py": PROJ,
        "model.py": block("import proj as parts", "parts.Proj"),
    },
    "a_package_from_its_root": {
        "app/__init__.py": "",
        "app/parts/__init__.py": "",
        "app/parts/proj.py": PROJ,
        "app/models/__init__.py": "",
        "app/models/model.py": block("from app.parts.proj import Proj"),
    },
    "a_relative_import": {
        "app/__init__.py": "",
        "app/parts/__init__.py": "",
        "app/parts/proj.py": PROJ,
        "app/models/__init__.py": "",
        "app/models/model.py": block("from ..parts.proj import Proj"),
    },
    "a_relative_import_of_a_module": {
        "app/__init__.py": "",
        "app/proj.py": PROJ,
        "app/model.py": block("from . import proj", "proj.Proj"),
    },
    "a_dotted_import": {
        "app/__init__.py": "",
        "app/parts/__init__.py": "",
        "app/parts/proj.py": PROJ,
        "model.py": block("import app.parts.proj", "app.parts.proj.Proj"),
    },
    "two_dotted_imports_of_one_package": {
        "app/__init__.py": "",
        "app/other.py": "",
        "app/proj.py": PROJ,
        "model.py": block("import app.proj\nimport app.other", "app.proj.Proj"),
    },
    "a_dotted_import_under_a_name": {
        "app/__init__.py": "",
        "app/proj.py": PROJ,
        "model.py": block("import app.proj as p", "p.Proj"),
    },
    "a_source_layout": {
        "pyproject.toml": "",
        "src/app/__init__.py": "",
        "src/app/proj.py": PROJ,
        "src/app/model.py": block("from app.proj import Proj"),
    },
    "a_source_layout_seen_from_elsewhere": {
        "pyproject.toml": "",
        "src/app/__init__.py": "",
        "src/app/proj.py": PROJ,
        "examples/model.py": block("from app.proj import Proj"),
    },
    "a_namespace_package": {
        "pyproject.toml": "",
        "space/parts/proj.py": PROJ,
        "space/models/model.py": block("from space.parts.proj import Proj"),
    },
    "a_submodule_of_a_namespace_package": {
        "pyproject.toml": "",
        "space/parts/proj.py": PROJ,
        "model.py": block("from space.parts import proj", "proj.Proj"),
    },
    "a_dotted_import_of_a_namespace_package": {
        "pyproject.toml": "",
        "space/parts/proj.py": PROJ,
        "model.py": block("import space.parts.proj", "space.parts.proj.Proj"),
    },
    "a_relative_import_in_a_namespace_package": {
        "space/parts/proj.py": PROJ,
        "space/models/model.py": block("from ..parts.proj import Proj"),
    },
    "several_roots": {
        "pyproject.toml": "",
        "one/proj.py": PROJ,
        "two/model.py": block("from proj import Proj"),
    },
    "a_re_export": {
        "app/__init__.py": "from .parts import Proj",
        "app/parts/__init__.py": "from .proj import Proj",
        "app/parts/proj.py": PROJ,
        "model.py": block("from app import Proj"),
    },
    "a_re_export_under_another_name": {
        "app/__init__.py": "from app.proj import Proj as Linear",
        "app/proj.py": PROJ,
        "model.py": block("import app", "app.Linear"),
    },
    "a_submodule_as_an_attribute": {
        "app/__init__.py": "from . import proj",
        "app/proj.py": PROJ,
        "model.py": block("import app", "app.proj.Proj"),
    },
    "a_star_import": {
        "proj.py": PROJ,
        "model.py": block("from proj import *"),
    },
    "a_star_import_leaves_out_hidden_names": {
        "proj.py": PROJ,
        "model.py": block("from proj import *", "_Hidden").replace("  # read", ""),
    },
    "a_star_import_takes_what_all_says": {
        "proj.py": f'__all__ = ["_Hidden"]\n{PROJ}',
        "model.py": block("from proj import *", "_Hidden"),
    },
    "a_star_import_leaves_out_what_all_leaves_out": {
        "proj.py": f'__all__ = ["_Hidden"]\n{PROJ}',
        "model.py": block("from proj import *").replace("  # read", ""),
    },
    "all_that_is_put_together": {
        "proj.py": f'__all__ = ["Proj"]\n__all__ += ["_Hidden"]\n{PROJ}',
        "model.py": block("from proj import *", "_Hidden"),
    },
    "star_imports_in_a_row": {
        "app/__init__.py": "from .parts import *",
        "app/parts/__init__.py": "from .proj import *",
        "app/parts/proj.py": PROJ,
        "model.py": block("from app import *"),
    },
    "an_import_that_may_fail": {
        "proj.py": PROJ,
        "model.py": block("try:\n    from proj import Proj\nexcept ImportError:\n    Proj = None"),
    },
    "an_import_with_a_fallback_here": {
        "proj.py": PROJ,
        "model.py": block("try:\n    from fast import Proj\nexcept ImportError:\n    from proj import Proj"),
    },
    "an_import_for_types_only": {
        "proj.py": PROJ,
        "model.py": """\
from __future__ import annotations
from typing import TYPE_CHECKING
from torch import nn
if TYPE_CHECKING:
    from proj import Proj

class Block(nn.Module):
    def __init__(self, proj: Proj):
        super().__init__()
        self.proj = proj
    def forward(self, x):
        return self.proj(x) * 2  # read
""",
    },
    "an_import_by_version": {
        "proj.py": PROJ,
        "model.py": block(
            "import sys\nif sys.version_info >= (3, 12):\n    from proj import Proj\nelse:\n    import proj"
        ),
    },
    "an_import_in_a_function": {
        "proj.py": PROJ,
        "model.py": """\
def body(x):
    from proj import Proj
    return Proj()(x) * 2  # read
""",
    },
    "imports_in_a_circle": {
        "one.py": f"import two\n{PROJ}",
        "two.py": "from one import Proj\n",
        "model.py": block("from two import Proj"),
    },
    "a_missing_module": {
        "proj.py": f"from nowhere import thing\nimport absent.part\n{PROJ}",
        "model.py": block("from nowhere import *\nfrom proj import Proj"),
    },
    "a_missing_relative_module": {
        "app/__init__.py": "",
        "app/proj.py": PROJ,
        "app/model.py": block("from .nowhere import thing\nfrom .proj import Proj"),
    },
    "a_broken_module": {
        "broken.py": "def (",
        "proj.py": PROJ,
        "model.py": block("import broken\nfrom broken import thing\nfrom proj import Proj"),
    },
    "torch_remat_under_any_name": {
        "model.py": """\
import torch_remat as again
from torch_remat import region as declare, recompute_needs_tensor as needs
import torch_remat
def body(x, f):
    a = again.region(f, "a", recompute=False)(x)
    b = declare(f, "b", recompute=False)(x)
    c = torch_remat.region(f, "c", recompute=False)(x)
    needs(a)
    again.recompute_needs_tensor(b)
    return a + b + c  # read
""",
    },
    "torch_remat_by_way_of_the_project": {
        "compat.py": "try:\n    import torch_remat as remat\nexcept ImportError:\n    remat = None\n",
        "model.py": """\
from compat import remat
def body(x, f):
    y = remat.region(f, "y", recompute=False)(x)
    return y + 1  # read
""",
    },
    "another_package_called_remat": {
        "model.py": """\
import torch_remat
import other.remat as remat
from another import region
def body(x, f):
    y = remat.region(f, "y", recompute=False)(x)
    z = region(f, "z", recompute=False)(x)
    return y + z
""",
    },
    "a_module_of_the_project_called_remat": {
        "remat.py": "def region(function, name, recompute):\n    return function\n",
        "model.py": """\
import torch_remat
import remat
def body(x, f):
    y = remat.region(f, "y", recompute=False)(x)
    return y + 1
""",
    },
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_imports(tree: Mapping[str, str], tmp_path: Path) -> None:
    for name, text in tree.items():
        _write(tmp_path / name, text)
    linter = Linter(Config(root=tmp_path, select=("RMT101",), src=(tmp_path / "src", tmp_path / "one")))
    model = next(path for path in tmp_path.rglob("model.py"))
    report = linter.lint(SourceFile.read(model))
    assert report.failure is None
    marked = [n for n, line in enumerate(model.read_text().splitlines(), 1) if line.endswith("# read")]
    assert [finding.location.line for finding in report.findings] == marked


WRAPPED = """\
from toolkit.remat import maybe_region, maybe_needs, checkpointed
from toolkit.nn import Module

class Block(Module):
    def _mm(self, x):
        return x @ x.mT
    def unmarked(self, x):
        y = maybe_region(self._mm, "mm", owner=self)(x)
        return y * 2  # read
    def marked(self, x):
        y = maybe_region(fn=self._mm, name="mm", owner=self)(x)
        maybe_needs(self, y)
        return y * 2
    def recomputed(self, x):
        y = maybe_region(self._mm, "mm", recompute=True)(x)
        return y * 2
    def inherited(self, x):
        y = self.keep(self._mm, "mm")(x)
        return y * 2  # read
    def run(self, x):
        return checkpointed(self.region_only)(x) * 2 + checkpointed(self.region_only, x)
    def region_only(self, x):
        return maybe_region(self._mm, "mm")(x)
"""
NAMES = WrapperNames(
    region=frozenset({"toolkit.remat.maybe_region", "toolkit.nn.Module.keep"}),
    marker=frozenset({"toolkit.remat.maybe_needs"}),
    checkpoint=frozenset({"toolkit.remat.checkpointed"}),
)


def configured(root: Path) -> Config:
    return Config(
        root=root,
        select=("RMT101",),
        region_wrappers=tuple(NAMES.region),
        marker_wrappers=tuple(NAMES.marker),
        checkpoint_wrappers=tuple(NAMES.checkpoint),
    )


def test_wrappers_of_a_library_are_what_the_settings_say(tmp_path: Path) -> None:
    model = _write(tmp_path / "model.py", WRAPPED)
    report = Linter(configured(tmp_path)).lint(SourceFile.read(model))
    marked = [n for n, line in enumerate(WRAPPED.splitlines(), 1) if line.endswith("# read")]
    assert [finding.location.line for finding in report.findings] == marked


def test_without_the_settings_a_library_is_silent(tmp_path: Path) -> None:
    model = _write(tmp_path / "model.py", WRAPPED)
    report = Linter(Config(root=tmp_path)).lint(SourceFile.read(model))
    assert (report.relevant, report.findings) == (False, [])


def test_a_wrapper_that_the_project_hides_is_what_the_settings_say(tmp_path: Path) -> None:
    _write(tmp_path / "toolkit/__init__.py", "")
    _write(tmp_path / "toolkit/remat.py", "def maybe_region(fn, *names, **options): ...\n")
    model = _write(tmp_path / "model.py", WRAPPED)
    config = Config(root=tmp_path, select=("RMT101",), region_wrappers=("toolkit.remat.maybe_region",))
    assert 9 in {finding.location.line for finding in Linter(config).lint(SourceFile.read(model)).findings}


def test_the_fix_marks_the_way_of_torch_remat(tmp_path: Path) -> None:
    model = _write(tmp_path / "model.py", WRAPPED)
    outcome = Fixer(Linter(configured(tmp_path))).fix(SourceFile.read(model))
    assert (outcome.fixed, outcome.bugs) == (2, [])
    assert outcome.after.text.count(" remat.recompute_needs_tensor(y)") == 2


def test_the_settings_reach_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ("region-wrappers", "marker-wrappers", "checkpoint-wrappers", "recompute-guards")
    table = "\n".join(f"{key} = {list(names)}" for key, names in zip(keys, NAMES, strict=True))
    _write(tmp_path / "pyproject.toml", f"[tool.remat-lint]\n{table}\n".replace("'", '"'))
    _write(tmp_path / "model.py", WRAPPED)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(lint.cli, ["--select", "RMT101", "--output-format", "json", "model.py"])
    marked = [n for n, line in enumerate(WRAPPED.splitlines(), 1) if line.endswith("# read")]
    assert [found["line"] for found in json.loads(result.stdout)] == marked


GUARDED = """import torch_remat as remat
from toolkit.remat import is_replay
class Body:
    def __init__(self):
        self.calls = 0
    def __call__(self, x):
        if not is_replay():
            self.calls += 1
        return x.sin()
def step(x):
    return remat.checkpoint()(Body())(x)
"""


@pytest.mark.parametrize(("guards", "lines"), [((), [8]), (("toolkit.remat.is_replay",), [])])
def test_a_guard_of_a_library_is_what_the_settings_say(
    guards: tuple[str, ...], lines: list[int], tmp_path: Path
) -> None:
    model = _write(tmp_path / "model.py", GUARDED)
    config = Config(root=tmp_path, select=("RMT501",), recompute_guards=guards)
    found = Linter(config).lint(SourceFile.read(model)).findings
    assert [finding.location.line for finding in found] == lines


@pytest.mark.parametrize("name", ["region", "toolkit.", "toolkit.a b"])
def test_a_wrapper_is_named_in_full(name: str, tmp_path: Path) -> None:
    _write(tmp_path / "pyproject.toml", f'[tool.remat-lint]\nregion-wrappers = ["{name}"]\n')
    with pytest.raises(UserError, match="is no full name"):
        load(tmp_path)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
