"""What the analyser knows on one path of the program: names, heap, and which outputs are persisted.

A ``State`` is one path. States that agree in everything that concerns region outputs are joined
into one; states that differ are kept apart (a marker under ``if flag`` serves the read under the
next ``if flag``) until there are too many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from remat_lint.analysis import ir
from remat_lint.analysis.awaited import NOTHING_AWAITED, Awaiting, either_awaiting
from remat_lint.analysis.facts import Kept
from remat_lint.analysis.moves import Moves, either
from remat_lint.analysis.values import (
    HeapObject,
    ListObject,
    Reference,
    RegionName,
    Restored,
    Seeded,
    Tensor,
    Token,
    Unknown,
    Value,
    contents,
    holds_object,
    in_phases,
    join,
    join_objects,
    own_tokens,
    parts,
    settled,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Held
from remat_lint.findings import MarkTarget, Place, Step

MAX_PATHS = 12
"""More paths than this at one point are joined, whatever they differ in."""


MAX_CLAIMS = 8
"""Uses of one region name, under different conditions, that a path remembers."""


SELDOM = 2.0**-10
"""The part of the runs in which something goes wrong that a handler takes care of."""


class Phase(Enum):
    """In which executions of a checkpointed body a path runs."""

    BOTH = 0
    FORWARD = 1
    """Under ``if not remat.is_recomputing()``: markers count, reads see real data."""

    REPLAY = 2
    """Under ``if remat.is_recomputing()``: markers do nothing."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A read that no marker served so far: where, in which statement of which function, and of what."""

    place: Place
    statement: ir.Stmt | None
    function: ir.Function | None
    operation: str
    name: str
    target: MarkTarget | None
    certain: bool
    obstacle: str = ""
    """Why no marker can be written for it, where that is known already."""

    steps: tuple[Step, ...] = field(default=(), compare=False)
    """The views and calls through which the output came, outermost call last."""

    names: tuple[str, ...] = field(default=(), compare=False)
    """All names for it on the path: another path to the same read may know it by another one."""

    def __hash__(self) -> int:  # the same statement reads few outputs
        return hash((self.statement, self.name))


@dataclass(frozen=True, slots=True)
class Hidden:
    """A region that may be replayed reads a token that is not among its arguments."""

    place: Place
    region: str
    kept: Kept
    name: str
    way: str
    steps: tuple[Step, ...] = field(default=(), compare=False)
    """The views and calls through which it came."""


Pending = Consumer | Hidden

Chain = tuple[tuple[int, ir.Stmt], ...]
"""Where a read happens: the statement under way in each frame, the innermost first; empty for elsewhere."""


@dataclass(frozen=True, slots=True)
class MarkerRun:
    """One execution of one argument of a marker, on region outputs.

    ``late`` is the consumer that had read one of them before, None where there was none. ``again``
    says that something had persisted them already.
    """

    serial: int
    place: Place
    index: int
    argument: str
    frame: int
    function: ir.Function | None
    statement: ir.Stmt | None
    tokens: frozenset[Token]
    is_named: bool = True
    """Whether the argument is a name or part of one: taking it out takes nothing else away."""
    late: tuple[Token, Consumer] | None = None
    again: bool = False


Condition = tuple[str, bool]
"""The text of a condition, without the frame that it belongs to, and its truth."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a frame came to a region: at the region's call, or at one that led ``on`` to it.

    ``call`` tells the executions of that call apart. What follows is shared by all of them, and by all
    callers of its function.
    """

    frame: int
    place: Place
    call: int = 0
    on: Way | None = None

    def steps(self) -> list[tuple[tuple[int, int], Place]]:
        """What tells the frames on the way apart, and the place in each; the region's call comes last."""
        steps, way, call = [((0, self.frame), self.place)], self, 0
        while way.on is not None:
            call, way = way.call, way.on
            steps.append(((call, way.frame), way.place))
        return steps


