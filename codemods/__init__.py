"""The fixes: findings of one file in, its new bytes out.

    >>> from remat_lint.codemods import apply
    >>> from remat_lint.source import SourceFile
    >>> apply(SourceFile("model.py", b"import torch_remat\\n"), [])
    b'import torch_remat\\n'

A finding names its codemod; each codemod is one module with a function from a ``SourceFile`` and edits
to a new tree. An edit that cannot be made is left out: the caller analyses the result and sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from remat_lint.codemods.marker_edits import edit_markers
from remat_lint.codemods.rendering import render
from remat_lint.findings import Edit, Finding
from remat_lint.source import SourceFile

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["apply"]

_CODEMODS: Mapping[str, Callable[[SourceFile, Sequence[Edit]], cst.Module]] = {
    "edit-markers": edit_markers,
}


def apply(source: SourceFile, findings: Sequence[Finding]) -> bytes:
    """The bytes of ``source`` with the fixes of all ``findings`` made; what no fix touches stays as it is.

    Findings without a fix, or with one for another file, are ignored. Raises ``SourceError`` where the
    file is not valid Python.
    """
    edits: dict[str, list[Edit]] = {}
    for finding in findings:
        if finding.fix is not None and finding.fix.edit.path == source.path:
            edits.setdefault(finding.fix.codemod, []).append(finding.fix.edit)
    for name, wanted in edits.items():
        source = SourceFile(source.path, render(source, _CODEMODS[name](source, wanted)))
    return source.raw
