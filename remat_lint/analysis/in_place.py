"""Which tensors that were there before the running call it changes in place, and what comes of it on replay.

Operations in place, assignments to a part of a tensor, and the statistics of modules of torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import children, evaluated, header
from remat_lint.analysis.facts import Outcome, Written
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import (
    NONE,
    Constant,
    InheritedMethod,
    InstanceObject,
    ListObject,
    Reference,
    Unknown,
    alternatives,
    reading_of,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import WEIGHTS, Held, concerns, element_of, grown_in, is_kept_by
from remat_lint.analysis.writes import Writes
from remat_lint.checkpoint_forms import ATTRIBUTES

_COLLECTIVES = (
    "all_gather all_gather_into_tensor _all_gather_base all_to_all all_to_all_single broadcast scatter recv "
    "irecv reduce_scatter reduce_scatter_tensor _reduce_scatter_base"
)

_OVERWRITING = frozenset(
    ["zero_", "fill_", "copy_", "set_", "_foreach_copy_", "_foreach_zero_", *_COLLECTIVES.split()]
)
"""Operations in place, and collectives, that do not look at what they change."""

_SETTLED = (
    "abs ceil clamp clamp_max clamp_min clip fill_diagonal floor index_copy index_fill index_put masked_fill "
    "masked_scatter nan_to_num relu relu6 round scatter sgn sign tril triu trunc"
)

_SETTLING = frozenset(f"{name}_" for name in _SETTLED.split())
"""Operations in place that change nothing when they are done again with what they were given."""

_TRUE = ir.Const(0, True)


class InPlaceWrites(Writes):
    """Notes changes of tensors."""

    def changes_in_place(self, state: State, target: Operand, value: Operand) -> bool:
        """Whether ``target += value`` of a local name changes an unknown list or tensor of somebody else."""
        if not isinstance(target.expr, ir.Name) or not isinstance(target.value, Unknown):
            return False
        found = self.object_at(state, value.value) if isinstance(value.value, Reference) else None
        return isinstance(found, ListObject) or target.value.origin in self.tensors

    def note_extended(self, state: State, statement: ir.AugAssign, target: Operand, value: Operand) -> None:
        """``target += value`` of a list, or of what is unknown."""
        if isinstance(target.value, Unknown) and target.value.origin in self.tensors:
            self.note_in_place(state, statement, target)
            return
        held = self.held_by(state, target)
        if held is not None:
            self.note_set(state, statement.target, held, Written.ELEMENT, value)

    def tensors_in(self, state: State, operand: Operand) -> Iterator[Operand]:
        """What an operation on a list of tensors changes: each of them."""
        value, expr = operand.value, operand.expr
        found = self.object_at(state, value) if isinstance(value, Reference) else value
        if isinstance(found, (ListObject, SequenceValue)):
            shown = expr.items if isinstance(expr, ir.Display) and len(expr.items) == len(found.items) else ()
            for index, item in enumerate(found.items):
                yield Operand(item, shown[index] if shown else expr)
        else:
            yield operand

    def note_in_place(self, state: State, node: ir.Node, operand: Operand, *, counted: bool = True) -> None:
        """A tensor is changed in place, by an operation or by assigning to a part of it.

        Autograd notices what is ``counted`` by the version of the tensor.
        """
        held, certain = self.held_by(state, operand), True
        while held is not None and held[0] in self.aliases and not self.is_others(held[0]):
            held, certain = self.root_of(self.aliases[held[0]]), False
        if held is None or _is_chained(operand.expr):
            return
        self.note_handled(held)
        self.move_state(state, held)
        overwrites = self._overwrites(node)
        self.note_changed(state, operand.expr or node, held, self.text(node), None, whole=overwrites)
        watch, statement = self.frame.watch, self.frame.statement
        assigned = statement.value if isinstance(statement, ir.Assign) else None
        if isinstance(node, ir.Attribute) and self._is_moved(state, assigned, held):
            return
        replaces_part = isinstance(node, ir.Subscript) and not isinstance(statement, ir.AugAssign)
        grows = replaces_part and concerns(element_of(node, held), grown_in(watch, assigned))
        settles = isinstance(node, ir.Call) and node.method in _SETTLING
        grows |= overwrites and self._is_made_of_it(node, operand.expr, held)
        again = (overwrites or replaces_part or settles) and not grows
        if overwrites and again:
            watch.replace(held)
        is_whole = (overwrites and not grows) or watch.was_replaced(held)
        outcome = Outcome.REPLACED if again or is_whole else Outcome.ADVANCED
        written = Written.BUFFER
        if self._is_input(held, operand.expr):
            written = Written.INPUT
            outcome = self._outcome_for_input(node, held, operand, outcome)
        elif is_whole and self._gives_the_same(node, held):
            outcome = Outcome.REPEATED
        counted = counted and not _goes_around_autograd(node, operand.expr)
        shown = operand.expr if operand.expr is not None else node
        self.note_outcome(state, node, held, written, outcome, shown, certain=certain, counted=counted)

    def _is_moved(self, state: State, expr: ir.Expr | None, held: Held) -> bool:
        """Whether a value is the state itself, at most on another device: ``self.w.data.to(device)``."""
        while isinstance(expr, ir.Call) and is_kept_by(expr):
            expr = expr.receiver
        if not isinstance(expr, ir.Attribute) or expr.at not in self.frame.values:
            return False
        return self.held_by(state, Operand(self.frame.values[expr.at], expr)) == held

    def _overwrites(self, node: ir.Node) -> bool:
        is_data = isinstance(node, ir.Attribute) and node.name == "data"
        return is_data or (isinstance(node, ir.Call) and node.method in _OVERWRITING)

    def _is_made_of_it(self, node: ir.Node, target: ir.Expr | None, held: Held) -> bool:
        """Whether a tensor is overwritten with what is computed from itself: ``b.copy_(b * 0.9 + x)``."""
        match node, self.frame.statement:
            case ir.Call(function=ir.Attribute(base=base), arguments=arguments), _ if base is target:
                given = [argument.value for argument in arguments]
            case ir.Attribute(), ir.Assign(value=ir.Expr() as value):
                given = [value]
            case _:
                return False
        watch = self.frame.watch
        computed = (
            part.function.base
            for part, _ in evaluated(given)
            if isinstance(part, ir.Call) and isinstance(part.function, ir.Attribute) and _computes(part)
        )
        return any(concerns(held, grown_in(watch, expr)) for expr in given) or any(
            concerns(held, watch.mentioned(base)) for base in computed
        )

    def _gives_the_same(self, node: ir.Node, held: Held) -> bool:
        """Whether a write in place is one of constants, sizes and steady things, not of what it writes to."""
        if isinstance(node, ir.Call):
            operation = torch_ops.method(node.method)
            if operation is None or operation.draws:
                return False
        given, mentioned = self._given(node), self.frame.watch.mentioned
        return bool(given) and all(self._is_the_same(part) and held not in mentioned(part) for part in given)

    def _is_the_same(self, expr: ir.Expr) -> bool:
        """Whether an expression is equal each time, whoever shares what is changed: no object's own value."""
        if isinstance(expr, ir.Slice):
            return all(map(self._is_the_same, children(expr)))
        values = self.frame.values
        value = Constant(expr.value) if isinstance(expr, ir.Const) else values.get(expr.at)
        if value is None or reading_of(value) is not None:
            return False
        is_own = any(
            isinstance(part, ir.Attribute) and isinstance(values.get(part.base.at), Reference)
            for part, _ in evaluated((expr,))
        )
        return not is_own and (self.is_surely_steady(value) or self.is_learned(value))

    # --- what the function was handed

    def _is_input(self, held: Held, expr: ir.Expr | None) -> bool:
        """Whether a tensor came into the call as itself, not as part of an object."""
        while isinstance(expr, (ir.Attribute, ir.Subscript, ir.Call)):
            if isinstance(expr, ir.Attribute) and expr.name not in _VIEWING:
                return False
            expr = expr.receiver if isinstance(expr, ir.Call) else expr.base
        if not isinstance(expr, ir.Name) or held[1] or held[0] in self.outside:
            return False
        return not self.frame.watch.origins.get(expr.id)

    def _outcome_for_input(self, node: ir.Node, held: Held, operand: Operand, outcome: Outcome) -> Outcome:
        """What comes of it that what the function was handed is changed, where autograd does not see that."""
        given = self._given(node)
        if any(self._has(expr, held[0]) for expr in given) or self._is_seen_before(operand.expr):
            return Outcome.COMPUTED
        if outcome is Outcome.REPLACED and given and all(map(self._is_the_same, given)):
            return Outcome.REPEATED
        return outcome

    def _given(self, node: ir.Node) -> Sequence[ir.Expr]:
        """What a change in place is given: the expressions of its places and values."""
        statement = self.frame.statement
        match node:
            case ir.Call(function=ir.Attribute(), arguments=arguments):
                return [argument.value for argument in arguments] or [_TRUE]
            case ir.Subscript(indices=indices) if isinstance(statement, ir.Assign) and statement.value:
                return [*indices, statement.value]
            case _:
                return []

    def _has(self, expr: ir.Expr, number: int) -> bool:
        """Whether something in an expression is what has this number, or part of it."""
        values = (self.frame.values.get(part.at) for part, _ in evaluated((expr,)))
        return any(value is not None and self.root_of(self.number_of(value))[0] == number for value in values)

    def _is_seen_before(self, expr: ir.Expr | None) -> bool:
        """Whether the function looks at an argument, further up, before the statement that changes it."""
        function, statement = self.frame.function, self.frame.statement
        names = {part.id for part, _ in evaluated((expr,) if expr else ()) if isinstance(part, ir.Name)}
        if function is None or statement is None:
            return True
        return any(
            isinstance(part, ir.Name) and part.id in names
            for one in nested(function.body)
            if one.at < statement.at
            for part, _ in evaluated(_looked_at(one))
        )

    # --- modules of torch

    def note_statistics(
        self, state: State, node: ir.Expr, reference: Reference, name: str, module: InstanceObject
    ) -> None:
        """A module of torch runs: it computes with its weights, and some keep statistics in training."""
        if not self.frame.watch.changed.isdisjoint(WEIGHTS):
            self.compute_with(state, frozenset((reference.address, f".{weight}") for weight in WEIGHTS))
        if module.get("training") == Constant(False):
            return
        shown = self._name_of_called(node) or name.rpartition(".")[2]
        if module.get(SPECTRAL) is not None:
            self.note_outcome(
                state, node, (reference.address, ""), Written.STATISTICS, Outcome.COMPUTED, shown
            )
        tracks = dict(module.arguments).get("track_running_stats", Constant(name in _TRACKING))
        if name in _COUNTING and tracks != Constant(False):
            self.note_outcome(
                state, node, (reference.address, ""), Written.STATISTICS, Outcome.ADVANCED, shown
            )

    def _name_of_called(self, node: ir.Expr) -> str | None:
        """What a call calls a module by; None where it calls something else, which calls the module."""
        if not isinstance(node, ir.Call):
            return None
        function, values = node.function, self.frame.values
        is_held = isinstance(function, ir.Attribute) and function.name not in ATTRIBUTES
        base = function.base if is_held and isinstance(function, ir.Attribute) else function
        objects = alternatives(values.get(base.at, NONE))
        is_module = any(isinstance(one, (Reference, InheritedMethod)) for one in objects)
        return self.text(function) if is_module else None


