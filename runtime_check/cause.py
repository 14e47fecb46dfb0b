"""Why a track breaks the step: found by running it again, with its operations written down.

Nothing here runs while all policies hold. The first divergence that reaches the gradients is the cause;
where only state differs, the line that writes it in replay is. What is not plain from the operation alone
is settled by further runs: the state at that very point in both phases, and the same run with a random
stream put back at each replay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from remat_lint.runtime_check import tracks
from remat_lint.runtime_check.bench import Bench
from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.diagnosis import Place, Raised
from remat_lint.runtime_check.line_watch import LineWatch, Reader, Write
from remat_lint.runtime_check.names import GLOBAL_STREAMS, TORCH, Names
from remat_lint.runtime_check.operations import Divergence, How, Moment, Operation, Repeated, Source, Trace
from remat_lint.runtime_check.plan import PLAIN, Checkpointing, Plan
from remat_lint.runtime_check.regions import Observation
from remat_lint.runtime_check.streams import PutBack
from remat_lint.runtime_check.tracks import Track
from remat_lint.runtime_check.verdicts import PolicyResult
from remat_lint.runtime_check.witness import Phase, Witness

_NOISE_TRIES = 10
_NAMES_SHOWN = 3


class Kind(str, Enum):
    """What sort of fault it is."""

    RANDOM = "random state not restored"
    EXTERNAL = "external state changed"
    CONTROL_FLOW = "control flow diverged"
    UPSTREAM = "upstream input or buffer changed"
    KERNEL = "nondeterministic kernel"
    PLACEHOLDER = "placeholder read"
    STATE_TWICE = "state changed twice"
    IN_PLACE = "saved tensor changed in place"
    ERROR = "error"


@dataclass(frozen=True)
class Cause:
    """The first thing that is not as in the forward.

    ``place`` is the user's line of the operation, or, where state changed twice, the line that writes it;
    ``names`` are the attributes, buffers, globals, variables or random streams that are other ones then;
    ``written`` is the line that writes the first of them in replay, where that is another one. ``detail``
    says in words what was seen, and ``remedy`` what to write.
    """

    kind: Kind
    detail: str
    checkpoint: str | None = None
    region: str | None = None
    operation: str | None = None
    place: Place | None = None
    names: tuple[str, ...] = ()
    written: Place | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        inside = f", region {self.region}" if self.region else ""
        inside = f" (checkpoint {self.checkpoint}{inside})" if self.checkpoint else ""
        written = f"; written at {self.written}" if self.written and self.written != self.place else ""
        return f"{where}{self.kind.value}{inside}: {self.detail}{written}"


def find_cause(bench: Bench, result: PolicyResult) -> Cause | None:
    """Why the track of ``result`` breaks the step; None where it holds, or where no run shows a reason."""
    if not result.is_broken:
        return None
    if result.raised is not None and result.raised.region is not None:
        return _placeholder(result.raised)
    if result.plan.checkpointing is Checkpointing.SELECTIVE:
        return None  # what it keeps is not computed again, so there are no two streams to compare
    return _Search(bench, result).cause()


def find_noise(bench: Bench) -> Cause | None:
    """Why the plain step does not repeat itself; None where no run shows it."""
    _, first = _traced(bench, PLAIN)
    for _ in range(_NOISE_TRIES):
        _, trace = _traced(bench, PLAIN, expected=first)
        found = _first(trace.found)
        if found is not None:
            return _of_noise(found)
    return None


def _traced(
    bench: Bench,
    plan: Plan,
    *,
    expected: Trace | None = None,
    moment: Moment | None = None,
    before: Callable[[Observation, Names], Sequence[Witness]] = lambda *_: (),
) -> tuple[Track, Trace]:
    """Run a track once more with a trace; further witnesses stand before it."""

    def witnesses(observation: Observation, names: Names) -> Sequence[Witness]:
        trace = Trace(observation, names, expected=expected, moment=moment)
        return (*before(observation, names), trace)

    track = _run(bench, plan, witnesses)
    trace = track.observation.witnesses[-1]
    assert isinstance(trace, Trace)
    return track, trace


def _run(bench: Bench, plan: Plan, witnesses: Callable[[Observation, Names], Sequence[Witness]]) -> Track:
    """A track whose witnesses know what the tensors of its module are called."""
    built: list[Case] = []

    def build() -> Case:
        built.append(bench.start.build())
        return built[-1]

    names = Names(lambda: built[-1].module, bench.start.surroundings)
    return tracks.run(
        replace(bench.start, build=build),
        bench.tap,
        plan,
        wraps_module=bench.wraps_module,
        witnesses=lambda observation: witnesses(observation, names),
    )


def _placeholder(raised: Raised) -> Cause:
    output = f"output {raised.output} of region" if raised.output else "the output of region"
    return Cause(
        Kind.PLACEHOLDER,
        f"it reads {output} {raised.region}, which replay skips",
        checkpoint=raised.checkpoint,
        region=raised.region,
        place=raised.consumer or raised.place,
        remedy=raised.remedy,
    )


def _first(found: Sequence[Divergence]) -> Divergence | None:
    """The first divergence that reaches the gradients; without any, the first one."""
    return next((one for one in found if one.reaches_gradients), found[0] if found else None)


class _Search:
    """The cause of one broken track."""

    def __init__(self, bench: Bench, result: PolicyResult) -> None:
        self._bench = bench
        self._result = result
        self._plan = result.plan
        self._moments: dict[tuple[str, int], Moment] = {}

    def cause(self) -> Cause | None:
        """The cause, or None."""
        _, trace = _traced(self._bench, self._plan)
        raised = self._result.raised
        if raised is not None:
            return self._of_exception(raised, trace)
        what = [one.what for one in self._result.differences]
        if any(not name.startswith(("gradient of ", "buffer ")) for name in what):
            return self._against_plain() or self._of_replay(trace)
        if any(name.startswith("gradient of ") for name in what):
            return self._of_replay(trace) or self._against_plain()
        return self._of_state() or self._of_replay(trace) or self._of_streams()

    def _of_replay(self, trace: Trace) -> Cause | None:
        found = _first(trace.found)
        return None if found is None else self._classified(found)

    def _against_plain(self) -> Cause | None:
        """Forward and backward beside those of the plain step."""
        _, plain = _traced(self._bench, PLAIN)
        _, trace = _traced(self._bench, self._plan, expected=plain)
        found = _first(trace.found)
        return None if found is None else self._classified(found)

    def _of_exception(self, raised: Raised, trace: Trace) -> Cause:
        if re.search(r"modified in-?place|modified by an in-?place", raised.message):
            changed = _change_of_kept_output(trace)
            if changed is not None:
                return replace(changed, detail=f"{changed.detail}: {raised.message}")
        found = _first([one for one in trace.found if one.reaches_gradients])
        if found is not None:
            cause = self._classified(found)
            return replace(cause, detail=f"{cause.detail}; {raised.headline}: {raised.message}")
        in_place = "inplace" in raised.message or "in-place" in raised.message
        if not in_place and (parted := _at_another_line(trace)) is not None:
            cause = self._classified(parted)
            return replace(cause, detail=f"{cause.detail}; {raised.headline}: {raised.message}")
        return Cause(
            Kind.IN_PLACE if in_place else Kind.ERROR,
            f"{raised.headline}: {raised.message}",
            place=raised.place,
        )

    def _of_state(self) -> Cause | None:
        """Gradients are equal, but buffers, attributes or globals are not."""
        result = self._result
        names = [*(one.what for one in result.differences), *(one.what for one in result.state)]
        watched = [name for name in names if name not in GLOBAL_STREAMS]
        writes = self._writes(watched) if watched else {}
        if not writes:
            return None
        first, *more = writes.values()
        others = [one.what for one in more]
        return _of_write(
            first,
            Kind.STATE_TWICE,
            "writes it again" + (f", and {_listed(others)} as well" if others else ""),
            _OUTSIDE if first.is_torchs else _GUARD,
        )

    def _of_streams(self) -> Cause | None:
        """Only a random stream stands elsewhere after the step, and no operation shows it."""
        writes = self._writes([one.what for one in self._result.state])
        first = next(iter(writes.values()), None)
        return None if first is None else _of_write(first, Kind.RANDOM, "draws from it again", _HOOK)

    def _classified(self, found: Divergence) -> Cause:
        operation = found.operation
        cause = Cause(
            Kind.CONTROL_FLOW,
            "",
            operation.checkpoint or None,
            operation.region,
            operation.name,
            operation.place,
        )
        if found.how is How.OUTPUTS:
            return self._of_outputs(found, cause)
        if found.how is How.INPUTS and not _comes_from_python(found):
            return self._of_inputs(found, cause)
        return self._of_python(found, cause)

    def _of_outputs(self, found: Divergence, cause: Cause) -> Cause:
        name = found.operation.name
        now, before = _sides(found)
        if _draws(found):
            stream = found.generator or TORCH
            return replace(
                cause,
                kind=Kind.RANDOM,
                detail=f"{name} draws from {stream}, which {now} does not find as {before} did",
                names=(stream,),
                remedy=_HOOK,
            )
        if found.repeated is Repeated.SAME:
            changed = self._changed(found)
            settings = [one for one in changed if one.startswith("torch.")]
            detail = f"{name} computes another value from the same inputs, though it repeats itself"
            if settings:
                detail += f": {_values_of(settings[0], changed)}"
            return replace(cause, kind=Kind.EXTERNAL, detail=detail, names=tuple(settings))
        return replace(
            cause,
            kind=Kind.KERNEL,
            detail=f"{name} computes another value from the same inputs"
            + (", and does so when it is repeated" if found.repeated is Repeated.VARIES else ""),
            remedy=_DETERMINISTIC,
        )

    def _of_inputs(self, found: Divergence, cause: Cause) -> Cause:
        """A tensor that comes from outside the checkpoint, or was written to since, is another one."""
        name = found.operation.name
        now, before = _sides(found)
        source = _named_first(found.sources)
        changed = self._changed(found)
        if source is not None and source.before and source.name and source.before != source.name:
            variables = tuple(one for one in changed if one.startswith("variable "))
            reason = f": {_values_of(variables[0], changed)}" if variables else ""
            return replace(
                cause,
                kind=Kind.EXTERNAL,
                detail=f"{name} reads {source.name} in {now}, where {before} read {source.before}{reason}",
                names=variables or (source.name,),
                remedy="hand it to the checkpoint as an argument" if variables else None,
            )
        known = source.name if source is not None else None
        writer = source.writer if source is not None else None
        if found.operation.is_region and writer is not None:
            # Kept for replay as it was changed afterwards: the change is to blame, not who is given it.
            return replace(
                cause,
                kind=Kind.UPSTREAM,
                detail=f"{writer.name} changes {name} after forward has used it",
                region=writer.region,
                operation=writer.name,
                place=writer.place,
                names=(name,),
            )
        detail = f"{name} reads another value of {known or 'a tensor'} in {now}"
        if writer is not None:
            detail += f"; {writer.name} writes to it" + (
                f" in saved region {writer.region}, which replay skips" if writer.is_kept else ""
            )
        names = (known,) if known else tuple(one for one in changed if not _is_common(one))[:_NAMES_SHOWN]
        written = writer.place if writer is not None else None
        return replace(
            cause,
            kind=Kind.UPSTREAM,
            detail=detail,
            names=names,
            written=written or self._written(names),
        )

    def _of_python(self, found: Divergence, cause: Cause) -> Cause:
        """A number, or the path that the code takes, is another one: which state is?"""
        changed = self._changed(found)
        told = _told(found)
        stream = self._stream_behind(found)
        if stream is not None:
            kind = Kind.CONTROL_FLOW if found.how is How.OPERATION else Kind.RANDOM
            return replace(
                cause,
                kind=kind,
                detail=f"{told}; it is drawn from {stream}, which is not as forward found it",
                names=(stream,),
                remedy=_HOOK,
            )
        names = _candidates(found, changed)
        kind = Kind.CONTROL_FLOW if found.how is How.OPERATION else Kind.EXTERNAL
        reason = f"; {_values_of(names[0], changed)}" if names else ""
        return replace(cause, kind=kind, detail=told + reason, names=names, written=self._written(names))

    def _changed(self, found: Divergence) -> dict[str, tuple[str | None, str | None]]:
        """The state that is not the same at the divergence in forward and in replay."""
        moment = self._moment(found)
        before, now = moment.states.get(Phase.FORWARD, {}), moment.states.get(Phase.REPLAY, {})
        if not before or not now:
            return {}
        return {
            name: (before.get(name), now.get(name))
            for name in {**now, **before}
            if before.get(name) != now.get(name)
            # Replay is not called from where forward was.
            and not (name.startswith("variable ") and (name not in before or name not in now))
        }

    def _moment(self, found: Divergence) -> Moment:
        at = found.checkpoint, found.index
        if at not in self._moments:
            self._moments[at] = Moment(*at)
            _traced(self._bench, self._plan, moment=self._moments[at])
        return self._moments[at]

    def _stream_behind(self, found: Divergence) -> str | None:
        """The random stream of Python's that makes the difference: with it put back, there is none."""
        moment = self._moment(found)
        entry, then = moment.entries.get(Phase.FORWARD, {}), moment.states.get(Phase.FORWARD, {})
        drawn = [name for name in moment.streams if entry.get(name) != then.get(name)]
        return next((name for name in drawn if self._is_mended_by(name, found)), None)

    def _is_mended_by(self, name: str, found: Divergence) -> bool:
        """Is the divergence gone where this stream is put back as a hook would?"""

        def before(observation: Observation, names: Names) -> Sequence[Witness]:
            return [PutBack(observation, lambda: names.value(name), name)]

        _, trace = _traced(self._bench, self._plan, before=before)
        at = {(one.checkpoint, one.index) for one in trace.found}
        return (found.checkpoint, found.index) not in at

    def _written(self, names: Sequence[str]) -> Place | None:
        """The line that writes the first of these in replay."""
        writes = self._writes(names)
        return next((writes[name].place for name in names if name in writes), None)

    def _writes(self, names: Sequence[str]) -> Mapping[str, Write]:
        """The first line that writes each of these in replay, in the order of the writing."""

        def witnesses(observation: Observation, known: Names) -> Sequence[Witness]:
            def readers() -> dict[str, Reader]:
                found = {name: known.reader(name) for name in names if not name.startswith("variable ")}
                return {name: read for name, read in found.items() if read is not None}

            return [LineWatch(observation, readers)]

        watch = _run(self._bench, self._plan, witnesses).observation.witnesses[-1]
        assert isinstance(watch, LineWatch)
        first: dict[str, Write] = {}
        for write in watch.writes:
            first.setdefault(write.what, write)
        return first


