"""What torch_remat does with a generated program, and whether the linter agrees."""

from __future__ import annotations

import contextlib
import contextvars
import io
import itertools
import re
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

from remat_lint.analysis import analyse
from remat_lint.findings import Finding
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import torch_remat as remat

JUDGED = ("RMT101", "RMT106", "RMT107")
PLACEHOLDER, IN_PLACE, ERROR, OK, WRONG = "placeholder", "in-place", "error", "ok", "wrong-gradient"
_IN_PLACE_TEXTS = ("modified in-place", "is a view and is being modified inplace", "modified by an inplace")


class Judgement(str, Enum):
    """How linter and runtime compare."""

    AGREED = "agreed"
    MISSED = "missed"
    FALSE = "false"
    DISCARDED = "discarded"


@dataclass(frozen=True)
class Setting:
    """One way to run a program: the values of its flags and the answers of its policy."""

    flag_a: bool
    flag_b: bool
    recomputed: frozenset[str] = frozenset()


@dataclass
class Comparison:
    """The verdict of the runtime for each setting, the linter's findings, and the judgement."""

    source: str
    verdicts: dict[Setting, tuple[str, str]]
    file: SourceFile
    findings: list[Finding] = field(default_factory=list)
    judgement: Judgement = Judgement.DISCARDED

    def reported_lines(self, finding: Finding) -> range:
        """The lines of the program that a finding points at."""
        span = self.file.span(finding.place.node)
        return range(span.line, span.end_line + 1)

    def __str__(self) -> str:
        lines = [f"--- {self.judgement.value}", self.source.rstrip(), "--- runtime"]
        for setting, (verdict, why) in self.verdicts.items():
            policy = f" recompute={sorted(setting.recomputed)}" if setting.recomputed else ""
            lines.append(f"a={setting.flag_a} b={setting.flag_b}{policy}: {verdict} {why}")
        lines.append("--- linter")
        lines += [f"{self.reported_lines(f)[0]}: {f.code} {f.message}" for f in self.findings] or ["silent"]
        return "\n".join(lines)


def compare(source: str) -> Comparison:
    """Run and lint one program."""
    lines: set[int] = set()
    comparison = Comparison(source, runtime_verdicts(source, lines), SourceFile(PATH, source.encode()))
    outcomes = {verdict for verdict, _ in comparison.verdicts.values()}
    if not outcomes or (ERROR in outcomes and PLACEHOLDER not in outcomes):
        return comparison
    comparison.findings = lint(comparison.file)
    comparison.judgement = _judge(outcomes, comparison, lines)
    return comparison


def _judge(outcomes: set[str], comparison: Comparison, lines: set[int]) -> Judgement:
    """``lines`` are those that were run: of the others the runtime says nothing."""
    codes = {finding.code for finding in comparison.findings}
    if PLACEHOLDER in outcomes:
        reads = codes & {"RMT101", "RMT107"}
        return Judgement.AGREED if reads or (IN_PLACE in outcomes and codes) else Judgement.MISSED
    if IN_PLACE in outcomes:
        return Judgement.AGREED if codes else Judgement.MISSED
    if outcomes == {OK}:
        ran = any(not lines.isdisjoint(comparison.reported_lines(f)) for f in comparison.findings)
        return Judgement.FALSE if ran else Judgement.AGREED
    return Judgement.DISCARDED


def lint(file: SourceFile) -> list[Finding]:
    """The findings of the judged rules, in process."""
    facts = analyse(file, Project())
    return [f for rule in all_rules() if rule.code in JUDGED for f in rule.check(facts)]


def runtime_verdicts(source: str, lines: set[int]) -> dict[Setting, tuple[str, str]]:
    """Each setting's verdict; empty where the program fails without a checkpoint, or is no program.

    ``lines`` receives the lines that were run.
    """
    module = load(source)
    if module is None:
        return {}
    verdicts = {}
    for setting in settings_of(source):
        verdict = contextvars.copy_context().run(_verdict, module, setting, lines)
        if verdict is None:
            return {}
        verdicts[setting] = verdict
    return verdicts


