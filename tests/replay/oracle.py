"""What a program does under its checkpoint that it does not do without: gradients, state, output, streams."""

from __future__ import annotations

import contextlib
import contextvars
import datetime
import gc
import io
import itertools
import logging
import pickle
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

from tests.replay.axes import Hook, Region
from tests.replay.deeds import DIVERGES, Outcome
from tests.replay.state import state_of
from tests.replay.writer import Program

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import torch._dynamo  # seeding would import it, under a clock that is not its own
    import torch.utils.checkpoint as torch_checkpoint
    import torch_remat as remat
    from torch.distributed.algorithms._checkpoint import checkpoint_wrapper

SEEDS = range(2)
BRANCH_SEEDS = range(8)
"""A draw that decides a branch comes out the same by luck every other time."""
FILE = "replayed_program.py"


@dataclass(frozen=True)
class Verdict:
    """How a run under the checkpoint differs from the plain one, for the worst seed.

    ``state`` are the paths of what differs afterwards, ``streams`` the generators left elsewhere.
    """

    outcome: Outcome
    why: str = ""
    state: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    printed: bool = False

    def __str__(self) -> str:
        parts = [self.outcome.value, self.why]
        parts += [f"state: {', '.join(sorted(self.state))}"] if self.state else []
        parts += [f"streams: {', '.join(sorted(self.streams))}"] if self.streams else []
        parts += ["printed more often"] if self.printed else []
        return "; ".join(part for part in parts if part)


@dataclass
class _Run:
    """Everything that one run leaves."""

    tensors: list[Any]
    state: dict[str, Any]
    streams: dict[str, Any]
    printed: str


def verdicts_of(program: Program) -> dict[bool, Verdict]:
    """The verdict for each answer of the policy; empty where the program fails without a checkpoint."""
    case = program.case
    answers = (False, True) if any(site.region is Region.POLICY for site in case.sites) else (False,)
    code = compile(program.source, FILE, "exec", dont_inherit=True)
    branches = any(site.deed.replayed.outcomes == DIVERGES for site in case.sites)
    found = {answer: _verdict(code, answer, BRANCH_SEEDS if branches else SEEDS) for answer in answers}
    if case.hook is Hook.ENTERED:
        gc.collect()  # a context that nobody left sets the generators back when it is collected
    return {answer: verdict for answer, verdict in found.items() if verdict is not None}


def _verdict(code: types.CodeType, answer: bool, seeds: range) -> Verdict | None:
    worst = None
    for seed in seeds:
        verdict = _verdict_of_seed(code, answer, seed)
        if verdict is None:
            return None
        if verdict.outcome is not Outcome.RIGHT:
            return verdict
        worst = worst or verdict
    return worst


def _verdict_of_seed(code: types.CodeType, answer: bool, seed: int) -> Verdict | None:
    try:
        with _without_checkpoints():
            plain = _run(code, answer, seed)
    except Exception:  # noqa: BLE001 - any: then there is nothing to compare with
        return None
    try:
        replayed = _run(code, answer, seed)
    except Exception as error:  # noqa: BLE001 - the verdict is the exception
        return Verdict(
            Outcome.RAISES, f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:110]}"
        )
    same = _agree(plain.tensors, replayed.tensors)
    return Verdict(
        Outcome.RIGHT if same else Outcome.WRONG,
        state=_differing(plain.state, replayed.state),
        streams=_differing(plain.streams, replayed.streams),
        printed=plain.printed != replayed.printed,
    )


def _run(code: types.CodeType, answer: bool, seed: int) -> _Run:
    """One step in a fresh module, with fresh generators; later layers draw before backward begins."""
    gc.disable()
    try:
        return contextvars.copy_context().run(_run_in_context, code, answer, seed)
    finally:
        gc.enable()


