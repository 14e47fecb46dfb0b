"""The value of an expression, evaluated on one path in Python's order."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from remat_lint.analysis import ir
from remat_lint.analysis.calls import Calls
from remat_lint.analysis.decisions import decision_in
from remat_lint.analysis.deeds import Sway
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.facts import Decides
from remat_lint.analysis.machine import REMAT, Operand, qualified
from remat_lint.analysis.names import target_names
from remat_lint.analysis.operations import order_of
from remat_lint.analysis.special_calls import UNARY, word
from remat_lint.analysis.state import Phase, State, join_states
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Attributes,
    ByPhase,
    Choice,
    ClassValue,
    Constant,
    DictObject,
    External,
    Fickle,
    FunctionValue,
    ListObject,
    PlaceholderTest,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    alternatives,
    as_setting,
    at_hand,
    direct_tokens,
    join,
    of_phases,
    of_settings,
    scalar_from,
    settled,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import key_of


class Expressions(Calls):
    """Evaluates expressions."""

    def evaluate(self, expr: ir.Expr, state: State) -> Value:
        """The value of an expression; the state is changed in place."""
        evaluated = _EVALUATORS.get(type(expr))
        value = evaluated(self, expr, state) if evaluated is not None else Unknown()
        self.frame.values[expr.at] = value
        return value

    def operand(self, expr: ir.Expr, state: State) -> Operand:
        return Operand(self.evaluate(expr, state), expr)

    # --- names and constants

    def lookup(self, state: State, name: str) -> Value:
        """A name of the running function, of those around it, of the module, or of Python."""
        frame = self.frame
        for number in self.scopes_around():
            found = self.bound_in(state, number, name)
            if found is not None:
                return self.resolved(found)
        found = frame.scope.names.get(name)
        if found is not None:
            return self.global_value(name, self.resolved(found))
        return External(f"builtins.{name}") if name in _BUILTIN_NAMES else Unknown()

    def global_value(self, name: str, value: Value) -> Value:
        """A global bool or ``None`` may be another one in the next run."""
        if isinstance(value, Constant) and (value.value is None or isinstance(value.value, bool)):
            if name not in self.frame.watch.changed:
                return as_setting(value)
            return SCALAR if value.value is not None else Unknown()
        return value

    def _name(self, expr: ir.Name, state: State) -> Value:
        value = self.lookup(state, expr.id)
        if expr.id in self.frame.watch.changed and not isinstance(value, External):
            self.meet_name(state, expr, value)
        if self.frame.watch.diverged:
            self.note_diverged(state, expr)
        if self.swayed:
            self.look_at(state, expr, value, (self.owner_of(state, expr.id), f".{expr.id}"))
        if expr.id not in self.frame.scope.advanced or self.frame.kind == "module":
            return value
        bound_here = any(self.bound_in(state, number, expr.id) is not None for number in self.scopes_around())
        return value if bound_here else self.read_global(expr, value)

    def _const(self, expr: ir.Const, _state: State) -> Value:
        return Constant(expr.value)

    def _format(self, expr: ir.Format, state: State) -> Value:
        for value in expr.values:
            operand = self.operand(value, state)
            self.call_special_of(state, expr, operand.value, ("__format__", "__str__", "__repr__"))
            self.read(state, expr, [operand])
        values = [self.frame.values[value.at] for value in expr.values]
        text = _text_of(expr, values) if expr.is_plain else None
        return Constant(text) if text is not None else scalar_from(values)

    def _attribute(self, expr: ir.Attribute, state: State) -> Value:
        base = self.evaluate(expr.base, state)
        if qualified(base) == REMAT:
            self.note_legacy(expr, expr.name)
        if isinstance(base, Fickle):
            return base
        return self.fetch(state, expr, Operand(base, expr.base), expr.name)

    # --- calls

    def _call(self, expr: ir.Call, state: State) -> Value:
        since = self.fresh()
        value = self._called(expr, state)
        number = self.number_of(value)
        if state.phase is not Phase.BOTH and number > since and number not in state.made:
            operands = [
                Operand(self.frame.values.get(one.value.at, NONE), one.value) for one in expr.arguments
            ]
            self.note_recipe(state, self.called(expr), operands, value)
        return value

    def _called(self, expr: ir.Call, state: State) -> Value:
        function = expr.function
        if isinstance(function, ir.Attribute):
            receiver = self.operand(function.base, state)
            if qualified(receiver.value) == REMAT:
                self.note_legacy(function, function.name)
            operands = self._operands(expr, state)
            return self.call_attribute(state, expr, receiver, function.name, operands)
        value = self.evaluate(function, state)
        operands = self._operands(expr, state)
        self._note_chosen(state, function, value, operands)
        return self.call(state, expr, value, operands)

    def _note_chosen(
        self, state: State, function: ir.Expr, called: Value, operands: Sequence[Operand]
    ) -> None:
        """State may have decided what it is that computes with these."""
        chosen = self.frame.watch.choosing(function)
        if chosen and self.keeps_its_value(self.frame.statement):
            computes = all(map(_computes, alternatives(called)))
            if computes and not all(isinstance(one.value, (Constant, Scalar)) for one in operands):
                self.compute_with(state, chosen, [function])

    def _operands(self, expr: ir.Call, state: State) -> list[Operand]:
        operands: list[Operand] = []
        for argument in expr.arguments:
            value = self.evaluate(argument.value, state)
            if argument.star == "*":
                operands += self._spread(state, argument.value, value)
            elif argument.star == "**":
                operands += self._spread_keywords(state, argument.value, value)
            else:
                operands.append(Operand(value, argument.value, argument.keyword))
        return operands

    def _spread(self, state: State, expr: ir.Expr, value: Value) -> list[Operand]:
        if isinstance(value, Tensor) and value.opaque:
            return [Operand(value, expr, star=True)]
        self.take_all(state, expr, [Operand(value, expr)])
        sequence = self.iterate(state, expr, value)
        operands = [Operand(item, expr) for item in sequence.items]
        if sequence.rest is not None:
            operands.append(Operand(sequence.rest, expr, star=True))
        return operands

    def _spread_keywords(self, state: State, expr: ir.Expr, value: Value) -> list[Operand]:
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if isinstance(found, DictObject) and found.rest is None:
            return [Operand(item, expr, str(key)) for key, item in found.items]
        return [Operand(value, expr, "**")]

    # --- items and displays

    def _subscript(self, expr: ir.Subscript, state: State) -> Value:
        base = self.evaluate(expr.base, state)
        indices = [self.operand(index, state) for index in expr.indices]
        if isinstance(base, Fickle):
            return base
        if isinstance(base, External) and (unsteady := self.read_unsteady(expr, base.name)) is not None:
            return unsteady
        if isinstance(base, Attributes) and (name := word(indices)):
            return self.fetch(state, expr, Operand(base.holder), name)
        item = self.item_of(state, expr, base, indices)
        self.pick(state, expr, base, indices, item)
        item = self.fetched(item, base, key_of(expr))
        if len(indices) == 1 and isinstance(indices[0].value, Constant):
            self.pass_over(expr.base, indices[0].value.value)
        self.meet_element(state, expr, Operand(base, expr.base), item)
        return item

    def _slice(self, expr: ir.Slice, state: State) -> Value:
        for part in (expr.lower, expr.upper, expr.step):
            if part is not None:
                self.read(state, expr, [self.operand(part, state)])
        bounds = (part for part in (expr.lower, expr.upper, expr.step) if part is not None)
        return scalar_from(self.frame.values[part.at] for part in bounds)

    def _display(self, expr: ir.Display, state: State) -> Value:
        items: list[Value] = []
        rest: Value | None = None
        for item in expr.items:
            value = self.evaluate(item.value if isinstance(item, ir.Starred) else item, state)
            more = (
                self.iterate(state, item, value) if isinstance(item, ir.Starred) else SequenceValue((value,))
            )
            if rest is None:
                items += more.items
                rest = more.rest
            else:
                for one in (*more.items, *((more.rest,) if more.rest else ())):
                    rest = join(rest, one)
        if expr.kind == "tuple":
            return SequenceValue(tuple(items), rest)
        if expr.kind == "set":
            return SequenceValue(tuple(items), rest, kind="set")
        return self.allocate(state, ListObject(tuple(items), rest))

    def _starred(self, expr: ir.Starred, state: State) -> Value:
        return self.evaluate(expr.value, state)

    def _dict(self, expr: ir.DictDisplay, state: State) -> Value:
        items: dict[object, Value] = {}
        rest: Value | None = None
        for key, value_expr in expr.items:
            name = self.evaluate(key, state) if key is not None else NONE
            value = self.evaluate(value_expr, state)
            if key is None:
                found = self.object_at(state, value) if isinstance(value, Reference) else None
                if isinstance(found, DictObject):
                    items |= dict(found.items)
                    rest = found.rest if rest is None else rest
                else:
                    rest = Unknown(frozenset(state.tokens(value)))
            elif isinstance(name, Constant) and isinstance(name.value, (str, int, float, bool, bytes)):
                items[name.value] = value
            else:
                rest = value if rest is None else join(rest, value)
        return self.allocate(state, DictObject(tuple(items.items()), rest))

    # --- operators

    def _unary(self, expr: ir.Unary, state: State) -> Value:
        operand = self.operand(expr.operand, state)
        own = self.call_special(state, expr, operand.value, UNARY.get(expr.operator, ""))
        if own is not None:
            return own
        if expr.operator != "Not":
            return self.unary(state, expr, expr.operator, operand)
        self.read_truth(state, expr, operand)
        if isinstance(operand.value, Constant):
            return Constant(not operand.value.value)
        known = of_phases(python_operator.not_, operand.value) or of_settings(
            python_operator.not_, operand.value
        )
        return known or scalar_from((operand.value,))

    def _binary(self, expr: ir.Binary, state: State) -> Value:
        left, right = self.operand(expr.left, state), self.operand(expr.right, state)
        return self.operate(state, expr, expr.operator, left, right)

    def _comparison(self, expr: ir.Comparison, state: State) -> Value:
        operands = [self.operand(expr.left, state), *(self.operand(right, state) for right in expr.rights)]
        phased = _compared_by_phase(expr.operators, operands)
        if phased is not None:
            return phased
        if all(operator in ("Is", "IsNot") for operator in expr.operators):
            return _identity(expr.operators[0], operands)
        own = self.compare(state, expr, expr.operators[0], *operands) if len(operands) == 2 else None
        if own is not None:
            return own
        decided = _compared(expr.operators, operands)
        if decided is not None and not any(map(self.is_setting, (expr.left, *expr.rights))):
            return Constant(decided)
        shown = [self.value_at_hand(operand) for operand in operands]
        compare = _COMPARISONS.get(expr.operators[0])
        if compare is not None and len(shown) == 2 and (known := of_settings(compare, *shown)) is not None:
            return known
        self.pure.add((self.frame.scope.source.path, expr.at))
        self.read(state, expr, operands)
        if all(self._is_identity(operand) for operand in operands):
            return SCALAR  # whether two objects are the same does not change
        compared = [replace(one, value=self._compared_value(expr, one.value)) for one in operands]
        values = [operand.value for operand in compared]
        if any(isinstance(value, Tensor) for value in values):
            self.mix(state, expr, operands)
            decision = decision_in(operands)
            made = Tensor(layout=order_of(operands), storage=self.fresh(), grad=False, decision=decision)
            self.note_nature(values, made)
            return made
        if all(isinstance(value, (Scalar, Constant)) for value in values):
            return scalar_from(values)
        return Unknown(origin=self.fresh(), reading=self.mixed(expr, compared))

    def _compared_value(self, expr: ir.Expr, value: Value) -> Value:
        """``"FAST" in os.environ`` reads the environment."""
        unsteady = self.read_unsteady(expr, value.name) if isinstance(value, External) else None
        return value if unsteady is None else unsteady

    def _is_identity(self, operand: Operand) -> bool:
        if not isinstance(operand.expr, ir.Call):
            return False
        return self.frame.values.get(operand.expr.function.at) == External("builtins.id")

    def _boolean(self, expr: ir.Boolean, state: State) -> Value:
        left = self.operand(expr.left, state)
        self.read_truth(state, expr, left)
        if isinstance(left.value, Constant):
            goes_on = bool(left.value.value) == (expr.operator == "and")
            return self.evaluate(expr.right, state) if goes_on else left.value
        if isinstance(left.value, ByPhase):
            return self._boolean_on_phase(expr, left.value, state)
        truth = self.truth_at_hand(left)
        is_asked = None if truth is None else truth is (expr.operator == "and")
        short = state.split(0.5 if is_asked is None else 1.0 - is_asked)
        with self.frame.watch.inside_expression():
            right = self.evaluate(expr.right, state)
        state.become(join_states(short, state))
        joined = join(left.value, right)
        return joined if is_asked is None else settled(joined, (right if is_asked else left.value,))

    def _boolean_on_phase(self, expr: ir.Boolean, left: ByPhase, state: State) -> Value:
        """``is_recomputing() or ...``: the right side runs in one phase only."""
        before = state.phase
        replay, forward = self.branch_phase(state.fork())
        true, false = _sides(left, forward, replay)
        goes_on, done = (true, false) if expr.operator == "and" else (false, true)
        ends: list[tuple[State, Value]] = [(path, left) for path in done]
        ends += [(path, self.evaluate(expr.right, path)) for path in goes_on]
        self.note_choice(before, expr, ends)
        return self.join_ends(state, ends)

    def _conditional(self, expr: ir.Conditional, state: State) -> Value:
        before = state.phase
        true, false = self.branch_conditional(expr, state)
        with self.frame.watch.inside_expression():
            ends = [(path, self.evaluate(expr.body, path)) for path in true]
            ends += [(path, self.evaluate(expr.orelse, path)) for path in false]
        self.note_choice(before, expr, ends)
        return self.join_ends(state, ends) if ends else Unknown()

    def branch_conditional(self, expr: ir.Conditional, state: State) -> tuple[list[State], list[State]]:
        """The paths to the arms of a conditional expression, which may decide no more than what is stored."""
        asked = len(self.deeds)
        paths = self.branch(expr.test, state)
        goes_on = self.keeps_its_value(self.frame.statement)
        if not _only_names((expr.body, expr.orelse)):
            if goes_on and all(paths):
                weighed = self.frame.watch.weighed(expr.test)
                self.compute_with(state, weighed, (expr.test,), Decides.BRANCH)
        elif not goes_on:
            self.deeds.forget(asked, Sway)
        return paths

    # --- functions in expressions

    def _lambda(self, expr: ir.Lambda, state: State) -> Value:
        return self.make_function(expr.function, state)

    def make_function(self, definition: ir.Function, state: State) -> FunctionValue:
        """A function defined in the running frame; its defaults are evaluated now, as Python does."""
        frame = self.frame
        defaults = tuple(
            (parameter.name, self.evaluate(parameter.default, state))
            for parameter in definition.parameters
            if parameter.default is not None
        )
        if frame.kind == "class":  # a method does not see the names of the class body
            return FunctionValue(definition, frame.scope, frame.closure, frame.owner, defaults=defaults)
        self.closures[frame.id] = frame.closure
        return FunctionValue(definition, frame.scope, frame.id, defaults=defaults)

    def _comprehension(self, expr: ir.Comprehension, state: State) -> Value:
        names = [name for clause in expr.clauses for name in target_names(clause.target)]
        hidden = {name: state.frames.get(self.frame.id, {}).get(name) for name in names}
        self.frame.comprehension += names
        with self.frame.watch.inside_expression():
            found = self._run_clauses(expr, expr.clauses, state)
        for name in names:
            self.frame.comprehension.remove(name)
            before = hidden[name]
            if before is None:
                state.unbind(self.frame.id, name)
            else:
                state.bind(self.frame.id, name, before)
        if expr.kind == "dict":
            return self.allocate(state, DictObject((), _join(found)))
        if expr.kind == "list":
            return self.allocate(state, ListObject(found.items, found.rest))
        if expr.kind == "set":
            return Unknown(frozenset(state.tokens(found)), self.fresh())
        return SequenceValue(found.items, found.rest, kind="generator", origin=self.fresh())

    def _run_clauses(
        self, expr: ir.Comprehension, clauses: Sequence[ir.Clause], state: State
    ) -> SequenceValue:
        if not clauses:
            if expr.key is not None:
                self.evaluate(expr.key, state)
            return SequenceValue((self.evaluate(expr.element, state),))
        clause = clauses[0]
        operand = self.operand(clause.iterable, state)
        self.take_all(state, clause.iterable, [operand])
        sequence = self.iterate(state, clause.iterable, operand.value)
        items: list[Value] = []
        rest: Value | None = None
        exact = not clause.conditions
        for item in sequence.items:
            more = self._run_clause(expr, clause, clauses[1:], item, state)
            if exact and rest is None:
                items += more.items
                rest = more.rest
            else:
                rest = _join_all(rest, more)
        if sequence.rest is not None:
            skipped, weight = state.split(0.0), state.weight
            more = self._run_clause(expr, clause, clauses[1:], sequence.rest, state)
            self._repeat_claims(state, clause, skipped)
            state.become(join_states(skipped, state)) if not sequence.items else None
            state.weight = weight
            rest = _join_all(rest, more)
        return SequenceValue(tuple(items), rest)

    def _repeat_claims(self, state: State, clause: ir.Clause, before: State) -> None:
        """The next turn uses the same region names, but for those that depend on the target."""
        new = [
            claim
            for identity, claims in state.claimed.items()
            for claim in claims
            if identity not in before.claimed
        ]
        for name in target_names(clause.target):
            state.forget(f"{self.frame.id}:", name)
        for claim in new:
            if claim in state.claimed.get(claim.name.identity, ()):
                self.claim(state, claim)

    def _run_clause(
        self,
        expr: ir.Comprehension,
        clause: ir.Clause,
        inner: Sequence[ir.Clause],
        item: Value,
        state: State,
    ) -> SequenceValue:
        self.spend(state)
        self.assign(state, clause.target, Operand(item, clause.iterable))
        weight = state.weight
        for condition in clause.conditions:
            operand = self.operand(condition, state)
            self.read_truth(state, condition, operand)
            truth = self.truth_at_hand(operand)
            state.weight *= 0.5 if truth is None else truth
        found = self._run_clauses(expr, inner, state)
        state.weight = weight
        return found

    def _walrus(self, expr: ir.Walrus, state: State) -> Value:
        value = self.evaluate(expr.value, state)
        self.assign(state, expr.target, Operand(value, expr.value))
        self.frame.values[expr.target.at] = value
        return value

    def _await(self, expr: ir.Await, state: State) -> Value:
        return self.evaluate(expr.value, state)

    def _yield(self, expr: ir.Yield, state: State) -> Value:
        value = self.evaluate(expr.value, state) if expr.value is not None else NONE
        frame = self.frame
        self.note_returned(expr.value, [value])
        self.escape(state, value)
        frame.yielded = value if frame.yielded is None else join(frame.yielded, value)
        before = frame.seeded_at_yield
        frame.seeded_at_yield = state.seeded if before is None else before & state.seeded
        self.note_yield(state)
        return Unknown()

    # --- conditions

    def read_truth(self, state: State, node: ir.Node, operand: Operand) -> None:
        """``if tensor`` reads the tensor; ``if some_list`` does not."""
        self.select(state, node, decision_in([operand]))
        self.call_special_of(state, node, operand.value, ("__bool__", "__len__"))
        for value in alternatives(operand.value):
            if isinstance(value, Tensor):
                self.read(state, node, [Operand(value, operand.expr)])

    def branch(self, test: ir.Expr, state: State) -> tuple[list[State], list[State]]:
        """The paths on which a condition holds, and those on which it does not."""
        if isinstance(test, ir.Unary) and test.operator == "Not":
            true, false = self.branch(test.operand, state)
            return false, true
        if isinstance(test, ir.Boolean):
            return self._branch_boolean(test, state)
        operand = self.operand(test, state)
        self.read_truth(state, test, operand)
        value = operand.value
        self.decide(state, test, value, Decides.BRANCH)
        if isinstance(value, Constant) and not self.is_setting(test):
            return ([state], []) if value.value else ([], [state])
        if isinstance(value, ByPhase):
            replay, forward = self.branch_phase(state)
            return _sides(value, forward, replay)
        key, holds = self.condition_key(test)
        known = state.assumed.get(key) if key else None
        if known is not None:
            return ([state], []) if known is holds else ([], [state])
        truth = self.truth_at_hand(operand)
        if truth is None and self.reading_hooks:
            truth = self._of_nothing(test, state)
        if truth is not None and self.reading_hooks:  # a hook restores what it does here, or nothing
            return ([state], []) if truth else ([], [state])
        true_state, false_state = state, state.split(0.5 if truth is None else 1.0 - truth)
        if key:
            true_state.assumed[key] = holds
            false_state.assumed[key] = not holds
        if self._is_about_surroundings(test, state):
            true_state.chosen[test], false_state.chosen[test] = True, False
        if isinstance(value, PlaceholderTest):
            for token in list(direct_tokens(value.tested)):
                false_state.mark(token)
        self._narrow(test, true_state, false_state)
        return [true_state], [false_state]

    def _is_about_surroundings(self, test: ir.Expr, state: State) -> bool:
        """Whether a condition is about globals alone: it asks neither an argument nor an object."""
        names = {one.id for one, _ in evaluated((test,)) if isinstance(one, ir.Name)}
        is_local = self.frame.id != self.frame.scope.frame
        known = state.frames.get(self.frame.id, {}).keys() if is_local else frozenset()
        return names <= self.frame.scope.names.keys() - known

    def _of_nothing(self, test: ir.Expr, state: State) -> bool | None:
        """What a condition says of an empty container: it holds nothing. None for anything else."""
        asked, holds = test, False
        if isinstance(test, ir.Comparison) and test.operators in (("In",), ("NotIn",)):
            asked, holds = test.rights[0], test.operators == ("NotIn",)
        value = self.frame.values.get(asked.at)
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if not isinstance(found, (ListObject, DictObject)) or found.items or found.rest is not None:
            return None
        return holds

    def truth_at_hand(self, operand: Operand) -> bool | None:
        """Whether a condition holds in the program at hand; None where nobody knows."""
        known = at_hand(self.value_at_hand(operand))
        return None if known is None else bool(known.value)

    def value_at_hand(self, operand: Operand) -> Value:
        """A value, unless it is a constant of an object that may have another one."""
        value, expr = operand.value, operand.expr
        if isinstance(value, Constant) and isinstance(expr, ir.Attribute) and self.is_setting(expr):
            holder = self.frame.values.get(expr.base.at)
            return value if holder is None or self.is_known_part(holder, expr.name) else SCALAR
        return value

    def is_setting(self, expr: ir.Expr) -> bool:
        """Whether an expression may be another constant in the next run: an attribute, but for the mode."""
        return isinstance(expr, ir.Attribute) and expr.name != "training"

    def _branch_boolean(self, test: ir.Boolean, state: State) -> tuple[list[State], list[State]]:
        true, false = self.branch(test.left, state)
        goes_on, done = (true, false) if test.operator == "and" else (false, true)
        more_true: list[State] = []
        more_false: list[State] = []
        for path in goes_on:
            right_true, right_false = self.branch(test.right, path)
            more_true += right_true
            more_false += right_false
        return (more_true, done + more_false) if test.operator == "and" else (done + more_true, more_false)

    def branch_phase(self, state: State) -> tuple[list[State], list[State]]:
        """The paths of the replay, and those of the forward."""
        if state.phase is Phase.REPLAY:
            return [state], []
        if state.phase is Phase.FORWARD:
            return [], [state]
        self.cut_short = False
        state.parted = self.fresh()
        replay, forward = state, state.fork()
        replay.phase, forward.phase = Phase.REPLAY, Phase.FORWARD
        return [replay], [forward]

    def _narrow(self, test: ir.Expr, true: State, false: State) -> None:
        """``if y is None`` and ``if y``: what the name is on either path."""
        if isinstance(test, ir.Call):
            self._narrow_to_class(test, true)
            return
        expr, negated = test, False
        if isinstance(test, ir.Comparison) and test.operators in (("Is",), ("IsNot",)):
            right = test.rights[0]
            if not (isinstance(right, ir.Const) and right.value is None):
                return
            expr, negated = test.left, test.operators == ("Is",)
        if not isinstance(expr, ir.Name):
            return
        value = true.frames.get(self.frame.id, {}).get(expr.id)
        if isinstance(value, Choice) and NONE in value.alternatives:
            others = [one for one in value.alternatives if one != NONE]
            present = others[0] if len(others) == 1 else Choice(tuple(others))
            there, absent = (false, true) if negated else (true, false)
            self._rebind(there, expr.id, present)
            if isinstance(test, ir.Comparison):
                self._rebind(absent, expr.id, NONE)

    def _narrow_to_class(self, test: ir.Call, true: State) -> None:
        """``if isinstance(module, Attention)``: what reads a module of the project is code of the project."""
        values, arguments = self.frame.values, [argument.value for argument in test.arguments]
        if values.get(test.function.at) != External("builtins.isinstance") or len(arguments) != 2:
            return
        name, kind = arguments[0], values.get(arguments[1].at)
        if isinstance(name, ir.Name) and isinstance(kind, ClassValue):
            value = true.frames.get(self.frame.id, {}).get(name.id)
            if isinstance(value, Unknown) and value.origin in self.picked:
                self._rebind(true, name.id, Unknown(origin=self.fresh()))

    def _rebind(self, state: State, name: str, value: Value) -> None:
        assumed = dict(state.assumed)
        state.bind(self.frame.id, name, value)
        state.assumed = assumed

    def condition_key(self, test: ir.Expr) -> tuple[str, bool]:
        """A text that is equal for equal conditions of one frame, and whether the condition is its truth.

        Empty where the condition can change without a name in it being written.
        """
        words, holds = _stable_text(test), True
        for negative, positive in ((" IsNot ", " Is "), (" NotEqual ", " Equal ")):
            if negative in words:
                words, holds = words.replace(negative, positive), False
        return (f"{self.frame.id}:{words}" if words else ""), holds

    # --- assignment

    def _note_unpacked(self, target: ir.Expr, value: Value) -> None:
        """A local name is bound to an element of state: to what it holds, as well as to a part of it."""
        held, origins = self.root_of(self.number_of(value)), self.frame.watch.origins
        if isinstance(target, ir.Name) and target.id in origins and held[0] and self.is_others(held[0]):
            origins[target.id] |= {held}

    def assign(self, state: State, target: ir.Expr, operand: Operand) -> None:
        """``target = value``."""
        match target:
            case ir.Name(id=name):
                self.note_name(state, target, operand)
                self.frame.watch.bind(name, operand.expr)
                if name in self.frame.watch.origins:
                    self.frame.watch.narrow(name, self.root_of(self.number_of(operand.value)))
                self.bind_name(state, name, operand.value)
            case ir.Display(items=items):
                self.take_all(state, operand.expr or target, [operand])
                values = list(self.unpack(state, target, operand.value, items))
                copies = self.copies_of(state, self.given_to_locals(operand.expr, items))
                for index, (item, value) in enumerate(zip(items, values, strict=True)):
                    inner = item.value if isinstance(item, ir.Starred) else item
                    is_local = isinstance(inner, (ir.Name, ir.Display))
                    given = _unpacked(operand.expr, items, index) if is_local else None
                    self.assign(state, inner, Operand(value, given))
                    self._note_unpacked(inner, value)
                state.moves = {**state.moves, **copies}
            case ir.Starred(value=inner):
                self.assign(state, inner, operand)
            case ir.Attribute(base=base):
                self.store(state, target, self.operand(base, state), operand)
            case ir.Subscript(base=base, indices=indices):
                holder_operand = self.operand(base, state)
                keys = [self.operand(index, state) for index in indices]
                self.store_item(state, target, holder_operand, keys, operand)
            case _:
                return

    def bind_name(self, state: State, name: str, value: Value) -> None:
        """Bind a local name, or an outer one that is declared ``nonlocal``."""
        function = self.frame.function
        number = self.frame.id
        if function is not None and name in function.nonlocals:
            number = self.owner_around(state, name) or number
        elif function is not None and name in function.globals:
            number = self.frame.scope.frame
        elif self.frame.kind == "module":
            self.frame.scope.names[name] = value
        state.bind(number, name, value)


def _unpacked(expr: ir.Expr | None, targets: Sequence[ir.Expr], index: int) -> ir.Expr | None:
    """The expression that gives one of several targets its value, or all of them together theirs."""
    is_plain = not any(isinstance(target, ir.Starred) for target in targets)
    if isinstance(expr, ir.Display) and is_plain and len(expr.items) == len(targets):
        return expr.items[index]
    return expr


def _only_names(exprs: Sequence[ir.Expr]) -> bool:
    """Whether nothing is computed for these expressions."""
    return all(isinstance(part, (ir.Name, ir.Attribute, ir.Const)) for part, _ in evaluated(exprs))


def _sides(value: ByPhase, forward: list[State], replay: list[State]) -> tuple[list[State], list[State]]:
    """The paths on which what depends on the phase is true, and those on which it is not."""
    true = [*(replay if value.replay else ()), *(forward if value.forward else ())]
    return true, [path for path in (*replay, *forward) if path not in true]


def _identity(operator: str, operands: Sequence[Operand]) -> Value:
    """``a is b`` where the source decides it: comparisons with ``None``."""
    left, right = operands[0].value, operands[1].value
    if right != NONE or isinstance(left, (Unknown, Choice, Scalar)):
        known = of_settings(_IDENTITIES[operator], left, right)
        if known is not None:
            return known
        if right == NONE and isinstance(left, Choice) and left.absent is False:
            return as_setting(Constant(operator == "IsNot"))
        return scalar_from((left, right))
    return Constant((left == NONE) == (operator == "Is"))


def _compared(operators: Sequence[str], operands: Sequence[Operand]) -> bool | None:
    """The truth of a comparison of two numbers or strings that the source shows."""
    values = [operand.value.value for operand in operands if isinstance(operand.value, Constant)]
    if len(values) != 2 or len(operands) != 2 or operators[0] not in _COMPARISONS:
        return None
    left, right = values
    comparable = isinstance(left, (int, float)) and isinstance(right, (int, float))
    if comparable or (isinstance(left, str) and isinstance(right, str)):
        return bool(_COMPARISONS[operators[0]](left, right))
    return None


def _compared_by_phase(operators: Sequence[str], operands: Sequence[Operand]) -> Value | None:
    """The truth of a comparison with what depends on the phase: ``remat.is_recomputing() is False``."""
    compare = _COMPARISONS.get(operators[0]) or _IDENTITIES.get(operators[0])
    if compare is None or len(operands) != 2:
        return None
    return of_phases(compare, *(operand.value for operand in operands))


_IDENTITIES: dict[str, Callable[[Any, Any], Any]] = {
    "Is": python_operator.is_,
    "IsNot": python_operator.is_not,
}

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Equal": python_operator.eq,
    "NotEqual": python_operator.ne,
    "LessThan": python_operator.lt,
    "LessThanEqual": python_operator.le,
    "GreaterThan": python_operator.gt,
    "GreaterThanEqual": python_operator.ge,
}


def _stable_text(expr: ir.Expr) -> str:
    match expr:
        case ir.Name(id=name):
            return name
        case ir.Const(value=value):
            return repr(value)
        case ir.Attribute(base=base, name=name):
            text = _stable_text(base)
            return f"{text} .{name}" if text else ""
        case ir.Comparison(left=left, operators=operators, rights=rights) if len(rights) == 1:
            first, second = _stable_text(left), _stable_text(rights[0])
            return f"{first} {operators[0]} {second}" if first and second else ""
        case _:
            return ""


def _text_of(expr: ir.Format, values: Sequence[Value]) -> str | None:
    """What an f-string says that puts names together; None where it formats anything else."""
    names = [one.value for one in values if isinstance(one, Constant) and isinstance(one.value, str)]
    pieces = expr.template.split("{}")
    if len(names) < len(values) or len(pieces) != len(names) + 1:
        return None
    return "".join(piece + name for piece, name in zip(pieces, [*names, ""], strict=True))


def _join(sequence: SequenceValue) -> Value | None:
    return _join_all(None, sequence)


def _join_all(first: Value | None, sequence: SequenceValue) -> Value | None:
    joined = first
    for item in (*sequence.items, *((sequence.rest,) if sequence.rest else ())):
        joined = item if joined is None else join(joined, item)
    return joined


def _computes(called: Value) -> bool:
    """Whether what is called is a module, a function of the project, or one of torch."""
    return isinstance(called, (Reference, FunctionValue)) or qualified(called).startswith("torch.")


_BUILTIN_NAMES = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "callable",
        "complex",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "Exception",
        "BaseException",
        "RuntimeError",
        "ValueError",
        "TypeError",
        "NotImplementedError",
        "KeyError",
    ]
)

_EVALUATORS: dict[type[ir.Expr], Callable[[Any, Any, State], Value]] = {
    ir.Name: Expressions._name,
    ir.Const: Expressions._const,
    ir.Format: Expressions._format,
    ir.Attribute: Expressions._attribute,
    ir.Call: Expressions._call,
    ir.Subscript: Expressions._subscript,
    ir.Slice: Expressions._slice,
    ir.Display: Expressions._display,
    ir.Starred: Expressions._starred,
    ir.DictDisplay: Expressions._dict,
    ir.Unary: Expressions._unary,
    ir.Binary: Expressions._binary,
    ir.Comparison: Expressions._comparison,
    ir.Boolean: Expressions._boolean,
    ir.Conditional: Expressions._conditional,
    ir.Lambda: Expressions._lambda,
    ir.Comprehension: Expressions._comprehension,
    ir.Walrus: Expressions._walrus,
    ir.Await: Expressions._await,
    ir.Yield: Expressions._yield,
}
