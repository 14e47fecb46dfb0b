# ruff: noqa: N802 - LibCST calls a visitor's methods by these names
"""Puts statements under ``if not remat.is_recomputing():``, so that they run in the forward only.

Neighbours share one guard, with the comments between them. An ``if`` with nothing else in it gets one more
condition instead, and a ``with torch.no_grad():`` goes under the guard whole. A line of several statements
is split where only some of them are guarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import libcst as cst

from remat_lint.codemods.remat_names import RematNames, dotted, name_calls, with_function, with_import
from remat_lint.codemods.scopes import Paths
from remat_lint.findings import GuardStatement
from remat_lint.source import SourceFile

FUNCTION = "is_recomputing"

_SWITCHES = frozenset(["no_grad", "inference_mode"])
"""What a ``with`` around guarded statements may enter: nothing that somebody would miss."""

_CONDITIONS = (cst.Name, cst.Attribute, cst.Call, cst.Comparison, cst.Subscript)
"""What ``and`` can follow without parentheses."""

Body = Sequence[cst.CSTNode]


def guard_statements(source: SourceFile, edits: Sequence[GuardStatement]) -> cst.Module:
    """The tree with the guards. Raises ``SourceError`` where the file is not valid Python."""
    wanted = {source.nodes[edit.statement] for edit in edits}
    paths = Paths(wanted)
    source.tree.visit(paths)
    names = name_calls([source.nodes[edit.statement] for edit in edits], paths.found, FUNCTION)
    around = {node for statement in (*wanted, *names.extended) for node in paths.found[statement]}
    return source.tree.visit(_Guards(source.tree, names, around | names.extended))


class _Guards(cst.CSTTransformer):
    """Writes the guards, and the imports that they need."""

    def __init__(self, tree: cst.Module, names: RematNames, around: set[cst.CSTNode]) -> None:
        super().__init__()
        self._config = tree.config_for_parsing
        self._names = names
        self._calls = names.calls
        self._around = around
        self._whole: set[cst.CSTNode] = set()
        self._indents: list[str | None] = [None]

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Goes where a guard is to be written, and nowhere else."""
        super().on_visit(node)
        return node in self._around

    # --- what is guarded whole

    def _call(self, node: cst.CSTNode) -> str | None:
        """What a guard around a line or block calls; None for one that holds anything else."""
        match node:
            case cst.SimpleStatementLine(body=parts) | cst.SimpleStatementSuite(body=parts):
                calls = [self._calls.get(part) for part in parts]
            case cst.IndentedBlock(body=lines):
                calls = [self._call(line) for line in lines]
            case cst.With(items=items, body=body, asynchronous=None) if all(map(_is_switch, items)):
                calls = [self._call(body)]
            case _:
                return None
        return calls[0] if calls and None not in calls else None

    def visit_With(self, node: cst.With) -> None:
        if self._call(node) is not None:
            self._whole.add(node.body)

    def visit_If(self, node: cst.If) -> None:
        if node.orelse is None and self._call(node.body) is not None and _takes_condition(node.test):
            self._whole.add(node.body)

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        call = self._call(original_node.body)
        if original_node.body not in self._whole or call is None:
            return updated_node
        test = cst.BooleanOperation(updated_node.test, cst.And(), self._condition(call))
        if isinstance(updated_node.whitespace_before_test, cst.SimpleWhitespace):
            space = updated_node.whitespace_before_test.value or " "
            updated_node = updated_node.with_changes(whitespace_before_test=cst.SimpleWhitespace(space))
        return updated_node.with_changes(test=test)

    # --- suites

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body = self._block(original_node.body, updated_node.body)
        if self._names.added is not None:
            body = with_import(body, self._names.added)
        return updated_node.with_changes(body=body)

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        extends = original_node in self._names.extended
        return with_function(updated_node, FUNCTION) if extends else updated_node

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self._indents.append(node.indent)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        if original_node not in self._whole:
            body = self._block(original_node.body, updated_node.body)
            updated_node = updated_node.with_changes(body=body)
        self._indents.pop()
        return updated_node

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        if original_node in self._whole:
            return updated_node
        end = updated_node.trailing_whitespace
        lines = self._split(original_node.body, updated_node.body, (), end)
        if all(self._call(one) is None for one, _ in lines):
            return updated_node
        header = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=end.newline)
        body = cast("list[cst.BaseStatement]", self._guarded(lines))
        return cst.IndentedBlock(body, header=header, indent=self._indents[-1])

    def _block(self, original: Body, updated: Body) -> list[cst.CSTNode]:
        lines: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        for before, after in zip(original, updated, strict=True):
            if isinstance(before, cst.SimpleStatementLine) and isinstance(after, cst.SimpleStatementLine):
                end = after.trailing_whitespace
                lines += self._split(before.body, after.body, after.leading_lines, end)
            else:
                lines.append((before, after))
        return self._guarded(lines)

    def _split(
        self,
        original: Sequence[cst.BaseSmallStatement],
        updated: Sequence[cst.BaseSmallStatement],
        above: Sequence[cst.EmptyLine],
        end: cst.TrailingWhitespace,
    ) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
        """The lines that a line becomes: those that are guarded, and those that are not; before and after."""
        groups: list[list[int]] = []
        for index, part in enumerate(original):
            if groups and (original[groups[-1][-1]] in self._calls) == (part in self._calls):
                groups[-1].append(index)
            else:
                groups.append([index])
        newline = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=end.newline)
        lines: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        for number, group in enumerate(groups):
            is_last = number == len(groups) - 1
            parts = [updated[index] for index in group]
            if not is_last:
                parts[-1] = parts[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            new = cst.SimpleStatementLine(
                parts, above if number == 0 else (), trailing_whitespace=end if is_last else newline
            )
            lines.append((cst.SimpleStatementLine([original[index] for index in group]), new))
        return lines

    def _guarded(self, lines: Sequence[tuple[cst.CSTNode, cst.CSTNode]]) -> list[cst.CSTNode]:
        """A block in which the lines that are to be guarded are, neighbours together."""
        body: list[cst.CSTNode] = []
        guarded: list[cst.CSTNode] = []
        call = ""
        for before, after in lines:
            found = self._call(before)
            if guarded and found is None:
                body.append(self._guard(call, guarded))
                guarded = []
            if found is None:
                body.append(after)
            else:
                call = call if guarded else found
                guarded.append(after)
        return [*body, self._guard(call, guarded)] if guarded else body

    def _guard(self, call: str, lines: Sequence[cst.CSTNode]) -> cst.If:
        """The comments above the first line go above the guard."""
        first = cast("cst.SimpleStatementLine", lines[0])
        above = first.leading_lines
        body = [cast("cst.BaseStatement", first.with_changes(leading_lines=())), *lines[1:]]
        header = cst.TrailingWhitespace(cst.SimpleWhitespace(""), newline=_newline(first))
        block = cst.IndentedBlock(
            cast("list[cst.BaseStatement]", body), header=header, indent=self._indents[-1]
        )
        return cst.If(self._condition(call), block, leading_lines=above)

    def _condition(self, call: str) -> cst.BaseExpression:
        return cst.parse_expression(f"not {call}()", self._config)


def _is_switch(item: cst.WithItem) -> bool:
    """Whether a ``with`` enters nothing but ``torch.no_grad()`` or its like."""
    if item.asname is not None or not isinstance(item.item, cst.Call) or item.item.args:
        return False
    return dotted(item.item.func).rpartition(".")[2] in _SWITCHES


def _takes_condition(test: cst.BaseExpression) -> bool:
    """Whether ``test and not ...`` reads well, and means what it says."""
    if isinstance(test, cst.BooleanOperation):
        return isinstance(test.operator, cst.And) or bool(test.lpar)
    if isinstance(test, cst.UnaryOperation):
        return isinstance(test.operator, cst.Not)
    return isinstance(test, _CONDITIONS)


def _newline(statement: cst.CSTNode) -> cst.Newline:
    """The line end of a statement's first line, where that can be told."""
    if isinstance(statement, cst.SimpleStatementLine):
        return statement.trailing_whitespace.newline
    body = getattr(statement, "body", None)
    return body.header.newline if isinstance(body, cst.IndentedBlock) else cst.Newline()
