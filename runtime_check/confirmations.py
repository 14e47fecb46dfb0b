"""What a check confirms, each by name: the same step, seen from every side that can break."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from remat_lint.runtime_check.agreement import Agreement
from remat_lint.runtime_check.verdicts import Confirmation, Noise, PolicyResult, Status, Verdict

_TENSORS = {
    "outputs": re.compile(r"output|loss"),
    "input gradients": re.compile(r"gradient of input(?=[ \[]|$)"),
    "parameter gradients": re.compile(r"gradient of"),
    "buffers": re.compile(r"buffer "),
    "parameters after the step": re.compile(r"parameter "),
}
"""How the names of each kind of tensor begin; the first that fits counts."""


@dataclass(frozen=True)
class Confirmed:
    """The named verdicts over all policies.

    What was not looked at is "not checked", never "holds"; what differs by itself is inconclusive.

    Attributes:
        results: every policy that was tried.
        noise: what the plain step does not repeat by itself.
        tensors: the names of those that were compared.
        agreements: with the manifests.
        has_replayed: whether backward ran checkpoints again: otherwise there was nothing to look at.
    """

    results: Sequence[PolicyResult]
    noise: Noise
    tensors: Collection[str]
    agreements: Sequence[Agreement]
    has_replayed: bool

    def all(self) -> tuple[Confirmation, ...]:
        """Every confirmation, always in the same order."""
        return (
            self._regions(),
            self._of_regions(self._named("forward counts", lambda one: one.miscounted)),
            *(self._tensors(kind) for kind in _TENSORS),
            self._values("recomputed saved tensors", "saved tensor"),
            self._of_regions(self._values("inputs of regions", "input")),
            self._state("random streams", is_random=True),
            self._state("module state", is_random=False),
            self._named("keys of the state dict", lambda one: one.keys),
        )

    def _regions(self) -> Confirmation:
        name = "regions as in the manifest"
        if not self.agreements:
            return Confirmation(name, Status.NOT_CHECKED)
        details = tuple(difference for one in self.agreements for difference in one.differences)
        return Confirmation(name, Status.BROKEN if details else Status.HOLDS, details)

    def _tensors(self, kind: str) -> Confirmation:
        def belongs(what: str) -> bool:
            return next((name for name, begins in _TENSORS.items() if begins.match(what)), None) == kind

        if not any(map(belongs, self.tensors)):
            return Confirmation(kind, Status.NOT_CHECKED)
        return self._named(
            kind,
            lambda one: (str(found) for found in one.differences if belongs(found.what)),
            is_noisy=any(belongs(what) for what in self.noise.tensors),
        )

    def _of_regions(self, found: Confirmation) -> Confirmation:
        has_regions = any(one.counts for one in self.results)
        return found if has_regions else Confirmation(found.name, Status.NOT_CHECKED)

    def _values(self, name: str, begins: str) -> Confirmation:
        return self._named(
            name,
            lambda one: (str(found) for found in one.replayed if found.what.startswith(begins)),
            is_noisy=bool(self.noise),
        )

    def _state(self, name: str, *, is_random: bool) -> Confirmation:
        def belongs(what: str) -> bool:
            return what.partition(" on ")[0].endswith("random state") is is_random

        return self._named(
            name,
            lambda one: (str(found) for found in one.state if belongs(found.what)),
            is_noisy=any(belongs(one.what) for one in self.noise.state),
        )

    def _named(
        self, name: str, exceptions: Callable[[PolicyResult], Iterable[str]], *, is_noisy: bool = False
    ) -> Confirmation:
        details = tuple(f"{detail} (policy {one.name})" for one in self.results for detail in exceptions(one))
        if details:
            return Confirmation(name, Status.BROKEN, details)
        if is_noisy:
            return Confirmation(name, Status.INCONCLUSIVE)
        finished = any(one.verdict is not Verdict.RAISES for one in self.results)
        return Confirmation(name, Status.HOLDS if finished and self.has_replayed else Status.NOT_CHECKED)
