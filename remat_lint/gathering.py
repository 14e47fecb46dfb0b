"""What the checkpoints of one file replay in another: told where it lies, once, by whoever knows best.

Comes in: the facts of each file of a run, as the analysis of that file alone gives them. Goes out: for each
file the facts that lie in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os.path import abspath

from remat_lint.analysis.facts import (
    Assumption,
    DivergentReplay,
    Fact,
    Kept,
    ModuleFacts,
    Outcome,
    RandomDraw,
    Reached,
    ReplayFact,
    StateWrite,
    UnstableInput,
)
from remat_lint.findings import Place, Step

Key = tuple[str, int]
"""A place, told by the whole path of its file."""


def gather(modules: Sequence[ModuleFacts], paths: Iterable[str]) -> dict[str, ModuleFacts]:
    """The facts of each of these files that has any, or was analysed.

    What lies in none of the files is told where the way to it leaves them.
    """
    names = {abspath(path): path for path in paths}
    facts: dict[str, dict[Fact, None]] = {module.path: {} for module in modules}
    replayed: dict[object, ReplayFact] = {}
    doubted = _doubted(modules)
    for module in modules:
        for fact in module.facts:
            if not isinstance(fact, ReplayFact):
                facts[module.path].setdefault(fact)
                continue
            at_home = _at_home(fact, names)
            assumed = fact.replayed.assumed
            if at_home is not None and (assumed is None or _key(assumed) not in doubted):
                key = (type(at_home), at_home.place)
                replayed[key] = min(replayed.get(key, at_home), at_home, key=_doubt)
    for fact in replayed.values():
        facts.setdefault(fact.place.path, {}).setdefault(fact)
    return {path: ModuleFacts(path, tuple(sorted(mine, key=_place))) for path, mine in facts.items()}


def tells_of(module: ModuleFacts, path: str) -> bool:
    """Whether the checkpoints of a file replay code of another one, as far as it goes."""
    file = abspath(path)
    return any(abspath(place.path) == file for fact in module.facts for place in _places_of(fact))


def _places_of(fact: Fact) -> Iterator[Place]:
    """The places of a fact that may be in another file than the checkpoint."""
    if isinstance(fact, ReplayFact):
        yield from (fact.place, *(step.place for step in fact.replayed.chain))
    elif isinstance(fact, Assumption):
        yield from fact.runs
    elif isinstance(fact, Reached):
        yield fact.place


def _at_home(fact: ReplayFact, paths: Mapping[str, str]) -> ReplayFact | None:
    """The fact with a place in a file of the run: its own, or the last one on the way from a checkpoint."""
    if abspath(fact.place.path) in paths:
        return replace(fact, place=_renamed(fact.place, paths))
    if fact.replayed.assumed is not None:  # no checkpoint in view leads there
        return None
    chain = fact.replayed.chain
    for index in reversed(range(len(chain))):
        if abspath(chain[index].place.path) in paths:
            behind = (*chain[index + 1 :], Step(fact.place, _done_there(fact)))
            replayed = replace(fact.replayed, chain=(*chain[:index], *behind))
            return replace(fact, place=_renamed(chain[index].place, paths), replayed=replayed)
    return None


def _done_there(fact: ReplayFact) -> str:
    """The last step to a fact: what the code does there."""
    match fact:
        case StateWrite(target=target):
            return f"`{target}` is written {{here}}"
        case UnstableInput(what=what):
            return f"`{what}` decides {{here}}"
        case DivergentReplay(what=what):
            return f"`{what}` is not the same in both phases {{here}}"
        case _:
            return f"`{fact.operation}` is called {{here}}"


def _renamed(place: Place, paths: Mapping[str, str]) -> Place:
    return Place(paths[abspath(place.path)], place.node)


def _doubted(modules: Sequence[ModuleFacts]) -> set[Key]:
    """The functions that are not to be taken for bodies of checkpoints after all.

    A checkpoint in view runs them, or one that they call, or another such function runs them.
    """
    found = [fact for module in modules for fact in module.of(Reached)]
    reached = {_key(fact.place) for fact in found}
    bodies = {_key(fact.place) for fact in found if fact.is_body}
    runs: dict[Key, set[Key]] = {}
    for module in modules:
        for fact in module.of(Assumption):
            runs.setdefault(_key(fact.place), set()).update(map(_key, fact.runs))
    doubted = {key for key, mine in runs.items() if key in reached or not mine.isdisjoint(bodies)}
    for key, mine in runs.items():
        doubted.update(one for one in mine if one in runs and key not in runs[one])
    return doubted


def _key(place: Place) -> Key:
    return abspath(place.path), place.node


def _doubt(fact: ReplayFact) -> tuple[bool, bool, bool, bool, int]:
    """How much less a fact is worth than one that is certain, does harm, and is known by a short way."""
    replayed = fact.replayed
    is_kept = replayed.inside is not None and replayed.inside.kept is Kept.SAVE
    is_assumed = replayed.assumed is not None
    return is_assumed, not replayed.certain, is_kept, _spares_gradients(fact), len(replayed.chain)


def _spares_gradients(fact: ReplayFact) -> bool:
    match fact:
        case RandomDraw(kept=kept):
            return not kept
        case StateWrite(outcome=outcome):
            return outcome in (Outcome.ADVANCED, Outcome.REPLACED)
        case _:
            return False


def _place(fact: Fact) -> Place:
    return fact.place
