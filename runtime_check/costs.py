"""What the policies cost: bytes by region, the memory-time front, and what is best within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.front import MIB, Front, Recommendation, front
from remat_lint.runtime_check.plan import PLAIN, Plan
from remat_lint.runtime_check.storages import Memory, measured
from remat_lint.runtime_check.verdicts import EXIT_BUDGET, EXIT_HOLDS


@dataclass(frozen=True)
class Costs:
    """The memory of the step without checkpoints and under some policies, and the front of all policies.

    Where bytes or times cannot be predicted, there is no front, and ``no_front`` says why.
    """

    memory: tuple[Memory, ...]
    front: Front | None
    no_front: str | None
    budget_mib: float | None
    max_slowdown: float | None

    @property
    def has_limits(self) -> bool:
        """Is there a budget, or a limit of time?"""
        return self.budget_mib is not None or self.max_slowdown is not None

    @property
    def recommendation(self) -> Recommendation | None:
        """What is best within the limits; None without a front."""
        if self.front is None:
            return None
        return self.front.recommended(budget_mib=self.budget_mib, max_slowdown=self.max_slowdown)

    @property
    def exit_status(self) -> int:
        """3 where no policy keeps to the limits; without a front, those count that were measured."""
        if not self.has_limits:
            return EXIT_HOLDS
        if self.recommendation is not None:
            return self.recommendation.exit_status
        least = min(one.retained_bytes for one in self.memory)
        fits = self.budget_mib is None or least <= self.budget_mib * MIB
        return EXIT_HOLDS if fits else EXIT_BUDGET


def costs(
    bench: Bench, plans: Sequence[Plan], *, budget_mib: float | None, max_slowdown: float | None
) -> Costs:
    """Measure the memory of some plans that hold, and find the front.

    Raises:
        UsageError: where a limit of time is given and times cannot be predicted.
    """
    memory = tuple(measured(bench, plan) for plan in (PLAIN, *plans))
    try:
        found, why_not = front(bench), None
    except UsageError as error:
        if max_slowdown is not None:
            raise
        found, why_not = None, str(error)
    return Costs(memory, found, why_not, budget_mib, max_slowdown)
