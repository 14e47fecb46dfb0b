"""What the two methods of a state hook do, as they were run and as they are written, and what is wrong then.

Comes in: a hook, and what its ``snapshot`` did, twice, and its ``restore`` after that, which was given what
the first ``snapshot`` returned. Goes out: the faults, each in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from remat_lint.analysis import ir
from remat_lint.analysis.draws import Turn
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import Device, RandomKind
from remat_lint.analysis.random_names import Does
from remat_lint.analysis.state_reads import Handled
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import (
    NONE,
    ClassValue,
    FunctionValue,
    RandomState,
    Restored,
    Snapshot,
    Value,
    alternatives,
)

Fault = tuple[str, str]
"""What is wrong with a hook, and what to write instead."""

_CONTEXTS = {"__enter__": ("__exit__",), "enter_context": ("close", "pop_all", "__exit__")}
"""What enters a context, and what leaves it."""

LIVE = (
    "returns from `snapshot` the state itself, which changes afterwards: `restore` finds it as it is by then",
    "Return a copy.",
)
ENTERED = (
    "enters a context that it never leaves, so that what this sets stays set after the step",
    "Set the state, and leave contexts to the code that is run.",
)
KEPT_IN_ITSELF = (
    "restores what its object holds, which the next `snapshot` has overwritten by then",
    "Return the state from `snapshot`, and set the state to what `restore` is given.",
)


_UNDONE = (
    "puts the state back as `restore` found it: nothing is restored when that ends",
    "Set the state to what `restore` is given, outside of any context that saves it.",
)
_STALE = (
    "returns from `snapshot` a state that was copied before, not as it is by then",
    "Copy the state in each `snapshot`.",
)
_MOVED = (
    "moves the state on in `snapshot` after it has copied it: the forward begins elsewhere than the replay",
    "Copy the state, and leave it as it is.",
)
_SPOILED = (
    "seeds the state, or draws from it, after it has restored it: the replay begins elsewhere",
    "Set the state last.",
)
_RESEEDED = (
    "seeds in `restore`, which does not set the state to what it was when `snapshot` was called",
    "Return the whole state from `snapshot`, and set the state to it.",
)
NOTHING = (
    "has a `restore` that sets no random state: what `snapshot` took is not restored",
    "Set the state to it.",
)
_LAZY = (
    "has a `snapshot` that is a generator: it runs, and takes the state, when `restore` asks for it",
    "Return the state.",
)
MAYBE_STALE = (
    "may return from `snapshot` a state that an earlier `snapshot` has copied, not as it is by then",
    "Copy the state in each `snapshot`.",
)
SOMETIMES = (
    "restores its state only where a condition holds",
    "Set the state in every case.",
)
_SEEDED = (
    "takes in `snapshot` a state that it has seeded itself, not the one that is drawn from",
    "Take the state as it is.",
)


_STATES = {
    RandomKind.TORCH: "torch",
    RandomKind.PYTHON: "Python's `random`",
    RandomKind.NUMPY: "`numpy.random`",
}
"""The states that have a form of their own, each by the name of whose it is."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that can be looked into."""

    klass: ClassValue
    address: int
    snapshot: Value | None
    restore: Value | None
    is_open: bool = False
    """Whether it may be of a subclass."""

    def functions(self) -> Iterator[ir.Function]:
        for method in (self.snapshot, self.restore):
            if isinstance(method, FunctionValue):
                yield method.definition


