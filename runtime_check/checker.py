"""The check itself: which tracks run, and what their comparison says.

The plain track runs three times. What its runs do not agree on is noise: a difference there says
nothing about checkpoints. Where the first policies hold, every combination of regions is tried, too,
as long as there are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from torch import nn

from remat_lint.manifest import DeclaringClass
from remat_lint.runtime_check.agreement import Agreement, Declared, declared_class
from remat_lint.runtime_check.bench import Bench, Target, opened
from remat_lint.runtime_check.cause import Cause, Kind, find_cause, find_noise
from remat_lint.runtime_check.compare import Difference, Extent, differences, extent
from remat_lint.runtime_check.confirmations import Confirmed
from remat_lint.runtime_check.costs import Costs, costs
from remat_lint.runtime_check.deadline import deadline
from remat_lint.runtime_check.divergence import Groups
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.explanation import Explanation, explain
from remat_lint.runtime_check.knockout import KnockOut, knocked_out
from remat_lint.runtime_check.plan import BLOCK, PLAIN, SELECTIVE, Plan, regions, segments
from remat_lint.runtime_check.policy import (
    ALL,
    AS_CONFIGURED,
    NONE,
    Policy,
    alone,
    combinations,
    given,
    matches,
    together,
)
from remat_lint.runtime_check.predicted import predicted_class
from remat_lint.runtime_check.ranks import RankGuard, RankSettings
from remat_lint.runtime_check.recorded import recorded_class
from remat_lint.runtime_check.regions import Observation, SeenRegion, nesting
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.tracks import Track, Witnesses
from remat_lint.runtime_check.values import ReplayedOtherwise, Values
from remat_lint.runtime_check.verdicts import (
    EXIT_BROKEN,
    EXIT_HOLDS,
    EXIT_INCONCLUSIVE,
    Confirmation,
    Noise,
    PolicyResult,
    StateDifference,
    Verdict,
)
from remat_lint.runtime_check.witness import Witness

_TRACKS = {"block": BLOCK, "selective": SELECTIVE}

COMBINATIONS = 64
"""Up to so many policies, every combination of regions is one."""


@dataclass(frozen=True)
class CheckResult:
    """Everything that was found out about one target."""

    target: str
    device: str
    versions: str
    uses_stand_ins: bool
    wraps_module: bool
    checkpoints: tuple[str, ...]
    regions: tuple[SeenRegion, ...]
    untapped: tuple[str, ...]
    """Regions that torch_remat saw and the tap did not: no policy was tried on them."""
    noise: Noise
    tensors: tuple[str, ...]
    """The names of what the plain step computed, and the other tracks are compared in."""
    results: tuple[PolicyResult, ...]
    controls: tuple[PolicyResult, ...] = ()
    """The same step checkpointed as torch does it: what fails there is no matter of regions."""
    asked_for: tuple[str, ...] = ()
    """The names of the controls that were asked for: the others only explain what broke."""
    combinations: tuple[PolicyResult, ...] = ()
    has_gradients: bool = True
    """Whether backward reached anything: without that, no replay ran."""
    agreements: tuple[Agreement, ...] = ()
    """What manifests say of the regions; none where the forward did not get to its end."""
    recorded: DeclaringClass | None = None
    """The regions that ran, as a manifest has them."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """Why a policy or control breaks the step, by its name, where a second run shows it."""
    noise_cause: Cause | None = None
    """Why the plain step does not repeat itself."""
    explanation: Explanation | None = None
    """Whose fault it is that policies break the step."""
    costs: Costs | None = None
    """Memory and time of the policies, where they were asked for and all policies hold."""
    knock_out: KnockOut | None = None
    """Which markers are needed, where that was asked for and all policies hold."""

    def __getitem__(self, policy: str) -> PolicyResult:
        """The result under the policy of this name."""
        return next(result for result in self.policies if result.name == policy)

    @property
    def policies(self) -> tuple[PolicyResult, ...]:
        """The results under all policies, combinations included."""
        return (*self.results, *self.combinations)

    @property
    def broken(self) -> tuple[PolicyResult, ...]:
        """The policies and other wanted tracks that change the step or do not get through it."""
        asked_for = (result for result in self.controls if result.name in self.asked_for)
        return tuple(result for result in (*self.policies, *asked_for) if result.is_broken)

    @property
    def confirmations(self) -> tuple[Confirmation, ...]:
        """The named verdicts over all policies."""
        has_replayed = bool(self.checkpoints) and self.has_gradients
        return Confirmed(self.policies, self.noise, self.tensors, self.agreements, has_replayed).all()

    @property
    def exit_status(self) -> int:
        """0 holds, 1 broken or other regions than the manifest's, 3 over budget, 5 inconclusive."""
        if self.broken or any(one.differences for one in self.agreements):
            return EXIT_BROKEN
        if self.costs is not None and self.costs.exit_status != EXIT_HOLDS:
            return self.costs.exit_status
        checked = self.checkpoints and self.has_gradients
        doubtful = any(one.verdict is Verdict.INCONCLUSIVE for one in self.policies)
        return EXIT_INCONCLUSIVE if doubtful or self.noise or not checked else EXIT_HOLDS


