"""The shape of a rule: its documentation, its examples, and a function from facts to findings.

A rule keeps no state and never sees the tree. Adding one is adding a file to ``rules/``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from remat_lint.findings import Finding, Fix, Place, Severity, Step

if TYPE_CHECKING:
    from remat_lint.analysis.facts import ModuleFacts


RuleFix = Literal["safe", "unsafe", "safe or unsafe"]
"""Whether `remat-fix` mends findings by itself, only with `--unsafe-fixes`, or some so and others so."""


@dataclass(frozen=True, slots=True)
class Example:
    """A program that shows a rule: tests lint it, and run it where torch_remat is installed.

    ``source`` defines ``run(x)``, which makes its checkpoints itself, or ``body(x)``, run under one, with
    ``x`` of shape (4, 8). ``at`` are the 1-based lines that the rule reports (none for a passing example),
    counted in ``source`` without its leading blank line. ``runtime`` is a part of the message that forward or
    backward raises, ``"ok"``, or ``"wrong-gradient"`` where the gradients are not those of the same program
    without checkpoints.
    """

    source: str
    at: tuple[int, ...] = ()
    runtime: str = "ok"

    @property
    def code(self) -> str:
        """The program itself, without the indentation it has inside the rule's file."""
        return inspect.cleandoc(self.source) + "\n"


class Rule:
    """One mistake. The docstring of a subclass is its page: what, why, what to write instead."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    grades: ClassVar[bool] = False
    """Whether some findings are of the other severity, by what is known of the place."""

    fix: ClassVar[RuleFix | None] = None
    """What `remat-fix` makes of the findings of this rule, where it mends any."""

    opt_in: ClassVar[bool] = False
    fails: ClassVar[tuple[Example, ...]]
    passes: ClassVar[tuple[Example, ...]]

    def check(self, facts: ModuleFacts) -> Iterator[Finding]:
        """Yield what is wrong in one module."""
        raise NotImplementedError  # pragma: no cover - abstract

    def at(
        self,
        place: Place,
        message: str,
        *,
        severity: Severity | None = None,
        fix: Fix | None = None,
        related: tuple[Step, ...] = (),
        chain: tuple[Step, ...] = (),
        unfixable: str | None = None,
    ) -> Finding:
        """A finding of this rule."""
        return Finding(
            self.code, self.name, severity or self.severity, message, place, fix, related, chain, unfixable
        )
