"""``[tool.remat-lint]`` becomes one object; the command line replaces what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from remat_lint.config import DEFAULT_EXCLUDE, Config, load, parse_codes
from remat_lint.errors import UserError
from remat_lint.selection import RESERVED, Selection, check_codes

SETTINGS = """
[tool.remat-lint]
select = ["RMT1"]
ignore = ["RMT105"]
extend-select = ["RMT203"]
exclude = ["old"]
extend-exclude = ["gen/*.py"]
src = ["lib"]
region-wrappers = ["toolkit.region"]
marker-wrappers = ["toolkit.needs"]
checkpoint-wrappers = ["toolkit.nn.Module.wrap"]
recompute-guards = ["toolkit.is_replay"]
per-file-ignores = { "tests/*" = ["RMT1", "RMT2"] }
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(SETTINGS)
    assert load(tmp_path) == Config(
        root=tmp_path.resolve(),
        file=file,
        select=("RMT1",),
        ignore=("RMT105",),
        extend_select=("RMT203",),
        per_file_ignores=(("tests/*", ("RMT1", "RMT2")),),
        exclude=("old",),
        extend_exclude=("gen/*.py",),
        src=(tmp_path.resolve() / "lib",),
        region_wrappers=("toolkit.region",),
        marker_wrappers=("toolkit.needs",),
        checkpoint_wrappers=("toolkit.nn.Module.wrap",),
        recompute_guards=("toolkit.is_replay",),
    )


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.remat-lint]\nselect = ["RMT1"]\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    assert load(inner).select == ("RMT1",)


def test_an_inner_table_replaces_the_outer_one_whole(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.remat-lint]\nselect = ["RMT1"]\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[tool.remat-lint]\nignore = ["RMT2"]\n')
    assert (load(inner).select, load(inner).ignore) == (None, ("RMT2",))


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(tmp_path, isolated=True) == Config(root=tmp_path, exclude=DEFAULT_EXCLUDE)


def test_a_named_file_needs_no_table(tmp_path: Path) -> None:
    file = tmp_path / "lint.toml"
    file.write_text('select = ["RMT2"]\n')
    assert load(tmp_path, explicit=file).select == ("RMT2",)
    file.write_text('[tool.remat-lint]\nselect = ["RMT3"]\n')
    assert load(tmp_path, explicit=file).select == ("RMT3",)


def test_a_named_pyproject_needs_the_table(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[project]\n")
    with pytest.raises(UserError, match=r"has no table \[tool\.remat-lint\]"):
        load(tmp_path, explicit=file)


def test_deeply_nested_toml_is_an_error_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("x = " + "[" * 100_000)
    with pytest.raises(UserError, match="no valid TOML"):
        load(tmp_path)


def test_selecting_anew_drops_the_choice_of_the_file() -> None:
    stored = Config(Path(), select=("RMT1",), ignore=("RMT105",), extend_select=("RMT203",))
    assert stored.overridden(select=("RMT2",)) == Config(Path(), select=("RMT2",))
    added = stored.overridden(ignore=("RMT106",), extend_select=("RMT204",))
    assert added.ignore == ("RMT105", "RMT106")
    assert added.extend_select == ("RMT203", "RMT204")
    assert added.select == ("RMT1",)


@pytest.mark.parametrize(
    ("selection", "wanted", "unwanted"),
    [
        (Selection(), "RMT101", "RMT104"),
        (Selection(select=("RMT1",)), "RMT101", "RMT104"),
        (Selection(select=("RMT104",)), "RMT104", "RMT101"),
        (Selection(extend_select=("RMT104",)), "RMT104", "RMT604"),
        (Selection(select=("ALL",)), "RMT701", "RMT604"),
        (Selection(select=()), "RMT900", "RMT101"),
        (Selection(ignore=("RMT1",)), "RMT201", "RMT101"),
        (Selection(ignore=("RMT1",), extend_select=("RMT101",)), "RMT101", "RMT105"),
        (Selection(select=("RMT101",), ignore=("RMT101",)), "RMT900", "RMT101"),
        (Selection(select=("RMT9",), ignore=("RMT900",)), "RMT901", "RMT900"),
    ],
)
def test_the_most_specific_selector_decides(selection: Selection, wanted: str, unwanted: str) -> None:
    with_opt_in = Selection(
        selection.select, selection.ignore, selection.extend_select, frozenset({"RMT104", "RMT604"})
    )
    assert with_opt_in.wants(wanted)
    assert not with_opt_in.wants(unwanted)


def test_codes_are_split_at_commas() -> None:
    assert parse_codes(" RMT101, RMT2,,") == ("RMT101", "RMT2")


def test_reserved_codes_are_known_but_named_as_later() -> None:
    assert check_codes(("RMT1", "RMT101"), {"RMT101"}, "--select") == []
    assert check_codes(("RMT102", "RMT7"), {"RMT101"}, "--select") == ["RMT102", "RMT7"]
    assert len(RESERVED) == 47
    with pytest.raises(UserError, match="--select: unknown rule code ''"):
        check_codes(("",), {"RMT101"}, "--select")
