"""Statements: how paths part and come together.

A block is run with a list of paths and says where each of them went (``Flow``). Loops whose length
the source shows are run exactly, all others twice: what a first iteration leaves for a second is
seen, and every output keeps its own identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from remat_lint.analysis import ir
from remat_lint.analysis.builtin_calls import counted_by
from remat_lint.analysis.conditions import Conditions
from remat_lint.analysis.deeds import NEARLY_ALL, Send, Sway, Touch
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import Decides
from remat_lint.analysis.machine import REMAT, Flow, Operand, qualified
from remat_lint.analysis.moves import Moves
from remat_lint.analysis.state import SELDOM, Phase, State, hand_over, join_all, merge
from remat_lint.analysis.suites import bound_names, nested
from remat_lint.analysis.values import (
    META,
    NONE,
    SCALAR,
    ByPhase,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    DeviceNamed,
    External,
    Fork,
    FunctionValue,
    GradMode,
    InstanceObject,
    ListObject,
    NameScope,
    Partial,
    Reference,
    RegionName,
    RegionWrapper,
    Seeded,
    Setting,
    Tensor,
    Unknown,
    Value,
    alternatives,
    at_hand,
    holds_object,
    parts,
    reading_of,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import run_through, together

ITERATIONS = 2
"""How often a loop of unknown length is run."""

_CATCHES_MISSING_NAMES = frozenset(
    {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
)

_CATCHES_PLACEHOLDERS = frozenset({"RuntimeError", "Exception", "BaseException"})

_ACCESSORS = ("setter", "deleter")

_CALLABLES = (FunctionValue, Partial, RegionWrapper, CheckpointWrapper, Compiled)

Leaving = Callable[[Seeded], Seeded]


class Interpreter(Conditions):
    """Runs statements on paths."""

    def run_block(self, statements: Sequence[ir.Stmt], states: list[State]) -> Flow:
        """Run statements in order on every path that reaches them."""
        flow, done = Flow(fell=states), len(self.deeds)
        left: list[tuple[int, ir.If, int, int, State]] = []
        for index, statement in enumerate(statements):
            if not flow.fell:
                break
            paths, flow.fell = flow.fell, []
            asked = len(self.deeds)
            with self.deeds.uses_apart() as another_way:
                for path in paths:
                    another_way()
                    ways = self._run_statement(statement, path)
                    flow.fell += ways.fell
                    flow.add(ways)
            flow.fell = merge(flow.fell)
            if isinstance(statement, ir.If) and isinstance(statement.body[-1], (ir.Return, ir.Jump)):
                left.append((index, statement, asked, len(self.deeds), paths[0]))
        for index, leaving, asked, ran, path in left:
            self.weigh_rest(leaving, statements[index + 1 :], path, asked, ran)
        if flow.raised and not (flow.fell or flow.returned or flow.broke or flow.continued):
            self.deeds.forget(done)  # backward never comes here
        return flow

    def _run_statement(self, statement: ir.Stmt, path: State) -> Flow:
        self.spend(path)
        self.frame.statement = statement
        self.frame.values = {}
        self.frame.watch.met = {}
        self.frame.watch.written_now, self.frame.watch.left_now = set(), set()
        before = path.phase
        ways: Flow = _RUNNERS[type(statement)](self, statement, path)
        if before is Phase.BOTH:
            ways.fell = self.end_guard((statement,), ways.fell)
        return ways

    # --- simple statements

    def _expression(self, statement: ir.Expression, state: State) -> Flow:
        self.evaluate(statement.value, state)
        return Flow([state])

    def _assign(self, statement: ir.Assign, state: State) -> Flow:
        if statement.value is None:
            return Flow([state])
        paths = []
        for path, known in self._evaluate_on_paths(statement.value, state):
            value = self._promised(path, self.frame, statement.annotation, known)
            for target in statement.targets:
                self.assign(path, target, Operand(value, statement.value))
            paths.append(path)
        return Flow(paths)

    def _evaluate_on_paths(self, expr: ir.Expr, state: State) -> Iterator[tuple[State, Value]]:
        """A conditional expression that is a whole right side keeps its two paths apart."""
        if not isinstance(expr, ir.Conditional):
            yield state, self.evaluate(expr, state)
            return
        true, false = self.branch_conditional(expr, state)
        for paths, arm in ((true, expr.body), (false, expr.orelse)):
            for path in paths:
                for end, value in self._evaluate_on_paths(arm, path):
                    self.frame.values[expr.at] = value
                    with self.frame.watch.inside(frozenset(), (), ()):
                        yield end, value

    def _aug_assign(self, statement: ir.AugAssign, state: State) -> Flow:
        target = self.operand(statement.target, state)
        value = self.operand(statement.value, state)
        found = self.object_at(state, target.value) if isinstance(target.value, Reference) else None
        if isinstance(found, ListObject):
            self.note_extended(state, statement, target, value)
            self._call_list_method(
                state, target.value, found, "extend", [value.value], statement.value
            ) if isinstance(target.value, Reference) else None
            return Flow([state])
        if isinstance(target.value, Tensor):
            self.mix(state, statement, [value])
            self.write(state, statement, target)
            self.read(state, statement, [value])
            self.note_operator(state, statement.operator, (target, value), target.value)
            if isinstance(statement.target, ir.Subscript):
                self.assign(state, statement.target, Operand(target.value))
            return Flow([state])
        if self.changes_in_place(state, target, value):
            self.note_extended(state, statement, target, value)
        result = self.operate_in_place(state, statement, statement.operator, target, value)
        if result is not None and result == target.value:
            return Flow([state])
        if result is None:
            result = self.operate(state, statement, statement.operator, target, value)
        both = ir.Binary(statement.at, statement.operator, statement.target, statement.value)
        self.assign(state, statement.target, Operand(result, both))
        return Flow([state])

    def _return(self, statement: ir.Return, state: State) -> Flow:
        self.frame.watch.ended = True
        if statement.value is None:
            return Flow(returned=[(state, NONE)])
        returned = list(self._evaluate_on_paths(statement.value, state))
        self.frame.ended += [(path.phase, value, statement) for path, value in returned]
        self.note_returned(statement.value, [value for _, value in returned])
        for path, _ in returned:
            self.move_result(path, self.terms_of(path, statement.value))
        return Flow(returned=returned)

    def _raise(self, statement: ir.Raise, state: State) -> Flow:
        for value in statement.values:
            self.evaluate(value, state)
        return Flow(raised=[state])

    def _assert(self, statement: ir.Assert, state: State) -> Flow:
        done = len(self.deeds)
        true, false = self.branch(statement.test, state)
        hand_over(false, true)
        self.deeds.forget(done, Sway)
        if isinstance(statement.test, ir.Const):
            return Flow([state])
        return Flow(true)

    def _delete(self, statement: ir.Delete, state: State) -> Flow:
        for target in statement.targets:
            if isinstance(target, ir.Name):
                state.unbind(self.frame.id, target.id)
            elif isinstance(target, (ir.Attribute, ir.Subscript)):
                self._delete_part(state, target, self.operand(target.base, state))
        return Flow([state])

    def _delete_part(self, state: State, target: ir.Attribute | ir.Subscript, holder: Operand) -> None:
        keys = (
            [self.operand(key, state) for key in target.indices] if isinstance(target, ir.Subscript) else []
        )
        if not keys or self.call_special(state, target, holder.value, "__delitem__", keys) is None:
            indices = target.indices if isinstance(target, ir.Subscript) else ()
            self.note_deletion(state, target, holder, indices)

    def _jump(self, statement: ir.Jump, state: State) -> Flow:
        if statement.kind == "break":
            return Flow(broke=[state])
        if statement.kind == "continue":
            return Flow(continued=[state])
        return Flow([state])

    def _import(self, statement: ir.Import, state: State) -> Flow:
        for module, attribute, _ in statement.bindings:
            if module == REMAT and not statement.level:
                self.note_legacy(statement, attribute or "")
            if attribute == "*" and any(key.endswith("TYPE_CHECKING") for key in state.assumed):
                return Flow([state])  # for tools that read all of a package, which loads its parts late
        for name, value in self.imported(statement):
            self.bind_name(state, name, value)
        return Flow([state])

    def imported(self, statement: ir.Import) -> Iterator[tuple[str, Value]]:
        raise NotImplementedError

    # --- branches

    def _if(self, statement: ir.If, state: State) -> Flow:
        asked, phase = len(self.deeds), state.phase
        known = frozenset(state.frames.get(self.frame.id, {}))
        true, false = self.branch(statement.test, state)
        if true and false:
            self._pass_by(statement, true, false)
        watch, flow, ran = self.frame.watch, Flow(), len(self.deeds)
        tested, weighed, met = watch.mentioned(statement.test), watch.weighed(statement.test), watch.met
        ends, origins, after, keeping = [], watch.origins, [], False
        asked_of = self._tensors_asked_by(statement.test)
        weight, by_phase = sum(path.weight for path in (*true, *false)), state.phase is not phase
        arms = (true, statement.body, statement.orelse), (false, statement.orelse, statement.body)
        for paths, body, others in arms:
            if paths:
                watch.origins, begun = dict(origins), len(self.deeds)
                done = (*body, *self._called_from(state, body)) if tested else body
                is_sure = by_phase or sum(path.weight for path in paths) > NEARLY_ALL * weight
                asks = None if is_sure else asked_of
                with (
                    watch.inside(tested, done, others, tested - weighed, asks=asks, known=known) as arm,
                    self.deeds.keeping() as keeps,
                ):
                    ways = self.run_block(body, paths)
                keeping |= keeps()
                if arm.once:  # what it calls does not know of that
                    self.deeds.forget_done_once(begun)
                after.append(watch.origins)
                ends.append(bool(ways.fell))
                flow.fell += ways.fell
                flow.add(ways)
        watch.origins = together(after)
        is_decided = watch.decided(tested, statement, known, left=not all(ends))
        matters = (tested and keeping) or (is_decided and not self._is_last(state, statement))
        if matters and not self._arms_are_alike(state, statement):
            self.frame.statement, watch.met = statement, met
            self.compute_with(state, weighed, (statement.test,), Decides.BRANCH)
        self.weigh_if(statement, state, asked, ran)
        return flow

    def _tensors_asked_by(self, test: ir.Expr) -> frozenset[int]:
        """The numbers of the tensors, or of what may be one, that a condition has looked at."""
        found = (self.frame.values.get(part.at) for part, _ in evaluated((test,)))
        tensors = (value for value in found if isinstance(value, (Tensor, Unknown)))
        return frozenset(self.root_of(self.number_of(value))[0] for value in tensors) - {0}

    def _is_last(self, state: State, statement: ir.If) -> bool:
        """Whether the function of a checkpoint computes nothing behind an ``if``, which keeps no tensors."""
        function = self.frame.function
        if function is None or statement not in function.body or not self.is_body(self.frame):
            return False
        rest = function.body[function.body.index(statement) + 1 :]
        return not any(body.rebuilt for body in self.bodies) and all(
            isinstance(one, ir.Return) and isinstance(one.value, (ir.Name, ir.Const))
            for one in rest
            if self.computes(state, (one,))
        )

    def _arms_are_alike(self, state: State, statement: ir.If) -> bool:
        """Whether both arms of an ``if`` compute the same, whatever they tell."""
        one, other = (
            [self.text(part) for part in arm if self.computes(state, (part,))]
            for arm in (statement.body, statement.orelse)
        )
        return bool(one) and one == other

    def _called_from(self, state: State, block: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
        """What the functions of the project do that a block calls wherever it runs, without its results."""
        for statement in run_through(block):
            match statement:
                case ir.Expression(value=ir.Call(function=ir.Attribute(base=ir.Name(id=name), name=method))):
                    function = self.special_method(state, self.lookup(state, name), method)
                case ir.Expression(value=ir.Call(function=ir.Name(id=name))):
                    found = self.lookup(state, name)
                    function = found if isinstance(found, FunctionValue) else None
                case _:
                    continue
            if function is not None:
                yield from run_through(function.definition.body)

    def _pass_by(self, statement: ir.If, true: list[State], false: list[State]) -> None:
        """A run that raises has no backward: all that do not take the other arm.

        What sets the state that it is asked for is done the first time.
        """
        if self._happens_once(statement.test, statement.body, true[0]):
            hand_over(false, true)
            for path in true:
                false[0].weight += path.weight * SELDOM
                path.weight -= path.weight * SELDOM
        elif isinstance(statement.body[-1], ir.Raise):
            hand_over(true, false)
        elif statement.orelse and isinstance(statement.orelse[-1], ir.Raise):
            hand_over(false, true)

    def _match(self, statement: ir.Match, state: State) -> Flow:
        subject = self.operand(statement.subject, state)
        if isinstance(subject.value, ByPhase):
            return self._match_phase(statement, state, subject.value)
        return self._run_cases(statement, state, subject)

    def _match_phase(self, statement: ir.Match, state: State, subject: ByPhase) -> Flow:
        """Each phase takes the first case that its constant matches."""
        flow = Flow()
        replay, forward = self.branch_phase(state)
        for paths, value in ((replay, subject.replay), (forward, subject.forward)):
            cases = [_matched(case) for case in statement.cases if _may_match(case.pattern, value)]
            taken = ir.Match(statement.at, statement.subject, tuple(cases))
            for path in paths:
                ways = self._run_cases(taken, path, Operand(Constant(value), statement.subject))
                flow.fell += ways.fell
                flow.add(ways)
        return flow

    def _run_cases(self, statement: ir.Match, state: State, subject: Operand) -> Flow:
        if any(self.computes(state, case.body) for case in statement.cases):
            self.decide(state, statement.subject, subject.value, Decides.BRANCH)
        flow, rest = Flow(), state
        for case in statement.cases:
            path = rest if case.always else rest.split(_odds(case.pattern, subject.value))
            self.frame.statement = statement  # a guard is read by the `match`, not by the body before it
            self._bind_pattern(path, case.pattern, subject)
            paths = [path]
            if case.guard is not None:
                paths, refused = self.branch(case.guard, path)
                rest = join_all([rest, *(path.fork() for path in refused)])
            with self.frame.watch.inside(frozenset(), case.body, ()):
                ways = self.run_block(case.body, paths)
            flow.fell += ways.fell
            flow.add(ways)
            if case.always:
                return flow
        flow.fell.append(rest)
        return flow

    def _bind_pattern(self, state: State, pattern: ir.Pattern, operand: Operand) -> None:
        """Bind the names of a pattern that matched: to the whole, and to its parts."""
        if pattern.name is not None:
            self.bind_name(state, pattern.name, operand.value)
        for other in pattern.others:
            self._bind_pattern(state, other, operand)
        if pattern.items is not None:
            blank = ir.Const(0, None)
            targets = [
                ir.Starred(0, blank) if index == pattern.starred else blank
                for index in range(len(pattern.items))
            ]
            parts = self.unpack(state, blank, operand.value, targets)
            for part, value in zip(pattern.items, parts, strict=True):
                self._bind_pattern(state, part, Operand(value))
        for index, (name, part) in enumerate(pattern.attributes):
            field = name if name is not None else self._field(state, operand.value, index)
            value = self.attribute_of(state, ir.Const(0, None), operand.value, field) if field else Unknown()
            self._bind_pattern(state, part, Operand(value))
        for key, part in pattern.keys:
            value = self.item_of(state, ir.Const(0, None), operand.value, [Operand(Constant(key))])
            self._bind_pattern(state, part, Operand(value))

    def _field(self, state: State, value: Value, index: int) -> str:
        """The attribute that a class pattern compares at a position."""
        names: Sequence[str] = ()
        if isinstance(value, SequenceValue):
            names = value.fields
        elif isinstance(value, Reference) and isinstance(
            found := self.object_at(state, value), InstanceObject
        ):
            names = self.annotated_names(found.klass)
        return names[index] if index < len(names) else ""

    # --- loops

    def _for(self, statement: ir.For, state: State) -> Flow:
        operand = self.operand(statement.iterable, state)
        if not isinstance(operand.value, ByPhase):
            return self._loop(statement, state, operand)
        flow = Flow()
        replay, forward = self.branch_phase(state)
        for paths, turns in ((replay, operand.value.replay), (forward, operand.value.forward)):
            counted = counted_by(turns) if isinstance(turns, range) else SequenceValue(rest=SCALAR)
            for path in paths:
                ways = self._loop(statement, path, Operand(counted, statement.iterable))
                flow.fell += ways.fell
                flow.add(ways)
        return flow

    def _loop(self, statement: ir.For, state: State, operand: Operand) -> Flow:
        sequence = self.iterate(state, statement.iterable, operand.value)
        turns = Choice((operand.value, sequence.rest or NONE))
        if reading_of(turns) is not None and self.computes(state, statement.body):
            self.decide(state, statement.iterable, turns, Decides.BRANCH)
        if self.is_used_up(state, operand.value):
            self.note_next(state, statement.iterable, operand, told=not self.computes(state, statement.body))
        steps: list[Value] = list(sequence.items)
        surely = len(sequence.items) if sequence.sure is None else sequence.sure
        exact = sequence.rest is None and sequence.sure is None
        if sequence.rest is not None:
            rest = (sequence.rest, *parts(sequence.rest))  # each turn another one
            self.several.update(one.address for one in rest if isinstance(one, Reference))
            steps += [sequence.rest] * max(1, ITERATIONS - len(steps))
            # Outputs that are not there are read by nobody: a loop over outputs runs for them all.
            surely += state.holds_tokens(sequence.rest)
        flow = Flow()
        paths = [state]
        ends = [] if exact or surely else [state.split(self._skipped(statement.iterable, sequence))]
        for index, item in enumerate(steps):
            if not paths:
                break
            if index and not exact:
                self._forget_settings(statement.body, paths)
            for path in paths:
                self.frame.statement = statement
                self.assign(path, statement.target, Operand(item, statement.iterable))
            paths = self._iteration(statement.body, paths, flow)
            if not exact and index + 1 >= surely:
                ends += [path.split(1.0 if index + 1 == len(steps) else 0.5) for path in paths]
        ends += paths if exact else []
        self._leave_loop(statement.orelse, ends, flow)
        return flow

    def _skipped(self, iterable: ir.Expr, sequence: SequenceValue) -> float:
        """The part of the runs that leave out a loop, whose length is not known in any configuration."""
        values = self.frame.values
        if isinstance(iterable, ir.Call) and values.get(iterable.function.at) == External("builtins.range"):
            given = [at_hand(values.get(one.value.at, SCALAR)) for one in iterable.arguments]
            numbers = [known.value for known in given if known is not None and isinstance(known.value, int)]
            if len(numbers) == len(given) and 0 not in numbers[2:]:
                return 0.0 if range(*numbers) else 1.0
        rest = sequence.rest
        return 0.0 if isinstance(rest, Tensor) or (rest is not None and holds_object(rest)) else 0.5

    def _forget_settings(self, body: Sequence[ir.Stmt], paths: Sequence[State]) -> None:
        """A loop goes on: what it sets is not what the first turn set."""
        names = {name for statement in nested(body) for name in bound_names(statement)}
        for path in paths:
            known = path.frames.get(self.frame.id, {})
            for name in names & known.keys():
                if isinstance(known[name], Setting):
                    self._rebind(path, name, SCALAR)

    def _while(self, statement: ir.While, state: State) -> Flow:
        flow, paths, ends = Flow(), [state], []
        for _ in range(ITERATIONS):
            entering = []
            for path in paths:
                self.frame.statement = statement
                self.frame.values = {}
                true, false = self._turn(statement, path)
                entering += true
                ends += false
            if not entering:
                paths = []
                break
            paths = self._iteration(statement.body, entering, flow)
            self._forget_settings(statement.body, paths)
        for path in paths:
            self.frame.statement = statement
            true, false = self._turn(statement, path)
            if false:
                hand_over(true, false)
            ends += false
        self._leave_loop(statement.orelse, ends, flow)
        return flow

    def _turn(self, statement: ir.While, state: State) -> tuple[list[State], list[State]]:
        """The paths that run the body of a loop once more, and those that leave it."""
        done = len(self.deeds)
        turns = self.branch(statement.test, state)
        if len(self.deeds) > done and not self.computes(state, statement.body):
            self.deeds.forget(done, Sway)
        return turns

    def _iteration(self, body: Sequence[ir.Stmt], paths: list[State], flow: Flow) -> list[State]:
        in_both = all(path.phase is Phase.BOTH for path in paths)
        ways = self.run_block(body, paths)
        flow.returned += ways.returned
        flow.raised += ways.raised
        flow.broke += ways.broke
        ends = merge([*ways.fell, *ways.continued])
        return self.end_guard(body, ends) if in_both else ends

    def _leave_loop(self, orelse: Sequence[ir.Stmt], ends: list[State], flow: Flow) -> None:
        """Paths that broke out skip the ``else`` of the loop."""
        broke, flow.broke = flow.broke, []
        ways = self.run_block(orelse, merge(ends)) if orelse else Flow(merge(ends))
        flow.add(ways)
        flow.fell = merge([*ways.fell, *broke])

    # --- try and with

    def _try(self, statement: ir.Try, state: State) -> Flow:
        probes = any(_probes(handler) for handler in statement.handlers)
        self.probing += probes
        try:
            return self._run_try(statement, state)
        finally:
            self.probing -= probes

    def _run_try(self, statement: ir.Try, state: State) -> Flow:
        before = state.fork()
        swallows = any(_swallows(handler) for handler in statement.handlers)
        self.swallowing += swallows
        watch, seen, self.frame.watch.seen = self.frame.watch, self.frame.watch.seen, set()
        try:
            ways = self.run_block(statement.body, [state])
        finally:
            self.swallowing -= swallows
            tried, watch.seen = frozenset(watch.seen), watch.seen | seen
        flow = Flow()
        flow.add(ways)
        interrupted = [before, *(path.fork() for path in ways.fell), *ways.raised]
        flow.raised = [] if statement.handlers else list(ways.raised)
        after = self.run_block(statement.orelse, ways.fell) if statement.orelse else Flow(ways.fell)
        flow.fell = after.fell
        flow.add(after)
        caught_weight = self._caught(statement, before, flow)
        for handler in statement.handlers:
            caught = [path.fork() for path in interrupted]
            for path in caught:
                path.claimed = dict(before.claimed)  # nobody knows which regions ran before the error
            for path in caught if handler.name is not None else ():
                self.bind_name(path, handler.name or "", Unknown())
            caught = merge(caught)
            for path in caught:
                path.weight = caught_weight / len(caught)
            done = len(self.deeds)
            with watch.inside(tried if _misses(handler) else frozenset(), handler.body, (), asks=frozenset()):
                handled = self.run_block(handler.body, caught)
            self.deeds.forget(done, Touch | Send)  # what goes wrong does so once
            asked = [expr for one in statement.body for expr in header(one)]
            self.weigh_cache(asked, handler.body, done)
            flow.fell += handled.fell
            flow.add(handled)
        return self._finally(statement.final, flow) if statement.final else flow

    def _caught(self, statement: ir.Try, before: State, flow: Flow) -> float:
        """The part of the runs that each handler takes: few, unless what is tried always fails."""
        going_on = [one for one in statement.handlers if not isinstance(one.body[-1], ir.Raise)]
        if not going_on:
            return 0.0
        if not (flow.fell or flow.returned or flow.broke or flow.continued):
            return before.weight / len(going_on)
        for path in flow.fell:
            path.weight -= path.weight * SELDOM
        return before.weight * SELDOM / len(going_on)

    def _finally(self, final: Sequence[ir.Stmt], flow: Flow) -> Flow:
        """Every way out of a ``try`` runs its ``finally`` first."""
        self.frame.unwinding += 1
        try:
            return self._run_finally(final, flow)
        finally:
            self.frame.unwinding -= 1

    def _run_finally(self, final: Sequence[ir.Stmt], flow: Flow) -> Flow:
        through = Flow()
        for name in ("fell", "broke", "continued", "raised"):
            paths = merge(getattr(flow, name))
            if paths:
                ways = self.run_block(final, paths)
                getattr(through, name).extend(ways.fell)
                through.add(ways)
        for path, value in flow.returned:
            ways = self.run_block(final, [path])
            through.returned += [(end, value) for end in ways.fell]
            through.add(ways)
        return through

    def _with(self, statement: ir.With, state: State) -> Flow:
        grad, scopes, on_meta = self.grad_enabled, self.name_scopes, self.on_meta
        left: list[Leaving] = []
        managers: list[tuple[ir.Expr, Value]] = []
        forks, given, modes = [], len(self.turns or ()), list[Value]()
        opened: list[tuple[Moves, ir.Expr]] = []
        for context, target in statement.items:
            before = state.seeded
            value = self.evaluate(context, state)
            entered = self.call_special(state, context, value, "__enter__")
            if entered is not None:
                managers.append((context, value))
            left.append(self._leaving(value, before, state.seeded))
            opened.append((self.enter_context(state, value, context), context))
            forks += [value.of] if isinstance(value, Fork) else []
            if isinstance(value, SequenceValue) and value.seeded is not None:
                state.seeded = value.seeded
            self.name_scopes += self._scopes_entered(value)
            modes.append(value)
            self.on_meta = value.name == META if isinstance(value, DeviceNamed) else self.on_meta
            if target is not None:
                self.assign(state, target, Operand(_entered(value) if entered is None else entered, context))
        try:
            flow = self._run_in_modes(statement.body, state, modes)
        finally:
            self.grad_enabled, self.name_scopes, self.on_meta = grad, scopes, on_meta
        for kind in forks:
            self.leave_fork(kind, given)
        for path in flow.ends():
            self.frame.unwinding += 1
            for context, manager in reversed(managers):
                self.call_special(path, context, manager, "__exit__", [Operand(NONE)] * 3)
            self.frame.unwinding -= 1
            for moves, context in reversed(opened):
                self.leave_context(path, moves, context)
            for leave in reversed(left):
                path.seeded = leave(path.seeded)
        return flow

    def _leaving(self, context: Value, before: Seeded, after: Seeded) -> Leaving:
        """What the end of a ``with`` does to the states that are set; ``after`` is the end of a generator."""
        match context:
            case Fork(of=kind):
                kept = frozenset(key for key in before if key[0] is kind)
                return lambda seeded: frozenset(key for key in seeded if key[0] is not kind) | kept
            case SequenceValue(seeded=frozenset()):
                return lambda _: after
            case _:
                return lambda seeded: seeded

    def _scopes_entered(self, context: Value) -> tuple[RegionName, ...]:
        """The name scopes that ``with context:`` enters; a context manager of the project may enter any."""
        if isinstance(context, NameScope):
            return (context.name,)
        is_written_here = isinstance(context, SequenceValue) and context.kind == "generator"
        may_be_one = any(isinstance(one, NameScope) for one in alternatives(context))
        return (RegionName("{}"),) if is_written_here or may_be_one else ()

    def _run_in_modes(self, body: Sequence[ir.Stmt], state: State, contexts: Sequence[Value]) -> Flow:
        """Run the body of a ``with``, whose contexts may switch gradients on or off, or in one phase only."""
        forward, replay = (
            [getattr(value, phase) if isinstance(value, ByPhase) else value for value in contexts]
            for phase in ("forward", "replay")
        )
        if forward == replay:
            self.grad_enabled = self._grad_in(forward)
            return self.run_block(body, [state])
        flow, grad = Flow(), self.grad_enabled
        for paths, modes in zip(self.branch_phase(state), (replay, forward), strict=True):
            self.grad_enabled = self._grad_in(modes)
            ways = self.run_block(body, paths)
            self.grad_enabled = grad
            flow.fell += ways.fell
            flow.add(ways)
        return flow

    def _grad_in(self, contexts: Sequence[object]) -> bool:
        """Whether operations have gradients within some contexts."""
        modes = [one.enabled for one in contexts if isinstance(one, GradMode) and one.enabled is not None]
        return modes[-1] if modes else self.grad_enabled

    # --- definitions

    def _function_def(self, statement: ir.FunctionDef, state: State) -> Flow:
        definition = statement.function
        accessors = [one.name for one in definition.decorators if isinstance(one, ir.Attribute)]
        accessor = next((name for name in accessors if name in _ACCESSORS), None)
        if accessor is not None:  # a property keeps its name
            state.bind(self.frame.id, f"{definition.name}.{accessor}", self.make_function(definition, state))
            return Flow([state])
        value: Value = self.make_function(definition, state)
        for decorator in reversed(definition.decorators):
            value = self._decorated(state, decorator, value)
        self.bind_name(state, definition.name, value)
        return Flow([state])

    def _decorated(self, state: State, decorator: ir.Expr, decorated: Value) -> Value:
        """A decorator of the project or of torch_remat is applied; any other keeps what it is given."""
        applied = self.evaluate(decorator, state)
        ours = isinstance(applied, (CheckpointWrapper, Partial, FunctionValue))
        if not ours and not qualified(applied).startswith("torch_remat."):
            return decorated
        made = self.call(state, decorator, applied, [Operand(decorated)])
        return made if isinstance(made, _CALLABLES) else decorated

    def _class_def(self, statement: ir.ClassDef, state: State) -> Flow:
        klass = self.make_class(state, statement.klass)
        self.bind_name(state, statement.klass.name, klass)
        for decorator in reversed(statement.klass.decorators):
            self._decorated(state, decorator, klass)  # said to keep the class, which it may change
        if self.frame.kind == "module":
            self.frame.scope.running = state
        return Flow([state])

    def make_class(self, state: State, definition: ir.Class) -> ClassValue:
        """A class defined in the running frame. Its body's names are worked out when one is asked for."""
        bases = tuple(
            base
            for expr in definition.bases
            for base in alternatives(self.evaluate(expr, state))
            if isinstance(base, (ClassValue, External))
        )
        self.closures[self.frame.id] = self.frame.closure
        outer = self.frame.owner if self.frame.kind == "class" else None
        return ClassValue(definition, self.frame.scope, self.frame.id, bases, outer)