@dataclass(frozen=True, slots=True)
class Claim:
    """A region ran under this name in the checkpointed body that runs now.

    ``name`` begins with the name scopes that were entered in the frame that knows of it, or further in.
    ``conditions`` are the truths of the path.
    """

    name: RegionName
    way: Way
    conditions: frozenset[Condition]

    def excludes(self, other: Claim) -> bool:
        """Whether no path can run both: a condition holds for one and not for the other."""
        return any((text, not truth) in other.conditions for text, truth in self.conditions)

    def covers(self, later: Claim) -> bool:
        """Whether every path that runs the later one runs this one as well."""
        return self.conditions <= later.conditions

    def seen_after(self, first: Claim) -> tuple[Place, Place]:
        """The places of this use of the name and of the first one, as one function sees them.

        That is the region's call, or, where the same call ran both times, what led to it again.
        """
        first_way, way = first.way.steps(), self.way.steps()
        pairs = list(zip(first_way, way, strict=False))
        same = next((index for index, (one, other) in enumerate(pairs) if one != other), len(pairs))
        runs_again = len(first_way) == len(way) == same
        if runs_again or (same < len(pairs) and pairs[same][0][0] != pairs[same][1][0]):
            place = pairs[same - 1][1][1]
            return place, place
        one, other = pairs[min(same, len(pairs) - 1)]
        first_region, region = first_way[-1][1], way[-1][1]
        if region != first_region and region.path == other[1].path:
            return region, first_region
        return other[1], one[1]


@dataclass(frozen=True, slots=True)
class Keeping:
    """An operation that keeps tensors for backward, in one phase; ``made`` tells what it computes."""

    made: int
    name: str
    place: Place = field(compare=False)
    way: tuple[Step, ...] = field(compare=False)
    """The calls that led there, outermost first."""
    certain: bool = field(compare=False)


@dataclass(frozen=True, slots=True)
class Cause:
    """What is something else on replay: ``what``, as written, where that is decided, and the way there.

    ``number`` is that of what the forward alone changed: the replay of what began later finds it so. It is 0
    where the running call made that, or the replay changes something.
    """

    what: str
    place: Place
    way: tuple[Step, ...]
    number: int = 0
    alike: frozenset[object] = frozenset()
    """Where the elements of a container lie that are the same in both phases."""


@dataclass(frozen=True, slots=True)
class Change:
    """State was set or changed on a path of one phase; ``made`` tells to what."""

    made: int
    cause: Cause = field(compare=False)


