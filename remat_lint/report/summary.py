"""The last line of a text report; apart, since it is all that a clean run needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remat_lint.findings import LocatedFinding


def summarise(findings: Sequence[LocatedFinding], *, linted: int, failed: int = 0) -> str:
    """``Found 3 findings (2 fixable with remat-fix).``"""
    failures = f"; {_count(failed, 'file')} could not be linted" * bool(failed)
    if not findings:
        return f"No findings in {_count(linted, 'file')}{failures}."
    safe = sum(finding.fix_kind == "safe" for finding in findings)
    unsafe = sum(finding.fix_kind == "unsafe" for finding in findings)
    notes = [f"{safe} fixable with remat-fix"] * bool(safe)
    notes += [f"{unsafe} with remat-fix --unsafe-fixes"] * bool(unsafe)
    fixable = f" ({', '.join(notes)})" * bool(notes)
    return f"Found {_count(len(findings), 'finding')}{fixable}{failures}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)
