"""The walk: every node has an index, the same bytes give the same indices, nothing is lost."""

from __future__ import annotations

import libcst as cst
import pytest

from remat_lint.analysis import ir
from remat_lint.source import SourceError, SourceFile

EVERYTHING = b"""\
import a.b as c, d.e
from . import f as g, h
from ..i import *
@decorated(1)
class Class(Base, metaclass=Meta):
    field: int = 3
    async def method(self, a, /, b: str = "x", *args, c=1, **kwargs) -> int:
        global G; nonlocal_ = [*a, 1, 2j, ...]
        async with open(a) as f, b: yield {**a, "k": 1}
        try:
            del a, b[0]
        except (A, B) as error:
            raise X from error
        else:
            pass
        finally:
            assert a, "b"
        for i, (j, *k) in x: continue
        else: break
        while (n := next(it)) is not None and not z: x += y if a else -b
        match a:
            case [1, b, *rest] | {"k": v, **more} if b: return lambda q, *r: q @ r
            case Point(x=0) as point: return f"{a!r:>{width}}" "tail" f"{b}"
            case _: return {i for i in a if i for j in b}, {k: v for k, v in a}, (x for x in a)
        x = y[..., 1:2, ::3, *z] = await w
"""


def test_every_index_points_to_a_node() -> None:
    source = SourceFile("model.py", EVERYTHING)
    for statement in source.lowered.body:
        assert isinstance(source.nodes[statement.at], cst.CSTNode)
    assert [function.name for function in source.lowered.functions] == ["<lambda>", "method"]


def test_the_same_bytes_give_the_same_walk() -> None:
    first, second = SourceFile("a.py", EVERYTHING), SourceFile("b.py", EVERYTHING)
    assert [type(node) for node in first.nodes] == [type(node) for node in second.nodes]
    assert [first.code(index) for index in range(20)] == [second.code(index) for index in range(20)]


def test_elif_is_an_if_in_the_else_branch() -> None:
    source = SourceFile("model.py", b"if a: b\nelif c: d\nelse:\n    if e: f\n")
    (first,) = source.lowered.body
    assert isinstance(first, ir.If)
    (second,) = first.orelse
    assert isinstance(second, ir.If)
    assert second.is_elif
    (third,) = second.orelse
    assert isinstance(third, ir.If)
    assert not third.is_elif


def test_positions_count_from_one() -> None:
    source = SourceFile("model.py", b"a = (\n    f(x)\n)\n")
    (statement,) = source.lowered.body
    assert isinstance(statement, ir.Assign)
    assert statement.value is not None
    span = source.span(statement.value.at)
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 5, 2, 9)


@pytest.mark.parametrize(
    ("raw", "line", "part"),
    [
        (b"a = 1\nb = = 2\n", 2, "invalid syntax"),
        (b"a = 1\nb = '\0'\n", 2, "NUL"),
        (b"# coding: nonsense\n", 1, "cannot be decoded"),
        (b"a = '\xff'\n", 1, "cannot be decoded"),
        (b"x = " + b"(" * 5000 + b")" * 5000, 1, "nested too deeply"),
        (b"a = 1\nx = " + b" + ".join([b"a"] * 2000), 2, "nested too deeply"),
        (b"a = 1\nx = (\n  1," + b" or\n ".join([b"a"] * 2000) + b")", 2, "nested too deeply"),
    ],
    ids=["syntax", "nul", "unknown-encoding", "undecodable", "deep", "long-sum", "long-or"],
)
def test_what_is_no_python_is_said_in_one_sentence(raw: bytes, line: int, part: str) -> None:
    with pytest.raises(SourceError) as caught:
        _ = SourceFile("model.py", raw).lowered
    assert caught.value.line == line
    assert part in caught.value.message
    assert "\n" not in caught.value.message