class State:
    """One path. Cheap to fork: what is shared is copied on the first write."""

    __slots__ = (
        "_owned",
        "always",
        "assumed",
        "awaiting",
        "born",
        "changed",
        "chosen",
        "claimed",
        "declared",
        "frames",
        "heap",
        "keeping",
        "made",
        "marked",
        "modes",
        "moves",
        "parted",
        "partly",
        "pending",
        "phase",
        "readers",
        "restored",
        "runs",
        "seeded",
        "variables",
        "weight",
    )

    def __init__(self) -> None:
        self.frames: dict[int, dict[str, Value]] = {}
        self.heap: dict[int, HeapObject] = {}
        self.marked: frozenset[Token] = frozenset()
        self.pending: dict[Token, tuple[Pending, ...]] = {}
        self.born: dict[Token, int] = {}
        """The tokens of this path, with the depth of the outermost frame that each has reached."""
        self.assumed: dict[str, bool] = {}
        """Conditions known on this path, by their text."""
        self.chosen: dict[ir.Expr, bool] = {}
        """Conditions about the surroundings, which no code in view decides, and the way taken there."""
        self.claimed: dict[str, tuple[Claim, ...]] = {}
        """The region names that this checkpointed body has used so far, by their identity."""
        self.variables: frozenset[str] = frozenset()
        """What any of these names depends on, or did."""
        self.phase = Phase.BOTH
        self.declared: frozenset[object] = frozenset()
        """The regions that ran on every way to this point, for whoever lists them."""
        self.runs: dict[int, MarkerRun] = {}
        """The markers that ran on region outputs, by serial number."""
        self.readers: dict[Token, frozenset[Chain]] = {}
        """The bare reads of each output, marked or not; something that escapes is read elsewhere."""
        self.partly: frozenset[Token] = frozenset()
        """The outputs that wait for a marker on some of the paths only that were joined into this one."""
        self.always: frozenset[Token] = frozenset()
        """The outputs that are read on every path that was joined into this one."""
        self.seeded: Seeded = frozenset()
        """The random states that the replayed code has set by now: a replay draws the same from them."""
        self.restored: frozenset[Restored] = frozenset()
        """The random states that a hook has set to copies of them, with nothing done to them since."""
        self.keeping: tuple[Keeping, ...] = ()
        """The operations that kept tensors since the path is one of one phase."""
        self.made: dict[int, int] = {}
        """For the number of what was made since then, how it was made."""
        self.changed: dict[Held, Change] = {}
        """What was there when the path became one of one phase, and was set or changed since then."""
        self.parted = 0
        """The last number of what was there at that time."""
        self.modes = 0
        """The last change of a module between training and evaluation."""
        self.weight = 1.0
        """The part of the runs of the call under way that take this path: all, or, in this program, none."""
        self.moves: Moves = {}
        """Where the state has gone that the running call wrote."""
        self.awaiting: Awaiting = NOTHING_AWAITED
        """The state that replays to come look at."""
        self._owned: set[int] = set()

    def fork(self) -> State:
        other = State()
        other.frames = dict(self.frames)
        other.heap = dict(self.heap)
        other.marked = self.marked
        other.pending = dict(self.pending)
        other.born = dict(self.born)
        other.assumed, other.chosen = dict(self.assumed), dict(self.chosen)
        other.claimed, other.variables = dict(self.claimed), self.variables
        other.phase, other.keeping = self.phase, self.keeping
        other.made = dict(self.made)
        other.changed, other.parted = dict(self.changed), self.parted
        other.declared = self.declared
        other.runs = dict(self.runs)
        other.readers = dict(self.readers)
        other.always, other.partly = self.always, self.partly
        other.weight = self.weight
        other.seeded, other.modes, other.moves = self.seeded, self.modes, self.moves
        other.restored, other.awaiting = self.restored, self.awaiting
        self._owned = set()
        return other

    def end_phase(self) -> None:
        """From here on the path is one of both phases."""
        self.phase, self.keeping, self.made, self.changed = Phase.BOTH, (), {}, {}

    def split(self, part: float) -> State:
        """Another path, which takes this part of the runs from here."""
        other = self.fork()
        other.weight = self.weight * part
        self.weight -= other.weight
        return other

    def become(self, other: State) -> None:
        """Take over what another path knows."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))
        self._owned = set()

    def list_at(self, value: Value) -> SequenceValue | ListObject | None:
        """The tuple that a value is, or the list that this path made; None for anything else."""
        found = self.heap.get(value.address) if isinstance(value, Reference) else value
        return found if isinstance(found, (SequenceValue, ListObject)) else None

    # --- names

    def bind(self, frame: int, name: str, value: Value) -> None:
        if frame not in self._owned:
            self.frames[frame] = dict(self.frames.get(frame, {}))
            self._owned.add(frame)
        self.frames[frame][name] = value
        self.forget(f"{frame}:", name)

    def unbind(self, frame: int, name: str) -> None:
        if name in self.frames.get(frame, {}):
            self.bind(frame, name, Unknown())
            del self.frames[frame][name]

    def forget(self, prefix: str, word: str) -> None:
        """Drop the conditions and region names that mention a name or attribute which is written now."""
        if self.claimed:
            self._forget_claims(f"{prefix or '.'}{word}")
        if self.assumed:
            stale = [key for key in self.assumed if key.startswith(prefix) and word in _words(key)]
            for key in stale:
                del self.assumed[key]

    # --- region names

    def claim(self, claim: Claim) -> None:
        """Remember a use of a name, unless one is known that meets every later use that this one meets."""
        known = self.claimed.get(claim.name.identity, ())
        if len(known) < MAX_CLAIMS and not any(one.covers(claim) for one in known):
            self.claimed[claim.name.identity] = (*known, claim)
            self.variables |= claim.name.variables

    def conditions(self) -> frozenset[Condition]:
        """What holds on this path, by the text of the conditions without their frame."""
        known = {(key.partition(":")[2], truth) for key, truth in self.assumed.items()}
        if self.phase is not Phase.BOTH:
            known.add(("is_recomputing()", self.phase is Phase.REPLAY))
        return frozenset(known)

    def _forget_claims(self, written: str) -> None:
        if written not in self.variables:
            return
        stale = [
            identity
            for identity, claims in self.claimed.items()
            if any(written in claim.name.variables for claim in claims)
        ]
        for identity in stale:
            del self.claimed[identity]

    # --- outputs

    def is_marked(self, token: Token) -> bool:
        return any(part in self.marked for part in token.lineage())

    def mark(self, token: Token) -> None:
        """A marker ran on the token's storage, or a RECOMPUTE region received it."""
        self.marked |= {token}
        for waiting in [t for t in self.pending if token in t.lineage()]:
            del self.pending[waiting]

    def need(self, token: Token, chain: Chain) -> None:
        """A bare operation reads the output, or it goes where the analyser cannot follow (no chain)."""
        self.readers[token] = self.readers.get(token, frozenset()) | {chain}
        self.always |= {token}

    def readers_of(self, tokens: Iterable[Token]) -> frozenset[Chain]:
        """The reads of these outputs, of what they are parts of, and of parts of them."""
        related = {part for token in tokens for part in token.lineage()}
        found = (chains for token, chains in self.readers.items() if not related.isdisjoint(token.lineage()))
        return frozenset(chain for chains in found for chain in chains)

    def tokens(self, value: Value) -> Iterator[Token]:
        """All tokens that a value holds, in containers and objects too."""
        links, seen = list(reversed(value.links())), set[int]()
        while links:
            link = links.pop()
            if isinstance(link, Token):
                yield link
            elif link not in seen:
                seen.add(link)
                found = self.heap.get(link)
                if found is not None:
                    links.extend(reversed(found.links()))

    def holds_tokens(self, value: Value) -> bool:
        """Whether there is any token in a value."""
        return any(True for _ in self.tokens(value)) if value.links() else False

    def leaves(self, value: Value) -> Iterator[Value]:
        """A value and all that it is made of, in containers and objects too; each object once."""
        waiting, seen = [value], set[int]()
        while waiting:
            one = waiting.pop()
            yield one
            waiting += reversed(parts(one))
            if isinstance(one, Reference) and one.address not in seen:
                seen.add(one.address)
                found = self.heap.get(one.address)
                waiting += reversed(list(contents(found))) if found is not None else ()

    def is_alive(self, token: Token) -> bool:
        """Whether a name or object still holds the output itself, or a view that autograd knows.

        torch_remat forgets an output whose only remaining aliases are detached (SEMANTICS 1.5).
        """
        seen: set[int] = set()
        return any(
            self._holds_attached(value, token, seen)
            for frame in self.frames.values()
            for value in frame.values()
        )

    def _holds_attached(self, value: Value, token: Token, seen: set[int]) -> bool:
        if isinstance(value, Tensor):
            return not value.detached and value.token is not None and token in value.token.lineage()
        inner = parts(value)
        if isinstance(value, Reference) and value.address not in seen:
            seen.add(value.address)
            found = self.heap.get(value.address)
            inner = tuple(contents(found)) if found is not None else ()
        return token in own_tokens(value) or any(self._holds_attached(part, token, seen) for part in inner)

    # --- joining

    def signature(self) -> object:
        """What must be equal for two paths to be joined without losing precision."""
        return (self.fates(), self.holders())

    def fates(self) -> object:
        """The part of the signature that is at hand: what has become of the outputs."""
        return (self.phase, self.marked, frozenset(self.pending.items())) if self.born else self.phase

    def holders(self) -> object:
        """The other part: the names and objects that hold outputs."""
        if not self.born:
            return None
        names = frozenset(
            (frame, name, value)
            for frame, variables in self.frames.items()
            for name, value in variables.items()
            if self.holds_tokens(value)
        )
        objects = frozenset(
            (address, found)
            for address, found in self.heap.items()
            if any(isinstance(link, Token) for link in found.links())
        )
        return (names, objects)


