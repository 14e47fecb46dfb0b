"""On a GPU: the example holds, and faults are named as on the CPU. Skipped where there is none."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from remat_lint.runtime_check import Options, check  # noqa: E402
from tests.runtime_check.loading import loaded_alone  # noqa: E402

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA GPU"),
]

faults = loaded_alone("faults")


@pytest.mark.usefixtures("in_repository")
def test_the_example_holds_on_a_gpu() -> None:
    result = check("examples.llama.case:build", Options(device="cuda", memory=True))
    assert result.exit_status == 0
    assert result.device.startswith("cuda")
    assert result.costs is not None
    assert all(one.peak_is_of_device for one in result.costs.memory)


@pytest.mark.parametrize("program", faults.PROGRAMS, ids=lambda program: program.__name__)
def test_faults_are_named_on_a_gpu(program: Any) -> None:
    inputs = torch.linspace(-1, 1, 32).reshape(4, 8)
    result = check(lambda: (program(program.forms[0]), inputs), Options(device="cuda", noise_runs=2))
    (cause, *_) = result.causes.values()
    assert cause.place is not None
    assert (cause.kind, cause.place.line) == (program.kind, faults.line_of_fault(program))
