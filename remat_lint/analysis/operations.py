"""Torch operations and Python operators: which tensors they read, what they return.

The table ``remat_lint.torch_ops`` says what an operation does; this layer applies it to values.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.effects import Effects, is_duration
from remat_lint.analysis.facts import Device, RandomKind
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import Phase, State
from remat_lint.analysis.unkept import Drawn
from remat_lint.analysis.values import (
    META,
    NONE,
    SCALAR,
    ByPhase,
    Choice,
    Constant,
    DeviceNamed,
    DictObject,
    External,
    InstanceObject,
    ListObject,
    Made,
    Reference,
    Scalar,
    Tensor,
    Token,
    Unknown,
    Value,
    alternatives,
    at_hand,
    join,
    map_tensors,
    of_phases,
    of_settings,
    reading_of,
    scalar_from,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import Step
from remat_lint.torch_ops import Effect, Layout, Operation, Result, einsum_is_view
from remat_lint.torch_ops.keeping import KEEPING_NOTHING, SCALING, WITH_INDICES, WITHOUT_GRADIENTS

_OF_TENSORS = (Effect.READ, Effect.CAST, Effect.RESHAPE, Effect.DROPOUT)
_OF_OTHERS = frozenset(
    ["add", "sort", "to", "type", "index", "apply_", "float", "double", "half", "cpu", "cuda"]
)
"""Names of methods of tensors that other things have as well."""


class Default(NamedTuple):
    """What decides whether a function changes running statistics, and what that is where it is left out."""

    parameter: str
    value: bool

    def decided(self, bound: Bound) -> bool:
        """Whether it is switched on by what is given, or may be."""
        if bound.get(self.parameter) is None:
            return self.value
        return bound.constant(self.parameter) is not False


_WITH_PARAMETERS = frozenset(["device", "encoder_layer", "decoder_layer"])
"""What the constructors take of modules that have parameters, which are made on a device."""

_NORMALISING = {"batch_norm": Default("training", False), "instance_norm": Default("use_input_stats", True)}

_SUMS = ("Add", "Subtract")

_KEPT_BY_OPERATORS = {"Power": "pow", "MatrixMultiply": "matmul", "Multiply": "mul", "Divide": "div"}

_ARITHMETIC: dict[str, Callable[[Any, Any], object]] = {
    "Add": python_operator.add,
    "Subtract": python_operator.sub,
    "Multiply": python_operator.mul,
    "FloorDivide": python_operator.floordiv,
    "Modulo": python_operator.mod,
    "BitAnd": python_operator.and_,
    "BitOr": python_operator.or_,
    "BitXor": python_operator.xor,
}

_INTEGERS = frozenset(
    f"torch.{name}" for name in ("bool", "uint8", "int8", "int16", "short", "int32", "int", "int64", "long")
)

MAX_VIEWS = 6
"""Views remembered per tensor for messages."""

RESULT_FIELDS = ("values", "indices")
"""The names that ``max``, ``sort``, ``topk`` and their like give their results."""

_CHANNELS_LAST = ("channels_last", "channels_last_3d")
_SAME_DTYPE = frozenset({"matmul", "mm", "bmm", "linear", "addmm", "baddbmm", "mv"})
"""Operations that want one dtype and return it, so the result's is that of the first operand."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The operands of one operation by parameter name; what has no name is under ``""``."""

    pairs: tuple[tuple[str, Operand], ...]

    def get(self, name: str) -> Operand | None:
        return next((operand for key, operand in self.pairs if key == name), None)

    def constant(self, name: str) -> object:
        """The constant given for a parameter; ``...`` where there is none or it is not constant."""
        operand = self.get(name)
        if operand is not None and isinstance(operand.value, Constant):
            return operand.value.value
        return ...


def bind(operation: Operation, receiver: Operand | None, operands: Sequence[Operand]) -> Bound:
    """Match operands to the parameters of an operation."""
    names = list(operation.parameters)
    pairs: list[tuple[str, Operand]] = [("self", receiver)] if receiver is not None else []
    position = 0
    for operand in operands:
        if operand.keyword is not None:
            pairs.append((operand.keyword, operand))
            continue
        name = names[position] if position < len(names) else operation.variadic or ""
        pairs.append((name, operand))
        if name != operation.variadic:
            position += 1
    return Bound(tuple(pairs))


_ON_THE_CPU = frozenset(["rand", "randn", "randint", "randperm"])
"""Operations that draw on the CPU, unless they are given a device."""