def _odds(pattern: ir.Pattern, value: Value) -> float:
    """The part of the runs in which a pattern of a ``case`` matches a value."""
    known = at_hand(value)
    if known is None or not (pattern.constant or pattern.others):
        return 0.5
    if pattern.constant:
        return float(_is_constant(pattern, known.value))
    return max(_odds(other, known) for other in pattern.others)


def _is_constant(pattern: ir.Pattern, value: object) -> bool:
    """Whether a value is what a pattern compares it with."""
    (constant,) = pattern.constant
    return constant is value or (constant == value and not isinstance(constant, bool))


def _may_match(pattern: ir.Pattern, value: object) -> bool:
    """Whether a pattern of a ``case`` matches a constant; one that cannot be told may."""
    if pattern.constant:
        return _is_constant(pattern, value)
    return not pattern.others or any(_may_match(other, value) for other in pattern.others)


def _matched(case: ir.Case) -> ir.Case:
    """A ``case`` that may match a constant: one that is for that constant surely does."""
    return replace(case, always=case.always or (case.guard is None and bool(case.pattern.constant)))


def _entered(context: Value) -> Value:
    """What ``with context as name`` binds: what a generator yields, or the object itself."""
    if isinstance(context, SequenceValue) and context.kind == "generator":
        return context.rest or Unknown()
    return context if isinstance(context, Reference) else Unknown()


