"""What every policy retains, told from one run without checkpoints.

``probe.py`` writes a plain forward down. Under any policy, torch_remat's rules can then be followed on
paper:

* a saved region keeps what its operations save for backward, unless it is one of its inputs, or a view
  inside one, that no saved region made: replay makes that again;
* it keeps an output if that is saved for backward in the region itself, if a recomputed region takes it
  (or a view of it) later, or a marker names it;
* a region inside a saved one is part of that one; everything else is made again by replay;
* what a checkpoint is given stays, and so does what code outside of checkpoints saves.

This is exact as long as the forward does the same under every policy, and checkpoints keep tensors
themselves and not what hooks make of them (offloading). So a prediction holds only if real runs confirm
it to the byte.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.plan import regions
from remat_lint.runtime_check.policy import ALL, NONE, Policy, together
from remat_lint.runtime_check.probe import (
    Called,
    Marked,
    Match,
    Probe,
    Region,
    RegionRun,
    Returned,
    Saved,
    probed,
)
from remat_lint.runtime_check.storages import Memory, measured


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is retained under any policy, and whether real runs confirm that.

    ``checks`` are the policies that were run, each with the predicted beside the measured memory;
    ``doubts`` say what there is in the step that the rules may not cover, a sentence each.
    """

    model: StorageModel
    checks: tuple[Checked, ...]
    doubts: tuple[str, ...]

    @property
    def validated(self) -> bool:
        """Did every real run retain what was predicted, to the byte?"""
        return all(one.holds for one in self.checks)

    @property
    def why_not(self) -> str | None:
        """The runs that retained something else, and what may be the reason; None where it holds."""
        wrong = [str(one) for one in self.checks if not one.holds]
        return "; ".join([*wrong, *self.doubts]) if wrong else None

    def retained_bytes(self, policy: Policy) -> int | None:
        """What the policy retains; None where real runs do not confirm the prediction."""
        return self.model.retained_bytes(policy) if self.validated else None


@dataclass(frozen=True, slots=True)
class Checked:
    """One policy as predicted, and as it ran."""

    policy: Policy
    predicted_bytes: int
    memory: Memory

    @property
    def holds(self) -> bool:
        """Are they the same to the byte?"""
        return self.predicted_bytes == self.memory.retained_bytes

    def __str__(self) -> str:
        verb = "as predicted" if self.holds else f"where {self.predicted_bytes} were predicted"
        return f"{self.policy.name} retains {self.memory.retained_bytes} bytes, {verb}"


def predicted(bench: Bench, *, validation: Sequence[Policy] | None = None) -> Prediction:
    """Probe the step once, and run some policies to see whether what is predicted of them is so.

    Without other wishes they are none, all, and every other region in the order of their first call:
    there, saved and recomputed regions meet.

    Raises:
        UsageError: where the step does not get through under one of them.
    """
    probe = probed(bench)
    model = StorageModel(probe)
    if validation is None:
        alternating = together(list(probe.nested)[::2], probe.nested)
        validation = [NONE, ALL, alternating]
    checks = [
        Checked(policy, model.retained_bytes(policy), measured(bench, regions(policy)))
        for policy in validation
    ]
    return Prediction(model, tuple(checks), tuple(probe.doubts()))


