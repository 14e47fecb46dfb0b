"""``remat-check``: run a training step with and without checkpoints and compare it bit for bit.

``check(factory)`` is the library behind the command; ``Case`` is what a factory may return
where ``(module, inputs)`` is not enough. ``remat_watch(model)`` watches a training step as it is.
Importing this package does not import torch: that happens on first use of a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remat_lint.runtime_check.case import Case
    from remat_lint.runtime_check.checker import CheckResult, Options, check
    from remat_lint.runtime_check.errors import UsageError
    from remat_lint.runtime_check.watch import Watch, WatchFailed, remat_watch

__all__ = ["Case", "CheckResult", "Options", "UsageError", "Watch", "WatchFailed", "check", "remat_watch"]

_HOMES = {
    "Case": "case",
    "CheckResult": "checker",
    "Options": "checker",
    "UsageError": "errors",
    "Watch": "watch",
    "WatchFailed": "watch",
    "check": "checker",
    "remat_watch": "watch",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
