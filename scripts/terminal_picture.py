"""A terminal's text as an SVG picture: what a command printed, colours included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

WIDTH = 104
CHARACTER, LINE, MARGIN = 8.4, 20, 16
COLOURS = {
    "31": "#f47067",
    "32": "#8ddb8c",
    "33": "#daaa3f",
    "34": "#6cb6ff",
    "36": "#76e3ea",
}
_STYLE = re.compile(r"\x1b\[([0-9;]*)m")


def draw(command: str, printed: str) -> str:
    """The picture of a command and what it printed."""
    lines = [f"\x1b[1m{command}\x1b[0m", *printed.rstrip("\n").split("\n")]
    rows = [row for line in lines for row in _wrapped(list(_characters(line)))]
    width, height = WIDTH * CHARACTER + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14"'
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        '<rect width="100%" height="100%" rx="8" fill="#22272e"/>',
        *(_row(row, MARGIN + LINE * (number + 0.7)) for number, row in enumerate(rows)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


Character = tuple[str, str]


def _characters(line: str) -> Iterator[Character]:
    """Each character with the attributes it is drawn with."""
    codes: list[str] = []
    for index, piece in enumerate(_STYLE.split(line)):
        if index % 2:
            codes = [] if piece in ("", "0") else [*codes, *piece.split(";")]
        else:
            yield from ((character, _attributes(codes)) for character in piece)


def _attributes(codes: list[str]) -> str:
    colour = next((COLOURS[code] for code in reversed(codes) if code in COLOURS), "#cdd9e5")
    return f'fill="{colour}"' + ' font-weight="bold"' * ("1" in codes)


def _wrapped(line: list[Character]) -> list[list[Character]]:
    """The line broken after spaces, where it is wider than the terminal."""
    rows = []
    while len(line) > WIDTH:
        spaces = [i + 1 for i in range(WIDTH // 2, WIDTH) if line[i][0] == " "]
        cut = spaces[-1] if spaces else WIDTH
        rows.append(line[:cut])
        line = line[cut:]
    return [*rows, line]


def _row(row: list[Character], y: float) -> str:
    spans, start = [], 0
    for end in range(1, len(row) + 1):
        if end == len(row) or row[end][1] != row[start][1]:
            text = escape("".join(character for character, _ in row[start:end]), quote=False)
            x = MARGIN + start * CHARACTER
            length = (end - start) * CHARACTER
            spans.append(f'<tspan x="{x:.1f}" textLength="{length:.1f}" {row[start][1]}>{text}</tspan>')
            start = end
    return f'<text y="{y:.0f}" xml:space="preserve">{"".join(spans)}</text>'
