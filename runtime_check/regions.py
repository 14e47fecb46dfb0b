"""Sees, counts and decides every region call while a track runs.

``remat.region`` and ``remat.checkpoint`` are tapped in the function objects themselves (their
code is exchanged for a call of ours), not by rebinding names: ``from torch_remat import region``,
aliases, default arguments and modules that were imported long ago are reached the same way.
Only wrappers that were built before the tap was open are out of reach; so the tap opens before
the factory runs.

What happens now is held in a plain attribute, not in a context variable: autograd may run the
replay in a thread of its own.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch
import torch_remat._api as _api
from torch_remat._region import _Phase, _qualified_name, _state

from remat_lint.runtime_check.policy import Policy
from remat_lint.runtime_check.source_flags import Flag, SourceFlags


@dataclass(frozen=True, slots=True)
class RegionCount:
    """How often one region ran in one run of a checkpoint."""

    checkpoint: str
    region: str
    forward: int
    replay: int

    @property
    def total(self) -> int:
        """Runs in forward and replay together."""
        return self.forward + self.replay


@dataclass
class SeenRegion:
    """What is known of a region: who decides its flag, what it stands in, who calls it."""

    name: str
    flag: Flag
    own_recompute: bool
    """The flag that the module gave it."""
    inside: set[str] = field(default_factory=set)
    callers: set[CodeType] = field(default_factory=set)


class Observation:
    """What was seen during one track, and how the track wants regions and checkpoints to behave.

    ``policy`` None means that checkpoints are left out: their functions are called as they are.
    """

    def __init__(self, policy: Policy | None, *, overrides_flags: bool = True) -> None:
        self.policy = policy
        self.overrides_flags = overrides_flags
        self.checkpoint_calls = 0
        self.checkpoints: list[str] = []
        self.regions: dict[str, SeenRegion] = {}
        self._runs: dict[tuple[str, str], dict[str, int]] = {}
        self._labels: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._running: list[str] = []

    @property
    def counts(self) -> tuple[RegionCount, ...]:
        """Every region of every checkpoint run, in the order of first use."""
        return tuple(
            RegionCount(checkpoint, region, runs["FORWARD"], runs["RECOMPUTE"])
            for (checkpoint, region), runs in self._runs.items()
        )

    def label(self, checkpoint_state: Any) -> str:
        """The name of one run of a checkpoint: its ``region_name``, numbered where that repeats."""
        if checkpoint_state not in self._labels:
            given = checkpoint_state.region_name
            wanted = "checkpoint" if given is None else str(given)
            label, number = wanted, 1
            while label in self.checkpoints:
                number += 1
                label = f"{wanted} ({number})"
            self.checkpoints.append(label)
            self._labels[checkpoint_state] = label
        return self._labels[checkpoint_state]

    def call(
        self, site: _Site, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a region inside a checkpoint under this track's policy, and count what runs."""
        active = _state.get()
        assert active is not None
        assert self.policy is not None
        # torch_remat takes any name that can be hashed; patterns and tables need text.
        name, checkpoint = str(_qualified_name(site.name)), self.label(active.region_state)
        seen = self.regions.setdefault(name, SeenRegion(name, site.flag, site.recompute))
        seen.inside.update(self._running)
        seen.callers.add(site.caller)
        recompute = site.recompute
        if self.overrides_flags and site.flag is Flag.DECIDED and self.policy.patterns is not None:
            recompute = not self.policy.saves(checkpoint, name)
        runs = self._runs.setdefault((checkpoint, name), {phase.name: 0 for phase in _Phase})

        def counted(*args: Any, **kwargs: Any) -> Any:
            runs[active.phase.name] += 1
            self._running.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                self._running.pop()

        return site.region(counted, site.name, recompute=recompute)(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class _Site:
    """One evaluated ``remat.region(...)``, with torch_remat's own function to make it real."""

    region: Callable[..., Any]
    name: str
    recompute: bool
    flag: Flag
    caller: CodeType


class Tap:
    """The replacements of ``remat.region`` and ``remat.checkpoint``; inert while nothing observes."""

    def __init__(self) -> None:
        self.observation: Observation | None = None
        self._flags = SourceFlags()

    @contextlib.contextmanager
    def open(self) -> Iterator[Tap]:
        """Tap torch_remat; put it back afterwards, also for the wrappers made meanwhile."""
        with _exchanged(_api.region, self._region), _exchanged(_api.checkpoint, self._checkpoint):
            yield self

    @contextlib.contextmanager
    def observing(self, observation: Observation) -> Iterator[None]:
        """Let one track decide and count."""
        self.observation = observation
        try:
            yield
        finally:
            self.observation = None

    def _region(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def region(*args: Any, **kwargs: Any) -> Any:
            wrapper = original(*args, **kwargs)
            if torch.compiler.is_compiling():
                return wrapper
            return self._observed(original, wrapper, _caller(), *args, **kwargs)

        return region

    def _observed(
        self,
        original: Callable[..., Any],
        wrapper: Callable[..., Any],
        caller: FrameType,
        function: Callable[..., Any],
        name: str,
        *,
        recompute: bool,
    ) -> Callable[..., Any]:
        site = _Site(original, name, recompute, self._flags.at(caller), caller.f_code)

        @wraps(wrapper)
        def observed(*args: Any, **kwargs: Any) -> Any:
            now = self.observation
            if now is None or _state.get() is None or torch.compiler.is_compiling():
                return wrapper(*args, **kwargs)
            return now.call(site, function, args, kwargs)

        return observed

    def _checkpoint(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            decorate = original(*args, **kwargs)

            def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
                @wraps(function)
                def noted(*args: Any, **kwargs: Any) -> Any:
                    self._note_checkpoint()
                    return function(*args, **kwargs)

                wrapper = decorate(noted)

                @wraps(wrapper)
                def checkpointed(*args: Any, **kwargs: Any) -> Any:
                    now = self.observation
                    if now is None:
                        return wrapper(*args, **kwargs)
                    now.checkpoint_calls += 1
                    called = function if now.policy is None else wrapper
                    return called(*args, **kwargs)

                return checkpointed

            return decorated

        return checkpoint

    def _note_checkpoint(self) -> None:
        """Give the running checkpoint its label, also where it holds no region."""
        if torch.compiler.is_compiling():
            return
        active = _state.get()
        if self.observation is not None and active is not None:
            self.observation.label(active.region_state)


def _caller() -> FrameType:
    """The frame that called ``remat.region``: past this function, the tap and the exchanged code."""
    return sys._getframe(3)


@contextlib.contextmanager
def _exchanged(
    function: FunctionType, replacement: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Make ``function`` call ``replacement(original)`` instead of running its own code."""
    code, module = function.__code__, function.__globals__
    original = FunctionType(code, module, function.__name__, function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__
    entry = f"_remat_check_{function.__name__}"
    exchanged: dict[str, Any] = {}
    exec(f"def tapped(*args, **kwargs):\n    return {entry}(*args, **kwargs)\n", exchanged)
    module[entry] = replacement(original)
    function.__code__ = exchanged["tapped"].__code__
    try:
        yield
    finally:
        function.__code__ = code
        del module[entry]
