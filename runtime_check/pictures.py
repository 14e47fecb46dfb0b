"""The pictures of the HTML page: memory against time, and bytes per region."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from remat_lint.runtime_check.markup import Markup, element
from remat_lint.runtime_check.record import CostRecord, FrontRecord

_NAMES = {1: "B", 2**10: "KiB", 2**20: "MiB", 2**30: "GiB"}
_WIDTH, _HEIGHT = 860, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 60, 16, 48
_NEAR = 1.3  # times the greatest value: a budget up to there is drawn


def byte_count(count: float | None) -> str:
    """Bytes in the unit that suits them."""
    if count is None:
        return "–"
    unit = _unit(abs(count))
    return f"{count / unit:.4g} {_NAMES[unit]}"


@dataclass(frozen=True)
class _Axis:
    """Values from ``low`` to ``high``, drawn from ``start`` to ``end``; ``unit`` is what is counted in."""

    low: float
    high: float
    start: float
    end: float
    unit: float = 1

    def at(self, value: float) -> float:
        """Where a value is drawn."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[float]:
        """Round numbers of units inside, about five."""
        low, high = self.low / self.unit, self.high / self.unit
        power = 10.0 ** math.floor(math.log10((high - low) / 5))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= (high - low) / 5)
        inside = range(math.ceil(low / step), math.floor(high / step) + 1)
        return [number * step * self.unit for number in inside]


def _axis(values: list[float], start: float, end: float, unit: float = 1) -> _Axis:
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    return _Axis(low - room, high + room, start, end, unit)


def _unit(count: float) -> int:
    return next((unit for unit in (2**30, 2**20, 2**10) if count >= unit), 1)


def front(record: FrontRecord) -> Markup | None:
    """Retained bytes to the right, milliseconds upwards; None where nothing has both.

    What ran has a number, by its place among all; a budget far to the right is left out.
    """
    drawn = [
        (number, cost)
        for number, cost in enumerate(record.costs, 1)
        if cost.retained_bytes.best is not None and cost.step_ms.best is not None
    ]
    if not drawn:
        return None
    xs = [
        value
        for _, cost in drawn
        for value in _both(cost.retained_bytes.predicted, cost.retained_bytes.measured)
    ]
    budget = record.budget_bytes
    if budget is not None and budget <= _NEAR * max(xs):
        xs.append(budget)
    ys = [value for _, cost in drawn for value in _heights(cost)]
    across = _axis(xs, _LEFT, _WIDTH - _RIGHT, _unit(max(xs)))
    up = _axis(ys, _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(across, up), *_limit(record, across)]
    for number, cost in drawn:
        parts += _points(number, cost, across, up)
    title = "Retained bytes and time of a step, for each policy"
    return element(
        "svg",
        element("title", title),
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        role="img",
        aria_label=title,
    )


def _both(*values: float | None) -> list[float]:
    return [value for value in values if value is not None]


def _heights(cost: CostRecord) -> list[float]:
    time = cost.step_ms
    found = _both(time.predicted, time.measured)
    if time.measured is not None and time.error is not None:
        found += [time.measured - time.error, time.measured + time.error]
    return found


def _grid(across: _Axis, up: _Axis) -> Iterator[Markup]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for value in across.ticks:
        x = across.at(value)
        yield element("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid")
        yield element("text", byte_count(value), x=x, y=bottom + 18, text_anchor="middle", class_="faint")
    for value in up.ticks:
        y = up.at(value)
        yield element("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="grid")
        yield element("text", f"{value:g} ms", x=_LEFT - 8, y=y + 4, text_anchor="end", class_="faint")
    yield element("line", x1=_LEFT, x2=right, y1=bottom, y2=bottom, class_="axis")
    yield element("line", x1=_LEFT, x2=_LEFT, y1=_TOP, y2=bottom, class_="axis")
    yield element(
        "text", "retained after forward", x=(_LEFT + right) / 2, y=_HEIGHT - 8, text_anchor="middle"
    )


def _limit(record: FrontRecord, across: _Axis) -> Iterator[Markup]:
    if record.budget_bytes is not None and record.budget_bytes <= across.high:
        x = across.at(record.budget_bytes)
        yield element("line", x1=x, x2=x, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="limit")
        yield element("text", "budget", x=x + 4, y=_TOP + 12)


def _points(number: int, cost: CostRecord, across: _Axis, up: _Axis) -> Iterator[Markup]:
    """The predicted point, the measured one with its error bar, and a line between them."""
    size, time = cost.retained_bytes, cost.step_ms
    assert size.best is not None
    assert time.best is not None
    predicted = measured = None
    if time.predicted is not None:
        predicted = across.at(size.best if size.predicted is None else size.predicted), up.at(time.predicted)
    if time.measured is not None:
        measured = across.at(size.best), up.at(time.measured)
    if predicted and measured:
        yield _line(predicted, measured, "link")
    label = element("title", f"{cost.policy}: {byte_count(size.best)}, {time.best:.4g} ms")
    if predicted:
        yield element("circle", label, cx=predicted[0], cy=predicted[1], r=4.5, class_="hollow")
    if measured and time.measured is not None:
        x, error = measured[0], time.error or 0
        low, high = up.at(time.measured - error), up.at(time.measured + error)
        yield _line((x, low), (x, high), "error")
        for y in (low, high):
            yield _line((x - 4, y), (x + 4, y), "error")
        yield element("circle", label, cx=x, cy=measured[1], r=4.5, class_="solid")
        yield element("text", number, x=x, y=min(high, measured[1] - 5) - 4, text_anchor="middle")


def _line(start: tuple[float, float], end: tuple[float, float], kind: str) -> Markup:
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def bytes_per_region(kept: Mapping[str, int]) -> Markup:
    """A bar for each region."""
    height, room, width = 22, 240, 480
    most = max(kept.values()) or 1
    parts: list[Markup] = []
    for row, (name, count) in enumerate(kept.items()):
        y = row * height
        length = round(count / most * width, 1)
        parts += [
            element("text", _short(name), x=room - 8, y=y + 15, text_anchor="end"),
            element("rect", x=room, y=y + 4, width=length, height=height - 8, class_="solid"),
            element("text", byte_count(count), x=room + length + 6, y=y + 15, class_="faint"),
        ]
    title = "Bytes that each region keeps"
    total = len(kept) * height
    return element(
        "svg",
        element("title", title),
        *parts,
        viewBox=f"0 0 {_WIDTH} {total}",
        width=_WIDTH,
        height=total,
        role="img",
        aria_label=title,
    )
