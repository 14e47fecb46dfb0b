"""What code does beside computing its result, and what of that a replay does again.

Deeds are noted wherever they happen, outside checkpoints too: a callee does not know who replays it. What
was made in a call is its own business: a write to it is forgotten when the call ends. A checkpoint judges
what its function did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from remat_lint.analysis import ir
from remat_lint.analysis.awaited import Awaiting
from remat_lint.analysis.deeds import (
    FOREIGN,
    NEARLY_ALL,
    Act,
    Deed,
    Deeds,
    Diverge,
    Draw,
    Send,
    Store,
    Sway,
    Touch,
    Use,
    Write,
)
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.facts import (
    Collective,
    Cover,
    Decides,
    DivergentReplay,
    ExternalEffect,
    GivenUp,
    Inside,
    Kept,
    Outcome,
    Random,
    RandomDraw,
    RandomKind,
    Reached,
    Replayed,
    Replayer,
    ReplayFact,
    StateWrite,
    UnstableInput,
    Unsteady,
    Written,
)
from remat_lint.analysis.journal import others
from remat_lint.analysis.machine import Body, Frame, Machine, Operand, Wrapped, frame_name
from remat_lint.analysis.moves import Moves, Terms, is_constant, is_undone
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.values import (
    NONE,
    CheckpointWrapper,
    ClassValue,
    Coverage,
    External,
    FunctionValue,
    InstanceObject,
    Lent,
    ModuleValue,
    RandomState,
    Reference,
    Seeded,
    Tensor,
    Unknown,
    Value,
    alternatives,
    numbers,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Held, Watch, concerns
from remat_lint.findings import GuardStatement, Place, Step

_IN_TRAINING = " .training"

_AGAIN = (Outcome.REPLACED, Outcome.REPEATED)
"""What a replay that finds what the forward wrote does not make worse."""

MAX_WRAPPED = 64
"""No more functions that a file gives checkpoints to, and does not call, are followed."""

MAX_PARTS = 3
"""Parts of parts of an object deeper than this are not searched."""


HERE = "the checkpoint is here"


@dataclass(frozen=True, slots=True)
class Replay:
    """A checkpoint that runs a function again: where, and what it restores before."""

    by: Replayer
    place: Place
    coverage: Coverage
    certain: bool = True
    assumed: Place | None = None
    handed: Mapping[int, bool] = field(default_factory=dict)
    """The numbers of what it hands to the function: whether each is handed by position."""
    way: tuple[Step, ...] = ()
    """The calls that lead to a checkpoint in another file."""
    note: str = HERE
    share: float = 1.0
    """The part of the runs of the call under way in which there is a checkpoint."""
    stops_early: bool = False
    goes_on: bool = False

    @property
    def rebuilds(self) -> bool:
        """Whether the replay makes the graph that backward goes through: that of the forward is forgotten."""
        return self.by is Replayer.TORCH and not self.stops_early


class Replays(Machine):
    """Notes deeds and judges them."""

    # --- noting

    def note_deed(self, state: State, node: ir.Node, act: Act, *, certain: bool = True) -> None:
        """The code at ``node`` does something beside its result."""
        self.note_deed_at(state, self.place(node), act, certain=certain)

    def note_deed_at(self, state: State, place: Place, act: Act, *, certain: bool = True) -> None:
        shifts = isinstance(act, Draw) and act.one_phase
        if self.is_evaluation(state) or (state.phase is Phase.REPLAY and not shifts):
            return
        guarded = state.phase is Phase.FORWARD and not shifts
        if self.deeds.is_full():
            self.journal.note(GivenUp(place, "the code has too many side effects"))
        if state.weight:
            self.deeds.note(Deed(act, place, certain=certain, guarded=guarded, share=state.weight))

    def is_repeated(self, state: State) -> bool:
        """Whether a replay in training runs the code on a path again."""
        return state.phase is Phase.BOTH and not self.is_evaluation(state)

    def is_evaluation(self, state: State) -> bool:
        """Whether a path runs where the model is not in training only: nothing is replayed there."""
        return any(not holds and key.endswith(_IN_TRAINING) for key, holds in state.assumed.items())

    def note_write(self, state: State, node: ir.Node, write: Write, *, certain: bool = True) -> None:
        """A write, if it is known to what; what was made in the running call is nobody else's state."""
        if write.number and self.is_foreign(write.number, max(self.frame.id, self.replayed_since)):
            self.note_deed(state, node, write, certain=certain)

    def compute_with(
        self,
        state: State,
        used: frozenset[Held],
        exprs: Sequence[ir.Expr] = (),
        decides: Decides = Decides.VALUE,
    ) -> None:
        """Something is computed with what is held, which these expressions stand for.

        A replay looks at it again.
        """
        if state.phase is not Phase.BOTH or self.frame.statement is None:
            return
        self.frame.watch.use(used, exprs)
        if self.filled and not self.is_inert():
            self.note_unfilled(state, used)
        for number, path in used:
            if not self.frame.watch.was_replaced((number, path)):  # else it is what this code set it to
                shown = self._place_of_state((number, path), exprs)
                self.note_deed(state, self.frame.statement, Use(number, path, shown=shown, decides=decides))
        function = self.frame.function
        outer = function.globals | function.nonlocals if function is not None else frozenset[str]()
        for held, is_alias in self.frame.watch.held_early(exprs, outer):
            if is_alias and held not in used:  # another object may have taken its place by now
                self.note_deed(state, self.frame.statement, Use(*held, decides=decides))
            self.deeds.outdate(held, is_alias=is_alias)

    def _place_of_state(self, held: Held, exprs: Sequence[ir.Expr]) -> Place | None:
        """Where one of these expressions stands for state."""
        met = self.frame.watch.met
        return next((self.place(part) for part, _ in evaluated(exprs) if held in met.get(part.at, ())), None)

    # --- whose state it is

    def number_of(self, value: Value) -> int:
        """The number of what a write to a value changes, 0 where nobody knows."""
        found = [self._number(one) for one in alternatives(value) if one != NONE]
        if len(found) < 2:
            return found[0] if found else 0
        if not all(found):
            return 0
        return max(found, key=lambda number: (self.root_of(number)[0] not in self.outside, number))

    def _number(self, value: Value) -> int:
        match value:
            case (
                Reference(address=number)
                | Tensor(storage=number)
                | Unknown(origin=number)
                | SequenceValue(origin=number)
            ):
                return number
            case ClassValue(frame=frame):
                return frame
            case ModuleValue(scope=scope):
                return scope.frame
            case External():
                return FOREIGN
            case _:
                return 0

    def fetched(self, value: Value, holder: Value, path: str) -> Value:
        """What was fetched from an object of unknown contents is as much of the call's own as the object.

        ``path`` leads from the object to it.
        """
        if not isinstance(value, (Unknown, Tensor)) or self._number(value):
            return value
        around = self.number_of(holder)
        if not around:
            return value
        number = self.fresh()
        self.holders[number] = (around, path)
        if around in self.steady or isinstance(holder, (Reference, External, ClassValue, ModuleValue)):
            self.steady.add(number)
        if isinstance(value, Unknown):
            return replace(value, origin=number)
        return replace(value, storage=number)

    def note_left(self, held: Held, value: Value) -> None:
        """State is set to a value unless there is one: the next call finds that of this one."""
        number = self._number(value)
        if number:
            self.lie_in(number, held)

    def lie_in(self, number: int, held: Held) -> None:
        """What has this number lies there, if it lies nowhere yet: nothing lies in itself."""
        if self.root_of(held[0])[0] != number:
            self.holders.setdefault(number, held)

    def root_of(self, number: int) -> Held:
        """Where something lies: in which object that was not fetched itself, and where in it."""
        path = ""
        while number in self.holders:
            number, part = self.holders[number]
            path = part + path
        return number, path

    def is_foreign(self, number: int, frame: int) -> bool:
        """Whether what has this number was there before the call that runs in a frame."""
        number, _ = self.root_of(number)
        if number == frame:  # a name of the call, bound by a function inside it
            return False
        number = max(number, self.rebuilt.get(number, number))
        return number <= max(frame, self.given_until) or number in self.outside

    # --- calls and regions

    def end_call(self, state: State, node: ir.Expr, frame: Frame, deeds: Deeds) -> None:
        """A callee's deeds are the caller's, but for what it did to objects of its own."""
        returned = frozenset(held for held in frame.watch.returned if self.is_one(state, held[0]))
        if returned:
            self.frame.watch.met[node.at] = returned
        if deeds.keeps:
            self.deeds.keep()
        if state.weight:
            self._add_deeds(state, node, frame, deeds)
            if frame.watch.reset and not self._runs_apart():
                self._set_by_callee(state, frame)

    def _add_deeds(self, state: State, node: ir.Expr, frame: Frame, deeds: Deeds) -> None:
        step = Step(self.place(node), f"{frame_name(frame)} is called here")
        for deed in deeds.through(step):
            act = deed.act
            if isinstance(act, Write) and not act.undone:
                self.frame.watch.write(act.held)
                if act.held not in frame.watch.returned - frame.watch.returned_late:
                    self.frame.watch.left_now.add(act.held)
                is_sure = deed.certain and self.frame.watch.is_sure_of(act.held)
                seen = self._written_by_callee(state, replace(deed, certain=is_sure), act)
            else:
                seen = deed if not isinstance(act, Use) or self._is_found_here(state, deed, act) else None
            if seen is not None:
                self.deeds.note(replace(seen, share=deed.share * state.weight))

    def _written_by_callee(self, state: State, deed: Deed, write: Write) -> Deed | None:
        """A write of a callee, as the running function sees it; None where it set the state whole before."""
        watch = self.frame.watch
        if deed.is_done_once:
            watch.replaced.pop(write.held, None)  # no replay finds it so
            return deed
        if self._is_set_here(state, write.held):
            if not write.is_new:
                return None
            if write.outcome in (Outcome.ADVANCED, Outcome.COMPUTED):
                write = replace(write, outcome=Outcome.REPLACED, edit=None)
        if write.outcome in _AGAIN and watch.was_used(write.held):  # a replay finds it overwritten
            is_any = write.written is Written.ELEMENT and not write.element
            if not (is_any and watch.is_read_by_key(write.held)):  # else it may be another element
                write = replace(write, outcome=Outcome.COMPUTED, edit=None)
        return replace(deed, act=write)

    def _is_found_here(self, state: State, deed: Deed, use: Use) -> bool:
        """Whether a callee computes with state as the running function found it, not as it was set here."""
        if not self.is_one(state, use.number):
            return False
        if deed.share > NEARLY_ALL and not use.replayed:
            self.frame.watch.use([(use.number, use.path)])
        return use.replayed or not self._is_set_here(state, (use.number, use.path))

    def forget_own_state(self, frame: Frame) -> None:
        """A call ends: what it returned and set of its own is nobody else's state."""
        for known in (frame.watch.returned, frame.watch.returned_late, frame.watch.reset):
            known -= {held for held in known if not self.is_foreign(held[0], frame.id)}

    def _set_by_callee(self, state: State, frame: Frame) -> None:
        """What a callee always sets whole, the running function does."""
        for held in frame.watch.reset:
            if self.is_one(state, held[0]):
                self.frame.watch.replace(held)

    def _runs_apart(self) -> bool:
        """Whether the running function calls what a checkpoint or region runs: a replay may run it alone."""
        begun = [body.depth for body in self.bodies[-1:]] + [region.depth for region in self.regions]
        return self.frame.depth in begun

    def _is_set_here(self, state: State, held: Held) -> bool:
        """Whether the running function has set a state whole: no call finds there what was before."""
        is_set = self.frame.watch.was_replaced(held) and not self._runs_apart()
        return is_set and self.is_one(state, held[0])

    def note_backward(self, state: State) -> None:
        """Backward runs: this is no code of a model, and the replays of what ran so far are done."""
        state.awaiting = state.awaiting.after_backward(self.fresh())
        self.journal.is_body = False
        self.backwards += 1
        self.deeds.forget_uses()

    def is_one(self, state: State, number: int) -> bool:
        """Whether what has this number is the same object each time that the running function meets it.

        Modules that are made alike, and the elements of a container, are one object here, and several there.
        """
        if number not in self.elements and number not in self.several:
            return True
        receivers = (
            frame.receiver for frame in self.active_frames() if isinstance(frame.receiver, Reference)
        )
        return any(self._ways_to(state, receiver, number) == 1 for receiver in receivers)

    def _ways_to(self, state: State, start: Reference, number: int, depth: int = 0) -> int:
        """How many attributes, of attributes, of an object are the one with this number."""
        if start.address == number:
            return 1
        found = self.object_at(state, start)
        if depth == MAX_PARTS or not isinstance(found, InstanceObject):
            return 0
        parts = [value for _, value in found.attributes]
        inner = (part for part in parts if isinstance(part, Reference))
        tensors = sum(part.storage == number for part in parts if isinstance(part, Tensor))
        return tensors + sum(self._ways_to(state, part, number, depth + 1) for part in inner)

    @contextmanager
    def deeds_apart(self) -> Iterator[Deeds]:
        """What is done here, by itself; the running call did it all the same."""
        around, self.deeds = self.deeds, Deeds()
        apart = self.deeds
        try:
            yield apart
        finally:
            self.deeds = around
            if apart.keeps:
                around.keep()
            for deed in apart:
                around.note(deed)

    def repeat_call(self, node: ir.Expr, deeds: Deeds) -> None:
        """The same call is made at another place: what it did is done again."""
        here = self.place(node)
        if deeds.keeps:
            self.deeds.keep()
        for deed in deeds:
            first = tuple(replace(step, place=here) for step in deed.steps[:1])
            place = deed.place if deed.steps else here
            self.deeds.note(replace(deed, place=place, steps=(*first, *deed.steps[1:])))

    def own_deeds(self, state: State, frame: Frame, deeds: Deeds) -> Deeds:
        """What a call did to others: nobody sees what it did to objects that it made, or what it undid."""
        seen = (self._seen_outside(state, deed, frame) for deed in deeds)
        return Deeds((deed for deed in seen if deed is not None), keeps=deeds.keeps)

    def _seen_outside(self, state: State, deed: Deed, frame: Frame) -> Deed | None:
        """A deed of the call that runs in a frame, as its caller sees it."""
        match deed.act:
            case Write(number=number) as write:
                if not self.is_foreign(number, frame.id) or _is_mended(frame.watch, write):
                    return None
                state_written, is_one = (number, write.path), self.is_one(state, number)
                if is_one and is_undone(state.moves, state_written, sure=True):
                    return None
                undone = write.undone or (is_one and is_undone(state.moves, state_written))
                return replace(deed, act=replace(self._with_uses(frame, write), undone=undone))
            case Draw(lent=lent) as draw if lent:
                foreign_ones = (one for one in lent if self.is_foreign(one.owner, frame.id))
                return replace(deed, act=replace(draw, lent=frozenset(foreign_ones)))
            case Touch(number=number) | Use(number=number) | Store(number=number) if (
                number and not self.is_foreign(number, frame.id)
            ):
                return None
            case Sway() as sway if (held := self._global_of(sway)) and is_undone(state.moves, held):
                return None
            case Sway(number=number) | Diverge(number=number) as act if number and not self.is_foreign(
                number, frame.id
            ):
                return replace(deed, act=replace(act, number=0))
            case _:
                return deed

    def _with_uses(self, frame: Frame, write: Write) -> Write:
        """A write, where the call that made it also looked at the state."""
        watch = frame.watch
        is_advanced = write.outcome is Outcome.ADVANCED and write.written is not Written.STATISTICS
        is_changed = write.outcome in (Outcome.ADVANCED, *_AGAIN)
        is_early = is_changed and watch.is_computed_with_early(write.held)
        if is_early or (is_advanced and watch.is_computed_with(write.held)):
            return replace(write, outcome=Outcome.COMPUTED, edit=None)
        return replace(write, edit=None, read=True) if concerns(write.held, watch.read) else write

    def deeds_for(self, deeds: Deeds, before: Sequence[int], operands: Sequence[Operand]) -> Deeds:
        """The deeds of a call like this one, done to the objects that this one is handed."""
        return Deeds(deeds.renumbered(self._renumbering(before, operands)), keeps=deeds.keeps)

    def held_for(
        self, returned: frozenset[Held], before: Sequence[int], operands: Sequence[Operand]
    ) -> frozenset[Held]:
        """The state that a call like this one returns, of the objects that this one is handed."""
        renumber = self._renumbering(before, operands)
        return frozenset((renumber(number), path) for number, path in returned)

    def _renumbering(self, before: Sequence[int], operands: Sequence[Operand]) -> Callable[[int], int]:
        translation = _translation(before, operands)

        def translated(number: int) -> int:
            while number not in translation and number in self.holders:
                number, _ = self.holders[number]
            return translation.get(number, number)

        return translated

    def moves_for(
        self, done: tuple[Moves, Awaiting], before: Sequence[int], operands: Sequence[Operand]
    ) -> tuple[Moves, Awaiting]:
        """Where the state goes in a call like this one, that of the objects that this one is handed."""
        renumber = self._renumbering(before, operands)

        def renamed(terms: Terms) -> Terms:
            return frozenset(
                one if is_constant(one.of) else one._replace(of=(renumber(one.of[0]), one.of[1]))
                for one in terms
            )

        moves, awaiting = done
        moved = {(renumber(number), path): renamed(terms) for (number, path), terms in moves.items()}
        return moved, awaiting.renumbered(renumber, renamed)

    def seeds_for(self, seeded: Seeded, before: Sequence[int], operands: Sequence[Operand]) -> Seeded:
        """The random states that a call like this one leaves set, of the objects that this one is handed."""
        renumber = self._renumbering(before, operands)
        return frozenset(_renumbered(one, renumber) for one in seeded)

    @contextmanager
    def replay_of(self, region: Inside) -> Iterator[None]:
        """A region runs: whether what it does is done again is the region's business."""
        around, self.deeds = self.deeds, Deeds()
        self.replaying += 1
        try:
            yield
        finally:
            self.replaying -= 1
            if region.kept is Kept.SAVE:
                self._note_filled(self.deeds)
            elif self.deeds.keeps:
                around.keep()
            for deed in self.deeds.within(region):
                around.note(deed)
            self.deeds = around

    def _note_filled(self, deeds: Deeds) -> None:
        """A saved region filled something: what the body made before is made again, and not filled."""
        if any(region.kept is Kept.SAVE for region in self.regions[:-1]):
            return
        for deed in deeds:
            act = deed.act
            if not isinstance(act, Write):
                continue
            if self.frame.watch.was_replaced(act.held) or not self.is_foreign(
                act.number, self.replayed_since
            ):
                written = Written.BUFFER if act.written is Written.INPUT else act.written
                self.filled[act.held] = (act.target, written, deed.place)

    def note_unfilled(self, state: State, looked_at: Iterable[Held]) -> None:
        """Code looks at state that a saved region changed: what the replay finds there is as it was made."""
        if not self.is_repeated(state):
            return
        for held, (target, written, place) in self.filled.items():
            if concerns(held, looked_at):
                self.deeds.note(Deed(Write(target, written, FOREIGN, "", Outcome.UNFILLED), place))

    # --- what is reached

    def note_call(self, function: FunctionValue) -> None:
        """A function of the project is called: by which other one, and whether a checkpoint reaches it."""
        place = Place(function.scope.source.path, function.definition.at)
        if self.frame.function is not None:
            self.callees.setdefault(self.frame.function, {})[function.definition] = place
        if self.bodies:
            self.journal.note(Reached(place, is_body=self.bodies[-1].depth == self.frame.depth))

    def note_wrapped(self, state: State, place: Place, function: Value) -> None:
        """A function was given a checkpoint: it is run at the end, if nothing in view calls it."""
        key = (place, function)
        if key not in self.wrapped and self.is_led_here():
            self.wrapped[key] = Wrapped(function, state.fork(), self.way_to(place))
            self.unsettled.append(key)

    def settle_wrapped(self, state: State) -> None:
        """What was given a checkpoint may be called from here on, with objects as they are now."""
        for key in self.unsettled:
            wrapped = self.wrapped[key]
            if wrapped is not None:
                settled = wrapped.state.fork()
                settled.heap |= state.heap
                self.wrapped[key] = replace(wrapped, state=settled)
        self.unsettled.clear()

    def note_run(self, wrapper: CheckpointWrapper) -> None:
        """What was given a checkpoint runs."""
        self.wrapped[wrapper.place, wrapper] = None

    def note_switch(self, state: State, place: Place) -> None:
        """Code comes to a checkpoint, which a setting may switch off: objects that nobody made have any."""
        receivers = (frame.receiver for frame in self.active_frames())
        if not any(isinstance(one, Reference) and one.address in self.open for one in receivers):
            self.switched_on[place] = self.switched_on.get(place, False) or state.weight > 0

    def is_switched_off(self, fact: object) -> bool:
        """Whether the checkpoint that would replay something is one that no object in view runs."""
        return isinstance(fact, ReplayFact) and self.switched_on.get(fact.replayed.place) is False

    def is_led_here(self) -> bool:
        """Whether code of the file under analysis led here: other files are analysed by themselves.

        A constructor that runs as a root does again what making the object did.
        """
        frames = list(self.active_frames())
        outermost = frames[-1].function
        if outermost is not None and outermost is self.root and outermost.name == "__init__":
            return False
        return any(frame.scope.source is self.analysed for frame in frames)

    def way_to(self, place: Place) -> tuple[Step, ...]:
        """The calls that lead to a checkpoint: where it is in the file that runs, it speaks for itself."""
        *_, outermost = self.active_frames()
        return self.way if outermost.scope.source.path == place.path else self.calls_since(0)

    # --- judging

    @contextmanager
    def judged_for(self, state: State, replay: Replay) -> Iterator[None]:
        """A checkpoint runs a function: what that does is done again, by checkpoints around it as well."""
        if not self.grad_enabled:  # nothing is ever run again
            yield
            return
        around, self.deeds = self.deeds, Deeds()
        since, self.replayed_since = self.replayed_since, self.fresh()
        self.replaying += 1
        before = self.fresh()
        going_on, self.going_on = self.going_on, self.going_on if self.bodies else 0
        self.bodies.append(Body(self.frame.depth, replay.goes_on, replay.rebuilds))
        moves = state.moves
        try:
            yield
        finally:
            self.replaying -= 1
            self.bodies.pop()
            self.going_on = going_on
            self.replayed_since = since
            found = [deed for deed in self.deeds if not _is_settled(deed, before)]
            outdated = [other for deed in found for other in around.outdated_by(deed, replayed=True)]
            self.judge_deeds(replay, (*found, *outdated))
            self.await_replay(state, replay, moves, self.deeds)
            if self.deeds.keeps:
                around.keep()
            for deed in self.deeds:
                if isinstance(deed.act, Use):
                    deed = replace(deed, act=replace(deed.act, replayed=True))
                if replay.share:
                    around.note(replace(deed, share=deed.share * replay.share))
            self.deeds = around

    def await_replay(self, state: State, replay: Replay, before: Moves, deeds: Deeds) -> None:
        """A checkpoint has run a function that did this, and moved state from where it was before."""
        raise NotImplementedError

    def judge_deeds(self, replay: Replay, deeds: Iterable[Deed]) -> None:
        """A checkpoint runs again what did this: note what it does again."""
        read: set[Place] = set()
        done = tuple(deeds)
        draws = any(isinstance(deed.act, Draw) for deed in done)
        drawn_again = set(_drawn_by_replays(done))
        stored = {(one.act.number, one.act.path) for one in done if isinstance(one.act, Store)}
        for index, deed in enumerate(done):
            if isinstance(deed.act, Draw):
                if deed.act.cached and not _is_drawn_after(deed.act.random, done[index:]):
                    continue
                deed = replace(deed, act=_from_lender(deed.act, stored))
            if isinstance(deed.act, Sway):
                if deed.act.decides is Decides.SEED and not draws:
                    continue
                if deed.act.read in read:
                    continue  # the first thing that it decides speaks for the others
                read.add(deed.act.read)
            if self._is_guarded(replay, deed):
                continue
            for fact in self._replayed(replay, deed):
                if isinstance(fact, RandomDraw) and (fact.random.kind, fact.random.number) not in drawn_again:
                    fact = replace(fact, alone=True)
                self.journal.note(fact)

    def _is_guarded(self, replay: Replay, deed: Deed) -> bool:
        """Whether a guard keeps a replay from a deed: torch's own takes every path of the forward again.

        What the settings name as guards may know of both.
        """
        if replay.by is Replayer.TORCH and not self.project.wrappers.guard:
            is_outdated = isinstance(deed.act, Write) and deed.act.outcome is Outcome.OUTDATED
            return is_outdated or isinstance(deed.act, Diverge)
        return deed.guarded or (isinstance(deed.act, Diverge) and (deed.act.last or bool(deed.act.number)))

    def replayed_by(self, replay: Replay, deed: Deed) -> Replayed:
        """How a deed comes to be done again."""
        chain = deed.steps
        if replay.assumed is None:
            chain = (*replay.way, Step(replay.place, replay.note), *chain)
        return Replayed(
            replay.by,
            replay.place,
            others(chain, deed.place),
            deed.inside if replay.by is not Replayer.TORCH else None,
            replay.certain and deed.is_sure and (replay.coverage.known or not isinstance(deed.act, Write)),
            replay.assumed,
        )

    def _replayed(self, replay: Replay, deed: Deed) -> Iterator[ReplayFact]:
        replayed = self.replayed_by(replay, deed)
        if isinstance(deed.act, Draw):
            yield from self._drawn_again(replay, deed, deed.act, replayed)
        elif isinstance(deed.act, (Store, Use)) or self._is_restored(replay, deed):
            return
        elif isinstance(deed.act, Write) and deed.act.outcome is Outcome.UNFILLED:
            yield _done_again(deed, replace(replayed, inside=None))
        elif replayed.inside is None or replayed.inside.kept is not Kept.SAVE:
            act = deed.act
            if isinstance(act, Write):
                if act.written is Written.INPUT and replay.assumed is not None:
                    return  # the input of a function may be anything of its caller
                act = self._write_of(replay, act, in_function=_is_in_function(replay, deed))
                if act.outcome is Outcome.REPEATED:
                    return
                deed = replace(deed, act=act)
            elif isinstance(act, Touch):
                deed = replace(deed, act=replace(act, edit=self._allowed(act.edit)))
            yield _done_again(deed, replayed)

    def _is_restored(self, replay: Replay, deed: Deed) -> bool:
        """Whether what a deed writes or reads is put back, before the replay and after it."""
        coverage = replay.coverage
        match deed.act:
            case Write(undone=True) if not replay.stops_early:
                return True
            case Write(number=number, path=path):
                return coverage.restores((number, path))
            case Sway() as sway if (held := self._global_of(sway)) is not None:
                return coverage.restores(held)
            case _:
                return False

    def _global_of(self, sway: Sway) -> Held | None:
        """The global that decides what is computed, where it is one."""
        if sway.unsteady is not Unsteady.GLOBAL or sway.read.path not in self.scopes:
            return None
        return self.scopes[sway.read.path].frame, f".{sway.what}"

    def _write_of(self, replay: Replay, write: Write, *, in_function: bool) -> Write:
        """A write as a checkpoint replays it: torch_remat tells changes of what it is handed by position."""
        handed = replay.handed.get(write.number)
        if write.written is Written.INPUT or (write.written is Written.BUFFER and handed is not None):
            outcome = write.outcome if in_function and write.outcome in _AGAIN else Outcome.COMPUTED
            if handed and (write.counted or write.written is Written.BUFFER):
                outcome = Outcome.RAISES
            write = replace(write, written=Written.INPUT, outcome=outcome, edit=None)
        return replace(write, edit=self._allowed(write.edit))

    def _allowed(self, edit: GuardStatement | None) -> GuardStatement | None:
        """The guard around a statement, unless it computes something that matters."""
        if edit is None or Place(edit.path, edit.statement) in self.unguarded:
            return None
        return edit

    def _drawn_again(
        self, replay: Replay, deed: Deed, draw: Draw, replayed: Replayed
    ) -> Iterator[RandomDraw]:
        """A draw from a state that is not restored, or not to the end."""
        coverage = replay.coverage
        random, cover = draw.random, coverage.without
        is_covered = random.kind in coverage.kinds or (random.number and random.number in coverage.objects)
        if not is_covered or random.device in coverage.devices:
            random = replace(random, device=None)
        elif random.device is not None:
            is_covered = False
        if draw.lent:
            is_covered = coverage.trackers or any(coverage.restores((o.owner, o.path)) for o in draw.lent)
        if draw.one_phase or draw.cached:
            in_region = deed.inside is not None and deed.inside.kept is Kept.SAVE
            is_told = replay.by is Replayer.REMAT or draw.cached
            if not is_covered or in_region or not is_told:
                return
            cover = Cover.ONE_PHASE
        elif (
            (draw.told and random.kind is RandomKind.SYSTEM)
            or draw.seeded
            or (is_covered and (coverage.always or not deed.is_sure))  # the conditions may be one
            or not (coverage.known or random.kind is RandomKind.SYSTEM)
        ):
            return
        elif is_covered:
            cover, replayed = Cover.SOMETIMES, replace(replayed, certain=False)
        kept = not (draw.told or (draw.unkept and deed.inside is None))
        yield RandomDraw(deed.place, draw.operation, random, cover, replayed, kept, draw.decides)