@dataclass(frozen=True, slots=True)
class Run:
    """A method of a hook has run."""

    value: Value
    """What it returned."""

    began: int
    """What was made in it has a higher number."""

    turns: Sequence[Turn]
    handled: Handled
    restored: frozenset[Restored]
    """What is restored at its end, on every path."""

    undone: bool
    """Whether a random state that it set was put back at once."""

    handed_on: bool
    """Whether it called what nobody sees."""

    def gives(self) -> Sequence[Turn]:
        """What it sets to a copy, or to what nobody knows."""
        return [turn for turn in self.turns if turn.does is Does.GIVE]

    def copies(self) -> Sequence[Snapshot]:
        """The copies that it sets something to."""
        return [copy for turn in self.gives() for copy in turn.copies]

    def seeds(self, key: RandomState) -> bool:
        """Whether it seeds a random state."""
        return any(turn.key == key and turn.does is Does.SEED for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Reading:
    """The methods of a hook have run: ``snapshot`` twice, then ``restore`` on what the first one returned.

    ``found`` is what that is made of, ``again`` what the second one returned is.
    """

    hook: Hook
    first: Run
    found: Sequence[Value]
    second: Run
    again: Sequence[Value]
    restore: Run

    def faults_of_turns(self) -> Iterator[Fault]:
        """Why the random states are not as they were: what the methods do to them."""
        copies, gives = self.restore.copies(), self.restore.gives()
        if _is_generator(self.hook.snapshot):
            yield _LAZY
        if (self.restore.undone and not gives) or any(copy.taken > self.restore.began for copy in copies):
            yield _UNDONE
        if any(copy.seeded for copy in copies):
            yield _SEEDED
        if any(map(self._is_stale, gives)):
            yield _STALE
        given = {turn.key for turn in gives if fits(turn)}
        for turn in gives:
            if turn.key not in given and (fault := _misfit(turn)) is not None:
                yield fault
        if any(self._is_moved(key) for key in given):
            yield _MOVED
        if self.is_straight() and any(self._is_spoiled(key) for key in given):
            yield _SPOILED
        seeded = {turn.key for turn in self.restore.turns if turn.does is Does.SEED}
        if not gives and any(not self.first.seeds(key) for key in seeded):
            yield _RESEEDED

    def _is_stale(self, turn: Turn) -> bool:
        """Whether what a state is set to is older than the ``snapshot`` that returns it."""
        taken = [one.taken for one in self.again if isinstance(one, Snapshot) and _is_of(one, turn.key)]
        return bool(taken) and max(taken) <= self.second.began

    def may_be_stale(self) -> bool:
        """Whether ``snapshot`` returns on some way what an earlier one took."""
        ways = [one for one in alternatives(self.second.value) if isinstance(one, Snapshot)]
        return any(one.taken <= self.second.began for one in ways)

    def _is_moved(self, key: RandomState) -> bool:
        """Whether ``snapshot`` goes on to change a state that it has copied."""
        taken = [one.taken for one in self.found if isinstance(one, Snapshot) and _is_of(one, key)]
        changes = [turn.when for turn in self.first.turns if turn.key == key]
        return bool(taken and changes) and max(taken) < max(changes)

    def _is_spoiled(self, key: RandomState) -> bool:
        """Whether something is done to a state after it was set."""
        turns = [turn.does for turn in self.restore.turns if turn.key == key]
        return turns[-1] is not Does.GIVE

    def is_straight(self) -> bool:
        """Whether ``restore`` goes one way only."""
        restore = self.hook.restore
        if not isinstance(restore, FunctionValue):
            return True
        return not any(isinstance(one, (ir.If, ir.Try, ir.Match)) for one in nested(restore.definition.body))

    def gives_own_copies(self) -> bool:
        """Whether every state is set to what the ``snapshot`` took that returned what is given."""
        return all(
            not turn.copies or any(one in self.found or one.taken <= self.second.began for one in turn.copies)
            for turn in self.restore.gives()
        )

    def restores_nothing(self) -> bool:
        """Whether a random state was copied, and none is set, nor anything that others may look at."""
        sets = {owner for owner, _ in self.restore.handled.set}
        is_taken = any(isinstance(one, Snapshot) for one in self.found)
        return is_taken and not (self.restore.turns or self.restore.handed_on or sets - {self.hook.address})

    def takes_nothing(self) -> bool:
        """Whether there is nothing to restore: ``snapshot`` gives nothing, and all that is done is seen."""
        runs = (self.first, self.restore)
        sets = {owner for run in runs for owner, _ in run.handled.set}
        seen = not any(run.turns or run.handed_on for run in runs)
        return seen and not sets - {self.hook.address} and list(self.found) == [NONE]

    def restores_sometimes(self) -> bool:
        """Whether a state is not set on a way through ``restore`` that ``snapshot`` knows nothing of.

        Nor is it where ``snapshot`` takes it on some ways only.

        Where there is no GPU, there is none to restore.
        """
        missed = (
            turn
            for turn in self.restore.gives()
            if turn.device is not Device.GPU and Restored(*turn.key, turn.device) not in self.restore.restored
        )
        is_optional = self.first.value != NONE and NONE in alternatives(self.first.value)
        return any(map(fits, missed)) and (is_optional or _asks_more(self.hook))


def fits(turn: Turn) -> bool:
    """Whether a state is set to a copy of itself."""
    return any(_is_of(copy, turn.key) for copy in turn.copies)


def _is_of(copy: Snapshot, key: RandomState) -> bool:
    return (copy.of, copy.number) == key


def _misfit(turn: Turn) -> Fault | None:
    """A state is given one of another form."""
    kinds = {copy.of for copy in turn.copies}
    kind, _ = turn.key
    if len(kinds) != 1 or kind in kinds or not {kind, *kinds} <= _STATES.keys():
        return None
    other = _STATES[kinds.pop()]
    return (
        f"gives {_STATES[kind]} the state of {other}, which that refuses: nothing is restored",
        f"Set the state of {other} to it.",
    )


def _is_generator(method: Value | None) -> bool:
    return isinstance(method, FunctionValue) and method.definition.is_generator


def _asks_more(hook: Hook) -> bool:
    """Whether ``restore`` has a condition about something that no condition of ``snapshot`` is about."""
    snapshot, restore = hook.snapshot, hook.restore
    if not isinstance(snapshot, FunctionValue) or not isinstance(restore, FunctionValue):
        return False
    known = {word for test in _tests(snapshot.definition) for word in _words(test)}
    if (name := state_name(restore)) is not None:
        known.add(name)
    return any(known.isdisjoint(_words(test)) for test in _tests(restore.definition))


def _tests(function: ir.Function) -> Iterator[ir.Expr]:
    """The conditions in a function."""
    yield from (one.test for one in nested(function.body) if isinstance(one, ir.If))
    yield from (one.test for one in _expressions(function) if isinstance(one, ir.Conditional))


def _words(expr: ir.Expr) -> Iterable[str]:
    """The last names of what an expression asks about."""
    for one, _ in evaluated((expr,)):
        if isinstance(one, ir.Attribute):
            yield one.name
        elif isinstance(one, ir.Name) and one.id != "self":
            yield one.id


def _expressions(function: ir.Function) -> Iterator[ir.Expr]:
    """All expressions of a function."""
    for statement in nested(function.body):
        deleted = statement.targets if isinstance(statement, ir.Delete) else ()
        yield from (expr for expr, _ in evaluated((*header(statement), *deleted)))


def state_name(restore: Value | None) -> str | None:
    """What ``restore`` calls the state that it is given; None where that cannot be told."""
    if not isinstance(restore, FunctionValue):
        return None
    given = restore.definition.parameters[restore.receiver is not None :]
    return given[0].name if given and given[0].kind == "positional" else None


def ignores_state(restore: Value | None) -> bool:
    name = state_name(restore)
    if name is None or not isinstance(restore, FunctionValue):
        return False
    if any(isinstance(statement, ir.FunctionDef) for statement in nested(restore.definition.body)):
        return False
    found = list(_expressions(restore.definition))
    return not any(isinstance(expr, ir.Lambda) or _mentions(expr, name) for expr in found)


def adds_state(restore: Value | None) -> bool:
    """``self.count += state`` and ``self.count = self.count + state``."""
    name = state_name(restore)
    if name is None or not isinstance(restore, FunctionValue):
        return False
    for statement in nested(restore.definition.body):
        match statement:
            case ir.AugAssign(value=value) if _mentions(value, name):
                return True
            case ir.Assign(targets=(ir.Attribute() as target,), value=ir.Binary(left=left, right=right)):
                operands = (left, right)
                if any(_mentions(o, name) for o in operands) and any(_is_same(o, target) for o in operands):
                    return True
            case _:
                continue
    return False


def _mentions(expr: ir.Expr, name: str) -> bool:
    return any(isinstance(one, ir.Name) and one.id == name for one, _ in evaluated((expr,)))


def _is_same(expr: ir.Expr, target: ir.Attribute) -> bool:
    """Whether an expression is the attribute of the same name of the same name."""
    match expr, target.base:
        case ir.Attribute(base=ir.Name(id=one), name=name), ir.Name(id=other):
            return (one, name) == (other, target.name)
        case _:
            return False


def stays_in_context(functions: Iterator[ir.Function]) -> bool:
    """Whether a context is entered that nothing leaves: no call does, nor a ``with`` around it."""
    names: set[str] = set()
    for function in functions:
        managed = {
            target.id
            for one in nested(function.body)
            if isinstance(one, ir.With)
            for _, target in one.items
            if isinstance(target, ir.Name)
        }
        names |= {
            e.name for e in _expressions(function) if isinstance(e, ir.Attribute) and not _is_in(e, managed)
        }
    return any(enters in names and names.isdisjoint(leaves) for enters, leaves in _CONTEXTS.items())


def _is_in(attribute: ir.Attribute, names: set[str]) -> bool:
    return isinstance(attribute.base, ir.Name) and attribute.base.id in names
