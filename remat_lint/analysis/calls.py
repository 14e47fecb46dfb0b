"""Calls: functions and classes of the project, modules of ``torch.nn``, Python's builtins, unknown things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from remat_lint import torch_ops
from remat_lint.analysis import ir, random_names
from remat_lint.analysis.builtin_calls import BUILTINS, Builtin, BuiltinCall
from remat_lint.analysis.containers import MODULE_ITSELF, PARTS, WHOLE_TREE
from remat_lint.analysis.copies import COPIES
from remat_lint.analysis.external_names import made_by
from remat_lint.analysis.facts import Replayer
from remat_lint.analysis.forms import ENABLES
from remat_lint.analysis.function_transforms import TRANSFORMS
from remat_lint.analysis.functions import IDENTITY_DECORATORS
from remat_lint.analysis.in_place import OBSERVERS
from remat_lint.analysis.items import MODULE_CONTAINERS
from remat_lint.analysis.iterable_calls import EAGER, ITERABLE_CALLS, LAZY
from remat_lint.analysis.machine import REMAT, Frame, Operand
from remat_lint.analysis.modes import MODES
from remat_lint.analysis.objects import FROZEN
from remat_lint.analysis.operations import module_operands
from remat_lint.analysis.parametrizations import PARAMETRIZATIONS
from remat_lint.analysis.parametrizations import registered as read_through
from remat_lint.analysis.registered import REGISTER
from remat_lint.analysis.special_calls import SpecialCalls, looks_like_a_class
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    NONE,
    SCALAR,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    External,
    Fickle,
    FunctionValue,
    HeapObject,
    InheritedMethod,
    InstanceObject,
    Made,
    Method,
    Partial,
    Reference,
    RegionWrapper,
    Scalar,
    Snapshot,
    Source,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_blank,
    join,
    map_tensors,
    parts,
    scalar_from,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import TENSORS_OF_MODULES
from remat_lint.analysis.wrap_policies import POLICIES
from remat_lint.checkpoint_forms import FORMS

_STORING = frozenset(
    [
        "append",
        "add",
        "extend",
        "insert",
        "appendleft",
        "extendleft",
        "update",
        "setdefault",
        "put",
        "put_nowait",
        "push",
        "register_buffer",
    ]
)
"""Methods that keep what they are given without looking at it."""


_HOOKS = " hooks"
"""The attribute under which a module has what is called before and after it."""

_HANDLE = "torch.utils.hooks.RemovableHandle"
_PRE_HOOK, _HOOK = "register_forward_pre_hook", "register_forward_hook"


def _for_all(kind: str) -> Builtin:
    """``register_module_forward_hook(function)``: the hook is one of every module."""
    return lambda call: call.machine.hook_every_module(call.state, kind, call.operands)


_GLOBAL_HOOKS = {
    "torch.nn.modules.module.register_module_forward_pre_hook": _for_all(_PRE_HOOK),
    "torch.nn.modules.module.register_module_forward_hook": _for_all(_HOOK),
}

_SPECIAL = {
    **BUILTINS,
    **ITERABLE_CALLS,
    **TRANSFORMS,
    **POLICIES,
    **COPIES,
    **PARAMETRIZATIONS,
    **_GLOBAL_HOOKS,
}
"""Functions of other packages of which is known what they do with what they are handed."""

_BACKWARD = frozenset(["torch.autograd.backward", "torch.autograd.grad"])

_CALLED = (FunctionValue, CheckpointWrapper, RegionWrapper, Choice, Partial)
"""What may stand in the place of an object's own ``forward``."""