def _is_in_function(replay: Replay, deed: Deed) -> bool:
    """Whether a deed is done by the function that is replayed itself, not by what it calls."""
    return all(step.place == replay.place for step in deed.steps) and deed.inside is None


def _is_drawn_after(random: Random, deeds: Sequence[Deed]) -> bool:
    """Whether both the forward and the replay draw from a state in one of these deeds."""
    draws = (deed.act for deed in deeds if isinstance(deed.act, Draw))
    both = (one.random for one in draws if not (one.cached or one.one_phase))
    return any((one.kind, one.number) == (random.kind, random.number) for one in both)


def _drawn_by_replays(deeds: Iterable[Deed]) -> Iterator[RandomState]:
    """The states that replays draw from in these deeds."""
    for deed in deeds:
        is_skipped = deed.inside is not None and deed.inside.kept is Kept.SAVE
        if isinstance(deed.act, Draw) and not is_skipped:
            yield deed.act.random.kind, deed.act.random.number


def _from_lender(draw: Draw, stored: set[Held]) -> Draw:
    """A draw as one from the state that the project keeps, where that moves on in the same code."""
    lent = frozenset(one for one in draw.lent if (one.owner, one.path) in stored)
    if not lent:
        return replace(draw, lent=lent)
    first = min(lent)
    return replace(draw, random=Random(RandomKind.OBJECT, first.name), seeded=False, lent=lent)