@dataclass(frozen=True)
class Options:
    """What is checked, and how thoroughly.

    Attributes:
        policies: policies to try beside none, all and each region alone; each is one string of
            glob patterns separated by commas, naming the regions to save.
        device: ``auto`` (CUDA where there is a GPU), ``cpu`` or ``cuda``.
        seeds: where the random streams start, for the factory and for every track; one check for each.
        stand_ins: use this package's placeholders instead of torch's; by default only where
            the torch build has none.
        manifest: a file that ``remat-lint manifest`` wrote; the regions that run are compared with
            those that it lists for the module's class.
        noise_runs: how often the plain step runs, to see what it does not repeat by itself.
        combinations: the greatest number of policies for which every combination of regions is tried.
        against_source: compare them with what ``remat-lint manifest`` says of the class's source, too.
        unmatched: patterns that need match no region: other stages of a pipeline have theirs.
        tracks: how else to checkpoint the step, of ``block`` and ``selective``; where a policy breaks it,
            both are run anyway, to tell whether it can be replayed at all.
        segment: also checkpoint segments of so many blocks, as torch does it; 1 for none.
        batches: how many times forward and backward run before the gradients are compared.
        steps_optimizer: let an optimizer step then, and compare the parameters, too.
        rank_groups: ranks that do the same; by default all ranks of the job.
        rank_timeout: seconds after which a rank without progress in its step is stuck.
        rank_start_timeout: seconds for which ranks wait for each other before a step.
        memory: measure bytes and times, and find the policies that are worth a choice.
        budget_mib: what a policy may retain after forward; none that does is a missed budget.
        max_slowdown: the longest step, in proportion to the plain step's; likewise.
        knock_out: silence each marker in turn, to find those that no policy needs.
        timeout: the seconds after which the check is given up.
    """

    policies: Sequence[str] = ()
    device: str = "auto"
    seeds: Sequence[int] = (0,)
    stand_ins: bool | None = None
    manifest: str | Path | None = None
    against_source: bool = False
    unmatched: Sequence[str] = ()
    noise_runs: int = 3
    combinations: int = COMBINATIONS
    tracks: Sequence[str] = ()
    segment: int = 1
    batches: int = 1
    steps_optimizer: bool = False
    memory: bool = False
    budget_mib: float | None = None
    max_slowdown: float | None = None
    knock_out: bool = False
    timeout: float | None = None
    rank_groups: Groups = ()
    rank_timeout: float = 5.0
    rank_start_timeout: float = 60.0

    @property
    def ranks(self) -> RankSettings:
        """How several ranks are compared."""
        return RankSettings(self.rank_groups, self.rank_timeout, self.rank_start_timeout)


def check(
    target: Target,
    options: Options = Options(),
    guard: RankGuard | None = None,
    standing: Witnesses = lambda _: (),
) -> CheckResult:
    """Run the step of ``target`` under every policy and compare it with the plain run.

    ``target`` is ``package.module:factory``, or the factory itself. ``guard`` compares the ranks of a job;
    ``standing`` makes witnesses of every track.

    Raises:
        UsageError: where the target cannot be run at all.
        TimedOut: where the time is over.
    """
    if guard is not None:
        guard.use(options.ranks)

    def on_each_track(observation: Observation) -> Sequence[Witness]:
        own = standing(observation)
        return own if guard is None else (guard.witness(observation), *own)

    with (
        deadline(options.timeout),
        opened(
            target, device=options.device, stand_ins=options.stand_ins, standing=on_each_track
        ) as make_bench,
    ):
        checks = []
        for seed in options.seeds:
            bench = make_bench(seed, batches=options.batches, steps_optimizer=options.steps_optimizer)
            checks.append(_Check(bench, options, guard).result())
        return _of_all_seeds(checks)