def _words(key: str) -> list[str]:
    return key.replace(".", " ").replace(":", " ").replace("(", " ").replace(")", " ").split()


def join_states(first: State, second: State) -> State:
    """The path that is either of two: persisted is what both persist, unserved is what either leaves so.

    A token that was born on one of them only is persisted if it is there.
    """
    joined = first.fork()
    joined.weight = first.weight + second.weight
    live = (
        first if first.weight and not second.weight else second if second.weight > first.weight == 0 else None
    )
    for frame, variables in second.frames.items():
        mine = joined.frames.get(frame)
        if mine is None:
            joined.frames[frame] = variables
        elif mine is not variables:
            joined.frames[frame] = {
                name: _either(frame, name, first, second, live)
                if name in mine and name in variables
                else mine.get(name, variables.get(name, Unknown()))
                for name in {**mine, **variables}
            }
    joined.heap = dict(first.heap)  # where joining the names has said which lists are left empty
    for address, found in second.heap.items():
        mine_found = joined.heap.get(address)
        if mine_found is not found:
            joined.heap[address] = found if mine_found is None else _join_at(first, mine_found, second, found)
    joined.marked = _in_both(first.marked, second.marked, first, second)
    joined.always = _in_both(first.always, second.always, first, second)
    joined.partly = (
        first.partly | second.partly | _waiting_on_one(first, second) | _waiting_on_one(second, first)
    )
    joined.runs |= second.runs
    for token, chains in second.readers.items():
        joined.readers[token] = chains | joined.readers.get(token, frozenset())
    for token, consumers in second.pending.items():
        joined.pending[token] = tuple(dict.fromkeys((*joined.pending.get(token, ()), *consumers)))
    for token, depth in second.born.items():
        joined.born[token] = min(depth, joined.born.get(token, depth))
    joined.variables |= second.variables
    for identity, claims in second.claimed.items():
        if joined.claimed.get(identity) is claims:
            continue
        both = dict.fromkeys((*joined.claimed.get(identity, ()), *claims))
        joined.claimed[identity] = tuple(both)[:MAX_CLAIMS]
    joined.assumed = {k: v for k, v in first.assumed.items() if second.assumed.get(k) is v}
    joined.chosen = {k: v for k, v in first.chosen.items() if second.chosen.get(k) is v}
    joined.phase = first.phase if first.phase is second.phase else Phase.BOTH
    joined.keeping = max(first.keeping, second.keeping, key=len)
    joined.made = {number: made for number, made in first.made.items() if second.made.get(number) == made}
    joined.changed = second.changed | first.changed
    joined.declared = first.declared & second.declared
    joined.seeded = first.seeded & second.seeded
    joined.restored = first.restored & second.restored
    joined.modes = max(first.modes, second.modes)
    joined.moves = either(first.moves, second.moves)
    if first.awaiting is not second.awaiting:
        joined.awaiting = _awaited_by(first, second)
    return joined


