"""The check itself: which tracks run, and what their comparison says.

The plain track runs twice. Where its two runs differ, the step is not reproducible by itself,
and a difference under a policy says nothing; an exception still does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from remat_lint.runtime_check.agreement import Agreement, Declared, declared_class
from remat_lint.runtime_check.case import Case, load_factory, make_case
from remat_lint.runtime_check.compare import Difference, differences
from remat_lint.runtime_check.diagnosis import Raised
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders
from remat_lint.runtime_check.policy import ALL, AS_CONFIGURED, NONE, Policy, alone, given, matches
from remat_lint.runtime_check.regions import RegionCount, SeenRegion, Tap
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.tracks import Start, Track, prepare, run


class Verdict(str, Enum):
    """What one policy does to the step."""

    EQUAL = "equal"
    DIFFERS = "differs"
    RAISES = "raises"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class PolicyResult:
    """One policy: how often each region ran, and whether the step is still the same."""

    policy: Policy
    verdict: Verdict
    counts: tuple[RegionCount, ...]
    differences: tuple[Difference, ...] = ()
    raised: Raised | None = None

    @property
    def name(self) -> str:
        """How the policy is called in the table."""
        return self.policy.name

    def totals(self, region: str) -> tuple[int, ...]:
        """Forward and replay together, for each run of a checkpoint that reached the region."""
        return tuple(count.total for count in self.counts if count.region == region)


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
    noise: tuple[Difference, ...]
    results: tuple[PolicyResult, ...]
    has_gradients: bool = True
    """Whether backward reached anything: without that, no replay ran."""
    agreement: Agreement | None = None
    """What a manifest says of the regions; None without one, or where the forward did not get to its end."""

    def __getitem__(self, policy: str) -> PolicyResult:
        """The result under the policy of this name."""
        return next(result for result in self.results if result.name == policy)

    @property
    def broken(self) -> tuple[PolicyResult, ...]:
        """The policies that change the step or do not get through it."""
        return tuple(r for r in self.results if r.verdict in (Verdict.DIFFERS, Verdict.RAISES))

    @property
    def exit_status(self) -> int:
        """0 holds, 1 broken or other regions than the manifest's, 5 inconclusive."""
        if self.broken or (self.agreement is not None and self.agreement.differences):
            return 1
        checked = self.checkpoints and self.has_gradients
        return 5 if self.noise or not checked else 0


def check(
    target: str | Callable[[], Any],
    *,
    policies: Sequence[str] = (),
    device: str = "auto",
    seed: int = 0,
    stand_ins: bool | None = None,
    manifest: str | Path | None = None,
) -> CheckResult:
    """Run the step of ``target`` under every policy and compare it with the plain run.

    Args:
        target: ``package.module:factory``, or the factory itself.
        policies: policies to try beside none, all and each region alone; each is one string of
            glob patterns separated by commas, naming the regions to save.
        device: ``auto`` (CUDA where there is a GPU), ``cpu`` or ``cuda``.
        seed: where the random streams start, for the factory and for every track.
        stand_ins: use this package's placeholders instead of torch's; by default only where
            the torch build has none.
        manifest: a file that ``remat-lint manifest`` wrote; the regions that run are compared with
            those that it lists for the module's class.

    Raises:
        UsageError: where the target cannot be run at all.
    """
    place = _device(device)
    uses_stand_ins = not torch_has_placeholders() if stand_ins is None else stand_ins
    name = target if isinstance(target, str) else getattr(target, "__qualname__", repr(target))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_reproducible(place))
        if uses_stand_ins:
            stack.enter_context(stand_ins_installed())
        tap = stack.enter_context(Tap().open())
        factory = load_factory(target) if isinstance(target, str) else target

        def build() -> Case:
            return make_case(factory, name)

        start = prepare(build, place, seed)
        wanted = declared_class(Path(manifest), start.class_name) if manifest is not None else None
        return _compared(start, tap, name, policies, uses_stand_ins, wanted)


