"""Region names: what the source calls a region, and when two names are the same at run time.

torch_remat joins the prefixes of the name scopes around a call and the region's own name with ``/``. The
scopes are those of the task: a checkpoint begins a new set of names, and keeps the scopes around it.

Most names are literals. Of one that is computed the analyser knows how: ``f"mix.{stage}"`` is the same name
again as long as ``stage`` is not written, and ``self.remat_region_name("q")`` is one for each object, told
apart by the way on which it was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from remat_lint.analysis import ir
from remat_lint.analysis.decisions import Decisions
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.facts import DuplicateName
from remat_lint.analysis.machine import Frame, Operand
from remat_lint.analysis.state import Claim, Condition, State, Way
from remat_lint.analysis.values import (
    Constant,
    External,
    FunctionValue,
    InstanceObject,
    Reference,
    RegionName,
    Value,
)

Spelling = tuple[str, frozenset[str]]
"""A text that is equal for equal values, and the variables on which that depends."""

_FIXED: frozenset[str] = frozenset()
_WRITTEN_OUT = ("builtins.str", "builtins.repr", "builtins.format")

MAX_NAMES = 64
"""Region names that a call hands on to its caller: under scopes they multiply with every level of calls."""


class Names(Decisions):
    """Says what regions and scopes are called."""

    def name_given(self, state: State, operand: Operand | None) -> RegionName:
        """The name that an argument of ``region`` or ``name_scope`` gives."""
        if operand is None:
            return RegionName("without a name")
        spelled = self._spell_operand(state, operand)
        return RegionName(self._shown(operand), *(spelled or ("", _FIXED)))

    def _shown(self, operand: Operand) -> str:
        if isinstance(operand.value, Constant) and isinstance(operand.value.value, str):
            return operand.value.value or "without a name"
        expr = operand.expr
        if isinstance(expr, ir.Format):
            return expr.template
        if isinstance(expr, ir.Call) and expr.arguments:
            local = self.frame.values.get(expr.arguments[-1].value.at)
            if isinstance(local, Constant) and isinstance(local.value, str):
                return local.value
        return self.text(expr) if expr is not None else "of a computed name"

    # --- the names that a checkpointed body uses

    def claim(self, state: State, claim: Claim) -> None:
        """A region that is not inert uses up its name in the checkpointed body that runs."""
        name = claim.name
        if not name.identity or not self._are_at_hand(name.variables):
            return
        earlier = [one for one in state.claimed.get(name.identity, ()) if not one.excludes(claim)]
        if not earlier:
            state.claim(claim)
            return
        place, first = claim.seen_after(earlier[0])
        text = name.under(self.name_scopes[: self.frame.scopes_around]).text
        self.reject(DuplicateName(place, text, first, claim.way.steps()[-1][1]))

    def own_scopes(self) -> tuple[RegionName, ...]:
        """The name scopes that the running frame has entered, as one."""
        own = self.name_scopes[self.frame.scopes_around :]
        return (own[-1].under(own[:-1]),) if own else ()

    def claims_of_call(self, state: State, conditions: frozenset[Condition]) -> tuple[Claim, ...]:
        """The names that the call which ends now used; ``conditions`` are those that held before it."""
        return tuple(
            replace(claim, conditions=claim.conditions - conditions)
            if not conditions.isdisjoint(claim.conditions)
            else claim
            for claims in state.claimed.values()
            for claim in claims
        )

    def claim_for_caller(self, state: State, node: ir.Expr, callee: Frame, claims: Sequence[Claim]) -> None:
        """Claim the names that a call used, in terms of the frame that called."""
        if self._has_checkpoint_elsewhere(state, callee):
            return
        if len(claims) > MAX_NAMES:
            self.give_up(node, "too many region names")
            claims = claims[:MAX_NAMES]
        conditions, frame, place, call = state.conditions(), self.frame.id, self.place(node), self.fresh()
        scopes = self.own_scopes()
        handed = cache(lambda parameter: self._spell_handed(state, callee, parameter))
        for claim in claims:
            name = _for_caller(claim.name, callee, handed)
            if name is not None:
                way = Way(frame, place, call, claim.way)
                self.claim(state, Claim(name.under(scopes), way, claim.conditions | conditions))

    def _has_checkpoint_elsewhere(self, state: State, callee: Frame) -> bool:
        """Whether a call runs a module that is no part of this body, where no checkpoint is in view.

        The layers of a stack are wrapped one by one where the model is put together; without gradients
        a whole model runs, and no checkpoint begins.
        """
        receiver = callee.receiver
        if self.checkpoints or not isinstance(receiver, Reference) or receiver == self.frame.receiver:
            return False
        if not self.grad_enabled:
            return True
        return receiver.address in self.elements and not self.has_own_name(state, callee)

    def _are_at_hand(self, variables: frozenset[str]) -> bool:
        """Whether names belong to frames that still run: others say nothing about this call."""
        if not variables:
            return True
        running = {str(frame.id) for frame in self.active_frames()}
        owners = {variable.partition(":")[0] for variable in variables if ":" in variable}
        return owners <= running

    # --- how a name is computed

    def _spell_operand(self, state: State, operand: Operand) -> Spelling | None:
        written = _written(operand.value)
        if written is not None:
            return written, _FIXED
        return self._spell(state, operand.expr) if operand.expr is not None else None

    def _spell(self, state: State, expr: ir.Expr) -> Spelling | None:
        """How an expression of the running frame is computed; None where it may differ each time."""
        written = _written(self.frame.values.get(expr.at))
        if written is not None:
            return written, _FIXED
        match expr:
            case ir.Const():
                text = _written(Constant(expr.value))
                return (text, _FIXED) if text is not None else None
            case ir.Name(id=name):
                return self._spell_name(state, name)
            case ir.Attribute(base=base, name=name):
                spelled = self._spell(state, base)
                return (f"{spelled[0]}.{name}", spelled[1] | {f".{name}"}) if spelled else None
            case ir.Format(values=values, template=template):
                return self._spell_parts(state, values, template)
            case ir.Binary(operator="Add", left=left, right=right):
                return self._spell_parts(state, (left, right), "{}{}")
            case ir.Subscript(base=base, indices=indices):
                return self._spell_parts(state, (base, *indices), "{}[" + "{}," * len(indices) + "]")
            case ir.Call():
                return self._spell_call(state, expr)
            case _:
                return None

    def _spell_parts(self, state: State, exprs: Sequence[ir.Expr], template: str) -> Spelling | None:
        """A text with the spelling of one expression for each ``{}``."""
        text, *after = template.split("{}")
        variables = _FIXED
        for expr, between in zip(exprs, after, strict=False):
            spelled = self._spell(state, expr)
            if spelled is None:
                return None
            text += spelled[0] + between
            variables |= spelled[1]
        return text, variables

    def _spell_name(self, state: State, name: str) -> Spelling:
        for number in self.scopes_around():
            value = state.frames.get(number, {}).get(name)
            if value is not None:
                written = _written(value)
                variable = f"{number}:{name}"
                return (
                    (written, _FIXED) if written is not None else (f"{{{variable}}}", frozenset({variable}))
                )
        return f"{{{name}}}", _FIXED

    def _spell_call(self, state: State, call: ir.Call) -> Spelling | None:
        """``self.remat_region_name("q")``, ``str(index)``: a call that gives the same name each time."""
        arguments = [argument.value for argument in call.arguments]
        if any(argument.star for argument in call.arguments):
            return None
        if not self._gives_one_name(state, call):
            return None
        return self._spell_parts(state, (call.function, *arguments), "{}(" + "{}," * len(arguments) + ")")

    def _gives_one_name(self, state: State, call: ir.Call) -> bool:
        function, values = call.function, self.frame.values
        if isinstance(function, ir.Name):
            value = values.get(function.at)
            if isinstance(value, External):
                return value.name in _WRITTEN_OUT
            return isinstance(value, FunctionValue) and _is_plain(value.definition)
        if not isinstance(function, ir.Attribute) or not call.arguments:
            return False
        holder = values.get(function.base.at)
        if isinstance(holder, Constant):
            return function.name == "format"
        method = self.attribute_of(state, function, holder, function.name) if holder is not None else None
        if isinstance(method, FunctionValue):
            return _is_plain(method.definition)
        return all(isinstance(argument.value, (ir.Const, ir.Attribute)) for argument in call.arguments)

    # --- names of a callee, for its caller

    def _spell_handed(self, state: State, callee: Frame, parameter: str) -> Spelling | None:
        function = callee.function
        if function is None or any(
            parameter in assigned_names(one) for one in inner_statements(function.body)
        ):
            return None
        if callee.receiver is not None and function.parameters[0].name == parameter:
            return self._spell_receiver(state, callee)
        handed = _handed(callee, function, parameter)
        return self._spell_operand(state, handed) if handed is not None else None

    def _spell_receiver(self, state: State, callee: Frame) -> Spelling | None:
        """The object whose method was called, by the way on which the caller reached it: ``self.gate``.

        Objects that are constructed alike are one for the analyser, so the object itself tells nothing.
        """
        frame = self.frame
        if frame.receiver == callee.receiver and frame.function is not None:
            return self._spell_name(state, frame.function.parameters[0].name)
        expr = self._expression_of_receiver(state, callee)
        return self._spell(state, expr) if expr is not None else None

    def _expression_of_receiver(self, state: State, callee: Frame) -> ir.Expr | None:
        """The expression of the caller whose value is the object that it calls, or calls a method of."""
        values, receiver = self.frame.values, callee.receiver
        if not isinstance(callee.call, ir.Call):
            return None
        function = callee.call.function
        if values.get(function.at) == receiver:
            return function
        if not isinstance(function, ir.Attribute):
            return None
        holder = values.get(function.base.at)
        if holder == receiver:
            return function.base
        found = self.object_at(state, holder) if isinstance(holder, Reference) else None
        return (
            function if isinstance(found, InstanceObject) and found.get(function.name) == receiver else None
        )

    def has_own_name(self, state: State, callee: Frame) -> bool:
        """Whether the object that is called is an attribute or a global: no element of something."""
        match self._expression_of_receiver(state, callee):
            case ir.Attribute():
                return True
            case ir.Name(id=name):
                return all(name not in state.frames.get(number, {}) for number in self.scopes_around())
            case _:
                return False


def _for_caller(
    name: RegionName, callee: Frame, handed: Callable[[str], Spelling | None]
) -> RegionName | None:
    """A name that a call used, in terms of the frame that called; None where it has no such name.

    ``handed`` says how that frame spells what a parameter was given.
    """
    if not name.variables:
        return name
    identity, variables = name.identity, set(name.variables)
    for variable in name.variables:
        owner, _, parameter = variable.partition(":")
        if owner != str(callee.id):
            continue
        spelled = handed(parameter)
        if spelled is None:
            return None
        identity = identity.replace(f"{{{variable}}}", spelled[0])
        variables = (variables - {variable}) | spelled[1]
    return RegionName(name.text, identity, frozenset(variables))


def _written(value: Value | None) -> str | None:
    """A constant as an f-string writes it."""
    if isinstance(value, Constant) and isinstance(value.value, (str, int, float)):
        return str(value.value)
    return None


def _handed(frame: Frame, function: ir.Function, name: str) -> Operand | None:
    """What a parameter of a call was given."""
    named = next((operand for operand in frame.operands if operand.keyword == name), None)
    if named is not None:
        return named
    positional = [operand for operand in frame.operands if operand.keyword is None]
    slots = [parameter.name for parameter in function.parameters if parameter.kind == "positional"]
    if name not in slots or any(operand.star for operand in positional):
        return None
    index = slots.index(name)
    return positional[index] if index < len(positional) else None


def _is_plain(function: ir.Function) -> bool:
    """Whether a function only works out a result: it changes nothing and takes nothing from an iterator."""
    return not function.is_generator and all(
        _changes_nothing(statement) for statement in inner_statements(function.body)
    )


def _changes_nothing(statement: ir.Stmt) -> bool:
    if not isinstance(statement, (ir.Expression, ir.Assign, ir.Return, ir.If, ir.Raise, ir.Assert, ir.Jump)):
        return False
    if isinstance(statement, ir.Assign) and not all(isinstance(t, ir.Name) for t in statement.targets):
        return False
    return not any(
        isinstance(expr, ir.Call) and isinstance(expr.function, ir.Name) and expr.function.id == "next"
        for expr, _ in evaluated(header(statement))
    )


def inner_statements(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a body, and those inside them."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "final"):
            yield from inner_statements(getattr(statement, name, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from inner_statements(part.body)


def assigned_names(statement: ir.Stmt) -> set[str]:
    """The plain names that a statement itself binds."""
    targets: Sequence[ir.Expr] = getattr(statement, "targets", ())
    target = getattr(statement, "target", None)
    found = [*targets, *((target,) if target is not None else ())]
    if isinstance(statement, ir.With):
        found += [name for _, name in statement.items if name is not None]
    return {name for one in found for name in target_names(one)}


def target_names(target: ir.Expr) -> list[str]:
    """The names that an assignment target binds."""
    match target:
        case ir.Name(id=name):
            return [name]
        case ir.Display(items=items):
            return [name for item in items for name in target_names(item)]
        case ir.Starred(value=value):
            return target_names(value)
        case _:
            return []
