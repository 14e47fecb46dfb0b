"""RMT900: a file does not parse."""

from __future__ import annotations

from collections.abc import Iterator

from remat_lint.analysis.facts import ModuleFacts
from remat_lint.findings import Finding, Severity
from remat_lint.rule import Rule


class SyntaxErrorRule(Rule):
    """## What it does
    Reports a file that is no valid Python: a syntax error, bytes that cannot be decoded, a NUL
    byte, or code nested too deeply to be analysed. The other files of the run are linted.

    ## Why is this bad?
    Nothing in the file can be checked.

    ## What to write instead
    Mend the file, or exclude it in the configuration.
    """

    code = "RMT900"
    name = "syntax-error"
    severity = Severity.ERROR
    fails = ()
    passes = ()

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """Nothing: a file that has facts was parsed. The linter itself makes the finding."""
        del facts
        return iter(())
