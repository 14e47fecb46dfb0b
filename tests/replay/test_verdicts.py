"""The programs do what the tables of SEMANTICS say: a test of the generator, before anything is linted."""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("torch")
    pytest.importorskip("torch_remat")
    pytest.importorskip("numpy")

from remat_lint.runtime_check.placeholders import torch_has_placeholders
from tests.replay.axes import Case, Container, Guard, Hook, Owner, Region, Site, possible
from tests.replay.cases import covering_cases
from tests.replay.deeds import Deed, Outcome
from tests.replay.expectations import contradiction
from tests.replay.families import ALL
from tests.replay.oracle import verdicts_of
from tests.replay.writer import program_of

pytestmark = [
    pytest.mark.filterwarnings("default"),  # torch warns of what the programs do
    pytest.mark.skipif(not torch_has_placeholders(), reason="torch has no placeholders of its own"),
]


def rows(deed: Deed) -> list[Case]:
    """The columns of the tables for one row."""
    if deed.whole:
        return [Case((Site(deed),))]
    places = [
        Site(deed),
        Site(deed, Region.RECOMPUTE, Container.LOCAL),
        Site(deed, Region.SAVE, Container.LOCAL),
    ]
    cases = [Case((site,)) for site in [*places, Site(deed, guard=Guard.IF)]]
    cases += [Case((Site(deed),), Owner.MODULE, hook=hook) for hook in (Hook.RIGHT, Hook.WRONG)]
    return [case for case in cases if possible(case)]


@pytest.mark.parametrize("deed", ALL, ids=str)
def test_a_row_of_the_tables(deed: Deed) -> None:
    for case in rows(deed):
        verdicts = verdicts_of(program_of(case))
        assert verdicts, f"fails without a checkpoint: {case}"
        assert contradiction(case, verdicts) == "", str(case)


def test_no_two_deeds_have_one_name() -> None:
    assert len({deed.name for deed in ALL}) == len(ALL)


def test_the_covering_set_holds_every_deed_and_every_outcome() -> None:
    cases = covering_cases()
    assert {site.deed.name for case in cases for site in case.sites} == {deed.name for deed in ALL}
    outcomes = {verdict.outcome for case in cases[:150] for verdict in verdicts_of(program_of(case)).values()}
    assert outcomes == set(Outcome)
