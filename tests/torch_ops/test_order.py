"""``keeps_order`` against torch: is the result of a transposed tensor laid out as that is?"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

from remat_lint.torch_ops.loader import _operation, _table
from remat_lint.torch_ops.operation import Effect

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")

NAMESPACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special", "torch.linalg")
UNDECIDED = {
    "_view_func_unsafe",
    "module_load",
    "chain_matmul",
    "from_dlpack",
}
"""Matrices that happen to come out so, and what no model calls."""


def _arguments() -> list[tuple[Any, ...]]:
    t = (torch.rand(4, 6) + 0.1).t()
    index = torch.arange(6)
    return [
        (t,), (t, t), (t, 0.5), (t, t, t), (t, 0.1, 0.5), (t, 1), (t, -1), (t, (4,)), (t > 0.5, t, t),
        (t, 0, index), (t, 0, index[:, None].expand(6, 4)), (t, t > 0.5, 0.5),
    ]  # fmt: skip


def _outcome(namespace: str, name: str) -> Any:
    """What the first call that torch accepts gives."""
    if namespace == "torch.Tensor":
        function = getattr(torch.Tensor, name, None)
    else:
        function = getattr(importlib.import_module(namespace), name, None)
    for arguments in _arguments() if function is not None else ():
        try:
            return function(*arguments)
        except Exception:  # noqa: BLE001 - whatever it says of the wrong arguments
            continue
    return None


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_what_is_not_said_to_keep_the_order_gives_contiguous_results(namespace: str) -> None:
    wrong = []
    for name in _table()[namespace]:
        operation = _operation(namespace, name)
        assert operation is not None
        plain = operation.effect is Effect.READ and not set(operation.writes) - {"out"}
        if not plain or operation.keeps_order or name in UNDECIDED:
            continue
        result = _outcome(namespace, name)
        dense = isinstance(result, torch.Tensor) and result.layout is torch.strided
        if dense and result.shape == (6, 4) and not result.is_contiguous():
            wrong.append(name)
    assert wrong == []