def _comes_from_python(found: Divergence) -> bool:
    """Was the tensor made of numbers, or cut out with others?"""
    if found.operation.name == "lift_fresh":
        return True
    expected, actual = found.expected, found.actual
    state = [one.name for one in found.sources if one.name and not one.name.startswith("variable ")]
    if expected is None or actual is None or state:
        return False
    pairs = zip(expected.inputs, actual.inputs, strict=False)
    return any(was is not None and now is not None and was.shape != now.shape for was, now in pairs)


def _of_write(write: Write, kind: Kind, what_it_does: str, remedy: str) -> Cause:
    return Cause(
        kind,
        f"{write.what}: replay {what_it_does}",
        write.checkpoint,
        write.region,
        place=write.place,
        names=(write.what,),
        remedy=remedy,
    )


def _at_another_line(trace: Trace) -> Divergence | None:
    """The first operation that replay runs at another line than forward: the code went another way there.

    Operations that are alike at both lines are no difference in the streams. Where replay is at a line that
    forward came to later, it left something out.
    """
    for (checkpoint, phase), replay in trace.streams.items():
        forward = [one for one in trace.streams.get((checkpoint, Phase.FORWARD.value), ()) if not one.is_kept]
        for index, (was, now) in enumerate(zip(forward, replay, strict=False)):
            if phase == Phase.REPLAY.value and was.place != now.place:
                is_ahead = any(later.place == now.place for later in forward[index + 1 :])
                return Divergence(How.OPERATION, checkpoint, index, was, now, skips=is_ahead)
    return None


