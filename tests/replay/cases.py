"""Cases by chance, and a small set of them in which every pair of choices occurs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import TypeVar

from tests.replay.axes import (
    Case,
    Consumer,
    Container,
    Flow,
    Form,
    Guard,
    Hook,
    Owner,
    Region,
    Site,
    Style,
    possible,
)
from tests.replay.families import ALL, FAMILIES

Choice = TypeVar("Choice")
CANDIDATES = 12
PATIENCE = 100
"""How many rounds may bring nothing before what is left is taken to be impossible."""


def seeded_case(seed: int) -> Case:
    """The case of a seed: one deed, or two or three after each other."""
    return _Drawing(random.Random(seed)).case()


def covering_cases() -> list[Case]:
    """Cases in which every possible pair of choices, deeds taken by family, and every deed, occurs."""
    chance = _Drawing(random.Random(0))
    covered: set[tuple[str, str]] = set()
    rotation = {name: itertools.cycle(deeds) for name, deeds in FAMILIES.items()}
    cases: list[Case] = []
    idle = 0
    while idle < PATIENCE:
        candidates = [chance.single(random_family) for random_family in chance.families(CANDIDATES)]
        best = max(candidates, key=lambda candidate: len(_pairs(candidate) - covered))
        new = _pairs(best) - covered
        idle = 0 if new else idle + 1
        if new:
            covered |= new
            cases.append(best)
    seen = {site.deed.name for case in cases for site in case.sites}
    del rotation
    return [*cases, *(Case((Site(deed),)) for deed in ALL if deed.name not in seen)]


def _pairs(case: Case) -> set[tuple[str, str]]:
    (site,) = case.sites
    family = next(name for name, deeds in FAMILIES.items() if site.deed in deeds)
    choices = [family, site.region, site.container, site.flow, site.guard]
    choices += [case.owner, case.form, case.hook, case.style, case.consumer, case.evaluated]
    named = [f"{type(choice).__name__}.{choice}" for choice in choices]
    return set(itertools.combinations(named, 2))


class _Drawing:
    """Draws cases until one is possible."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def families(self, count: int) -> Iterator[str]:
        """Some families."""
        return (self._source.choice(list(FAMILIES)) for _ in range(count))

    def single(self, family: str) -> Case:
        """A case with one deed of a family."""
        while True:
            case = self._around((self._site(family),))
            if possible(case):
                return case

    def case(self) -> Case:
        """A case with any deeds; one that is about the body itself comes first."""
        count = self._source.choice((1, 1, 1, 2, 3))
        while True:
            sites = tuple(self._site(family) for family in self.families(count))
            case = self._around(sites)
            if possible(case) and not any(site.deed.whole for site in sites[1:]):
                return case

    def _around(self, sites: tuple[Site, ...]) -> Case:
        one = self._one
        hook = one([Hook.NONE, *Hook])
        style = Style.PLAIN if hook is Hook.NONE else one(list(Style))
        evaluated = one([False, False, False, all(site.deed.in_training for site in sites)])
        around = (one(list(Owner)), one(list(Form)), hook, style, one(list(Consumer)))
        return Case(sites, *around, evaluated)

    def _site(self, family: str) -> Site:
        one = self._one
        deed = one(FAMILIES[family])
        if deed.whole:
            return Site(deed)
        container = one([Container.INLINE, *Container])
        guard = one(list(Guard)) if deed.write else Guard.NONE
        region = Region.BARE if container is Container.INLINE else one(list(Region))
        return Site(deed, region, container, one(list(Flow)), guard)

    def _one(self, choices: list[Choice]) -> Choice:
        return self._source.choice(choices)
