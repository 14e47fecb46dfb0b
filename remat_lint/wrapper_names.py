"""Functions that do what one of torch_remat's does, by their full names: those the project does not show."""

from __future__ import annotations

from typing import NamedTuple


class WrapperNames(NamedTuple):
    """``region-wrappers``, ``marker-wrappers``, ``checkpoint-wrappers`` and ``recompute-guards``."""

    region: frozenset[str] = frozenset()
    marker: frozenset[str] = frozenset()
    checkpoint: frozenset[str] = frozenset()
    guard: frozenset[str] = frozenset()

    def role(self, name: str) -> str | None:
        """What the function of this full name wraps: ``region``, ``marker``, ``checkpoint`` or ``guard``."""
        return next((role for role, names in zip(self._fields, self, strict=True) if name in names), None)

    def are_mentioned(self, raw: bytes) -> bool:
        """Whether the last part of one of the names stands in a file."""
        return any(name.rpartition(".")[2].encode() in raw for names in self for name in names)


NO_WRAPPERS = WrapperNames()