def _draws(found: Divergence) -> bool:
    if found.how is not How.OUTPUTS:
        return False
    return found.operation.is_seeded or found.repeated is Repeated.DRAWS


def _of_noise(found: Divergence) -> Cause:
    """The plain step, repeated: there is no replay, so nothing is to be restored."""
    operation = found.operation
    kind, detail, remedy = Kind.EXTERNAL, _told(found), None
    if found.how is How.OUTPUTS:
        kind, remedy = Kind.KERNEL, _DETERMINISTIC
        detail = f"{operation.name} computes another value from the same inputs when the step is repeated"
        if _draws(found):
            kind, remedy = Kind.RANDOM, "seed it in the factory or in the step"
            detail = f"{operation.name} draws other numbers when the step is repeated"
    elif found.how is How.OPERATION:
        kind = Kind.CONTROL_FLOW
    elif found.how is How.INPUTS:
        kind = Kind.UPSTREAM
    return Cause(
        kind,
        detail,
        operation.checkpoint or None,
        operation.region,
        operation.name,
        operation.place,
        names=tuple(one.name for one in found.sources if one.name),
        remedy=remedy,
    )


def _sides(found: Divergence) -> tuple[str, str]:
    """What was laid beside what."""
    return ("replay", "forward") if found.in_replay else ("this run", "the plain step")


