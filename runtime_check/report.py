"""The result of a check as text: a table of policies, then one paragraph for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from remat_lint.runtime_check.cause import Cause
from remat_lint.runtime_check.checker import CheckResult
from remat_lint.runtime_check.costs import Costs
from remat_lint.runtime_check.diagnosis import Place
from remat_lint.runtime_check.front import MIB
from remat_lint.runtime_check.knockout import KnockOut, Need
from remat_lint.runtime_check.policy import ALL
from remat_lint.runtime_check.predicted import NAME
from remat_lint.runtime_check.record import CostRecord, evidence_of
from remat_lint.runtime_check.sections import front_record
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.storages import Memory
from remat_lint.runtime_check.verdicts import EXIT_HOLDS, PolicyResult, Status, Verdict


def rendered(result: CheckResult) -> str:
    """The whole report, ending with the verdict."""
    parts = [
        _head(result),
        _table(result),
        *_notes(result),
        *_causes(result),
        *_manifests(result),
        *(_costs(result.costs) if result.costs else ()),
        _markers(result.knock_out) if result.knock_out else "",
        _verdict(result),
    ]
    return "\n\n".join(part for part in parts if part)


def _head(result: CheckResult) -> str:
    lines = [f"{result.target} on {result.device}, {result.versions}"]
    if result.uses_stand_ins:
        lines.append("placeholders: stand-in (this torch build has none of its own, or it was asked for)")
    if result.wraps_module:
        lines.append("checkpoint: the whole module, because it calls no remat.checkpoint itself")
    else:
        lines.append(f"checkpoints: {', '.join(result.checkpoints) or 'none reached'}")
    lines.append(f"evidence: {evidence_of(result).meaning}")
    return "\n".join(lines)


def _table(result: CheckResult) -> str:
    names = [region.name for region in result.regions]
    if not names:
        rows = [["policy", "result"], *([r.name, _cell(r)] for r in _shown(result))]
        return "\n".join(_aligned(rows))
    fixed = {region.name for region in result.regions if region.flag is not Flag.DECIDED}
    heads = [name.rpartition(".")[2] + ("*" if name in fixed else "") for name in names]
    rows = [["policy", *heads, "result"]]
    for one in _shown(result):
        rows.append([one.name, *(_runs(one, name) for name in names), _cell(one)])
    lines = _aligned(rows, prefixes=[name.rpartition(".")[0] for name in names])
    return "\n".join(lines)


def _shown(result: CheckResult) -> Iterator[PolicyResult]:
    """The rows of the table. Of the combinations, only those that break the step."""
    yield from result.results
    yield from (one for one in result.combinations if one.is_broken)
    yield from result.controls


def _runs(result: PolicyResult, region: str) -> str:
    """Runs per checkpoint: one number, or the least and the most. Meaningless where a run broke off."""
    totals = result.totals(region)
    if result.verdict is Verdict.RAISES or not totals:
        return "-"
    least, most = min(totals), max(totals)
    return str(least) if least == most else f"{least}..{most}"


def _cell(result: PolicyResult) -> str:
    if result.raised is not None:
        return result.raised.headline
    if result.verdict is Verdict.DIFFERS:
        first = [one.what for kind in (result.differences, result.replayed, result.state) for one in kind]
        return f"differs: {first[0]}" if first else "differs"
    return str(result.verdict.value)


def _aligned(rows: Sequence[Sequence[str]], prefixes: Sequence[str] = ()) -> list[str]:
    """Columns of equal width; above them the module that a run of regions belongs to."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    groups: list[str] = []
    column = 1
    for prefix, members in groupby(prefixes):
        count = len(list(members))
        room = sum(widths[column : column + count]) + 2 * (count - 1)
        widths[column + count - 1] += max(0, len(prefix) - room)
        groups.append(prefix.ljust(max(room, len(prefix))))
        column += count
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    if any(prefixes):
        lines.insert(0, "  ".join([" " * widths[0], *groups]))
    return [line.rstrip() for line in lines]


def _notes(result: CheckResult) -> Iterator[str]:
    if result.regions:
        yield "Numbers: how often each region ran in one checkpoint, forward and replay together."
    more = sum(not one.is_broken for one in result.combinations)
    if more:
        verdict = "inconclusive" if result.noise else "equal"
        yield f"Beside them, {more} more combinations of regions were saved: {verdict}."
    constant = [region.name for region in result.regions if region.flag is Flag.CONSTANT]
    if constant:
        yield "* recompute= is a constant in the source: no policy changes it."
    unread = [region.name for region in result.regions if region.flag is Flag.UNREADABLE]
    if unread:
        yield f"The source does not show how recompute= is decided for {', '.join(unread)}: left as it is."
    if result.untapped:
        yield (
            f"Built before the check began, so left alone and not counted: {', '.join(result.untapped)}."
            " Build the module in the factory."
        )
    if result.noise:
        yield (
            f"Plain runs already differ: {result.noise.differences[0]}. A difference under a policy says"
            " nothing then; make the step reproducible (seeds, deterministic algorithms) and check again."
        )
        if result.noise_cause is not None:
            yield "\n".join(_traced(result.noise_cause))


def _causes(result: CheckResult) -> Iterator[str]:
    """Each cause once, with all policies it breaks; then what all of them say together."""
    causes: dict[str, list[str]] = {}
    asked_for = [one for one in result.controls if one.name in result.asked_for]
    for one in (*result.policies, *asked_for):
        if one.findings:
            causes.setdefault("\n".join(_cause(one, result.causes.get(one.name))), []).append(one.name)
    for text, policies in causes.items():
        word = "policy" if len(policies) == 1 else "policies"
        yield f"{text}\n    {word}: {', '.join(policies)}"
    if result.explanation is not None and str(result.explanation):
        yield str(result.explanation)


