"""Every program of the fault suite is reported, with the kind of its fault and the line."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from remat_lint.runtime_check import Options, check  # noqa: E402
from remat_lint.runtime_check.bench import opened  # noqa: E402
from remat_lint.runtime_check.cause import find_cause  # noqa: E402
from tests.runtime_check.loading import loaded_alone  # noqa: E402

faults = loaded_alone("faults")

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
CASES = [
    pytest.param(program, form, id=f"{program.__name__}-{form}")
    for program in faults.PROGRAMS
    for form in program.forms
    if HAS_NUMPY or "Numpy" not in program.__name__
]


@pytest.mark.parametrize(("program", "form"), CASES)
def test_fault_is_reported_with_its_kind_and_line(program: Any, form: str) -> None:
    inputs = torch.linspace(-1, 1, 32).reshape(4, 8)

    def build() -> object:
        return program(form), inputs

    result = check(build, Options(device="cpu", noise_runs=1))
    assert result.broken, "not reported at all"
    assert result.exit_status == 1
    with opened(build, device="cpu") as make_bench:
        cause = find_cause(make_bench(), result.broken[0])
    assert cause is not None
    assert cause.place is not None
    assert (cause.kind, cause.place.line) == (program.kind, faults.line_of_fault(program)), cause
    assert Path(cause.place.path).name == "faults.py"
    assert program.named is None or any(program.named in name for name in cause.names), cause


def test_suite_is_as_large_as_it_should_be() -> None:
    assert len(faults.PROGRAMS) >= 30
