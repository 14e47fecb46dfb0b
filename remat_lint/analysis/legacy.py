"""The public names that torch_remat had before 0.2, and what stands for each of them now."""

from __future__ import annotations

_REGION = "`remat.region(function, name, recompute=...)`"
_AROUND = "a plain `forward`, and `remat.region(Function.apply, name, recompute=...)` around its call"

LEGACY = {
    "op": _REGION,
    "native_op": _REGION,
    "native_save_region": "`remat.region(function, name, recompute=False)`",
    "auto_forward": _AROUND,
    "get_handle": _AROUND,
    "RematHandle": _AROUND,
    "CheckpointPolicy": "`recompute=False` to save and `recompute=True` to recompute",
    "policy": "`recompute=False` to save and `recompute=True` to recompute",
    "SAVE": "`recompute=False`",
    "RECOMPUTE": "`recompute=True`",
    "detect_bare_ops": "`remat.recompute_needs_tensor(y)` before what reads a saved output",
}
