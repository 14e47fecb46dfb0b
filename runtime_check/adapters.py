"""Cases for models that are checkpointed in a way of their own: small functions that a factory calls.

A model whose blocks call ``remat.checkpoint`` themselves needs none of them, and neither does one whose
``recompute=`` asks a policy at run time: the check decides those flags itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch_remat
from torch import Tensor, nn

from remat_lint.runtime_check.blocks import blocks_of
from remat_lint.runtime_check.case import Case
from remat_lint.runtime_check.errors import UsageError


def per_block(
    module: nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    layers: str | None = None,
    hooks: tuple[Any, ...] = (),
    loss: Callable[[Any], Tensor] | None = None,
) -> Case:
    """A model whose blocks declare regions, and that leaves it to its trainer to checkpoint them.

    Args:
        module: the model.
        args: its positional arguments.
        kwargs: its keyword arguments.
        layers: the path of the container of blocks; the longest list of blocks of one class by default.
        hooks: the ``recompute_state_hooks`` of every block's checkpoint.
        loss: see ``Case``.

    Raises:
        UsageError: where there is no such container.
    """
    case = Case(module, tuple(args), dict(kwargs or {}), loss=loss, layers=layers)
    blocks = blocks_of(case)
    if not blocks:
        raise UsageError("the module has no list of blocks of one class: name its container with layers=")
    names = {part: path for path, part in module.named_modules()}
    for block in blocks:
        wrapper = torch_remat.checkpoint(region_name=names[block], recompute_state_hooks=tuple(hooks))
        block.forward = wrapper(block.forward)
    return case


def torchtitan(
    module: nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    apply: Callable[[nn.Module, Any], object],
    config: Callable[..., Any],
    layers: str = "layers",
    loss: Callable[[Any], Tensor] | None = None,
) -> Case:
    """A model in torchtitan's style: a config of ``save_regions`` and ``recompute_regions`` is applied to it.

    Args:
        module: the model, to which nothing is applied yet.
        args: its positional arguments.
        kwargs: its keyword arguments.
        apply: the function that checkpoints the blocks and hands on the policy; it is called with the
            model and a config before every run, on a model that the factory made anew.
        config: makes the config from the keywords ``save_regions`` and ``recompute_regions``, both lists of
            glob patterns of region names inside a block.
        layers: the path of the container of blocks.
        loss: see ``Case``.
    """

    def set_policy(patterns: tuple[str, ...]) -> None:
        apply(module, config(save_regions=list(patterns), recompute_regions=[]))

    return Case(module, tuple(args), dict(kwargs or {}), loss=loss, set_policy=set_policy, layers=layers)


def transformers(
    model: nn.Module,
    inputs: Mapping[str, Any],
    *,
    loss: Callable[[Any], Tensor] | None = None,
    **options: Any,
) -> Case:
    """A model of transformers with ``gradient_checkpointing_enable``: whole blocks, no regions.

    Args:
        model: the model; it is put into training mode, because it checkpoints only there.
        inputs: its keyword arguments, with ``labels`` where the model computes the loss.
        loss: see ``Case``; the model's own ``loss`` where its output has one.
        options: go to ``torch.utils.checkpoint.checkpoint``; ``use_reentrant=False`` unless said otherwise.

    Raises:
        UsageError: where the model cannot be checkpointed.
    """
    model.train()
    options = {"use_reentrant": False, **options}
    for name in ("activation", "gradient"):  # the first one replaces the second one since transformers 5
        enable = getattr(model, f"{name}_checkpointing_enable", None)
        if enable is not None:
            enable(**{f"{name}_checkpointing_kwargs": options})
            break
    else:
        raise UsageError(f"{type(model).__name__} has no gradient_checkpointing_enable")
    return Case(model, kwargs=dict(inputs), loss=loss or (_own_loss if "labels" in inputs else None))


def _own_loss(output: Any) -> Tensor:
    loss: Tensor = output["loss"] if isinstance(output, Mapping) else output.loss
    return loss
