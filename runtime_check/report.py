"""The result of a check as text: a table of policies, then one paragraph for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from remat_lint.runtime_check.checker import CheckResult
from remat_lint.runtime_check.predicted import NAME
from remat_lint.runtime_check.source_flags import Flag
from remat_lint.runtime_check.verdicts import PolicyResult, Status, Verdict


def rendered(result: CheckResult) -> str:
    """The whole report, ending with the verdict."""
    parts = [
        _head(result),
        _table(result),
        *_notes(result),
        *_causes(result),
        *_manifests(result),
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


def _causes(result: CheckResult) -> Iterator[str]:
    """Each cause once, with all policies it breaks."""
    causes: dict[str, list[str]] = {}
    for broken in result.broken:
        causes.setdefault("\n".join(_cause(broken)), []).append(broken.name)
    for cause, policies in causes.items():
        word = "policy" if len(policies) == 1 else "policies"
        yield f"{cause}\n    {word}: {', '.join(policies)}"


def _cause(result: PolicyResult) -> Iterable[str]:
    if result.raised is not None:
        yield str(result.raised)
        place = result.raised.consumer or result.raised.place
        if place is not None and place.text:
            yield f"    {place.line} | {place.text}"
        if result.raised.remedy:
            yield f"    {result.raised.remedy}"
        return
    first, *others = result.findings
    yield first + (f"; {len(others)} more differ" if others else "")
    yield (
        "    Replay computed something else than forward: look for random numbers without a"
        " RecomputeStateHook, and for counters, caches and buffers that change in checkpointed code."
    )


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
        return f"Broken under {len(result.broken)} of {_policies(total)}.{hint}"
    if result.noise:
        return "Inconclusive: the step is not reproducible without checkpoints."
    if not result.checkpoints:
        return (
            "Inconclusive: no checkpoint ran, so nothing was confirmed. Checkpoints inside torch.compile"
            " are not checked: give an eager module."
        )
    if not result.has_gradients:
        return "Inconclusive: nothing requires grad, so backward replayed nothing."
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