def _of_all_seeds(checks: Sequence[CheckResult]) -> CheckResult:
    """The first seed's result; each track with the first seed under which it breaks."""

    def merged(one: CheckResult, kind: str) -> tuple[PolicyResult, ...]:
        first: Sequence[PolicyResult] = getattr(one, kind)
        by_seed = [{result.name: result for result in getattr(other, kind)} for other in checks]
        found = []
        for result in first:
            same = [results[result.name] for results in by_seed if result.name in results]
            found.append(next((other for other in same if other.is_broken), result))
        names = {result.name for result in first}
        more = [r for results in by_seed[1:] for r in results.values() if r.name not in names and r.is_broken]
        return (*found, *more)

    one = next((check for check in checks if check.noise), checks[0])
    kinds = ("results", "controls", "combinations")
    causes = {name: cause for check in reversed(checks) for name, cause in check.causes.items()}
    blamed = next((check.explanation for check in checks if check.explanation is not None), None)
    merged_kinds = {kind: merged(one, kind) for kind in kinds}
    return replace(one, causes=causes, explanation=blamed, **merged_kinds)  # type: ignore[arg-type]


class _Check:
    """One step with one seed, from the plain runs to the verdicts."""

    def __init__(self, bench: Bench, options: Options, guard: RankGuard | None) -> None:
        self._bench = bench
        self._options = options
        self._guard = guard
        self._declared = tuple(_declared(bench.start.kind, options))
        self._plain = bench.run(PLAIN)
        self._noise = self._repeated()

    def result(self) -> CheckResult:
        """Run all tracks."""
        first = self._track(regions(NONE))
        seen = first.observation
        found = tuple(seen.regions.values())
        decided = [one for one in found if self._bench.start.sets_policy or one.flag is Flag.DECIDED]
        wanted = list(dict.fromkeys(given(option) for option in self._options.policies))
        got_through = first.failure is None or first.failure.phase == "backward"
        everywhere: Sequence[SeenRegion] = found
        checkpoints: Iterable[str] = seen.checkpoints
        if self._guard is not None:  # other stages of a pipeline have other regions
            everywhere, decided = self._guard.regions(found), self._guard.regions(decided)
            checkpoints = self._guard.union(seen.checkpoints)
        if got_through:
            _require_matches(wanted, everywhere, checkpoints, self._options.unmatched)
        policies = _policies(decided, wanted)
        if self._bench.start.sets_policy:
            policies = [policy for policy in policies if policy is not AS_CONFIGURED] or [NONE]
        results = [self._judged(regions(policies[0]), first)]
        results += [self._under(regions(policy)) for policy in policies[1:]]
        all_hold = not self._on_any_rank(result.name for result in results if result.is_broken)
        more = self._combinations(decided, policies) if all_hold else ()
        controls = tuple(self._controls(all_hold))
        combined = tuple(self._under(regions(policy)) for policy in more)
        broken = [one for one in (*results, *combined, *controls) if one.is_broken]
        is_alone = self._guard is None  # what only one rank runs would leave the others waiting
        causes = self._causes(broken) if is_alone else {}
        judged, combined = _doubted(results, causes), _doubted(combined, causes)
        holds = is_alone and not broken and not self._noise
        recorded = recorded_class(
            self._bench.start.kind, seen.counts, seen.regions, is_one_checkpoint=self._bench.wraps_module
        )
        return CheckResult(
            target=self._bench.name,
            device=str(self._bench.start.device),
            versions=f"torch {torch.__version__}, torch-remat {_version('torch-remat')}",
            uses_stand_ins=self._bench.uses_stand_ins,
            wraps_module=self._bench.wraps_module,
            checkpoints=tuple(seen.checkpoints),
            regions=found,
            untapped=tuple(dict.fromkeys(n for n in first.trace if n not in seen.regions)),
            noise=self._noise,
            tensors=tuple(what for what, seen in self._plain.prints.items() if seen is not None),
            results=judged,
            controls=controls,
            asked_for=tuple(plan.name for plan in self._asked_for()),
            combinations=combined,
            causes=causes,
            noise_cause=find_noise(self._bench) if is_alone and self._noise else None,
            explanation=explain(judged, controls, decided, lambda plan: self._under(plan).is_broken)
            if is_alone
            else None,
            costs=self._costs(judged) if holds else None,
            knock_out=knocked_out(self._bench) if holds and self._options.knock_out else None,
            has_gradients=any(
                seen is not None for what, seen in self._plain.prints.items() if "gradient" in what
            ),
            agreements=tuple(self._agreement(one, first, recorded) for one in self._declared if got_through),
            recorded=recorded,
        )

    def _agreement(self, declared: Declared, track: Track, recorded: DeclaringClass) -> Agreement:
        if declared.entry.recorded:
            return declared.compare_recorded(recorded)
        seen = track.observation.regions
        return declared.compare(track.trace, seen, is_one_checkpoint=self._bench.wraps_module)

    def _causes(self, broken: Sequence[PolicyResult]) -> Mapping[str, Cause]:
        """The cause of each track that breaks the step; those that break it alike have one cause."""
        alike: dict[tuple[str, ...], Cause | None] = {}
        for one in broken:
            if one.findings not in alike:
                alike[one.findings] = find_cause(self._bench, one)
        causes = ((one.name, alike[one.findings]) for one in broken)
        return {name: cause for name, cause in causes if cause is not None}

    def _costs(self, results: Sequence[PolicyResult]) -> Costs | None:
        """Memory and time, where they were asked for."""
        budget_mib, max_slowdown = self._options.budget_mib, self._options.max_slowdown
        if not self._options.memory and budget_mib is None and max_slowdown is None:
            return None
        plans = [result.plan for result in results]
        return costs(self._bench, plans, budget_mib=budget_mib, max_slowdown=max_slowdown)

    def _repeated(self) -> Noise:
        """The plain step again, to see what it does not repeat."""
        tensors: dict[str, Difference] = {}
        state: dict[str, StateDifference] = {}
        for _ in range(self._options.noise_runs - 1):
            again = self._bench.run(PLAIN)
            if again.failure is not None:
                raise UsageError(f"{self._bench.name}: the step fails when it is repeated: {again.failure}")
            for one in differences(self._plain.prints, again.prints):
                tensors.setdefault(one.what, one)
            for other in _state_differences(self._plain, again):
                state.setdefault(other.what, other)
        noisy = self._measured(tuple(tensors.values()), PLAIN)
        return Noise(self._options.noise_runs, noisy, tuple(state.values()))

    def _track(self, plan: Plan) -> Track:
        def witnesses(observation: Observation) -> Sequence[Values]:
            return [Values(observation)]

        return self._bench.run(plan, witnesses)

    def _under(self, plan: Plan) -> PolicyResult:
        return self._judged(plan, self._track(plan))

    def _judged(self, plan: Plan, track: Track) -> PolicyResult:
        result = PolicyResult(
            plan,
            Verdict.INCONCLUSIVE if self._noise else Verdict.EQUAL,
            track.observation.counts,
            seed=self._bench.start.seed,
        )
        if track.failure is not None:
            if self._bench.wraps_module and "Duplicate torch_remat region name" in track.failure.message:
                raise UsageError(
                    f"{self._bench.name} calls no remat.checkpoint itself, and as one checkpoint it has"
                    " regions of one name: if its blocks are checkpointed one by one, make the case with"
                    " adapters.per_block"
                )
            self._measured((), plan)  # what other ranks may want
            return replace(result, verdict=Verdict.RAISES, raised=track.failure)
        unlike = [
            one
            for one in differences(self._plain.prints, track.prints)
            if one.what not in self._noise.tensors
        ]
        noisy = {one.what for one in self._noise.state}
        state = [one for one in _state_differences(self._plain, track) if one.what not in noisy]
        result = replace(
            result,
            differences=self._measured(tuple(unlike), plan),
            state=tuple(state),
            replayed=() if self._noise else tuple(_replayed_otherwise(track)),
            miscounted=(*track.observation.miscounted, *self._disobeyed(plan, track)),
            keys=tuple(sorted({*self._plain.keys} ^ {*track.keys})),
        )
        kinds = (result.differences, result.state, result.replayed, result.miscounted, result.keys)
        return replace(result, verdict=Verdict.DIFFERS) if any(kinds) else result

    def _disobeyed(self, plan: Plan, track: Track) -> Iterator[str]:
        """The regions that the case's own ``set_policy`` keeps otherwise than it was told."""
        patterns = plan.policy.patterns if plan.policy is not None else None
        if not self._bench.start.sets_policy or plan.policy is None or patterns is None:
            return
        for one in track.observation.counts:
            is_decided = track.observation.regions[one.region].flag is not Flag.CONSTANT
            if is_decided and one.kept is not plan.policy.saves(one.checkpoint, one.region):
                was = "saved" if one.kept else "recomputed"
                place = f"region {one.region} of {one.checkpoint}"
                yield f"{place} is {was}: set_policy did not do what it was told"

    def _measured(self, found: tuple[Difference, ...], plan: Plan) -> tuple[Difference, ...]:
        """How far apart the tensors are that differ: both steps run again, and keep just those."""
        wanted = self._on_any_rank(one.what for one in found if one.how == "differs")
        if not wanted:
            return found
        before, after = (
            self._bench.run(PLAIN, wanted=wanted).values,
            self._bench.run(plan, wanted=wanted).values,
        )

        def distance(what: str) -> Extent | None:
            expected, actual = before.get(what), after.get(what)
            return None if expected is None or actual is None else extent(expected, actual)

        return tuple(replace(one, extent=distance(one.what)) for one in found)

    def _on_any_rank(self, names: Iterable[str]) -> frozenset[str]:
        """The names that any rank found: all ranks run the same tracks, so they decide together."""
        return frozenset(names) if self._guard is None else self._guard.union(names)

    def _controls(self, all_hold: bool) -> Iterator[PolicyResult]:
        """Checkpoints of torch: a segment where one is asked for, the others to explain what broke."""
        plans = list(self._asked_for())
        more = [plan for plan in _TRACKS.values() if plan not in plans and not all_hold]
        for plan in (*more, *plans):
            yield self._under(plan)

    def _asked_for(self) -> Iterator[Plan]:
        yield from (plan for name, plan in _TRACKS.items() if name in self._options.tracks)
        if self._options.segment > 1:
            yield segments(self._options.segment)

    def _combinations(self, decided: Sequence[SeenRegion], tried: Sequence[Policy]) -> Iterator[Policy]:
        """Every other combination of regions, where they are few enough."""
        if len(decided) < 3 or 2 ** len(decided) > self._options.combinations:
            return
        everything = together([one.name for one in decided], nesting(decided))
        done = (*tried, NONE, everything)
        known = {frozenset(policy.patterns) for policy in done if policy.patterns is not None}
        yield from (
            one for one in combinations(nesting(decided)) if frozenset(one.patterns or ()) not in known
        )


