"""Random checkpoint bodies: short programs that torch accepts, with every idiom the analyser follows.

A program is written as it is drawn, one statement at a time, with a note of what every name holds (a tensor
of a known shape, or a container of them), so that nearly all of them run. ``Chooser`` is the source of
randomness: hypothesis in the tests, which shrinks, or ``random.Random`` for long runs by hand.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from tests.differential.generator.chooser import Drawn, Seeded
from tests.differential.generator.program import ProgramWriter


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """The source of one program."""
    return ProgramWriter(Drawn(draw)).program()


def seeded_program(seed: int) -> str:
    """The program of a seed."""
    return ProgramWriter(Seeded(seed)).program()
