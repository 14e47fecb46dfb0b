"""However a program is laid out, a marker adds its line and changes nothing else."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Program = list["str | tuple[str, Program]"]

PROGRAMS: list[Program] = [
    [
        (
            "def f(x, lin, flag):",
            [
                "y = remat.region(lin, 'a', recompute=False)(x)",
                ("if flag:", ["a = 1", "x = x + y"]),
                ("elif a:", ["x = x - y", "return x"]),
                ("else:", ["pass"]),
                "return x + y",
            ],
        )
    ],
    [
        (
            "def f(x, lin, layers):",
            [
                "n = 1",
                "p, q = remat.region(lin, 'a', recompute=False)(x)",
                ("for layer in layers:", ["x = x + q", "n = n + 1"]),
                ("try:", ["z = p * x"]),
                ("finally:", ["n = 2"]),
                "return p + q",
            ],
        )
    ],
    [
        (
            "class Model:",
            [
                "n = 1",
                (
                    "def forward(self, x, lin):",
                    ["y = remat.region(lin, 'a', recompute=False)(x)", "return y + x"],
                ),
            ],
        )
    ],
]


class _Layout:
    """Writes a program with white space, comments and line breaks as they are drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.newline = draw(st.sampled_from(["\n", "\r\n"]))
        self.indent = draw(st.sampled_from(["    ", "  ", "\t"]))
        self.shares_lines = draw(st.booleans())

    def program(self, program: Program) -> str:
        lines = self._block(["import torch_remat as remat", *program], "")
        return self.newline.join(lines) + self.newline * self._draw(st.integers(0, 2))

    def _block(self, block: Program, indent: str) -> list[str]:
        lines: list[str] = []
        waiting: list[str] = []
        for item, following in zip(block, [*block[1:], None], strict=True):
            if not isinstance(item, str):
                lines += self._compound(*item, indent)
                continue
            waiting.append(self._statement(item, indent))
            if not isinstance(following, str) or not self._shares():
                lines += [*self._above(indent), indent + self._line(waiting)]
                waiting = []
        return lines

    def _compound(self, header: str, body: Program, indent: str) -> list[str]:
        above = [] if header.startswith(("el", "fin")) else self._above(indent)
        simple = [item for item in body if isinstance(item, str)]
        if len(simple) == len(body) and self._shares():
            space = self._draw(st.sampled_from([" ", "", f" \\{self.newline}{indent} "]))
            return [*above, f"{indent}{header}{space}{self._line(simple)}"]
        return [*above, f"{indent}{header}{self._end()}", *self._block(body, indent + self.indent)]

    def _line(self, statements: list[str]) -> str:
        separator = self._draw(st.sampled_from(["; ", ";", " ;\t"]))
        return separator.join(statements) + self._draw(st.sampled_from(["", ";"])) + self._end()

    def _statement(self, text: str, indent: str) -> str:
        if self._draw(st.booleans()):
            return text.replace(" + ", f" + \\{self.newline}{indent}{self.indent}")
        return text

    def _above(self, indent: str) -> list[str]:
        lines = ["", "  ", f"{indent}# note", "# far left", "\x0c"]
        return self._draw(st.lists(st.sampled_from(lines), max_size=2))

    def _end(self) -> str:
        return self._draw(st.sampled_from(["", "", "  ", "  # why"]))

    def _shares(self) -> bool:
        return self.shares_lines and self._draw(st.booleans())


@st.composite
def programs(draw: st.DrawFn) -> tuple[bytes, bool]:
    """A program, and whether statements may share lines in it."""
    layout = _Layout(draw)
    text = layout.program(draw(st.sampled_from(PROGRAMS)))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode(), layout.shares_lines


@given(programs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_marker_adds_its_line_and_nothing_else(
    fix: Callable[[bytes], bytes], drawn: tuple[bytes, bool]
) -> None:
    before, shares_lines = drawn
    after = fix(before)
    assert MARKER in after
    assert _comments(after) == _comments(before)
    assert _without_markers(after) == ast.dump(ast.parse(before))
    assert after.count(b"\r\n") in (0, after.count(b"\n"))
    if not shares_lines:
        assert b"".join(line for line in after.splitlines(True) if MARKER not in line) == before


MARKER = b"remat.recompute_needs_tensor("


def _comments(raw: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(raw).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _without_markers(raw: bytes) -> str:
    tree = ast.parse(raw)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                statements[:] = [
                    one for one in statements if not ast.unparse(one).startswith(MARKER.decode())
                ]
    return ast.dump(tree)
