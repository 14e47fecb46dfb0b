"""Deeds: what code does beside computing its result, so that it matters whether a replay does it again.

A deed is noted where it happens and carried up through the calls that led to it, in terms of whoever
called. Whether it is a mistake is decided where something is seen to replay it: that knows the hooks.
Nothing here knows a path or a value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import UnionType

from remat_lint.analysis.facts import (
    Decides,
    Divergence,
    Inside,
    Kept,
    Outcome,
    Random,
    RandomKind,
    Touched,
    Unsteady,
    Written,
)
from remat_lint.analysis.values import Lent
from remat_lint.analysis.watch import Held, concerned
from remat_lint.findings import GuardStatement, Place, Step

MAX_DEEDS = 256
"""More deeds than this of one call are forgotten."""

NEARLY_ALL = 0.99
"""What more runs than this do, all do that matter."""

FOREIGN = -1
"""The number of what surely was there before a call: a global of another package, a class."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A random number is drawn by ``operation``, as written, from the state ``random``.

    Where that is ``seeded`` by then, code that runs again draws the same. What is ``unkept`` is needed by no
    backward, as far as the functions under way show; what is ``told`` decides nothing that is computed; what
    is ``cached`` is drawn the first time only. ``one_phase`` says that a guard keeps the forward, or the
    replay, from drawing. It ``decides`` where a condition of the function that draws depends on it.
    """

    operation: str
    random: Random
    seeded: bool = False
    unkept: bool = False
    told: bool = False
    cached: bool = False
    one_phase: bool = False
    decides: bool = False
    lent: frozenset[Lent] = frozenset()
    """Where the state was set to one that the project keeps."""


@dataclass(frozen=True, slots=True)
class Write:
    """Something outside the call is changed: ``target``, as written.

    ``number`` is that of the object, storage or frame that is changed, and ``path`` leads from it to what is
    written (``.calls``); the number is 0 where nobody knows. ``element`` leads on to the only element that is
    (``['n']``). ``edit`` makes the statement run once. What is ``undone`` is as it was where the code that
    wrote it has run to its end. Autograd notices what is ``counted``, by the version of the tensor.
    """

    target: str
    written: Written
    number: int
    path: str = ""
    outcome: Outcome = Outcome.ADVANCED
    edit: GuardStatement | None = None
    element: str = ""
    undone: bool = False
    counted: bool = True
    read: bool = False
    """Whether the call that writes also looks at the state, for more than to tell it."""
    is_new: bool = True
    """Whether another value may be written each time, even where the state was set whole before."""

    @property
    def held(self) -> Held:
        """The state that is written, the element by itself."""
        return self.number, self.path + self.element


@dataclass(frozen=True, slots=True)
class Store:
    """A random state as it is now is kept outside the call; ``number`` and ``path`` as in ``Write``."""

    number: int
    path: str


@dataclass(frozen=True, slots=True)
class Touch:
    """Something outside the program is touched by ``operation``, as written.

    ``number`` is that of the file, queue or other object through which it is done, 0 where there is none.
    ``edit`` makes the statement run once.
    """

    operation: str
    touched: Touched
    number: int = 0
    edit: GuardStatement | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """``operation``, as written, communicates with other ranks."""

    operation: str


@dataclass(frozen=True, slots=True)
class Sway:
    """Something that may differ between forward and replay, ``what``, decides what is computed.

    ``read`` is where it was read, ``number`` tells when: a replay of what began later does not read it
    again. It is 0 where the running call read it.
    """

    what: str
    unsteady: Unsteady
    decides: Decides
    read: Place
    number: int


@dataclass(frozen=True, slots=True)
class Diverge:
    """A guard on the phase changes what is computed: by ``what``, of the kind ``divergence``.

    It is the ``last`` where nothing keeps tensors after it: what only the replay does then harms nobody.
    ``number`` is that of what the forward alone changed: a replay of what began later finds it so. It is 0
    where the running call made that.
    """

    what: str
    divergence: Divergence
    last: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """State that was there before the call is computed with; ``number`` and ``path`` as in ``Write``.

    ``replayed`` says that a checkpoint which is no longer under way does it. The expression at ``shown``
    stands for the state: the first use of it speaks for the others.
    """

    number: int
    path: str
    replayed: bool = False
    shown: Place | None = field(default=None, compare=False)
    decides: Decides = field(default=Decides.VALUE, compare=False)


_IN_PLACE = frozenset([Written.BUFFER, Written.INPUT, Written.ELEMENT])

Act = Draw | Store | Write | Touch | Send | Sway | Diverge | Use


@dataclass(frozen=True, slots=True)
class Deed:
    """An act, where it is done, and what is known of the way to it from the running function.

    ``steps`` are the calls, the outermost first. ``inside`` is the region that decides whether a replay does
    it, None where no region runs. ``certain`` is false where the analyser does not know that it is done.
    ``guarded`` is what only the forward of torch_remat does: other checkpoints know nothing of its phase.
    """

    act: Act
    place: Place
    steps: tuple[Step, ...] = ()
    inside: Inside | None = None
    certain: bool = True
    guarded: bool = False
    share: float = 1.0
    """The part of the runs of the call that do it, as far as conditions decide: all of them, or fewer."""

    @property
    def is_sure(self) -> bool:
        """Whether every run does it, but for some where things go wrong, and the analyser knows that.

        What conditions state is changed under, and what they do to a replay, is weighed where it is changed.
        """
        return self.certain and (self.share > NEARLY_ALL or not isinstance(self.act, Draw | Touch | Send))

    @property
    def is_done_once(self) -> bool:
        """Whether no replay of torch_remat does it again."""
        return self.guarded or (self.inside is not None and self.inside.kept is Kept.SAVE)


class Deeds:
    """The deeds of one call, each act at each place once, in the order in which they were done.

    What is computed with is no deed that anybody counts: it comes after all others.
    """

    __slots__ = ("_backwards", "_found", "_shares", "_uses", "keeps")

    def __init__(self, deeds: Iterator[Deed] | tuple[Deed, ...] = (), *, keeps: bool = False) -> None:
        self._found: dict[object, Deed] = {}
        self._uses: dict[object, Deed] = {}
        self._shares: dict[object, float] = {}
        """The share of the runs that do each deed, as far as it was noted on the way under way."""
        self._backwards = 0
        self.keeps = keeps
        """Whether an operation keeps tensors for backward, which a replay has to compute again."""
        for deed in deeds:
            self.note(deed)

    def __iter__(self) -> Iterator[Deed]:
        yield from self._found.values()
        yield from self._uses.values()

    def __bool__(self) -> bool:
        return bool(self._found or self._uses)

    def __len__(self) -> int:
        return len(self._found)

    def is_full(self) -> bool:
        """Whether more deeds are forgotten."""
        return len(self._found) >= MAX_DEEDS

    def note(self, deed: Deed) -> None:
        if isinstance(deed.act, Use):
            if not deed.is_done_once:
                self._uses.setdefault((deed.act, deed.inside), deed)
        elif len(self._found) < MAX_DEEDS:
            self._share((deed.act, deed.place, deed.inside), deed)
            for outdated in self.outdated_by(deed, replayed=False):
                self.note(outdated)

    def _share(self, key: object, deed: Deed) -> None:
        """A deed is done in its share of the runs, at least."""
        found = self._found.setdefault(key, deed)
        if deed.share > found.share:
            self._found[key] = replace(found, share=deed.share)
        self._shares[key] = max(deed.share, self._shares.get(key, 0.0))

    def outdated_by(self, deed: Deed, *, replayed: bool) -> Iterator[Deed]:
        """The write that a deed is, as what was computed with by now sees it: replay finds what it leaves."""
        write = deed.act
        if not isinstance(write, Write) or not deed.is_done_once or write.number in (0, FOREIGN):
            return
        outdated = replace(write, outcome=Outcome.OUTDATED, edit=None)
        uses = [Use(number, path, replayed) for number, path in concerned(write.held)]
        for found in self._uses.values():
            if found.act in uses:
                certain = deed.is_sure and found.is_sure
                yield replace(deed, act=outdated, inside=found.inside, certain=certain, guarded=False)

    def outdate(self, held: Held, *, is_alias: bool) -> None:
        """State is computed with as it was before writes that were noted by now.

        An alias of it is not what it was, but for what was put in its place.
        """
        for deed in list(self._found.values()):
            if not isinstance(deed.act, Write) or held not in concerned(deed.act.held):
                continue
            if not (is_alias and deed.act.written in _IN_PLACE):
                for outdated in self.outdated_by(deed, replayed=False):
                    self.note(outdated)

    def keep(self) -> None:
        """An operation keeps tensors: what the replay does beside the forward before it puts them off."""
        self.keeps = True
        for key, deed in self._found.items():
            if isinstance(deed.act, Diverge) and deed.act.last:
                self._found[key] = replace(deed, act=replace(deed.act, last=False))

    @contextmanager
    def keeping(self) -> Iterator[Callable[[], bool]]:
        """Asks whether an operation of what runs here keeps tensors."""
        before, self.keeps = self.keeps, False
        kept = False
        try:
            yield lambda: kept
        finally:
            kept, self.keeps = self.keeps, self.keeps or before

    @contextmanager
    def uses_apart(self) -> Iterator[Callable[[], None]]:
        """Several ways run the same code: what one computes with, the next has not.

        What it gives is called before each way. What they do is done in the runs of all of them.
        """
        before, found, backwards = dict(self._uses), dict(self._uses), self._backwards
        shares, around = dict[object, float](), self._shares
        self._shares = {}

        def another_way() -> None:
            found.update(self._uses)
            self._uses = dict(before)
            for key, share in self._shares.items():
                shares[key] = shares.get(key, 0.0) + share
            self._shares = {}

        yield another_way
        another_uses = self._uses
        another_way()
        self._uses, self._shares = another_uses, around
        for key, share in shares.items():
            if key in self._found:
                self._share(key, replace(self._found[key], share=share))
        if self._backwards == backwards:
            self._uses = found | self._uses

    def forget_uses(self) -> None:
        """Backward has run: nothing that was computed with is needed any more."""
        self._uses = {}
        self._backwards += 1

    def forget(self, since: int, kinds: type[Act] | UnionType = Act, until: int | None = None) -> None:
        """Forget those of the deeds since one that are of some kinds: they do not matter after all."""
        for key, deed in list(self._found.items())[since:until]:
            if isinstance(deed.act, kinds):
                del self._found[key]

    def forget_done_once(self, since: int) -> None:
        """Forget the writes since one, which no replay does again, unless it computes something else."""
        for key, deed in list(self._found.items())[since:]:
            if isinstance(deed.act, Write) and deed.act.outcome is not Outcome.SWITCHED:
                del self._found[key]

    def forget_draws(self, since: int, kind: RandomKind) -> None:
        """Forget what was drawn since a deed from states of one kind: no program gets that far."""
        for key, deed in list(self._found.items())[since:]:
            if isinstance(deed.act, Draw) and deed.act.random.kind is kind:
                del self._found[key]

    def forget_own(self, kinds: type[Act] | UnionType) -> None:
        """Forget those of some kinds that the running function did itself."""
        for key, deed in list(self._found.items()):
            if isinstance(deed.act, kinds) and not deed.steps:
                del self._found[key]

    def cache_draws(self, since: int) -> None:
        """What was drawn since a deed is kept, and a replay finds it."""
        found, self._found = list(self._found.values()), {}
        for index, deed in enumerate(found):
            if index >= since and isinstance(deed.act, Draw):
                deed = replace(_cached(deed, deed.act), share=1.0)  # there was a first time
            self._found[deed.act, deed.place, deed.inside] = deed

    def kept(self) -> Deeds:
        """What is done where the results of all this are kept: a replay does none of it again."""
        return Deeds(_cached(deed, deed.act) for deed in self if isinstance(deed.act, Draw))

    def has(self, kinds: type[Act] | UnionType, since: int) -> bool:
        """Whether there are deeds of some kinds since one."""
        return any(isinstance(deed.act, kinds) for deed in list(self._found.values())[since:])

    def through(self, step: Step) -> Iterator[Deed]:
        """The deeds as the caller sees them, for whom this step comes first."""
        return (replace(deed, steps=(step, *deed.steps)) for deed in self)

    def within(self, region: Inside) -> Iterator[Deed]:
        """The deeds as seen from outside a region whose function did them."""
        return (replace(deed, inside=_decisive(region, deed.inside)) for deed in self)

    def renumbered(self, number: Callable[[int], int]) -> Iterator[Deed]:
        """The deeds with other numbers for what they change."""
        for deed in self:
            match deed.act:
                case (
                    Write(number=old)
                    | Store(number=old)
                    | Touch(number=old)
                    | Sway(number=old)
                    | Diverge(number=old)
                    | Use(number=old)
                ) as act if old:
                    yield replace(deed, act=replace(act, number=number(old)))
                case Draw(random=Random(number=old), lent=lent) as draw if old or lent:
                    state = replace(draw.random, number=old and number(old))
                    lent = frozenset(one._replace(owner=number(one.owner)) for one in lent)
                    yield replace(deed, act=replace(draw, random=state, lent=lent))
                case _:
                    yield deed


def _cached(deed: Deed, draw: Draw) -> Deed:
    return replace(deed, act=replace(draw, cached=True))


def _decisive(outer: Inside, inner: Inside | None) -> Inside:
    """The region that decides whether a replay runs what lies in both."""
    if inner is None or outer.kept is Kept.SAVE or inner.kept is Kept.RECOMPUTE:
        return outer
    return inner


class Ranges:
    """Numbers that were given out while something else ran: what has them was there for the running call."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Ranges come in the order of their ends; one may contain earlier ones."""
        while self._starts and self._starts[-1] >= start:
            self._starts.pop()
            self._ends.pop()
        self._starts.append(start)
        self._ends.append(end)

    def __contains__(self, number: int) -> bool:
        index = bisect_right(self._starts, number) - 1
        return index >= 0 and number <= self._ends[index]
