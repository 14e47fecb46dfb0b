"""The tables of what draws against the libraries that are installed."""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest

from remat_lint import torch_ops
from remat_lint.analysis import random_names

TOO_NEW = {"random.binomialvariate"}
"""Names that the oldest supported Python lacks."""

ARGUMENTS: list[tuple[Any, ...]] = [(), (8,), (8, 8), (8, 2), (8, 8, 2), (2, 8, 8), ([8],), (8, 20, [4, 10])]


def test_every_function_is_there() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("numpy")
    entries = {f"{owner}.{name}" for names in random_names.FUNCTIONS for owner, name in names.entries()}
    assert {entry for entry in entries - TOO_NEW if _named(entry) is None} == set()


def test_no_function_of_python_is_left_out() -> None:
    public = [name for name in dir(random) if not name.startswith("_") and callable(getattr(random, name))]
    assert [name for name in public if random_names.function(f"random.{name}") is None] == []


def test_no_method_of_a_generator_of_numpy_is_left_out() -> None:
    numpy = pytest.importorskip("numpy")
    public = [name for name in dir(numpy.random.Generator) if not name.startswith("_")]
    unknown = [name for name in public if random_names.method(random_names.NUMPY_GENERATOR, name) is None]
    assert unknown == ["bit_generator"]


@pytest.mark.filterwarnings("ignore")
def test_the_modules_that_draw_their_weights() -> None:
    torch = pytest.importorskip("torch")
    drawing, silent = set(), set()
    for name in dir(torch.nn):
        kind = getattr(torch.nn, name)
        operation = torch_ops.module(f"torch.nn.{name}")
        if operation is not None and isinstance(kind, type) and issubclass(kind, torch.nn.Module):
            drawn = _draws_when_made(kind)
            if drawn is not None:
                (drawing if drawn else silent).add((name, operation.constructor_draws))
    assert {name for name, said in drawing if not said} == set()
    assert {name for name, said in silent if said} == set()
    assert len(drawing) > 20


def _draws_when_made(kind: Any) -> bool | None:
    """Whether making an object draws; None where no arguments are known for it."""
    import torch

    for arguments in ARGUMENTS:
        torch.manual_seed(0)
        before = torch.get_rng_state()
        try:
            kind(*arguments)
        except Exception:  # noqa: BLE001 - these are not its arguments
            continue
        return not torch.equal(before, torch.get_rng_state())
    return None


def _named(dotted: str) -> object:
    """What a dotted name stands for; None where there is no such thing."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found
    return None
