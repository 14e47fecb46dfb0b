"""What ranks tell each other, kept in the store of the job: states, events, what they compare, a verdict."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from remat_lint.runtime_check.divergence import Account, RankState


class Board:
    """One connection to the store. Each thread has its own: a call may wait for what another one holds up.

    Nothing here waits without a limit, and no call needs another rank to take part in it.
    """

    def __init__(self, rank: int, world: int, timeout_s: float) -> None:
        self._rank = rank
        # Where torchrun serves the store, it outlives every rank.
        found, _, _ = next(rendezvous("env://", rank, world, timeout=timedelta(seconds=timeout_s)))
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        self._store: Any = dist.PrefixStore(  # type: ignore[attr-defined]
            f"remat-check/{attempt}", found
        )

    def publish(self, state: RankState, beat: int) -> None:
        """Tell this rank's state, without its events, and its number of ticks so far."""
        known = asdict(replace(state, events=()))
        self._store.set(_state(self._rank), json.dumps({"state": known, "beat": beat}))

    def add_event(self, number: int, event: str) -> None:
        """Tell what happened in a track; the store takes it without an answer, in some ten microseconds."""
        self._store.append(_events(self._rank, number), f"{event}\n")

    def forget_events(self, number: int) -> None:
        """Remove the events that this rank published of a track."""
        self._store.delete_key(_events(self._rank, number))

    def state(self, rank: int) -> tuple[RankState, int]:
        """A rank's state, without events, and its ticks; -1 as long as it published nothing."""
        text = self._text(_state(rank))
        if text is None:
            return RankState(rank), -1
        known: dict[str, Any] = json.loads(text)
        return RankState(**{**known["state"], "events": ()}), int(known["beat"])

    def with_events(self, state: RankState) -> RankState:
        """The state with the events of its track."""
        text = self._text(_events(state.rank, state.number)) or ""
        return replace(state, events=tuple(text.splitlines()))

    def post(self, what: str, text: str) -> None:
        """Lay something down for the others."""
        self._store.set(f"{what}/{self._rank}", text)

    def remove(self, what: str) -> None:
        """Take it away again."""
        self._store.delete_key(f"{what}/{self._rank}")

    def posted(self, what: str, rank: int, within_s: float) -> str | None:
        """What a rank laid down, as soon as it is there; None where it does not come in time."""
        # Asking again and again: the store's own wait writes two warnings whenever its time is over.
        until, pause_s = time.monotonic() + within_s, 0.001
        while (text := self._text(f"{what}/{rank}")) is None and time.monotonic() < until:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.02)
        return text

    def announce(self, what: str) -> None:
        """Say that something is done, whoever did it."""
        self._store.set(what, "")

    def is_announced(self, what: str) -> bool:
        """Did anybody say so?"""
        return bool(self._store.check([what]))

    def is_first_to(self, what: str) -> bool:
        """Is this rank the first one that asks?"""
        return int(self._store.add(f"first to {what}", 1)) == 1

    def decide(self, verdict: Account) -> None:
        """Say what was found out, unless somebody did before."""
        self._store.compare_set("verdict", "", json.dumps(asdict(verdict)))

    def verdict(self) -> Account | None:
        """What somebody found out."""
        text = self._text("verdict")
        if text is None:
            return None
        known: dict[str, Any] = json.loads(text)
        return Account(known["text"], tuple(known["suspects"]))

    def _text(self, key: str) -> str | None:
        return self._store.get(key).decode() if self._store.check([key]) else None


def _state(rank: int) -> str:
    return f"state/{rank}"


def _events(rank: int, number: int) -> str:
    return f"events/{rank}/{number}"
