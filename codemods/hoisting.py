# ruff: noqa: ARG002, N802 - LibCST calls a visitor's methods by these names
"""A call moved out of its statement and given a name: how it is laid out, and what is left in its place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

import libcst as cst

from remat_lint.codemods.commas import has_comment


def in_evaluation_order(
    statement: cst.CSTNode, calls: Collection[cst.CSTNode]
) -> tuple[list[cst.Call], dict[cst.CSTNode, str]]:
    """The calls as Python evaluates them, and the indentation of each one's first line in the statement."""
    finder = _Finder(calls)
    for part in _parts(statement):
        part.visit(finder)
    return finder.order, finder.indentation


def _parts(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(statement, cst.Assign):
        yield statement.value
        yield from statement.targets
    else:
        yield statement


class _Finder(cst.CSTVisitor):
    """Visits leave a node after its parts, so they leave calls in the order in which they happen."""

    def __init__(self, calls: Collection[cst.CSTNode]) -> None:
        super().__init__()
        self.order: list[cst.Call] = []
        self.indentation: dict[cst.CSTNode, str] = {}
        self._calls = calls
        self._current = ""

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:
        self._current = node.last_line.value if node.indent else ""

    def visit_Call_func(self, node: cst.Call) -> None:
        if node in self._calls:
            self.indentation[node] = self._current

    def leave_Call(self, original_node: cst.Call) -> None:
        if original_node in self._calls:
            self.order.append(original_node)


def assignment(name: str, call: cst.Call, indentation: str, module: cst.Module) -> cst.Assign:
    """``name = call``: its further lines moved left with it, in parentheses only where it needs them."""
    bare = call.with_changes(lpar=(), rpar=())
    needs_parentheses = not _is_one_statement(module.code_for_node(bare))
    if any(has_comment(p.whitespace_after) for p in call.lpar) or any(
        has_comment(p.whitespace_before) for p in call.rpar
    ):
        value = call
    elif needs_parentheses:
        value = call if call.lpar else call.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    else:
        value = _moved_left(bare, indentation)
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value)


def _moved_left(call: cst.Call, indentation: str) -> cst.Call:
    return cst.ensure_type(call.visit(_Dedent(indentation)), cst.Call) if indentation else call


def _is_one_statement(code: str) -> bool:
    try:
        return len(ast.parse(f"_ = {code}").body) == 1
    except SyntaxError:
        return False


class _Dedent(cst.CSTTransformer):
    def __init__(self, indentation: str) -> None:
        super().__init__()
        self._indentation = indentation

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        return updated_node.with_changes(last_line=self._cut(updated_node.last_line))

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        return updated_node.with_changes(whitespace=self._cut(updated_node.whitespace))

    def _cut(self, space: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
        return space.with_changes(value=space.value.removeprefix(self._indentation))


def collapsed(original: cst.Call, updated: cst.Call, moved: Collection[cst.CSTNode]) -> cst.Call:
    """A call whose only argument was moved away, closed again where it was opened over several lines."""
    if len(original.args) != 1 or original.args[0].value not in moved:
        return updated
    [arg] = updated.args
    spaces = [updated.whitespace_before_args, arg.whitespace_after_arg]
    if isinstance(arg.comma, cst.Comma):
        spaces += [arg.comma.whitespace_before, arg.comma.whitespace_after]
    if not any(isinstance(space, cst.ParenthesizedWhitespace) for space in spaces):
        return updated
    if any(has_comment(space) for space in spaces):
        return updated
    none = cst.SimpleWhitespace("")
    arg = arg.with_changes(whitespace_after_arg=none, comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(whitespace_before_args=none, args=[arg])
