"""A module of the project as the interpreter sees it: its file and its global names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remat_lint.analysis.values import HeapObject, Value

if TYPE_CHECKING:
    from remat_lint.analysis.state import State
    from remat_lint.source import SourceFile


@dataclass(eq=False, slots=True)
class ModuleScope:
    """One module: ``names`` are its globals after it was run once, ``heap`` the objects they point to.

    ``frame`` is the number under which a state finds the module's globals.
    """

    name: str
    source: SourceFile
    frame: int
    names: dict[str, Value] = field(default_factory=dict)
    heap: dict[int, HeapObject] = field(default_factory=dict)
    """Objects made while the module ran, and instances made for the roots of its classes."""
    running: State | None = None
    """The path that defined its last class, while it runs."""
    advanced: frozenset[str] = frozenset()
    """The globals that a function computes anew from what they are: another call finds another value."""