def _cause(result: PolicyResult, cause: Cause | None) -> Iterable[str]:
    first, *others = result.findings
    yield first + (f"; {len(others)} more differ" if others else "")
    if result.raised is not None:
        yield from _source(result.raised.consumer or result.raised.place)
    if result.raised is not None and result.raised.remedy:
        yield f"    {result.raised.remedy}"
    elif cause is not None:
        yield from _traced(cause)
    elif result.raised is None:
        yield (
            "    Replay computed something else than forward: look for random numbers without a"
            " RecomputeStateHook, and for counters, caches and buffers that change in checkpointed code."
        )


def _traced(cause: Cause) -> Iterator[str]:
    yield f"    {cause}"
    yield from _source(cause.place)
    if cause.remedy:
        yield f"    {cause.remedy}"


def _source(place: Place | None) -> Iterator[str]:
    if place is not None and place.text:
        yield f"    {place.line} | {place.text}"


def _costs(costs: Costs) -> Iterator[str]:
    """Bytes of the policies that ran, the front, and what is best."""
    record = front_record(costs)
    unit, name = _unit(record.costs)
    rows = [["policy", f"retained {name}", f"peak {name}", "step ms"]]
    rows += [_row(one, unit) for one in record.costs if one.retained_bytes.measured is not None]
    yield "\n".join(_aligned(rows))
    yield from _shares(costs.memory, unit, name)
    sentences = [*record.by_layer, *record.doubts]
    if record.recommendation:
        sentences.insert(0, f"Recommended: {record.recommendation}.")
    yield "\n".join(sentences)


def _unit(costs: Sequence[CostRecord]) -> tuple[int, str]:
    """Bytes for small models, else MiB."""
    most = max((one.retained_bytes.measured or 0 for one in costs), default=0)
    return (MIB, "MiB") if most >= MIB else (1, "bytes")


def _row(cost: CostRecord, unit: int) -> list[str]:
    time = cost.step_ms
    error = f" ± {time.error:.1f}" if time.error is not None else ""
    amounts = [_amount(one.measured, unit) for one in (cost.retained_bytes, cost.peak_bytes)]
    return [cost.policy, *amounts, "-" if time.measured is None else f"{time.measured:.1f}{error}"]


def _amount(value: float | None, unit: int) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if unit == 1 else f"{value / unit:.3f}"


def _shares(memory: Sequence[Memory], unit: int, name: str) -> Iterator[str]:
    """What each region retains where all are saved."""
    saved = next((one for one in memory if one.plan.name == ALL.name), None)
    if saved is not None:
        parts = dict.fromkeys(share.part for share in saved.shares)
        listed = ", ".join(f"{part} {_amount(saved.retained_by(part), unit)}" for part in parts)
        yield f"Retained {name} under all, by region: {listed}."


def _markers(found: KnockOut) -> str:
    """The markers that may go, and the doubtful ones."""
    doubtful = [one for one in found.markers if one.need is not Need.NEEDED]
    needed = len(found.markers) - len(doubtful)
    head = f"Markers: {needed} of {len(found.markers)} are needed under {_policies(len(found.policies))}."
    return "\n".join([head, *(f"    {one}" for one in doubtful)])


def _manifests(result: CheckResult) -> Iterator[str]:
    """The verdicts on the names, where there are manifests."""
    for agreement in result.agreements:
        file, name = agreement.declared.file, agreement.declared.entry.name
        lines = [f"Manifest: {file} agrees with the regions of {name} that ran."]
        if agreement.differences:
            lines = [f"Manifest: {file} does not agree with the regions of {name} that ran."]
            lines += [f"    {difference}" for difference in agreement.differences]
        if agreement.undeclared:
            lines.append(f"    It is not complete; these ran besides: {', '.join(agreement.undeclared)}")
        if agreement.differences and file == NAME:
            lines.append(
                "    Either the code does what its source does not show, or remat-lint reads it wrongly."
            )
        yield "\n".join(lines)


def _verdict(result: CheckResult) -> str:
    total = len(result.policies)
    if result.broken:
        hint = " remat-fix writes missing markers." if any(_lacks_marker(r) for r in result.broken) else ""
        wanted = total + len(result.asked_for)
        return f"Broken under {len(result.broken)} of {_policies(wanted)}.{hint}"
    if result.noise or any(one.verdict is Verdict.INCONCLUSIVE for one in result.policies):
        return "Inconclusive: the step is not reproducible by itself."
    if not result.checkpoints:
        return (
            "Inconclusive: no checkpoint ran, so nothing was confirmed. Checkpoints inside torch.compile"
            " are not checked: give an eager module."
        )
    if not result.has_gradients:
        return "Inconclusive: nothing requires grad, so backward replayed nothing."
    if result.costs is not None and result.costs.exit_status != EXIT_HOLDS:
        return f"The step holds under {_policies(total)}, but no policy keeps to the given limits."
    if any(agreement.differences for agreement in result.agreements):
        return f"The step holds under {_policies(total)}, but the manifest lists other regions."
    only = "" if result.regions else " No region was called, so the checkpoint alone was checked."
    held = _listed(result, Status.HOLDS)
    return f"Holds bit for bit under {_policies(total)}: {held}.{only}{_left_out(result)}"


def _listed(result: CheckResult, status: Status) -> str:
    return ", ".join(one.name for one in result.confirmations if one.status is status)


def _left_out(result: CheckResult) -> str:
    names = _listed(result, Status.NOT_CHECKED)
    return f"\nNot checked, because it is not there or was not asked for: {names}." if names else ""


def _lacks_marker(result: PolicyResult) -> bool:
    return result.raised is not None and result.raised.region is not None


def _policies(count: int) -> str:
    return "1 policy" if count == 1 else f"{count} policies"
