"""Equations of one operand that give a view."""

from __future__ import annotations

import pytest

from remat_lint.torch_ops import einsum_is_view

VIEWS = [
    "ij->ji",
    "ij->ij",
    "ii->i",
    "i j -> j i",
    "ij",
    "ba",
    "...ij->...ji",
    "iij->ij",
    "abcd->dcba",
    "i->i",
]
READS = [
    "ij->i",
    "ij->",
    "ij,jk->ik",
    "i,j->ij",
    "ii",
    "ii->",
    "ij->jj",
    "...i->i",
    "i,i",
    "ij->ijk",
    "i...->...",
]


@pytest.mark.parametrize("equation", VIEWS)
def test_rearranging_one_operand_is_a_view(equation: str) -> None:
    assert einsum_is_view(equation)


@pytest.mark.parametrize("equation", READS)
def test_summing_or_several_operands_reads(equation: str) -> None:
    assert not einsum_is_view(equation)