def _swallows(handler: ir.Handler) -> bool:
    """Whether a handler takes the error of a placeholder and goes on."""
    if any(isinstance(step, ir.Raise) for step in handler.body):
        return False
    names = {expr.id for expr in handler.types if isinstance(expr, ir.Name)}
    return not handler.types or bool(names & _CATCHES_PLACEHOLDERS)


def _misses(handler: ir.Handler) -> bool:
    """Whether a handler runs where something is not there yet."""
    names = {expr.id for expr in handler.types if isinstance(expr, ir.Name)}
    return bool(names & {"AttributeError", "KeyError", "IndexError", "LookupError"})


def _probes(handler: ir.Handler) -> bool:
    """Whether a handler takes the error of a name that is not there."""
    names = {expr.id for expr in handler.types if isinstance(expr, ir.Name)}
    return not handler.types or bool(names & _CATCHES_MISSING_NAMES)


_RUNNERS: dict[type[ir.Stmt], Callable[[Any, Any, State], Flow]] = {
    ir.Expression: Interpreter._expression,
    ir.Assign: Interpreter._assign,
    ir.AugAssign: Interpreter._aug_assign,
    ir.Return: Interpreter._return,
    ir.Raise: Interpreter._raise,
    ir.Assert: Interpreter._assert,
    ir.Delete: Interpreter._delete,
    ir.Jump: Interpreter._jump,
    ir.Import: Interpreter._import,
    ir.If: Interpreter._if,
    ir.Match: Interpreter._match,
    ir.For: Interpreter._for,
    ir.While: Interpreter._while,
    ir.Try: Interpreter._try,
    ir.With: Interpreter._with,
    ir.FunctionDef: Interpreter._function_def,
    ir.ClassDef: Interpreter._class_def,
}