def settings_of(source: str) -> Iterator[Setting]:
    """Every combination of the flags and policies that the program mentions beside its signature."""
    own = source[source.find(MARK) :]
    flags = [(False, True) if own.count(flag) > 1 else (False,) for flag in ("flag_a", "flag_b")]
    names = sorted(set(re.findall(r"policy\(['\"](\w+)['\"]\)", own)))
    subsets = [frozenset(c) for size in range(len(names) + 1) for c in itertools.combinations(names, size)]
    for flag_a, flag_b, recomputed in itertools.product(*flags, subsets):
        yield Setting(flag_a, flag_b, recomputed)


MOST_STEPS = 20_000
PATH = "generated/program.py"
FILE = "generated_program.py"
MARK = "# --- program"
"""Separates the fixed beginning of a program from what was generated."""


def load(source: str) -> types.ModuleType | None:
    """The module of a program; None where its text is no program."""
    module = types.ModuleType("generated_program")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, FILE, "exec", dont_inherit=True), vars(module))
    except Exception:  # noqa: BLE001 - shrinking makes programs that are none
        return None
    return module if callable(getattr(module, "body", None)) else None


@cache
def _inputs() -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(4, 6, generator=generator, requires_grad=True)
    w = torch.randn(6, 6, generator=generator, requires_grad=True)
    return x, w


@contextlib.contextmanager
def _watched(lines: set[int]) -> Iterator[None]:
    steps = 0

    def watch(frame: types.FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != FILE:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
            steps += 1
            if steps > MOST_STEPS:
                raise TimeoutError("shrinking took the end out of a loop")
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)


def _verdict(module: Any, setting: Setting, lines: set[int]) -> tuple[str, str] | None:
    module._policy.clear()
    module._policy.update(dict.fromkeys(setting.recomputed, True))

    def body(x: Any, w: Any) -> Any:
        module._names.clear()
        return module.body(x, w, setting.flag_a, setting.flag_b)

    try:
        with _watched(lines):
            plain = _train(module, body)
    except Exception:  # noqa: BLE001 - any: then there is nothing to compare with
        return None
    try:
        replayed = _train(module, remat.checkpoint(region_name="case")(body))
    except Exception as error:  # noqa: BLE001 - the verdict is the exception
        return _kind(error), f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:110]}"
    return (OK, "") if _same(plain, replayed) else (WRONG, "")


def _kind(error: Exception) -> str:
    text = str(error)
    if "placeholder" in text:
        return PLACEHOLDER
    return IN_PLACE if any(part in text for part in _IN_PLACE_TEXTS) else ERROR


def _train(module: Any, body: Any) -> list[Any]:
    inputs = _inputs()
    leaves = [*inputs]
    for value in vars(module).values():
        if isinstance(value, torch.nn.Module):
            leaves += value.parameters()
    for leaf in leaves:
        leaf.grad = None
    with contextlib.redirect_stdout(io.StringIO()):
        out = body(*inputs)
        outs = [o for o in (out if isinstance(out, (tuple, list)) else [out]) if o is not None]
        sum(o.double().sum() for o in outs).backward()
    return [o.detach().clone() for o in outs] + [None if t.grad is None else t.grad.clone() for t in leaves]


def _same(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(
        (a is None and b is None) or (a is not None and b is not None and _equal(a, b))
        for a, b in zip(left, right, strict=True)
    )


def _equal(left: Any, right: Any) -> bool:
    """Equal numbers in equal places; what is no number in one is none in the other."""
    if torch.equal(left, right):
        return True
    nothing = torch.equal(left.isnan(), right.isnan())
    return nothing and torch.equal(left.nan_to_num(), right.nan_to_num())
