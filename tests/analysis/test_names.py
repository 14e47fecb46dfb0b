"""Which names a checkpointed body uses on its paths, as far as the source shows them."""

from __future__ import annotations

import textwrap

import pytest

from remat_lint.analysis.analyser import Analyser
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.state import MAX_CLAIMS, State
from remat_lint.analysis.values import Value
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = """\
import torch
import torch_remat as remat


class Named(torch.nn.Module):
    def remat_region_name(self, local):
        return f"{self.prefix}.{local}"

    def forward(self, x):
        return remat.region(torch.sin, self.remat_region_name("sin"), recompute=True)(x)


class Block(torch.nn.Module):
    def __init__(self):
        self.first, self.second = Named(), Named()

    def forward(self, x, stage):
"""


class Recorder(Analyser):
    """Keeps the names that are used at the end of ``Block.forward``."""

    def _settle(self, journal: Journal, ends: list[tuple[State, Value]]) -> None:
        self.names = [  # of the root that comes last in the file
            sorted(claim.name.text for one in state.claimed.values() for claim in one) for state, _ in ends
        ]
        super()._settle(journal, ends)


ROWS = {
    "a literal": ('x = region(f, "a", recompute=True)(x)', ["a"]),
    "a scope": ('with remat.name_scope("s"):\n    x = region(f, "a", recompute=True)(x)', ["s/a"]),
    "scopes are left": (
        'with remat.name_scope("s"), remat.name_scope("t"):\n    x = region(f, "a", recompute=True)(x)\n'
        'x = region(f, "b", recompute=True)(x)',
        ["b", "s/t/a"],
    ),
    "an f-string": ('x = region(f, f"mix.{stage}", recompute=True)(x)', ["mix.{}"]),
    "an f-string is another name once its variable changes": (
        'x = region(f, f"mix.{stage}", recompute=True)(x)\nstage += 1',
        [],
    ),
    "names of different objects": ("x = self.second(self.first(x))", ["sin", "sin"]),
    "an inert region uses no name": (
        'x = region(lambda t: region(f, "inner", recompute=False)(t), "outer", recompute=False)(x)',
        ["outer"],
    ),
    "a checkpoint has names of its own": (
        'x = remat.checkpoint()(lambda t: region(f, "a", recompute=True)(t))(x)',
        [],
    ),
    "a helper under a scope": (
        'def helper(t):\n    return region(f, "a", recompute=True)(t)\n'
        'with remat.name_scope("s"):\n    x = helper(x)',
        ["s/a"],
    ),
    "a name handed to a helper": (
        "def helper(t, name):\n    return region(f, name, recompute=True)(t)\nx = helper(x, 'a')",
        ["a"],
    ),
    "an unknown context manager may enter scopes": (
        "with stack(remat.name_scope('s')):\n    x = region(f, 'a', recompute=True)(x)",
        [],
    ),
}


@pytest.mark.parametrize("title", ROWS)
def test_the_names_that_a_body_has_used(title: str) -> None:
    body, expected = ROWS[title]
    code = PRELUDE.replace("import torch\n", "import torch\nfrom torch_remat import region\nf = torch.sin\n")
    code += textwrap.indent(body, "        ") + "\n        return x\n"
    recorder = Recorder(Project())
    recorder.analyse(SourceFile("model.py", code.encode()))
    assert recorder.names == [expected]


def test_calls_that_fan_out_remember_each_name_once() -> None:
    """Each level calls the one below twice: a use of a name for each call would be thousands."""
    levels = ["def f0(x):\n    return remat.region(torch.sin, 'a', recompute=True)(x)\n"]
    levels += [
        f"def f{n}(x, a):\n    return f{n - 1}(x) if a else f{n - 1}(f{n - 1}(x))\n" for n in range(1, 15)
    ]
    code = "import torch\nimport torch_remat as remat\n" + "".join(levels)
    recorder = Recorder(Project())
    recorder.analyse(SourceFile("model.py", code.encode()))
    assert all(len(names) <= MAX_CLAIMS for names in recorder.names)
