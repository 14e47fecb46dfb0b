"""What the parts of the interpreter share: frames, regions under way, counters, and what each part may call.

The interpreter is one object made of layers, each in its own file and each using only the layers
below it. What a layer asks of one above it declares without a body (``raise NotImplementedError``), here
or where it is asked for first; the layer above defines it.

    machine      frames, counters                     (this file)
    replays      what code does beside its result, and what of that a replay does again
    callers      what the callers of checkpoints do to state before backward
    writes       which state that was there before is changed, and what comes of it
    divergences  what is computed otherwise in one phase
    reads        a token is read, written or marked
    draws        random states are drawn from, set, copied and put back
    effects      what is done outside the program, what decides that may change
    operations   torch operations and Python operators
    decisions    which elements an operation takes
    names        what regions are called, which names a body has used
    markers      remat.recompute_needs_tensor
    hooks        the state hooks of a checkpoint
    checkpoints  remat.checkpoint
    regions      remat.region
    wrappers     functions that the settings name
    objects      attributes
    registered   names that a class registers for its regions
    items        items, iteration, unpacking
    containers   methods of lists, dicts and containers of modules
    forms        checkpoints of torch and of other packages
    construction objects, records and modules of torch.nn
    functions    functions of the project
    special_calls attributes and items, however they are written
    calls        objects, methods, names of other packages
    expressions  the value of an expression
    conditions   what the condition of a statement is good for
    interpreter  statements and paths
    declarations objects that nobody constructed: annotations, attributes set anywhere
    analyser     modules, imports, the functions that are run as roots
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deeds, Ranges
from remat_lint.analysis.facts import GivenUp, Kept, LegacyName, Rejection, Written
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.legacy import LEGACY
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.moves import Moves
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.values import (
    ClassValue,
    External,
    HeapObject,
    Reference,
    RegionName,
    Seeded,
    Token,
    Value,
)
from remat_lint.analysis.watch import Held, Watch
from remat_lint.findings import Place, Step
from remat_lint.project import Project
from remat_lint.source import SourceFile

REMAT = "torch_remat"

MAX_DEPTH = 16
"""Calls nested deeper than this are followed only where no function is among them twice."""

CALLS_ON_A_STACK = 16
"""Calls of the code under analysis, inside each other, that are run on one Python stack."""

MAX_STEPS = 4_000
"""Statements run for one root; a root that needs more is given up. A decoder block needs about a hundred."""

MAX_FILE_STEPS = 40_000
"""Statements run for all roots of one file."""


COMPARING = 4
"""After this part of the steps of a root, as a divisor, no call of one phase is run by itself."""

OUTPUTS_PER_STEP = 32
"""A statement counts once more for every so many outputs that its path has seen."""


class BudgetSpent(Exception):
    """The root under analysis has used up its steps."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value handed to a call or operator, with the expression that gave it.

    ``star`` says that the value is the whole iterable of a ``*`` argument.
    """

    value: Value
    expr: ir.Expr | None = None
    keyword: str | None = None
    star: bool = False


@dataclass(slots=True, eq=False)
class Frame:
    """A call under way. ``statement`` is what it runs now, ``values`` what that has evaluated so far."""

    id: int
    depth: int
    scope: ModuleScope
    function: ir.Function | None = None
    parent: Frame | None = None
    call: ir.Expr | None = None
    operands: Sequence[Operand] = ()
    owner: ClassValue | None = None
    receiver: Value | None = None
    closure: int = 0
    statement: ir.Stmt | None = None
    values: dict[int, Value] = field(default_factory=dict)
    yielded: Value | None = None
    seeded_at_yield: Seeded | None = None
    """The random states that are set on every path where it yields."""
    at_yield: tuple[Moves, Mapping[Held, Place]] | None = None
    """Where state has gone where it yields, and where it set that."""
    comprehension: list[str] = field(default_factory=list)
    scopes_around: int = 0
    """How many of the name scopes were entered before it began."""

    unwinding: int = 0
    """How many ``finally`` and ends of ``with`` it runs now: what they do is done after an error too."""

    is_unkept: bool = False
    """Whether no backward needs what it returns, where that is a tensor with something added, or scaled."""

    kind: str = "function"
    """function, module or class: whose body runs."""
    watch: Watch = field(default_factory=Watch)
    ended: list[tuple[Phase, Value, ir.Stmt]] = field(default_factory=list)
    """What it returned, in which phase, and by which statement."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionContext:
    """A region whose function runs now: tokens newer than ``watermark`` were born inside it."""

    place: Place
    region: str
    kept: Kept
    watermark: int
    direct: frozenset[Token]
    depth: int
    function: Value
    operands: Sequence[Operand]


