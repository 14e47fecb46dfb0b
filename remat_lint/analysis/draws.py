"""Random states: what draws from them, sets them, copies them and puts them back.

A draw is a deed. One from a state that the replayed code itself has set by then is the same in every run;
which states those are belongs to the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from remat_lint.analysis import ir, random_names
from remat_lint.analysis.deeds import Draw
from remat_lint.analysis.facts import Decides, Device, Random, RandomKind
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.random_names import Does, Role
from remat_lint.analysis.reads import Reads
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.told import Known, decides, is_told
from remat_lint.analysis.unkept import Drawn
from remat_lint.analysis.values import (
    NONE,
    Choice,
    Constant,
    External,
    Fork,
    InstanceObject,
    Lent,
    Method,
    RandomState,
    Reference,
    Restored,
    Seeded,
    Snapshot,
    Source,
    Unknown,
    Value,
    alternatives,
)
from remat_lint.project import Project

_SYSTEM = Random(RandomKind.SYSTEM)
_DEVICE_MODULE = External("torch.cuda")
"""Any module of a device: they have the same functions."""


_SETTING = (Does.SEED, Does.SEED_OR_DRAW, Does.MAKE, Does.MAKE_OR_DRAW)
"""What sets a random state to what follows from a number."""


def _lent(state: State, key: RandomState) -> Iterator[Lent]:
    """Where a random state was taken from that is set on a path."""
    return (one for one in state.seeded if isinstance(one, Lent) and one[:2] == key)


@dataclass(frozen=True, slots=True)
class Turn:
    """What code does to a random state: it gives it one of the copies, seeds it, or draws from it."""

    key: RandomState
    does: Does
    when: int
    copies: tuple[Snapshot, ...] = ()
    """None where nobody knows what the state is given."""
    device: Device | None = None


def _drawn(role: Role, operands: Sequence[Operand]) -> Drawn | None:
    """What a draw gives, where it gives nothing that needs a gradient."""
    if role.is_tensor:
        return Drawn.NOISE
    is_number = role.is_number or (role.kind is RandomKind.NUMPY and not operands)
    return Drawn.NUMBER if is_number else None


def _is_scrambled_anew(operands: Sequence[Operand]) -> bool:
    """Whether ``SobolEngine(dimension, scramble, seed)`` scrambles with what torch draws for it."""
    given = dict(zip(("dimension", "scramble", "seed"), operands, strict=False))
    given |= {operand.keyword: operand for operand in operands if operand.keyword is not None}
    scramble, seed = (given[name].value if name in given else NONE for name in ("scramble", "seed"))
    return seed == NONE and isinstance(scramble, Constant) and bool(scramble.value)


class Draws(Reads):
    """Follows random states."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.body_began = 0
        """What has a higher number was made in the code that is replayed, while a checkpoint runs it."""
        self.turns: list[Turn] | None = None
        """What the method of a hook does to random states, while one runs."""
        self._told: Known = {}
        self.undone = False
        """Whether one of them was put back at once."""

    @contextmanager
    def on_replay(self, state: State) -> Iterator[None]:
        """Code runs that is replayed: what was set before it is not set again."""
        before, state.seeded = state.seeded, frozenset()
        weight, state.weight = state.weight, 1.0
        began, self.body_began = self.body_began, self.fresh()
        try:
            yield
        finally:
            self.body_began = began
            state.seeded |= before
            state.weight = weight

    def draw(
        self,
        state: State,
        node: ir.Expr,
        random: Random,
        operation: str,
        *,
        certain: bool = True,
        gives: Drawn | None = None,
    ) -> None:
        """``operation``, as written, draws from a random state; ``gives`` tells what, if it is that alone."""
        function, key = self.frame.function, (random.kind, random.number)
        self.note_turn(state, Turn(key, Does.DRAW, self.fresh()))
        draw = Draw(
            operation,
            random,
            seeded=key in state.seeded,
            unkept=gives is not None and self.is_unkept_here(node, gives),
            one_phase=state.phase is not Phase.BOTH,
            lent=frozenset(_lent(state, key)),
            told=function is not None and self._is_told(state, function, node),
            decides=function is not None and decides(function, node),
        )
        self.note_deed(state, node, draw, certain=certain)

    def _is_told(self, state: State, function: ir.Function, draw: ir.Expr) -> bool:
        return is_told(
            function,
            draw,
            lambda called: self.tells(state, called),
            lambda block: self.computes(state, block),
            self._told,
        )

    def tells(self, state: State, function: ir.Expr) -> bool:
        raise NotImplementedError

    def computes(self, state: State, body: Sequence[ir.Stmt], *, told: bool = False) -> bool:
        raise NotImplementedError

    def decide(self, state: State, node: ir.Node, value: Value, decides: Decides) -> None:
        raise NotImplementedError

    def skip_draws(self, state: State, before: Seeded) -> None:
        """What a region did to random states is left out of a replay, where that skips it."""
        drawn = {(d.act.random.kind, d.act.random.number) for d in self.deeds if isinstance(d.act, Draw)}
        state.seeded = frozenset(key for key in state.seeded & before if key[:2] not in drawn)

    def random_of(self, generator: Operand | None) -> tuple[Random, bool]:
        """The state that an operation with this ``generator`` draws from, and whether that is certain.

        What is not known may be none, and then it is torch's own.
        """
        if generator is None or generator.value == NONE:
            return Random(RandomKind.TORCH), True
        if isinstance(generator.value, External) and generator.value.name in random_names.DEFAULT_GENERATORS:
            return Random(RandomKind.TORCH), True
        for one in alternatives(generator.value):
            if isinstance(one, Source):
                return self._state_of_source(one, generator), not isinstance(generator.value, Choice)
        return Random(RandomKind.TORCH), False

    def _state_of_source(self, source: Source, written: Operand) -> Random:
        if source.of is not RandomKind.OBJECT:
            return Random(source.of)
        name = self.text(written.expr) if written.expr is not None else ""
        return Random(RandomKind.OBJECT, name, source.number)

    # --- calls

    def call_random(
        self, state: State, node: ir.Expr, role: Role, receiver: Operand | None, operands: Sequence[Operand]
    ) -> Value:
        """Call what does something to a random state: a function, or a method of a source."""
        self.read(state, node, operands, certain=False)
        source = receiver.value if receiver is not None else None
        random = Random(role.kind)
        if isinstance(source, Source) and receiver is not None and role.kind is RandomKind.OBJECT:
            random = self._state_of_source(source, receiver)
        key = (random.kind, random.number)
        asked = bool(operands) and self.as_set(state, operands[0].value) != NONE
        if asked and role.does in _SETTING:
            self._seed_with(state, node, operands[0])
        match role.does:
            case Does.DRAW:
                self.draw(state, node, random, self.called(node), gives=_drawn(role, operands))
            case Does.SEED | Does.SEED_OR_DRAW | Does.SCRAMBLE:
                if role.does is Does.SCRAMBLE or not (asked or role.does is Does.SEED):
                    self.draw(state, node, _SYSTEM, self.called(node))
                state.seeded |= {key}
                self.note_turn(state, Turn(key, Does.SEED, self.fresh()))
                return source if source is not None else Unknown()
            case Does.TAKE:
                return self._snapshot(state, key, role.device)
            case Does.GIVE:
                self.give_back(state, key, operands, role.device)
                return NONE
            case Does.MAKE | Does.MAKE_OR_DRAW:
                if role.does is Does.MAKE_OR_DRAW and not asked:
                    self.draw(state, node, _SYSTEM, self.called(node))
                return self._make_source(state, node, role, operands)
            case Does.FORK:
                off = any(o.keyword == "enabled" and o.value == Constant(False) for o in operands)
                return NONE if off else Fork(role.kind)
            case Does.MODULE:
                return _DEVICE_MODULE
        return Unknown(origin=self.fresh())

    def as_set(self, state: State, value: Value) -> Value | None:
        """What an attribute of an object that was made in view was set to; any other value as it is."""
        if not isinstance(value, Unknown) or value.origin not in self.holders:
            return value
        address, path = self.root_of(value.origin)
        name, found = path.strip(".[]"), self.object_at(state, Reference(address))
        if not isinstance(found, InstanceObject) or address in self.open:
            return value
        return found.get(name) or self.class_attribute(self.mro(found.klass), name)

    def class_attribute(self, order: Sequence[Value], name: str) -> Value | None:
        raise NotImplementedError

    def _seed_with(self, state: State, node: ir.Expr, seed: Operand) -> None:
        """What is drawn from now on follows from a number, and is as steady as that."""
        self.compute_with(state, self.frame.watch.mentioned(seed.expr))
        for part in state.leaves(seed.value):
            self.decide(state, node, part, Decides.SEED)

    def _make_source(self, state: State, node: ir.Expr, role: Role, operands: Sequence[Operand]) -> Source:
        """A source: one that is made of another one shares its state."""
        if role.source == random_names.SOBOL and _is_scrambled_anew(operands):
            self.draw(state, node, Random(RandomKind.TORCH), self.called(node))
        if role.kind is not RandomKind.OBJECT:
            return Source(role.source, role.kind)
        for operand in operands[:1]:
            if isinstance(operand.value, Source):
                return Source(role.source, RandomKind.OBJECT, operand.value.number)
        made = Source(role.source, RandomKind.OBJECT, self.fresh())
        state.seeded |= {(made.of, made.number)}
        return made

    def note_turn(self, state: State, turn: Turn) -> None:
        """Something is done to a random state, which is no longer as a hook has restored it."""
        if self.turns is not None:
            self.turns.append(turn)
            state.restored = frozenset(one for one in state.restored if one[:2] != turn.key)

    def give_back(
        self, state: State, key: RandomState, operands: Sequence[Operand], device: Device | None = None
    ) -> None:
        """A random state is set to what is given: where that was copied by the same code, to what it was."""
        copies = [leaf for o in operands for leaf in state.leaves(o.value) if isinstance(leaf, Snapshot)]
        if self.turns is not None:
            self.turns.append(Turn(key, Does.GIVE, self.fresh(), tuple(copies), device))
            state.restored |= {Restored(*key, device)}
        state.seeded = frozenset(one for one in state.seeded if one[:2] != key)
        began = max(self.body_began, self.given_until)
        if all(copy.seeded or copy.taken <= began for copy in copies):
            state.seeded |= {key, *(lent for o in operands for lent in self._lenders(key, o))}

    def _lenders(self, key: RandomState, copy: Operand) -> Iterator[Lent]:
        """The state of the project's own that a random state is set to."""
        for owner, path in self.frame.watch.mentioned(copy.expr):
            yield Lent(*key, owner, path, self.text(copy.expr) if copy.expr is not None else "")

    def _snapshot(self, state: State, key: RandomState, device: Device | None = None) -> Snapshot:
        is_seeded = key in state.seeded and not any(_lent(state, key))
        return Snapshot(*key, self.fresh(), is_seeded, device)

    def leave_fork(self, kind: RandomKind, since: int) -> None:
        """A context ends that puts back a random state: what was set in it is so no more."""
        inside = self.turns[since:] if self.turns is not None else []
        undone = [one for one in inside if one.key[0] is kind]
        if undone and self.turns is not None:
            self.turns[since:] = [one for one in inside if one not in undone]
        self.undone |= any(one.does in (Does.GIVE, Does.SEED) for one in undone)

    # --- attributes

    def attribute_of_source(self, state: State, source: Source, name: str) -> Value:
        """``generator.bit_generator`` and its ``state``, or a method."""
        key = (source.of, source.number)
        if source.kind == random_names.NUMPY_GENERATOR and name == random_names.BIT_GENERATOR:
            return Source(random_names.NUMPY_BITS, *key)
        if (source.kind, name) in random_names.STATES:
            return self._snapshot(state, key)
        return Method(source, name)

    def set_attribute_of_source(self, state: State, source: Source, name: str, value: Value) -> None:
        """``generator.bit_generator.state = value``."""
        if (source.kind, name) in random_names.STATES:
            self.give_back(state, (source.of, source.number), [Operand(value)])