class Operations(Effects):
    """Applies operations to values."""

    def apply(
        self,
        state: State,
        node: ir.Expr,
        operation: Operation,
        receiver: Operand | None,
        operands: Sequence[Operand],
    ) -> Value:
        """Run one torch operation: record its reads and writes, return its result."""
        bound = bind(operation, receiver, operands)
        result = self._applied(state, node, operation, bound)
        self._note_result(state, node, operation, bound, result)
        return result

    def _applied(self, state: State, node: ir.Expr, operation: Operation, bound: Bound) -> Value:
        written = self._written(operation, bound)
        if operation.draws:
            self._draw(state, node, operation, bound)
        elif not written:
            self.pure.add((self.frame.scope.source.path, node.at))
        for operand in written:
            self.write(state, node, operand)
        effect = self._effect_here(operation, bound)
        if operation.effect is Effect.RESHAPE and effect is Effect.VIEW:
            return self._reshaped(state, node, operation, bound)
        if effect is Effect.CAST and _is_move_to_cpu(operation, bound):
            return self._moved(state, node, bound.pairs[0][1])
        if effect is not Effect.METADATA:
            self.mix(state, node, [operand for _, operand in bound.pairs])
        others = self._read_operands(operation, bound, effect, written)
        self.read(state, node, others, certain=effect is not Effect.CAST or bound.constant("copy") is True)
        if written and operation.name not in _NORMALISING:
            return self._written_result(operation, written[0].value)
        result = self._result(state, node, operation, bound, effect)
        if effect is Effect.CAST and operation.name not in _NARROWING and bound.constant("copy") is not True:
            self._note_alias(self._source(operation, bound), result)
        return result

    def _note_alias(self, source: Operand | None, result: Value) -> None:
        """A cast gives back what it is given, where that is of the wanted kind already."""
        given = self.number_of(source.value) if source is not None else 0
        if given and isinstance(result, Tensor) and result.storage:
            self.aliases[result.storage] = given

    def _note_result(
        self, state: State, node: ir.Expr, operation: Operation, bound: Bound, result: Value
    ) -> None:
        """What an operation made is as steady as what it was made of, unless it draws or has parameters."""
        values = [operand.value for _, operand in bound.pairs]
        written = self._written(operation, bound)
        if written:
            if not all(map(self.is_surely_steady, values)):
                self.steady.difference_update(self.number_of(operand.value) for operand in written)
        elif not operation.draws and not operation.constructor:
            self.note_nature(values, result)
        if operation.name not in _NORMALISING:  # what weighs the statistics weighs nothing else
            self.note_use(state, [operand for _, operand in bound.pairs])
        scaled = operation.name.rstrip("_") in SCALING and any(
            isinstance(v, (Constant, Scalar)) for v in values
        )
        whose = f" {self.called(node)}" if operation.constructor else ""  # a module has weights of its own
        given = [operand for _, operand in bound.pairs]
        has_parameters = not _WITH_PARAMETERS.isdisjoint(operation.constructor)
        has_gradients = has_parameters or self._grad(iter(given)) is not False
        kept, phase = has_gradients and not scaled, self._phase_of(operation, bound)
        if state.phase is not Phase.BOTH or not self.note_one_phase(operation.name, result, phase):
            self.note_operation(state, f"{operation.name}{whose}", given, result, kept=kept)
        source = self._source(operation, bound)
        if source is not None and operation.effect in _OF_TENSORS and operation.name not in _OF_OTHERS:
            self.note_tensor(source.value)
        keeps = not scaled and operation.name not in KEEPING_NOTHING and self.keeps_tensors(operation, result)
        if operation.draws or keeps:
            self.note_computation()

    def keeps_tensors(self, operation: Operation, result: Value) -> bool:
        """Whether an operation may keep tensors for its backward."""
        if not self.grad_enabled or operation.effect not in (Effect.READ, Effect.DROPOUT):
            return False
        if operation.result in (Result.VALUE, Result.NONE):
            return False
        return any(not isinstance(one, Tensor) or one.grad is not False for one in alternatives(result))

    def _draw(self, state: State, node: ir.Expr, operation: Operation, bound: Bound) -> None:
        """The operation draws random numbers, unless its arguments switch that off."""
        certain = self._draws(state, operation, bound)
        if certain is not None and not self._is_made_on_meta(operation, bound):
            random, known = self.random_of(bound.get("generator"))
            if random.kind is RandomKind.TORCH:
                random = replace(random, device=self._device_drawn_on(operation, bound))
            makes_noise = "generator" in operation.parameters and not operation.switches
            gives = Drawn.NOISE if makes_noise and not self._written(operation, bound) else None
            phase = state.phase
            if phase is Phase.BOTH:
                state.phase = self._phase_of(operation, bound)
            self.draw(state, node, random, self.called(node), certain=certain and known, gives=gives)
            state.phase = phase

    def _phase_of(self, operation: Operation, bound: Bound) -> Phase:
        """The phase in which an operation draws: ``training=not remat.is_recomputing()`` switches it off."""
        for switch in operation.switches:
            operand = bound.get(switch.parameter)
            if operand is None or not isinstance(operand.value, ByPhase):
                continue
            forward, replay = (one not in switch.off for one in (operand.value.forward, operand.value.replay))
            if forward is not replay:
                return Phase.FORWARD if forward else Phase.REPLAY
        return Phase.BOTH

    def _is_made_on_meta(self, operation: Operation, bound: Bound) -> bool:
        """Whether an operation makes a tensor without numbers."""
        given = bound.get("device") if "device" in operation.parameters else None
        if given is None or given.value == NONE:
            return self.on_meta and operation.name in _ON_THE_CPU
        return self.is_on_meta(given.value)

    def is_on_meta(self, device: Value) -> bool:
        """Whether what is made on a device, None for the default, gets no numbers."""
        return self.on_meta if device == NONE else device in (Constant(META), DeviceNamed(META))

    def _device_drawn_on(self, operation: Operation, bound: Bound) -> Device | None:
        """The device whose default generator an operation draws from, if it says so."""
        if "device" not in operation.parameters:
            return None
        given = bound.get("device")
        if given is None or given.value == NONE:
            return Device.CPU if operation.name in _ON_THE_CPU else None
        value = given.value
        name = value.name if isinstance(value, DeviceNamed) else getattr(value, "value", None)
        if not isinstance(name, str):
            return None
        return Device.CPU if name.startswith("cpu") else Device.GPU

    def _draws(self, state: State, operation: Operation, bound: Bound) -> bool | None:
        """Whether it is certain that the operation draws with these arguments; None where it does not."""
        if not operation.draws:
            return None
        given = bound.get(operation.draws_unless_given or "self")
        if operation.draws_unless_given and given is not None and given.value != NONE:
            return None
        certain = True
        for switch in operation.switches:
            operand = bound.get(switch.parameter)
            value = Constant(switch.default) if operand is None else self._literal(state, operand)
            known = at_hand(value)
            if known is not None and known.value in switch.off:
                return None
            certain &= known is not None or isinstance(value, ByPhase) or _is_mode(operand)
        if operation.draws_like is None:
            return certain
        inner = self._layer_draws(state, bound.get(operation.draws_like))
        return None if inner is None else inner and certain

    def _layer_draws(self, state: State, layer: Operand | None) -> bool | None:
        """The same of a module that another one holds."""
        value = layer.value if layer is not None else NONE
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if not isinstance(found, InstanceObject) or not isinstance(found.klass, External):
            return False
        operation = torch_ops.module(found.klass.name)
        if operation is None:
            return False
        return self._draws(
            state, operation, Bound(tuple((o.keyword or "", o) for o in module_operands(found)))
        )

    def _literal(self, state: State, operand: Operand) -> Value:
        """A value, as the object in view has it where it is an attribute: here no other run is meant."""
        expr = operand.expr
        if isinstance(expr, ir.Attribute):
            base = self.frame.values.get(expr.base.at)
            found = self.object_at(state, base) if isinstance(base, Reference) else None
            own = found.get(expr.name) if isinstance(found, InstanceObject) else None
            if isinstance(own, Constant):
                return own
        return operand.value

    def _moved(self, state: State, node: ir.Expr, operand: Operand) -> Value:
        """The tensor on another device: itself if it is there already, which only the run knows.

        So only what reads the result decides whether the output was needed, and then it was needed here.
        """
        found = []
        for one in alternatives(operand.value):
            value = self.view(node, one, None, Bound(()))
            if isinstance(value, Tensor) and value.token is not None:
                move = value.moved or self.consumer(state, node, operand, value.token, certain=True)
                value = replace(value, moved=move)
            elif state.holds_tokens(value):
                self.read(state, node, [Operand(one, operand.expr)], certain=False)
            found.append(value)
        return reduce(join, found)

    def _reshaped(self, state: State, node: ir.Expr, operation: Operation, bound: Bound) -> Value:
        """A tensor is taken to be contiguous, which is no proof: it may be read after all.

        What a region of unknown code returns may have any layout, so its marker goes before, not behind.
        """
        source = self._source(operation, bound)
        assert source is not None
        if not self.regions:
            self.escape(state, source.value)
        self.read(state, node, self._read_operands(operation, bound, Effect.VIEW, ()))
        given = source.value

        def reshaped(tensor: Tensor) -> Tensor:
            if tensor.token is None or not (tensor.reshaped or _is_opaque(given, tensor.token)):
                return tensor
            first = tensor.reshaped or self.consumer(state, node, source, tensor.token, certain=True)
            return replace(tensor, reshaped=first)

        return map_tensors(self._view_result(node, operation, bound), reshaped)

    def _written_result(self, operation: Operation, value: Value) -> Value:
        """An in-place operation returns what it changed; some keep it for backward."""
        if not operation.keeps_output or not self.grad_enabled:
            return value
        if isinstance(value, Unknown) and not value.held:
            value = Tensor(storage=value.origin, like=value.origin)
        return replace(value, resident=value.grad is not False) if isinstance(value, Tensor) else value

    def _written(self, operation: Operation, bound: Bound) -> list[Operand]:
        default = _NORMALISING.get(operation.name)
        if default is not None and not default.decided(bound):
            return []
        names = list(operation.writes)
        if operation.indirect_inplace and bound.constant(operation.indirect_inplace) is True:
            names += [name for name in ("self", "input") if bound.get(name) is not None][:1]
        found = [operand for key, operand in bound.pairs if key in names]
        return [operand for operand in found if operand.value != NONE]

    def _effect_here(self, operation: Operation, bound: Bound) -> Effect:
        """What the operation does with these arguments: a maybe-copy is a view or a read."""
        effect = operation.effect
        source = self._source(operation, bound)
        if operation.name == "einsum":
            equation = bound.pairs[0][1].value if bound.pairs else NONE
            if isinstance(equation, Constant) and isinstance(equation.value, str):
                return Effect.VIEW if einsum_is_view(equation.value) else Effect.READ
        if source is None:
            return effect
        if effect is Effect.RESHAPE:
            return Effect.VIEW if _needs_no_copy(source.value, bound) else Effect.READ
        if operation.name == "type" and len(bound.pairs) == 1:
            return Effect.METADATA  # without an argument it returns a string
        if operation.name == "to" and len(bound.pairs) == 1:
            return Effect.VIEW  # to nothing in particular
        if effect is Effect.CAST and bound.constant("copy") is not True:
            return Effect.VIEW if _is_cast_to_itself(source.value, bound) else Effect.CAST
        if effect is Effect.DROPOUT:
            chances = [bound.constant(switch.parameter) for switch in operation.switches[:1]]
            off = bound.constant("training") is False or chances[0] in (0, 0.0)
            return Effect.VIEW if off and chances[0] is not False else Effect.READ
        return effect

    def _source(self, operation: Operation, bound: Bound) -> Operand | None:
        names = operation.sources or ("self", "input")
        for name in names:
            operand = bound.get(name)
            if operand is not None:
                return operand
        return bound.pairs[0][1] if bound.pairs else None

    def _read_operands(
        self, operation: Operation, bound: Bound, effect: Effect, written: Sequence[Operand]
    ) -> list[Operand]:
        if effect in (Effect.METADATA, Effect.REGISTER):
            return []
        shared: set[int] = set()
        if effect is Effect.VIEW:
            source = self._source(operation, bound)
            shared = {id(operand) for key, operand in bound.pairs if key in operation.sources}
            if source is not None:
                shared.add(id(source))
            if operation.name == "einsum":
                shared |= {id(operand) for _, operand in bound.pairs}
        return [
            operand
            for key, operand in bound.pairs
            if key not in operation.metadata_only
            and id(operand) not in shared
            and not any(operand is other for other in written)
        ]

    def _result(
        self, state: State, node: ir.Expr, operation: Operation, bound: Bound, effect: Effect
    ) -> Value:
        if effect is Effect.VIEW:
            return self._view_result(node, operation, bound)
        if operation.effect is Effect.REGISTER and operation.result is Result.SELF:
            source = self._source(operation, bound)
            return source.value if source is not None else Unknown()
        match operation.result:
            case Result.VALUE:
                return SCALAR
            case Result.NONE:
                return NONE
            case Result.TENSORS:
                return self._several_results(operation, bound)
            case Result.UNKNOWN if operation.keeps_results and _is_number(bound.get("dim")):
                return self._several_results(operation, bound)
            case Result.UNKNOWN:
                held: frozenset[Token] = frozenset()
                if "storage" in operation.name:  # the storage of a placeholder is as empty as the tensor
                    held = frozenset(token for _, o in bound.pairs for token in state.tokens(o.value))
                return Unknown(held, self.fresh())
            case _:
                return self._new_tensor(operation, bound, metadata=effect is Effect.METADATA)

    def _new_tensor(self, operation: Operation, bound: Bound, metadata: bool = False) -> Tensor:
        is_discrete = metadata or operation.name in WITHOUT_GRADIENTS or _casts_to_integers(operation, bound)
        grad = False if is_discrete else self._grad(operand for _, operand in bound.pairs)
        required = bound.constant("requires_grad")
        if self.grad_enabled and required is True:
            grad = True
        elif (
            grad is False
            and self.grad_enabled
            and required is not False
            and (not _WITH_PARAMETERS.isdisjoint(operation.constructor) or bound.get("requires_grad"))
        ):
            grad = None  # a module may have frozen them
        kept = operation.keeps_output or (
            operation.keeps_output_if_tensor is not None
            and _may_be_tensor(bound.get(operation.keeps_output_if_tensor))
        )
        likes = [_like(operand.value) for _, operand in bound.pairs if _like(operand.value)]
        same = likes and (operation.name in _SAME_DTYPE or len(set(likes)) == 1)
        ordered = operation.keeps_order or operation.effect in (Effect.CAST, Effect.DROPOUT)
        return Tensor(
            layout=order_of(operand for _, operand in bound.pairs) if ordered else (),
            storage=self.fresh(),
            like=likes[0] if same and operation.effect is Effect.READ else 0,
            grad=grad,
            resident=kept and self.grad_enabled and grad is not False,
            made=_made(operation, bound),
        )

    def _several_results(self, operation: Operation, bound: Bound) -> Value:
        if not operation.keeps_results:  # how many there are is not known, and each has its own storage
            return Unknown(origin=self.fresh())
        items = []
        for position in range(max(2, *(index + 1 for index in operation.keeps_results))):
            item = self._new_tensor(
                operation, bound, metadata=position == 1 and operation.name in WITH_INDICES
            )
            kept = position in operation.keeps_results and self.grad_enabled and item.grad is not False
            items.append(replace(item, resident=kept))
        return SequenceValue(tuple(items), fields=RESULT_FIELDS)

    def _grad(self, operands: Iterator[Operand]) -> bool | None:
        """Whether the result of an operation on these requires grad."""
        if not self.grad_enabled:
            return False
        known = [
            self.grad_of(one)
            for operand in operands
            for one in alternatives(operand.value)
            if not isinstance(one, (Constant, Scalar))
        ]
        if any(known):
            return True
        return None if any(grad is None for grad in known) else False

    # --- views

    def _view_result(self, node: ir.Expr, operation: Operation, bound: Bound) -> Value:
        if operation.result is Result.TENSORS and len(operation.sources) == 1 and operation.variadic:
            return SequenceValue(rest=self._view_of_all(node, operation, bound))
        source = self._source(operation, bound)
        if operation.name == "einsum":
            source = next((o for _, o in bound.pairs if not isinstance(o.value, Constant)), source)
        view = self.view(node, source.value, operation, bound) if source is not None else Unknown()
        if operation.result is Result.TENSORS:
            return SequenceValue((view,), view)
        return view

    def _view_of_all(self, node: ir.Expr, operation: Operation, bound: Bound) -> Value:
        views: Value | None = None
        for _, operand in bound.pairs:
            view = self.view(node, operand.value, operation, bound)
            views = view if views is None else join(views, view)
        return views or Unknown()

    def view(self, node: ir.Expr, value: Value, operation: Operation | None, bound: Bound) -> Value:
        """A view of a value: the same storage under another layout."""
        if isinstance(value, Choice):
            joined: Value | None = None
            for one in value.alternatives:
                view = self.view(node, one, operation, bound)
                joined = view if joined is None else join(joined, view)
            return joined or Unknown()
        if isinstance(value, Unknown) and not value.held:
            value = Tensor(storage=value.origin, like=value.origin)
        if not isinstance(value, Tensor):
            return value if isinstance(value, Unknown) else Unknown()
        name = operation.name if operation is not None else ""
        detached = value.detached or name in ("detach", "data")
        made = _made_by_view(name, value, bound)
        return replace(
            value,
            layout=_layout_after(value.layout, operation, bound),
            opaque=False,
            detached=detached,
            grad=None if name == "Parameter" and made is Made.LEAF else False if detached else value.grad,
            made=made,
            ends_in_units=_ends_in_units(name, bound),
            via=(*value.via, Step(self.place(node), "a view of it"))[-MAX_VIEWS:] if value.token else (),
        )

    # --- Python's operators

    def binary(self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand) -> Value:
        """``left operator right``."""
        joined = _concatenation(state, operator, left.value, right.value)
        if joined is not None:
            return self.allocate(state, joined) if isinstance(joined, (ListObject, DictObject)) else joined
        if operator == "Modulo" and isinstance(left.value, Constant) and isinstance(left.value.value, str):
            self.read(state, node, [right])
            return scalar_from((right.value,))
        phased = (
            of_phases(_ARITHMETIC[operator], left.value, right.value) if operator in _ARITHMETIC else None
        )
        if phased is not None:
            return phased
        self.pure.add((self.frame.scope.source.path, node.at))
        self.read(state, node, [left, right])
        result = self._of_operator(state, node, operator, left, right)
        self.note_nature((left.value, right.value), result)
        self.note_use(state, (left, right))
        self.note_operator(state, operator, (left, right), result)
        return result

    def note_operator(
        self, state: State, operator: str, operands: tuple[Operand, Operand], result: Value
    ) -> None:
        """``left operator right`` or ``left operator= right`` gave a result."""
        left, right = operands
        keeps = not _is_scaled(operator, left.value, right.value) and operator not in _SUMS
        name = _KEPT_BY_OPERATORS.get(operator, operator)
        self.note_operation(state, name, operands, result, kept=keeps)
        has_gradients = not isinstance(result, Scalar) and not (
            isinstance(result, Tensor) and result.grad is False
        )
        if keeps and has_gradients:
            self.note_computation()

    def _of_operator(
        self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand
    ) -> Value:
        """What an operator makes of two numbers or tensors."""
        values = (left.value, right.value)
        if all(isinstance(value, (Constant, Scalar)) for value in values) or is_duration(
            operator, left.value
        ):
            known = of_settings(_ARITHMETIC[operator], *values) if operator in _ARITHMETIC else None
            return known or scalar_from(values)
        likes = [_like(value) for value in values]
        like = likes[0] if likes[0] == likes[1] or operator == "MatrixMultiply" else 0
        if isinstance(right.value, (Constant, Scalar)):
            like = likes[0]
        if operator == "MatrixMultiply" or any(isinstance(value, Tensor) for value in values):
            self.mix(state, node, (left, right))
            grad = self._grad(iter((left, right)))
            kept = operator == "Power" and _may_be_tensor(right) and self.grad_enabled
            layout = () if operator == "MatrixMultiply" else order_of((left, right))
            resident = kept and grad is not False
            return Tensor(
                layout=layout,
                storage=self.fresh(),
                like=like,
                grad=grad,
                resident=resident,
                made=Made.COMPUTED,
            )
        return Unknown(origin=self.fresh(), computed=True, reading=self.mixed(node, (left, right)))

    def unary(self, state: State, node: ir.Expr, operator: str, operand: Operand) -> Value:
        """``-x``, ``~x``, ``+x`` (which is a view); ``not x`` is the caller's business."""
        if isinstance(operand.value, Constant) and isinstance(operand.value.value, (int, float)):
            number = operand.value.value
            return Constant(-number) if operator == "Minus" else operand.value
        if isinstance(operand.value, (Scalar, Constant)):
            known = of_settings(python_operator.neg, operand.value) if operator == "Minus" else None
            return known or scalar_from((operand.value,))
        if operator == "Plus":
            return self.view(node, operand.value, None, Bound(()))
        self.pure.add((self.frame.scope.source.path, node.at))
        self.read(state, node, [operand])
        if isinstance(operand.value, Tensor):
            grad, layout = self._grad(iter((operand,))), order_of((operand,))
            like = operand.value.like
            made = Tensor(layout=layout, storage=self.fresh(), like=like, grad=grad, made=Made.COMPUTED)
            self.note_nature((operand.value,), made)
            self.note_operation(state, operator, (operand,), made, kept=False)
            return made
        return Unknown(origin=self.fresh(), reading=reading_of(operand.value))


