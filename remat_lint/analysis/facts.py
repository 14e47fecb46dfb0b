"""Facts: what the analyser found out about one module, the contract with the rules.

Plain frozen data that can be cached and sent between processes. Nothing here knows a rule,
a tree or a printed form. Places are node indices (``remat_lint.findings.Place``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from remat_lint.findings import InsertMarker, Place, Step


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


@dataclass(frozen=True, slots=True)
class RegionCall:
    """``remat.region(function, name, recompute=...)``, with what is wrong in its arguments."""

    place: Place
    region: str
    kept: Kept | None
    problems: tuple[str, ...] = ()
    called: bool = True
    function_is_result: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """An argument of ``recompute_needs_tensor`` that is no tensor: as written, and ``what`` it is."""

    place: Place
    argument: str
    what: str


@dataclass(frozen=True, slots=True)
class BareRead:
    """A consumer outside every region reads saved outputs that no marker persisted on that path.

    ``operation`` is what reads, as written. ``certain`` is false where the analyser cannot know: a
    cast reads only if it copies, an unknown function may do anything. ``insertion`` mends it;
    without one, ``obstacle`` says why none can be written.
    """

    place: Place
    operation: str
    outputs: tuple[Output, ...]
    certain: bool = True
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


Fact = RegionCall | Marker | BareRead | InPlaceWrite | HiddenDependency | GivenUp
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
