"""One track: the same training step, run once, under one policy or without checkpoints.

Every track starts from the same weights, buffers, inputs and random states, on a module that
the factory makes anew (so counters and caches of the module start anew, too), and runs in its
own copy of the context: a failed replay can leave torch_remat's context variables set.
"""

from __future__ import annotations

import contextlib
import contextvars
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch_remat
from torch import Tensor, nn

from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.diagnosis import Raised, diagnosed
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.nested import map_tensors, named_tensors
from remat_lint.runtime_check.policy import Policy
from remat_lint.runtime_check.regions import Observation, Tap


@dataclass
class Track:
    """What one run computed.

    ``tensors`` are the outputs, gradients and buffers, named by what they are; gradients stand in
    the order in which backward finished them. ``failure`` is what ended the run early.
    """

    observation: Observation
    tensors: dict[str, Tensor | None] = field(default_factory=dict)
    trace: tuple[str, ...] = ()
    failure: Raised | None = None


@dataclass(frozen=True)
class Start:
    """What all tracks begin with."""

    build: Callable[[], Case]
    class_name: str
    device: torch.device
    seed: int
    state: dict[str, Tensor]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    sets_policy: bool
    """The case applies a policy itself, so flags that are constants here may change as well."""


def prepare(build: Callable[[], Case], device: torch.device, seed: int) -> Start:
    """Build the case once, and keep its weights, buffers and inputs."""
    _seed(seed)
    case = build()
    try:
        case.module.to(device)
        state = {name: tensor.detach().clone() for name, tensor in _state_of(case.module)}
        args, kwargs = _leaves_like((case.args, case.kwargs), device)
    except (RuntimeError, ValueError) as error:
        raise UsageError(
            f"the module cannot be copied to {device}: {' '.join(str(error).split())}"
        ) from error
    given = [tensor for _, tensor in named_tensors((args, kwargs), "")]
    if not any(tensor.requires_grad for tensor in given):
        for tensor in given:
            tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    kind = type(case.module)
    class_name = f"{kind.__module__}.{kind.__qualname__}"
    return Start(
        build, class_name, device, seed, state, args, kwargs, sets_policy=case.set_policy is not None
    )


def run(start: Start, tap: Tap, policy: Policy | None, *, wraps_module: bool) -> Track:
    """Run one track. ``policy`` None leaves all checkpoints out.

    ``wraps_module`` puts the whole module into one checkpoint: for modules that have none.
    """
    return contextvars.copy_context().run(_run, start, tap, policy, wraps_module)


def _run(start: Start, tap: Tap, policy: Policy | None, wraps_module: bool) -> Track:
    case = _fresh_case(start)
    if policy is not None and policy.patterns is not None and case.set_policy is not None:
        case.set_policy(policy.patterns)
    track = Track(Observation(policy, overrides_flags=case.set_policy is None))
    args, kwargs = _leaves_like((start.args, start.kwargs), start.device)
    leaves = dict(_leaves(case.module, args, kwargs))
    module = _checkpointed(case.module) if wraps_module and policy is not None else case.module
    _seed(start.seed)
    phase = "forward"
    try:
        with tap.observing(track.observation), _noting_gradients(leaves) as finished:
            with torch_remat.collect_trace() as trace:
                output = module(*args, **kwargs)
            track.trace = tuple(_names(trace.entries))
            loss = (case.loss or _weighted_sum)(output)
            phase = "backward"
            # In this thread: a replay in another one would not see this copy of the context.
            with torch.autograd.set_multithreading_enabled(False):
                torch.autograd.backward(loss)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
        track.failure = diagnosed(error, phase, track.observation.regions)
        return track
    track.tensors.update((name, tensor.detach()) for name, tensor in named_tensors(output, "output"))
    track.tensors.update((what, leaves[what].grad) for what in dict.fromkeys((*finished, *leaves)))
    track.tensors.update((f"buffer {name}", buffer.detach()) for name, buffer in case.module.named_buffers())
    return track


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
    with torch.no_grad():
        for name, tensor in current.items():
            tensor.copy_(start.state[name])
    for parameter in case.module.parameters():
        parameter.grad = None
    return case


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
def _noting_gradients(leaves: Mapping[str, Any]) -> Iterator[list[str]]:
    """The names of the leaves, in the order in which backward finishes their gradients."""
    finished: list[str] = []
    hooks = [
        leaf.register_post_accumulate_grad_hook(lambda _, what=what: finished.append(what))
        for what, leaf in leaves.items()
        if leaf.requires_grad
    ]
    try:
        yield finished
    finally:
        for hook in hooks:
            hook.remove()


def _leaves(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[tuple[str, Tensor]]:
    for name, parameter in module.named_parameters():
        yield f"gradient of {name}", parameter
    for name, tensor in named_tensors(args, "input"):
        yield f"gradient of {name}", tensor
    for key, value in kwargs.items():
        yield from ((f"gradient of {name}", tensor) for name, tensor in named_tensors(value, f"input {key}"))


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
    """The module's call as one checkpoint, whatever containers it returns."""
    name = type(module).__name__

    def call(*args: Any, **kwargs: Any) -> Any:
        whole: list[Any] = []

        def tensors_only(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
            whole.append(module(*args, **kwargs))
            return tuple(tensor for _, tensor in named_tensors(whole[-1], "output"))

        outputs = iter(torch_remat.checkpoint(region_name=name)(tensors_only)(*args, **kwargs))
        return map_tensors(whole[0], lambda _: next(outputs))

    return call


def _names(entries: Iterable[Any]) -> Iterable[str]:
    for entry in entries:
        if hasattr(entry, "entries"):
            yield from _names(entry.entries)
        else:
            yield entry.name


def _seed(seed: int) -> None:
    """Put the random streams of torch, Python and numpy at the same point."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
