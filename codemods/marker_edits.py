# ruff: noqa: N802 - LibCST calls a visitor's methods by these names
"""Writes, changes and moves markers: each directly before the statement that reads.

Comments and blank lines above that statement stay above the marker. A line of several statements is
split only where something on it binds what is marked; a suite on the line of its header becomes a block.
An output without a name gets one first, from a call that the analyser found safe to move. A marker
that is taken out leaves the comments above it where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import libcst as cst

from remat_lint.codemods.hoisting import assignment, collapsed
from remat_lint.codemods.marker_call import extended, marker_in, reduced, written
from remat_lint.codemods.planning import Insertion, Plan, plan
from remat_lint.codemods.remat_names import with_function, with_import
from remat_lint.codemods.scopes import bound_by
from remat_lint.findings import MarkerEdit
from remat_lint.source import SourceFile

Small = cst.BaseSmallStatement


def edit_markers(source: SourceFile, edits: Sequence[MarkerEdit]) -> cst.Module:
    """The tree with the markers as they should be; an edit that cannot be made is left out.

    Raises ``SourceError`` where the file is not valid Python.
    """
    made = plan(source, edits)
    if not any(call.lpar for one in made.insertions.values() for call in one.hoists):
        return source.tree.visit(MarkerEdits(source.tree, made))
    for keep_parentheses in (False, True):
        try:
            tree = source.tree.visit(MarkerEdits(source.tree, made, keep_parentheses))
            cst.parse_module(tree.code)
        except (cst.CSTValidationError, cst.ParserSyntaxError):
            continue  # as in `return(f(x)).sin()`: a name cannot stand where a parenthesis stood
        return tree
    return source.tree


class MarkerEdits(cst.CSTTransformer):
    """Makes planned changes. Statements and calls are the nodes of ``tree`` itself, not equal ones."""

    def __init__(self, tree: cst.Module, made: Plan, keep_parentheses: bool = False) -> None:
        super().__init__()
        self._tree = tree
        self._plan = made
        self._insertions = made.insertions
        self._names = made.names
        self._keep_parentheses = keep_parentheses
        self._hoists = {call: name for one in made.insertions.values() for call, name in one.hoists.items()}
        self._moved: dict[cst.Call, cst.Call] = {}
        self._indents: list[str | None] = [None]
        self._taken_apart = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Goes where a change is, and everywhere in a statement that loses a call."""
        super().on_visit(node)
        self._taken_apart += self._loses_a_call(node)
        return node in self._plan.around or self._taken_apart > 0

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        self._taken_apart -= self._loses_a_call(original_node)
        return super().on_leave(original_node, updated_node)

    def _loses_a_call(self, node: cst.CSTNode) -> bool:
        insertion = self._insertions.get(node)
        return insertion is not None and bool(insertion.hoists)

    # --- what is moved or imported

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        call = collapsed(original_node, updated_node, self._hoists)
        name = self._hoists.get(original_node)
        if name is None:
            return call
        self._moved[original_node] = call
        parentheses = bool(call.lpar) and self._keep_parentheses
        return cst.Name(name, [cst.LeftParen()] * parentheses, [cst.RightParen()] * parentheses)

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.Expr:
        change = self._plan.changes.get(original_node)
        if change is None or original_node in self._plan.removed:
            return updated_node
        call = cst.ensure_type(updated_node.value, cst.Call)
        return updated_node.with_changes(value=reduced(call, change, self._tree.config_for_parsing))

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if original_node not in self._names.extended:
            return updated_node
        return with_function(updated_node, self._names.function)

    # --- where there is room for a statement

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body = self._block(original_node.body, updated_node.body)
        if self._names.added is not None:
            body = with_import(body, self._names.added)
        return updated_node.with_changes(body=body)

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self._indents.append(node.indent)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self._indents.pop()
        if updated_node is original_node:
            return updated_node
        return updated_node.with_changes(body=self._block(original_node.body, updated_node.body))

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        original, updated = self._kept(original_node.body, updated_node.body)
        if not original:
            return updated_node.with_changes(body=[cst.Pass()])
        first, groups = self._split(original, updated)
        if first is None and len(groups) == 1:
            return updated_node.with_changes(body=groups[0])
        end = updated_node.trailing_whitespace
        lines: list[cst.CSTNode] = []
        self._put(lines, first, self._lines(groups, (), end))
        header = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=end.newline)
        return cst.IndentedBlock(
            cast("list[cst.BaseStatement]", lines), header=header, indent=self._indents[-1]
        )

    def _block(self, original: Sequence[cst.CSTNode], updated: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
        body: list[cst.CSTNode] = []
        above: list[cst.EmptyLine] = []
        for before, after in zip(original, updated, strict=True):
            if above:
                after, above = _below(above, after), []
            if isinstance(before, cst.SimpleStatementLine) and isinstance(after, cst.SimpleStatementLine):
                kept, left = self._kept(before.body, after.body)
                if not kept:
                    above = list(after.leading_lines)
                    continue
                first, groups = self._split(kept, left)
                lines = self._lines(groups, after.leading_lines, after.trailing_whitespace)
                self._put(body, first, lines if len(groups) > 1 else [after.with_changes(body=groups[0])])
            else:
                self._put(body, self._insertions.get(before), [after])
        return body if body or not original else [cst.SimpleStatementLine([cst.Pass()], above)]

    def _kept(self, original: Sequence[Small], updated: Sequence[Small]) -> tuple[list[Small], list[Small]]:
        """The statements of a line that are not taken out: as they were, and as they are now."""
        pairs = [pair for pair in zip(original, updated, strict=True) if pair[0] not in self._plan.removed]
        kept, left = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if left and len(left) < len(updated) and original[-1] in self._plan.removed:
            left[-1] = left[-1].with_changes(semicolon=updated[-1].semicolon)
        return kept, left

    def _split(
        self, original: Sequence[Small], updated: Sequence[Small]
    ) -> tuple[Insertion | None, list[list[Small]]]:
        """What goes before a line of small statements, and the lines that it becomes."""
        front = self._insertions.get(original[0])
        lines: list[list[Small]] = []
        line = [updated[0]]
        for index in range(1, len(original)):
            insertion = self._insertions.get(original[index])
            if insertion is not None:
                marker = None if insertion.hoists else marker_in(line[-1], self._names.known)
                if marker is not None:
                    line[-1] = self._extended(line[-1], marker, insertion)
                elif front is None and not lines and _may_precede(insertion, original[:index]):
                    front = insertion
                else:
                    lines += [line, *([one] for one in self._new(insertion))]
                    line = []
            line.append(updated[index])
        return front, [*lines, line]

    def _lines(
        self,
        groups: Sequence[Sequence[Small]],
        above: Sequence[cst.EmptyLine],
        end: cst.TrailingWhitespace,
    ) -> list[cst.CSTNode]:
        lines: list[cst.CSTNode] = [self._line(_unfinished(group), end.newline) for group in groups[:-1]]
        lines.append(cst.SimpleStatementLine(groups[-1], trailing_whitespace=end))
        lines[0] = lines[0].with_changes(leading_lines=above)
        return lines

    def _line(self, statements: Sequence[Small], newline: cst.Newline) -> cst.SimpleStatementLine:
        end = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=newline)
        return cst.SimpleStatementLine(statements, trailing_whitespace=end)

    def _put(self, body: list[cst.CSTNode], insertion: Insertion | None, lines: list[cst.CSTNode]) -> None:
        """Adds the lines of a statement to a block, what is inserted before it first."""
        if insertion is None:
            body += lines
            return
        newline = _newline(lines[0])
        new = [self._line([statement], newline) for statement in self._new(insertion)]
        marker = self._marker_line(body[-1], alone=bool(insertion.hoists)) if body else None
        if marker is not None:
            line, call = marker
            body.pop()
            statement = self._extended(line.body[-1], call, insertion)
            lines = [line.with_changes(body=[*line.body[:-1], statement]), *lines]
            new.pop()
        if new:
            above = cast("cst.SimpleStatementLine", lines[0]).leading_lines
            lines[0] = lines[0].with_changes(leading_lines=())
            new[0] = new[0].with_changes(leading_lines=above)
        body += [*new, *lines]

    def _marker_line(
        self, line: cst.CSTNode, *, alone: bool
    ) -> tuple[cst.SimpleStatementLine, cst.Call] | None:
        """The marker at the end of a line; ``alone`` asks for one with nothing before it."""
        if not isinstance(line, cst.SimpleStatementLine) or (alone and len(line.body) > 1):
            return None
        call = marker_in(line.body[-1], self._names.known)
        return (line, call) if call is not None else None

    def _new(self, insertion: Insertion) -> Iterator[Small]:
        for call, name in insertion.hoists.items():
            indentation = insertion.indentation[call]
            yield assignment(name, self._moved[call], indentation, self._tree)
        yield written(insertion.function, insertion.arguments, self._tree.config_for_parsing)

    def _extended(self, statement: Small, call: cst.Call, insertion: Insertion) -> Small:
        expression = cst.ensure_type(statement, cst.Expr)
        return extended(expression, call, insertion.arguments, self._tree.config_for_parsing)