def _casts_to_integers(operation: Operation, bound: Bound) -> bool:
    """Whether an operation is told to give integers or bools."""
    if operation.effect is not Effect.CAST:
        return False
    given = (operand.value for _, operand in bound.pairs)
    return any(isinstance(one, External) and one.name in _INTEGERS for one in given)


def _is_scaled(operator: str, left: Value, right: Value) -> bool:
    """Whether a number multiplies or divides a tensor: autograd keeps neither."""
    if operator == "Multiply" and isinstance(left, (Constant, Scalar)):
        return True
    return operator in ("Multiply", "Divide") and isinstance(right, (Constant, Scalar))


def _is_mode(operand: Operand | None) -> bool:
    """Whether an argument is ``self.training``, which is true wherever a checkpoint matters."""
    return operand is not None and isinstance(operand.expr, ir.Attribute) and operand.expr.name == "training"


def _needs_no_copy(value: Value, bound: Bound) -> bool:
    """Whether ``contiguous``, ``reshape`` or ``flatten`` return a view of every tensor the value may be."""
    memory_format = bound.get("memory_format")
    for one in alternatives(value):
        if not isinstance(one, Tensor):
            continue
        if one.layout:
            return False
        if memory_format is not None and not one.ends_in_units and not _is_default_format(memory_format):
            return False
    return True


