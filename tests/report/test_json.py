"""The JSON report holds to its documented shape."""

from __future__ import annotations

import json

import jsonschema

from remat_lint.findings import Finding, Fix, InsertMarker, LocatedFinding, Location, Place, Related, Severity
from remat_lint.report import json as report

STEP = {
    "type": "object",
    "required": ["path", "line", "column", "message"],
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "message": {"type": "string"},
    },
}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": [
            *("code", "name", "severity", "message", "path", "line", "column", "end_line", "end_column"),
            *("fix", "chain", "related"),
        ],
        "additionalProperties": False,
        "properties": {
            "code": {"type": "string", "pattern": "^RMT[0-9]{3}$"},
            "name": {"type": "string", "pattern": "^[a-z-]+$"},
            "severity": {"enum": ["error", "warning"]},
            "message": {"type": "string"},
            "path": {"type": "string"},
            "line": {"type": "integer", "minimum": 1},
            "column": {"type": "integer", "minimum": 1},
            "end_line": {"type": "integer", "minimum": 1},
            "end_column": {"type": "integer", "minimum": 1},
            "fix": {"enum": [None, "safe", "unsafe"]},
            "chain": {"type": "array", "items": STEP},
            "related": {"type": "array", "items": STEP},
        },
    },
}


def test_an_empty_report_is_an_empty_list() -> None:
    assert report.render([]) == "[]\n"


def test_the_report_matches_its_schema() -> None:
    where = Location("m\udcff.py", 3, 5, 4, 1)
    step = Related(where, "region “w13” is declared here")
    fixes = (
        None,
        Fix("edit-markers", InsertMarker("m.py", 0, ())),
        Fix("guard", InsertMarker("m.py", 0, ()), safe=False),
    )
    findings = [
        LocatedFinding(
            Finding("RMT101", "missing-marker", Severity.WARNING, "m", Place("m.py", 0), fix),
            where,
            related=(step,),
            chain=(step, step),
        )
        for fix in fixes
    ]
    rendered = json.loads(report.render(findings))
    jsonschema.validate(rendered, SCHEMA)
    assert [found["fix"] for found in rendered] == [None, "safe", "unsafe"]
