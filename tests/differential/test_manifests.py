"""Random programs again: the regions that the source predicts are those that run, by name, order and flag."""

from __future__ import annotations

import os
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_remat")

from tests.differential.manifests import compare
from tests.differential.programs import seeded_program

pytestmark = pytest.mark.filterwarnings("default")  # torch warns of what random programs do


def test_prediction_and_trace_agree() -> None:
    count = int(os.environ.get("REMAT_LINT_EXAMPLES", "150"))
    compared = 0
    for seed in range(count):
        comparison = compare(seeded_program(seed))
        compared += comparison.compared
        assert not comparison.differences, str(comparison)
    assert compared > count // 3, "the others have names that are made at run time, or do not run"