def _doubted(results: Iterable[PolicyResult], causes: Mapping[str, Cause]) -> tuple[PolicyResult, ...]:
    """What a kernel does that does not repeat itself says nothing of checkpoints: it is inconclusive."""

    def is_noise(one: PolicyResult) -> bool:
        return one.name in causes and causes[one.name].kind is Kind.KERNEL

    return tuple(replace(one, verdict=Verdict.INCONCLUSIVE) if is_noise(one) else one for one in results)


def _declared(kind: type[nn.Module], options: Options) -> Iterator[Declared]:
    """The manifests that the regions are compared with."""
    if options.manifest is not None:
        yield declared_class(Path(options.manifest), f"{kind.__module__}.{kind.__qualname__}")
    if options.against_source:
        yield predicted_class(kind)


def _replayed_otherwise(track: Track) -> Iterator[ReplayedOtherwise]:
    for witness in track.observation.witnesses:
        if isinstance(witness, Values):
            yield from witness.found


def _state_differences(plain: Track, track: Track) -> Iterator[StateDifference]:
    """What either step changed, and what is not the same after both."""
    for what in dict.fromkeys((*plain.state, *track.state)):
        expected, actual = plain.state.get(what), track.state.get(what)
        if expected != actual and (what in plain.changed or what in track.changed):
            yield StateDifference(what, expected, actual)