@dataclass(frozen=True, slots=True)
class Body:
    """What a checkpoint runs: called from a frame of this depth.

    It ``goes_on`` where another function of the same checkpoint takes what it returns. It is ``rebuilt``
    where the replay builds its graph anew.
    """

    depth: int
    goes_on: bool
    rebuilt: bool


@dataclass(frozen=True, slots=True, eq=False)
class Wrapped:
    """A function with the checkpoint that it was given: on which path, and the calls that led there."""

    function: Value
    state: State
    way: tuple[Step, ...]


class Machine:
    """The state of the interpreter that is not the state of a path."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.scopes: dict[str, ModuleScope] = {}
        self.journal = Journal()
        self.frame: Frame
        self.regions: list[RegionContext] = []
        self.switched_on: dict[Place, bool] = {}
        """The checkpoints that objects in view come to, and whether a setting lets one of them run it."""
        self.grad_enabled = True
        self.on_meta = False
        """Whether tensors that are made get no numbers, unless they are told a device."""
        self.name_scopes: tuple[RegionName, ...] = ()
        self.swallowing = 0
        self.probing = 0
        """How many ``try`` are under way that take the error of a missing name."""
        self.checkpoints: list[tuple[Place, int]] = []
        """The checkpoints under way, as far as they are in view: where, and at which depth of frames."""
        self.wrapped: dict[tuple[Place, Value], Wrapped | None] = {}
        """What was given a checkpoint, by the call that makes that and the function; None for what ran."""
        self.unsettled: list[tuple[Place, Value]] = []
        """Those of them that nobody can have called yet: what they work with may still be changed."""
        self.elements: set[int] = set()
        """The addresses of modules that are elements of a container of modules."""
        self.compiled = False
        """Whether a function under ``torch.compile`` runs: markers in it do nothing."""
        self.open: set[int] = set()
        """The objects whose class is only declared: it may be a subclass, with methods of its own."""
        self.stands_for: dict[int, int] = {}
        """For the address of an object that was constructed for its class, where that object is."""
        self.bound: dict[ir.Stmt, set[str]] = {}
        """The names that are bound on all paths on which a statement reads an output that needs no marker."""
        self.changed: set[int] = set()
        """The storages that something was written to: a tensor of constants may require grad after that."""
        self.handed: set[int] = set()
        """The storages that regions were handed: an output may share them."""
        self.contexts: dict[ir.Function, set[bool]] = {}
        """For each function, whether it was run where its reads count (False: inert or guarded)."""
        self.way: tuple[Step, ...] = ()
        """The calls that led to the checkpoint around the function that runs, if those ended before."""
        self.analysed: SourceFile | None = None
        """The file under analysis."""
        self.applies_checkpoints = False
        """Whether that file may apply checkpoints."""
        self.makers: set[ir.Function] = set()
        """The roots whose runs made modules with weights, outside every checkpoint in view."""
        self.root: ir.Function | None = None
        """The function whose run as a root is under way."""
        self.picked: set[int] = set()
        """The origins of modules that were picked out of a model by walking over it."""
        self.calling: dict[ir.Function, set[ir.Function]] = {}
        """For each function, the roots whose runs called it where its reads count."""
        self.pure: set[tuple[str, int]] = set()
        """Calls that have no effect but their result, by file and node."""
        self.closures: dict[int, int] = {}
        """For each frame that a function or class was defined in, the frame around it."""
        self.kept_frames: dict[int, dict[str, Value]] = {}
        """The names of frames that ended before any root began: factories of functions, ``__init__``."""
        self.deeds = Deeds()
        """What the running call did so far beside computing its result."""
        self.holders: dict[int, Held] = {}
        """For the number of something that was fetched from an object, where in which object it lay."""
        self.steady: set[int] = set()
        """The numbers of what is made of constants, sizes and what objects hold: equal each time."""
        self.learned: set[int] = set()
        """The numbers of what is made of parameters, and else of such: equal until the next step."""
        self.tensors: set[int] = set()
        """The numbers of unknown values that operations take for tensors."""
        self.tallies: set[int] = set()
        """The numbers of counters of the standard library, which add up what they are updated with."""
        self.aliases: dict[int, int] = {}
        """For the number of what a cast gave, that of what it was given: it may have handed that on."""
        self.rebuilt: dict[int, int] = {}
        """For the number of a module like one that was made before, the number at which it was made again."""
        self.backwards = 0
        """How often backward has run."""
        self.made_by: dict[int, ir.Stmt | None] = {}
        """For objects of classes of the project, the statement that made them first."""
        self.shared: set[int] = set()
        """The addresses of what was made once and then handed to the constructors of several objects."""
        self.several: set[int] = set()
        """The addresses of objects that the code makes more than once, each time another one."""
        self.filled: dict[Held, tuple[str, Written, Place]] = {}
        """What a body made and its saved regions changed: how that is called there, what it is, and where."""
        self.unguarded: set[Place] = set()
        """The statements that compute something that matters: none of them may run in one phase only."""
        self.going_on = 0
        """How many modules are under way that hand their results to others, as in ``nn.Sequential``."""
        self.every_module = 0
        """The address of an object that has the hooks of all modules, 0 before anybody registers one."""
        self.muted = 0
        """How many values are under way of which nobody knows whether a path has them."""
        self.outside = Ranges()
        """The numbers of what was made outside the run: by modules, for declared classes."""
        self.given_until = 0
        """The last number of what the root was given; what has a higher one was made in the run."""
        self.bodies: list[Body] = []
        """The checkpoints under way, by what they run."""
        self.callees: dict[ir.Function, dict[ir.Function, Place]] = {}
        """The functions that each function calls, and where they are defined."""
        self.replayed_since = 0
        """The last number of what was there when the innermost checkpoint under way began."""
        self.given_away: set[int] = set()
        """The addresses of what was stored or given to a function: others may change it."""
        self.opened: dict[int, Moves] = {}
        """For the number of a context manager that is a generator, what state holds while it waits."""
        self.replaying = 0
        """How many checkpoints and regions are under way: what they run is looked into wherever it is."""
        self.cut_short = False
        """Whether a call under the guard that runs was not run, so that the phases cannot be compared."""
        self.recipes: dict[object, int] = {}
        """Numbers for the ways in which things are made, so that equal ones are one."""
        self.calls_under_way = 0
        """How many calls are run inside each other, for whatever frame."""
        self.outer_writes = 0
        """In-place writes to outputs that a callee was handed: reported where they were handed over."""
        self._serial = 0
        self._steps = 0
        self._file_steps = 0
        self.steps = 0
        """Statements run so far, whatever for: the measure of the work."""

    def fresh(self) -> int:
        """A number that was never used before: for frames, heap addresses, storages and tokens."""
        self._serial += 1
        return self._serial

    def spend(self, state: State) -> None:
        """Pay for a statement on one path: the more outputs the path knows of, the more work it is."""
        price = 1 + len(state.born) // OUTPUTS_PER_STEP
        self._steps += price
        self._file_steps += price
        self.steps += price
        if self._steps > MAX_STEPS or self._file_steps > MAX_FILE_STEPS:
            raise BudgetSpent

    def has_steps_to_compare(self) -> bool:
        """Whether there is budget left to run each call of both phases, so as to compare what they do."""
        return self._steps < MAX_STEPS // COMPARING

    def reset_budget(self) -> None:
        """Begin another root."""
        self._steps = 0

    @contextmanager
    def own_budget(self) -> Iterator[None]:
        """Something that is worked out once, for whichever root asks first, does not cost that root."""
        before, self._steps = self._steps, 0
        try:
            yield
        finally:
            self._steps = before

    def place(self, node: ir.Node) -> Place:
        return Place(self.frame.scope.source.path, node.at)

    def text(self, node: ir.Node) -> str:
        """The source text of a node of the running function, on one line."""
        return " ".join(self.frame.scope.source.code(node.at).split())

    def called(self, node: ir.Node) -> str:
        """The source text of what a call calls; of the whole node where that is no call."""
        return self.text(node.function) if isinstance(node, ir.Call) else self.text(node)

    def as_written(self, operand: Operand) -> str:
        """How a message calls an argument."""
        return f"`{self.text(operand.expr)}`" if operand.expr is not None else "something else"

    def give_up(self, node: ir.Node, reason: str) -> None:
        self.journal.note(GivenUp(self.place(node), reason))

    def active_frames(self) -> Iterator[Frame]:
        """The running frame, then the one that called it, up to the root."""
        frame: Frame | None = self.frame
        while frame is not None:
            yield frame
            frame = frame.parent

    def calls_since(self, depth: int) -> tuple[Step, ...]:
        """The calls under way that a frame of this depth leads to, outermost first."""
        frames = [frame for frame in self.active_frames() if frame.depth > depth and frame.parent is not None]
        return tuple(
            Step(Place(frame.parent.scope.source.path, frame.call.at), f"{frame_name(frame)} is called here")
            for frame in reversed(frames)
            if frame.parent is not None and frame.call is not None
        )

    def note_legacy(self, node: ir.Node, name: str) -> None:
        """Code uses a name of torch_remat before 0.2, and does not look first whether it is there."""
        if name in LEGACY and not self.probing:
            statement = self.frame.statement.at if self.frame.statement is not None else node.at
            self.journal.note(LegacyName(self.place(node), name, LEGACY[name], statement))

    def note_aware(self) -> None:
        """The running function knows of torch_remat's regions."""
        if self.frame.function is not None:
            self.journal.aware.add(self.frame.function)

    def reject(self, fact: Rejection) -> None:
        """Note what torch_remat rejects under a checkpoint, and only there; compiled it rejects nothing."""
        if self.swallowing or self.compiled:
            return
        if self.checkpoints:
            self.journal.note(fact)
        else:
            self.journal.note_in_body(fact)

    def is_inert(self) -> bool:
        """Whether a SAVE region runs: regions and markers inside it do nothing."""
        return any(region.kept is Kept.SAVE for region in self.regions)

    # --- heap

    def allocate(self, state: State, found: HeapObject) -> Reference:
        address = self.fresh()
        state.heap[address] = found
        return Reference(address)

    def object_at(self, state: State, reference: Reference) -> HeapObject | None:
        found = state.heap.get(reference.address)
        if found is not None:
            return found
        for scope in self.scopes.values():
            if reference.address in scope.heap:
                return scope.heap[reference.address]
        return None

    # --- entries into the layers above

    def evaluate(self, expr: ir.Expr, state: State) -> Value:
        raise NotImplementedError

    def call(self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]) -> Value:
        raise NotImplementedError

    def run_block(self, statements: Sequence[ir.Stmt], states: list[State]) -> Flow:
        raise NotImplementedError

    def condition_key(self, test: ir.Expr) -> tuple[str, bool]:
        raise NotImplementedError

    def mro(self, klass: Value) -> list[Value]:
        raise NotImplementedError

    def attribute_of(self, state: State, node: ir.Expr, base: Value, name: str) -> Value:
        raise NotImplementedError

    def is_kept_to_itself(self, address: int) -> bool:
        """Whether the running call made what lies here, and nothing else was given it."""
        return address > self.frame.id and address not in self.given_away

    def read_truth(self, state: State, node: ir.Node, operand: Operand) -> None:
        raise NotImplementedError

    def annotated(self, annotation: ir.Expr | None, state: State) -> Value:
        raise NotImplementedError


