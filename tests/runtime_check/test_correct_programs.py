"""Programs that are right pass without a word."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_remat")

from remat_lint.runtime_check import Options, check  # noqa: E402
from tests.runtime_check.loading import loaded_alone  # noqa: E402

correct = loaded_alone("correct")


@pytest.mark.parametrize("program", correct.PROGRAMS, ids=lambda program: program.__name__)
def test_correct_program_passes_without_a_word(program: Any) -> None:
    def build() -> object:
        module = program()
        return module, module.inputs()

    result = check(build, Options(device="cpu", noise_runs=2))
    said = [(one.name, one.findings) for one in result.policies if one.findings]
    assert said == []
    assert (result.exit_status, bool(result.noise)) == (0, False)


def test_there_are_as_many_as_there_should_be() -> None:
    assert len(correct.PROGRAMS) >= 20
