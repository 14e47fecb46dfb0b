"""One track: the same training step, run once, under one policy or without checkpoints.

Every track starts from the same weights, buffers, inputs and random states, on a module that
the factory makes anew (so counters and caches of the module start anew, too), and runs in its
own copy of the context: a failed replay can leave torch_remat's context variables set.
"""

from __future__ import annotations

import contextlib
import contextvars
import gc
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch_remat
from torch import Tensor, nn

from remat_lint.runtime_check.blocks import put_in_segments
from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.described import attributes_of, random_states
from remat_lint.runtime_check.diagnosis import Raised, diagnosed
from remat_lint.runtime_check.errors import UsageError, in_one_line
from remat_lint.runtime_check.fingerprints import Fingerprint, fingerprint
from remat_lint.runtime_check.nested import map_tensors, named_tensors
from remat_lint.runtime_check.plan import Plan
from remat_lint.runtime_check.regions import Observation, Tap
from remat_lint.runtime_check.surroundings import Surroundings
from remat_lint.runtime_check.witness import Witness

Witnesses = Callable[[Observation], Sequence[Witness]]


@dataclass
class Track:
    """What one run computed and left behind.

    ``prints`` are the fingerprints of outputs, gradients, buffers and, after an optimizer's step,
    parameters, by what they are; gradients stand in the order in which backward finished them; None
    stands for no gradient. ``values`` are the tensors themselves, of those that were asked for.
    ``state`` is what is known of attributes, globals and random streams after the step, as text, and
    ``changed`` names what the step itself changed of it. ``failure`` is what ended the run early.
    """

    plan: Plan
    observation: Observation
    prints: dict[str, Fingerprint | None] = field(default_factory=dict)
    values: dict[str, Tensor | None] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    """The keys of the module's state dict after the step."""
    trace: tuple[str, ...] = ()
    failure: Raised | None = None


