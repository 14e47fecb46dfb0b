"""The rules, one file each.

``all_rules()`` finds them by their file names: adding a rule is adding a file.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files

from remat_lint.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """One object of every rule, ordered by code."""
    names = sorted(
        entry.name.removesuffix(".py")
        for entry in files("remat_lint.rules").iterdir()
        if entry.name.startswith("rmt") and entry.name.endswith(".py")
    )
    rules = []
    for name in names:
        module = import_module(f"remat_lint.rules.{name}")
        rules += [
            value()
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Rule) and value is not Rule
        ]
    return tuple(sorted(rules, key=lambda rule: rule.code))
