"""Calls: functions and classes of the project, modules of ``torch.nn``, Python's builtins, unknown things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from remat_lint import torch_ops
from remat_lint.analysis import ir
from remat_lint.analysis.builtin_calls import BUILTINS, BuiltinCall
from remat_lint.analysis.construction import Construction
from remat_lint.analysis.containers import MODULE_ITSELF, PARTS
from remat_lint.analysis.iterable_calls import ITERABLE_CALLS
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.machine import MAX_DEPTH, REMAT, Frame, Operand, frame_name, is_override
from remat_lint.analysis.objects import MODULE_CONTAINERS
from remat_lint.analysis.operations import MAX_VIEWS, module_operands
from remat_lint.analysis.state import Hidden, Phase, State, join_all, reunite
from remat_lint.analysis.summaries import Signature, Summary, note_reads
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Compiled,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    Made,
    Method,
    Partial,
    Reference,
    RegionWrapper,
    Scalar,
    Super,
    Tensor,
    Unknown,
    Value,
    holds_object,
    is_blank,
    join,
    map_tensors,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import Place, Step

MAX_CONSTRUCTION = 60
"""Constructors nested deeper than this are not followed."""

MAX_CALLED = 60
"""A called expression longer than this is not repeated in messages."""

MAX_RECURSION = 3
"""Calls of one function inside each other that are followed: helpers that walk nested containers."""

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

_IDENTITY_DECORATORS = ("torch.compile", "torch.jit.script")


class Calls(Construction):
    """Calls a value with operands."""

    def call(self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]) -> Value:
        """The value of ``function(operands)``; the state afterwards is ``state``, changed in place."""
        match function:
            case Choice(alternatives=values):
                return self._call_any(state, node, values, operands)
            case FunctionValue():
                return self.call_function(state, node, function, operands)
            case External(name=name):
                return self.call_external(state, node, name, operands)
            case RegionWrapper():
                return self.run_region(state, node, function, operands)
            case CheckpointWrapper(function=None):
                return self.wrap_function(function, operands)
            case CheckpointWrapper():
                return self.run_checkpoint(state, node, function, operands)
            case Partial():
                bound = [Operand(value) for value in function.positional]
                named = [Operand(value, keyword=name) for name, value in function.keywords]
                return self.call(state, node, function.function, [*bound, *operands, *named])
            case ClassValue():
                return self.construct(state, node, function, operands)
            case Reference():
                return self._call_object(state, node, function, operands)
            case Method(receiver=receiver, name=name):
                return self.call_method(state, node, Operand(receiver), name, operands)
            case InheritedMethod():
                return self._call_inherited(state, node, function, operands)
            case _:
                return self.call_unknown(state, node, operands)

    def _call_any(
        self, state: State, node: ir.Expr, values: Sequence[Value], operands: Sequence[Operand]
    ) -> Value:
        callables = [value for value in values if not isinstance(value, (Constant, Scalar))] or list(values)
        ends = []
        for value in callables:
            path = state.fork()
            ends.append((path, self.call(path, node, value, operands)))
        return self.join_ends(state, ends)

    def join_ends(self, state: State, ends: Sequence[tuple[State, Value]]) -> Value:
        """Make ``state`` the join of several paths, and return the join of their values."""
        state.become(join_all(reunite([path for path, _ in ends])))
        joined = ends[0][1]
        for _, value in ends[1:]:
            joined = join(joined, value)
        return joined

    # --- functions of the project

    def call_function(
        self, state: State, node: ir.Expr, function: FunctionValue, operands: Sequence[Operand]
    ) -> Value:
        """Run a function of the project in a frame of its own."""
        definition = function.definition
        wrapped = self.call_wrapper(state, node, self._full_name(function), operands)
        if wrapped is not None:
            return wrapped
        if self._is_compiled(function) or (function.owner and definition.is_left_to_subclasses):
            return self.call_unknown(state, node, operands)
        if self._cannot_matter(state, function, operands):
            return Unknown(origin=self.fresh())
        if function.receiver is not None:
            operands = [Operand(function.receiver), *operands]
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
        )
        if self._is_too_deep(definition):
            self.give_up(node, "calls nested too deeply")
            return self._promised(state, frame, definition.returns, Unknown(origin=self.fresh()))
        counts = not self.is_inert() and state.phase is not Phase.FORWARD
        self.contexts.setdefault(definition, set()).add(counts)
        if counts and not self.swallowing and self.root is not None:
            self.calling.setdefault(definition, set()).add(self.root)
        context = (
            self.is_inert(),
            state.phase,
            self.grad_enabled,
            bool(self.swallowing),
            bool(self.checkpoints),
            self.compiled,
            is_override(frame),
        )
        signature = self.summaries.signature(state, function, operands, context)
        if signature is not None and signature.tokens and self.regions:
            signature = None  # what a region may read depends on what it was handed
        summary = self.summaries.get(signature) if signature is not None else None
        claimed, conditions, state.claimed = state.claimed, state.conditions(), {}
        if summary is not None and signature is not None:
            frame.id, claims = summary.frame, summary.claims
            value = self._instantiate(state, node, summary, signature, frame)
        else:
            value = self._run_call(state, frame, function, signature)
            claims = self.claims_of_call(state, conditions)
        state.claimed = claimed
        self.claim_for_caller(state, node, frame, claims)
        if isinstance(function.receiver, Reference) and function.receiver.address in self.open:
            value = self._as_if_overridden(state, operands[1:], value)
        return self._hand_back(state, node, value, frame)

    def _full_name(self, function: FunctionValue) -> str:
        """The dotted name of a function or method, for the settings that name some."""
        if not any(self.project.wrappers):
            return ""
        owner = f"{function.owner.definition.name}." if function.owner is not None else ""
        module = self.project.module_name(function.scope.source)
        return f"{module}.{owner}{function.definition.name}"

    def _instantiate(
        self,
        state: State,
        node: ir.Expr,
        summary: Summary,
        signature: Signature,
        frame: Frame,
    ) -> Value:
        """Do what a call like this one did, to the outputs that this one is handed."""
        self.journal.absorb(summary.journal)
        renewal = summary.renewal(signature.tokens, self.fresh)
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
        return summary.instantiate(state, renewal, self.frame.depth, self.chain())

    def _run_call(
        self, state: State, frame: Frame, function: FunctionValue, signature: Signature | None
    ) -> Value:
        """Run a call; what one with a signature did is kept for the next one like it."""
        if signature is None:
            self.bind_parameters(state, frame, function, frame.operands)
            return self.run_function(state, frame)
        before, journal, writes = state.fork(), self.journal, self.outer_writes
        self.journal = Journal()
        try:
            self.bind_parameters(state, frame, function, frame.operands)
            value = self.run_function(state, frame)
            if self.outer_writes == writes:
                claims = self.claims_of_call(state, before.conditions())
                self.summaries.put(signature, state, value, self.journal, before, frame.id, claims)
        finally:
            journal.absorb(self.journal)
            self.journal = journal
        return value

    def run_function(self, state: State, frame: Frame) -> Value:
        """Run the body of ``frame`` on ``state``; afterwards ``state`` is the join of all its ends."""
        assert frame.function is not None
        caller, self.frame = self.frame, frame
        grad, scopes = self.grad_enabled, self.name_scopes
        if any(self._switches_grad_off(decorator) for decorator in frame.function.decorators):
            self.grad_enabled = False
        try:
            flow = self.run_block(frame.function.body, [state.fork()])
        finally:
            self.frame, self.grad_enabled, self.name_scopes = caller, grad, scopes
        end = Unknown() if _is_stub(frame.function) else NONE  # a subclass says what a stub returns
        ends = [*flow.returned, *((path, end) for path in flow.fell)]
        if not ends:  # every path raises
            return Unknown()
        value = self.join_ends(state, ends)
        if frame.id not in self.closures:
            state.frames.pop(frame.id, None)
        if frame.function.is_generator:
            return SequenceValue(rest=frame.yielded or Unknown(), kind="generator")
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
        """Whether a callee is handed no output, and lives where nobody declares a region."""
        source = function.scope.source
        if source is self.frame.scope.source or function.frame != function.scope.frame:
            return False
        if any(True for operand in operands for _ in state.tokens(operand.value)):
            return False
        return not self.project.reaches_remat(source)

    def _is_too_deep(self, definition: ir.Function) -> bool:
        # Modules that are constructed alike are one, so construction may go deep: a module without its
        # parts would be taken for one that nothing is known of.
        if self.frame.depth >= (MAX_CONSTRUCTION if definition.name == "__init__" else MAX_DEPTH):
            return True
        frame: Frame | None = self.frame
        active = 0
        while frame is not None:
            active += frame.function is definition
            frame = frame.parent
        return active > MAX_RECURSION

    def _is_compiled(self, function: FunctionValue) -> bool:
        return any(
            self.decorator_name(decorator) in _IDENTITY_DECORATORS
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

    # --- objects

    def _call_object(
        self, state: State, node: ir.Expr, reference: Reference, operands: Sequence[Operand]
    ) -> Value:
        found = self.object_at(state, reference)
        if not isinstance(found, InstanceObject):
            return self.call_unknown(state, node, operands)
        if isinstance(found.klass, External):
            return self._call_module(state, node, found.klass.name, found, operands)
        for name in ("__call__", "forward"):
            method = self._object_attribute(state, node, reference, name)
            if isinstance(method, (FunctionValue, CheckpointWrapper, RegionWrapper, Choice, Partial)):
                return self.call(state, node, method, operands)
            if isinstance(method, InheritedMethod) and name == "forward":
                return self.call(state, node, method, operands)
        return self.call_unknown(state, node, operands)

    def _call_inherited(
        self, state: State, node: ir.Expr, method: InheritedMethod, operands: Sequence[Operand]
    ) -> Value:
        found = self.object_at(state, method.receiver) if isinstance(method.receiver, Reference) else None
        if method.name in MODULE_ITSELF and method.base.startswith("torch.nn"):
            return method.receiver
        if method.name in ("forward", "__call__") and isinstance(found, InstanceObject):
            return self._call_module(state, node, method.base, found, operands)
        wrapped = self.call_wrapper(state, node, f"{method.base}.{method.name}", operands)
        if wrapped is not None:
            return wrapped
        if method.name == "__init__" and isinstance(method.receiver, Reference) and operands:
            self.initialize_external(state, method.receiver, method.base, operands)
            return NONE
        if isinstance(found, InstanceObject) and isinstance(method.receiver, Reference):
            if found.get("contents") is not None:
                return self._call_container_method(state, node, method.receiver, method.name, operands)
            if method.name in ("add_module", "register_module") and len(operands) > 1:
                self.set_named(state, method.receiver, operands[0], operands[1].value)
                return NONE
            if method.name in PARTS:
                return self._parts_of(state, node, found, method, operands)
        if method.name in _STORING:
            self._store(state, operands)
            return NONE
        return self.call_unknown(state, node, operands)

    def _parts_of(
        self,
        state: State,
        node: ir.Expr,
        found: InstanceObject,
        method: InheritedMethod,
        operands: Sequence[Operand],
    ) -> Value:
        """``module.children()``, ``module.get_submodule("name")`` and their like."""
        if method.name == "get_submodule":
            path = operands[0].value if operands else None
            return self._submodule(state, node, method.receiver, path)
        named = [(name, value) for name, value in found.attributes if isinstance(value, Reference)]
        more = Unknown() if not named or method.name.endswith("modules") else None
        if method.name.startswith("named_"):
            pairs = tuple(SequenceValue((Constant(name), value)) for name, value in named)
            return SequenceValue(pairs, SequenceValue((SCALAR, more)) if more is not None else None)
        return SequenceValue(tuple(value for _, value in named), more)

    def _submodule(self, state: State, node: ir.Expr, module: Value, path: Value | None) -> Value:
        if not isinstance(path, Constant) or not isinstance(path.value, str):
            return Unknown()
        for name in path.value.split(".") if path.value else ():
            module = self.attribute_of(state, node, module, name)
        return module

    def _call_module(
        self,
        state: State,
        node: ir.Expr,
        name: str,
        instance: InstanceObject,
        operands: Sequence[Operand],
    ) -> Value:
        contents = instance.get("contents")
        if name == "torch.nn.Sequential" and isinstance(contents, SequenceValue):
            return self._call_in_sequence(state, node, contents, operands)
        operation = torch_ops.module(name)
        if operation is None:
            return self.call_unknown(state, node, operands)
        options = [o for o in module_operands(instance) if o.keyword in ("p", "inplace")]
        if instance.get("training") == Constant(False):
            options.append(Operand(Constant(False), keyword="training"))
        if operation.effect is not torch_ops.Effect.DROPOUT and not operation.indirect_inplace:
            options = []
        return self.apply(state, node, operation, None, [*operands, *options])

    def _call_in_sequence(
        self, state: State, node: ir.Expr, contents: SequenceValue, operands: Sequence[Operand]
    ) -> Value:
        value: Value = operands[0].value if operands else Unknown()
        expr = operands[0].expr if operands else None
        steps = (*contents.items, *((contents.rest,) if contents.rest else ()))
        for step in steps:
            value = self.call(state, node, step, [Operand(value, expr)])
        return value

    # --- methods of things outside the project

    def call_method(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """``receiver.name(operands)`` where the receiver is no object of the project."""
        match receiver.value:
            case Choice(alternatives=values):
                kept = [value for value in values if value != NONE] or list(values)
                ends = []
                for value in kept:
                    path = state.fork()
                    ends.append(
                        (
                            path,
                            self.call_attribute(path, node, replace(receiver, value=value), name, operands),
                        )
                    )
                return self.join_ends(state, ends)
            case Reference() as reference:
                return self._call_container_method(state, node, reference, name, operands)
            case SequenceValue(items=items, fields=fields) as record if name == "_replace" and fields:
                given = {o.keyword: o.value for o in operands}
                renewed = tuple(given.get(f, item) for f, item in zip(fields, items, strict=False))
                return replace(record, items=renewed)
            case SequenceValue(items=items, rest=rest) if name in ("values", "items", "keys", "__iter__"):
                return SequenceValue(items, rest)
            case ClassValue() as klass if name == "apply":
                return self._apply_autograd_function(state, node, klass, operands)
            case Constant() | Scalar():
                self.read(state, node, operands)
                return SCALAR if isinstance(receiver.value, Constant) else Unknown()
            case _:
                return self._call_tensor_method(state, node, receiver, name, operands)

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
        if name == "build" and is_blank(result) and isinstance(receiver.value, Reference):
            return self._build_owner(state, node, receiver.value, operands) or result
        return result

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
        return self.construct(state, node, klass.outer, [Operand(receiver), *operands])

    def _call_attribute(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        value = receiver.value
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
        if name == "backward":
            self.journal.is_body = False
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
        self.may_be_called(operands)

    # --- names of other packages

    def call_external(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        """Call something of another package by its full name."""
        package, _, last = name.rpartition(".")
        if package == REMAT or package.startswith(REMAT + "."):
            return self.call_remat(state, node, last, operands)
        wrapped = self.call_wrapper(state, node, name, operands)
        if wrapped is not None:
            return wrapped
        special = BUILTINS.get(name) or ITERABLE_CALLS.get(name)
        if special is not None:
            return special(BuiltinCall(self, state, node, operands))
        if name in _IDENTITY_DECORATORS:
            return Compiled(operands[0].value) if operands else External(name)
        operation = torch_ops.function(name)
        if operation is not None:
            return self.apply(state, node, operation, None, operands)
        if name.startswith("torch.nn.") and (name in MODULE_CONTAINERS or _looks_like_a_class(name)):
            return self.construct_external(state, name, operands)
        return self.call_unknown(state, node, operands)

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


def _looks_like_a_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()
