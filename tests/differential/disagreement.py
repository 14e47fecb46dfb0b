"""A disagreement between linter, fixer and runtime, in the smallest program that shows it."""

from __future__ import annotations

from tests.differential.fixing import fix_failures
from tests.differential.oracle import MARK, Comparison, Judgement, compare
from tests.differential.reduction import reduce_program


def disagreements(comparison: Comparison) -> dict[str, str]:
    """What is wrong with a program, each kind with its details; nothing where all agree."""
    if comparison.judgement in (Judgement.MISSED, Judgement.FALSE):
        return {comparison.judgement.value: ""}
    return {failure.split(":")[0].partition("\n")[0]: failure for failure in fix_failures(comparison)}


def lasting(source: str) -> tuple[Comparison, dict[str, str], bool]:
    """A program compared, its disagreements, and whether there were others that a second run did not show.

    Some kernels add up in another order where memory lies otherwise, so one run in hundreds gives other bits.
    """
    comparison = compare(source)
    kinds = disagreements(comparison)
    if not kinds:
        return comparison, {}, False
    again = compare(source)
    confirmed = disagreements(again)
    return again, confirmed, not confirmed


def smallest(source: str) -> str:
    """The report of the smallest program found with the first of its disagreements."""
    kinds = disagreements(compare(source))
    if not kinds:
        return f"not seen again: the outcome depends on something else\n{source}"
    kind = min(kinds)
    program = reduce_program(source, MARK, lambda candidate: _shows(kind, candidate))
    comparison = compare(program)
    details = [
        text.partition("\n")[0] + "\n" + _generated(text)
        for text in disagreements(comparison).values()
        if text
    ]
    return "\n".join([kind, _generated(str(comparison)), *details])


def _shows(kind: str, source: str) -> bool:
    try:
        return kind in disagreements(compare(source))
    except Exception:  # noqa: BLE001 - a variant that the linter fails on is another matter
        return False


def _generated(text: str) -> str:
    return text[text.find(MARK) + len(MARK) :].strip()