def _awaited_by(first: State, second: State) -> Awaiting:
    """What replays look at after either of two paths; what goes wrong now and then is no way to backward."""
    for one, other in ((first, second), (second, first)):
        if one.weight < other.weight * SELDOM * 2:
            return other.awaiting
    return either_awaiting(first.awaiting, second.awaiting)


def _either(frame: int, name: str, first: State, second: State, live: State | None) -> Value:
    """The value of a name on one of two paths, of which no run of this program may take the other."""
    joined = join_on_paths(first, first.frames[frame][name], second, second.frames[frame][name])
    return joined if live is None else settled(joined, (live.frames[frame][name],))


def join_on_paths(first: State, mine: Value, second: State, other: Value) -> Value:
    """The value that is one on a path, another one on another path; what a condition leaves empty says so."""
    one, two = first.list_at(mine), second.list_at(other)
    if mine == other or one is None or two is None or not _is_optional(first, one, second, two):
        return join(mine, other)
    return join(_left_empty(first, mine, one), _left_empty(second, other, two))


def _left_empty(path: State, value: Value, found: SequenceValue | ListObject) -> Value:
    if isinstance(value, SequenceValue):
        return value if value.items else replace(value, sure=0)
    if isinstance(value, Reference) and isinstance(found, ListObject) and not found.items:
        path.heap[value.address] = replace(found, sure=0)
    return value


