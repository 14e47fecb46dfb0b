"""Code is followed however deep its calls are nested, and Python's own stack is no limit to that."""

from __future__ import annotations

import sys

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import GivenUp, RandomDraw
from remat_lint.analysis.stacks import on_own_stack
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = "import random\nimport torch_remat as remat\nfrom torch import nn\n"
DEEP = 200


def _chain(first: str, later: str, run: str) -> str:
    middle = (later.replace("#+1", str(n + 1)).replace("#", str(n)) for n in range(DEEP))
    return PRELUDE + first + "".join(middle) + run.replace("#", str(DEEP))


CHAINS = {
    "functions": _chain(
        "def f0(x): return (x * random.random()).sin()\n",
        "def f#+1(x): return f#(x)\n",
        "def run(x): return remat.checkpoint()(f#)(x)\n",
    ),
    "lambdas": _chain(
        "def run(x):\n f0 = lambda x: (x * random.random()).sin()\n",
        " f#+1 = lambda x: f#(x)\n",
        " return remat.checkpoint()(f#)(x)\n",
    ),
    "modules": _chain(
        "class B0(nn.Module):\n def forward(self, x): return (x * random.random()).sin()\n",
        "class B#+1(nn.Module):\n"
        " def __init__(self):\n  super().__init__()\n  self.b = B#()\n"
        " def forward(self, x): return self.b(x)\n",
        "b = B#()\ndef run(x): return remat.checkpoint()(b)(x)\n",
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_what_lies_at_the_end_of_a_chain_is_found(chain: str) -> None:
    facts = analyse(SourceFile("model.py", CHAINS[chain].encode()), Project())
    assert [draw.replayed.certain for draw in facts.of(RandomDraw)] == [True]
    assert not list(facts.of(GivenUp))


RECURSIVE = """\
def f(x):
    y = f(x)
    return y * random.random()

def run(x):
    return remat.checkpoint()(f)(x)
"""


def test_recursion_ends() -> None:
    facts = analyse(SourceFile("model.py", (PRELUDE + RECURSIVE).encode()), Project())
    assert list(facts.of(GivenUp))


def test_a_stack_of_its_own_begins_anew() -> None:
    def down(left: int) -> int:
        return down(left - 1) if left else len(chain)

    chain: list[int] = []
    room = sys.getrecursionlimit() * 3 // 4

    def twice() -> int:
        return on_own_stack(lambda: down(room))

    def deep(left: int) -> int:
        return deep(left - 1) if left else twice()

    assert deep(room) == 0


def test_what_is_raised_on_another_stack_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        on_own_stack(lambda: 1 // 0)
