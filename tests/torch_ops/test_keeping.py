"""Autograd is asked what it keeps, for each operation of the lists that simple arguments fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from remat_lint.torch_ops.keeping import (
    KEEPING,
    KEEPING_MODULES,
    KEEPING_NOTHING,
    SCALING,
    WITH_INDICES,
    WITHOUT_GRADIENTS,
)

torch = pytest.importorskip("torch")

ENOUGH = 0.8
"""The share of a list that simple arguments fit at least: else the test would say nothing."""


def arguments() -> Iterator[tuple[Any, ...]]:
    """Ways to call an operation; every tensor of numbers requires grad and is no leaf."""

    def tensor() -> Any:
        return torch.rand(4, 4, requires_grad=True) + 0.1

    mask = torch.ones(4, 4, dtype=torch.bool)
    yield (tensor(),)
    yield tensor(), tensor()
    yield tensor(), 1
    yield tensor(), 2.0
    yield tensor(), 0, 1
    yield tensor(), tensor(), tensor()
    yield tensor(), mask
    yield tensor(), mask, 0.5
    yield tensor(), 0, torch.tensor([0, 1])
    yield tensor(), 0, torch.tensor([[0, 1, 1, 0]])
    yield mask, tensor(), tensor()
    yield ([tensor(), tensor()],)
    yield tensor(), (2, 2)
    yield "ij,jk->ik", tensor(), tensor()
    yield torch.rand(4, requires_grad=True) * 1.0, torch.rand(4, requires_grad=True) * 1.0


def places(name: str) -> Iterator[Callable[..., Any]]:
    """The functions and the method of that name."""
    for module in (torch, torch.nn.functional, torch.special, torch.linalg):
        if hasattr(module, name):
            yield getattr(module, name)
    if hasattr(torch.Tensor, name):
        yield getattr(torch.Tensor, name)


def kept(name: str) -> set[int]:
    """How many tensors the calls of an operation keep, as far as they can be made."""
    counts = set()
    for function in places(name):
        for given in arguments():
            saved: list[Any] = []
            try:
                with torch.autograd.graph.saved_tensors_hooks(saved.append, lambda one: one):
                    function(*given)
            except Exception:  # noqa: BLE001 - these arguments do not fit it
                continue
            counts.add(len(saved))
    return counts


@pytest.mark.filterwarnings("ignore")
def test_what_is_said_to_keep_keeps() -> None:
    counts = {name: kept(name) for name in sorted(KEEPING)}
    called = {name: found for name, found in counts.items() if found}
    assert len(called) > ENOUGH * len(KEEPING)
    assert not [name for name, found in called.items() if not any(found)]


SIZES: dict[str, tuple[Any, ...]] = {
    "Bilinear": (8, 8, 8),
    "Embedding": (10, 8),
    "EmbeddingBag": (10, 8),
    "GroupNorm": (2, 8),
    "LocalResponseNorm": (2,),
    "MultiheadAttention": (8, 2),
    "Threshold": (0.1, 0.0),
    "TransformerDecoderLayer": (8, 2),
    "TransformerEncoderLayer": (8, 2),
}
"""What the constructors of modules take that are not made with one of the first few below."""


def calls_of_module(name: str) -> Iterator[list[Any]]:
    """What calls of a module of torch keep, as far as they can be made."""
    given: list[tuple[Any, ...]] = [
        tuple(torch.rand(*shape, requires_grad=True) for _ in range(number))
        for shape in ((4, 8), (2, 8, 8), (2, 8, 8, 8), (2, 8, 8, 8, 8))
        for number in (1, 2, 3)
    ]
    given.append((torch.randint(0, 8, (4, 3)),))
    targets = (torch.rand(4, 8), torch.randint(0, 8, (4,)))
    given += [(torch.rand(4, 8, requires_grad=True), target) for target in targets]
    for made_of in [SIZES[name]] if name in SIZES else [(), (8,), (-1,), (2,), (8, 8), (8, 8, 3)]:
        for arguments in given:
            saved: list[Any] = []
            try:
                module = getattr(torch.nn, name)(*made_of)
                with torch.autograd.graph.saved_tensors_hooks(
                    lambda one, saved=saved: saved.append(one) or one, lambda one: one
                ):
                    module(*arguments)
            except Exception:  # noqa: BLE001 - these arguments do not fit it
                continue
            yield saved


@pytest.mark.filterwarnings("ignore")
def test_modules_that_are_said_to_keep_something_do() -> None:
    for name in sorted(KEEPING_MODULES):
        assert any(calls_of_module(name)), name


@pytest.mark.filterwarnings("ignore")
def test_what_is_said_to_keep_nothing_keeps_nothing() -> None:
    counts = {name: kept(name) for name in sorted(KEEPING_NOTHING)}
    called = {name: found for name, found in counts.items() if found}
    assert len(called) > ENOUGH * len(KEEPING_NOTHING)
    assert not [name for name, found in called.items() if any(found)]


def test_a_number_that_scales_is_not_kept() -> None:
    for name in SCALING:
        saved: list[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(saved.append, lambda one: one):
            getattr(torch, name)(torch.rand(4, requires_grad=True), 2.0)
        assert not saved


def results(name: str) -> list[Any]:
    """What the calls of an operation give, as far as they can be made."""
    found = []
    for function in places(name):
        for given in arguments():
            try:
                found.append(function(*given))
            except Exception:  # noqa: BLE001 - these arguments do not fit it
                continue
    return found


@pytest.mark.filterwarnings("ignore")
def test_what_is_said_to_have_no_gradients_has_none() -> None:
    found = {name: results(name) for name in sorted(WITHOUT_GRADIENTS)}
    called = {name: given for name, given in found.items() if given}
    assert len(called) > ENOUGH * len(WITHOUT_GRADIENTS)
    for name, given in called.items():
        assert not any(isinstance(one, torch.Tensor) and one.requires_grad for one in given), name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(WITH_INDICES))
def test_the_second_result_is_said_to_be_indices(name: str) -> None:
    pairs = [given for given in results(name) if isinstance(given, tuple)]
    assert pairs
    assert not any(pair[1].requires_grad or pair[1].is_floating_point() for pair in pairs)
