"""The codemods as commands of LibCST's own tool, apart from the rest because its framework is slow to import.

python -m libcst.tool codemod -x remat_lint.codemods.command.InsertMarkerCommand model.py
"""

from __future__ import annotations

import libcst as cst
from libcst.codemod import CodemodCommand

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import BareRead
from remat_lint.codemods.marker_edits import edit_markers
from remat_lint.project import Project
from remat_lint.source import SourceFile


class InsertMarkerCommand(CodemodCommand):
    """Finds the saved outputs that bare operations read, and writes the missing markers.

    Unlike ``remat-fix`` it knows no configuration and no suppression, and does not analyse its result.
    """

    DESCRIPTION = "Write the recompute_needs_tensor(...) calls that torch_remat needs and the code lacks."

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The tree with the markers written. Raises ``SourceError`` where it cannot be analysed."""
        source = SourceFile(self.context.filename or "<module>", tree.bytes)
        if not source.is_relevant():
            return tree
        reads = analyse(source, Project()).of(BareRead)
        edits = [read.insertion for read in reads if read.insertion is not None]
        return edit_markers(source, edits) if edits else tree
