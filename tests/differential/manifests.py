"""Whether the manifest that the source predicts is what torch_remat records of a generated program."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import torch_remat as remat

from remat_lint.listing import classes_of
from remat_lint.manifest import DeclaringClass
from remat_lint.project import Project
from remat_lint.runtime_check.agreement import Declared
from remat_lint.runtime_check.plan import regions
from remat_lint.runtime_check.policy import AS_CONFIGURED
from remat_lint.runtime_check.regions import Observation, Tap
from remat_lint.source import SourceFile
from tests.differential.oracle import PATH, Setting, load, settings_of

MODULE = """

class Generated(nn.Module):
    def forward(self, x, w, flag_a, flag_b):
        return body(x, w, flag_a, flag_b)
"""


@dataclass
class Comparison:
    """``differences`` are sentences; ``compared`` is False where no setting runs, or a name is not static."""

    source: str
    compared: bool = False
    declared: DeclaringClass | None = None
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        listed = [str(region) for region in self.declared.regions] if self.declared else ["nothing declared"]
        return "\n".join(
            [self.source.rstrip(), "--- declared", *listed, "--- differences", *self.differences]
        )


def compare(program: str) -> Comparison:
    """Predict and run one program under each of its settings."""
    source = program + MODULE
    comparison = Comparison(source)
    found = classes_of(SourceFile(PATH, source.encode()), Project())
    comparison.declared = next((one for one in found if one.name.endswith("Generated")), None)
    declared = comparison.declared
    if declared is not None and not all(region.static for region in declared.regions):
        return comparison
    for ran, observation in _runs(source):
        comparison.compared = True
        if declared is None:
            comparison.differences += [f"{name} ran and is not declared" for name in ran]
        else:
            agreement = Declared(PATH, declared).compare(ran, observation.regions, is_one_checkpoint=True)
            comparison.differences += agreement.differences
            comparison.differences += [f"{name} ran and is not declared" for name in agreement.undeclared]
    return comparison


def _runs(source: str) -> Iterator[tuple[tuple[str, ...], Observation]]:
    """The names of the regions in the order of their calls, for every setting whose forward ends."""
    with Tap().open() as tap:
        module = load(source)
        if module is None:
            return
        for setting in settings_of(source):
            ran = _run(module, setting, tap)
            if ran is not None:
                yield ran


def _run(module: Any, setting: Setting, tap: Tap) -> tuple[tuple[str, ...], Observation] | None:
    module._policy.clear()
    module._policy.update(dict.fromkeys(setting.recomputed, True))
    module._names.clear()
    x, w = (torch.randn(*size, requires_grad=True) for size in ((4, 6), (6, 6)))
    observation = Observation(regions(AS_CONFIGURED))
    body = remat.checkpoint(region_name="case")(module.Generated())
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            tap.observing(observation),
            remat.collect_trace() as trace,
        ):
            body(x, w, setting.flag_a, setting.flag_b)
    except Exception:  # noqa: BLE001 - any: then there is nothing to compare with
        return None
    return tuple(_names(trace.entries)), observation


def _names(entries: Any) -> Iterator[str]:
    for entry in entries:
        if hasattr(entry, "entries"):
            yield from _names(entry.entries)
        else:
            yield entry.name
