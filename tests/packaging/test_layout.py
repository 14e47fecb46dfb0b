"""The folders, the package list and the links agree, and code has one name only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
LINKED = ("codemods", "rules", "runtime_check")


@pytest.fixture(scope="module")
def setuptools_table() -> dict[str, Any]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, Any] = document["tool"]["setuptools"]
    return table


def _folders_with_code() -> set[str]:
    own = {path.parent for path in (ROOT / "remat_lint").rglob("*.py")}
    linked = {path.parent for name in LINKED for path in (ROOT / name).rglob("*.py")}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in own}
    names |= {"remat_lint." + ".".join(folder.relative_to(ROOT).parts) for folder in linked}
    return {name for name in names if "__pycache__" not in name}


def test_every_folder_with_code_is_a_named_package(setuptools_table: dict[str, Any]) -> None:
    assert _folders_with_code() == set(setuptools_table["packages"])


def test_every_package_has_an_init_file(setuptools_table: dict[str, Any]) -> None:
    folders = [ROOT.joinpath(*name.split(".")) for name in setuptools_table["packages"]]
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_top_level_folders_are_mapped_and_linked(setuptools_table: dict[str, Any]) -> None:
    for name in LINKED:
        assert setuptools_table["package-dir"][f"remat_lint.{name}"] == name
        assert (ROOT / "remat_lint" / name).resolve() == ROOT / name


def test_no_module_is_loaded_under_a_second_name() -> None:
    """At the repository's root ``import rules`` would give a second copy of every rule."""
    code = (
        "import pkgutil, importlib, sys, remat_lint\n"
        "for module in pkgutil.walk_packages(remat_lint.__path__, 'remat_lint.'):\n"
        "    if 'runtime_check' not in module.name and not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules} & set(sys.argv[1:])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *LINKED, "torch", "torch_remat"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_the_version_is_said_in_one_place() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert document["project"]["dynamic"] == ["version"]
    assert document["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "remat_lint.__version__"}
