"""Random programs, run by torch_remat and judged by the linter: the two agree, and the fixes mend.

``REMAT_LINT_EXAMPLES`` sets how many are drawn. For long runs see ``tests.differential.run``.
"""

from __future__ import annotations

import os
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_remat")

from hypothesis import HealthCheck, Phase, given, settings

from tests.differential.disagreement import lasting, smallest
from tests.differential.programs import programs

pytestmark = pytest.mark.filterwarnings("default")  # torch warns of what random programs do


@settings(
    max_examples=int(os.environ.get("REMAT_LINT_EXAMPLES", "300")),
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=False,
    # A disagreement is made small by taking lines out: hypothesis would need minutes, and ends with more.
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_linter_and_runtime_agree(source: str) -> None:
    _, kinds, _ = lasting(source)
    if kinds:
        pytest.fail(smallest(source), pytrace=False)
