"""Fixes that need several codemods, in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from remat_lint.codemods import apply
from remat_lint.config import Config
from remat_lint.findings import Finding, Fix, InsertMarker, Place, ReplaceCode, Severity
from remat_lint.fixer import Fixer
from remat_lint.linter import Linter
from remat_lint.source import SourceFile

BEFORE = """\
import torch_remat as remat


def first(x):
    y = remat.region(block, "a", recompute=False)(x)
    return y.sin()


def step(x):
    return remat.checkpoint(first)(x)


def second(x):
    y = remat.region(block, "a", recompute=False)(x)
    return y.cos() + remat.region(block, "b", recompute=False)(x)


def other_step(x):
    return remat.checkpoint(second, x)
"""

AFTER = """\
import torch_remat as remat


def first(x):
    y = remat.region(block, "a", recompute=False)(x)
    remat.recompute_needs_tensor(y)
    return y.sin()


def step(x):
    return remat.checkpoint()(first)(x)


def second(x):
    y = remat.region(block, "a", recompute=False)(x)
    b_out = remat.region(block, "b", recompute=False)(x)
    remat.recompute_needs_tensor(y, b_out)
    return y.cos() + b_out


def other_step(x):
    return remat.checkpoint()(second)(x)
"""


def test_fixes_of_several_codemods_are_all_made() -> None:
    source = SourceFile("model.py", BEFORE.encode())
    outcome = Fixer(Linter(Config(Path()))).fix(source)
    assert outcome.bugs == []
    assert (outcome.fixed, outcome.unfixed) == (4, 0)
    assert outcome.after.text == AFTER


def test_one_codemod_runs_at_a_time() -> None:
    source = SourceFile("model.py", b"f(x)\n")
    edits = {
        "edit-markers": InsertMarker("model.py", 0, ()),
        "replace-code": ReplaceCode("model.py", 1, "g(x)"),
    }
    place = Place("model.py", 0)
    findings = [
        Finding("RMT000", "", Severity.ERROR, "", place, Fix(name, edit)) for name, edit in edits.items()
    ]
    with pytest.raises(ValueError, match="one codemod at a time, not edit-markers, replace-code"):
        apply(source, findings)


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("f('a')", '"b"', "f('b')"),
        ('f("a")', "'b'", 'f("b")'),
        ("f('a')", '"it\'s"', 'f("it\'s")'),
        ("f('''a''')", '"b"', "f('''b''')"),
        ("f('a')", "self.handle", "f(self.handle)"),
        ("f( 'a' ,  x)  # why", '"b"', "f( 'b' ,  x)  # why"),
    ],
)
def test_a_string_keeps_its_quotes(before: str, code: str, after: str) -> None:
    source = SourceFile("model.py", f"{before}\r\n".encode())
    node = next(i for i, one in enumerate(source.nodes) if source.tree.code_for_node(one).strip("'\"") == "a")
    finding = Finding(
        "RMT000",
        "",
        Severity.ERROR,
        "",
        Place("model.py", node),
        Fix("replace-code", ReplaceCode("model.py", node, code)),
    )
    assert apply(source, [finding]).decode() == f"{after}\r\n"
