"""Checkpoints of torch and of other packages: what each is given, and what it restores before a replay.

Data, and no more: nothing here needs the packages. All of them restore torch's default generators, unless
``preserve_rng_state`` says otherwise, and no other random state. A name is the full dotted name of a function
or method, where it is defined or where it is imported from. A project may be one of these packages.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Form(NamedTuple):
    """How a checkpoint is applied.

    ``shape`` is what it does with the first argument, ``function`` the keyword for that:

    * ``call``: runs the function on the arguments that follow; without a function, waits for one
    * ``module``: from now on, whoever calls the module runs it under the checkpoint
    * ``chain``: runs the functions one after the other, each on the result of the one before
    * ``parts``: as ``module``, for those parts of a model that another argument chooses

    ``skipped`` arguments stand between the function and its own. ``options`` are keywords that it takes for
    itself. ``reentrant`` says whether the forward runs without gradients, None where that is configured.
    ``trackers`` says that the random states which its package keeps for its own draws are restored too.
    """

    shape: str
    function: str
    skipped: int = 0
    options: tuple[str, ...] = ()
    reentrant: bool | None = False
    trackers: bool = False


_TORCH_OPTIONS = (
    "use_reentrant",
    "preserve_rng_state",
    "context_fn",
    "determinism_check",
    "debug",
    "early_stop",
    "respect_saved_tensors_hooks",
)

_TORCH = Form("call", "function", options=_TORCH_OPTIONS, reentrant=True)
"""Reentrant where nobody says that it is not."""

_MEGATRON = Form("call", "function", skipped=1, reentrant=True, trackers=True)
"""Its own autograd function; ``distribute_saved_activations`` comes second."""

_TE_OPTIONS = ("distribute_saved_activations", "get_rng_state_tracker", "tp_group", "use_reentrant")
_TE = Form("call", "function", options=_TE_OPTIONS, reentrant=None, trackers=True)
"""Named like torch's; all its options are keywords."""

_TE_OF_MEGATRON = Form("call", "forward_func", skipped=3, reentrant=None, trackers=True)
"""Hands on to transformer_engine, what was positional there."""

_DEEPSPEED = Form("call", "function", reentrant=True, trackers=True)
"""Takes no option; its own tracker of CUDA generators is restored as well."""

_WRAPPER = Form("module", "module")
"""Options are torch's, or those of ``checkpoint_fn``."""

FORMS: dict[str, Form] = {
    "torch.utils.checkpoint.checkpoint": _TORCH,
    "torch.utils.checkpoint.checkpoint_sequential": Form(
        "chain", "functions", skipped=1, options=_TORCH_OPTIONS, reentrant=True
    ),
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper": _WRAPPER,
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.CheckpointWrapper": _WRAPPER,
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.apply_activation_checkpointing": Form(
        "parts", "model"
    ),
    "torch.distributed._composable.checkpoint": _WRAPPER,
    "torch.distributed._composable.checkpoint_activation.checkpoint": _WRAPPER,
    "torch_xla.utils.checkpoint.checkpoint": _TORCH,
    "megatron.core.tensor_parallel.checkpoint": _MEGATRON,
    "megatron.core.tensor_parallel.random.checkpoint": _MEGATRON,
    "megatron.core.tensor_parallel.CheckpointWithoutOutput.checkpoint": Form(
        "call", "run_function", reentrant=True, trackers=True
    ),
    "megatron.core.tensor_parallel.random.CheckpointWithoutOutput.checkpoint": Form(
        "call", "run_function", reentrant=True, trackers=True
    ),
    "megatron.core.extensions.transformer_engine.te_checkpoint": _TE_OF_MEGATRON,
    "transformer_engine.pytorch.checkpoint": _TE,
    "transformer_engine.pytorch.distributed.checkpoint": _TE,
    "deepspeed.checkpointing.checkpoint": _DEEPSPEED,
    "deepspeed.runtime.activation_checkpointing.checkpointing.checkpoint": _DEEPSPEED,
    "fairscale.nn.checkpoint_wrapper": Form("module", "module", reentrant=True),
    "fairscale.nn.checkpoint.checkpoint_wrapper": Form("module", "module", reentrant=True),
    "fairscale.nn.checkpoint.checkpoint_activations.checkpoint_wrapper": Form(
        "module", "module", reentrant=True
    ),
    "timm.models.checkpoint_seq": Form("chain", "functions", reentrant=None),
    "timm.models._manipulate.checkpoint_seq": Form("chain", "functions", reentrant=None),
    "timm.models.helpers.checkpoint_seq": Form("chain", "functions", reentrant=None),
}

ATTRIBUTES: dict[str, Form] = {
    "_gradient_checkpointing_func": Form("call", "function", reentrant=None),
}
"""Attributes that hold a checkpoint, whoever sets them: transformers and diffusers do from outside."""

CLASSES: dict[str, tuple[str, ...]] = {
    "transformers.GradientCheckpointingLayer": ("use_cache", "cache", "layer_past", "past_key_values"),
    "transformers.modeling_layers.GradientCheckpointingLayer": (
        "use_cache",
        "cache",
        "layer_past",
        "past_key_values",
        "past_key_value",
    ),
}
"""Classes whose objects run under a checkpoint once that is enabled: which parameters are None then."""

_WORDS = re.compile(
    rb"torch_remat|torch\.utils\.checkpoint|torch\.utils[ \t]+import[^\r\n]*\bcheckpoint|use_reentrant"
    rb"|checkpoint_wrapper|checkpoint_seq|activation_checkpointing|_composable|deepspeed\.checkpointing"
    rb"|_gradient_checkpointing_func|GradientCheckpointingLayer"
    rb"|te_checkpoint|tensor_parallel\.checkpoint|CheckpointWithoutOutput|torch_xla\.utils\.checkpoint"
    rb"|transformer_engine[^\r\n]*\bcheckpoint"
)

_NAMES = re.compile(rb"checkpoint|ckpt|remat|recompute|\bac_|_ac\b", re.IGNORECASE)


def are_named(raw: bytes) -> bool:
    """Whether a name in this import is one that people give to what applies a checkpoint."""
    return _NAMES.search(raw) is not None


def are_mentioned(raw: bytes) -> bool:
    """Whether a file may apply one of them, as far as a look at its bytes tells."""
    return b"heckpoint" in raw and _WORDS.search(raw) is not None
