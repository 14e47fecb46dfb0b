"""A rule as a page: the same text for ``remat-lint rule CODE`` and for ``docs/rules``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from remat_lint.findings import Severity
from remat_lint.rule import Example, Rule

_OTHER_SEVERITY = {
    Severity.ERROR: "or warning where it is less certain",
    Severity.WARNING: "or error where backward surely raises or the gradients are surely wrong",
}

_FIXES = {
    "safe": "`remat-fix` mends it.",
    "unsafe": "`remat-fix` mends it only with `--unsafe-fixes`.",
    "safe or unsafe": "`remat-fix` mends it; where the fix loses a comment, only with `--unsafe-fixes`.",
}


def page(rule: Rule) -> str:
    """The rule in Markdown: what it does, why it is bad, an example, what to write instead."""
    parts = [f"# {rule.name} ({rule.code})", _traits(rule), inspect.getdoc(rule) or ""]
    if rule.fails:
        parts += ["## Example", *(_code(example) for example in rule.fails[:1])]
    if rule.passes:
        parts += ["## Use instead", *(_code(example) for example in rule.passes[:1])]
    parts += _more("## More that is reported", rule.fails[1:])
    parts += _more("## More that is fine", rule.passes[1:])
    return "\n\n".join(parts) + "\n"


def table(rules: Sequence[Rule]) -> str:
    """One line a rule."""
    return "".join(_row(rule) for rule in rules)


def summary(rule: Rule) -> str:
    """The first sentence of the rule's page, in one line."""
    text = inspect.getdoc(rule) or ""
    prose = "\n".join(line for line in text.split("\n") if not line.startswith("#")).strip()
    first_paragraph = " ".join(prose.split("\n\n")[0].split())
    return first_paragraph.split(". ")[0].rstrip(".") + "."


def _row(rule: Rule) -> str:
    fix = [] if rule.fix is None else ["fix with --unsafe-fixes" if rule.fix == "unsafe" else "fix"]
    marks = ", ".join(fix + ["opt-in"] * rule.opt_in)
    return f"{rule.code}  {rule.name:<26} {rule.severity.value:<8} {marks}".rstrip() + "\n"


def _traits(rule: Rule) -> str:
    traits = [_severity(rule)]
    traits += [_FIXES[rule.fix]] if rule.fix else []
    traits += [f"Opt-in: select it by its full code, `--select {rule.code}`."] * rule.opt_in
    return " ".join(traits)


def _severity(rule: Rule) -> str:
    other = f", {_OTHER_SEVERITY[rule.severity]}" * rule.grades
    return f"Severity: {rule.severity.value}{other}."


def _more(title: str, examples: Sequence[Example]) -> Iterator[str]:
    if examples:
        yield title
    for example in examples:
        yield _code(example)


def _code(example: Example) -> str:
    """The program, with the reported lines marked."""
    lines = example.code.rstrip("\n").split("\n")
    for number in example.at:
        lines[number - 1] += "  # <- here"
    return "\n".join(["```python", *lines, "```"])
