"""What a generated program does that replay may do otherwise: a draw, a write, an effect.

Code is written with ``t`` for the tensor that comes in and ``y`` for the one that goes out. ``$name`` stands
for a part of the deed (a module, a generator, a counter), wherever its owner is; a line that starts with
``!`` is to blame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Stream(str, Enum):
    """The source that a draw advances."""

    TORCH = "torch"
    """The default generator of the CPU."""
    GENERATOR = "torch generator"
    PYTHON = "python"
    PYTHON_OBJECT = "python object"
    NUMPY = "numpy"
    NUMPY_OBJECT = "numpy object"
    NUMPY_LEGACY_OBJECT = "numpy legacy object"
    COUNTER = "counter of the project"
    """A number that seeds a generator for each operation."""
    UNRESTORABLE = "unrestorable"
    """Nothing can set it back: the clock, the kernel's pool."""
    NOTHING = "nothing"
    """Nothing is drawn, or what is drawn is the same each time."""


OBJECTS = {
    Stream.GENERATOR: "generator",
    Stream.PYTHON_OBJECT: "dice",
    Stream.NUMPY_OBJECT: "rng",
    Stream.NUMPY_LEGACY_OBJECT: "rng",
    Stream.COUNTER: "counter",
}
"""The part that holds the state of a stream, for the streams that are objects."""


class Outcome(str, Enum):
    """What became of the gradients."""

    RIGHT = "right"
    WRONG = "wrong gradient"
    RAISES = "raises"


RIGHT = frozenset({Outcome.RIGHT})
WRONG = frozenset({Outcome.WRONG})
RAISES = frozenset({Outcome.RAISES})
DIVERGES = frozenset({Outcome.WRONG, Outcome.RAISES})
ANY = frozenset(Outcome)
"""Right by luck where the same tensors are saved."""


@dataclass(frozen=True)
class Expected:
    """What SEMANTICS says of a deed in one place: the gradients, whether state or output is doubled."""

    outcomes: frozenset[Outcome] = RIGHT
    state: bool = False
    printed: bool = False


ONCE = Expected()
TWICE = Expected(state=True)
PRINTED = Expected(printed=True)


@dataclass(frozen=True)
class Deed:
    """One row of the tables.

    ``write`` is what may be guarded, ``use`` computes ``y``. ``rebound`` are parts that are assigned to,
    ``buffers`` those that modules register. ``callable`` is a part that may be handed to a region as it is.
    ``whole`` deeds hold their own region, or are about the body's own names: they stand in the body as they
    are. ``replayed`` is for a deed that replay runs again, ``kept`` for one in a SAVE region.
    """

    name: str
    use: str
    write: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    rebound: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    callable: str = ""
    whole: bool = False
    draws: Stream = Stream.NOTHING
    replayed: Expected = ONCE
    kept: Expected = ONCE
    shared: Expected = ONCE
    """Where two layers share the owner, and the deed is done once in each."""
    in_training: bool = False
    """It does nothing once the model is switched to evaluation."""
    warned: bool = False
    """A warning stands although the run shows nothing: another value would have shown it."""

    def __str__(self) -> str:
        return self.name

    @property
    def expression(self) -> str | None:
        """What ``y`` is, where that is one expression and all there is."""
        line = self.use.strip().removeprefix("!")
        single = "\n" not in line and line.startswith("y = ")
        return line.removeprefix("y = ") if single and not self.write else None


def draw(stream: Stream, use: str, name: str = "", **fields: object) -> Deed:
    """A draw; its name is its code if it has no better."""
    line = "; ".join(line.removeprefix("!").strip().removeprefix("y = ") for line in use.splitlines())
    replayed = ONCE if stream is Stream.NOTHING else Expected(WRONG)
    return Deed(**{"name": name or line, "use": use, "draws": stream, "replayed": replayed, **fields})  # type: ignore[arg-type]
