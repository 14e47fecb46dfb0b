"""What a rule reports: plain data, without a tree and without a printed form.

A finding names its place by file and node index (see ``remat_lint.source``); lines and
columns are computed only for the files that have findings.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How bad a finding is."""

    ERROR = "error"
    """Backward raises, or the gradients are wrong."""

    WARNING = "warning"
    """It runs, but it costs or misleads, or it may fail where the analyser cannot know."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A node of a source file: the file's path and the node's index in the analyser's walk."""

    path: str
    node: int


@dataclass(frozen=True, slots=True)
class Step:
    """One related place, with what it contributes: where the region is, which view was taken.

    In the note, ``{here}`` stands for the place and ``{there}`` for another one, such as the definition of
    what is called: both are written as ``(file.py:14)`` when lines are known.
    """

    place: Place
    note: str
    there: Place | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends a finding: the codemod that makes it, and the fact it works from.

    ``safe`` fixes are applied by default; the others change what runs, or lose a comment.
    """

    codemod: str
    edit: Edit
    safe: bool = True


@dataclass(frozen=True, slots=True)
class MarkTarget:
    """One argument of a marker that is to be written.

    ``expression`` is the source text that goes into the call (``gate``, ``pair[0]``,
    ``*parts``). Where the output has no name yet, ``hoist`` is the node of the call that is
    first given one, and ``expression`` is the name wished for (made unique by the codemod), with
    a ``*`` where the call gives several outputs.
    """

    expression: str
    hoist: int | None = None


@dataclass(frozen=True, slots=True)
class InsertMarker:
    """Write ``recompute_needs_tensor(targets...)`` directly before the statement ``before``."""

    path: str
    before: int
    targets: tuple[MarkTarget, ...]


@dataclass(frozen=True, slots=True)
class EditMarker:
    """Change the arguments of a marker, by position: ``drop`` some, ``replace`` others by source text.

    ``statement`` is nothing but the call of the marker. It is taken out if it loses all its arguments.
    """

    path: str
    statement: int
    drop: tuple[int, ...] = ()
    replace: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MoveMarker:
    """Take arguments out of one marker, and write one for them in another place."""

    path: str
    removal: EditMarker
    insertion: InsertMarker


@dataclass(frozen=True, slots=True)
class ReplaceCode:
    """Write ``code`` instead of the expression ``node``. A string literal keeps its quotes."""

    path: str
    node: int
    code: str


@dataclass(frozen=True, slots=True)
class GuardStatement:
    """Run the simple statement ``statement`` in the forward only: under ``if not is_recomputing():``."""

    path: str
    statement: int


MarkerEdit = InsertMarker | EditMarker | MoveMarker
Edit = MarkerEdit | ReplaceCode | GuardStatement


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong at one place.

    ``related`` are the places that explain it (region, views); ``chain`` is the way from a
    checkpoint, or through calls, to the place. ``unfixable`` says why there is no fix where
    the rule usually has one.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    fix: Fix | None = None
    related: tuple[Step, ...] = ()
    chain: tuple[Step, ...] = ()
    unfixable: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place as people count: lines and columns from 1, the end column one past the last character."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """A place that explains a finding, and what it contributes."""

    location: Location
    message: str
    source_line: str = ""


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding with its lines and columns: what reporters print. ``source_line`` is where it starts."""

    finding: Finding
    location: Location
    source_line: str = ""
    related: tuple[Related, ...] = ()
    chain: tuple[Related, ...] = ()

    @property
    def code(self) -> str:
        """The code of the rule, such as ``RMT101``."""
        return self.finding.code

    @property
    def fix_kind(self) -> str | None:
        """``safe`` or ``unsafe`` where there is a fix."""
        fix = self.finding.fix
        return None if fix is None else "safe" if fix.safe else "unsafe"

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """The order of every report."""
        where = self.location
        return (where.path, where.line, where.column, self.code, self.finding.message)
