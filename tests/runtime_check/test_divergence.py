"""Who is to blame, from what is known of each rank; no process is started."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remat_lint.runtime_check.divergence import END, START, Account, RankState, explained, parting
from remat_lint.runtime_check.errors import UsageError

EVENTS = ("layers.0 w1 save", "layers.0 w2 save", "layers.1 w1 save", "layers.1 w2 save")
FORWARD = "the end of its forward"


def rank(number: int, events: tuple[str, ...] = EVENTS, **known: object) -> RankState:
    known = {"at": FORWARD, "number": 1, "step": "plain", **known}
    return replace(RankState(number, events=events), **known)  # type: ignore[arg-type]


def other(index: int, event: str) -> tuple[str, ...]:
    return (*EVENTS[:index], event, *EVENTS[index + 1 :])


def test_ranks_with_the_same_events_do_not_part() -> None:
    assert parting([rank(0), rank(1), rank(2)]) is None


def test_two_ranks_have_no_majority_so_both_are_reported() -> None:
    found = parting([rank(0), rank(1, other(2, "layers.1 w1 recompute"))])
    assert found is not None
    assert (found.number, found.before) == (3, "layers.0 w2 save")
    assert found.variants == (("layers.1 w1 save", (0,)), ("layers.1 w1 recompute", (1,)))
    assert found.suspects == ()


@pytest.mark.parametrize("world", [3, 4])
def test_of_more_than_two_ranks_the_minority_is_the_suspect(world: int) -> None:
    states = [rank(number) for number in range(world)]
    states[1] = rank(1, other(0, "layers.0 w1 recompute"))
    found = parting(states)
    assert found is not None
    assert (found.number, found.suspects, found.before) == (1, (1,), "")


def test_halves_of_four_ranks_are_no_majority() -> None:
    changed = other(1, "layers.0 w2 recompute")
    found = parting([rank(0), rank(1, changed), rank(2, changed), rank(3)])
    assert found is not None
    assert found.variants[0][1] == (0, 3)
    assert found.suspects == ()


def test_a_rank_that_ended_its_forward_with_fewer_events_differs() -> None:
    found = parting([rank(0), rank(1), rank(2, EVENTS[:3])])
    assert found is not None
    assert (found.number, found.suspects) == (4, (2,))
    assert found.variants[1] == ("nothing more", (2,))


def test_a_rank_that_is_only_not_so_far_does_not_differ() -> None:
    assert parting([rank(0), rank(1, EVENTS[:2], at="")]) is None


def test_groups_are_compared_apart() -> None:
    stage = ("head logits save",)
    states = [rank(0), rank(1), rank(2, stage), rank(3, stage)]
    assert "Ranks differ" in explained(states, [range(4)]).text
    assert "Ranks differ" not in explained(states, [(0, 1), (2, 3)]).text
    states[3] = rank(3, ("head logits recompute",))
    told = explained(states, [(0, 1), (2, 3)])
    assert (
        "event 1 of the step:\n    rank 2: head logits save\n    rank 3: head logits recompute" in told.text
    )


def test_the_rank_in_its_own_code_is_stuck_and_not_those_in_a_collective() -> None:
    waiting = [rank(number, at="", in_collective=True, idle_s=6.0) for number in (0, 2)]
    told = explained([waiting[0], rank(1, EVENTS[:2], at="", idle_s=5.5), waiting[1]], [range(3)])
    assert told.suspects == (1,)
    assert told.text.startswith(
        "Rank 1 is stuck in track plain: it has not gone on for 5.5 s.\nWhat each rank"
    )
    assert "rank 1: runs in track plain; last event: layers.0 w2 save" in told.text


def test_where_all_are_in_collectives_the_one_with_the_fewest_events_is_stuck() -> None:
    ahead = [rank(number, at="", in_collective=True) for number in (0, 1)]
    told = explained([*ahead, rank(2, EVENTS[:1], at="", in_collective=True)], [range(3)])
    assert told.text.startswith("Rank 2 is stuck")
    assert "Rank 0 is stuck" not in told.text


def test_a_dead_rank_is_named_and_not_the_one_whose_collective_failed() -> None:
    victim = rank(0, EVENTS[:2], at="the end of its step", raised="RuntimeError: Connection closed by peer")
    told = explained([victim, rank(1, EVENTS[:3], at="", silent=True)], [range(2)])
    assert told.text.startswith("Rank 1 is dead or blocked")
    assert told.suspects == (1,)
    assert "rank 1: no sign of life in track plain; last event: layers.1 w1 save" in told.text


def test_a_rank_that_alone_raised_is_named_with_its_exception() -> None:
    failed = rank(1, at="the end of its step", raised="ValueError: no")
    told = explained([rank(0, at="the end of its step"), failed], [range(2)])
    assert told.text.startswith("Rank 1 raised in track plain: ValueError: no")


def test_a_rank_that_raised_before_the_others_were_through_has_other_events() -> None:
    failed = rank(1, EVENTS[:2], at="the end of its step", raised="ValueError: no")
    told = explained([rank(0, at="", in_collective=True), failed], [range(2)])
    assert "rank 0: layers.1 w1 save\n    rank 1: raised ValueError: no" in told.text


def test_ranks_at_other_points_of_the_check_are_told_so() -> None:
    states = [rank(0, at=f"{START} 2, none"), rank(1, at=f"{END}, because of: no module x")]
    told = explained(states, [range(2)])
    assert f"rank 1: {END}, because of: no module x" in told.text


def test_a_rank_that_left_is_named_with_its_reason() -> None:
    told = explained([rank(0), rank(1, left="KeyError: 'layers'")], [range(2)])
    assert told.text.startswith("Rank 1 left: KeyError: 'layers'")
    assert told.suspects == (1,)


@pytest.mark.parametrize(("world", "suspects"), [(2, ()), (3, (2,))])
def test_a_minority_is_to_blame_and_one_of_two_is_not(world: int, suspects: tuple[int, ...]) -> None:
    states = [
        *(rank(number) for number in range(world - 1)),
        rank(world - 1, other(1, "layers.0 w2 recompute")),
    ]
    told = explained(states, [range(world)])
    assert told == Account(told.text, suspects)
    assert ("<- suspect" in told.text) is bool(suspects)


@pytest.mark.parametrize("groups", [((0, 1),), ((0, 1), (1, 2)), ((0, 1, 2, 3),)])
def test_groups_name_each_rank_once(groups: tuple[tuple[int, ...], ...]) -> None:
    pytest.importorskip("torch_remat")
    from remat_lint.runtime_check.ranks import RankSettings

    with pytest.raises(UsageError, match="rank-groups must name each of the 3 ranks once, 0 to 2"):
        RankSettings(groups).groups_of(3)
    assert [list(group) for group in RankSettings().groups_of(3)] == [[0, 1, 2]]
