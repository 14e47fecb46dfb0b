"""``keeps_order`` against torch: is the result of a transposed tensor laid out as that is?"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remat_lint.torch_ops.loader import _operation, _table
from remat_lint.torch_ops.operation import Effect

if importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch", allow_module_level=True)

SWEEP = Path(__file__).parent / "order_sweep.py"
NAMESPACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special", "torch.linalg")
UNDECIDED = {
    "_view_func_unsafe",
    "module_load",
    "chain_matmul",
    "from_dlpack",
}
"""Matrices that happen to come out so, and what no model calls."""


@pytest.fixture(scope="module")
def transposed() -> dict[str, list[str]]:
    """The functions that are not said to keep the order, and whose results are laid out as their operand."""
    asked = json.dumps({namespace: list(_unordered(namespace)) for namespace in NAMESPACES})
    done = subprocess.run([sys.executable, SWEEP], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_what_is_not_said_to_keep_the_order_gives_contiguous_results(
    transposed: dict[str, list[str]], namespace: str
) -> None:
    assert transposed[namespace] == []


def _unordered(namespace: str) -> Iterator[str]:
    for name in _table()[namespace]:
        operation = _operation(namespace, name)
        assert operation is not None
        plain = operation.effect is Effect.READ and not set(operation.writes) - {"out"}
        if plain and not operation.keeps_order and name not in UNDECIDED:
            yield name
