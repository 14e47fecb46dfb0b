"""Checkpoints of torch and of other packages, by their names in ``remat_lint.checkpoint_forms``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from remat_lint.analysis import ir
from remat_lint.analysis.containers import Containers
from remat_lint.analysis.facts import Cover, RandomKind, Replayer
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    NONE,
    SCALAR,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Constant,
    Coverage,
    DictObject,
    External,
    InstanceObject,
    Partial,
    Reference,
    Tensor,
    Unknown,
    Value,
    join,
)
from remat_lint.checkpoint_forms import ATTRIBUTES, CLASSES, FORMS, Form
from remat_lint.findings import Place
from remat_lint.project import Project

FORM_NAMES = frozenset(name.rpartition(".")[2] for name in FORMS)
"""The last parts of the names of functions in the table."""

OWNERS = frozenset(
    owner for owner in (name.rpartition(".")[0] for name in FORMS) if owner.rpartition(".")[2][:1].isupper()
)
"""The classes that have a method in the table."""

CLASS_NAMES = frozenset(name.rpartition(".")[2] for name in CLASSES)
"""The same for classes."""

_INPUTS = ("input", "x")
"""How the first value of a chain is called."""

_OF_WRAPPER = ("module", "checkpoint_impl", "checkpoint_fn")
"""Arguments of ``checkpoint_wrapper`` that it does not hand on to the function that makes the checkpoint."""

_REENTRANT = (Constant(True), NONE)
"""What ``use_reentrant`` is where the checkpoint of torch is, or may be, the old one: it runs to the end."""

_ENABLED = "_gradient_checkpointing_func"
"""The attribute of a part of a model of transformers that holds its checkpoint, once that is enabled."""

_SWITCH = "gradient_checkpointing"
"""The attribute by which a part knows that it is enabled."""

ENABLES = ("gradient_checkpointing_enable", "gradient_checkpointing_disable")
"""The methods of a model that enable it, and forget the options."""

_ENABLED_WITH = "gradient_checkpointing_kwargs"
"""The argument that has the options of that checkpoint."""

_CHECKPOINT = "torch.utils.checkpoint.checkpoint"
_WRAPPER = "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper"


ASKED = ("module", "recurse", "nonwrapped_numel")
"""What a policy that chooses the parts of a model is handed first."""


class Forms(Containers):
    """Applies checkpoints by what their names mean."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._cleared: dict[Value, tuple[str, ...] | None] = {}

    def call_by_name(
        self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """Call the wrapper or checkpoint of this full name; None where it is none."""
        if name in OWNERS:
            return self.allocate(state, InstanceObject(External(name)))
        form = FORMS.get(name)
        if form is not None:
            return self._apply_form(state, node, form, operands)
        return self.call_wrapper(state, node, name, operands)

    def call_held(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value | None:
        """Call an attribute that holds a checkpoint, to go by its ``name``; None for any other attribute."""
        form = ATTRIBUTES.get(name)
        return self._apply_form(state, node, form, operands) if form is not None else None

    def _apply_form(self, state: State, node: ir.Expr, form: Form, operands: Sequence[Operand]) -> Value:
        given = [operand for operand in operands if operand.keyword is None]
        named = {o.keyword: o for o in operands if o.keyword is not None}
        first = named.get(form.function) or (given.pop(0) if given else None)
        values = {name: operand.value for name, operand in named.items()}
        reentrant = form.shape in ("call", "chain") and values.get("use_reentrant", NONE) in _REENTRANT
        wrapper = self._wrapper(self.place(node), values, trackers=form.trackers)
        wrapper = replace(wrapper, stops_early=not reentrant)
        if first is None:
            return wrapper
        kept = [o for name, o in named.items() if name not in (form.function, *form.options)]
        handed = [*given[form.skipped :], *kept]
        match form.shape:
            case "call":
                return self.run_torch_checkpoint(state, node, replace(wrapper, function=first.value), handed)
            case "chain":
                length = given[0] if form.skipped and given else named.get("segments", Operand(NONE))
                entry = next((o for o in handed if o.keyword in (None, *_INPUTS)), Operand(Unknown()))
                return self._run_chain(state, node, wrapper, first.value, entry, length.value)
            case "module":
                own = given[1] if len(given) > 1 else named.get("checkpoint_fn")
                others = [o for name, o in named.items() if name not in _OF_WRAPPER]
                return self._given_checkpoint(state, node, wrapper, first.value, own, others)
            case _:
                self._wrap_parts(state, node, first.value, given, named)
                return NONE

    def _wrapper(
        self, place: Place, options: Mapping[str, Value], *, trackers: bool = False
    ) -> CheckpointWrapper:
        preserves = options.get("preserve_rng_state") != Constant(False)
        coverage = (
            Coverage(frozenset([RandomKind.TORCH]), trackers=trackers, without=Cover.NOT_ITS_STATE)
            if preserves
            else Coverage(without=Cover.SWITCHED_OFF)
        )
        return CheckpointWrapper(place, None, coverage=coverage, by=Replayer.TORCH, stops_early=True)

    # --- classes

    def cleared_for(self, klass: Value) -> tuple[str, ...] | None:
        """The parameters that are None where a framework checkpoints a class; None for any other class."""
        if klass not in self._cleared:
            names = [self._name_of_class(one) for one in self.mro(klass)]
            self._cleared[klass] = next((CLASSES[name] for name in names if name in CLASSES), None)
        return self._cleared[klass]

    def _name_of_class(self, klass: Value) -> str:
        if isinstance(klass, External):
            return klass.name
        if isinstance(klass, ClassValue) and klass.definition.name in CLASS_NAMES:
            return f"{self.project.module_name(klass.scope.source)}.{klass.definition.name}"
        return ""

    def enable_checkpoints(
        self, state: State, model: Value, method: str, operands: Sequence[Operand]
    ) -> None:
        """``model.gradient_checkpointing_enable(options)`` switches all parts on, with these options."""
        given = next((o.value for o in operands if o.keyword in (None, _ENABLED_WITH)), NONE)
        found = self.object_at(state, given) if isinstance(given, Reference) else None
        options = found.items if isinstance(found, DictObject) else ()
        keywords = tuple((str(name), value) for name, value in options)
        function = Partial(External(_CHECKPOINT), (), keywords)
        for part in list(state.leaves(model)):
            if isinstance(part, Reference):
                self.set_attribute(state, part, _ENABLED, function)
                self.set_attribute(state, part, _SWITCH, Constant(method == ENABLES[0]))

    def call_checkpointed_object(
        self, state: State, node: ir.Expr, called: InstanceObject, forward: Value, operands: Sequence[Operand]
    ) -> Value:
        """Call an object whose class a framework checkpoints."""
        klass, enabled = called.klass, called.get(_ENABLED)
        assert isinstance(klass, ClassValue)
        place = Place(klass.scope.source.path, klass.definition.at)
        cleared = self.cleared_for(klass) or ()
        options = dict(enabled.keywords) if isinstance(enabled, Partial) else {}
        wrapper = replace(self._wrapper(place, options), function=forward, made_for=klass.definition.name)
        handed = [replace(o, value=NONE) if o.keyword in cleared else o for o in operands]
        value = self.run_torch_checkpoint(state, node, wrapper, handed)
        self.wrapped[place, klass] = None
        return value

    # --- functions one after the other

    def _run_chain(
        self,
        state: State,
        node: ir.Expr,
        wrapper: CheckpointWrapper,
        functions: Value,
        entry: Operand,
        segments: Value,
    ) -> Value:
        """Each function on the result of the one before. The last segment of torch's runs without."""
        found = self.object_at(state, functions) if isinstance(functions, Reference) else None
        held = found.get(CONTENTS) if isinstance(found, InstanceObject) else None
        sequence = self.iterate(state, node, held if held is not None else functions)
        steps = [*sequence.items, *((sequence.rest,) if sequence.rest is not None else ())]
        number, exact = len(steps), sequence.rest is None
        covered, size = number, number + 1
        if exact and isinstance(segments, Constant) and isinstance(segments.value, int) and segments.value:
            size = number // segments.value
            covered = size * (segments.value - 1)
        operand = entry
        for index, function in enumerate(steps):
            if index < covered:
                one = replace(wrapper, function=function, goes_on=(index + 1) % size > 0)
                value = self.run_torch_checkpoint(state, node, one, [operand])
            else:
                value = self.call(state, node, function, [operand])
            operand = Operand(value, entry.expr)
        return operand.value

    # --- modules

    def _given_checkpoint(
        self,
        state: State,
        node: ir.Expr,
        wrapper: CheckpointWrapper,
        module: Value,
        own: Operand | None,
        options: Sequence[Operand],
    ) -> Value:
        """A module whose calls run under a checkpoint: the analyser changes the module that it is given.

        ``own`` is the function that makes the checkpoint, where it is not torch's.
        """
        match module:
            case Choice(alternatives=values):
                return reduce(
                    join, [self._given_checkpoint(state, node, wrapper, v, own, options) for v in values]
                )
            case Reference():
                forward = self.attribute_of(state, node, module, "forward")
                wrapped = self._given_checkpoint(state, node, wrapper, forward, own, options)
                self.set_attribute(state, module, "forward", wrapped)
                return module
            case Unknown() | Tensor() | Constant():
                return module
            case _ if own is not None and own.value != NONE:
                keywords = tuple((o.keyword or "", o.value) for o in options)
                bound = Partial(own.value, (module,), keywords)
                self.note_wrapped(state, wrapper.place, bound)
                return bound
            case _:
                return self.wrap_function(state, wrapper, [Operand(module)])

    def _wrap_parts(
        self,
        state: State,
        node: ir.Expr,
        model: Value,
        given: Sequence[Operand],
        named: Mapping[str, Operand],
    ) -> None:
        """``apply_activation_checkpointing(model, wrapper, check, policy)``: wraps some parts."""
        by_position = dict(
            zip(("checkpoint_wrapper_fn", "check_fn", "auto_wrap_policy"), given, strict=False)
        )
        options = {**by_position, **named}
        wrap = options.get("checkpoint_wrapper_fn", Operand(External(_WRAPPER))).value
        for part in list(self.modules_in(state, model))[1:]:
            if self._chosen(state, node, options, part) == Constant(True):
                self.call(state, node, wrap, [Operand(part)])

    def _chosen(self, state: State, node: ir.Expr, options: Mapping[str, Operand], part: Value) -> Value:
        """Whether a part is wrapped: a policy says so, or, where there is none, a function."""
        policy, check = options.get("auto_wrap_policy"), options.get("check_fn")
        if policy is not None and policy.value != NONE:
            values = (part, Constant(False), SCALAR)
            handed = [Operand(value, keyword=name) for name, value in zip(ASKED, values, strict=True)]
            return self.call(state.fork(), node, policy.value, handed)
        return (
            Constant(True) if check is None else self.call(state.fork(), node, check.value, [Operand(part)])
        )
