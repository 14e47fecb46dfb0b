"""Where the choices of a generated program come from."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from hypothesis import strategies as st


class Chooser(Protocol):
    """A source of choices."""

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)


class Drawn:
    """Choices that hypothesis records and shrinks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return self._draw(st.integers(low, high))
