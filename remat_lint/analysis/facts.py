"""Facts: what the analyser found out about one module, the contract with the rules.

Plain frozen data that can be cached and sent between processes. Nothing here knows a rule,
a tree or a printed form. Places are node indices (``remat_lint.findings.Place``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from remat_lint.findings import EditMarker, InsertMarker, MoveMarker, Place, ReplaceCode, Step


class Kept(str, Enum):
    """Whether a region's activations are kept, as far as the source says."""

    SAVE = "save"
    """``recompute=False``: skipped on replay, its outputs are placeholders."""

    RECOMPUTE = "recompute"
    """``recompute=True``: runs again on replay, its outputs are real."""

    POLICY = "policy"
    """Decided at run time: may be either."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a region, as a consumer sees it.

    ``name`` is how the consumer's source calls it (``gate``, ``pair[0]``), empty where it has no name
    there. ``region`` is the region's name as far as the source shows it, ``steps`` are the region
    call, the views and the calls through which it came.
    """

    name: str
    region: str
    kept: Kept
    steps: tuple[Step, ...] = ()


NO_STRING = "no string"
"""How the problem of a name ends that torch_remat accepts, though no policy matches it."""


@dataclass(frozen=True, slots=True)
class RegionCall:
    """``remat.region(function, name, recompute=...)``, with what is wrong in its arguments."""

    place: Place
    region: str
    kept: Kept | None
    problems: tuple[str, ...] = ()
    called: bool = True
    function_is_result: bool = False


class Fate(str, Enum):
    """What is wrong with an argument of a marker."""

    NO_TENSOR = "no-tensor"
    """It is a tuple, a number, ...: the marker raises."""

    INEFFECTIVE = "ineffective"
    """The marker does nothing where it stands, or to what it is given."""

    UNNEEDED = "unneeded"
    """No bare operation reads it, or replay computes it anyway."""

    LATE = "late"
    """It is marked after its consumer."""

    OUTSIDE = "outside"
    """It is marked outside the branch that reads it."""

    UNGROUPED = "ungrouped"
    """Another call marks for the same consumer."""


@dataclass(frozen=True, slots=True)
class DuplicateName:
    """A checkpointed body uses a region's name for the second time.

    ``name`` is the qualified name, ``first`` the place of the first use: ``place`` itself where the same
    code runs again. ``region`` is the call of the second region, which ``place`` may only lead to.
    """

    place: Place
    name: str
    first: Place
    region: Place


@dataclass(frozen=True, slots=True)
class RecomputeInsideSaved:
    """A RECOMPUTE region runs inside a SAVE region, ``outer``; ``chain`` leads from that to it.

    ``place`` is the inner region, or the outer one where the inner one is in another file.
    """

    place: Place
    region: str
    outer: str
    chain: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class RegionOutput:
    """A region's function returns ``what``, which torch_remat does not take."""

    place: Place
    region: str
    what: str


@dataclass(frozen=True, slots=True)
class CheckpointOutput:
    """A checkpointed function returns ``what``, which torch_remat does not take."""

    place: Place
    function: str
    what: str


@dataclass(frozen=True, slots=True)
class NestedCheckpoint:
    """A checkpoint runs inside another one; ``chain`` leads from that to it.

    ``place`` is the inner one, or the outer one where the inner one is in another file (``outside``).
    """

    place: Place
    outside: bool
    chain: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class PositionalCheckpoint:
    """``remat.checkpoint`` is given arguments by position: ``given``, as written. ``edit`` mends that."""

    place: Place
    given: str
    edit: ReplaceCode | None


@dataclass(frozen=True, slots=True)
class CheckpointOption:
    """An option of ``remat.checkpoint`` that it does not take: ``what`` is wrong, and what to do.

    ``certain`` is false where it depends on how the code is compiled.
    """

    place: Place
    option: str
    what: str
    advice: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class NameMismatch:
    """The helper that names a region and the one that decides about it are given other local names.

    ``name`` and ``policy`` are their arguments as written. ``edit`` gives both the first.
    """

    place: Place
    name: str
    policy: str
    edit: ReplaceCode


