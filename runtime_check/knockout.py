"""Markers that no policy needs: each call of ``recompute_needs_tensor`` is silenced, and every policy runs.

A marker is needed if the step raises without it, or computes something else, under any policy. One that no
policy needs may still be the safe thing to have: an output that the region's own operations save for
backward is there in replay by itself, but only as long as torch's operations save it, and not under hooks
on saved tensors such as those that offload. So what seems unneeded is tried again under hooks that do
nothing, where torch_remat persists only what it is asked for.

Markers are taken out one after the other, each in the absence of those that were found unneeded before, so
that two that stand in for each other do not both go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch import Tensor

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.compare import differences
from remat_lint.runtime_check.plan import PLAIN, Checkpointing, Plan
from remat_lint.runtime_check.policy import ALL, AS_CONFIGURED, NONE, Policy, alone, combinations, together
from remat_lint.runtime_check.probe import Probe, probed
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.tracks import Track
from remat_lint.runtime_check.values import Values
from remat_lint.runtime_check.witness import Witness

Place = tuple[str, int]
"""The file and line of a marker's call."""

COMBINATIONS = 64
"""Up to so many policies, markers are tried under every combination of regions."""


class Need(str, Enum):
    """Who needs a marker."""

    NEEDED = "needed"
    UNNEEDED = "unneeded"
    KEPT_BY_AUTOGRAD = "kept by autograd in this torch build"
    """No policy needs it here, but it is needed where hooks on saved tensors are."""
    UNKNOWN = "unknown"
    """Every policy fails with all markers in place, so nothing can be said."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker's call site. ``policy`` is one that needs it, and ``breaks`` what goes wrong without it."""

    place: Place
    need: Need
    policy: str | None = None
    breaks: str | None = None

    def __str__(self) -> str:
        where = f"{self.place[0]}:{self.place[1]}"
        if self.need is Need.KEPT_BY_AUTOGRAD:
            return f"{where}: {self.need.value}; needed under hooks on saved tensors, so better left in"
        return f"{where}: {self.need.value}" + (f" under {self.policy}: {self.breaks}" if self.policy else "")


@dataclass(frozen=True)
class KnockOut:
    """Every marker that was reached, by file and line, and the policies they were tried under."""

    markers: tuple[Marker, ...]
    policies: tuple[Policy, ...]

    @property
    def unneeded(self) -> tuple[Marker, ...]:
        """The markers that may go, all of them together."""
        return tuple(marker for marker in self.markers if marker.need is Need.UNNEEDED)


def knocked_out(bench: Bench, policies: Sequence[Policy] | None = None) -> KnockOut:
    """Silence each marker in turn and run every policy.

    Without other wishes these are all combinations of regions while they are few; otherwise all, none, each
    region alone, and all but each: a saved output whose other readers are saved regions, so that only the
    marker persists it, is among these.
    """
    tried = list(policies) if policies is not None else list(_policies(probed(bench)))
    return _KnockingOut(bench, tried).result()


def _policies(probe: Probe) -> Iterator[Policy]:
    nested = probe.nested
    if not nested:
        yield AS_CONFIGURED
        return
    yield ALL
    if 2 ** len(nested) <= COMBINATIONS:
        everything = frozenset(together(nested, nested).patterns or ())
        yield from (one for one in combinations(nested) if frozenset(one.patterns or ()) != everything)
        return
    yield NONE
    for region, inner in nested.items():
        yield alone(region, inner)
        yield together([other for other in nested if other != region and region not in nested[other]], nested)


class _KnockingOut:
    def __init__(self, bench: Bench, policies: Sequence[Policy]) -> None:
        self._bench = bench
        self._policies = policies
        self._plain = bench.run(PLAIN)
        again = bench.run(PLAIN)
        self._noise = {one.what for one in differences(self._plain.prints, again.prints)}
        self._places: set[Place] = set()

    def result(self) -> KnockOut:
        usable = self._usable(hooked=False)
        hooked: Sequence[Policy] | None = None
        silenced: frozenset[Place] = frozenset()
        found = []
        for place in sorted(self._places):
            marker = self._needed(place, usable, silenced, hooked=False)
            if marker is None and usable:
                hooked = self._usable(hooked=True) if hooked is None else hooked
                is_kept = self._needed(place, hooked, silenced, hooked=True) is not None
                marker = Marker(place, Need.KEPT_BY_AUTOGRAD if is_kept else Need.UNNEEDED)
            marker = marker or Marker(place, Need.UNKNOWN)
            if marker.need is Need.UNNEEDED:
                silenced |= {place}
            found.append(marker)
        return KnockOut(tuple(found), tuple(self._policies))

    def _usable(self, *, hooked: bool) -> list[Policy]:
        """The policies under which the step is right with all markers in place."""
        return [policy for policy in self._policies if self._broken(policy, frozenset(), hooked) is None]

    def _needed(
        self, place: Place, policies: Sequence[Policy], silenced: frozenset[Place], *, hooked: bool
    ) -> Marker | None:
        for policy in policies:
            broken = self._broken(policy, silenced | {place}, hooked)
            if broken is not None:
                return Marker(place, Need.NEEDED, policy.name, broken)
        return None

    def _broken(self, policy: Policy, silenced: frozenset[Place], hooked: bool) -> str | None:
        """What goes wrong under a policy without some markers."""
        plan = Plan(policy.name, Checkpointing.REGIONS, policy, silenced=silenced)

        def witnesses(observation: Observation) -> list[Witness]:
            return [Values(observation), *([_Hooks()] if hooked else [])]

        track = self._bench.run(plan, witnesses)
        self._places |= track.observation.markers
        return self._fault(track)

    def _fault(self, track: Track) -> str | None:
        if track.failure is not None:
            return str(track.failure)
        values = track.observation.witnesses[0]
        assert isinstance(values, Values)
        unlike = [one for one in differences(self._plain.prints, track.prints) if one.what not in self._noise]
        if unlike:
            return str(unlike[0])
        if values.found and not self._noise:
            return f"replay computes another {values.found[0]}"
        return None


class _Hooks(Witness):
    """Hooks on saved tensors that change nothing, as an offloader has them around the whole step."""

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        with torch.autograd.graph.saved_tensors_hooks(_itself, _itself):
            yield


def _itself(tensor: Tensor) -> Tensor:
    # Detached: an operation that saves its own output would keep itself alive.
    return tensor.detach()
