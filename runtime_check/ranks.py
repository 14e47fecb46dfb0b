"""Several ranks: that all do the same, and which one does not, told before anything hangs.

Each rank keeps the events of its step (checkpoints, regions with their decision, collectives) and a
rolling digest of them. After forward, before backward begins, and at the end of the step, the digests are
compared through the store that torchrun keeps. No collective is used for that: it would itself wait for
a rank that went another way. A thread publishes the events as they come, so that a rank which hangs,
raises or dies can be told from outside, with the last thing that it did.

Whoever finds a difference writes it into the store; every rank sees that, the lowest one that lives
prints it, and all leave with ``os._exit``: destructors of a process group may wait for others.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor

from remat_lint.runtime_check.board import Board
from remat_lint.runtime_check.collectives import Collectives, waits_for_others
from remat_lint.runtime_check.divergence import END, START, Account, Groups, RankState, explained
from remat_lint.runtime_check.errors import UsageError, in_one_line
from remat_lint.runtime_check.exchange import exchanged
from remat_lint.runtime_check.regions import Observation, SeenRegion
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.verdicts import (
    EXIT_BROKEN,
    EXIT_BUDGET,
    EXIT_HOLDS,
    EXIT_INCONCLUSIVE,
    EXIT_RANKS,
    EXIT_USAGE,
)
from remat_lint.runtime_check.witness import CheckpointRun, RegionCall, Witness

_TICK_S = 0.25
_SETTLE_S = 4 * _TICK_S
"""A thread that did not tick for so long gives no sign of life."""
_WORST_FIRST = (EXIT_RANKS, EXIT_USAGE, EXIT_BROKEN, EXIT_BUDGET, EXIT_INCONCLUSIVE, EXIT_HOLDS)
_ASKED_TO_STOP = "it was asked to stop"


@dataclass(frozen=True)
class RankSettings:
    """How ranks are compared.

    Attributes:
        groups: ranks that do the same, such as ``((0, 1), (2, 3))`` for two stages of a pipeline; by
            default all ranks are one group.
        timeout_s: how long a rank may show no progress inside a step: no operation, no event.
        start_timeout_s: how long ranks wait for each other outside of the step, where a factory may
            load weights.
    """

    groups: Groups = ()
    timeout_s: float = 5.0
    start_timeout_s: float = 60.0

    def groups_of(self, world: int) -> Groups:
        """The groups of a job with so many ranks.

        Raises:
            UsageError: where not every rank is in exactly one.
        """
        groups = self.groups or (tuple(range(world)),)
        if sorted(rank for group in groups for rank in group) != list(range(world)):
            raise UsageError(
                f"rank-groups must name each of the {world} ranks once, 0 to {world - 1},"
                f" not {[list(group) for group in groups]}"
            )
        return groups


def gravest(statuses: Mapping[int, int]) -> int:
    """The exit status that counts, of those of all ranks."""
    return min(statuses.values(), key=_WORST_FIRST.index)


class RanksDiffer(Exception):
    """What torchrun shows as the reason of a rank that left."""


class RankGuard:
    """Compares this rank's steps with those of the others, and ends the job where they differ.

    ``witness`` goes among the witnesses of every track; all ranks run the same tracks in one order. Opened
    as a context in the main thread, it also understands SIGTERM; ``joined`` is the frame around it.

    Raises:
        UsageError: where the groups do not fit the job, or its store does not answer.
    """

    def __init__(self, settings: RankSettings = RankSettings()) -> None:
        self.rank = int(os.environ["RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        self.use(settings)
        self.parted: Callable[[Account], None] = lambda _: None
        """Called on one rank, which is about to end, where ranks part; on another thread than the step."""
        self._meetings = {"all": 0, "group": 0}
        try:
            self._board = Board(self.rank, self.world, settings.start_timeout_s)
            self.report = _Report(self.rank, self._board)
            self._watch = _Watch(self, Board(self.rank, self.world, settings.start_timeout_s))
        except (dist.DistError, RuntimeError, ValueError) as error:
            raise UsageError(
                f"rank {self.rank}: the store of the job does not answer: {in_one_line(error)}"
            ) from error

    def __enter__(self) -> RankGuard:
        self.report.publish(self._board)
        self._watch.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._watch.stop()
        if error is not None:
            self.report.leave(in_one_line(error))
            self.report.publish(self._board)

    def use(self, settings: RankSettings) -> None:
        """Compare like this from now on, on all ranks.

        Raises:
            UsageError: where the groups do not fit the job.
        """
        self.groups = settings.groups_of(self.world)
        self.settings = settings
        self._group = next(group for group in self.groups if self.rank in group)

    def witness(self, observation: Observation) -> RankWitness:
        """Who watches one track."""
        return RankWitness(self, observation)

    def union(self, names: Iterable[str]) -> frozenset[str]:
        """The names that any rank has; what all ranks do next may depend on that, and on nothing less."""
        answers = self._meet("the comparison of results", json.dumps(sorted(names)))
        return frozenset(name for answer in answers.values() for name in json.loads(answer))

    def regions(self, seen: Iterable[SeenRegion]) -> list[SeenRegion]:
        """The regions of all ranks, in the same order on each: stages of a pipeline have their own."""
        mine = [
            json.dumps([at, one.name, one.own_recompute, one.place, sorted(one.inside)])
            for at, one in enumerate(seen)
        ]
        merged: dict[str, SeenRegion] = {}
        for _, name, recompute, (file, line), inside in sorted(map(json.loads, self.union(mine))):
            merged.setdefault(name, SeenRegion(name, Flag.DECIDED, recompute, (file, line), set(inside)))
        return list(merged.values())

    def conclude(self, status: int, text: str, show: Callable[[str], None]) -> dict[int, int]:
        """Gather what all ranks found; the worst decides.

        Rank 0 shows the text of each group's first rank with the worst status, and a section on ranks.

        Returns:
            The exit status of every rank, in their order.
        """
        first_line = text.strip().partition("\n")[0]
        point = END if status != EXIT_USAGE else f"{END}, because of: {first_line}"
        answers = self._meet(point, json.dumps([status, text]))
        statuses = {rank: int(json.loads(answer)[0]) for rank, answer in answers.items()}
        worst = gravest(statuses)
        if self.rank == 0:
            is_usage = worst == EXIT_USAGE
            for group in (range(self.world),) if is_usage else self.groups:
                speaker = min(group, key=lambda rank: (_WORST_FIRST.index(statuses[rank]), rank))
                show(json.loads(answers[speaker])[1])
            if not is_usage:
                show(self._section(statuses))
            self._board.announce("printed")
        self._watch.await_print()
        return statuses

    def begin(self, step: str) -> None:
        """A track begins, on all ranks at once."""
        number = self.report.begin(step)
        self._board.forget_events(number - 2)
        self._meet(f"{START} {number}, {step}", "")
        self.report.in_step = True

    def compare(self, point: str, raised: str = "") -> None:
        """Wait for the group, within the limit, and go on only where all events so far are the same."""
        mine = json.dumps([self.report.digest, bool(raised)])
        self._meet(point, mine, is_comparison=True)

    def end(self, raised: str) -> None:
        """A track ended, possibly with an exception, which the others must have, too."""
        self.report.raised(raised)
        self.compare("the end of its step", raised)
        self.report.in_step = False

    def settled(self, board: Board) -> list[RankState]:
        """What every rank does, once each has had the time to give a sign of life."""
        before = [board.state(rank)[1] for rank in range(self.world)]
        deadline = time.monotonic() + _SETTLE_S
        while True:
            self.report.publish(board)
            seen = [board.state(rank) for rank in range(self.world)]
            silent = [tick == old and not state.left for (state, tick), old in zip(seen, before, strict=True)]
            if not any(silent) or time.monotonic() > deadline:
                break
            time.sleep(_TICK_S)
        return [
            board.with_events(replace(state, silent=is_silent))
            for (state, _), is_silent in zip(seen, silent, strict=True)
        ]

    def _meet(self, point: str, text: str, *, is_comparison: bool = False) -> dict[int, str]:
        """Hand ``text`` to the others, and get theirs; ends the job where one does not come.

        A comparison is one of the group, within the limit of the step, and all texts must be equal.
        """
        kind, ranks = ("group", self._group) if is_comparison else ("all", range(self.world))
        patience = self.settings.timeout_s if is_comparison else self.settings.start_timeout_s
        number = self._meetings[kind] = self._meetings[kind] + 1
        self.report.arrive(point)
        self.report.publish(self._board)
        self._board.post(f"{kind} {number}", json.dumps([point, text]))
        answers = {rank: self._answer(f"{kind} {number}", rank, patience) for rank in ranks}
        given = {rank: json.loads(answer) for rank, answer in answers.items()}
        # Whoever is here has read everything of the meeting before.
        self._board.remove(f"{kind} {number - 1}")
        if len({point for point, _ in given.values()}) > 1 or (
            is_comparison and len({text for _, text in given.values()}) > 1
        ):
            self._accuse()
        self.report.go_on()
        self.report.publish(self._board)
        return {rank: text for rank, (_, text) in given.items()}

    def _answer(self, what: str, rank: int, patience_s: float) -> str:
        begun = heard = time.monotonic()
        ticks = -1
        while (answer := self._board.posted(what, rank, within_s=2 * _TICK_S)) is None:
            state, tick = self._board.state(rank)
            now = time.monotonic()
            if tick != ticks:
                ticks, heard = tick, now
            is_idle = state.idle_s + now - heard >= self.settings.timeout_s
            if state.left or (now - begun >= patience_s and is_idle):
                self._accuse()
        return answer

    def _accuse(self) -> NoReturn:
        self._watch.accuse(self._board)
        while True:  # the thread leaves, as soon as it reads the verdict
            time.sleep(_TICK_S)

    def _section(self, statuses: dict[int, int]) -> str:
        groups = ", ".join("[" + ", ".join(map(str, group)) + "]" for group in self.groups)
        lines = [
            f"Ranks: {self.world}; in {self.report.number} steps of up to {self.report.most_events} events,"
            f" all ranks of a group did the same. Groups: {groups}"
        ]
        if len({*statuses.values()}) > 1:
            lines.append("They did not all find the same; of each group, the worst report stands here.")
            lines += [f"    rank {rank}: exit status {status}" for rank, status in statuses.items()]
        return "\n".join(lines)


class _Report:
    """What this rank tells of itself: written by the step, published by the step and by the thread."""

    def __init__(self, rank: int, board: Board) -> None:
        self._board = board
        self._lock = threading.Lock()
        self._state = RankState(rank)
        self._digest = hashlib.blake2b(digest_size=16)
        self._events = self._tick = 0
        self._operations: Collectives | None = None
        self._then = 0
        self._signs = (0, 0)
        self._changed = time.monotonic()
        self.in_step = False
        self.most_events = 0

    @property
    def number(self) -> int:
        """How many tracks have begun."""
        return self._state.number

    @property
    def digest(self) -> str:
        """Stands for all events of the track so far."""
        return self._digest.hexdigest()

    @property
    def idle_s(self) -> float:
        """Seconds since the last operation or event, or since it began to wait for others."""
        return time.monotonic() - self._changed

    @property
    def waits(self) -> bool:
        """Is it at a point at which ranks meet?"""
        return bool(self._state.at)

    def add(self, event: str) -> None:
        """Something happened that must happen on every rank of the group."""
        self._board.add_event(self.number, event)
        self._digest.update(event.encode() + b"\n")
        self._events += 1
        self._then = self._operations.operations if self._operations is not None else 0
        self.most_events = max(self.most_events, self._events)

    def begin(self, step: str) -> int:
        """The next track: it has no events yet."""
        number = self.number + 1
        self._events = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._state = RankState(self._state.rank, number=number, step=step)
        self._changed = time.monotonic()
        return number

    def runs_under(self, operations: Collectives) -> None:
        """The mode that counts the operations of the track."""
        self._operations, self._then = operations, 0

    def arrive(self, point: str) -> None:
        """This rank waits for others."""
        self._state = replace(self._state, at=point)
        self._changed = time.monotonic()

    def go_on(self) -> None:
        """It waits no more."""
        self._state = replace(self._state, at="")
        self._changed = time.monotonic()

    def raised(self, error: str) -> None:
        """Its track ended with an exception."""
        self._state = replace(self._state, raised=error)

    def leave(self, why: str) -> None:
        """It ends."""
        self._state = replace(self._state, left=why)

    def publish(self, board: Board) -> None:
        """Tell the others."""
        with self._lock:
            operations = self._operations
            signs = (self._events, operations.operations if operations is not None else 0)
            if signs != self._signs:
                self._signs, self._changed = signs, time.monotonic()
            self._tick += 1
            state = replace(
                self._state,
                seen=self._events,
                since=self._since(),
                idle_s=round(self.idle_s, 2),
                in_collective=self.in_step and operations is not None and waits_for_others(operations.last),
            )
            board.publish(state, self._tick)

    def _since(self) -> str:
        if self._operations is None or self._operations.operations == self._then:
            return ""
        count = self._operations.operations - self._then
        return f"{count} operation{'s' if count > 1 else ''}, the last one {self._operations.last}"


class _Watch:
    """The thread that publishes, sees that a step stands still or that a verdict is there, and leaves."""

    def __init__(self, guard: RankGuard, board: Board) -> None:
        self._guard = guard
        self._board = board
        self._thread = threading.Thread(target=self._run, name="remat-check ranks", daemon=True)
        self._ends = False
        self._inbox, self._wake = socket.socketpair()
        self._undo = contextlib.ExitStack()

    def start(self) -> None:
        """Begin to watch; from the main thread also for SIGTERM."""
        self._wake.setblocking(False)
        if threading.current_thread() is threading.main_thread():
            # Written by the handler in C at once, even while the main thread waits inside a collective.
            before = signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
            self._undo.callback(signal.set_wakeup_fd, before)
            handler = signal.signal(signal.SIGTERM, lambda *_: None)
            self._undo.callback(signal.signal, signal.SIGTERM, handler)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; give the signals back."""
        self._ends = True
        self._thread.join(timeout=self._guard.settings.timeout_s)
        faulthandler.cancel_dump_traceback_later()
        self._undo.close()
        self._inbox.close()
        self._wake.close()

    def accuse(self, board: Board) -> None:
        """Find out who is to blame, and tell everybody."""
        board.decide(explained(self._guard.settled(board), self._guard.groups))

    def await_print(self) -> None:
        """Let the rank that prints come to an end, for a while: torchrun stops all when one leaves."""
        for _ in range(12):
            if self._board.is_announced("printed"):
                return
            time.sleep(_TICK_S)

    def _run(self) -> None:
        try:
            while not self._ends:
                self._look(is_asked_to_stop=self._sleep())
        except (dist.DistError, RuntimeError) as error:
            if not self._ends:
                _say(f"rank {self._guard.rank}: the store of the job does not answer: {in_one_line(error)}")
                os._exit(EXIT_RANKS)

    def _sleep(self) -> bool:
        """One tick; is it cut short because this process is to stop?"""
        ready, _, _ = select.select([self._inbox], [], [], _TICK_S)
        return bool(ready) and signal.SIGTERM in self._inbox.recv(64)

    def _look(self, *, is_asked_to_stop: bool) -> None:
        report, limit_s = self._guard.report, self._guard.settings.timeout_s
        # Where this very thread cannot run, because something holds the interpreter, the process ends, too.
        faulthandler.dump_traceback_later(4 * limit_s, exit=True, file=2)
        report.publish(self._board)
        if (verdict := self._board.verdict()) is not None:
            self._leave(verdict)
        if is_asked_to_stop:
            self._stop_with_others()
        elif report.in_step and not report.waits and report.idle_s > limit_s and not self._others_go_on():
            self.accuse(self._board)

    def _others_go_on(self) -> bool:
        others = [self._board.state(rank)[0] for rank in range(self._guard.world) if rank != self._guard.rank]
        return any(state.runs and state.idle_s < self._guard.settings.timeout_s for state in others)

    def _stop_with_others(self) -> None:
        """Somebody ended, so torchrun ends all: say who, unless everybody is only asked to stop."""
        states = self._guard.settled(self._board)
        if any(state.silent or state.left not in ("", _ASKED_TO_STOP) for state in states):
            self._board.decide(explained(states, self._guard.groups))
        if (verdict := self._board.verdict()) is not None:
            self._leave(verdict)
        self._guard.report.leave(_ASKED_TO_STOP)
        self._guard.report.publish(self._board)
        os._exit(128 + signal.SIGTERM)

    def _leave(self, verdict: Account) -> NoReturn:
        for _ in range(min(self._guard.rank, 4)):  # lower ranks go first
            if not self._board.is_announced("printed"):
                time.sleep(_TICK_S)
        if self._board.is_first_to("print"):
            _say(verdict.text)
            try:
                self._guard.parted(verdict)
            finally:
                self._board.announce("printed")
        else:
            self.await_print()
        _record(verdict.text)
        os._exit(EXIT_RANKS)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _record(verdict: str) -> None:
    """Leave the verdict where torchrun looks for the reason of a failure: its own exit status is always 1."""
    from torch.distributed.elastic.multiprocessing.errors import get_error_handler

    if "TORCHELASTIC_ERROR_FILE" not in os.environ:
        return
    try:
        raise RanksDiffer(verdict)
    except RanksDiffer as error:
        get_error_handler().record_exception(error)