def _computes(call: ir.Call) -> bool:
    """Whether a method makes something else of the data of a tensor, and again of what it made."""
    name = call.method
    operation = torch_ops.method(name)
    is_settled = is_kept_by(call) or f"{name}_" in _SETTLING
    return operation is not None and operation.effect is torch_ops.Effect.READ and not is_settled


def _is_chained(expr: ir.Expr | None) -> bool:
    """Whether something is what a change in place gave back, which is noted already: ``x.mul_(2)``.

    A change that is none the second time says nothing of what comes behind it.
    """
    match expr:
        case ir.Call(function=ir.Attribute(name=name)):
            return name.endswith("_") and not name.endswith("__") and name not in _SETTLING
        case _:
            return False


def _looked_at(statement: ir.Stmt) -> Sequence[ir.Expr]:
    """The expressions whose values a statement uses, but for what it changes in place."""
    match statement:
        case ir.Assign(targets=targets, value=ir.Expr() as value):
            indices = (index for one in targets if isinstance(one, ir.Subscript) for index in one.indices)
            return (value, *indices)
        case ir.Expression(value=ir.Call(arguments=arguments) as call) if call.method.endswith("_"):
            return [argument.value for argument in arguments]
        case _:
            return header(statement)


def _goes_around_autograd(node: ir.Node, expr: ir.Expr | None) -> bool:
    """Whether a write is made through ``.data``, which autograd does not see."""
    exprs = [one for one in (expr, node) if isinstance(one, ir.Expr)]
    return any(
        isinstance(part, ir.Attribute) and part.name == "data"
        for one in exprs
        for part, _ in evaluated((one,))
    )


