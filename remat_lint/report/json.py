"""Findings as a JSON list, for tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remat_lint.findings import LocatedFinding, Location, Related


def render(findings: Sequence[LocatedFinding]) -> str:
    """A list of objects, one for each finding, in the order given."""
    return json.dumps([_object(finding) for finding in findings], indent=2) + "\n"


def _object(located: LocatedFinding) -> dict[str, object]:
    finding, where = located.finding, located.location
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_place(where),
        "end_line": where.end_line,
        "end_column": where.end_column,
        "fix": located.fix_kind,
        "chain": [_related(step) for step in located.chain],
        "related": [_related(step) for step in located.related],
    }


def _place(where: Location) -> dict[str, object]:
    return {"path": where.path, "line": where.line, "column": where.column}


def _related(step: Related) -> dict[str, object]:
    return {**_place(step.location), "message": step.message}
