"""The fixes: findings of one file in, its new bytes out.

    >>> from remat_lint.codemods import apply
    >>> from remat_lint.source import SourceFile
    >>> apply(SourceFile("model.py", b"import torch_remat\\n"), [])
    b'import torch_remat\\n'

A finding names its codemod; each codemod is one module with a function from a ``SourceFile`` and edits
to a new tree. Edits name nodes of the tree as it is, so one codemod runs at a time. An edit that cannot be
made is left out: the caller analyses the result and sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from remat_lint.codemods.guard_statements import guard_statements
from remat_lint.codemods.marker_edits import edit_markers
from remat_lint.codemods.rendering import render
from remat_lint.codemods.replace_code import replace_code
from remat_lint.findings import Finding
from remat_lint.source import SourceFile

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["apply"]

_CODEMODS: Mapping[str, Callable[[SourceFile, Sequence[Any]], cst.Module]] = {
    "edit-markers": edit_markers,
    "guard-statements": guard_statements,
    "replace-code": replace_code,
}


def apply(source: SourceFile, findings: Sequence[Finding]) -> bytes:
    """The bytes of ``source`` with the fixes of all ``findings`` made; what no fix touches stays as it is.

    Findings without a fix, or with one for another file, are ignored. Raises ``ValueError`` where the
    fixes need several codemods, and ``SourceError`` where the file is not valid Python.
    """
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    fixes = [fix for fix in fixes if fix.edit.path == source.path]
    if not fixes:
        return source.raw
    codemod, *others = {fix.codemod for fix in fixes}
    if others:
        raise ValueError(f"one codemod at a time, not {', '.join(sorted((codemod, *others)))}")
    return render(source, _CODEMODS[codemod](source, [fix.edit for fix in fixes]))
