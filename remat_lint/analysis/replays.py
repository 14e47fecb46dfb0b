"""What code does beside computing its result, and what of that a replay does again.

Deeds are noted wherever they happen, outside checkpoints too: a callee does not know who replays it. What
was made in a call is its own business: a write to it is forgotten when the call ends. A checkpoint judges
what its function did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import (
    FOREIGN,
    Act,
    Deed,
    Deeds,
    Diverge,
    Draw,
    Send,
    Sway,
    Touch,
    Write,
)
from remat_lint.analysis.facts import (
    Collective,
    DivergentReplay,
    ExternalEffect,
    Inside,
    Kept,
    RandomDraw,
    RandomKind,
    Reached,
    Replayed,
    Replayer,
    ReplayFact,
    StateWrite,
    UnstableInput,
)
from remat_lint.analysis.journal import others
from remat_lint.analysis.machine import Frame, Machine, Operand, frame_name
from remat_lint.analysis.state import Phase, RandomState, State
from remat_lint.analysis.values import (
    ClassValue,
    Coverage,
    External,
    FunctionValue,
    ModuleValue,
    Reference,
    Tensor,
    Unknown,
    Value,
    alternatives,
    numbers,
    parts,
)
from remat_lint.findings import Place, Step


@dataclass(frozen=True, slots=True)
class Replay:
    """A checkpoint that runs a function again: where, and what it restores before."""

    by: Replayer
    place: Place
    coverage: Coverage
    certain: bool = True
    assumed: Place | None = None


class Replays(Machine):
    """Notes deeds and judges them."""

    # --- noting

    def note_deed(self, state: State, node: ir.Node, act: Act, *, certain: bool = True) -> None:
        """The code at ``node`` does something beside its result. In one phase only it is no repetition."""
        self.note_deed_at(state, self.place(node), act, certain=certain)

    def note_deed_at(self, state: State, place: Place, act: Act, *, certain: bool = True) -> None:
        if state.phase is Phase.BOTH:
            self.deeds.note(Deed(act, place, certain=certain))

    def note_write(self, state: State, node: ir.Node, write: Write) -> None:
        """A write, if it is known to what; what was made in the running call is nobody else's state."""
        if write.number and self.is_foreign(write.number, self.frame.id):
            self.note_deed(state, node, write)

    # --- whose state it is

    def number_of(self, value: Value) -> int:
        """The number of what a write to a value changes, 0 where nobody knows."""
        found = {self._number(one) for one in alternatives(value)}
        return found.pop() if len(found) == 1 else 0

    def _number(self, value: Value) -> int:
        match value:
            case Reference(address=number) | Tensor(storage=number) | Unknown(origin=number):
                return number
            case External() | ClassValue() | ModuleValue():
                return FOREIGN
            case _:
                return 0

    def fetched(self, value: Value, holder: Value) -> Value:
        """What was fetched from an object of unknown contents is as much of the call's own as the object."""
        if not isinstance(value, (Unknown, Tensor)) or self._number(value):
            return value
        around = self.number_of(holder)
        if not around:
            return value
        number = self.fresh()
        self.holders[number] = around
        if isinstance(value, Unknown):
            return replace(value, origin=number)
        return replace(value, storage=number)

    def is_foreign(self, number: int, frame: int) -> bool:
        """Whether what has this number was there before the call that runs in a frame."""
        while number in self.holders:
            number = self.holders[number]
        return number <= max(frame, self.given_until) or number in self.outside

    # --- calls and regions

    def end_call(self, node: ir.Expr, frame: Frame, deeds: Deeds) -> None:
        """A callee's deeds are the caller's, but for what it did to objects of its own."""
        if not deeds:
            return
        step = Step(self.place(node), f"{frame_name(frame)} is called here")
        for deed in deeds.through(step):
            self.deeds.note(deed)

    @contextmanager
    def deeds_apart(self) -> Iterator[Deeds]:
        """What is done here, by itself; the running call did it all the same."""
        around, self.deeds = self.deeds, Deeds()
        apart = self.deeds
        try:
            yield apart
        finally:
            self.deeds = around
            for deed in apart:
                around.note(deed)

    def repeat_call(self, node: ir.Expr, deeds: Deeds) -> None:
        """The same call is made at another place: what it did is done again."""
        here = self.place(node)
        for deed in deeds:
            first = tuple(replace(step, place=here) for step in deed.steps[:1])
            place = deed.place if deed.steps else here
            self.deeds.note(replace(deed, place=place, steps=(*first, *deed.steps[1:])))

    def own_deeds(self, frame: Frame, deeds: Deeds) -> Deeds:
        """What a call did to others: nobody sees what it did to objects that it made."""
        return Deeds(one for deed in deeds if (one := self._seen_outside(deed, frame.id)) is not None)

    def _seen_outside(self, deed: Deed, frame: int) -> Deed | None:
        """A deed of the call that runs in a frame, as its caller sees it."""
        match deed.act:
            case Write(number=number) if not self.is_foreign(number, frame):
                return None
            case Touch(number=number) if number and not self.is_foreign(number, frame):
                return None
            case Sway(number=number) as sway if number and not self.is_foreign(number, frame):
                return replace(deed, act=replace(sway, number=0))
            case _:
                return deed

    def deeds_for(self, deeds: Deeds, before: Sequence[int], operands: Sequence[Operand]) -> Deeds:
        """The deeds of a call like this one, done to the objects that this one is handed."""
        translation = _translation(before, operands)

        def translated(number: int) -> int:
            while number not in translation and number in self.holders:
                number = self.holders[number]
            return translation.get(number, number)

        return Deeds(deeds.renumbered(translated))

    def seeds_for(
        self, seeded: frozenset[RandomState], before: Sequence[int], operands: Sequence[Operand]
    ) -> frozenset[RandomState]:
        """The random states that a call like this one leaves set, of the objects that this one is handed."""
        translation = _translation(before, operands)
        return frozenset((kind, number and translation.get(number, number)) for kind, number in seeded)

    @contextmanager
    def replay_of(self, region: Inside) -> Iterator[None]:
        """A region runs: whether what it does is done again is the region's business."""
        around, self.deeds = self.deeds, Deeds()
        self.replaying += 1
        try:
            yield
        finally:
            self.replaying -= 1
            for deed in self.deeds.within(region):
                around.note(deed)
            self.deeds = around

    # --- judging

    @contextmanager
    def judged_for(self, replay: Replay, function: Value | None) -> Iterator[None]:
        """A checkpoint runs a function: what that does is done again, by checkpoints around it as well."""
        around, self.deeds = self.deeds, Deeds()
        self.replaying += 1
        before = self.fresh()
        try:
            yield
        finally:
            self.replaying -= 1
            self.note_reached(function)
            self.judge_deeds(replay, Deeds(deed for deed in self.deeds if not _is_settled(deed, before)))
            for deed in self.deeds:
                around.note(deed)
            self.deeds = around

    def judge_deeds(self, replay: Replay, deeds: Deeds) -> None:
        """A checkpoint runs again what did this: note what it does again."""
        read: set[Place] = set()
        for deed in deeds:
            if isinstance(deed.act, Sway):
                if deed.act.read in read:
                    continue  # the first thing that it decides speaks for the others
                read.add(deed.act.read)
            for fact in self._replayed(replay, deed):
                self.journal.note(fact)

    def note_reached(self, function: Value | None) -> None:
        """A function of the project runs under a checkpoint that is in view."""
        for one in (function, *parts(function)) if function is not None else ():
            if isinstance(one, FunctionValue):
                self.journal.note(Reached(Place(one.scope.source.path, one.definition.at)))

    def _replayed(self, replay: Replay, deed: Deed) -> Iterator[ReplayFact]:
        chain = deed.steps
        if replay.assumed is None:
            chain = (Step(replay.place, "the checkpoint is here"), *chain)
        replayed = Replayed(
            replay.by,
            replay.place,
            others(chain, deed.place),
            deed.inside if replay.by is not Replayer.TORCH else None,
            replay.certain and deed.certain,
            replay.assumed,
        )
        if isinstance(deed.act, Draw):
            yield from self._drawn_again(replay.coverage, deed, deed.act, replayed)
        elif replayed.inside is None or replayed.inside.kept is not Kept.SAVE:
            yield _done_again(deed, replayed)

    def _drawn_again(
        self, coverage: Coverage, deed: Deed, draw: Draw, replayed: Replayed
    ) -> Iterator[RandomDraw]:
        """A draw from a state that is not restored."""
        random = draw.random
        if draw.seeded:
            return
        if random.kind in coverage.kinds or (random.number and random.number in coverage.objects):
            return
        if not coverage.known and random.kind is not RandomKind.SYSTEM:
            return
        yield RandomDraw(deed.place, draw.operation, random, coverage.without, replayed)


def _is_settled(deed: Deed, before: int) -> bool:
    """Whether what decides was read before the checkpoint began: a replay finds the same value."""
    return isinstance(deed.act, Sway) and 0 < deed.act.number <= before


def _translation(before: Sequence[int], operands: Sequence[Operand]) -> dict[int, int]:
    """From the numbers that a call was handed to those that one like it is handed."""
    now = (number for operand in operands for number in numbers(operand.value))
    return dict(zip(before, now, strict=False))


def _done_again(deed: Deed, replayed: Replayed) -> ReplayFact:
    """What is done again whatever is restored."""
    match deed.act:
        case Write(target=target, written=written):
            return StateWrite(deed.place, target, written, replayed)
        case Touch(operation=operation, touched=touched):
            return ExternalEffect(deed.place, operation, touched, replayed)
        case Send(operation=operation):
            return Collective(deed.place, operation, replayed)
        case Sway(what=what, unsteady=unsteady, decides=decides, read=read):
            return UnstableInput(deed.place, what, unsteady, decides, read, replayed)
        case Diverge(name=name):
            return DivergentReplay(deed.place, name, replayed)
        case Draw():
            raise AssertionError("a draw is judged by what is restored")
