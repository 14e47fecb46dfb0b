"""What the names of a program hold while it is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Shape = tuple[int, ...]

FULL = (4, 6)


@dataclass(frozen=True)
class Tensor:
    """A tensor of this shape; ``saved`` where it may be a region's output or a view of one."""

    shape: Shape = FULL
    saved: bool = False


@dataclass(frozen=True)
class Group:
    """A container: how each element is reached, and what it is."""

    kind: str
    items: tuple[tuple[str, Tensor], ...]


Kind = Tensor | Group


@dataclass(frozen=True)
class Value:
    """A tensor expression."""

    text: str
    shape: Shape
    saved: bool


@dataclass
class Scope:
    """What can be used at a place. ``frozen`` names must keep their kind: they belong to an outer block."""

    names: dict[str, Kind] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    frozen: frozenset[str] = frozenset()
    depth: int = 0
    looped: bool = False
    returns: str | None = None
    graded: bool = True

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block."""
        child = replace(self, names=dict(self.names), frozen=frozenset(self.names), depth=self.depth + 1)
        return replace(child, **changes)  # type: ignore[arg-type]


Lines = list[str]
"""Source lines without a newline."""


def indented(lines: Lines) -> Lines:
    """The lines as the suite of a compound statement."""
    return [f"    {line}" for line in lines] or ["    pass"]


@dataclass(frozen=True)
class Helper:
    """A generated function: what calling it needs and gives. ``result`` None: it returns nothing."""

    call: str
    parameters: int
    flagged: bool
    result: Kind | None
    regions: bool = True
