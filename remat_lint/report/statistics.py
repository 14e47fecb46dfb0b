"""What a run did, in numbers: for ``--statistics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from remat_lint.findings import LocatedFinding


@dataclass(slots=True)
class Statistics:
    """Counts over all files of a run."""

    files: int = 0
    relevant: int = 0
    skipped: int = 0
    suppressed: int = 0
    given_up: Counter[str] = field(default_factory=Counter)


def render(statistics: Statistics, findings: Sequence[LocatedFinding]) -> str:
    """One line for each rule that reported, then the files, then where the analysis gave up."""
    return "\n".join([*_codes(findings), *_files(statistics), *_given_up(statistics)]) + "\n"


def _codes(findings: Sequence[LocatedFinding]) -> Iterator[str]:
    counts = Counter((finding.code, finding.finding.name) for finding in findings)
    for (code, name), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{number:>6}  {code}  {name}"


def _files(statistics: Statistics) -> Iterator[str]:
    yield f"{statistics.files:>6}  files read"
    yield f"{statistics.relevant:>6}  of them analysed (the others hold no relevant word)"
    yield f"{statistics.skipped:>6}  files or folders skipped"
    yield f"{statistics.suppressed:>6}  findings suppressed by comments"


def _given_up(statistics: Statistics) -> Iterator[str]:
    yield f"{statistics.given_up.total():>6}  places where the analysis gave up"
    for reason, number in sorted(statistics.given_up.items(), key=lambda item: (-item[1], item[0])):
        yield f"{number:>10}  {reason}"