def _is_default_format(operand: Operand) -> bool:
    expr = operand.expr
    return not (isinstance(expr, ir.Attribute) and expr.name in _CHANNELS_LAST)


def _is_move_to_cpu(operation: Operation, bound: Bound) -> bool:
    """Whether a cast only moves, at once, to a device that the source names: ``h.cpu()``, ``h.to("cpu")``."""
    asked = [operand.value for _, operand in bound.pairs[1:] if operand.value != Constant(False)]
    return asked == {"cpu": [], "to": [Constant("cpu")]}.get(operation.name)


def _is_cast_to_itself(value: Value, bound: Bound) -> bool:
    """Whether a cast is to the dtype and device of a tensor that is known to have the same."""
    like = _like(value)
    if not like or bound.get("memory_format") is not None:
        return False
    targets = [operand.value for key, operand in bound.pairs if key not in ("self", "input")]
    return bool(targets) and all(_like(target) == like for target in targets)


_NARROWING = frozenset({"half", "bfloat16", "double"})
"""Casts to what a tensor hardly ever is already."""

_COPYING = frozenset({"clone", "contiguous", "reshape", "flatten"})


def _made(operation: Operation, bound: Bound) -> Made:
    """Where the result of an operation comes from; casts and dropout may have handed their operand on."""
    if operation.effect in (Effect.CAST, Effect.DROPOUT):
        return Made.ELSEWHERE
    operands = (operand.value for _, operand in bound.pairs)
    is_given = operation.constructor or any(isinstance(one, Tensor) for one in operands)
    if bound.constant("requires_grad") is True and not is_given:
        return Made.LEAF
    source = bound.pairs[0][1].value if bound.pairs else NONE
    if operation.name in _COPYING and isinstance(source, Tensor) and source.token is not None:
        return Made.COPIED
    return Made.COMPUTED


