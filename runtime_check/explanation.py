"""Whose fault it is that policies break the step, and the fewest saved regions that show it.

torch's checkpoint of the same blocks is the control: it knows no regions and no markers, and it preserves
torch's random state. Where it holds, the regions, markers or state hooks are to blame; where it breaks the
step as well, the model or torch cannot be replayed at all, whatever is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from remat_lint.runtime_check.plan import BLOCK, Plan, regions
from remat_lint.runtime_check.policy import Policy, together
from remat_lint.runtime_check.regions import SeenRegion, nesting
from remat_lint.runtime_check.verdicts import PolicyResult


class Blame(str, Enum):
    """Where the fault is; unknown without the control."""

    ANNOTATION = "annotation"
    MODEL = "model or torch"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Explanation:
    """What the tracks say together.

    ``saved`` are the fewest saved regions under which the step breaks: none of them where it breaks with no
    region saved, None where no policy decides regions. ``alone`` are the regions each of which breaks it;
    ``mends`` those that need only be saved for the step to hold, where it breaks with none saved.
    """

    blame: Blame
    saved: tuple[str, ...] | None = None
    alone: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(part for part in (_BLAME[self.blame], self._about_policies()) if part)

    def _about_policies(self) -> str:
        if self.saved is None:
            return ""
        if self.mends:
            return f"It breaks with no region saved, and holds where {' or '.join(self.mends)} is saved."
        if not self.saved:
            return "It breaks with no region saved, so it does not depend on what is saved."
        if len(self.alone) > 1:
            return f"It breaks as soon as one of these regions is saved: {', '.join(self.alone)}."
        together = " together" if len(self.saved) > 1 else ""
        return f"It breaks as soon as {' and '.join(self.saved)} {_are(self.saved)} saved{together}."


_BLAME = {
    Blame.ANNOTATION: (
        "torch's own checkpoint of the same code holds (it preserves torch's random state): the fault is in"
        " regions, markers or state hooks."
    ),
    Blame.MODEL: (
        "torch's own checkpoint of the same code breaks the step as well: the model or torch cannot be"
        " replayed, whatever the regions are."
    ),
    Blame.UNKNOWN: "",
}


def explain(
    results: Sequence[PolicyResult],
    controls: Sequence[PolicyResult],
    decided: Sequence[SeenRegion],
    breaks: Callable[[Plan], bool],
) -> Explanation | None:
    """Lay the tracks beside each other; None where no policy breaks the step.

    Args:
        results: the policies that were tried.
        controls: the same step under torch's checkpoints.
        decided: the regions that policies decide.
        breaks: runs one more policy and says whether it breaks the step; asked where only several regions
            together do.
    """
    broken = [result for result in results if result.is_broken]
    if not broken:
        return None
    block = next((control for control in controls if control.name == BLOCK.name), None)
    blame = Blame.UNKNOWN if block is None else _blame(broken, block)
    inner = nesting(decided)
    sets = [_saved(result.policy, list(inner)) for result in broken if result.policy.patterns is not None]
    if not sets:
        return Explanation(blame)
    saved = tuple(_fewest(min(sets, key=len), inner, breaks))
    alone = tuple(one for one in inner if _alone(one, inner) in sets)
    if saved:
        return Explanation(blame, saved, alone)
    hold = [_saved(one.policy, list(inner)) for one in results if not one.is_broken]
    return Explanation(blame, saved, alone, tuple(one for one in inner if _alone(one, inner) in hold))


def _blame(broken: Sequence[PolicyResult], block: PolicyResult) -> Blame:
    """The model's only where torch's checkpoint breaks the same: it runs no state hooks, and keeps no region.

    A placeholder that is read is none of torch's, and a counter that a saved region guards is no reason for
    gradients that a policy changes.
    """
    if all(result.raised is not None and result.raised.region is not None for result in broken):
        return Blame.ANNOTATION
    same = {what for result in broken for what in _broken_things(result)} & set(_broken_things(block))
    return Blame.MODEL if same else Blame.ANNOTATION


def _broken_things(result: PolicyResult) -> list[str]:
    if result.raised is not None:
        return ["an exception"]
    return [one.what for one in result.differences] + [one.what for one in result.state]


def _saved(policy: Policy, names: Sequence[str]) -> list[str]:
    """The regions that a policy saves, whatever the checkpoint; those nested in others come after them."""
    return [name for name in names if policy.saves("", name)]


def _alone(region: str, inner: dict[str, list[str]]) -> list[str]:
    """What is saved where a policy saves one region."""
    return [name for name in inner if name == region or name in inner[region]]


def _fewest(saved: list[str], inner: dict[str, list[str]], breaks: Callable[[Plan], bool]) -> list[str]:
    """Leave out regions, one at a time, as long as the step still breaks."""
    outer = [name for name in saved if not any(name in inner[other] for other in saved)]
    for name in list(outer):
        fewer = [other for other in outer if other != name]
        if fewer and breaks(regions(together(fewer, inner))):
            outer = fewer
    return outer


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