def _told(found: Divergence) -> str:
    """What is done at the divergence, and what was to be done."""
    expected, actual = found.expected, found.actual
    now, before = _sides(found)
    if found.how is How.SCALARS and expected is not None and actual is not None:
        was, given = _unlike(expected, actual)[0]
        return f"{actual.name} is given {given} in {now}, where {before} gave {was}"
    if found.how is How.INPUTS:
        return f"{found.operation.name} is given another value"
    if actual is None:
        assert expected is not None
        return f"{now} ends where {before} goes on with {expected.name}"
    if expected is None:
        return f"{now} goes on with {actual.name} where {before} has ended"
    if expected.name == actual.name and actual.is_region:
        return f"{actual.name} has {actual.scalars[0]} in {now} and {expected.scalars[0]} in {before}"
    if expected.name == actual.name:
        return (
            f"{actual.name} takes {len(actual.inputs)} tensors in {now}, {len(expected.inputs)} in {before}"
        )
    where = f" ({expected.place})" if expected.place and expected.place != actual.place else ""
    return f"{now} runs {actual.name} where {before} ran {expected.name}{where}"


def _unlike(expected: Operation, actual: Operation) -> list[tuple[str, str]]:
    pairs = zip(expected.scalars, actual.scalars, strict=False)
    return [pair for pair in pairs if pair[0] != pair[1]] or [
        (f"{len(expected.scalars)} numbers", f"{len(actual.scalars)}")
    ]


