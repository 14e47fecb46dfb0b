"""A message never says "may" of what is known, and never states what is not."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import (
    Divergence,
    DivergentReplay,
    ModuleFacts,
    Outcome,
    ReplayFact,
    StateWrite,
    UnstableInput,
    Unsteady,
    Written,
)
from remat_lint.findings import Finding
from remat_lint.project import Project
from remat_lint.rule import Rule
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

RULES = [rule for rule in all_rules() if re.match("RMT[45]", rule.code)]
DOUBT = re.compile(r"\b(may|perhaps|if|unless|as long as)\b", re.IGNORECASE)
HARM = re.compile(r"the gradients are (silently )?wrong|backward raises|twice per step|other numbers")


@cache
def facts() -> tuple[ReplayFact, ...]:
    """What the examples of all rules give, and every outcome of a write and kind of divergence."""
    found: list[ReplayFact] = []
    for number, example in enumerate(one for rule in RULES for one in rule.fails):
        source = SourceFile(f"model{number}.py", textwrap.dedent(example.source).encode())
        found += [fact for fact in analyse(source, Project()).facts if isinstance(fact, ReplayFact)]
    write = next(fact for fact in found if isinstance(fact, StateWrite))
    found += [replace(write, outcome=one, written=how) for one in Outcome for how in Written]
    divergent = next(fact for fact in found if isinstance(fact, DivergentReplay))
    found += [replace(divergent, divergence=one) for one in Divergence]
    return tuple(found)


def messages(*, certain: bool) -> Iterator[tuple[ReplayFact, str]]:
    for fact in facts():
        known = replace(fact, replayed=replace(fact.replayed, certain=certain, assumed=None))
        for rule in RULES:
            yield from ((fact, finding.message) for finding in _check(rule, known))


def _check(rule: Rule, fact: ReplayFact) -> list[Finding]:
    return list(rule.check(ModuleFacts(fact.place.path, (fact,))))


def test_every_rule_says_something() -> None:
    told = {rule.code for rule in RULES for fact in facts() if _check(rule, fact)}
    assert told == {rule.code for rule in RULES}


def test_what_is_known_is_stated() -> None:
    for fact, message in messages(certain=True):
        if isinstance(fact, UnstableInput) and fact.unsteady is not Unsteady.TIME:
            continue  # nobody knows whether a file or the environment changes
        assert not re.search(r"\b(may|perhaps)\b", message), message


def test_what_is_not_known_is_not_stated() -> None:
    for _, message in messages(certain=False):
        assert DOUBT.search(message), message
        harm = HARM.search(message)
        if harm is not None:
            assert DOUBT.search(message[: harm.end() + len(" if it does")]), message


@pytest.mark.parametrize("certain", [True, False])
def test_a_replay_is_told_of_in_one_place(certain: bool) -> None:
    for _, message in messages(certain=certain):
        assert message.count("replays this") <= 1, message