@dataclass(frozen=True)
class Start:
    """What all tracks begin with.

    ``batches`` is how many times forward and backward run before the gradients are compared;
    ``steps_optimizer`` says that an optimizer steps then, and that the parameters are compared, too.
    """

    build: Callable[[], Case]
    kind: type[nn.Module]
    """The class of the module."""
    device: torch.device
    seed: int
    state: dict[str, Tensor | Fingerprint]
    """Weights and buffers: what they are, where the factory makes just the same again, or else themselves."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    sets_policy: bool
    """The case applies a policy itself, so flags that are constants here may change as well."""
    surroundings: Surroundings
    batches: int = 1
    steps_optimizer: bool = False
    keeps_gradients: bool = False

    @property
    def releases_gradients(self) -> bool:
        """Is each gradient let go of as soon as it is known? Not where it is added to, or used."""
        return self.batches == 1 and not self.steps_optimizer and not self.keeps_gradients


def prepare(
    build: Callable[[], Case],
    home: str,
    device: torch.device,
    seed: int,
    *,
    batches: int = 1,
    steps_optimizer: bool = False,
) -> Start:
    """Build the case twice, and keep what there is to know of weights, buffers, inputs and surroundings.

    ``home`` is the name of the module of code that the factory is from.
    """
    _seed(seed)
    case = build()
    surroundings = Surroundings(case.module, home)
    surroundings.restore()
    _seed(seed)
    again = build()
    try:
        case.module.to(device)
        again.module.to(device)
        state = dict(_kept_state(case.module, again.module))
        args, kwargs = _leaves_like((case.args, case.kwargs), device)
    except (RuntimeError, ValueError) as error:
        raise UsageError(
            f"the module cannot be copied to {device}: {' '.join(str(error).split())}"
        ) from error
    given = [tensor for _, tensor in named_tensors((args, kwargs), "")]
    if not any(tensor.requires_grad for tensor in given):
        for tensor in given:
            tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    return Start(
        build=build,
        kind=type(case.module),
        device=device,
        seed=seed,
        state=state,
        args=args,
        kwargs=kwargs,
        sets_policy=case.set_policy is not None,
        surroundings=surroundings,
        batches=batches,
        steps_optimizer=steps_optimizer,
    )


def run(
    start: Start,
    tap: Tap,
    plan: Plan,
    *,
    wraps_module: bool,
    witnesses: Witnesses = lambda _: (),
    wanted: AbstractSet[str] = frozenset(),
) -> Track:
    """Run one track.

    Args:
        start: what it begins with.
        tap: the open tap.
        plan: how it checkpoints.
        wraps_module: put the whole module into one checkpoint: for modules that have none.
        witnesses: makes those who are told what happens.
        wanted: the names of the tensors to keep as they are, beside their fingerprints.
    """
    try:
        return contextvars.copy_context().run(_run, start, tap, plan, wraps_module, witnesses, wanted)
    except _GradientInParts:
        kept = replace(start, keeps_gradients=True)
        return contextvars.copy_context().run(_run, kept, tap, plan, wraps_module, witnesses, wanted)


class _GradientInParts(Exception):
    """A shared gradient is handed over in parts, as reentrant checkpoints do: release none before the end."""


def _run(
    start: Start, tap: Tap, plan: Plan, wraps_module: bool, witnesses: Witnesses, wanted: AbstractSet[str]
) -> Track:
    _collect_what_is_garbage()
    start.surroundings.restore()
    case = _fresh_case(start)
    if case.set_policy is not None:
        _set_policy(case.set_policy, (plan.policy.patterns if plan.policy else None) or ())
    observation = Observation(plan, overrides_flags=case.set_policy is None)
    observation.witnesses = tuple(witnesses(observation))
    track = Track(plan, observation)
    if plan.segment > 1:
        put_in_segments(case, plan.segment)
    step = _Step(start, case, track, wanted, wraps_module and plan.segment == 1)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(tap.observing(observation))
            for witness in observation.witnesses:
                stack.enter_context(witness.around())
            step.run()
    except (UsageError, _GradientInParts):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
        track.failure = diagnosed(error, step.phase, observation.regions)
        return track
    step.note_what_is_left()
    return track


def _collect_what_is_garbage() -> None:
    """Nothing older than the track may be collected in its midst; what is alive is not looked through again.

    A context that was entered and never left closes itself when it is collected: that of ``fork_rng`` sets
    the random state.
    """
    gc.collect()
    gc.freeze()


def _set_policy(set_policy: Callable[[tuple[str, ...]], None], patterns: tuple[str, ...]) -> None:
    try:
        set_policy(patterns)
    except Exception as error:
        raise UsageError(f"set_policy of the case raised {in_one_line(error)}") from error


class _Step:
    """Forward and backward of one case, as often as its micro-batches ask for, and what is kept of them."""

    def __init__(
        self, start: Start, case: Case, track: Track, wanted: AbstractSet[str], wraps_module: bool
    ) -> None:
        self.phase = "forward"
        self._start = start
        self._case = case
        self._track = track
        self._wanted = wanted
        self._args, self._kwargs = _leaves_like((start.args, start.kwargs), start.device)
        self._leaves = _leaves(case.module, self._args, self._kwargs)
        if wraps_module:
            case.module.forward = _checkpointed(case.module)
        _seed(start.seed)
        self._state = self._described()

    def run(self) -> None:
        with _noting_gradients(self._leaves, self._gradient_is_there):
            for _ in range(self._start.batches):
                self._batch()
        if not self._start.releases_gradients:
            for what, leaf in self._leaves.items():
                self._keep(what, leaf.grad)
        for what in self._leaves:
            self._track.prints.setdefault(what, None)
        if self._start.steps_optimizer:
            self._step_optimizer()

    def _batch(self) -> None:
        self.phase = "forward"
        with torch_remat.collect_trace() as trace:
            loss = self._loss()
        if not self._track.trace:
            self._track.trace = tuple(trace_names(trace.entries))
        for witness in self._track.observation.witnesses:
            witness.forward_ended(loss)
        self.phase = "backward"
        _draw()  # as later layers would: replay never finds the random streams where forward left them
        # In this thread: a replay in another one would not see this copy of the context.
        with torch.autograd.set_multithreading_enabled(False):
            torch.autograd.backward(loss)
        for witness in self._track.observation.witnesses:
            witness.backward_ended()

    def _loss(self) -> Tensor:
        if self._case.step is not None:
            loss = self._case.step(self._case.module, *self._args, **self._kwargs)
            loss = _number(loss, "step")
            self._keep("loss", loss)
            return loss
        output = self._case.module(*self._args, **self._kwargs)
        for name, tensor in named_tensors(output, "output"):
            self._keep(name, tensor)
        if self._case.loss is not None:
            return _number(self._case.loss(output), "loss")
        return _weighted_sum(output)

    def _gradient_is_there(self, what: str, leaf: Tensor) -> None:
        if not self._start.releases_gradients:
            return
        if what in self._track.prints:
            raise _GradientInParts
        self._keep(what, leaf.grad)
        leaf.grad = None

    def _step_optimizer(self) -> None:
        self.phase = "optimizer step"
        parameters = [p for p in self._case.module.parameters() if p.requires_grad]
        (self._case.optimizer or _gradient_descent)(parameters).step()

    def note_what_is_left(self) -> None:
        module = self._case.module
        for name, parameter in module.named_parameters():
            self._keep(f"parameter {name} after the step", parameter)
        for name, buffer in module.named_buffers():
            self._keep(f"buffer {name}", buffer)
        before, after = self._state, self._described()
        self._track.state = after
        self._track.changed = frozenset(
            what for what in {*before, *after} if before.get(what) != after.get(what)
        )
        self._track.keys = tuple(module.state_dict())

    def _described(self) -> dict[str, str]:
        return dict(
            [*attributes_of(self._case.module), *self._start.surroundings.described(), *random_states()]
        )

    def _keep(self, what: str, tensor: Tensor | None) -> None:
        self._track.prints[what] = None if tensor is None else fingerprint(tensor)
        if what in self._wanted:
            self._track.values[what] = None if tensor is None else tensor.detach().to("cpu", copy=True)


def _number(loss: Any, what: str) -> Tensor:
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        kind = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
        raise UsageError(f"the {what} of the case returned {kind}: return the loss, a tensor with one number")
    return loss


def _gradient_descent(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.01)


def _fresh_case(start: Start) -> Case:
    _seed(start.seed)
    case = start.build()
    case.module.to(start.device)
    current = dict(_state_of(case.module))
    if current.keys() != start.state.keys() or any(
        tensor.shape != start.state[name].shape for name, tensor in current.items()
    ):
        raise UsageError(
            "the factory makes a module with other parameters each time: make it always the same"
        )
    for name, tensor in current.items():
        kept = start.state[name]
        if isinstance(kept, Tensor):
            with torch.no_grad():
                tensor.copy_(kept)
        elif fingerprint(tensor) != kept:
            raise UsageError(
                f"the factory makes another {name} after the step ran: let it always be the same"
            )
    for parameter in case.module.parameters():
        parameter.grad = None
    return case


def _kept_state(first: nn.Module, again: nn.Module) -> Iterator[tuple[str, Tensor | Fingerprint]]:
    """Fingerprints of what the factory makes the same again, copies of the rest.

    A step has no room for its weights once more.
    """
    second = dict(_state_of(again))
    for name, tensor in _state_of(first):
        other, seen = second.get(name), fingerprint(tensor)
        is_made_again = other is not None and not torch._C._is_alias_of(tensor, other)  # type: ignore[attr-defined]
        if seen is not None and is_made_again and fingerprint(second[name]) == seen:
            yield name, seen
        else:
            yield name, tensor.detach().clone()


def _state_of(module: nn.Module) -> Iterable[tuple[str, Tensor]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def _leaves_like(inputs: Any, device: torch.device) -> Any:
    """Leaves with the values of ``inputs``; a tensor that is given twice stays one tensor."""
    copies: dict[int, Tensor] = {}

    def copied(tensor: Tensor) -> Tensor:
        if id(tensor) not in copies:
            leaf = tensor.detach().to(device).clone()
            copies[id(tensor)] = leaf.requires_grad_(tensor.requires_grad)
        return copies[id(tensor)]

    return map_tensors(inputs, copied)


@contextlib.contextmanager
def _noting_gradients(leaves: Mapping[str, Tensor], note: Callable[[str, Tensor], None]) -> Iterator[None]:
    """Calls ``note`` with each leaf, in the order in which backward finishes their gradients."""
    hooks = [
        leaf.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            lambda leaf, what=what: note(what, leaf)
        )
        for what, leaf in leaves.items()
        if leaf.requires_grad
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _leaves(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Tensor]:
    """What may get a gradient, each tensor once, under its first name."""
    named = [*module.named_parameters(), *named_tensors(args, "input")]
    for key, value in kwargs.items():
        named += named_tensors(value, f"input {key}")
    first: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in named:
        first.setdefault(id(tensor), (f"gradient of {name}", tensor))
    return dict(first.values())


def _weighted_sum(output: Any) -> Tensor:
    """The loss of a case that has none: every output with its own fixed random weights.

    With equal weights, gradients would not show whether values were exchanged.
    """
    generator = torch.Generator().manual_seed(0)
    terms = []
    for _, tensor in named_tensors(output, "output"):
        real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        if real.is_floating_point() and real.requires_grad:
            weights = torch.randn(real.shape, generator=generator).to(real.device)
            terms.append((real.float() * weights).sum())
    if not terms:
        raise UsageError(
            "no output of the module requires a gradient, so there is no backward to check:"
            " let the factory give a module with trainable parameters, or a Case with a loss"
        )
    return torch.stack(terms).sum()


def _checkpointed(module: nn.Module) -> Callable[..., Any]:
    """The module's forward as one checkpoint, whatever containers it returns."""
    forward, name = module.forward, type(module).__name__

    def call(*args: Any, **kwargs: Any) -> Any:
        whole: list[Any] = []

        def tensors_only(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
            whole.append(forward(*args, **kwargs))
            return tuple(tensor for _, tensor in named_tensors(whole[-1], "output"))

        outputs = iter(torch_remat.checkpoint(region_name=name)(tensors_only)(*args, **kwargs))
        return map_tensors(whole[0], lambda _: next(outputs))

    return call


def trace_names(entries: Iterable[Any]) -> Iterator[str]:
    """The regions of a trace of torch_remat, in order, without the scopes around them."""
    for entry in entries:
        if hasattr(entry, "entries"):
            yield from trace_names(entry.entries)
        else:
            yield entry.name


def _draw() -> None:
    """Take a number from each random stream."""
    torch.rand(())
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            torch.rand((), device=f"cuda:{index}")
    random.random()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.random()


def _seed(seed: int) -> None:
    """Put the random streams of torch, Python and numpy at the same point."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
