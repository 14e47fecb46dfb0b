"""The container of a model's blocks, and checkpoints over segments of it.

A segment of blocks runs in one checkpoint where the first of them is called; the calls of the others
then hand on what the segment has computed. That is the same step only where every block gets the
result of the one before it, and otherwise the same arguments: it is looked at, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch_remat
from torch import nn

from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.errors import UsageError


class NotAChain(UsageError):
    """The blocks do not hand their results on, one to the next: there are no segments to checkpoint."""

    def __init__(self) -> None:
        super().__init__(
            "--segment: the blocks do not hand their result on, one to the next, with otherwise the same"
            " arguments, so there are no segments to checkpoint"
        )


def blocks_of(case: Case) -> list[nn.Module]:
    """The blocks of the case's layers container, in order; none where there is no such container.

    Raises:
        UsageError: where the case names a container that is not there.
    """
    if case.layers is not None:
        try:
            container = case.module.get_submodule(case.layers)
        except AttributeError as error:
            raise UsageError(f"the module has no layers container {case.layers}: {error}") from error
        return list(container.children())
    containers = [
        list(part.children())
        for part in case.module.modules()
        if isinstance(part, (nn.ModuleList, nn.ModuleDict, nn.Sequential))
    ]
    alike = [blocks for blocks in containers if len({type(block) for block in blocks}) == 1 < len(blocks)]
    return max(alike, key=len, default=[])


def put_in_segments(case: Case, length: int) -> None:
    """Checkpoint every ``length`` successive blocks together; the last segment may be shorter."""
    blocks = blocks_of(case)
    for start in range(0, len(blocks), length):
        _checkpoint_together(blocks[start : start + length], f"blocks.{start}")


def _checkpoint_together(blocks: Sequence[nn.Module], name: str) -> None:
    forwards = [block.forward for block in blocks]
    result: list[Any] = []

    def whole(hidden: Any, *args: Any, **kwargs: Any) -> Any:
        for forward in forwards:
            hidden = forward(hidden, *args, **kwargs)
        return hidden

    def first(hidden: Any, *args: Any, **kwargs: Any) -> Any:
        made = torch_remat.checkpoint(region_name=name)(whole)(hidden, *args, **kwargs)
        result[:] = [made, args, kwargs]
        return made

    def handing_on(hidden: Any, *args: Any, **kwargs: Any) -> Any:
        made, first_args, first_kwargs = result
        same = len(args) == len(first_args) and kwargs.keys() == first_kwargs.keys()
        if hidden is not made or not same:
            raise NotAChain
        pairs = [*zip(args, first_args, strict=True), *((kwargs[key], first_kwargs[key]) for key in kwargs)]
        if any(_unlike(one, other) for one, other in pairs):
            raise NotAChain
        return made

    entries: list[Callable[..., Any]] = [first, *([handing_on] * (len(blocks) - 1))]
    for block, entry in zip(blocks, entries, strict=True):
        block.forward = entry


def _unlike(one: Any, other: Any) -> bool:
    """Different objects, unless they are equal numbers or texts."""
    if one is other:
        return False
    return not (isinstance(one, (bool, int, float, str)) and type(one) is type(other) and one == other)
