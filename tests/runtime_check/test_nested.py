"""Tensors are found and replaced in the containers that models use."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from remat_lint.runtime_check.nested import map_tensors, named_tensors  # noqa: E402


class Pair(NamedTuple):
    left: Tensor
    right: Tensor


@dataclass(frozen=True)
class Output:
    logits: Tensor
    note: str = "none"


ONE = torch.ones(1)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (ONE, ["v"]),
        ((ONE, 3, None), ["v[0]"]),
        ([ONE, (ONE,)], ["v[0]", "v[1][0]"]),
        ({"a": ONE, "b": [ONE]}, ["v['a']", "v['b'][0]"]),
        (OrderedDict(a=ONE), ["v['a']"]),
        (Pair(ONE, ONE), ["v.left", "v.right"]),
        (Output(ONE), ["v.logits"]),
        (torch.max(torch.ones(2, 2), 0), ["v[0]", "v[1]"]),
        ("text", []),
        (None, []),
    ],
)
def test_containers_keep_their_kind(value: Any, names: list[str]) -> None:
    assert [name for name, _ in named_tensors(value, "v")] == names
    changed = map_tensors(value, lambda tensor: tensor + 1)
    assert type(changed) is type(value)
    old, new = named_tensors(value, "v"), named_tensors(changed, "v")
    assert all(torch.equal(before + 1, after) for (_, before), (_, after) in zip(old, new, strict=True))
