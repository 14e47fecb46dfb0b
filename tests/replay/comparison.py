"""Whether the linter says of a program what running it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from remat_lint.config import Config
from remat_lint.findings import LocatedFinding, Severity
from remat_lint.linter import Linter
from remat_lint.source import SourceFile
from tests.replay.axes import Flow, Hook, Region
from tests.replay.deeds import RIGHT, Outcome, Stream
from tests.replay.expectations import expected_of, replays
from tests.replay.oracle import Verdict, verdicts_of
from tests.replay.writer import PRELUDE, Program

JUDGED = ("RMT4", "RMT5")
ALSO_RIGHT = ("RMT106",)
"""A rule of another family that may name a cause of wrong gradients."""
BROKEN = (Hook.HALF, Hook.LIVE, Hook.NOOP, Hook.ENTERED)
PATH = "generated/program.py"

MISSED = "missed"
ONLY_A_WARNING = "wrong, but only a warning"
ELSEWHERE = "wrong, but reported on another line"
FALSE = "right, but reported as an error"
UNREPORTED = "done twice, but not reported"
NOISE = "nothing to see, but a warning"
DOUBLED = "reported more than once"


@dataclass
class Comparison:
    """A program, what it does for each answer of its policy, and what the linter says of it."""

    program: Program
    verdicts: dict[bool, Verdict]
    findings: list[LocatedFinding] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The kind of disagreement, empty where they agree or there is nothing to judge."""
        if not self.verdicts:
            return ""
        outcomes = {verdict.outcome for verdict in self.verdicts.values()}
        kind = self._kind_of_wrong() if outcomes != {Outcome.RIGHT} else self._kind_of_right()
        places = [(finding.code, finding.location) for finding in self.findings]
        return kind or (DOUBLED if len(set(places)) < len(places) else "")

    def _kind_of_wrong(self) -> str:
        """Something has to be reported, as an error where it always goes wrong, whatever comes in."""
        relevant = [f for f in self.findings if f.code.startswith((*JUDGED, *ALSO_RIGHT))]
        there = [f for f in relevant if self._is_there(f)]
        # what the forward is handed decides the branch: nobody knows whether it is taken
        decided = all(site.flow is not Flow.BRANCH for site in self.program.case.sites)
        outcomes = {verdict.outcome for verdict in self.verdicts.values()}
        always = decided and outcomes <= {Outcome.WRONG, Outcome.RAISES}
        if any(f.finding.severity is Severity.ERROR or not always for f in there):
            return ""
        if there:
            return ONLY_A_WARNING
        return ELSEWHERE if relevant else MISSED

    def _kind_of_right(self) -> str:
        case = self.program.case
        said = [f for f in self.findings if f.code.startswith(JUDGED)]
        expected = [expected_of(case, answer) for answer in self.verdicts]
        lucky = any(one.outcomes != RIGHT for one in expected)
        about_hook = [f for f in said if f.code == "RMT403" and case.hook in BROKEN]
        if not lucky and any(f.finding.severity is Severity.ERROR for f in said if f not in about_hook):
            return FALSE
        twice = any(verdict.state or verdict.printed for verdict in self.verdicts.values())
        if twice:
            return "" if any(self._is_there(f) for f in said) else UNREPORTED
        return NOISE if said and not lucky and not self._may_be_warned() else ""

    def _is_there(self, finding: LocatedFinding) -> bool:
        line = finding.location.line
        return line in self.program.blamed or (finding.code == "RMT403" and line in self.program.hook_lines)

    def _may_be_warned(self) -> bool:
        """Draws in saved regions without their hook, streams left elsewhere, and writes of the same value."""
        case = self.program.case
        drawn = any(site.deed.draws is not Stream.NOTHING for site in case.sites)
        saved = (
            drawn and case.hook is not Hook.RIGHT and any(site.region is Region.SAVE for site in case.sites)
        )
        moved = any(verdict.streams for verdict in self.verdicts.values())
        warned = any(
            site.deed.warned and any(replays(site, case, answer) for answer in self.verdicts)
            for site in case.sites
        )
        return saved or moved or warned or case.hook in BROKEN

    def __str__(self) -> str:
        lines = [f"--- {self.kind or 'agreed'}: {self.program.case}"]
        skipped = PRELUDE.count("\n")
        for number, text in enumerate(self.program.source.splitlines(), start=1):
            if number > skipped:
                lines.append(f"{number:3d}{'!' if number in self.program.blamed else ' '} {text}")
        lines.append("--- runtime")
        for answer, verdict in self.verdicts.items():
            lines.append(f"recompute={answer}: {verdict}" if len(self.verdicts) > 1 else str(verdict))
        lines.append("--- linter")
        said = [
            f"{f.location.line}: {f.code} {f.finding.severity.value}: {f.finding.message}"
            for f in self.findings
        ]
        return "\n".join([*lines, *(said or ["silent"])])


def compare(program: Program) -> Comparison:
    """Run and lint one program."""
    comparison = Comparison(program, verdicts_of(program))
    if comparison.verdicts:
        linter = Linter(Config(root=Path(), select=(*JUDGED, *ALSO_RIGHT)))
        report = linter.lint(SourceFile(PATH, program.source.encode()))
        assert report.failure is None, report.failure
        comparison.findings = report.findings
    return comparison
