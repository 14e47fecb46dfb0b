"""The wheel holds all of the code and data under one name, and works where there is no torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("remat_lint", "rules", "codemods", "runtime_check", "examples")
FILES = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source, with its links, without what builds and runs leave behind."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        leftovers = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=leftovers)
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(checkout: Path) -> Path:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", cwd=checkout)
    (built,) = (checkout / "dist").glob("*.whl")
    return built


def test_the_wheel_has_one_top_level_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"remat_lint", "remat_lint-0.1.0.dist-info"}


def test_the_wheel_holds_every_module_and_data_file(wheel: Path, checkout: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("remat_lint/")}
    own = {path.relative_to(checkout) for path in (checkout / "remat_lint").rglob("*") if path.is_file()}
    linked = {
        Path("remat_lint") / path.relative_to(checkout)
        for name in ("rules", "codemods", "runtime_check")
        for path in (checkout / name).rglob("*")
        if path.is_file()
    }
    assert packed == {path.as_posix() for path in own | linked if path.suffix != ".pyc"}


def test_the_source_distribution_holds_no_link(checkout: Path) -> None:
    import tarfile

    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", cwd=checkout)
    (built,) = (checkout / "dist").glob("*.tar.gz")
    with tarfile.open(built) as archive:
        members = archive.getmembers()
    assert [member.name for member in members if member.issym() or member.islnk()] == []
    assert any(member.name.endswith("/rules/__init__.py") for member in members)


def _site_packages_without_torch(folder: Path) -> Path:
    """A virtual environment that sees libcst, click and pathspec of this one and nothing else of it."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("libcst", "click", "pathspec", "yaml", "_yaml", "tomli", "typing_extensions.py"):
        source = Path(shutil.__file__).parent / "site-packages" / name
        candidates = [Path(entry) / name for entry in sys.path if (Path(entry) / name).exists()]
        source = candidates[0] if candidates else source
        if source.is_dir():
            shutil.copytree(source, site / name)
        elif source.is_file():
            shutil.copy(source, site / name)
    return site


def test_the_installed_wheel_lints_and_fixes_without_torch(wheel: Path, tmp_path: Path) -> None:
    site = _site_packages_without_torch(tmp_path / "env")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        site,
        wheel,
        cwd=tmp_path,
    )
    python = tmp_path / "env/bin/python"
    assert not (site / "rules").exists()
    shutil.copytree(
        ROOT / "examples/forgetful", tmp_path / "forgetful", ignore=shutil.ignore_patterns("__pycache__")
    )
    for module in ("torch", "torch_remat"):
        run(python, "-c", f"import {module}", cwd=tmp_path, status=1)
    assert "RMT" in run(python, "-m", "remat_lint", "--isolated", "forgetful", cwd=tmp_path, status=1)
    fix = "import sys; from remat_lint.cli.fix import main; sys.argv[0] = 'remat-fix'; main()"
    run(python, "-c", fix, "--write", "--isolated", "forgetful", cwd=tmp_path)
    assert run(python, "-m", "remat_lint", "--isolated", "forgetful", cwd=tmp_path).startswith("No findings")


def test_an_editable_install_works(checkout: Path, tmp_path: Path) -> None:
    site = _site_packages_without_torch(tmp_path / "env")
    run(
        *(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"),
        *("--target", site, "--editable", checkout),
        cwd=tmp_path,
    )
    python = tmp_path / "env/bin/python"
    code = f"import site; site.addsitedir({str(site)!r}); import remat_lint.rules as r; print(r.__file__)"
    printed = run(python, "-c", code, cwd=tmp_path)
    assert Path(printed.strip()).resolve() == (checkout / "rules/__init__.py").resolve()
