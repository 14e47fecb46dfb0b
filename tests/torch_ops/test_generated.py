"""The checked-in table against the generator and the installed torch."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from remat_lint.torch_ops import attribute, function, method, module
from remat_lint.torch_ops.corrections import CORRECTIONS
from remat_lint.torch_ops.loader import _operation, _table
from remat_lint.torch_ops.operation import Effect, Operation

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "remat_lint" / "torch_ops" / "table.json"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location(
        "generate_torch_ops", ROOT / "scripts" / "generate_torch_ops.py"
    )
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(script)
    return script


@pytest.fixture(scope="module")
def generated(generator: ModuleType) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table: dict[str, Any] = generator.generate()
    return table


def on_disk() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def test_the_installed_torch_agrees_with_the_table(generator: ModuleType, generated: dict[str, Any]) -> None:
    assert generator.differences(on_disk(), generated) == []


def test_a_changed_table_is_noticed(generator: ModuleType, generated: dict[str, Any]) -> None:
    changed = on_disk()
    del changed["operations"]["torch"]["narrow"]["effect"]
    assert generator.differences(changed, generated)


def test_generating_twice_gives_the_same_text(generator: ModuleType, generated: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = generator.generate()
    assert generator.rendered(again) == generator.rendered(generated)


def test_the_table_is_written_as_the_generator_writes(generator: ModuleType) -> None:
    assert generator.rendered(on_disk()) == TABLE.read_text(encoding="utf-8")


def test_nearly_every_name_of_the_installed_torch_is_known(generated: dict[str, Any]) -> None:
    for namespace, entries in generated["operations"].items():
        unknown = [name for name in entries if name not in _table()[namespace]]
        assert len(unknown) <= len(entries) / 50, (namespace, unknown)


def everything() -> list[tuple[str, str, Operation]]:
    found = [
        (space, name, _operation(space, name)) for space, entries in _table().items() for name in entries
    ]
    return [(space, name, operation) for space, name, operation in found if operation is not None]


def test_every_view_has_a_source_and_a_layout_and_nothing_else_has() -> None:
    sharing = (Effect.VIEW, Effect.RESHAPE, Effect.CAST, Effect.DROPOUT)
    for space, name, operation in everything():
        assert bool(operation.sources) is (operation.effect in sharing), (space, name)
        assert (operation.layout is not None) is (operation.effect is Effect.VIEW), (space, name)


def test_fields_name_parameters_that_exist() -> None:
    for space, name, operation in everything():
        parameters = {*operation.parameters, *operation.constructor, "self", "input"}
        named = {*operation.sources, *operation.writes, *operation.metadata_only}
        named |= {one for one in (operation.variadic, operation.indirect_inplace) if one}
        assert named <= parameters, (space, name)


@pytest.mark.parametrize("correction", CORRECTIONS, ids=lambda correction: correction.names.split()[0])
def test_a_correction_gives_a_reason_and_meets_an_entry(correction: Any) -> None:
    assert correction.reason
    fields = set(Operation.__dataclass_fields__)
    assert set(correction.fields) <= fields
    for name in correction.names.split():
        assert any(name in _table()[namespace] for namespace in correction.namespaces), name


def test_a_correction_says_something_new() -> None:
    plain = on_disk()["operations"]
    for correction in CORRECTIONS:
        entries = [plain.get(space, {}).get(name, {}) for space, name in correction.targets()]
        assert any(
            entry.get(key, "") != value for entry in entries for key, value in correction.fields.items()
        )


def test_looking_up_imports_no_torch_and_no_libcst() -> None:
    code = (
        "import sys, remat_lint.torch_ops as ops\n"
        "assert 'json' not in sys.modules or 'remat_lint.torch_ops.corrections' not in sys.modules\n"
        "assert ops.function('torch.sigmoid')\n"
        "assert not {'torch', 'libcst', 'click'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_lookups_give_the_same_object_again() -> None:
    assert function("torch.sigmoid") is function("torch.sigmoid")
    assert method("view") is method("view")
    assert attribute("shape") is attribute("shape")
    assert module("torch.nn.Linear") is module("torch.nn.Linear")
    assert function("torch.Tensor.add") is function("torch.Tensor.add")