def _made_by_view(name: str, value: Tensor, bound: Bound) -> Made:
    """A parameter is a leaf, and a view of a leaf is none."""
    if name == "Parameter" and bound.constant("requires_grad") is not False:
        return Made.LEAF
    return Made.COMPUTED if value.made is Made.LEAF else value.made


def _like(value: Value) -> int:
    if isinstance(value, Tensor):
        return value.like
    return value.origin if isinstance(value, Unknown) else 0


def _is_opaque(value: Value, token: Token) -> bool:
    return any(isinstance(one, Tensor) and one.token == token and one.opaque for one in alternatives(value))


def _is_number(operand: Operand | None) -> bool:
    """Whether an argument is a number for certain: ``max`` along it has two results."""
    value = operand.value if operand is not None else NONE
    return isinstance(value, Constant) and isinstance(value.value, int)


def _may_be_tensor(operand: Operand | None) -> bool:
    return operand is not None and isinstance(operand.value, (Tensor, Unknown, Choice))


def _concatenation(
    state: State, operator: str, left: Value, right: Value
) -> Value | ListObject | DictObject | None:
    """``tuple + tuple``, ``list + list``, ``list * number``, ``dict | dict``; None for everything else."""
    if operator == "Add":
        if isinstance(left, SequenceValue) and isinstance(right, SequenceValue):
            if left.rest is None:
                return SequenceValue((*left.items, *right.items), right.rest)
            rest: Value = left.rest
            for item in (*right.items, *((right.rest,) if right.rest else ())):
                rest = join(rest, item)
            return SequenceValue(left.items, rest)
        first, second = _list_at(state, left), _list_at(state, right)
        if first is not None and second is not None and first.rest is None:
            return ListObject((*first.items, *second.items), second.rest)
        if first is not None or second is not None:
            return Unknown(frozenset((*state.tokens(left), *state.tokens(right))))
    if operator == "BitOr":
        one, other_one = _dict_at(state, left), _dict_at(state, right)
        if one is not None and other_one is not None:
            items = {**dict(one.items), **dict(other_one.items)}
            return DictObject(tuple(items.items()), one.rest or other_one.rest)
    if operator == "Multiply":
        for value, other in ((left, right), (right, left)):
            if isinstance(other, (Constant, Scalar)) and (
                isinstance(value, SequenceValue) or _list_at(state, value) is not None
            ):
                return value
    return None


