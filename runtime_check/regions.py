"""Sees, counts and decides every region and checkpoint call while a track runs.

``remat.region``, ``remat.checkpoint``, ``remat.recompute_needs_tensor`` and
``torch.utils.checkpoint.checkpoint`` are tapped in the function objects themselves (their code is
exchanged for a call of ours), not by rebinding names: ``from torch_remat import region``, aliases,
default arguments and modules that were imported long ago are reached the same way. Only wrappers
that were built before the tap was open are out of reach; so the tap opens before the factory runs.

What happens now is held in a plain attribute, not in a context variable: autograd may run the
replay in a thread of its own.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from types import CodeType, FrameType
from typing import Any

import torch
import torch.utils.checkpoint as torch_checkpoint
import torch_remat._api as _api
from torch_remat._region import _qualified_name, is_recomputing

from remat_lint.runtime_check.exchange import exchanged
from remat_lint.runtime_check.plan import Checkpointing, Plan
from remat_lint.runtime_check.selective import keeping_products
from remat_lint.runtime_check.source_flags import Flag, SourceFlags
from remat_lint.runtime_check.witness import CheckpointCall, CheckpointRun, Phase, RegionCall, Witness

# What torch.utils.checkpoint.checkpoint takes for itself; everything else goes to the function.
_TORCH_OPTIONS = frozenset(
    {
        "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop",
        "respect_saved_tensors_hooks",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RegionCount:
    """How often one region ran in one run of a checkpoint, and whether replay was to skip it."""

    checkpoint: str
    region: str
    forward: int
    replay: int
    kept: bool

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
    place: tuple[str, int]
    """File and line of its call."""
    inside: set[str] = field(default_factory=set)
    callers: set[CodeType] = field(default_factory=set)


def nesting(regions: Iterable[SeenRegion]) -> dict[str, list[str]]:
    """Each region, with those that run inside it."""
    known = list(regions)
    return {one.name: [other.name for other in known if one.name in other.inside] for one in known}


@dataclass
class _Running:
    """One call of a checkpoint: its name, and how often its function has begun."""

    checkpoint: str
    knows_regions: bool
    """torch_remat's own: in torch's checkpoints a region is the function that it is made of."""
    executions: int = 0

    @property
    def phase(self) -> Phase:
        return Phase.FORWARD if self.executions <= 1 else Phase.REPLAY


class Observation:
    """What was seen during one track, and how the track wants regions and checkpoints to behave."""

    def __init__(
        self, plan: Plan, *, overrides_flags: bool = True, witnesses: Sequence[Witness] = ()
    ) -> None:
        self.plan = plan
        self.overrides_flags = overrides_flags
        self.witnesses = tuple(witnesses)
        self.checkpoint_calls = 0
        self.checkpoints: list[str] = []
        self.regions: dict[str, SeenRegion] = {}
        self.markers: set[tuple[str, int]] = set()
        self.determinism_check: str | None = None
        """The name under which torch knows the check of values, where one is wanted."""
        self.replays: dict[str, int] = {}
        """How often backward ran the function of each checkpoint again."""
        self._runs: dict[tuple[str, str], dict[Phase, int]] = {}
        self._kept: dict[tuple[str, str], bool] = {}
        self._stops_early: dict[str, bool] = {}
        self._inside: list[str] = []
        self._running: _Running | None = None

    @property
    def counts(self) -> tuple[RegionCount, ...]:
        """Every region of every checkpoint run, in the order of first use."""
        return tuple(
            RegionCount(*key, runs[Phase.FORWARD], runs[Phase.REPLAY], self._kept[key])
            for key, runs in self._runs.items()
        )

    def with_check_of_values(self, options: dict[str, Any]) -> dict[str, Any]:
        """A checkpoint's options, with the check of values where one is wanted and possible."""
        if self.determinism_check is None or options.get("use_reentrant", False) is not False:
            return dict(options)
        return {**options, "determinism_check": self.determinism_check}

    @property
    def miscounted(self) -> Iterator[str]:
        """What ran more or less often in replay than due: kept regions never, the others as in forward."""
        for one in self.counts:
            replays = self.replays[one.checkpoint]
            wanted = 0 if one.kept else replays * one.forward
            # torch's checkpoint ends a replay once it has all that was saved.
            is_due = one.replay == wanted or (self._stops_early[one.checkpoint] and one.replay < wanted)
            if replays and not is_due:
                flag = "kept" if one.kept else "recomputed"
                yield (
                    f"region {one.region} of {one.checkpoint} is {flag}: {one.forward} runs in forward,"
                    f" {one.replay} in replay, where {wanted} were due"
                )

    @property
    def running(self) -> CheckpointRun | None:
        """The checkpoint whose function runs now."""
        now = self._running
        return CheckpointRun(now.checkpoint, now.phase) if now is not None else None

    @property
    def running_regions(self) -> tuple[str, ...]:
        """The regions whose functions run now, the outermost first."""
        return tuple(self._inside)

    def keeps(self, checkpoint: str, regions: Iterable[str]) -> bool:
        """Is one of these regions of the checkpoint saved, so that replay skips what is in it?"""
        return any(self._kept[checkpoint, region] for region in regions)

    def noting(
        self, name: object, function: Callable[..., Any], *, honours_regions: bool
    ) -> Callable[..., Any]:
        """``function`` as the body of one call of a checkpoint, told apart by phase each time it runs."""
        self.checkpoint_calls += 1
        knows_regions = honours_regions and self.plan.checkpointing is Checkpointing.REGIONS
        running = _Running(self._label(name), knows_regions)

        @wraps(function, updated=())
        def noted(*args: Any, **kwargs: Any) -> Any:
            if running.executions:
                with self._in(running):
                    return function(*args, **kwargs)
            call = CheckpointCall(running.checkpoint, function, args, kwargs, honours_regions)
            for witness in self.witnesses:
                witness.checkpoint_called(call)
            with self._in(running):
                output = function(*args, **kwargs)
            for witness in self.witnesses:
                witness.checkpoint_returned(call, output)
            return output

        return noted

    def region(
        self, site: _Site, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a region inside a checkpoint under this track's policy, and count what runs."""
        now = self._running
        assert now is not None
        # torch_remat takes any name that can be hashed; patterns and tables need text.
        name = str(_qualified_name(site.name))
        seen = self.regions.setdefault(name, SeenRegion(name, site.flag, site.recompute, site.place))
        seen.inside.update(self._inside)
        seen.callers.add(site.caller)
        recompute = site.recompute
        policy = self.plan.policy
        if self.overrides_flags and site.flag is Flag.DECIDED and policy and policy.patterns is not None:
            recompute = not policy.saves(now.checkpoint, name)
        runs = self._runs.setdefault((now.checkpoint, name), dict.fromkeys(Phase, 0))
        call = RegionCall(now.checkpoint, now.phase, name, recompute, tuple(self._inside))
        around = self.keeps(now.checkpoint, self._inside)
        is_kept = now.knows_regions and (around or not recompute)
        self._kept.setdefault((now.checkpoint, name), is_kept)

        def counted(*args: Any, **kwargs: Any) -> Any:
            runs[call.phase] += 1
            self._inside.append(name)
            try:
                for witness in self.witnesses:
                    witness.region_began(call)
                output = function(*args, **kwargs)
                for witness in self.witnesses:
                    witness.region_ended(call, output)
                return output
            finally:
                self._inside.pop()

        for witness in self.witnesses:
            witness.region_called(call, args, kwargs)
        output = site.region(counted, site.name, recompute=recompute)(*args, **kwargs)
        for witness in self.witnesses:
            witness.region_returned(call, output)
        return output

    def marker(self, original: Callable[..., None], place: tuple[str, int], tensors: tuple[Any, ...]) -> None:
        """Call a marker, unless the plan silences it."""
        if self._running is not None:
            self.markers.add(place)
            for witness in self.witnesses:
                witness.marked(place, tensors)
        if place not in self.plan.silenced:
            original(*tensors)

    def _label(self, given: object) -> str:
        wanted = "checkpoint" if given is None else str(given)
        label, number = wanted, 1
        while label in self.checkpoints:
            number += 1
            label = f"{wanted} ({number})"
        self.checkpoints.append(label)
        return label

    @contextlib.contextmanager
    def _in(self, running: _Running) -> Iterator[None]:
        """A checkpoint's function runs."""
        running.executions += 1
        self._stops_early[running.checkpoint] = not running.knows_regions
        self.replays[running.checkpoint] = running.executions - 1
        before, self._running = self._running, running
        regions, self._inside = self._inside, []
        run = CheckpointRun(running.checkpoint, running.phase)
        for witness in self.witnesses:
            witness.checkpoint_entered(run)
        try:
            yield
        finally:
            for witness in self.witnesses:
                witness.checkpoint_left(run)
            self._running, self._inside = before, regions


@dataclass(frozen=True, slots=True)
class _Site:
    """One evaluated ``remat.region(...)``, with torch_remat's own function to make it real."""

    region: Callable[..., Any]
    name: str
    recompute: bool
    flag: Flag
    caller: CodeType
    place: tuple[str, int]


class Tap:
    """The replacements of torch's and torch_remat's functions; inert while nothing observes."""

    def __init__(self) -> None:
        self.observation: Observation | None = None
        self._flags = SourceFlags()
        self._torchs_own: Callable[..., Any] = torch_checkpoint.checkpoint

    @contextlib.contextmanager
    def open(self) -> Iterator[Tap]:
        """Tap torch_remat and torch; put them back afterwards, also for the wrappers made meanwhile."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(exchanged(_api.region, self._region))
            stack.enter_context(exchanged(_api.checkpoint, self._checkpoint))
            stack.enter_context(exchanged(_api.recompute_needs_tensor, self._marker))
            stack.enter_context(exchanged(is_recomputing, self._is_recomputing))
            stack.enter_context(exchanged(torch_checkpoint.checkpoint, self._torch_checkpoint))
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
        place = (caller.f_code.co_filename, caller.f_lineno)
        site = _Site(original, name, recompute, self._flags.at(caller), caller.f_code, place)

        @wraps(wrapper)
        def observed(*args: Any, **kwargs: Any) -> Any:
            now = self.observation
            if now is None or now.running is None or torch.compiler.is_compiling():
                return wrapper(*args, **kwargs)
            return now.region(site, function, args, kwargs)

        return observed

    def _marker(self, original: Callable[..., None]) -> Callable[..., None]:
        def recompute_needs_tensor(*tensors: Any) -> None:
            now = self.observation
            if now is None or torch.compiler.is_compiling():
                return original(*tensors)
            caller = _caller()
            return now.marker(original, (caller.f_code.co_filename, caller.f_lineno), tensors)

        return recompute_needs_tensor

    def _is_recomputing(self, original: Callable[[], bool]) -> Callable[[], bool]:
        def is_recomputing() -> bool:
            """Also in torch's checkpoint where it stands in for torch_remat's, so that guards hold there."""
            now = self.observation
            run = now.running if now is not None else None
            if now is None or run is None or now.plan.checkpointing is Checkpointing.REGIONS:
                return original()
            return run.phase is Phase.REPLAY

        return is_recomputing

    def _checkpoint(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            decorate = original(*args, **kwargs)

            def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
                wrapper = decorate(function)

                @wraps(wrapper)
                def checkpointed(*call_args: Any, **call_kwargs: Any) -> Any:
                    now = self.observation
                    if now is None or torch.compiler.is_compiling():
                        return wrapper(*call_args, **call_kwargs)
                    if now.running is not None:  # in another one: torch_remat says what comes of it
                        nested = wrapper if now.plan.checkpointing is Checkpointing.REGIONS else function
                        return nested(*call_args, **call_kwargs)

                    def as_written(body: Callable[..., Any]) -> Callable[..., Any]:
                        return original(*args, **now.with_check_of_values(kwargs))(body)  # type: ignore[no-any-return]

                    run = self._as_planned(
                        now, kwargs.get("region_name"), function, as_written, honours_regions=True
                    )
                    return run(*call_args, **call_kwargs)

                return checkpointed

            return decorated

        return checkpoint

    def _torch_checkpoint(self, original: Callable[..., Any]) -> Callable[..., Any]:
        self._torchs_own = original

        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            now = self.observation
            if now is None or torch.compiler.is_compiling():
                return original(*args, **kwargs)
            if not args and "function" not in kwargs:  # the form that takes the function in a second call
                return lambda function: partial(checkpoint, function, **kwargs)
            given = dict(kwargs)
            function, *rest = args or (given.pop("function"),)
            options = {name: given.pop(name) for name in _TORCH_OPTIONS & given.keys()}
            if now.running is not None:
                if now.plan.checkpointing is Checkpointing.REGIONS:
                    return original(*args, **kwargs)
                return function(*rest, **given)

            def as_written(body: Callable[..., Any]) -> Callable[..., Any]:
                return partial(original, body, **now.with_check_of_values({"use_reentrant": None, **options}))

            run = self._as_planned(now, None, function, as_written, honours_regions=False)
            return run(*rest, **given)

        return checkpoint

    def _as_planned(
        self,
        now: Observation,
        name: object,
        function: Callable[..., Any],
        as_written: Callable[[Callable[..., Any]], Callable[..., Any]],
        *,
        honours_regions: bool,
    ) -> Callable[..., Any]:
        checkpointing = now.plan.checkpointing
        body = now.noting(name, function, honours_regions=honours_regions)
        if checkpointing is Checkpointing.PLAIN:
            return body
        if checkpointing is Checkpointing.REGIONS:
            return as_written(body)
        options: dict[str, Any] = now.with_check_of_values({"use_reentrant": False})
        if checkpointing is Checkpointing.SELECTIVE:
            options["context_fn"] = keeping_products
        return partial(self._torchs_own, body, **options)


def _caller() -> FrameType:
    """The frame that called the tapped function: past this function, the tap and the exchanged code."""
    return sys._getframe(3)
