"""Makes a disagreement small: statements, branches and operands go as long as the disagreement stays."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Change = Callable[[], Callable[[], None]]


def reduce_program(source: str, mark: str, holds: Callable[[str], bool]) -> str:
    """The shortest variant found for which ``holds`` is true; what stands before ``mark`` is kept."""
    start = source.find(mark)
    head, tail = source[: start + len(mark)], source[start + len(mark) :]
    best = ast.parse(tail)
    progress = True
    while progress:
        progress = False
        position = 0
        while True:
            candidate = copy.deepcopy(best)
            change = _nth(_changes(candidate), position)
            if change is None:
                break
            change()
            text = _text(candidate)
            if text is not None and len(text) < len(ast.unparse(best)) and holds(head + "\n" + text + "\n"):
                best = ast.parse(text)
                progress = True
            else:
                position += 1
    return head + "\n" + ast.unparse(best) + "\n"


def _text(tree: ast.Module) -> str | None:
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        ast.parse(text)
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return None
    return text


def _nth(changes: Iterator[Callable[[], None]], position: int) -> Callable[[], None] | None:
    for index, change in enumerate(changes):
        if index == position:
            return change
    return None


def _changes(tree: ast.AST) -> Iterator[Callable[[], None]]:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from _list_changes(node, name, value, index)
            elif isinstance(value, ast.expr):
                for child in _operands(value):
                    yield _setter(node, name, child)


def _list_changes(node: ast.AST, name: str, items: list[ast.AST], index: int) -> Iterator[Callable[[], None]]:
    item = items[index]
    if not (name == "body" and len(items) == 1):
        yield lambda: items.pop(index)  # type: ignore[func-returns-value]
    elif not isinstance(item, ast.Pass) and isinstance(item, ast.stmt):
        yield lambda: items.__setitem__(index, ast.Pass())
    for inner in _suites(item):
        yield lambda inner=inner: items.__setitem__(slice(index, index + 1), inner)  # type: ignore[misc]
    if isinstance(item, ast.expr):
        for child in _operands(item):
            yield lambda child=child: items.__setitem__(index, child)  # type: ignore[misc]


def _suites(item: ast.AST) -> Iterator[list[ast.stmt]]:
    if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(item, name, None)
        if isinstance(suite, list) and suite:
            yield suite


def _operands(value: ast.expr) -> list[ast.expr]:
    return [child for child in ast.walk(value) if isinstance(child, ast.expr) and child is not value][:12]


def _setter(node: ast.AST, name: str, child: ast.expr) -> Callable[[], None]:
    return lambda: setattr(node, name, child)
