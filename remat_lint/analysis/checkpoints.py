"""``remat.checkpoint(...)(function)(...)``: how it is written, what it takes, and the body that it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.facts import (
    CheckpointOption,
    CheckpointOutput,
    NestedCheckpoint,
    PositionalCheckpoint,
)
from remat_lint.analysis.hooks import Hooks
from remat_lint.analysis.journal import others
from remat_lint.analysis.legacy import LEGACY
from remat_lint.analysis.machine import REMAT, Operand, qualified
from remat_lint.analysis.outputs import Outputs
from remat_lint.analysis.replays import HERE, Replay
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    NONE,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Constant,
    Coverage,
    FunctionValue,
    InstanceObject,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    join,
    numbers,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.weights import Weights
from remat_lint.findings import ReplaceCode, Step

OPTIONS = (
    "region_name",
    "determinism_check",
    "preserve_rng_state",
    "saved_tensors_hooks",
    "recompute_state_hooks",
)

_HOOKS = ("saved_tensors_hooks", "recompute_state_hooks")

_DETERMINISM_CHECKS = ("none", "default")

_LEAVE_OUT = {
    "use_reentrant": "Leave it out: it is never reentrant.",
    "early_stop": "Leave it out: replay always runs to the end.",
    "debug": "Leave it out.",
    "context_fn": "Leave it out, and say with `remat.region` what is kept.",
}
"""Options of ``torch.utils.checkpoint``."""


class Checkpoints(Hooks):
    """Makes checkpoints and runs their bodies."""

    def make_checkpoint(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """``remat.checkpoint(...)``: options by keyword, and nothing else."""
        self.journal.is_body &= bool(self.checkpoints)
        positional = [operand for operand in operands if operand.keyword is None]
        options = [operand for operand in operands if operand.keyword in OPTIONS]
        if not self.swallowing:
            self._check_form(node, positional)
            for option in operands if not positional else options:
                self._check_option(state, node, option)
        hooks = tuple(o.keyword or "" for o in options if o.keyword in _HOOKS and self._has_hooks(state, o))
        wrapper = CheckpointWrapper(self.place(node), None, hooks, self._coverage(state, node, operands))
        if not positional or isinstance(positional[0].value, Constant):
            return wrapper
        wrapper = replace(wrapper, function=positional[0].value)
        if len(positional) == 1:
            return wrapper
        handed = [operand for operand in operands if operand.keyword not in (*OPTIONS, *_LEAVE_OUT)]
        return self.run_checkpoint(state, node, wrapper, handed[1:])

    def wrap_function(
        self, state: State, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> CheckpointWrapper:
        """``remat.checkpoint(...)(function)``: nothing runs yet.

        The methods of objects that are constructed alike are one, and a loop wraps each of them once.
        """
        function = operands[0].value if operands else Unknown()
        if isinstance(function, CheckpointWrapper) and function.place == wrapper.place:
            return function
        wrapper = replace(wrapper, function=function)
        self.note_wrapped(state, wrapper.place, wrapper)
        return wrapper

    # --- arguments by position

    def _check_form(self, node: ir.Expr, positional: Sequence[Operand]) -> None:
        if not positional or positional[0].star:
            return
        given = ", ".join(self.text(one.expr) if one.expr is not None else "..." for one in positional)
        code = self._curried(node, positional)
        edit = ReplaceCode(self.place(node).path, node.at, code) if code is not None else None
        self.journal.note(PositionalCheckpoint(self.place(node), given, edit))

    def _curried(self, node: ir.Expr, positional: Sequence[Operand]) -> str | None:
        """The call as torch_remat takes it: options, function and arguments in three pairs of parentheses."""
        source = self.frame.scope.source
        if not isinstance(node, ir.Call):  # a decorator
            return f"{source.code(node.at)}()"
        if not self._is_checkpoint(node.function) or "#" in source.code(node.at):
            return None
        if any(argument.keyword == "context_fn" for argument in node.arguments):
            return None  # it says what is kept, which is not to be lost
        first, *others = node.arguments
        kept = [one for one in others if one.keyword in OPTIONS]
        handed = [one for one in others if one.keyword not in (*OPTIONS, *_LEAVE_OUT)]
        function = f"({self.text(first.value)})"
        if isinstance(positional[0].value, Constant):
            if handed or any(one.keyword == "region_name" for one in kept):
                return None
            function = ""
            kept.insert(0, ir.Argument(first.value, "region_name"))
        call = f"{source.code(node.function.at)}({self._as_arguments(kept)}){function}"
        return f"{call}({self._as_arguments(handed)})" if handed else call

    def _is_checkpoint(self, function: ir.Expr) -> bool:
        if isinstance(function, ir.Attribute):
            return function.name == "checkpoint"
        return qualified(self.frame.values.get(function.at, NONE)) == f"{REMAT}.checkpoint"

    def _as_arguments(self, arguments: Sequence[ir.Argument]) -> str:
        return ", ".join(
            (f"{one.keyword}=" if one.keyword else one.star) + self.text(one.value) for one in arguments
        )

    # --- options

    def _check_option(self, state: State, node: ir.Expr, option: Operand) -> None:
        name = option.keyword or ""
        if name == "**":
            return
        if name in LEGACY:
            self.note_legacy(node, name)
            return
        for what, advice in self._problems_of_option(state, name, option.value):
            self.journal.note(CheckpointOption(self.place(node), name, what, advice))

    def _problems_of_option(self, state: State, name: str, value: Value) -> Iterator[tuple[str, str]]:
        if name not in OPTIONS:
            takes = f"Leave it out: the options are {', '.join(f'`{one}`' for one in OPTIONS)}."
            yield "is no option of `remat.checkpoint`, and raises `TypeError`", _LEAVE_OUT.get(name, takes)
        elif name == "preserve_rng_state" and isinstance(value, Constant) and value.value:
            yield (
                "raises `NotImplementedError`: torch_remat does not preserve random state",
                "Leave it out, and give a `remat.RecomputeStateHook` that does: "
                "`recompute_state_hooks=(hook,)`.",
            )
        elif name == "determinism_check" and isinstance(value, Constant):
            if value.value not in _DETERMINISM_CHECKS:
                yield f"cannot be `{value.value!r}`, and raises", 'Write `"none"` or `"default"`.'
        elif name == "recompute_state_hooks":
            yield from self._problems_of_hooks(state, value)

    def _problems_of_hooks(self, state: State, value: Value) -> Iterator[tuple[str, str]]:
        hooks = self.items_of(state, value)
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if hooks is not None and any(self._needs_object(hook) for hook in hooks):
            yield "holds a class, which has no state to snapshot", "Give an object of it: `(Hook(),)`."
        elif isinstance(value, ClassValue) or value == NONE:
            yield "is no tuple of hooks, and raises", "Give a tuple of objects: `(Hook(),)`."
        elif isinstance(found, InstanceObject) and isinstance(found.klass, ClassValue):
            iterates = self.attribute_of(state, ir.Const(0, None), value, "__iter__")
            if isinstance(iterates, Unknown):
                yield "is one hook, which cannot be iterated", "Give a tuple: `(hook,)`."

    def _needs_object(self, hook: Value) -> bool:
        """Whether a hook is a class whose methods are those of its objects."""
        if not isinstance(hook, ClassValue):
            return False
        methods = (self.class_attribute(self.mro(hook), name) for name in ("snapshot", "restore"))
        return any(isinstance(one, FunctionValue) and _needs_receiver(one.definition) for one in methods)

    def _has_hooks(self, state: State, option: Operand) -> bool:
        return bool(self.items_of(state, option.value))

    def _coverage(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Coverage:
        """The random states that the hooks of a checkpoint restore."""
        given = next((o for o in operands if o.keyword == "recompute_state_hooks"), None)
        if given is not None:
            return self.coverage_of(state, node, given)
        return Coverage(known=not any(operand.keyword == "**" for operand in operands))

    # --- running a checkpoint

    def run_checkpoint(
        self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> Value:
        """Run a checkpointed body: what it leaves unserved is settled here, what it returns is real."""
        assert wrapper.function is not None
        self.note_run(wrapper)
        self._check_surroundings(node, wrapper)
        before, runs = state.pending, state.runs
        state.pending, state.runs = {}, {}
        regions, self.regions = self.regions, []
        claimed, state.claimed = state.claimed, {}
        self.checkpoints.append((self.place(node), self.frame.depth))
        operands = self._with_gradients(state, wrapper.function, operands)
        replay = self._replay(state, node, wrapper, operands)
        try:
            with self.judged_for(state, replay), self.on_replay(state):
                value = self.call(state, node, wrapper.function, operands)
                self.hand_over(state, node, value)
            self._check_output(state, node, wrapper, value)
        finally:
            self.regions = regions
            self.checkpoints.pop()
        self.escape(state, value)
        state.claimed = claimed
        self.journal.settle(state.pending)
        self.journal.judge(state, state.runs.values())
        state.pending, state.runs = before, runs
        return self._real(state, value)

    def _with_gradients(
        self, state: State, function: Value, operands: Sequence[Operand]
    ) -> Sequence[Operand]:
        """A body without weights has its gradients from what it is handed: from its only tensor."""
        tensors = [
            operand for operand in operands if isinstance(operand.value, (Tensor, Unknown)) or operand.star
        ]
        others = (operand.value for operand in operands if operand not in tensors)
        if len(tensors) != 1 or not all(isinstance(other, (Constant, Scalar)) for other in others):
            return operands
        given = tensors[0]
        is_unknown = (
            self.grad_of(given.value) is None and not given.star and not any(state.tokens(given.value))
        )
        if not is_unknown or Weights(state, self.object_at, self.resolved).may_have(function):
            return operands
        if isinstance(given.value, Tensor):
            value = replace(given.value, grad=True)
        else:
            number = self.number_of(given.value) or self.fresh()
            value = Tensor(storage=number, like=number, grad=True)
        return [replace(operand, value=value) if operand is given else operand for operand in operands]

    def resolved(self, value: Value) -> Value:
        """What an import stands for; other values stand for themselves."""
        raise NotImplementedError

    def run_torch_checkpoint(
        self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> Value:
        """A checkpoint of torch is a bare operation: it saves what the function is given, then runs it."""
        assert wrapper.function is not None
        self.note_run(wrapper)
        self.read(state, node, operands)
        with self.judged_for(state, self._replay(state, node, wrapper, operands)), self.on_replay(state):
            value = self.call(state, node, wrapper.function, operands)
            self.hand_over(state, node, value)
            return value

    def _replay(
        self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> Replay:
        handed = handed_numbers(operands)
        if wrapper.made_for:
            note = f"each {wrapper.made_for} runs under a checkpoint when gradient checkpointing is on"
            place = wrapper.place
        else:
            note, place = HERE, self.place(node)
        self.note_switch(state, place)
        return Replay(
            wrapper.by,
            place,
            wrapper.coverage,
            wrapper.certain and state.weight > 0,
            handed=handed,
            way=() if wrapper.made_for else self.way_to(place),
            note=note,
            share=state.weight,
            stops_early=wrapper.stops_early,
            goes_on=wrapper.goes_on,
        )

    def _check_surroundings(self, node: ir.Expr, wrapper: CheckpointWrapper) -> None:
        """Nothing runs in another checkpoint; hooks are not for compiled code."""
        for option in wrapper.hooks if self.compiled else ():
            what = "is not supported under `torch.compile`: it raises, or falls back to eager code"
            advice = "Leave it out, or compile what the checkpoint runs instead."
            self.journal.note(CheckpointOption(wrapper.place, option, what, advice, certain=False))
        if self.checkpoints:
            here, (outer, depth) = self.place(node), self.checkpoints[-1]
            place = here if here.path == outer.path else outer
            first, last = Step(outer, "the outer checkpoint runs here"), Step(here, "the inner one runs here")
            chain = (first, *self.calls_since(depth), last)
            self.reject(NestedCheckpoint(place, place != here, others(chain, place)))

    def _check_output(self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, value: Value) -> None:
        what = Outputs(self, state, of_region=False).rejected(value)
        if what is not None:
            here = self.place(node)
            place = wrapper.place if wrapper.place.path == here.path else here
            self.reject(CheckpointOutput(place, _called(wrapper.function), what))

    def _real(self, state: State, value: Value) -> Value:
        match value:
            case Tensor():
                return replace(value, token=None, opaque=False, moved=None, reshaped=None, via=())
            case SequenceValue(items=items, rest=rest):
                real = tuple(self._real(state, item) for item in items)
                return replace(value, items=real, rest=self._real(state, rest) if rest is not None else None)
            case Unknown(origin=origin):
                return Unknown(origin=origin)
            case Choice(alternatives=values):
                joined = self._real(state, values[0])
                for other in values[1:]:
                    joined = join(joined, self._real(state, other))
                return joined
            case _:
                return Unknown() if state.holds_tokens(value) else value


def handed_numbers(operands: Sequence[Operand]) -> dict[int, bool]:
    """The numbers of the tensors that a checkpoint hands on, and whether each goes by position."""
    return {
        number: operand.keyword is None for operand in operands for number in numbers(operand.value) if number
    }


def _needs_receiver(method: ir.Function) -> bool:
    names = (one.id for one in method.decorators if isinstance(one, ir.Name))
    return not any(name in ("staticmethod", "classmethod") for name in names)


def _called(function: Value | None) -> str:
    """How a message calls a checkpointed function."""
    if not isinstance(function, FunctionValue):
        return "the function"
    return "the lambda" if function.definition.is_lambda else f"`{function.definition.name}`"