class Calls(SpecialCalls):
    """Calls a value with operands."""

    def call(self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]) -> Value:
        """The value of ``function(operands)``; the state afterwards is ``state``, changed in place."""
        match function:
            case Choice(alternatives=values):
                able = [one for one in values if self._can_take(state, node, one, operands)]
                return self._call_any(state, node, able or values, operands)
            case FunctionValue():
                return self.call_function(state, node, function, operands)
            case External(name=name):
                return self.call_external(state, node, name, operands)
            case RegionWrapper():
                return self.run_region(state, node, function, operands)
            case CheckpointWrapper():
                return self._call_checkpoint(state, node, function, operands)
            case Partial():
                bound = [Operand(value) for value in function.positional]
                named = [Operand(value, keyword=name) for name, value in function.keywords]
                return self.call(state, node, function.function, [*bound, *operands, *named])
            case ClassValue():
                made = self.construct(state, node, function, operands)
                self.note_made(state, node, made, operands)
                return made
            case Reference():
                return self._call_object(state, node, function, operands)
            case Method(receiver=receiver, name=name):
                return self.call_method(state, node, Operand(receiver), name, operands)
            case InheritedMethod():
                return self._call_inherited(state, node, function, operands)
            case _:
                return self.call_unknown(state, node, operands)

    def _call_checkpoint(
        self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> Value:
        if wrapper.function is None:
            return self.wrap_function(state, wrapper, operands)
        run = self.run_checkpoint if wrapper.by is Replayer.REMAT else self.run_torch_checkpoint
        return run(state, node, wrapper, operands)

    def _can_take(self, state: State, node: ir.Expr, value: Value, operands: Sequence[Operand]) -> bool:
        """Whether something of the project has parameters for these: what has not is not what is called."""
        if isinstance(value, Reference):
            found = self.object_at(state, value)
            if not isinstance(found, InstanceObject) or not isinstance(found.klass, ClassValue):
                return True
            value = self._object_attribute(state, node, value, "forward")
        if not isinstance(value, FunctionValue):
            return True
        parameters = value.definition.parameters
        given = len([one for one in operands if one.keyword is None and not one.star])
        taken = len([one for one in parameters if one.kind == "positional"]) - (value.receiver is not None)
        return given <= taken or any(one.kind == "*" for one in parameters)

    def _call_any(
        self, state: State, node: ir.Expr, values: Sequence[Value], operands: Sequence[Operand]
    ) -> Value:
        callables = [value for value in values if not isinstance(value, (Constant, Scalar))] or list(values)
        ends = []
        for value in callables:
            path = state.fork()
            ends.append((path, self.call(path, node, value, operands)))
        return self._of_any(state, ends)

    def _of_any(self, state: State, ends: Sequence[tuple[State, Value]]) -> Value:
        """What one of several calls gave, each of which some run makes."""
        weight = state.weight
        value = self.join_ends(state, ends)
        state.weight = weight
        return value

    # --- objects

    def _call_object(
        self, state: State, node: ir.Expr, reference: Reference, operands: Sequence[Operand]
    ) -> Value:
        """A module is called: its hooks run before and after it."""
        self.going_on += 1
        for hook in self._hooks_of(state, reference, _PRE_HOOK):
            operands = self._run_pre_hook(state, node, reference, hook, operands)
        hooks = self._hooks_of(state, reference, _HOOK)
        self.going_on += len(hooks) - 1
        value = self._run_object(state, node, reference, operands)
        for hook in hooks:
            self.going_on -= 1
            value = self._run_hook(state, node, reference, hook, operands, value)
        return value

    def _hooks_of(self, state: State, reference: Reference, kind: str) -> list[SequenceValue]:
        """The hooks of one kind: what was registered, and whether it wants the keywords, too.

        Those of all modules run first.
        """
        owners = (Reference(self.every_module), reference) if self.every_module else (reference,)
        found = [self.object_at(state, owner) for owner in owners]
        hooks = [one.get(_HOOKS) for one in found if isinstance(one, InstanceObject)]
        items = [item for one in hooks if isinstance(one, SequenceValue) for item in one.items]
        return [one for one in items if isinstance(one, SequenceValue) and one.items[0] == Constant(kind)]

    def hook_every_module(self, state: State, kind: str, operands: Sequence[Operand]) -> Value:
        """A hook of one kind is registered for all modules: gives the handle that removes it."""
        if not operands:
            return Unknown()
        self.hand_out(state, operands)
        self.every_module = self.every_module or self.fresh()
        every = Reference(self.every_module)
        if self.object_at(state, every) is None:
            state.heap[every.address] = InstanceObject(External("torch.nn.Module"))
        return self._register_hook(state, every, kind, operands)

    def _run_pre_hook(
        self,
        state: State,
        node: ir.Expr,
        module: Reference,
        hook: SequenceValue,
        operands: Sequence[Operand],
    ) -> Sequence[Operand]:
        """What the module is called with after the hook: that is something else if the hook returns it."""
        given = self.call(state, node, hook.items[1], [Operand(module), *_handed(hook, operands)])
        if hook.items[2] == Constant(True):
            given = given.items[0] if isinstance(given, SequenceValue) and given.items else NONE
        if NONE in alternatives(given) or is_blank(given):
            return operands
        if isinstance(given, SequenceValue):
            return [Operand(item) for item in given.items]
        return [Operand(given)]

    def _run_hook(
        self,
        state: State,
        node: ir.Expr,
        module: Reference,
        hook: SequenceValue,
        operands: Sequence[Operand],
        value: Value,
    ) -> Value:
        """What a call gives after the hook."""
        handed = [Operand(module), *_handed(hook, operands), Operand(value)]
        given = self.call(state, node, hook.items[1], handed)
        kept = [value for one in alternatives(given) if one == NONE]
        return reduce(join, [*(one for one in alternatives(given) if one != NONE), *kept])

    def _register_hook(
        self, state: State, module: Reference, kind: str, operands: Sequence[Operand]
    ) -> Value:
        """``module.register_forward_hook(function)``: gives the handle that removes it."""
        found = self.object_at(state, module)
        assert isinstance(found, InstanceObject)
        keywords = Constant(any(o.keyword == "with_kwargs" and o.value == Constant(True) for o in operands))
        handle = self.allocate(state, InstanceObject(External(_HANDLE)).with_attribute(_HOOKS, module))
        hook = SequenceValue((Constant(kind), operands[0].value, keywords, handle))
        before = found.get(_HOOKS)
        hooks = before.items if isinstance(before, SequenceValue) else ()
        state.heap[module.address] = found.with_attribute(_HOOKS, SequenceValue((*hooks, hook)))
        return handle

    def _remove_hook(self, state: State, handle: Reference, found: InstanceObject) -> None:
        module = found.get(_HOOKS)
        hooked = self.object_at(state, module) if isinstance(module, Reference) else None
        hooks = hooked.get(_HOOKS) if isinstance(hooked, InstanceObject) else None
        if isinstance(module, Reference) and isinstance(hooks, SequenceValue):
            assert isinstance(hooked, InstanceObject)
            left = tuple(one for one in hooks.items if handle not in parts(one))
            state.heap[module.address] = hooked.with_attribute(_HOOKS, SequenceValue(left))

    def _run_object(
        self, state: State, node: ir.Expr, reference: Reference, operands: Sequence[Operand]
    ) -> Value:
        found = self.object_at(state, reference)
        if not isinstance(found, InstanceObject):
            return self.call_unknown(state, node, operands)
        if isinstance(found.klass, External) and not isinstance(found.get("forward"), _CALLED):
            self.note_statistics(state, node, reference, found.klass.name, found)
            return self._call_module(state, node, found.klass.name, found, operands)
        method = self._object_attribute(state, node, reference, "__call__")
        if not isinstance(method, _CALLED):
            return self._run_forward(state, node, reference, operands)
        if self.cleared_for(found.klass) is not None:
            return self.call_checkpointed_object(state, node, found, method, operands)
        return self.call(state, node, method, operands)

    def _run_forward(
        self, state: State, node: ir.Expr, reference: Reference, operands: Sequence[Operand]
    ) -> Value:
        """What the ``__call__`` of ``nn.Module`` does."""
        found = self.object_at(state, reference)
        method = self._object_attribute(state, node, reference, "forward")
        if (
            isinstance(method, _CALLED)
            and isinstance(found, InstanceObject)
            and self.cleared_for(found.klass) is not None
        ):
            return self.call_checkpointed_object(state, node, found, method, operands)
        if isinstance(method, (*_CALLED, InheritedMethod)):
            return self.call(state, node, method, operands)
        return self.call_unknown(state, node, operands)

    def _call_inherited(
        self, state: State, node: ir.Expr, method: InheritedMethod, operands: Sequence[Operand]
    ) -> Value:
        found = self.object_at(state, method.receiver) if isinstance(method.receiver, Reference) else None
        if method.name in MODULE_ITSELF and method.base.startswith("torch.nn"):
            self._call_for_module_itself(state, node, method, operands)
            return method.receiver
        if method.name == "__call__" and isinstance(method.receiver, Reference):
            is_own = self.special_method(state, method.receiver, "__call__") is not None
            run = self._run_forward if is_own else self._call_object
            return run(state, node, method.receiver, operands)
        if method.name == "forward" and isinstance(found, InstanceObject):
            if isinstance(method.receiver, Reference):
                self.note_statistics(state, node, method.receiver, method.base, found)
            return self._call_module(state, node, method.base, found, operands)
        if method.name in ENABLES:
            self.enable_checkpoints(state, method.receiver, method.name, operands)
        name = f"{method.base}.{method.name}"
        wrapped = self.call_held(state, node, method.name, operands)
        if wrapped is None:
            wrapped = self.call_by_name(state, node, name, operands)
        if wrapped is not None:
            return wrapped
        self.note_external_method(state, node, method.receiver, name, operands)
        unsteady = self.read_unsteady(node, name)
        if unsteady is not None:
            return unsteady
        known = self._call_of_module(state, node, method, found, operands)
        if known is not None:
            return known
        if method.name in _STORING:
            self._store(state, operands)
            return NONE
        return self._made_by(state, node, name, operands)

    def _call_for_module_itself(
        self, state: State, node: ir.Expr, method: InheritedMethod, operands: Sequence[Operand]
    ) -> None:
        """A method of ``nn.Module`` that returns the module: what it does to it."""
        if method.name in MODES:
            self._put_into_mode(state, node, method, is_training=_is_training(method.name, operands))
        elif method.name == "requires_grad_":
            frozen = Constant(bool(operands) and operands[0].value == Constant(False))
            for module in list(self.modules_in(state, method.receiver)):
                self.set_attribute(state, module, FROZEN, frozen)
        elif method.name == "apply" and operands and isinstance(method.receiver, Reference):
            self.call_on_all(state, node, method.receiver, operands[0].value)

    def _put_into_mode(
        self, state: State, node: ir.Expr, method: InheritedMethod, *, is_training: bool
    ) -> None:
        """``nn.Module.train`` and ``eval``: each part's own ``train`` decides for it and what is below."""
        self.set_mode(state, method.receiver, is_training=is_training)
        for part in list(self.modules_in(state, method.receiver)):
            if method.name == "eval" or part != method.receiver:  # an override calls the inherited one
                self.call_special(state, node, part, "train", [Operand(Constant(is_training))])

    def _call_of_module(
        self,
        state: State,
        node: ir.Expr,
        method: InheritedMethod,
        found: HeapObject | None,
        operands: Sequence[Operand],
    ) -> Value | None:
        """A method of ``nn.Module`` that makes a module or tells its parts; None for any other."""
        if method.name in _OF_EVERYTHING:
            self.look_at_everything(method.receiver)
        if method.name == "__init__":
            self.draw_weights(state, node, method.base, operands)
        is_full = operands or method.base in MODULE_CONTAINERS
        if method.name == "__init__" and isinstance(method.receiver, Reference) and is_full:
            self.initialize_external(state, method.receiver, method.base, operands)
            return NONE
        if not isinstance(found, InstanceObject) or not isinstance(method.receiver, Reference):
            return None
        if method.name in WHOLE_TREE:
            more = self._walk(method.name, knows_regions=self._may_hold_markers(found))
            if not self.applies_checkpoints or not isinstance(more, SequenceValue):
                return more
            return replace(more, items=self.all_of(state, method.receiver, method.name))
        if method.name in (_PRE_HOOK, _HOOK) and operands:
            self.hand_out(state, operands)
            return self._register_hook(state, method.receiver, method.name, operands)
        if method.name == "remove" and method.base == _HANDLE:
            self._remove_hook(state, method.receiver, found)
            return NONE
        if method.name not in TENSORS_OF_MODULES and found.get(CONTENTS) is not None:
            return self._call_container_method(state, node, method.receiver, method.name, operands)
        if method.name in ("add_module", "register_module") and len(operands) > 1:
            self.set_named(state, method.receiver, operands[0], operands[1].value)
            return NONE
        if method.name == "register_buffer" and len(operands) > 1:
            self.set_named(state, method.receiver, operands[0], operands[1].value)
            return NONE
        return self._parts_of(state, node, found, method, operands)

    def _made_by(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        """What a function of another package returns: an object, if it is of a class that matters."""
        result, klass = self.call_unknown(state, node, operands), made_by(name)
        return self.allocate(state, InstanceObject(External(klass))) if klass is not None else result

    def _parts_of(
        self,
        state: State,
        node: ir.Expr,
        found: InstanceObject,
        method: InheritedMethod,
        operands: Sequence[Operand],
    ) -> Value | None:
        """``module.children()``, ``module.get_submodule("name")``, and the tensors of a module."""
        assert isinstance(method.receiver, Reference)
        if method.name not in PARTS:
            is_changed = method.name in self.frame.watch.changed
            return (
                self.tensors_of(state, node, method.receiver, method.name, operands) if is_changed else None
            )
        if method.name == "get_submodule":
            path = operands[0].value if operands else None
            return self._submodule(state, node, method.receiver, path)
        named, more = self.children_in(state, found)
        if method.name.startswith("named_"):
            pairs = tuple(SequenceValue((Constant(name), value)) for name, value in named)
            return SequenceValue(pairs, SequenceValue((SCALAR, more)) if more is not None else None)
        return SequenceValue(tuple(value for _, value in named), more)

    def _may_hold_markers(self, found: InstanceObject) -> bool:
        """Whether somebody wrote markers where the class of a model is defined."""
        classes = (one for one in self.mro(found.klass) if isinstance(one, ClassValue))
        return any(b"recompute_needs_tensor" in one.scope.source.raw for one in classes)

    def _walk(self, name: str, *, knows_regions: bool) -> Value:
        """What a method of a model gives that walks over its modules: the same module each time."""
        module = Unknown(origin=self.fresh())
        if not knows_regions:
            self.picked.add(module.origin)
        if name == "get_submodule":
            return module
        return SequenceValue(rest=SequenceValue((SCALAR, module)) if name.startswith("named_") else module)

    def _submodule(self, state: State, node: ir.Expr, module: Value, path: Value | None) -> Value:
        if not isinstance(path, Constant) or not isinstance(path.value, str):
            return Unknown()
        for name in path.value.split(".") if path.value else ():
            found = self.object_at(state, module) if isinstance(module, Reference) else None
            held, more = self.children_in(state, found) if isinstance(found, InstanceObject) else ((), None)
            part = dict(held).get(name, more)
            module = part if part is not None else self.attribute_of(state, node, module, name)
        return module

    def _call_module(
        self,
        state: State,
        node: ir.Expr,
        name: str,
        instance: InstanceObject,
        operands: Sequence[Operand],
    ) -> Value:
        for parameter, part in read_through(instance):
            is_kept = parameter != "bias"  # by the operation that computes with it
            self.going_on += is_kept
            self.call(state, node, part, [Operand(Tensor(made=Made.LEAF))])
            self.going_on -= is_kept
        contents = instance.get(CONTENTS)
        if name == "torch.nn.Sequential" and isinstance(contents, SequenceValue):
            return self._call_in_sequence(state, node, contents, operands)
        operation = torch_ops.module(name)
        if operation is None:
            return self.call_unknown(state, node, operands)
        deciding = {switch.parameter for switch in operation.switches}
        deciding |= {operation.draws_like or "", operation.draws_unless_given or ""}
        if operation.effect is torch_ops.Effect.DROPOUT or operation.indirect_inplace:
            deciding |= {"p", "inplace", "training"}
        options = [option for option in module_operands(instance) if option.keyword in deciding]
        if operation.constructor_draws:  # it has weights
            is_frozen = instance.get(FROZEN) == Constant(True)
            options.append(Operand(Constant(not is_frozen), keyword="requires_grad"))
        return self.apply(state, node, operation, None, [*operands, *options])

    def _call_in_sequence(
        self, state: State, node: ir.Expr, contents: SequenceValue, operands: Sequence[Operand]
    ) -> Value:
        value: Value = operands[0].value if operands else Unknown()
        expr = operands[0].expr if operands else None
        steps = (*contents.items, *((contents.rest,) if contents.rest else ()))
        for index, step in enumerate(steps, start=1):
            goes_on = index < len(steps) or contents.rest is not None
            self.going_on += goes_on
            value = self.call(state, node, step, [Operand(value, expr)])
            self.going_on -= goes_on
        return value

    # --- methods of things outside the project

    def call_method(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """``receiver.name(operands)`` where the receiver is no object of the project."""
        self.note_mutation(state, node, receiver, name, operands)
        match receiver.value:
            case Source(kind=kind) if role := random_names.method(kind, name):
                return self.call_random(state, node, role, receiver, operands)
            case Source():  # the methods of a distribution that compute, and what no source has
                return self.call_unknown(state, node, operands)
            case Snapshot() as snapshot:  # a copy of it, on some device
                return snapshot
            case Choice():
                return self._call_method_of_any(state, node, receiver, name, operands)
            case Reference() as reference:
                return self._call_container_method(state, node, reference, name, operands)
            case SequenceValue(items=items, fields=fields) as record if name == "_replace" and fields:
                given = {o.keyword: o.value for o in operands}
                renewed = tuple(given.get(f, item) for f, item in zip(fields, items, strict=False))
                return replace(record, items=renewed)
            case SequenceValue(items=items, rest=rest) if name in ("values", "items", "keys", "__iter__"):
                return SequenceValue(items, rest)
            case ClassValue() as klass if name == "__subclasses__":
                return SequenceValue(tuple(self.subclasses_here(klass)))
            case ClassValue() as klass if name == "apply":
                return self._apply_autograd_function(state, node, klass, operands)
            case Constant():
                self.read(state, node, operands)
                return scalar_from(operand.value for operand in operands)
            case Scalar() as scalar:
                self.read(state, node, operands)
                return scalar if isinstance(scalar, Fickle) else Unknown()
            case _:
                return self._call_tensor_method(state, node, receiver, name, operands)

    def _call_method_of_any(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """What is changed here was noted already, if any of them was there before whatever it is."""
        kept = [value for value in alternatives(receiver.value) if value != NONE] or [NONE]
        if len(kept) == 1 and isinstance(kept[0], Tensor):  # a tensor or None: this would have raised
            return self._call_tensor_method(state, node, replace(receiver, value=kept[0]), name, operands)
        ends = []
        self.muted += 1
        for value in kept:
            path, one = state.fork(), replace(receiver, value=value)
            ends.append((path, self.call_attribute(path, node, one, name, operands)))
        self.muted -= 1
        return self._of_any(state, ends)

    def _apply_autograd_function(
        self, state: State, node: ir.Expr, klass: ClassValue, operands: Sequence[Operand]
    ) -> Value:
        """``Function.apply(...)``: runs ``forward`` without autograd; what it saves is read by backward."""
        order = self.mro(klass)
        forward = self.class_attribute(order, "forward")
        if not isinstance(forward, FunctionValue):
            return self.call_unknown(state, node, operands)
        context = self.class_attribute(order, "setup_context")
        grad, self.grad_enabled = self.grad_enabled, False
        try:
            if isinstance(context, FunctionValue):
                value = self.call(state, node, forward, operands)
                inputs = SequenceValue(tuple(operand.value for operand in operands))
                self.call(state, node, context, [Operand(Unknown()), Operand(inputs), Operand(value)])
            else:
                value = self.call(state, node, forward, [Operand(Unknown()), *operands])
        finally:
            self.grad_enabled = grad
        return map_tensors(value, lambda tensor: replace(tensor, grad=None))  # it may require grad

    def call_attribute(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """``receiver.name(operands)`` for any receiver."""
        result = self._call_attribute(state, node, receiver, name, operands)
        if name == REGISTER and operands and isinstance(operands[0].value, Constant):
            return operands[0].value  # a handle is its name wherever it is handed to
        if name == "build" and is_blank(result) and isinstance(receiver.value, Reference):
            return self._build_owner(state, node, receiver.value, operands) or result
        return result

    def instance_of(self, klass: ClassValue) -> Value:
        """An object of a class that nobody constructed in view."""
        raise NotImplementedError

    def _build_owner(
        self, state: State, node: ir.Expr, receiver: Reference, operands: Sequence[Operand]
    ) -> Value | None:
        """``config.build()`` gives an object of the class in which the ``Config`` of the object is nested."""
        found = self.object_at(state, receiver)
        klass = found.klass if isinstance(found, InstanceObject) else None
        if not isinstance(klass, ClassValue) or klass.outer is None:
            return None
        if not klass.definition.name.endswith("Config"):
            return None
        built = []
        for one in self.concrete(klass.outer):
            nested = self.class_attribute(self.mro(one), klass.definition.name)
            of_its_own = isinstance(nested, ClassValue) and klass in self.mro(nested)[1:]
            config = self.instance_of(nested) if of_its_own and isinstance(nested, ClassValue) else receiver
            made = self.construct(state, node, one, [Operand(config), *operands])
            self.note_made(state, node, made)
            built.append(made)
        return reduce(join, built)

    def _call_attribute(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        value = receiver.value
        meant = self.call_by_meaning(state, node, receiver, name, operands)
        if meant is not None:
            return meant
        if isinstance(value, Unknown):
            held = self.call_held(state, node, name, operands)
            if held is not None:
                return held
        if isinstance(value, (Tensor, Unknown, SequenceValue, Constant, Scalar, Choice)):
            return self.call_method(state, node, receiver, name, operands)
        if isinstance(value, Reference) and not isinstance(self.object_at(state, value), InstanceObject):
            return self.call_method(state, node, receiver, name, operands)
        function = self.attribute_of(state, node, value, name)
        if isinstance(function, Method):
            return self.call_method(state, node, replace(receiver, value=function.receiver), name, operands)
        return self.call(state, node, function, operands)

    def _call_tensor_method(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        operation = torch_ops.method(name)
        value = receiver.value
        if isinstance(value, (Unknown, Method, InheritedMethod)):
            self.note_told(state, node, receiver, name)
        if name == "backward":
            self.note_backward(state)
        elif name.endswith("backward"):  # of a strategy or a scaler
            self.note_backward_on(state)
        if is_blank(value) and name in (*PARTS, *WHOLE_TREE):
            is_named = name == "get_submodule" and any(isinstance(one.value, Constant) for one in operands)
            return self._walk(name, knows_regions=is_named)
        held = value.held if isinstance(value, Unknown) else frozenset()
        if held:  # a container that the analyser does not model, or a storage
            if operation is not None and operation.effect is torch_ops.Effect.READ:
                self.read(state, node, [receiver])
            return Unknown(held, self.fresh())
        if operation is not None:
            if isinstance(value, SequenceValue) or (
                operation.effect is torch_ops.Effect.CAST
                and not operands
                and isinstance(value, Unknown)
                and name in MODULE_ITSELF
            ):
                return Unknown(origin=self.fresh())
            return self.apply(state, node, operation, receiver, operands)
        if name in _STORING:
            self._store(state, operands)
            return Unknown()
        if isinstance(value, Tensor) and name in ("_replace", "_asdict"):
            return Unknown(frozenset(state.tokens(value)))
        known = isinstance(value, Tensor)
        self.read(state, node, [receiver, *operands] if known else operands, certain=known)
        self.hand_out(state, operands)
        return Unknown(origin=self.fresh())

    def _store(self, state: State, operands: Sequence[Operand]) -> None:
        """Something unknown keeps its arguments."""
        for operand in operands:
            self.escape(state, operand.value)
        self.may_be_called(state, operands)

    # --- names of other packages

    def call_external(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        """Call something of another package by its full name."""
        package, _, last = name.rpartition(".")
        if package == REMAT or package.startswith(REMAT + "."):
            return self.call_remat(state, node, last, operands)
        if name in _BACKWARD:
            self.note_backward(state)
        for call in (self.call_by_name, self.call_unbound, self.call_on_own_terms):
            called = call(state, node, name, operands)
            if called is not None:
                return called
        self.note_external(state, node, name, operands)
        unsteady = self.read_unsteady(node, name, operands)
        if unsteady is not None:
            self.hand_out(state, operands)
            return unsteady
        role = random_names.function(name)
        if role is not None:
            return self.call_random(state, node, role, None, operands)
        special = _SPECIAL.get(name)
        if special is not None:
            return self._call_special(state, node, name, special, operands)
        if name in IDENTITY_DECORATORS:
            return Compiled(operands[0].value) if operands else External(name)
        operation = torch_ops.function(name)
        if operation is not None:
            return self.apply(state, node, operation, None, operands)
        is_of_torch = name.startswith("torch.nn.") and looks_like_a_class(name)
        if is_of_torch or name in (*MODULE_CONTAINERS, *OBSERVERS) or torch_ops.module(name) is not None:
            self.draw_weights(state, node, name, operands)
            return self.construct_external(state, name, operands)
        made = self._made_by(state, node, name, operands)
        if name == "collections.Counter":
            self.tallies.add(self.number_of(made))
        return made

    def _call_special(
        self, state: State, node: ir.Expr, name: str, special: Builtin, operands: Sequence[Operand]
    ) -> Value:
        """A function of Python of which it is known what it does: some go through what they are handed."""
        if name in LAZY or name in EAGER:
            self.take_all(state, node, operands)
        result = special(BuiltinCall(self, state, node, operands))
        if name in LAZY and isinstance(result, SequenceValue):
            return replace(result, kind="iterator", origin=self.fresh())
        return result

    def returns_anything(self, name: str) -> bool:
        """Whether nothing is known of what something of another package returns."""
        return not (
            name.startswith((REMAT, "torch.nn."))
            or name in _SPECIAL
            or name in IDENTITY_DECORATORS
            or torch_ops.function(name) is not None
            or made_by(name) is not None
            or name in FORMS
            or any(self.project.wrappers)
        )

    def call_super(self, operands: Sequence[Operand]) -> Value:
        """``super()`` in a method or in a function defined in one, and ``super(Class, receiver)``."""
        frame: Frame | None = self.frame
        while frame is not None and (frame.owner is None or frame.receiver is None):
            frame = self._lexical_parent(frame)
        if frame is None or frame.owner is None or frame.receiver is None:
            return Unknown()
        if len(operands) == 2 and isinstance(operands[0].value, ClassValue):
            return Super(operands[0].value, operands[1].value)
        return Super(frame.owner, frame.receiver)

    def _lexical_parent(self, frame: Frame) -> Frame | None:
        """The frame in which the function that a frame runs was defined, while that runs too."""
        outer = frame.parent
        while outer is not None and outer.id != frame.closure:
            outer = outer.parent
        return outer


_OF_EVERYTHING = frozenset(
    ["state_dict", "load_state_dict", "buffers", "named_buffers", "parameters", "named_parameters"]
)
"""Methods of ``nn.Module`` that give or set what it and its parts hold."""


def _handed(hook: SequenceValue, operands: Sequence[Operand]) -> list[Operand]:
    """What a hook is handed of what its module is called with."""
    positional = Operand(SequenceValue(tuple(o.value for o in operands if o.keyword is None)))
    return [positional, Operand(Unknown())] if hook.items[2] == Constant(True) else [positional]


def _is_training(mode: str, operands: Sequence[Operand]) -> bool:
    """Whether a call of ``train`` or ``eval`` puts a module into training."""
    return mode == "train" and not any(operand.value == Constant(False) for operand in operands)
