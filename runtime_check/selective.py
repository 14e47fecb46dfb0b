"""Selective checkpointing as torch has it: what matrix products and attention compute is kept."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

_NAMES = (
    "mm", "bmm", "addmm", "baddbmm", "convolution", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
)  # fmt: skip

KEPT = frozenset(
    getattr(packet, overload)
    for packet in (getattr(torch.ops.aten, name, None) for name in _NAMES)
    if packet is not None
    for overload in packet.overloads()
    if overload != "out"
)
"""The operations whose outputs are kept: the costly ones."""


def keeping_products() -> Any:
    """The ``context_fn`` of ``torch.utils.checkpoint`` that keeps the outputs of ``KEPT``."""
    return create_selective_checkpoint_contexts(_decide)  # type: ignore[no-untyped-call]


def _decide(_context: Any, operation: Any, *_args: Any, **_kwargs: Any) -> CheckpointPolicy:
    return CheckpointPolicy.MUST_SAVE if operation in KEPT else CheckpointPolicy.PREFER_RECOMPUTE