@dataclass(frozen=True, slots=True)
class UnregisteredName:
    """A policy is asked about a region of which it was never told.

    ``name`` is not among the names that the class ``owner`` and its bases list, ``listed``; or it is a handle
    as written, which is made at ``made`` and not in the body of a class.
    """

    place: Place
    name: str
    owner: str
    made: Place | None
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayedChoice:
    """``operation`` chooses between elements, replay chooses again, and ``use`` takes the chosen ones.

    ``region`` and ``kept`` are those of the region in which it runs, empty and None outside of regions.
    """

    place: Place
    operation: str
    region: str
    kept: Kept | None
    use: Place


@dataclass(frozen=True, slots=True)
class OutsideRegion:
    """A region is put around the ``forward`` of modules that a walk over a model picked out of it."""

    place: Place
    region: str
    kept: Kept


@dataclass(frozen=True, slots=True)
class LegacyName:
    """``name`` was in torch_remat before 0.2. ``statement`` is the one that uses it."""

    place: Place
    name: str
    advice: str
    statement: int


@dataclass(frozen=True, slots=True)
class Marker:
    """Arguments of one call of ``recompute_needs_tensor`` as written, and what is wrong with them.

    ``why`` says what it is (``a tuple``), why nobody needs it (``unread``, ``no-output``) or why it does
    nothing (``copy``, ``replay``, ``compiled``). ``consumer`` is the place that reads
    them. ``edit`` mends it; without one, ``obstacle`` says why not. ``comment`` says whether that loses one.
    """

    place: Place
    arguments: tuple[str, ...]
    fate: Fate
    why: str = ""
    consumer: Place | None = None
    edit: EditMarker | MoveMarker | None = None
    obstacle: str | None = None
    comment: bool = False


@dataclass(frozen=True, slots=True)
class BareRead:
    """A consumer outside every region reads saved outputs that no marker persisted on that path.

    ``operation`` is what reads, as written. ``certain`` is false where the analyser cannot know: a
    cast reads only if it copies, an unknown function may do anything. ``insertion`` mends it;
    without one, ``obstacle`` says why none can be written. ``resident`` outputs are there on replay
    after all, because the region's operation keeps them for its own backward.
    """

    place: Place
    operation: str
    outputs: tuple[Output, ...]
    certain: bool = True
    resident: bool = False
    insertion: InsertMarker | None = None
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class InPlaceWrite:
    """``operation`` changes a saved region's output in place."""

    place: Place
    operation: str
    output: Output


@dataclass(frozen=True, slots=True)
class HiddenDependency:
    """A region that may be replayed reads a saved output that torch_remat cannot see among its arguments.

    ``way`` says how it got there: "a closure", "a dict argument", ...
    """

    place: Place
    region: str
    kept: Kept
    output: Output
    way: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The analyser stopped following something: counted by ``--statistics``, never a finding."""

    place: Place
    reason: str


Rejection = DuplicateName | RecomputeInsideSaved | RegionOutput | CheckpointOutput | NestedCheckpoint
"""What torch_remat rejects in the body of a checkpoint, and nowhere else."""

WrittenWrong = PositionalCheckpoint | CheckpointOption | LegacyName
"""What raises wherever it is evaluated, compiled or not."""

Fact = (
    RegionCall
    | NameMismatch
    | UnregisteredName
    | OutsideRegion
    | ReplayedChoice
    | Rejection
    | WrittenWrong
    | Marker
    | BareRead
    | InPlaceWrite
    | HiddenDependency
    | GivenUp
)
F = TypeVar("F", bound=Fact)


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """All facts of one file, in the order of their places."""

    path: str
    facts: tuple[Fact, ...]

    def of(self, kind: type[F]) -> Iterator[F]:
        """The facts of one kind."""
        return (fact for fact in self.facts if isinstance(fact, kind))


@dataclass(frozen=True, slots=True)
class DeclaredRegion:
    """A region that runs when an object of some class is called. Paths and names are relative to the object.

    ``name`` has a ``*`` for every part that the source does not show; without one it is ``static``.
    ``checkpoint`` is the path of the part whose checkpoint the region belongs to, empty for the object
    itself, None where the object starts none around it. ``inside`` names the policy-decided region around
    it: where that one is saved, this one does not count.
    """

    place: Place
    name: str
    static: bool
    kept: Kept
    conditional: bool
    checkpoint: str | None = None
    inside: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaringClass:
    """A class and its regions, in the order in which they first run.

    It is not ``complete`` where something was called that the analyser cannot see, or too much.
    """

    place: Place
    name: str
    regions: tuple[DeclaredRegion, ...]
    complete: bool
