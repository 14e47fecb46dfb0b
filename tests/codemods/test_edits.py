"""Edits made by hand: what the analyser does not ask for, or asks for in programs too odd for a row."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from remat_lint.codemods import apply
from remat_lint.findings import Finding, Fix, InsertMarker, MarkTarget, Place, Severity
from remat_lint.source import SourceFile


def _finding(source: SourceFile, before: str, *targets: str | tuple[str, str]) -> Finding:
    """Marks ``targets`` before the statement whose code starts with ``before``; pairs are (name, call)."""
    marks = [
        MarkTarget(target) if isinstance(target, str) else MarkTarget(target[0], _index(source, target[1]))
        for target in targets
    ]
    edit = InsertMarker(source.path, _index(source, before), tuple(marks))
    return Finding(
        "RMT101", "missing-marker", Severity.ERROR, "", Place(source.path, 0), Fix("edit-markers", edit)
    )


def _index(source: SourceFile, code: str) -> int:
    statements = (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Call)
    return next(
        index
        for index, node in enumerate(source.nodes)
        if isinstance(node, statements) and source.code(index).startswith(code)
    )


def _applied(program: str, *edits: tuple[str | tuple[str, str], ...]) -> str:
    source = SourceFile("model.py", textwrap.dedent(program).encode())
    findings = [_finding(source, str(before), *targets) for before, *targets in edits]
    return apply(source, findings).decode()


def test_two_findings_of_one_statement_give_one_marker() -> None:
    program = "import torch_remat as remat\nz = f(h, g)\n"
    expected = "import torch_remat as remat\nremat.recompute_needs_tensor(h, g)\nz = f(h, g)\n"
    assert _applied(program, ("z = f", "h"), ("z = f", "g", "h")) == expected


def test_a_docstring_stays_the_first_statement() -> None:
    program = """\
        import torch_remat as remat
        def f(x): "adds"; return h + x
    """
    assert _applied(program, ("return h", "h")) == textwrap.dedent(
        """\
        import torch_remat as remat
        def f(x):
            "adds"
            remat.recompute_needs_tensor(h)
            return h + x
        """
    )


@pytest.mark.parametrize("first", ["h = g()", "h += 1", "h, i = g()", "self.h = h", "import h", "global h"])
def test_a_line_is_split_after_what_binds_the_name_or_must_come_first(first: str) -> None:
    program = f"import torch_remat as remat\ndef f(x, self, g):\n    {first}; z = h + x\n"
    split = f"    {first}\n    remat.recompute_needs_tensor(h)\n    z = h + x\n"
    whole = f"    remat.recompute_needs_tensor(h)\n    {first}; z = h + x\n"
    expected = whole if first == "self.h = h" else split
    assert _applied(program, ("z = h", "h")) == program.partition("    ")[0] + expected


def test_a_line_is_split_before_an_attribute_that_it_may_bind() -> None:
    program = "import torch_remat as remat\nself.h = g; z = self.h + x\n"
    expected = (
        "import torch_remat as remat\nself.h = g\nremat.recompute_needs_tensor(self.h)\nz = self.h + x\n"
    )
    assert _applied(program, ("z = self", "self.h")) == expected


def test_nested_calls_are_hoisted_from_the_inside() -> None:
    program = "import torch_remat as remat\nz = 1 + outer(2 + inner(x))\n"
    expected = (
        "import torch_remat as remat\n"
        "inner_out = inner(x)\n"
        "outer_out = outer(2 + inner_out)\n"
        "remat.recompute_needs_tensor(outer_out, inner_out)\n"
        "z = 1 + outer_out\n"
    )
    assert _applied(program, ("z = 1", ("outer_out", "outer("), ("inner_out", "inner("))) == expected


def test_a_value_is_hoisted_before_the_target_that_is_evaluated_after_it() -> None:
    program = "import torch_remat as remat\ntable[left(x)] = right(x) + 1\n"
    expected = (
        "import torch_remat as remat\n"
        "b = right(x)\n"
        "a = left(x)\n"
        "remat.recompute_needs_tensor(a, b)\n"
        "table[a] = b + 1\n"
    )
    assert _applied(program, ("table", ("a", "left("), ("b", "right("))) == expected


def test_a_decorated_function_is_not_parted_from_its_decorator() -> None:
    program = "import torch_remat as remat\n# cached\n@cache\ndef f(x=h + 1):\n    return x\n"
    expected = program.replace("@cache", "remat.recompute_needs_tensor(h)\n@cache")
    assert _applied(program, ("# cached", "h")) == expected


def test_the_comment_of_a_parenthesis_is_kept() -> None:
    program = "import torch_remat as remat\nz = f((  # inner\n    g(x)\n))\n"
    expected = (
        "import torch_remat as remat\n"
        "g_out = (  # inner\n    g(x)\n)\n"
        "remat.recompute_needs_tensor(g_out)\n"
        "z = f(g_out)\n"
    )
    assert _applied(program, ("z = f", ("g_out", "(  # inner"))) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z = 1 if(g(x))else 2", "z = 1 if(g_out)else 2"),
        ("z = (g(x))and y", "z = (g_out)and y"),
    ],
)
def test_parentheses_stay_where_a_word_stands_beside_them(before: str, after: str) -> None:
    program = f"import torch_remat as remat\n{before}\n"
    expected = f"import torch_remat as remat\ng_out = g(x)\nremat.recompute_needs_tensor(g_out)\n{after}\n"
    assert _applied(program, ("z = ", ("g_out", "(g(x)"))) == expected


@pytest.mark.parametrize(
    ("program", "before", "target"),
    [
        pytest.param(
            "if a:\n    pass\nelif g(x) > 1:\n    pass\n", "if g", ("g_out", "g(x)"), id="call-in-elif"
        ),
        pytest.param("while g(x) > 1:\n    pass\n", "while g", ("g_out", "g(x)"), id="call-in-while"),
        pytest.param("if (y := g(x)) and y > 1:\n    pass\n", "if (y", "y", id="walrus"),
        pytest.param(
            "if (y := x):\n    pass\nelif y > 1:\n    pass\n", "if y", "y", id="walrus-of-the-chain"
        ),
        pytest.param("with g(x) as y, g(y + 1):\n    pass\n", "with g", "y", id="with-item"),
        pytest.param("match x:\n    case y if y > 1:\n        pass\n", "match x", "y", id="capture"),
        pytest.param("try:\n    pass\nexcept E as y:\n    y\n", "try", "y", id="handler"),
        pytest.param("z = y\n", "z = y", ("y", "z = y"), id="not-a-call"),
    ],
)
def test_what_cannot_be_done_is_left_out(program: str, before: str, target: str | tuple[str, str]) -> None:
    program = "import torch_remat as remat\n" + program
    assert _applied(program, (before, target)) == program


def test_what_cannot_be_done_costs_nothing_else() -> None:
    program = "import torch_remat as remat\nwhile g(x) > 1:\n    z = h + 1\n"
    expected = program.replace("    z", "    remat.recompute_needs_tensor(h)\n    z")
    assert _applied(program, ("while g", ("g_out", "g(x)")), ("z = h", "h")) == expected


def test_a_capture_of_a_match_hides_the_module() -> None:
    program = (
        "import torch_remat as remat\n"
        "def f(x, h):\n    match x:\n        case remat:\n            return h + 1\n"
    )
    expected = program.replace("remat\ndef", "remat\nimport torch_remat\ndef").replace(
        "            return", "            torch_remat.recompute_needs_tensor(h)\n            return"
    )
    assert _applied(program, ("return h", "h")) == expected


def test_a_finding_of_another_file_or_without_a_fix_changes_nothing() -> None:
    source = SourceFile("model.py", b"import torch_remat as remat\nz = h + 1\n")
    other = SourceFile("other.py", source.raw)
    without = Finding("RMT203", "region-never-called", Severity.ERROR, "", Place("model.py", 0))
    assert apply(source, [_finding(other, "z = h", "h"), without]) == source.raw


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"import torch_remat as remat\r\n\r\nz = h + 1\r\n", id="crlf"),
        pytest.param(b"import torch_remat as remat\n\x0c\nz = h + 1\n", id="form-feed"),
        pytest.param(b"import torch_remat as remat\n\x0cw = 1\nz = h + 1\n", id="form-feed-before-code"),
        pytest.param(b"import torch_remat as remat\r\nz = h + 1\nw = 1\n", id="mixed-newlines"),
        pytest.param(b"import torch_remat as remat\rz = h + 1\r", id="lone-carriage-returns"),
        pytest.param(b"# coding: latin-1\nimport torch_remat as remat\nz = h + '\xe9'\n", id="latin-1"),
        pytest.param(
            b"\xef\xbb\xbf# coding: utf-8\nimport torch_remat as remat\nz = h + 1", id="bom-and-cookie"
        ),
        pytest.param(b"import torch_remat as remat  \nz = h + 1\t \n\n\n  \n", id="trailing-space"),
        pytest.param(
            b"import torch_remat as remat\nz = h + 1\n  # end\n  \n", id="comment-above-a-last-line-of-spaces"
        ),
        pytest.param(
            b"import torch_remat as remat\nz = h + '\xe2\x80\xa8\x1c'\n", id="other-line-separators"
        ),
    ],
)
def test_every_other_byte_stays(raw: bytes) -> None:
    source = SourceFile("model.py", raw)
    after = apply(source, [_finding(source, "z = h", "h")])
    at = raw.index(b"z = h")
    assert after.startswith(raw[:at])
    assert after.endswith(raw[at:])
    assert after[at : len(after) - len(raw) + at].strip() == b"remat.recompute_needs_tensor(h)"