class StorageModel:
    """torch_remat's bookkeeping on paper, for any policy of a probed step."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        runs = [event.run for event in probe.events if isinstance(event, Called)]
        self._runs = {run.region: run for run in runs if run.honours_regions}
        self._here = {
            checkpoint: frozenset(region for region in self._runs if region[0] == checkpoint)
            for checkpoint in probe.checkpoints
        }
        self._known: dict[tuple[str, frozenset[Region]], Mapping[int, Region]] = {}
        self._always = [
            region for region, run in self._runs.items() if not run.is_decided and not run.own_recompute
        ]
        self._inner = {
            region: {outer.region for outer in run.around} for region, run in self._runs.items() if run.around
        }

    def retained_bytes(self, policy: Policy) -> int:
        """The bytes that are alive after the forward under a policy."""
        return self.probe.base_bytes + self.bytes_of(self.kept(self.saved(policy)))

    def bytes_of(self, storages: Iterable[int]) -> int:
        """The bytes of some storages together, each given once."""
        return sum(self.probe.sizes[storage] for storage in storages)

    def saved(self, policy: Policy) -> frozenset[Region]:
        """The regions whose functions replay skips: saved by the policy or by themselves, or inside one."""
        return self.saved_with(region for region, run in self._runs.items() if _saves(policy, run))

    def saved_with(self, chosen: Iterable[Region]) -> frozenset[Region]:
        """The same where a policy chooses just these, those inside of them not named."""
        saved = {*chosen, *self._always}.intersection(self._runs)
        inside = (region for region in self._inner if not saved.isdisjoint(self._inner[region]))
        return frozenset(saved.union(inside))

    def kept(self, saved: Collection[Region]) -> Mapping[int, Region]:
        """What is kept beyond the base: each storage with the first region that keeps it."""
        owners: dict[int, Region] = {}
        for checkpoint in self.probe.checkpoints:
            owners = {**self.kept_in(checkpoint, saved), **owners}
        return owners

    def kept_in(self, checkpoint: str, saved: Collection[Region]) -> Mapping[int, Region]:
        """The same for one checkpoint; what it shares with another one stands in both."""
        here = checkpoint, self._here[checkpoint].intersection(saved)
        if here not in self._known:  # policies that differ elsewhere are the same here
            self._known[here] = dict(self._kept_in(*here))
        return self._known[here]

    def _kept_in(self, checkpoint: str, saved: frozenset[Region]) -> Iterable[tuple[int, Region]]:
        if checkpoint in self.probe.dead:
            return
        known = set()
        for storage, region in _Forward(saved).keeping(self.probe.events_of(checkpoint)):
            if storage in self.probe.sizes and storage not in known:
                known.add(storage)
                yield storage, region


def _saves(policy: Policy, run: RegionRun) -> bool:
    if not run.is_decided or policy.patterns is None:
        return not run.own_recompute
    return policy.saves(*run.region)


class _Forward:
    """The forward of one checkpoint, of which some regions are saved."""

    def __init__(self, saved: Collection[Region]) -> None:
        self._saved = saved
        self._producers: dict[int, list[Region]] = {}
        self._stubs: dict[int, frozenset[int]] = {}

    def keeping(self, events: Iterable[Called | Returned | Marked]) -> Iterable[tuple[int, Region]]:
        """The storages that are kept, each with the region that keeps it; some more than once."""
        for event in events:
            if isinstance(event, Marked):
                yield from self._persisted(event.storages)
            elif not event.run.honours_regions or any(o.region in self._saved for o in event.run.around):
                continue
            elif isinstance(event, Called):
                yield from self._called(event.run)
            elif event.run.region in self._saved:
                yield from self._returned(event.run)

    def _called(self, run: RegionRun) -> Iterable[tuple[int, Region]]:
        given = [one.geometry.storage for one in run.inputs]
        if run.region not in self._saved:
            yield from self._persisted(given)
            return
        self._stubs[id(run)] = frozenset(s for s in given if s in self._producers)

    def _returned(self, run: RegionRun) -> Iterable[tuple[int, Region]]:
        stubs = self._stubs[id(run)]
        kept = [one for one, match in run.saved if _keeps(one, match, stubs)]
        yield from ((one.storage, run.region) for one in kept if one.is_alive)
        resident = {one.storage for one in kept}
        for storage in run.outputs:
            self._producers.setdefault(storage, []).append(run.region)
        yield from self._persisted(s for s in run.outputs if s in resident)

    def _persisted(self, storages: Iterable[int]) -> Iterable[tuple[int, Region]]:
        for storage in storages:
            for region in self._producers.get(storage, ()):
                yield storage, region


def _keeps(saved: Saved, match: Match, stubs: Collection[int]) -> bool:
    """Is the tensor kept as it is, rather than made again from an input that replay has?

    ``stubs`` are the storages of inputs that saved regions made: replay has no data of them.
    """
    if match.same is not None:
        return saved.version != match.same.version or match.same.geometry.storage in stubs
    real = [one for one in match.around if one.geometry.storage not in stubs]
    return not real or saved.version != real[0].version
