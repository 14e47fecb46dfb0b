"""A relevant file from its analysis to the findings that are shown. Imported for the first such file only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import GivenUp, ModuleFacts
from remat_lint.config import Config
from remat_lint.discovery import PerFileIgnores
from remat_lint.findings import Finding, LocatedFinding, Location, Place, Severity
from remat_lint.limits import TOO_DEEP, deepest_line
from remat_lint.locate import Locator, line_at, lines_of
from remat_lint.project import Project
from remat_lint.rule import Rule
from remat_lint.rules import all_rules
from remat_lint.selection import RESERVED, SYNTAX_ERROR, Selection, covers
from remat_lint.source import SourceError, SourceFile
from remat_lint.suppress import MENTION, Suppressions


@dataclass(frozen=True, slots=True)
class Findings:
    """What the pipeline knows of one file.

    ``every_code`` counts findings before any selection, those of opt-in rules where they were asked for.
    ``warnings`` are about comments that cannot silence anything.
    """

    findings: list[LocatedFinding]
    suppressed: int
    given_up: Counter[str]
    every_code: Counter[str]
    warnings: tuple[str, ...] = ()


class Pipeline:
    """The rules of one run."""

    def __init__(self, config: Config) -> None:
        """The rules are read once."""
        self._rules = all_rules()
        self._filter = Filter.of(config, self._rules)

    def analyse(self, source: SourceFile, project: Project) -> ModuleFacts:
        """The facts of a file. Raises ``SourceError`` for one that cannot be parsed."""
        try:
            return analyse(source, project)
        except RecursionError:
            raise SourceError(TOO_DEEP, deepest_line(source.raw)) from None

    def judge(self, source: SourceFile, facts: ModuleFacts, project: Project) -> Findings:
        """The findings of a file, given what is known of it."""
        given_up = Counter(fact.reason for fact in facts.of(GivenUp))
        found = [finding for rule in self._rules for finding in rule.check(facts)]
        located = sorted(Locator(source, project).locate(found), key=lambda finding: finding.sort_key)
        wanted = self._filter.keep(source.path, located)
        comments = _suppressions(wanted, source)
        left = [finding for finding in wanted if not comments.hide(finding)]
        every_code = Counter(one.code for one in located if self._filter.selection.may_report(one.code))
        warnings = tuple(self._warnings(source.path, comments))
        return Findings(left, len(wanted) - len(left), given_up, every_code, warnings)

    def _warnings(self, path: str, comments: Suppressions) -> Iterator[str]:
        """A line for each comment that names what is no rule, in this version or a later one."""
        for line, codes in comments.unknown(RESERVED.union(rule.code for rule in self._rules)):
            names = ", ".join(map(repr, codes))
            yield f"{path}:{line}: unknown rule code {names}; `remat-lint rule --all` lists the codes"

    def unreadable(self, source: SourceFile, error: SourceError) -> Findings:
        """Comments silence nothing here: what does not parse has none that could be trusted."""
        finding = Finding(SYNTAX_ERROR, "syntax-error", Severity.ERROR, error.message, Place(source.path, 0))
        where = Location(source.path, error.line, error.column, error.line, error.column + 1)
        located = LocatedFinding(finding, where, line_at(lines_of(source), error.line))
        wanted = self._filter.keep(source.path, [located])
        return Findings(wanted, 0, Counter(), Counter([SYNTAX_ERROR]))


@dataclass(frozen=True, slots=True)
class Filter:
    """What the configuration wants to hear of."""

    selection: Selection
    per_file: PerFileIgnores

    @classmethod
    def of(cls, config: Config, rules: Iterable[Rule]) -> Filter:
        """The selectors of a configuration; the rules say which of them are opt-in."""
        opt_in = frozenset(rule.code for rule in rules if rule.opt_in)
        selection = Selection(config.select, config.ignore, config.extend_select, opt_in)
        return cls(selection, PerFileIgnores(config))

    def keep(self, path: str, located: Iterable[LocatedFinding]) -> list[LocatedFinding]:
        """The findings of one file that are selected and not ignored there."""
        ignored = self.per_file.of(path)
        return [
            finding
            for finding in located
            if self.selection.wants(finding.code)
            and not any(covers(selector, finding.code) for selector in ignored)
        ]


def _suppressions(findings: Collection[LocatedFinding], source: SourceFile) -> Suppressions:
    """Those of a file; they are looked for only where there is something to silence or a comment of ours."""
    return Suppressions.in_text(source.text) if findings or MENTION in source.raw else Suppressions()
