"""What SEMANTICS says of a case: the tables of its sections 3 to 6, as a function."""

from __future__ import annotations

from dataclasses import replace

from tests.replay.axes import OF_TORCH, OF_TWO_LAYERS, Case, Consumer, Form, Guard, Hook, Owner, Region, Site
from tests.replay.deeds import ANY, DIVERGES, ONCE, RAISES, RIGHT, Expected, Outcome, Stream
from tests.replay.hooks import covers


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
    return case.consumer is Consumer.SAVED or any(site.region is Region.SAVE for site in case.sites[1:])


def replays(site: Site, case: Case, answer: bool) -> bool:
    """The site's code runs again: torch's own checkpoint knows no regions."""
    again = site.region in (Region.BARE, Region.RECOMPUTE) or (site.region is Region.POLICY and answer)
    return again or case.form in OF_TORCH


def _of_site(site: Site, case: Case, answer: bool) -> Expected:
    deed = site.deed
    if case.form in OF_TWO_LAYERS and deed.shared is not None and _is_shared(case):
        return deed.shared
    guarded = site.guard is not Guard.NONE and case.form not in OF_TORCH
    if not replays(site, case, answer) or guarded:
        return deed.kept
    if deed.draws is Stream.NOTHING:
        return deed.replayed
    restored = covers(case.hook, deed.draws) or (deed.draws is Stream.TORCH and _preserves(case.form))
    return ONCE if restored else replace(deed.replayed, state=False)


def _is_shared(case: Case) -> bool:
    return case.owner is not Owner.SELF or case.form is Form.TWICE


def _preserves(form: Form) -> bool:
    return form in (Form.TORCH, Form.TORCH_REENTRANT, Form.SEQUENTIAL, Form.WRAPPER)