def _compared(
    start: Start,
    tap: Tap,
    name: str,
    options: Sequence[str],
    uses_stand_ins: bool,
    declared: Declared | None,
) -> CheckResult:
    plain = run(start, tap, None, wraps_module=False)
    if plain.failure is not None:
        raise UsageError(
            f"{name}: the step fails without any checkpoint, in {plain.failure.phase}: {plain.failure}"
        )
    again = run(start, tap, None, wraps_module=False)
    noise = tuple(differences(plain.tensors, again.tensors))
    wraps_module = plain.observation.checkpoint_calls == 0

    def under(policy: Policy) -> Track:
        return run(start, tap, policy, wraps_module=wraps_module)

    first = under(NONE)
    seen = first.observation
    regions = tuple(seen.regions.values())
    decided = [one for one in regions if start.sets_policy or one.flag is Flag.DECIDED]
    wanted = [given(option) for option in options]
    got_through = first.failure is None or first.failure.phase == "backward"
    if got_through:
        _require_matches(wanted, regions, seen.checkpoints)
    policies = _policies(decided, wanted)
    tracks = [first, *map(under, policies[1:])]
    return CheckResult(
        target=name,
        device=str(start.device),
        versions=f"torch {torch.__version__}, torch-remat {_version('torch-remat')}",
        uses_stand_ins=uses_stand_ins,
        wraps_module=wraps_module,
        checkpoints=tuple(seen.checkpoints),
        regions=regions,
        untapped=tuple(dict.fromkeys(n for n in first.trace if n not in seen.regions)),
        noise=noise,
        has_gradients=any(tensor is not None for what, tensor in plain.tensors.items() if "grad" in what),
        results=tuple(
            _judged(policy, track, plain, bool(noise)) for policy, track in zip(policies, tracks, strict=True)
        ),
        agreement=declared.compare(first.trace, seen.regions, is_one_checkpoint=wraps_module)
        if declared is not None and got_through
        else None,
    )


def _policies(decided: Sequence[SeenRegion], wanted: Sequence[Policy]) -> list[Policy]:
    """All policies to try: the first stands for the run in which no decided region was saved."""
    if not decided:
        return [AS_CONFIGURED, *wanted]
    singles = [
        alone(region.name, (other.name for other in decided if region.name in other.inside))
        for region in decided
    ]
    own = [AS_CONFIGURED] if _is_new_combination(decided) else []
    return [NONE, ALL, *singles, *wanted, *own]


def _is_new_combination(decided: Sequence[SeenRegion]) -> bool:
    """Does the module itself save more than one region, but not all?"""
    saved = sum(not region.own_recompute for region in decided)
    return 1 < saved < len(decided)


def _require_matches(
    wanted: Sequence[Policy], regions: Sequence[SeenRegion], checkpoints: Sequence[str]
) -> None:
    """Refuse a pattern that no region of any checkpoint matches: it is a typing error."""
    for policy in wanted:
        if not policy.patterns:
            raise UsageError("--policy is empty: give glob patterns of region names, such as attention.*")
        for pattern in policy.patterns:
            if not any(matches(pattern, c, region.name) for region in regions for c in checkpoints):
                names = ", ".join(region.name for region in regions) or "none"
                raise UsageError(f"--policy {pattern} matches no region; the regions are: {names}")


def _judged(policy: Policy, track: Track, plain: Track, noisy: bool) -> PolicyResult:
    counts = track.observation.counts
    if track.failure is not None:
        return PolicyResult(policy, Verdict.RAISES, counts, raised=track.failure)
    different = tuple(differences(plain.tensors, track.tensors))
    if not different:
        return PolicyResult(policy, Verdict.INCONCLUSIVE if noisy else Verdict.EQUAL, counts)
    return PolicyResult(policy, Verdict.INCONCLUSIVE if noisy else Verdict.DIFFERS, counts, different)


def _device(wanted: str) -> torch.device:
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
    # Operators without a deterministic kernel only warn: the second plain run shows their noise.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.backends.cudnn.benchmark = benchmark
        if workspace is None:
            del os.environ["CUBLAS_WORKSPACE_CONFIG"]


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"