def _dict_at(state: State, value: Value) -> DictObject | None:
    found = state.heap.get(value.address) if isinstance(value, Reference) else None
    return found if isinstance(found, DictObject) else None


def _list_at(state: State, value: Value) -> ListObject | None:
    found = state.heap.get(value.address) if isinstance(value, Reference) else None
    return found if isinstance(found, ListObject) else None


# --- layouts ---------------------------------------------------------------------------


def _layout_after(layout: tuple[str, ...], operation: Operation | None, bound: Bound) -> tuple[str, ...]:
    """The dimension swaps since the tensor was contiguous; a swap undone is a swap forgotten."""
    if operation is None or operation.layout in (None, Layout.KEEPS):
        return layout
    if operation.layout is Layout.SLICES:
        return layout if _cuts_first_dimension(operation, bound) else (*layout, "slice")
    if operation.layout is Layout.BREAKS:
        return (*layout, operation.name)
    swap = _swap(operation, bound)
    if layout and layout[-1] == swap:
        return layout[:-1]
    return (*layout, swap)


def order_of(operands: Iterable[Operand]) -> tuple[str, ...]:
    """The layout of what a pointwise operation makes of these: packed, its dimensions in their order.

    Where the operands are laid out differently, the first that has more than one dimension decides; how
    many they have is not known, so the first that is not contiguous does.
    """
    for operand in operands:
        for one in alternatives(operand.value):
            swaps = tuple(step for step in one.layout if step not in _GAPS) if isinstance(one, Tensor) else ()
            if swaps:
                return swaps
    return ()


