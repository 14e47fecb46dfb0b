"""Which einsum equations only rearrange one operand."""

from __future__ import annotations


def einsum_is_view(equation: str) -> bool:
    """Whether the equation permutes, or takes diagonals of, one operand, and sums nothing.

    ``'ij->ji'``, ``'ij->ij'``, ``'ii->i'`` and ``'...ij->...ji'`` give views; ``'ij->i'`` sums.
    Without an arrow, the letters that occur once are kept in alphabetical order, the others summed.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    if "," in left:
        return False
    if not arrow:
        return all(left.count(letter) == 1 for letter in left if letter != ".")
    if ("..." in left) != ("..." in right):
        return False
    kept = right.replace("...", "")
    return len(set(kept)) == len(kept) and set(kept) == set(left.replace("...", ""))