def _is_mended(watch: Watch, write: Write) -> bool:
    """Whether what is deleted is there again when the call ends."""
    is_deleted = write.outcome is Outcome.RAISES and write.written is Written.ATTRIBUTE
    return is_deleted and watch.is_set_wherever_written((write.number, write.path))


def _is_settled(deed: Deed, before: int) -> bool:
    """Whether what decides was read before the checkpoint began: a replay finds the same value."""
    return isinstance(deed.act, Sway) and 0 < deed.act.number <= before


def _translation(before: Sequence[int], operands: Sequence[Operand]) -> dict[int, int]:
    """From the numbers that a call was handed to those that one like it is handed."""
    now = (number for operand in operands for number in numbers(operand.value))
    return dict(zip(before, now, strict=False))


def _renumbered(seeded: RandomState | Lent, renumber: Callable[[int], int]) -> RandomState | Lent:
    if isinstance(seeded, Lent):
        return seeded._replace(number=seeded.number and renumber(seeded.number), owner=renumber(seeded.owner))
    kind, number = seeded
    return kind, number and renumber(number)


def _done_again(deed: Deed, replayed: Replayed) -> ReplayFact:
    """What is done again whatever is restored."""
    match deed.act:
        case Write(target=target, written=written, outcome=outcome, edit=edit, read=read):
            assert outcome is not None
            return StateWrite(deed.place, target, written, outcome, replayed, edit, read)
        case Touch(operation=operation, touched=touched, edit=edit):
            return ExternalEffect(deed.place, operation, touched, replayed, edit)
        case Send(operation=operation):
            return Collective(deed.place, operation, replayed)
        case Sway(what=what, unsteady=unsteady, decides=decides, read=read):
            return UnstableInput(deed.place, what, unsteady, decides, read, replayed)
        case Diverge(what=what, divergence=divergence):
            return DivergentReplay(deed.place, what, divergence, replayed)
        case Draw() | Store() | Use():
            raise AssertionError("draws are judged by what is restored, uses by what is written")
