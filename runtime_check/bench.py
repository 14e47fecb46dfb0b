"""The step on the bench: ready to be run under any plan, as often as wanted, always from the same start."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import torch

from remat_lint.runtime_check.case import load_factory, make_case
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders
from remat_lint.runtime_check.plan import PLAIN, Plan
from remat_lint.runtime_check.regions import Observation, Tap
from remat_lint.runtime_check.tracks import Start, Track, Witnesses, prepare, run
from remat_lint.runtime_check.witness import Witness

Target = str | Callable[[], Any]


@dataclass(frozen=True)
class Bench:
    """One step with one seed.

    ``wraps_module`` says that it calls no checkpoint itself, so that the whole module is put into one.
    """

    name: str
    start: Start
    tap: Tap
    uses_stand_ins: bool
    wraps_module: bool
    standing: Witnesses = lambda _: ()
    """The witnesses of every track, before those that a track has of its own."""

    def run(
        self, plan: Plan, witnesses: Witnesses = lambda _: (), wanted: AbstractSet[str] = frozenset()
    ) -> Track:
        """One track; see ``tracks.run``."""

        def all_witnesses(observation: Observation) -> Sequence[Witness]:
            return (*self.standing(observation), *witnesses(observation))

        return run(
            self.start, self.tap, plan, wraps_module=self.wraps_module, witnesses=all_witnesses, wanted=wanted
        )


@contextlib.contextmanager
def opened(
    target: Target,
    *,
    device: str = "auto",
    stand_ins: bool | None = None,
    standing: Witnesses = lambda _: (),
) -> Iterator[Callable[..., Bench]]:
    """Everything that is needed to run the step of ``target``: its factory, the tap, placeholders.

    Gives a function that makes a bench from a seed and the options of ``tracks.prepare``. ``standing``
    makes witnesses of every track, also of the first plain one.

    Raises:
        UsageError: where the target cannot be run at all.
    """
    place = device_for(device)
    uses_stand_ins = not torch_has_placeholders() if stand_ins is None else stand_ins
    name = target if isinstance(target, str) else getattr(target, "__qualname__", repr(target))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_reproducible(place))
        if uses_stand_ins:
            stack.enter_context(stand_ins_installed())
        tap = stack.enter_context(Tap().open())
        stack.callback(gc.unfreeze)  # every track freezes what is alive when it begins
        factory = load_factory(target) if isinstance(target, str) else target

        def bench(seed: int = 0, *, batches: int = 1, steps_optimizer: bool = False) -> Bench:
            start = prepare(
                lambda: make_case(factory, name),
                _home_of(factory),
                place,
                seed,
                batches=batches,
                steps_optimizer=steps_optimizer,
            )
            track = run(start, tap, PLAIN, wraps_module=False, witnesses=standing)
            if track.failure is not None:
                failure = track.failure
                raise UsageError(
                    f"{name}: the step fails without any checkpoint, in {failure.phase}: {failure}"
                )
            wraps_module = track.observation.checkpoint_calls == 0
            return Bench(name, start, tap, uses_stand_ins, wraps_module, standing)

        yield bench


def _home_of(factory: Callable[[], Any]) -> str:
    while isinstance(factory, functools.partial):
        factory = factory.func
    home = getattr(factory, "__module__", None)
    return home if isinstance(home, str) else type(factory).__module__


def device_for(wanted: str) -> torch.device:
    """The device that ``auto``, ``cpu`` or ``cuda`` stands for.

    Raises:
        UsageError: where a GPU is wanted and there is none.
    """
    has_gpu = torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        raise UsageError("--device cuda: torch finds no CUDA GPU here; use --device cpu or auto")
    return torch.device("cuda" if has_gpu and wanted != "cpu" else "cpu")


@contextlib.contextmanager
def _reproducible(device: torch.device) -> Iterator[None]:
    """On CUDA: deterministic kernels and no tuning by timing, for as long as the check runs."""
    if device.type != "cuda":
        yield
        return
    workspace = os.environ.get("CUBLAS_WORKSPACE_CONFIG")
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # Operators without a deterministic kernel only warn: the repeated plain runs show their noise.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.backends.cudnn.benchmark = benchmark
        if workspace is None:
            del os.environ["CUBLAS_WORKSPACE_CONFIG"]
