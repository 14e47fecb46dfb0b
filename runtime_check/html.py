"""Records as one HTML page that stands alone: no scripts, nothing loaded from anywhere, pictures inline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import groupby

from remat_lint.runtime_check.environment import METADATA_ONLY
from remat_lint.runtime_check.html_style import STYLE
from remat_lint.runtime_check.markup import Child, Markup, element, joined
from remat_lint.runtime_check.pictures import byte_count, bytes_per_region, front
from remat_lint.runtime_check.record import (
    CostRecord,
    DifferenceRecord,
    Distance,
    FrontRecord,
    Line,
    PolicyRecord,
    Record,
    RegionRecord,
)
from remat_lint.runtime_check.verdicts import Verdict

_SIGNS = {"holds": "✓", "broken": "✗", "budget missed": "!", "ranks differ": "✗", "inconclusive": "?"}
_SHOWN = 8  # differences of one track; the others are counted
_TRACKS = 16  # rows of the matrix that are shown without a click


def page(records: Sequence[Record]) -> str:
    """The whole page, a part for each record."""
    title = "remat-check: " + ", ".join(record.target for record in records)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(STYLE)),
    )
    body = element("body", element("main", *map(_record, records)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _record(record: Record) -> Markup:
    return element(
        "article",
        _verdict(record),
        *_divergences(record),
        _matrix(record),
        _confirmations(record),
        _front(record.front),
        _bytes(record),
        _knock_out(record),
        _ranks(record),
        _manifests(record),
        _noise(record),
        _environment(record),
    )


def _section(title: str, *children: Child) -> Markup:
    return element("section", element("h2", title), *children)


def _verdict(record: Record) -> Markup:
    broken = sum(one.verdict in _BROKEN for one in record.policies)
    count = len(record.policies)
    policies = "1 policy" if count == 1 else f"{count} policies"
    text = f"{broken} of {policies} broken" if broken else policies
    kind = record.verdict.split()[0]
    return element(
        "header",
        element("h1", record.target),
        element("p", f"{_SIGNS[record.verdict]} {record.verdict}", class_=f"verdict {kind}"),
        element("p", f"{text} · exit status {record.exit_status} · ", element("code", record.evidence_level)),
        element("p", record.explanation) if record.explanation else None,
        element("p", record.evidence, " ", METADATA_ONLY, class_="note"),
    )


_BROKEN = (Verdict.DIFFERS.value, Verdict.RAISES.value)


# What went wrong.


def _divergences(record: Record) -> Iterator[Markup]:
    """A card for each cause, with all tracks that it breaks."""
    causes: dict[str, list[PolicyRecord]] = {}
    for one in record.policies:
        if one.verdict in _BROKEN:
            causes.setdefault(one.findings[0], []).append(one)
    for policies in causes.values():
        yield _card(policies)


def _card(policies: Sequence[PolicyRecord]) -> Markup:
    first = policies[0]
    cause, exception = first.first_divergence, first.raised
    facts: list[tuple[str, Child]] = []
    source: tuple[Line, ...] = ()
    line = None
    title = "Differs from the plain step"
    if cause is not None:
        title = f"First divergence: {cause.kind}"
        facts = [("operation", cause.op), ("region", cause.region), ("checkpoint", cause.checkpoint)]
        facts += [("place", _place(cause.file, cause.line)), ("changed", ", ".join(cause.names) or None)]
        facts += [("written at", cause.written), ("remedy", cause.remedy)]
        source, line = cause.excerpt, cause.line
    elif exception is not None:
        title = f"Raises in {exception.phase}"
        facts = [("region", exception.region), ("checkpoint", exception.checkpoint)]
        facts += [("place", _place(exception.file, exception.line)), ("remedy", exception.remedy)]
        source, line = exception.excerpt, exception.line
    names = ", ".join(one.name for one in policies)
    return element(
        "section",
        element("h2", title),
        element("p", first.findings[0], class_="finding"),
        _facts([*facts, ("policies" if len(policies) > 1 else "policy", names)]),
        _source(source, line),
        _differences(first.differences),
        _more(first),
        class_="card",
    )


def _place(file: str | None, line: int | None) -> str | None:
    return None if file is None else f"{file}:{line}"


def _source(lines: Sequence[Line], marked: int | None) -> Markup | None:
    if not lines:
        return None
    rows = [
        element(
            "span",
            element("span", f"{'>' if line.number == marked else ' '}{line.number:>5} ", class_="number"),
            f"{line.text}\n",
            class_="marked" if line.number == marked else None,
        )
        for line in lines
    ]
    return element("pre", *rows, tabindex=0)


def _differences(differences: Sequence[DifferenceRecord]) -> Markup | None:
    if not differences:
        return None
    rows = [
        [
            one.what,
            one.how if one.changed is None else f"{one.changed} of {one.numbers}",
            _distance(one.largest_absolute_error),
            _distance(one.largest_relative_error),
            "–" if one.cosine is None else f"{one.cosine:.6g}",
        ]
        for one in differences[:_SHOWN]
    ]
    table = _table(["tensor", "numbers that differ", "largest error", "relative", "cosine"], rows)
    left = len(differences) - _SHOWN
    return joined(table, element("p", f"{left} more differ.", class_="note") if left > 0 else None)


def _distance(value: Distance) -> str:
    return "–" if value is None else value if isinstance(value, str) else f"{value:.2g}"


def _more(policy: PolicyRecord) -> Markup | None:
    """The findings that are neither above nor in the table."""
    known = len(policy.differences) + (policy.first_divergence is not None)
    return _list(policy.findings[max(1, known) :][:_SHOWN])


# What was counted, measured and confirmed.


def _matrix(record: Record) -> Markup | None:
    names = list(dict.fromkeys(region.name for region in record.regions))
    if not names:
        rows = [element("tr", element("th", one.name, scope="row"), _result(one)) for one in record.policies]
        return _section("Policies", element("table", *rows)) if rows else None
    fixed = {region.name for region in record.regions if region.flag != "decided"}
    modules = [
        element("th", module, colspan=len(list(members)), scope="colgroup")
        for module, members in groupby(names, key=lambda name: name.rpartition(".")[0])
    ]
    heads = [
        element("th", name.rpartition(".")[2], "*" if name in fixed else None, scope="col", title=name)
        for name in names
    ]
    head = element(
        "thead",
        element("tr", element("td"), *modules, element("td")),
        element("tr", element("th", "policy", scope="col"), *heads, element("th", "result", scope="col")),
    )
    rows = [_row(one, names, record.regions) for one in (*record.policies, *record.controls)]
    shown, hidden = rows[:_TRACKS], rows[_TRACKS:]
    more = element(
        "details",
        element("summary", f"{len(hidden)} more"),
        element("table", head, element("tbody", *hidden), class_="matrix"),
    )
    return _section(
        "How often each region ran",
        element("p", "Runs in one checkpoint, forward and replay together.", class_="note"),
        element(
            "div",
            element("table", head, element("tbody", *shown), class_="matrix"),
            more if hidden else None,
            class_="wide",
        ),
        element("p", "* no policy decides it: the source writes recompute= as a constant, or hides it.")
        if fixed
        else None,
    )


def _row(policy: PolicyRecord, names: Sequence[str], regions: Sequence[RegionRecord]) -> Markup:
    cells = [_cell(policy, [region for region in regions if region.name == name]) for name in names]
    return element("tr", element("th", policy.name, scope="row"), *cells, _result(policy))


def _cell(policy: PolicyRecord, regions: Sequence[RegionRecord]) -> Markup:
    runs = {
        region.checkpoint: count.forward + count.replay
        for region in regions
        for count in region.counts
        if count.policy == policy.name
    }
    if policy.verdict == Verdict.RAISES.value or not runs:
        return element("td", "–", class_="runs none")
    least, most = min(runs.values()), max(runs.values())
    title = ", ".join(f"{checkpoint}: {number}" for checkpoint, number in runs.items())
    number = str(least) if least == most else f"{least}–{most}"
    return element("td", number, class_=f"runs heat{min(most, 4)}", title=title)


def _result(policy: PolicyRecord) -> Markup:
    sign = {"equal": "✓", "inconclusive": "?"}.get(policy.verdict, "✗")
    return element("td", f"{sign} {policy.verdict}", class_=f"result {policy.verdict}")


def _front(record: FrontRecord | None) -> Markup | None:
    if record is None:
        return None
    numbered = list(enumerate(record.costs, 1))
    ran = [_costs(number, one) for number, one in numbered if one.step_ms.measured is not None]
    others = [_costs(number, one) for number, one in numbered if one.step_ms.measured is None]
    heads = ["point", "policy", "retained, predicted", "measured", "step, predicted", "measured", "±"]
    more = element("details", element("summary", f"{len(others)} that did not run"), _table(heads, others))
    return _section(
        "Memory against time",
        element("p", "Hollow: predicted. Solid, with error bars: measured.", class_="note"),
        front(record),
        element("p", record.recommendation) if record.recommendation else None,
        element("div", _table(heads, ran), more if others else None, class_="wide"),
        _list((*record.by_layer, *record.doubts)),
    )


def _costs(number: int, one: CostRecord) -> list[Child]:
    size, time = one.retained_bytes, one.step_ms
    sizes = [byte_count(value) for value in (size.predicted, size.measured)]
    return [
        number,
        one.policy,
        *sizes,
        *(_ms(value) for value in (time.predicted, time.measured, time.error)),
    ]


def _ms(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _bytes(record: Record) -> Markup | None:
    kept: dict[str, int] = {}
    for region in record.regions:
        if region.retained_bytes is not None:
            kept[region.name] = kept.get(region.name, 0) + region.retained_bytes
    if not kept:
        return None
    return _section(
        "Bytes per region",
        element("p", "Kept for backward where the region is saved, all checkpoints together.", class_="note"),
        bytes_per_region(kept),
    )


def _confirmations(record: Record) -> Markup | None:
    if not record.confirmations:
        return None
    sign = {"holds": "✓", "broken": "✗", "inconclusive": "?", "not checked": "–"}
    has_details = any(one.details for one in record.confirmations)
    rows = [
        element(
            "tr",
            element("th", one.name, scope="row"),
            element("td", f"{sign[one.status]} {one.status}", class_=f"result {one.status.split()[0]}"),
            element("td", "; ".join(one.details)) if has_details else None,
        )
        for one in record.confirmations
    ]
    return _section("Confirmed", element("table", element("tbody", *rows)))


def _knock_out(record: Record) -> Markup | None:
    if record.knock_out is None:
        return None
    rows = [
        [f"{one.file}:{one.line}", one.need, one.policy or "–", one.breaks or "–"] for one in record.knock_out
    ]
    return _section("Markers", _table(["marker", "", "policy", "without it"], rows))


def _ranks(record: Record) -> Markup | None:
    ranks = record.ranks
    if ranks is None:
        return None
    text = f"All {ranks.world_size} ranks ran the same regions in the same order."
    if not ranks.agree:
        text = f"Ranks differ or did not report: {', '.join(map(str, ranks.suspects)) or 'unknown'}."
    return _section("Ranks", element("p", text), _list(ranks.findings))


def _manifests(record: Record) -> Markup | None:
    if not record.manifests:
        return None
    found: list[Child] = []
    for one in record.manifests:
        verb = "does not agree" if one.differences else "agrees"
        found.append(element("p", f"{one.file} {verb} with the regions of {one.entry} that ran."))
        found.append(_list(one.differences))
    return _section("Manifest", *found)


def _noise(record: Record) -> Markup:
    noise = record.noise_floor
    if not noise.tensors and not noise.state:
        text = f"{noise.runs} plain runs are equal bit for bit: every difference counts."
        return _section("Noise floor", element("p", text))
    text = f"{noise.runs} plain runs do not agree: a difference in these says nothing about checkpoints."
    return _section(
        "Noise floor",
        element("p", text),
        _differences(noise.tensors),
        _list([one.what for one in noise.state]),
    )


def _environment(record: Record) -> Markup:
    rows: list[tuple[str, Child]] = []
    for field in dataclasses.fields(record.environment):
        value = getattr(record.environment, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = ", ".join(f"{name} {number} %" for name, number in dataclasses.asdict(value).items())
        rows.append((field.name.replace("_", " "), None if value is None else str(value)))
    rows.append(("seeds", ", ".join(map(str, record.seeds))))
    return _section("Environment", _facts(rows))


def _facts(rows: Sequence[tuple[str, Child]]) -> Markup:
    pairs = [joined(element("dt", name), element("dd", value)) for name, value in rows if value is not None]
    return element("dl", *pairs)


def _list(items: Sequence[str]) -> Markup | None:
    return element("ul", *(element("li", one) for one in items)) if items else None


def _table(heads: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    head = element("thead", element("tr", *(element("th", one, scope="col") for one in heads)))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    return element("table", head, element("tbody", *body))
