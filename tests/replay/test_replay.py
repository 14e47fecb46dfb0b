"""Every pair of choices in some program, run and linted: what goes wrong is reported, what is right is not.

``tests.replay.run`` compares any number of programs by hand.
"""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("torch")
    pytest.importorskip("torch_remat")
    pytest.importorskip("numpy")

from remat_lint.runtime_check.placeholders import torch_has_placeholders
from tests.replay.axes import Case
from tests.replay.cases import covering_cases
from tests.replay.comparison import compare
from tests.replay.expectations import contradiction
from tests.replay.writer import program_of

pytestmark = [
    pytest.mark.filterwarnings("default"),  # torch warns of what the programs do
    pytest.mark.skipif(not torch_has_placeholders(), reason="torch has no placeholders of its own"),
]


@pytest.mark.parametrize("case", covering_cases(), ids=str)
def test_linter_and_runtime_agree(case: Case) -> None:
    comparison = compare(program_of(case))
    assert contradiction(case, comparison.verdicts) == "", str(comparison)
    if comparison.kind:
        pytest.fail(str(comparison), pytrace=False)