_GAPS = frozenset({"slice", "expand", "expand_as", "broadcast_to"})
"""What leaves holes in memory or repeats it, and dimensions in their order."""


def _cuts_first_dimension(operation: Operation, bound: Bound) -> bool:
    if operation.name in ("hsplit", "dsplit"):
        return False
    if bound.get("dim") is None:
        return operation.name not in ("narrow", "select")
    return bound.constant("dim") == 0


def _swap(operation: Operation, bound: Bound) -> str:
    """A name for a permutation; equal names undo each other."""
    if operation.name in ("t", "t_", "T", "H", "adjoint", "mT", "mH"):
        return "matrix"
    operands = [operand.value for key, operand in bound.pairs if key not in ("self", "input")]
    if len(operands) == 1 and isinstance(operands[0], SequenceValue):
        operands = list(operands[0].items)
    numbers = [value.value for value in operands if isinstance(value, Constant)]
    dims = [number for number in numbers if isinstance(number, int)]
    if len(dims) == len(operands) == 2 and sorted(dims) in ([0, 1], [-2, -1]):
        return "matrix"
    if operation.name != "permute" and len(dims) == len(operands) == 2:
        return f"swap {sorted(dims)}"
    moved = [index for index, dim in enumerate(dims) if index != dim]
    if operation.name == "permute" and len(dims) == len(operands) and len(moved) == 2:
        return f"swap {moved}"
    return f"permutation {id(bound)}"


def _ends_in_units(name: str, bound: Bound) -> bool:
    """Whether the last two sizes that a view gives are 1: both memory formats are the same then."""
    if name not in ("view", "reshape"):
        return False
    sizes = [operand.value for key, operand in bound.pairs if key not in ("self", "input")]
    return len(sizes) > 2 and all(size == Constant(1) for size in sizes[-2:])


def module_operands(instance: InstanceObject) -> Iterator[Operand]:
    """What an ``nn`` module was constructed with, or given since, as keyword operands of its operation."""
    for name, value in instance.arguments:
        yield Operand(instance.get(name) or value, keyword=name)
    training = instance.get("training")
    if training is not None:
        yield Operand(training, keyword="training")
