"""Calls of the project's own functions: frames, parameters, summaries, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.awaited import NOTHING_AWAITED
from remat_lint.analysis.construction import Construction
from remat_lint.analysis.deeds import Deeds, Send, Sway, Touch
from remat_lint.analysis.forms import FORM_NAMES
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.leads import called_paths
from remat_lint.analysis.machine import (
    CALLS_ON_A_STACK,
    MAX_DEPTH,
    REMAT,
    Frame,
    Operand,
    frame_name,
    is_override,
)
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.moves import Moves, unknown
from remat_lint.analysis.once import keeps_results, runs_once
from remat_lint.analysis.operations import MAX_VIEWS
from remat_lint.analysis.stacks import on_own_stack
from remat_lint.analysis.state import Hidden, Phase, State, join_all, join_on_paths, reunite
from remat_lint.analysis.state_moves import RESULT
from remat_lint.analysis.suites import changes_nothing
from remat_lint.analysis.summaries import Done, Signature, Summary, note_reads
from remat_lint.analysis.unkept import Drawn
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    DictObject,
    External,
    Fickle,
    FunctionValue,
    Made,
    ModuleValue,
    Reference,
    Tensor,
    Unknown,
    Value,
    holds_object,
    in_phases,
    is_blank,
    join,
    map_tensors,
    numbers,
    settled,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.checkpoint_forms import FORMS
from remat_lint.findings import Place, Step

MAX_CONSTRUCTION = 60
"""Constructors nested deeper than this are not followed."""

MAX_CALLED = 60
"""A called expression longer than this is not repeated in messages."""

MAX_RECURSION = 3
"""Calls of one function inside each other that are followed: helpers that walk nested containers."""


IDENTITY_DECORATORS = ("torch.compile", "torch.jit.script")
"""Decorators and functions whose result is the function, compiled."""


def _by_phase_alone(ends: Sequence[tuple[State, Value]]) -> Value | None:
    """What paths give that only the phase decides between: one constant each; None for anything else."""
    forward = {value for path, value in ends if path.phase is Phase.FORWARD}
    replay = {value for path, value in ends if path.phase is Phase.REPLAY}
    decides = all(path.phase is not Phase.BOTH for path, _ in ends)
    return in_phases(*forward, *replay) if decides and len(forward) == len(replay) == 1 else None


class Functions(Construction):
    """Calls functions of the project."""

    def join_ends(self, state: State, ends: Sequence[tuple[State, Value]]) -> Value:
        """Make ``state`` the join of several paths, and return the join of their values."""
        phased = _by_phase_alone(ends)
        self.meet_again([path for path, _ in ends])
        first, joined = ends[0]
        for path, value in ends[1:]:
            joined = join_on_paths(first, joined, path, value)
        live = [value for path, value in ends if path.weight]  # one of the paths is what they become
        state.become(join_all(reunite([path for path, _ in ends])))
        if phased is not None:
            return phased
        return settled(joined, live) if len(live) < len(ends) else joined

    def call_function(
        self, state: State, node: ir.Expr, function: FunctionValue, operands: Sequence[Operand]
    ) -> Value:
        """Run a function of the project in a frame of its own."""
        definition = function.definition
        wrapped = self.call_by_name(state, node, self._full_name(function), operands)
        if wrapped is not None:
            return wrapped
        if self._is_compiled(function) or (function.owner and definition.is_left_to_subclasses):
            return self.call_unknown(state, node, operands)
        if self._cannot_matter(state, function, operands):
            return Unknown(origin=self.fresh())
        if function.receiver is not None:
            operands = [Operand(function.receiver), *operands]
        self.note_handed(operands)
        is_unkept = self._is_call_unkept(node)
        frame = Frame(
            id=self.fresh(),
            depth=self.frame.depth + 1,
            scope=function.scope,
            function=definition,
            parent=self.frame,
            call=node,
            operands=operands,
            owner=function.owner,
            receiver=function.receiver,
            closure=function.frame,
            is_unkept=is_unkept,
        )
        if self._is_too_deep(definition):
            self.give_up(node, "calls nested too deeply")
            return self._promised(state, frame, definition.returns, Unknown(origin=self.fresh()))
        self.note_computation()
        self.note_call(function)
        counts = not self.is_inert() and state.phase is not Phase.FORWARD
        self.contexts.setdefault(definition, set()).add(counts)
        if counts and not self.swallowing and self.root is not None:
            self.calling.setdefault(definition, set()).add(self.root)
        signature = self._signature(state, frame, function)
        summary = self.summaries.get(signature) if signature is not None else None
        claimed, conditions, state.claimed = state.claimed, state.conditions(), {}
        weight, state.weight = state.weight, 1.0
        moves, state.moves = state.moves, {}
        awaiting, state.awaiting = state.awaiting, NOTHING_AWAITED
        if summary is not None and signature is not None:
            frame.id, claims = summary.done.frame, summary.done.claims
            value = self._instantiate(state, node, summary, signature, frame)
            deeds = self.deeds_for(summary.done.deeds, summary.done.numbers, operands)
            state.seeded = self.seeds_for(summary.done.seeded, summary.done.numbers, operands)
            frame.watch.returned |= self.held_for(summary.done.returned, summary.done.numbers, operands)
            late = self.held_for(summary.done.returned_late, summary.done.numbers, operands)
            frame.watch.returned_late |= late
            frame.watch.reset |= self.held_for(summary.done.reset, summary.done.numbers, operands)
            moved = (summary.done.moves, summary.done.awaiting)
            state.moves, state.awaiting = self.moves_for(moved, summary.done.numbers, operands)
        else:
            value, deeds = self._run_call(state, frame, function, signature)
            claims = self.claims_of_call(state, conditions)
        state.weight = weight
        is_kept = keeps_results(definition)
        if is_kept and not any(self.is_another_each_time(state, operand) for operand in operands):
            deeds = deeds.kept()
        self.end_call(state, node, frame, deeds)
        if is_kept:
            self.note_cached(state, node, function, operands, value)
        state.claimed = claimed
        before = self.hand_back_state(state, frame, moves, awaiting)
        if RESULT in state.moves or frame.watch.returned:
            self.note_result(state, node)
        self.open_context(state, frame, before, value)
        self.claim_for_caller(state, node, frame, claims)
        if isinstance(function.receiver, Reference) and function.receiver.address in self.open:
            value = self._as_if_overridden(state, operands[1:], value)
        return self._hand_back(state, node, value, frame)

    def _is_call_unkept(self, node: ir.Expr) -> bool:
        """Whether no backward needs what a call returns, where that is a sum or a product with a number."""
        if self.going_on:
            return False
        runs_body = bool(self.bodies) and self.bodies[-1].depth == self.frame.depth
        if runs_body and len(self.bodies) == 1:
            return not self.bodies[-1].goes_on
        return not (runs_body and self.bodies[-1].goes_on) and self.is_unkept_here(node, Drawn.RESULT)

    def _signature(self, state: State, frame: Frame, function: FunctionValue) -> Signature | None:
        """What calls that do the same have in common; None for a call that is run by itself."""
        if state.phase is not Phase.BOTH:
            if self.has_steps_to_compare():
                return None  # what the other phase does is compared with it
            self.cut_short = True
        if function.definition.is_generator and self._is_context(function.definition):
            return None  # what it does before it yields is told apart from what it does then
        context = self.call_context(state, frame)
        signature = self.summaries.signature(state, function, frame.operands, context)
        if signature is not None and (self.reading_hooks or (signature.tokens and self.regions)):
            return None  # what a region may read depends on what it was handed
        return signature

    def call_context(self, state: State, frame: Frame) -> tuple[object, ...]:
        """What beside its operands decides what a call does."""
        return (
            self.is_inert(),
            state.phase,
            self.grad_enabled,
            self.on_meta,
            bool(self.swallowing),
            bool(self.checkpoints),
            bool(self.replaying),
            bool(self.bodies),
            self.compiled,
            is_override(frame),
            frame.is_unkept,
            any(body.rebuilt for body in self.bodies),
            state.seeded,
            state.modes,
            bool(self.muted),
            self.partings,
            self.is_evaluation(state),
            state.heap.get(self.every_module),
        )

    def _full_name(self, function: FunctionValue) -> str:
        """The dotted name of a function or method, for the settings that name some."""
        if not any(self.project.wrappers) and function.definition.name not in FORM_NAMES:
            return ""
        owner = f"{function.owner.definition.name}." if function.owner is not None else ""
        module = self.project.module_name(function.scope.source)
        name = f"{module}.{owner}{function.definition.name}"
        is_set = self.project.wrappers.role(name) == "checkpoint"
        return "" if is_set and self._shows_checkpoint(function, set()) else name

    def _shows_checkpoint(self, function: FunctionValue, seen: set[ir.Function]) -> bool:
        """Whether a function calls what makes a checkpoint, itself or through others: then it tells more."""
        if function.definition in seen:
            return False
        seen.add(function.definition)
        for called in (
            self._global_named(function.scope, path) for path in called_paths(function.definition)
        ):
            if isinstance(called, External) and called.name in (f"{REMAT}.checkpoint", *FORMS):
                return True
            if isinstance(called, FunctionValue) and self._shows_checkpoint(called, seen):
                return True
        return False

    def _global_named(self, scope: ModuleScope, path: Sequence[str]) -> Value:
        """What a name of a module stands for, with the attributes that follow."""
        first, *rest = path
        value = self.resolved(scope.names.get(first, Unknown()))
        for name in rest:
            if isinstance(value, External):
                value = External(f"{value.name}.{name}")
            elif isinstance(value, ModuleValue):
                value = self.module_attribute(value.scope, name)
            else:
                return Unknown()
        return value

    def resolved(self, value: Value) -> Value:
        raise NotImplementedError

    def _instantiate(
        self,
        state: State,
        node: ir.Expr,
        summary: Summary,
        signature: Signature,
        frame: Frame,
    ) -> Value:
        """Do what a call like this one did, to the outputs that this one is handed."""
        self.journal.absorb(summary.done.journal, self.functions_under_way())
        now = [number for operand in frame.operands for number in numbers(operand.value)]
        renewal = summary.renewal(signature.tokens, self.fresh, now)
        for effect in summary.effects:
            token = renewal.token(effect.token)
            if effect.marked:
                state.mark(token)
            note_reads(state, effect, token, self.chain())
            for waiting in effect.waiting:
                if isinstance(waiting, Hidden) or is_override(frame):
                    state.pending[token] = (*state.pending.get(token, ()), waiting)
                else:
                    self.read_on_behalf(state, node, frame.operands, token, waiting)
            if effect.waiting and not effect.always:
                state.partly |= {token}
        value = summary.instantiate(state, renewal, self.frame.depth, self.chain())
        self.note_renewed(renewal.renewed())
        self.rebuilt |= dict.fromkeys((address for address, _ in summary.heap), self.fresh())
        self.several.update(address for address, _ in summary.heap)
        return value

    def _run_call(
        self, state: State, frame: Frame, function: FunctionValue, signature: Signature | None
    ) -> tuple[Value, Deeds]:
        """Run a call; what one with a signature did is kept for the next one like it."""
        if signature is None:
            return self._run_in(state, frame, function)
        before, journal, writes = state.fork(), self.journal, self.outer_writes
        self.journal = Journal()
        try:
            value, deeds = self._run_in(state, frame, function)
            if self.outer_writes == writes and state.modes == before.modes:
                claims = self.claims_of_call(state, before.conditions())
                handed = tuple(number for operand in frame.operands for number in numbers(operand.value))
                watch = frame.watch
                done = Done(
                    self.journal,
                    frame.id,
                    claims,
                    deeds,
                    handed,
                    state.seeded,
                    frozenset(watch.returned),
                    frozenset(watch.returned_late),
                    frozenset(watch.reset),
                    state.moves,
                    state.awaiting,
                )
                self.summaries.put(signature, state, value, before, done)
        finally:
            journal.absorb(self.journal)
            self.journal = journal
        return value, deeds

    def _run_in(self, state: State, frame: Frame, function: FunctionValue) -> tuple[Value, Deeds]:
        """Run the body of a function in its frame: its result, and what else it did that others see."""
        around, self.deeds, backwards = self.deeds, Deeds(), self.backwards
        try:
            self.bind_parameters(state, frame, function, frame.operands)
            value = self._run_nested(state, frame)
            if runs_once(function.definition):
                self.deeds.forget(0, Touch | Send | Sway)
                value = SCALAR if isinstance(value, Fickle) else value
            if value == NONE and changes_nothing(function.definition):
                self.deeds.forget_own(Sway)  # it only checks something
            state.moves, state.awaiting = self._own_moves(state, frame), self.own_awaiting(state, frame)
            self.forget_own_state(frame)
            return value, self.own_deeds(state, frame, self.deeds)
        finally:
            self.deeds = around
            if self.backwards > backwards:
                around.forget_uses()

    def _run_nested(self, state: State, frame: Frame) -> Value:
        """Run the body of ``frame``, however many calls are under way."""
        self.calls_under_way += 1
        try:
            if self.calls_under_way % CALLS_ON_A_STACK:
                return self.run_function(state, frame)
            return on_own_stack(lambda: self.run_function(state, frame))
        finally:
            self.calls_under_way -= 1

    def _own_moves(self, state: State, frame: Frame) -> Moves:
        """Where a call moved what was there before; what a generator did so far, only its caller knows."""
        moves = {held: terms for held, terms in state.moves.items() if self.is_foreign(held[0], frame.id)}
        function = frame.function
        if function is None or not function.is_generator or self._is_context(function):
            return moves
        return unknown(moves, {})

    def _is_context(self, function: ir.Function) -> bool:
        """Whether a generator runs to its end around a ``with``."""
        names = (self.decorator_name(decorator) for decorator in function.decorators)
        return any(name.rpartition(".")[2] in ("contextmanager", "asynccontextmanager") for name in names)

    def run_function(self, state: State, frame: Frame) -> Value:
        """Run the body of ``frame`` on ``state``; afterwards ``state`` is the join of all its ends."""
        assert frame.function is not None
        caller, self.frame, frame.scopes_around = self.frame, frame, len(self.name_scopes)
        self.watch_for(frame)
        grad, scopes = self.grad_enabled, self.name_scopes
        if any(self._switches_grad_off(decorator) for decorator in frame.function.decorators):
            self.grad_enabled = False
        try:
            flow = self.run_block(frame.function.body, [state.fork()])
            frame.ended += [(path.phase, NONE, frame.function.body[-1]) for path in flow.fell]
            ends = [*flow.returned, *((path, NONE) for path in flow.fell)]
            self.note_returns(state, frame, ends)
        finally:
            self.frame, self.grad_enabled, self.name_scopes = caller, grad, scopes
        end = Unknown() if _is_stub(frame.function) else NONE  # a subclass says what a stub returns
        ends = [*flow.returned, *((path, end) for path in flow.fell)]
        if not ends and not frame.function.is_generator:  # every path raises
            return Unknown()
        value = self.join_ends(state, ends) if ends else NONE  # a generator may have no end
        if frame.id not in self.closures:
            state.frames.pop(frame.id, None)
        if frame.function.is_generator:
            yielded = frame.yielded or Unknown()
            seeded = frame.seeded_at_yield
            return SequenceValue(rest=yielded, kind="generator", seeded=seeded, origin=self.fresh())
        return value

    def _as_if_overridden(self, state: State, operands: Sequence[Operand], value: Value) -> Value:
        """What is proved of a method's result and arguments where a subclass may have another method."""
        if self.regions:  # a region may read what it is handed, and its result is its own
            return value
        for token in {token for operand in operands for token in state.tokens(operand.value)}:
            if not state.readers_of((token,)):
                state.need(token, ())
        if isinstance(value, Unknown):
            return replace(value, computed=False)
        return map_tensors(value, lambda tensor: replace(tensor, made=Made.ELSEWHERE))

    def _hand_back(self, state: State, node: ir.Expr, value: Value, frame: Frame) -> Value:
        """A callee's result is the caller's business now."""
        if frame.function is not None:
            value = self._promised(state, frame, frame.function.returns, value)
        for token in state.tokens(value):
            for part in token.lineage():
                state.born[part] = min(state.born.get(part, self.frame.depth), self.frame.depth)
        return map_tensors(value, _one_step_on(self._returning(node, frame)))

    def _returning(self, node: ir.Expr, frame: Frame) -> Step:
        """How a message says that a value came out of a call."""
        assert frame.function is not None
        called = self.text(node.function) if isinstance(node, ir.Call) else ""
        note = f"returned by {frame_name(frame)} {{there}}"
        if called and len(called) <= MAX_CALLED:
            note += f", called as {called} {{here}}"
        return Step(self.place(node), note, Place(frame.scope.source.path, frame.function.at))

    def _cannot_matter(self, state: State, function: FunctionValue, operands: Sequence[Operand]) -> bool:
        """Whether a callee is handed no output, and lives where nobody declares a region.

        What a model is made of matters where checkpoints are applied.
        """
        source = function.scope.source
        if function.definition.name == "__init__" and self.applies_checkpoints:
            return False
        if source is self.frame.scope.source or function.frame != function.scope.frame:
            return False
        if self.replaying or any(state.holds_tokens(operand.value) for operand in operands):
            return False
        return not self.project.may_checkpoint(source)

    def _is_too_deep(self, definition: ir.Function) -> bool:
        # Modules that are constructed alike are one, so construction may go deep: a module without its
        # parts would be taken for one that nothing is known of.
        active = list(self.active_frames())
        if sum(frame.function is definition for frame in active) > MAX_RECURSION:
            return True
        if self.frame.depth < (MAX_CONSTRUCTION if definition.name == "__init__" else MAX_DEPTH):
            return False
        return len({frame.function for frame in active}) < len(active)

    def _is_compiled(self, function: FunctionValue) -> bool:
        return any(
            self.decorator_name(decorator) in IDENTITY_DECORATORS
            for decorator in function.definition.decorators
        )

    def _switches_grad_off(self, decorator: ir.Expr) -> bool:
        return self.decorator_name(decorator) in ("torch.no_grad", "torch.inference_mode")

    def bind_parameters(
        self, state: State, frame: Frame, function: FunctionValue, operands: Sequence[Operand]
    ) -> None:
        """Give the parameters their values: what was passed, defaults, or something unknown."""
        definition, defaults = function.definition, dict(function.defaults)
        positional = [operand for operand in operands if operand.keyword is None and not operand.star]
        keywords = {o.keyword: o.value for o in operands if o.keyword is not None}
        open_ended = [o.value for o in operands if o.star or o.keyword == "**"]
        spread = frozenset(token for value in open_ended for token in state.tokens(value))
        slots = [p for p in definition.parameters if p.kind == "positional"]
        names = {p.name for p in definition.parameters if p.kind in ("positional", "keyword")}
        for index, parameter in enumerate(definition.parameters):
            if parameter.kind == "positional" and index < len(positional):
                value: Value = positional[index].value
            elif parameter.name in keywords and parameter.kind in ("positional", "keyword"):
                value = keywords[parameter.name]
            elif parameter.kind == "*":
                value = SequenceValue(tuple(o.value for o in positional[len(slots) :]))
                if open_ended:
                    value = replace(value, rest=Unknown(spread))
            elif parameter.kind == "**":
                extra = tuple((k, v) for k, v in keywords.items() if k not in names and k != "**")
                value = self.allocate(state, DictObject(extra, Unknown(spread) if open_ended else None))
            elif open_ended:
                value = Unknown(spread)
            elif parameter.name in defaults:
                value = defaults[parameter.name]
            else:
                value = Unknown(origin=self.fresh())
            state.bind(frame.id, parameter.name, self._promised(state, frame, parameter.annotation, value))

    def _promised(self, state: State, frame: Frame, annotation: ir.Expr | None, value: Value) -> Value:
        """The object that an annotation promises where nothing is known of a value.

        What a constructor is given may be another thing in the next configuration.
        """
        configured = value == NONE and frame.function is not None and frame.function.name == "__init__"
        if annotation is None or not (is_blank(value) or configured):
            return value
        caller, self.frame = self.frame, frame
        try:
            promised = self.annotated(annotation, state)
        finally:
            self.frame = caller
        if not holds_object(promised):
            return value
        return join(promised, NONE) if configured else promised


def _one_step_on(step: Step) -> Callable[[Tensor], Tensor]:
    """Notes where a region output came through."""

    def change(tensor: Tensor) -> Tensor:
        return replace(tensor, via=(*tensor.via, step)[-MAX_VIEWS:]) if tensor.token is not None else tensor

    return change


def _is_stub(function: ir.Function) -> bool:
    """Whether a function has no body but a docstring, ``pass`` or ``...``."""
    return all(
        isinstance(statement, ir.Jump)
        or (isinstance(statement, ir.Expression) and isinstance(statement.value, ir.Const))
        for statement in function.body
    )
