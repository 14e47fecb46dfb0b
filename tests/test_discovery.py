"""Paths become files: the right ones, once, in order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remat_lint.config import Config
from remat_lint.discovery import Discovery, PerFileIgnores, discover
from remat_lint.errors import UserError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(*paths: str, config: Config | None = None, force_exclude: bool = False) -> list[str]:
    return [str(path) for path in look(*paths, config=config, force_exclude=force_exclude).files]


def look(*paths: str, config: Config | None = None, force_exclude: bool = False) -> Discovery:
    chosen = [Path(path) for path in paths or (".",)]
    return discover(chosen, config or Config(Path.cwd()), force_exclude=force_exclude)


def test_python_files_of_a_folder_come_sorted(tree: Path) -> None:
    make("b.py", "a/z.pyi", "a/b.txt", "a/b.pyc", "c.ipynb", "a/x.py")
    assert found() == ["a/x.py", "a/z.pyi", "b.py"]


def test_a_named_file_is_taken_whatever_its_name(tree: Path) -> None:
    make("script", "build/x.py")
    assert found("script", "build/x.py") == ["build/x.py", "script"]


def test_each_file_comes_once(tree: Path) -> None:
    make("a/x.py")
    Path("a/y.py").symlink_to("x.py")
    assert len(found(".", "a", "a/x.py", "./a/../a/x.py")) == 1


@pytest.mark.parametrize(
    "name", [".git", ".venv", "venv", "__pycache__", "build", "dist", "node_modules", ".tox"]
)
def test_the_usual_folders_are_left_out(tree: Path, name: str) -> None:
    make("x.py", f"pkg/{name}/y.py")
    assert found() == ["x.py"]
    assert look().skipped == [(Path(f"pkg/{name}"), "excluded")]


def test_links_to_folders_are_not_followed(tree: Path) -> None:
    make("pkg/x.py")
    Path("pkg/self").symlink_to("../pkg")
    assert found() == ["pkg/x.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("gen", ["a/x.py", "x.py"]),
        ("gen/", ["a/x.py", "x.py"]),
        ("*.py", []),
        ("a/*.py", ["gen/y.py", "x.py"]),
        ("/x.py", ["a/x.py", "gen/y.py"]),
        ("**/x.py", ["gen/y.py"]),
    ],
)
def test_exclusions_are_globs_from_the_root(tree: Path, pattern: str, left: list[str]) -> None:
    make("x.py", "a/x.py", "gen/y.py")
    assert found(config=Config(tree, extend_exclude=(pattern,))) == left


def test_own_exclusions_replace_the_usual_ones(tree: Path) -> None:
    make("build/x.py", "old/y.py")
    assert found(config=Config(tree, exclude=("old",))) == ["build/x.py"]


def test_force_exclude_reaches_named_files(tree: Path) -> None:
    make("build/deep/x.py", "ok.py")
    assert found("build/deep/x.py", "ok.py", force_exclude=True) == ["ok.py"]


def test_a_root_below_an_excluded_name_excludes_nothing(tree: Path) -> None:
    make("build/project/x.py")
    config = Config(tree / "build/project")
    assert found("build/project/x.py", config=config, force_exclude=True) == ["build/project/x.py"]


def test_gitignore_files_are_honoured_and_the_innermost_decides(tree: Path) -> None:
    make(".git/HEAD", "keep.py", "gen_a.py", "pkg/gen_b.py", "pkg/gen_c.py", "pkg/sub/out/x.py")
    Path(".gitignore").write_text("gen_*.py\nout/\n")
    Path("pkg/.gitignore").write_text("!gen_b.py\n")
    assert found() == ["keep.py", "pkg/gen_b.py"]
    assert found("pkg") == ["pkg/gen_b.py"]
    assert found("gen_a.py") == ["gen_a.py"]


def test_a_folder_that_git_ignores_is_walked_if_it_is_named(tree: Path) -> None:
    make(".git/HEAD", "out/x.py")
    Path(".gitignore").write_text("out/\n")
    assert found() == []
    assert found("out") == ["out/x.py"]


def test_gitignores_beyond_the_repository_do_not_count(tree: Path) -> None:
    make("repo/.git/HEAD", "repo/x.py")
    Path(".gitignore").write_text("*.py\n")
    assert found("repo") == ["repo/x.py"]


def test_a_gitignore_that_is_no_text_is_harmless(tree: Path) -> None:
    make("x.py")
    Path(".gitignore").write_bytes(b"\xff\xfe[\n\0\n")
    assert found() == ["x.py"]


def test_what_is_no_file_is_skipped_with_its_reason(tree: Path) -> None:
    make("x.py")
    Path("gone.py").symlink_to("nowhere")
    os.mkfifo("pipe.py")
    assert sorted(look().skipped) == [
        (Path("gone.py"), "broken link"),
        (Path("pipe.py"), "not a regular file"),
    ]


def test_a_missing_path_is_an_error(tree: Path) -> None:
    with pytest.raises(UserError, match=r"^gone: does not exist; give a file or a folder"):
        look("gone")


def test_a_folder_that_cannot_be_read_is_reported_and_the_others_go_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("a/x.py", "b/y.py")
    scandir = os.scandir

    def refuse(path: object) -> object:
        if str(path) == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refuse)
    assert look().problems == ["a: cannot be read: Permission denied"]
    assert found() == ["b/y.py"]


def test_per_file_ignores_are_globs_from_the_root(tree: Path) -> None:
    ignores = PerFileIgnores(
        Config(tree, per_file_ignores=(("tests/*", ("RMT1",)), ("**/gen.py", ("RMT2", "RMT3"))))
    )
    assert ignores.of("tests/x.py") == ("RMT1",)
    assert ignores.of(str(tree / "a/b/gen.py")) == ("RMT2", "RMT3")
    assert ignores.of("x.py") == ()
    assert ignores.of("/elsewhere/gen.py") == ()