def _join_at(first: State, mine: HeapObject, second: State, other: HeapObject) -> HeapObject:
    """The object that is one on a path, another one on another path."""
    joined = join_objects(mine, other)
    if not isinstance(mine, ListObject) or not isinstance(other, ListObject):
        return joined
    is_optional = _is_optional(first, mine, second, other)
    return replace(joined, sure=0) if is_optional and isinstance(joined, ListObject) else joined


def _is_optional(
    first: State, mine: SequenceValue | ListObject, second: State, other: SequenceValue | ListObject
) -> bool:
    """Whether a condition decides if there are objects in a list or tuple, or none.

    One that the program at hand decides has to leave them out; of others, only those about the surroundings
    count. What a loop fills has as many as it has turns.
    """
    if mine.rest is not None or other.rest is not None or bool(mine.items) is bool(other.items):
        return False
    empty, filled = (first, second) if other.items else (second, first)
    if not all(map(holds_object, mine.items or other.items)):
        return False
    if not empty.weight or not filled.weight:
        return empty.weight > filled.weight
    return any(filled.chosen.get(at, side) is not side for at, side in empty.chosen.items())


def _in_both(
    mine: frozenset[Token], others: frozenset[Token], first: State, second: State
) -> frozenset[Token]:
    """The tokens of which something holds on both paths, or on the only one that has them."""
    return frozenset(
        token
        for token in mine | others
        if (token in mine or token not in first.born) and (token in others or token not in second.born)
    )


def _waiting_on_one(first: State, second: State) -> frozenset[Token]:
    """The outputs that one path read without a marker, and the other did not read so far."""
    return frozenset(
        token
        for token in first.pending
        if token in second.born and token not in second.pending and not second.is_marked(token)
    )


def join_phases(forward: State, replay: State) -> State:
    """One execution seen in both phases: what the forward marked is real in the replay."""
    joined = join_states(forward, replay)
    for frame, variables in forward.frames.items():
        others = replay.frames.get(frame, variables)
        for name, value in variables.items() if others is not variables else ():
            phased = in_phases(value, others[name]) if name in others else None
            if phased is not None and value != others[name]:
                joined.frames[frame][name] = phased
    joined.weight = replay.weight
    joined.pending = dict(replay.pending)
    joined.readers, joined.always, joined.partly = dict(replay.readers), replay.always, replay.partly
    joined.marked = forward.marked | replay.marked
    for token in forward.marked:
        joined.mark(token)
    joined.end_phase()
    joined.declared = forward.declared
    return joined


def reunite(paths: list[State]) -> list[State]:
    """After a phase guard: the forward and the replay of one execution are one path again."""
    forward = [path for path in paths if path.phase is Phase.FORWARD]
    replay = [path for path in paths if path.phase is Phase.REPLAY]
    both = [path for path in paths if path.phase is Phase.BOTH]
    if not forward or not (replay or both):
        return paths
    first = join_all(forward)
    reunited = [join_phases(first, path) for path in replay]
    for path in both:  # the guard was only a part of the condition: the path may have skipped it
        joined = join_states(first, path)
        joined.weight = path.weight
        joined.end_phase()
        reunited.append(joined)
    return reunited


def join_all(states: Sequence[State]) -> State:
    joined = states[0]
    for state in states[1:]:
        joined = join_states(joined, state)
    return joined


def hand_over(paths: Sequence[State], others: Sequence[State]) -> None:
    """The runs that would take some paths take the others."""
    given = sum(path.weight for path in paths)
    for path in paths:
        path.weight = 0.0
    for path in others:
        path.weight += given / len(others)


def merge(states: Iterable[State]) -> list[State]:
    """The same paths, the equal ones joined, at most ``MAX_PATHS`` of them."""
    listed = list(states)
    if len(listed) < 2:
        return listed
    fates = [state.fates() for state in listed]
    alike = Counter(fates)
    groups: dict[object, State] = {}
    for state, fate in zip(listed, fates, strict=True):
        key = (fate, state.holders() if alike[fate] > 1 else None)
        known = groups.get(key)
        groups[key] = state if known is None else join_states(known, state)
    merged = list(groups.values())
    if len(merged) > MAX_PATHS:
        by_phase: dict[Phase, list[State]] = {}
        for state in merged:
            by_phase.setdefault(state.phase, []).append(state)
        merged = [join_all(group) for group in by_phase.values()]
    return merged