def _below(lines: Sequence[cst.EmptyLine], statement: cst.CSTNode) -> cst.CSTNode:
    """A statement with what stood above the one before it, which is gone."""
    leading = [*lines, *getattr(statement, "leading_lines", ())]
    return statement.with_changes(leading_lines=leading)


def _may_precede(insertion: Insertion, statements: Sequence[Small]) -> bool:
    """Whether a marker for something later on a line may go before these statements of it."""
    if insertion.hoists or not all(
        isinstance(one, (cst.Assign, cst.AugAssign, cst.Pass)) for one in statements
    ):
        return False
    if not all(argument.lstrip("*").isidentifier() for argument in insertion.arguments):
        return False
    names = {argument.lstrip("*") for argument in insertion.arguments}
    return not names & bound_by(statements)


def _unfinished(statements: Sequence[Small]) -> list[Small]:
    """The statements of a line that goes no further."""
    *rest, last = statements
    return [*rest, last.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]


def _newline(statement: cst.CSTNode) -> cst.Newline:
    """The line end that a statement's first line has, if that can be told."""
    if isinstance(statement, cst.SimpleStatementLine):
        return statement.trailing_whitespace.newline
    body = getattr(statement, "body", None)
    if isinstance(body, cst.IndentedBlock):
        return body.header.newline
    return cst.Newline()
