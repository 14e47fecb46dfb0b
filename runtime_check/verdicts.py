"""What a check says: of each track, of each thing that it confirms, and of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from remat_lint.runtime_check.compare import Difference
from remat_lint.runtime_check.diagnosis import Raised
from remat_lint.runtime_check.plan import Plan
from remat_lint.runtime_check.policy import AS_CONFIGURED, Policy
from remat_lint.runtime_check.regions import RegionCount
from remat_lint.runtime_check.values import ReplayedOtherwise


class Verdict(str, Enum):
    """What one track does to the step."""

    EQUAL = "equal"
    DIFFERS = "differs"
    RAISES = "raises"
    INCONCLUSIVE = "inconclusive"


class Status(str, Enum):
    """Whether something that the check confirms is so."""

    HOLDS = "holds"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Confirmation:
    """One thing that the check confirms, by name, with a sentence for each exception."""

    name: str
    status: Status
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class StateDifference:
    """State outside the tensors of the module that the step leaves otherwise than the plain step."""

    what: str
    expected: str | None
    actual: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.what} is there only with checkpoints"
        if self.actual is None:
            return f"{self.what} is missing with checkpoints"
        if max(len(self.expected), len(self.actual)) > 60:
            return f"{self.what} is not what the plain step leaves"
        return f"{self.what} is {self.actual} instead of {self.expected}"


@dataclass(frozen=True)
class PolicyResult:
    """One track against the plain one: how often each region ran, and whether the step is still the same.

    ``differences`` are tensors, ``state`` what is left otherwise beside them, ``replayed`` values that
    replay computed otherwise, ``miscounted`` regions that ran more or less often than their flag says.
    """

    plan: Plan
    verdict: Verdict
    counts: tuple[RegionCount, ...] = ()
    differences: tuple[Difference, ...] = ()
    state: tuple[StateDifference, ...] = ()
    replayed: tuple[ReplayedOtherwise, ...] = ()
    miscounted: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """Keys of the state dict that are there in one track only."""
    raised: Raised | None = None
    seed: int = 0

    @property
    def policy(self) -> Policy:
        """The policy of the plan; as the source has it where the plan has none."""
        return self.plan.policy or AS_CONFIGURED

    @property
    def name(self) -> str:
        """How the track is called in the table."""
        return self.plan.name

    @property
    def findings(self) -> tuple[str, ...]:
        """What is wrong, a sentence each; the exception, or everything that is not as in the plain step."""
        if self.raised is not None:
            return (str(self.raised),)
        keys = [f"the key {key} of the state dict is there in one track only" for key in self.keys]
        replayed = [f"replay computes another {one}" for one in self.replayed]
        return (*map(str, self.differences), *replayed, *map(str, self.state), *self.miscounted, *keys)

    @property
    def is_broken(self) -> bool:
        """Does the track change the step, or not get through it?"""
        return self.verdict in (Verdict.DIFFERS, Verdict.RAISES)

    def totals(self, region: str) -> tuple[int, ...]:
        """Forward and replay together, for each run of a checkpoint that reached the region."""
        return tuple(count.total for count in self.counts if count.region == region)


@dataclass(frozen=True)
class Noise:
    """What repeated plain runs already do not agree on. ``runs`` is how many there were."""

    runs: int
    differences: tuple[Difference, ...] = ()
    state: tuple[StateDifference, ...] = ()

    @property
    def tensors(self) -> frozenset[str]:
        """The names of the tensors that differ by themselves."""
        return frozenset(one.what for one in self.differences)

    def __bool__(self) -> bool:
        return bool(self.differences)


EXIT_HOLDS, EXIT_BROKEN, EXIT_USAGE, EXIT_BUDGET, EXIT_RANKS, EXIT_INCONCLUSIVE = range(6)
"""What ``remat-check`` returns to the shell."""
