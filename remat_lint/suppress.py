"""Comments that silence findings.

* ``# remat-lint: ignore[RMT101] reason`` on the line, ``# remat-lint: ignore`` for all codes
* ``# remat-lint: ignore-file[RMT5] reason`` on a line of its own before the first code
* ``# noqa: RMT101``, and the bare ``# noqa``, as flake8 and ruff have it

A comment counts for the line where a finding starts or ends, and, on the last line of a statement that spans
several, for the whole statement. Text in strings is no comment: the tokenizer decides.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from remat_lint.findings import LocatedFinding

_CODE = r"[A-Z]+[0-9]+(?![A-Z0-9])"
_PREFIX = r"[A-Z]+[0-9]*"
_OURS = re.compile(
    r"#\s*remat-lint:\s*(?P<kind>ignore-file|ignore)\b(?!-)(?:\s*\[(?P<codes>[^\]]*)\]|(?!\s*\[))"
)
_NAME = re.compile(r"[^\s,]+")
_NOQA = re.compile(
    rf"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>{_CODE}(?:[\s,]+{_CODE})*)?)?", re.IGNORECASE | re.ASCII
)
MENTION = b"remat-lint:"
"""Stands in every file with a comment of our own."""

_LAYOUT = (tokenize.NL, tokenize.ENCODING, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Suppression:
    """The codes, or prefixes of codes, that a comment silences; None for all."""

    codes: tuple[str, ...] | None

    def hides(self, code: str) -> bool:
        """Whether a finding with this code is silenced."""
        return self.codes is None or code.startswith(self.codes)


@dataclass(slots=True)
class Suppressions:
    """The suppressions of one file: for the file, by line, and the last line of each statement.

    ``named`` are the codes that our own comments name, as written, by line: those of ``noqa`` may be others'.
    """

    whole_file: list[Suppression] = field(default_factory=list)
    by_line: dict[int, list[Suppression]] = field(default_factory=dict)
    last_line: dict[int, int] = field(default_factory=dict)
    named: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def in_text(cls, text: str) -> Suppressions:
        """Read from a file's text; where it cannot be tokenized to its end, what was found until then."""
        found = cls()
        before_code = True
        first_line = None
        for token in _tokens(text):
            if token.type == tokenize.COMMENT:
                found._add(token, alone_on_top=before_code and not token.line[: token.start[1]].strip())
            elif token.type == tokenize.NEWLINE:
                found._end_statement(first_line or token.start[0], token.start[0])
                first_line = None
            elif token.type not in _LAYOUT:
                first_line = first_line or token.start[0]
                before_code = before_code and token.type == tokenize.STRING  # the module's docstring
        return found

    def hide(self, finding: LocatedFinding) -> bool:
        """Whether a comment silences the finding."""
        where = finding.location
        lines = {where.line, where.end_line, self.last_line.get(where.line, where.line)}
        here = [suppression for line in lines for suppression in self.by_line.get(line, ())]
        return any(suppression.hides(finding.code) for suppression in here + self.whole_file)

    def unknown(self, known: Collection[str]) -> Iterator[tuple[int, list[str]]]:
        """For each line the codes named there that neither are one of the ``known`` nor begin one."""
        for line, codes in self.named.items():
            wrong = [name for name in codes if not any(code.startswith(name.upper()) for code in known)]
            if wrong:
                yield line, wrong

    def _add(self, token: tokenize.TokenInfo, *, alone_on_top: bool) -> None:
        names = [
            name for match in _OURS.finditer(token.string) for name in _NAME.findall(match["codes"] or "")
        ]
        if names:
            self.named[token.start[0]] = names
        for of_file, suppression in _read(token.string):
            if not of_file:
                self.by_line.setdefault(token.start[0], []).append(suppression)
            elif alone_on_top:
                self.whole_file.append(suppression)

    def _end_statement(self, first: int, last: int) -> None:
        for line in range(first, last):
            self.last_line[line] = last


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _read(comment: str) -> Iterator[tuple[bool, Suppression]]:
    """The suppressions in one comment: whether it is for the file, and which codes."""
    for match in _OURS.finditer(comment):
        codes = match["codes"]
        yield match["kind"] == "ignore-file", Suppression(None if codes is None else _codes(_PREFIX, codes))
    for match in _NOQA.finditer(comment):
        if match["codes"] or not match["colon"]:
            yield False, Suppression(_codes(_CODE, match["codes"]) if match["colon"] else None)


def _codes(pattern: str, text: str) -> tuple[str, ...]:
    return tuple(name for name in _NAME.findall(text.upper()) if re.fullmatch(pattern, name))