class RankWitness(Witness):
    """Tells the guard what happens in one track."""

    def __init__(self, guard: RankGuard, observation: Observation) -> None:
        self._guard = guard
        self._observation = observation

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        collectives = Collectives(self._collective)
        self._guard.report.runs_under(collectives)
        self._guard.begin(self._observation.plan.name)
        try:
            with collectives:
                yield
        except Exception as error:
            self._guard.end(in_one_line(error))
            raise
        self._guard.end("")

    def checkpoint_entered(self, run: CheckpointRun) -> None:
        self._guard.report.add(f"{run.phase.value} of checkpoint {run.checkpoint}")

    def region_called(self, call: RegionCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        decision = "recompute" if call.recompute else "save"
        self._guard.report.add(
            f"{call.phase.value} of checkpoint {call.checkpoint}, region {call.region}: {decision}"
        )

    def forward_ended(self, loss: Tensor) -> None:
        self._guard.compare("the end of its forward")
        self._guard.report.add("backward")

    def _collective(self, described: str) -> None:
        run = self._observation.running
        if run is None:
            self._guard.report.add(f"outside of checkpoints: {described}")
            return
        regions = self._observation.running_regions
        inside = f", region {regions[-1]}" if regions else ""
        self._guard.report.add(f"{run.phase.value} of checkpoint {run.checkpoint}{inside}: {described}")


@contextlib.contextmanager
def joined(settings: RankSettings = RankSettings(), device: str = "auto") -> Iterator[RankGuard | None]:
    """This process as one rank of a job: its device, its process group, its guard. None where it is alone.

    A process group that is there is used; otherwise it is made from torchrun's environment, with gloo
    for the CPU and NCCL for CUDA, and a factory that wants to make it then finds it made.

    Raises:
        UsageError: where the environment, the device or the groups do not fit.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield None
        return
    missing = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise UsageError(f"WORLD_SIZE is set, but {', '.join(missing)} is not: start the ranks with torchrun")
    uses_cuda = device != "cpu" and torch.cuda.is_available()
    if uses_cuda:
        _take_gpu()
    # The first checkpoint imports it, which takes seconds: not in a step that has a limit.
    importlib.import_module("torch._dynamo")
    with RankGuard(settings) as guard, _process_group(uses_cuda, settings):
        yield guard


def _take_gpu() -> None:
    local, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if local >= count:
        raise UsageError(
            f"rank {local} of this machine has no GPU of its own, there are {count}: use --device cpu"
        )
    torch.cuda.set_device(local)


@contextlib.contextmanager
def _process_group(uses_cuda: bool, settings: RankSettings) -> Iterator[None]:
    if dist.is_initialized():
        yield
        return
    # Longer than every wait of the guard, so that the guard speaks first.
    limit = timedelta(seconds=settings.start_timeout_s + 3 * settings.timeout_s)
    try:
        dist.init_process_group("cpu:gloo,cuda:nccl" if uses_cuda else "gloo", timeout=limit)
    except (dist.DistError, RuntimeError, ValueError) as error:
        raise UsageError(f"the process group cannot be made: {in_one_line(error)}") from error
    with exchanged(dist.init_process_group, _made_once):
        yield
    dist.destroy_process_group()


def _made_once(original: Callable[..., None]) -> Callable[..., None]:
    def init_process_group(*args: Any, **kwargs: Any) -> None:
        if not dist.is_initialized():
            original(*args, **kwargs)

    return init_process_group
