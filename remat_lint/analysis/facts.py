"""Facts: what the analyser found out about one module, the contract with the rules.

Plain frozen data that can be cached and sent between processes. Nothing here knows a rule,
a tree or a printed form. Places are node indices (``remat_lint.findings.Place``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from remat_lint.findings import EditMarker, GuardStatement, InsertMarker, MoveMarker, Place, ReplaceCode, Step


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


# --- what a replay does again ----------------------------------------------------------


class Replayer(str, Enum):
    """What runs the code again."""

    REMAT = "torch_remat"
    """``remat.checkpoint``: restores no random state but what its hooks restore."""

    TORCH = "torch"
    """``torch.utils.checkpoint``, or a framework's way to it: restores torch's default generators."""

    ASSUMED = "assumed"
    """A checkpoint that is not in view, because the code declares regions or markers."""


@dataclass(frozen=True, slots=True)
class Inside:
    """The region that decides whether a replay runs something that lies in it."""

    place: Place
    region: str
    kept: Kept


@dataclass(frozen=True, slots=True)
class Replayed:
    """How code comes to be run again: by a checkpoint at ``place``, through the steps of ``chain``.

    ``certain`` is false where the analyser does not know that the checkpoint runs this code. ``assumed`` is
    the function that is taken for the body of a checkpoint, where none is in view.
    """

    by: Replayer
    place: Place
    chain: tuple[Step, ...] = ()
    inside: Inside | None = None
    certain: bool = True
    assumed: Place | None = None


class RandomKind(str, Enum):
    """Whose random numbers."""

    TORCH = "torch"
    """Of torch's default generators."""

    OBJECT = "object"
    """Of one generator object, of torch or NumPy."""

    PYTHON = "python"
    """Of Python's ``random``."""

    NUMPY = "numpy"
    """Of ``numpy.random``."""

    SYSTEM = "system"
    """Of the operating system: nobody can restore them."""


class Device(str, Enum):
    """Where torch has a default generator."""

    CPU = "CPU"
    GPU = "GPU"
    """Or any other device."""


@dataclass(frozen=True, slots=True)
class Random:
    """A random state. ``name`` is a generator object as written, ``number`` tells it from others.

    ``device`` is the one whose default generator it is, where that matters and is known.
    """

    kind: RandomKind
    name: str = ""
    number: int = 0
    device: Device | None = None


class Cover(str, Enum):
    """Why a random state is not what it was when code runs again."""

    NO_HOOK = "no-hook"
    """The checkpoint has no state hook."""

    OTHER_HOOK = "other-hook"
    """It has hooks, for other states."""

    SOMETIMES = "sometimes"
    """A condition decides whether it has the hook for it."""

    SWITCHED_OFF = "switched-off"
    """``preserve_rng_state=False``."""

    NOT_ITS_STATE = "not-its-state"
    """The checkpoint restores torch's default generators, and this is none of them."""

    UNKNOWN = "unknown"
    """The checkpoint is not in view: it may have a hook."""

    ONE_PHASE = "one-phase"
    """It is restored, but this draw moves it on in the forward or in the replay only."""


@dataclass(frozen=True, slots=True)
class RandomDraw:
    """``operation`` draws from a random state that a replay does not find as it was.

    Where it is not ``kept``, no backward needs what was drawn. What ``decides`` is tested by a condition.
    It is ``alone`` where no replay draws from that state, as far as the code in view says.
    """

    place: Place
    operation: str
    random: Random
    cover: Cover
    replayed: Replayed
    kept: bool = True
    decides: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class StateHook:
    """Something is wrong with a hook of a checkpoint: ``what`` with ``hook``, as written.

    ``breaks`` says whether it does not restore what it took.
    """

    place: Place
    hook: str
    what: str
    advice: str
    breaks: bool = True


class Written(str, Enum):
    """What kind of state outside the call is changed."""

    ATTRIBUTE = "attribute"
    ELEMENT = "element"
    """Of a list, dict, set or other container."""

    GLOBAL = "global"
    NONLOCAL = "nonlocal"
    CLASS = "class"
    """An attribute of a class."""

    BUFFER = "buffer"
    """A tensor, in place."""

    STATISTICS = "statistics"
    """Of a module such as BatchNorm in training."""

    ITERATOR = "iterator"
    """One that was made outside moves on."""

    CACHE = "cache"
    INPUT = "input"
    """A tensor that the checkpointed function was given, in place."""