@dataclass(slots=True)
class Flow:
    """Where the paths that entered a block went."""

    fell: list[State] = field(default_factory=list)
    """Past its end."""

    returned: list[tuple[State, Value]] = field(default_factory=list)
    broke: list[State] = field(default_factory=list)
    continued: list[State] = field(default_factory=list)
    raised: list[State] = field(default_factory=list)

    def ends(self) -> Iterator[State]:
        """The paths, whichever way they went."""
        yield from (*self.fell, *self.broke, *self.continued, *self.raised)
        yield from (path for path, _ in self.returned)

    def add(self, other: Flow) -> None:
        """Take over all ways out of a block but falling past its end."""
        self.returned += other.returned
        self.broke += other.broke
        self.continued += other.continued
        self.raised += other.raised


def frame_name(frame: Frame) -> str:
    """How a message calls the function that a frame runs: ``Attention.forward``."""
    function = frame.function
    if function is None:
        return "the module"
    if function.is_lambda:
        return "the lambda"
    return f"{frame.owner.definition.name}.{function.name}" if frame.owner is not None else function.name


def qualified(value: Value) -> str:
    """The dotted name of something outside the project, or an empty string."""
    return value.name if isinstance(value, External) else ""


def in_forward_only(state: State) -> bool:
    return state.phase is Phase.FORWARD


def is_override(frame: Frame) -> bool:
    """Whether a frame runs a method that its caller, a method of a base class, has as another one."""
    caller = frame.parent
    if caller is None or caller.owner is None or frame.owner is None or frame.receiver != caller.receiver:
        return False
    return frame.owner is not caller.owner and caller.owner in _ancestors(frame.owner)


@lru_cache(maxsize=256)
def _ancestors(klass: ClassValue) -> frozenset[ClassValue]:
    found: dict[ClassValue, None] = {}
    queue = [klass]
    while queue:
        for base in queue.pop().bases:
            if isinstance(base, ClassValue) and base not in found:
                found[base] = None
                queue.append(base)
    return frozenset(found)
