"""Records as JUnit XML: a suite for each target, a case for each policy and each confirmation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from remat_lint.runtime_check.markup import Markup, element
from remat_lint.runtime_check.record import ConfirmationRecord, PolicyRecord, Record
from remat_lint.runtime_check.verdicts import Status, Verdict


def rendered(records: Sequence[Record]) -> str:
    """The whole file.

    What is inconclusive is an error, never a skipped case: nothing was confirmed.
    """
    suites = [_suite(record) for record in records]
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element("testsuites", *suites, name="remat-check")}\n'


def _suite(record: Record) -> Markup:
    cases = list(_cases(record))
    properties = [
        element("property", name=name, value=value)
        for name, value in (
            ("verdict", record.verdict),
            ("evidence_level", record.evidence_level),
            ("torch", record.environment.torch),
            ("device", record.environment.device),
        )
    ]
    return element(
        "testsuite",
        element("properties", *properties),
        *cases,
        name=record.target,
        tests=len(cases),
        failures=sum("<failure" in case for case in cases),
        errors=sum("<error" in case for case in cases),
        skipped=sum("<skipped" in case for case in cases),
    )


def _cases(record: Record) -> Iterator[Markup]:
    for policy in record.policies:
        yield element("testcase", _of_policy(policy), classname=record.target, name=f"policy {policy.name}")
    for one in record.confirmations:
        yield element("testcase", _of_confirmation(one), classname=record.target, name=f"confirms {one.name}")
    if record.verdict not in ("holds", "broken"):
        why = (record.explanation or "").splitlines()
        error = _problem("error", record.verdict, why)
        yield element("testcase", error, classname=record.target, name="verdict")


def _of_policy(policy: PolicyRecord) -> Markup | None:
    if policy.verdict == Verdict.EQUAL.value:
        return None
    if policy.verdict == Verdict.INCONCLUSIVE.value:
        return _problem("error", "inconclusive: the plain step does not repeat itself", ())
    return _problem("failure", policy.findings[0], policy.findings)


def _of_confirmation(one: ConfirmationRecord) -> Markup | None:
    if one.status == Status.HOLDS.value:
        return None
    if one.status == Status.NOT_CHECKED.value:
        return element("skipped", message=one.details[0] if one.details else "not checked")
    kind = "failure" if one.status == Status.BROKEN.value else "error"
    return _problem(kind, one.details[0] if one.details else one.status, one.details)


def _problem(kind: str, message: str, details: Iterable[str]) -> Markup:
    return element(kind, "\n".join(details), message=message)