class Outcome(str, Enum):
    """What comes of it that state is written by the forward and by each replay."""

    REPLACED = "replaced"
    """The replay writes an equal value in its place."""

    REPEATED = "repeated"
    """Every run writes the same value there, whatever it is given: nobody sees how often."""

    ADVANCED = "advanced"
    """The state goes one step too far."""

    COMPUTED = "computed"
    """The replay computes with other state than the forward: the gradients are wrong."""

    OUTDATED = "outdated"
    """Only the forward writes, after computing with the state: the replay finds what the last write left."""

    SKIPPED = "skipped"
    """The replay finds the result of the forward and skips the computation: backward raises."""

    SWITCHED = "switched"
    """The state decides which way the code goes: the replay goes another way than the forward."""

    UNFILLED = "unfilled"
    """The replay makes the tensor anew, and skips the saved region that fills it: the gradients are wrong."""

    RAISES = "raises"
    """Autograd sees that an input was changed, or the replay finds nothing to delete: backward raises."""


@dataclass(frozen=True, slots=True)
class StateWrite:
    """``target``, as written, is changed again by a replay. ``edit`` runs the statement once.

    Where the code also ``read`` it, that alone may not mend the replay.
    """

    place: Place
    target: str
    written: Written
    outcome: Outcome
    replayed: Replayed
    edit: GuardStatement | None = None
    read: bool = False


class Touched(str, Enum):
    """What outside the program is touched."""

    OUTPUT = "output"
    """Of the terminal: ``print``."""

    LOG = "log"
    METRIC = "metric"
    FILE = "file"
    PROCESS = "process"
    QUEUE = "queue"
    SOCKET = "socket"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class ExternalEffect:
    """``operation`` touches something outside the program, again on replay. ``edit`` runs it once."""

    place: Place
    operation: str
    touched: Touched
    replayed: Replayed
    edit: GuardStatement | None = None


@dataclass(frozen=True, slots=True)
class Collective:
    """``operation`` communicates with other ranks, again on replay."""

    place: Place
    operation: str
    replayed: Replayed


class Unsteady(str, Enum):
    """What may be another value when code runs again."""

    TIME = "time"
    ENVIRONMENT = "environment"
    FILE = "file"
    """What files hold, or whether they are there."""

    IDENTITY = "identity"
    """Of an object that a replay makes anew, or of a thread."""

    DEVICE = "device"
    """How much memory is in use."""

    GLOBAL = "global"
    """A global that a function rebinds."""

    STATE = "state"
    """State that the caller of the checkpoint sets to something else, before backward runs."""


class Decides(str, Enum):
    """How a value decides what is computed."""

    BRANCH = "branch"
    """Which statements run, or how often."""

    INDEX = "index"
    """What is taken out of a tensor or container."""

    VALUE = "value"
    """It goes into a tensor."""

    SEED = "seed"
    """A random state is set to what follows from it."""


@dataclass(frozen=True, slots=True)
class UnstableInput:
    """``what``, as written where it is ``read``, decides what is computed.

    State of a caller is ``written`` there after the checkpoint ran; ``reached`` is whether backward surely
    comes to that checkpoint.
    """

    place: Place
    what: str
    unsteady: Unsteady
    decides: Decides
    read: Place
    replayed: Replayed
    written: Place | None = None
    reached: bool = True


class Divergence(str, Enum):
    """How a guard on the phase changes what is computed."""

    NAME = "name"
    """A name stands for something else on replay."""

    RESULT = "result"
    """The function returns something else on replay."""

    OPERATION = "operation"
    """An operation that keeps tensors for backward runs in the forward only."""

    REPLAY_OPERATION = "replay-operation"
    """Such an operation runs on replay only."""

    OPERAND = "operand"
    """Such an operation is given something else on replay."""


@dataclass(frozen=True, slots=True)
class DivergentReplay:
    """A guard on the phase changes what is computed afterwards: by ``what``, of the kind ``divergence``."""

    place: Place
    what: str
    divergence: Divergence
    replayed: Replayed


@dataclass(frozen=True, slots=True)
class Reached:
    """The function at ``place`` runs under a checkpoint in view: ``is_body`` if that itself calls it."""

    place: Place
    is_body: bool = False


@dataclass(frozen=True, slots=True)
class Assumption:
    """The function at ``place`` is taken for the body of a checkpoint; it ``runs`` these functions."""

    place: Place
    runs: tuple[Place, ...] = ()


ReplayFact = RandomDraw | StateWrite | ExternalEffect | Collective | UnstableInput | DivergentReplay
"""What a replay does again. Its place may be in another file than the checkpoint."""


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
    | ReplayFact
    | StateHook
    | Reached
    | Assumption
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
