"""A collective that writes what it is handed is one cause, and one finding."""

from __future__ import annotations

import pytest

from remat_lint.analysis import analyse
from remat_lint.findings import Severity
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

SOURCE = """
import torch.distributed as dist
import torch_remat as remat

def body(x):
    {line}
    return x.sin()

def step(x):
    return remat.checkpoint(region_name="layers.0")(body)(x)
"""


@pytest.mark.parametrize(
    ("line", "severity", "says"),
    [
        ("dist.all_reduce(x)", Severity.ERROR, "it changes `x` in place, which has other values then"),
        ("y = x.clone(); dist.all_reduce(y)", Severity.WARNING, "hang where one of them replays otherwise."),
    ],
)
def test_one_finding_says_both(line: str, severity: Severity, says: str) -> None:
    facts = analyse(SourceFile("model.py", SOURCE.format(line=line).encode()), Project())
    (found,) = [f for rule in all_rules() if rule.code.startswith("RMT5") for f in rule.check(facts)]
    assert (found.code, found.severity) == ("RMT504", severity)
    assert says in found.message