def _candidates(found: Divergence, changed: Mapping[str, tuple[str | None, str | None]]) -> tuple[str, ...]:
    """The state that is likely to be behind a difference, the likeliest first."""
    names = [name for name in changed if not _is_common(name)]
    pairs = _unlike(found.expected, found.actual) if found.expected and found.actual else []
    place = found.operation.place
    words = set(re.findall(r"\w+", place.text)) if place is not None else set()

    def rank(name: str) -> tuple[bool, bool, bool]:
        last = re.findall(
            r"\w+",
            name.removeprefix("variable ").partition(" of ")[0] if name.startswith("variable ") else name,
        )
        is_variable = name.startswith("variable ")
        return changed[name] not in pairs, is_variable, not (last and last[-1] in words)

    return tuple(sorted(names, key=rank)[:_NAMES_SHOWN])


def _is_common(name: str) -> bool:
    """Streams that later layers draw from as well: that they have moved on is no reason by itself."""
    return name in GLOBAL_STREAMS or name.startswith("torch.is_grad_enabled")


def _values_of(name: str, changed: Mapping[str, tuple[str | None, str | None]]) -> str:
    before, now = changed[name]
    if before is None or now is None:
        return f"{name} is {'not there' if now is None else 'there'} in replay only"
    if max(len(before), len(now)) > 60:
        return f"{name} is another one in replay"
    return f"{name} is {now} in replay, {before} in forward"


def _named_first(sources: Sequence[Source]) -> Source | None:
    return next((one for one in sources if one.name), sources[0] if sources else None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def _change_of_kept_output(trace: Trace) -> Cause | None:
    """The operation of a forward that writes to what a region handed on."""
    for operations in trace.streams.values():
        regions: dict[int | None, str] = {}
        for one in operations:
            if one.is_region and one.name.startswith("the output of "):
                regions |= dict.fromkeys(one.storages, one.name)
            elif found := next((storage for storage in one.written if storage in regions), None):
                return Cause(
                    Kind.IN_PLACE,
                    f"{one.name} writes to {regions[found]}",
                    one.checkpoint,
                    one.region,
                    one.name,
                    one.place,
                    names=(regions[found],),
                    remedy="compute it out of place",
                )
    return None


_HOOK = "give the checkpoint a RecomputeStateHook for it, or draw in a region that is always saved"
_GUARD = "write it under `if not remat.is_recomputing():`, or in a region that is always saved"
_OUTSIDE = "write it outside of the checkpointed function: torch's own checkpoint has no guard"
_DETERMINISTIC = "use torch.use_deterministic_algorithms(True), or another operation"
