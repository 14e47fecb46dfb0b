"""No shape of a program makes the analyser slow: its work does not explode.

Work is counted in calls of Python functions, which are the same on every machine.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = """\
import torch
import torch_remat as remat
from torch import nn
from torch_remat import recompute_needs_tensor as M
def S(f, name="s"): return remat.region(f, name, recompute=False)
"""
MOST_CALLS = 4_000_000
SMALL, LARGE = 6, 12
CHEAP = 350_000
"""Calls that no root costs too many, whatever it looks like."""

GROWTH = 4
"""A path that knows twice as many outputs costs more for every statement."""

BODY = "def body(x):\n y = S(torch.sin)(x)\n"


def _numbered(template: str, count: int) -> str:
    return "".join(template.replace("#+1", str(n + 1)).replace("#", str(n)) for n in range(count))


def _nested(head: str, count: int, body: str) -> str:
    lines = [" " * (n + 1) + head.replace("#", str(n)) + "\n" for n in range(count)]
    return "".join(lines) + " " * (count + 1) + body


SHAPES: dict[str, Callable[[int], str]] = {
    "a chain of calls": lambda n: (
        _numbered("def f#(x):\n y = S(torch.sin, 'r#')(x)\n return f#+1(y)\n", n)
        + f"def f{n}(x): return x + 1\n"
    ),
    "a long chain of calls": lambda n: (
        "def f0(x): return x.sin()\n"
        + _numbered("def f#+1(x): return f#(x).sin()\n", 8 * n)
        + f"def body(x): return remat.checkpoint()(f{8 * n})(x)\n"
    ),
    "a long chain of lambdas": lambda n: (
        "def body(x):\n f0 = lambda x: x.sin()\n"
        + _numbered(" f#+1 = lambda x: f#(x).sin()\n", 8 * n)
        + f" return remat.checkpoint()(f{8 * n})(x)\n"
    ),
    "lambdas that fan out": lambda n: (
        "def body(x):\n f0 = lambda x: x.sin()\n"
        + _numbered(" f#+1 = lambda x: f#(x) + f#(x)\n", 2 * n)
        + f" return remat.checkpoint()(f{2 * n})(x)\n"
    ),
    "modules in modules": lambda n: (
        "class B0(nn.Module):\n def forward(self, x): return x.sin()\n"
        + _numbered(
            "class B#+1(nn.Module):\n"
            " def __init__(self):\n  super().__init__()\n  self.b = B#()\n"
            " def forward(self, x): return self.b(x).sin()\n",
            4 * n,
        )
        + f"def body(x): return remat.checkpoint()(B{4 * n}())(x)\n"
    ),
    "calls that fan out over regions": lambda n: (
        _numbered("def f#(x):\n a = f#+1(x)\n b = f#+1(a)\n return S(torch.add, 'r#')(a, b)\n", n)
        + f"def f{n}(x): return x + 1\n"
    ),
    "calls that fan out to one region": lambda n: (
        _numbered("def f#(x):\n a = f#+1(x)\n b = f#+1(a)\n return a + b\n", n)
        + f"def f{n}(x): return S(torch.sin)(x)\n"
    ),
    "calls that fan out in both phases": lambda n: (
        _numbered("def f#(x):\n a = f#+1(x)\n return f#+1(a)\n", n)
        + f"def f{n}(x): return x.sin()\n"
        + BODY
        + " if remat.is_recomputing():\n  return f0(y)\n return f0(y)\n"
    ),
    "functions that all call each other": lambda n: _numbered(
        "def f#(x, n):\n y = S(torch.sin, 'r#')(x)\n z = f#+1(y, n)\n return y + f0(z, n)\n", n
    ),
    "markers under one condition after the other": lambda n: (
        "def body(x, c):\n" + _numbered(" y# = S(torch.sin, 'r#')(x)\n if c[#]:\n  M(y#)\n x = x + y#\n", n)
    ),
    "conditions first, reads later": lambda n: (
        "def body(x, c):\n"
        + _numbered(" y# = S(torch.sin, 'r#')(x)\n", n)
        + _numbered(" if c[#]:\n  M(y#)\n", n)
        + _numbered(" x = x + y#\n", n)
    ),
    "regions in a row": lambda n: (
        "def body(x):\n" + _numbered(" y# = S(torch.sin, 'r#')(x)\n x = x + y#\n", 4 * n)
    ),
    "a chain of elif": lambda n: (
        "def body(x, k):\n y = S(torch.sin)(x)\n if k:\n  pass\n"
        + _numbered(" elif k == #:\n  x = S(torch.cos, 'e#')(x) + y\n", n)
    ),
    "a long match": lambda n: (
        "def body(x, k):\n y = S(torch.sin)(x)\n match k:\n"
        + _numbered("  case #:\n   x = S(torch.cos, 'e#')(x) + y\n", n)
    ),
    "one try after the other": lambda n: (
        BODY
        + _numbered(" try:\n  x = S(torch.sin, 't#')(x)\n except E:\n  return y\n finally:\n  x = x + 1\n", n)
    ),
    "loops in loops": lambda n: (
        BODY + _nested("for i# in range(3):", n, "x = x + S(torch.sin)(y)\n")
    ),
    "loops without an end in each other": lambda n: (
        "def body(x, c):\n y = S(torch.sin)(x)\n"
        + _nested("while c(#):", n, "y = S(torch.sin)(y)\n")
    ),
    "comprehensions in comprehensions": lambda n: (
        BODY + " return " + "[" * n + "y" + _numbered(" for k# in range(2)]", n) + "\n"
    ),
    "tuples of tuples": lambda n: BODY + " t = y\n" + " t = (t, t)\n" * n + " return len(t)\n",
    "tuples that double": lambda n: BODY + " t = (y,)\n" + " t = t + t\n" * n + " return t\n",
    "lists of lists": lambda n: BODY + " t = y\n" + " t = [t, t]\n" * n + " return print(t)\n",
    "lists that double": lambda n: BODY + " t = [y]\n" + " t = t + t\n" * n + " return t\n",
    "dicts of dicts": lambda n: (
        BODY + " t = y\n" + " t = {'a': t, 'b': t}\n" * n + " return print(t)\n"
    ),
    "classes that call their base twice": lambda n: (
        "class B0(nn.Module):\n def forward(self, x):\n  return S(torch.sin)(x)\n"
        + _numbered(
            "class B#+1(B#):\n"
            " def forward(self, x):\n  h = super().forward(x)\n  return h + super().forward(h)\n",
            n,
        )
    ),
}  # fmt: skip


def _calls(source: str) -> int:
    """How many Python functions an analysis calls. Raises ``AssertionError`` where it does not end."""
    file = SourceFile("model.py", (PRELUDE + source).encode())
    assert file.lowered.body
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"
        assert calls <= MOST_CALLS, "the analysis does not end"

    sys.setprofile(count)
    threading.setprofile(count)
    try:
        analyse(file, Project())
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return calls


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_program_is_at_most_four_times_the_work(shape: str) -> None:
    small, large = _calls(SHAPES[shape](SMALL)), _calls(SHAPES[shape](LARGE))
    assert large <= max(GROWTH * small, CHEAP), f"{small} calls, then {large}"


LONG = {
    "draws in a row": lambda n: "def body(x):\n" + " x = x * random.random()\n" * n + " return x\n",
    "draws that are printed": lambda n: (
        "def body(x):\n" + " r = random.random()\n print(r)\n" * n + " return x\n"
    ),
    "noise that is added": lambda n: (
        "def body(x):\n" + " x = x + torch.randn(8)\n" * n + " return x\n"
    ),
    "draws and writes under conditions": lambda n: (
        "def body(x):\n"
        + " if x.shape[0] > 1:\n  x = x * random.random()\n  LOG.append(0)\n" * n
        + " return x\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", LONG)
def test_what_a_function_draws_costs_no_more_where_it_is_long(shape: str) -> None:
    head, tail = "import random\nLOG = []\n", "def run(x):\n return remat.checkpoint()(body)(x)\n"
    small, large = (_calls(head + LONG[shape](count) + tail) for count in (50, 200))
    assert large <= 6 * small, f"{small} calls, then {large}"