SPECTRAL = "spectral_norm"
"""The attribute that marks a module whose weight is divided by a norm, which it estimates as it runs."""

OBSERVERS = frozenset(
    f"torch.{package}quantization.{module}{name}"
    for package in ("", "ao.")
    for module, names in (
        ("", "MovingAverageMinMaxObserver MovingAveragePerChannelMinMaxObserver HistogramObserver"),
        ("", "RecordingObserver FakeQuantize FusedMovingAvgObsFakeQuantize"),
        ("observer.", "MovingAverageMinMaxObserver MovingAveragePerChannelMinMaxObserver"),
        ("observer.", "HistogramObserver RecordingObserver"),
        ("fake_quantize.", "FakeQuantize FusedMovingAvgObsFakeQuantize"),
    )
    for name in names.split()
)
"""What quantisation watches activations with; a plain minimum and maximum are the same the second time."""

_TRACKING = (
    OBSERVERS
    | frozenset(f"torch.nn.{lazy}BatchNorm{number}d" for lazy in ("", "Lazy") for number in (1, 2, 3))
    | {"torch.nn.SyncBatchNorm"}
)
"""Modules with running statistics, unless they are told to have none."""

_COUNTING = _TRACKING | {
    f"torch.nn.{lazy}InstanceNorm{number}d" for lazy in ("", "Lazy") for number in (1, 2, 3)
}
"""Modules that may have some."""

_VIEWING = frozenset(["data", "T", "mT", "H", "mH", "real", "imag"])
