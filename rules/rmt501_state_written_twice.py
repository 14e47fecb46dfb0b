"""RMT501: state outside the call is written by the forward and by the replay."""
from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts, StateWrite, Written
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Rule


class StateWrittenTwice(Rule):
    code = "RMT501"
    name = "state-written-twice"
    severity = Severity.WARNING
    fails = ()
    passes = ()

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        for write in facts.of(StateWrite):
            code = write.written not in (Written.BUFFER, Written.INPUT, Written.STATISTICS)
            yield self.at(write.place, f"{code} {write}")