def _run_in_context(code: types.CodeType, answer: bool, seed: int) -> _Run:
    module = types.ModuleType("replayed_program")
    printed = io.StringIO()
    with _scripted(), _captured(printed):
        sys.modules[module.__name__] = module
        _seed(seed)
        exec(code, vars(module))
        module.RECOMPUTED.update(["0", "1", "2"] if answer else [])
        x = _input().clone().requires_grad_()
        out = module.step(x * 1.0)
        _draw_as_later_layers_would(module)
        (out.double() * torch.arange(1.0, 1.0 + out.numel()).view_as(out)).sum().backward()
    modules = [value for value in vars(module).values() if isinstance(value, torch.nn.Module)]
    parameters = {id(each): each for module in modules for each in module.parameters()}
    tensors = [out.detach(), x.grad, *(parameter.grad for parameter in parameters.values())]
    state, streams = state_of(vars(module))
    return _Run(tensors, state, {**streams, **_global_streams()}, printed.getvalue())


@cache
def _input() -> Any:
    return torch.randn(4, 8, generator=torch.Generator().manual_seed(1))


def _seed(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def _draw_as_later_layers_would(module: types.ModuleType) -> None:
    torch.rand(3)
    random.random()
    np.random.rand()
    _, streams = state_of(vars(module), draw=True)
    del streams


def _global_streams() -> dict[str, Any]:
    return {
        "torch": torch.get_rng_state(),
        "python": random.getstate(),
        "numpy": pickle.dumps(np.random.get_state()),
    }


def _differing(left: dict[str, Any], right: dict[str, Any]) -> frozenset[str]:
    return frozenset(
        name
        for name in left.keys() | right.keys()
        if name not in left or name not in right or not _equal(left[name], right[name])
    )


def _agree(left: list[Any], right: list[Any]) -> bool:
    """The same numbers but for last bits: some kernels add up in another order in other memory."""
    return len(left) == len(right) and all(_close(a, b) for a, b in zip(left, right, strict=True))


def _close(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    if left.shape != right.shape or left.numel() == 0:
        return left.shape == right.shape
    last_bits = 1e-6 * float(left.nan_to_num().abs().max())
    return torch.allclose(left, right, rtol=0.0, atol=last_bits, equal_nan=True)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.shape == right.shape and torch.equal(left, right)
    return type(left) is type(right) and bool(left == right)


@contextlib.contextmanager
def _without_checkpoints() -> Iterator[None]:
    """Every way to apply a checkpoint applies none."""

    def plain(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return function(*args)

    def unchanged(**options: Any) -> Callable[..., Any]:
        return lambda function: function

    with (
        mock.patch.object(remat, "checkpoint", unchanged),
        mock.patch.object(torch_checkpoint, "checkpoint", plain),
        mock.patch.object(torch_checkpoint, "checkpoint_sequential", lambda model, n, x, **options: model(x)),
        mock.patch.object(checkpoint_wrapper, "checkpoint_wrapper", lambda module, **options: module),
    ):
        yield


@contextlib.contextmanager
def _scripted() -> Iterator[None]:
    """What nobody can repeat comes in the same order in every run, and never the same twice."""
    ticks = itertools.count(1)
    chaos = random.Random(11)

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls(2024, 1, 1, microsecond=next(ticks) * 1000 + 7)

    def seconds() -> float:
        return float(next(ticks))

    def unseen_bytes(size: int) -> bytes:
        return bytes(chaos.randrange(1, 256) for _ in range(size))

    def reseed() -> int:
        torch.manual_seed(next(ticks))
        return torch.initial_seed()

    with contextlib.ExitStack() as stack:
        for name in ("time", "perf_counter", "monotonic"):
            stack.enter_context(mock.patch(f"time.{name}", seconds))
        stack.enter_context(mock.patch("time.time_ns", side_effect=ticks))
        stack.enter_context(mock.patch("datetime.datetime", Clock))
        stack.enter_context(mock.patch("os.urandom", unseen_bytes))
        stack.enter_context(mock.patch("random._urandom", unseen_bytes))
        stack.enter_context(mock.patch("torch.seed", reseed))
        yield


@contextlib.contextmanager
def _captured(printed: io.StringIO) -> Iterator[None]:
    """Standard output, standard error and every log record; time in a record is of no interest."""
    handler = logging.StreamHandler(printed)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
