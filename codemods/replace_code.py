"""Replaces single expressions by other source text; everything around them stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from remat_lint.findings import ReplaceCode
from remat_lint.source import SourceFile


def replace_code(source: SourceFile, edits: Sequence[ReplaceCode]) -> cst.Module:
    """The tree with the new expressions; of two that lie inside each other the inner one is left out.

    Raises ``SourceError`` where the file is not valid Python.
    """
    codes = {source.nodes[edit.node]: edit.code for edit in edits}
    return source.tree.visit(_Replacing(source.tree, codes))


class _Replacing(cst.CSTTransformer):
    def __init__(self, tree: cst.Module, codes: dict[cst.CSTNode, str]) -> None:
        super().__init__()
        self._config = tree.config_for_parsing
        self._codes = codes

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        code = self._codes.get(original_node)
        if code is None:
            return super().on_leave(original_node, updated_node)  # type: ignore[return-value]
        new = cst.parse_expression(code, self._config)
        if isinstance(original_node, cst.SimpleString) and isinstance(new, cst.SimpleString):
            return _requoted(new, original_node.quote)
        return new


def _requoted(new: cst.SimpleString, quote: str) -> cst.SimpleString:
    """A string literal with another literal's quotes, where nothing in it has to be escaped for them."""
    text = new.raw_value
    if quote[0] in text or "\\" in text or "\n" in text:
        return new
    return cst.SimpleString(f"{new.prefix}{quote}{text}{quote}")