def _policies(decided: Sequence[SeenRegion], wanted: Sequence[Policy]) -> list[Policy]:
    """The policies to try first: the first one stands for the run in which no decided region was saved."""
    if not decided:
        return [AS_CONFIGURED, *wanted]
    singles = [alone(region, inner) for region, inner in nesting(decided).items()]
    own = [AS_CONFIGURED] if _is_new_combination(decided) else []
    return [NONE, ALL, *singles, *wanted, *own]


def _is_new_combination(decided: Sequence[SeenRegion]) -> bool:
    """Does the module itself save more than one region, but not all?"""
    saved = sum(not region.own_recompute for region in decided)
    return 1 < saved < len(decided)


def _require_matches(
    wanted: Sequence[Policy],
    regions: Sequence[SeenRegion],
    checkpoints: Iterable[str],
    unmatched: Sequence[str],
) -> None:
    """Refuse a pattern that no region of any checkpoint matches and that need not: it is a typing error."""
    for policy in wanted:
        if not policy.patterns:
            raise UsageError("--policy is empty: give glob patterns of region names, such as attention.*")
        for pattern in policy.patterns:
            found = any(matches(pattern, c, region.name) for region in regions for c in checkpoints)
            if not found and pattern not in unmatched:
                names = ", ".join(region.name for region in regions) or "none"
                raise UsageError(f"--policy {pattern} matches no region; the regions are: {names}")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"
