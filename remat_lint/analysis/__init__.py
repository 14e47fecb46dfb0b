"""The analyser: one file in, facts out.

>>> from pathlib import Path
>>> from remat_lint.project import Project
>>> from remat_lint.source import SourceFile
>>> program = b"import torch_remat as remat\\ndef f(x, lin):\\n"
>>> program += b"    return remat.region(lin, 'lin', recompute=False)(x).sin()\\n"
>>> [type(fact).__name__ for fact in analyse(SourceFile("model.py", program), Project()).facts]
['BareRead', 'RegionCall']
"""

from __future__ import annotations

from remat_lint.analysis.facts import ModuleFacts
from remat_lint.project import Project
from remat_lint.source import SourceFile


def analyse(source: SourceFile, project: Project) -> ModuleFacts:
    """The facts of one file; other modules of the project are read where a name leads there.

    Raises ``SourceError`` where the file is not valid Python.
    """
    from remat_lint.analysis.analyser import Analyser

    return Analyser(project).analyse(source)
