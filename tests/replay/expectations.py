"""What SEMANTICS says of a case: the tables of its sections 3 to 6, as a function."""

from __future__ import annotations

from tests.replay.axes import (
    OF_TORCH,
    OF_TWO_LAYERS,
    Case,
    Consumer,
    Flow,
    Form,
    Guard,
    Hook,
    Owner,
    Region,
    Site,
)
from tests.replay.deeds import ANY, DIVERGES, ONCE, RAISES, RIGHT, Expected, Outcome, Stream
from tests.replay.hooks import covers
from tests.replay.oracle import Verdict


def expected_of(case: Case, answer: bool) -> Expected:
    """What a run may do, with the policy's answer: several sites may each spoil it."""
    if case.hook is Hook.HALF:
        return Expected(RAISES)
    parts = [_of_site(site, case, answer) for site in case.sites]
    outcomes = RIGHT
    if any(part.outcomes != RIGHT for part in parts):
        lucky = any(Outcome.RIGHT in part.outcomes for part in parts if part.outcomes != RIGHT)
        single = len(parts) == 1
        outcomes = parts[0].outcomes if single else ANY if lucky else DIVERGES
    if case.form in OF_TORCH and outcomes & DIVERGES:
        outcomes |= DIVERGES  # the reentrant checkpoint checks nothing, the other may stop before
    return Expected(outcomes, any(part.state for part in parts), any(part.printed for part in parts))


def masked(case: Case) -> bool:
    """A saved region keeps what it needs itself: a replayed value that only it reads does no harm."""
    return case.consumer is Consumer.SAVED or any(
        site.region in (Region.SAVE, Region.POLICY) for site in case.sites[1:]
    )


def replays(site: Site, case: Case, answer: bool) -> bool:
    """The site's code runs again: torch's own checkpoint knows no regions."""
    again = site.region in (Region.BARE, Region.RECOMPUTE) or (site.region is Region.POLICY and answer)
    return again or case.form in OF_TORCH


def _of_site(site: Site, case: Case, answer: bool) -> Expected:
    deed = site.deed
    if case.evaluated and deed.in_training:
        return ONCE
    if deed.whole and case.form in OF_TORCH:
        return Expected(ANY)
    if deed.whole and case.form in OF_TWO_LAYERS and _is_shared(case):
        return deed.shared if deed.replayed == ONCE else deed.replayed
    if not replays(site, case, answer):
        return deed.kept
    if site.guard is not Guard.NONE and case.form not in OF_TORCH:
        return Expected(ANY) if _reads_another_state(site, case) else deed.kept
    if deed.draws is Stream.NOTHING:
        return deed.replayed
    if case.hook is Hook.ENTERED:
        return Expected(ANY)
    restored = covers(case.hook, deed.draws) or (deed.draws is Stream.TORCH and _preserves(case.form))
    return ONCE if restored else deed.replayed


def _reads_another_state(site: Site, case: Case) -> bool:
    """A guarded write is not done again, so replay reads what the last of several writes left."""
    several = site.flow is Flow.LOOP or (case.form in OF_TWO_LAYERS and _is_shared(case))
    used = site.deed.replayed.outcomes != RIGHT
    return used and (several or Outcome.RIGHT in site.deed.replayed.outcomes)


def _is_shared(case: Case) -> bool:
    return case.owner is not Owner.SELF or case.form is Form.TWICE


def _preserves(form: Form) -> bool:
    return form in (Form.TORCH, Form.TORCH_REENTRANT, Form.SEQUENTIAL, Form.WRAPPER)


def contradiction(case: Case, verdicts: dict[bool, Verdict]) -> str:
    """How the runs of a case differ from what SEMANTICS says, empty where they do not."""
    for answer, verdict in verdicts.items():
        expected = expected_of(case, answer)
        allowed = expected.outcomes | RIGHT if masked(case) else expected.outcomes
        if verdict.outcome not in allowed:
            return f"{verdict.outcome.value}, not {' or '.join(sorted(one.value for one in allowed))}"
        if verdict.outcome is not Outcome.RIGHT or expected.outcomes != RIGHT:
            continue
        if bool(verdict.state) != expected.state or verdict.printed != expected.printed:
            return f"{verdict}, expected state {expected.state}, printed {expected.printed}"
    return ""
