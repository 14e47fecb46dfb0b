"""Runs a program with its checkpoints and without, and compares the gradients."""

from __future__ import annotations

import contextlib
import contextvars
import gc
import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_WRAPPERS = "torch.distributed.algorithms._checkpoint.checkpoint_wrapper"


def outcome(path: Path) -> str:
    """What ``run(x)`` or ``body(x)``, under one checkpoint, of a file does.

    "ok" where the gradients equal those of the run without checkpoints, else "wrong-gradient" or the error.
    """
    from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders

    try:
        with contextlib.nullcontext() if torch_has_placeholders() else stand_ins_installed():
            return contextvars.copy_context().run(_outcome, path)
    finally:
        _leave_the_process_group()
        # A context that a program never left sets the random states when it is collected: now, not in another
        # test. What is alive then is frozen, so that the next collection is a quick one.
        gc.collect()
        gc.freeze()


def _leave_the_process_group() -> None:
    """A program that communicates joins one, of which a process has one at a time."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


def _load(path: Path) -> ModuleType:
    _seed()
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["program"] = module
    spec.loader.exec_module(module)
    return module


def _outcome(path: Path) -> str:
    import torch

    module = _load(path)
    numbers = {name: value for name, value in vars(module).items() if isinstance(value, float)}
    try:
        checkpointed = _gradient(module)
    except Exception as error:  # noqa: BLE001 - the error is the outcome
        return f"{type(error).__name__}: {error}"
    with _checkpoints_switched_off():
        module = _load(path)
        vars(module).update(numbers)  # a time that was read when the module was loaded
        plain = _gradient(module)
    return "ok" if torch.equal(checkpointed, plain) else "wrong-gradient"


def _gradient(module: ModuleType) -> Any:
    """The gradient of the input; the random states are the same in every run."""
    import torch
    import torch_remat

    def under_a_checkpoint(x: Any) -> Any:
        return torch_remat.checkpoint(region_name="program")(module.body)(x)

    function = getattr(module, "run", under_a_checkpoint)
    _seed()
    x = torch.randn(4, 8, requires_grad=True)
    loss = function(x).sum()
    _draw()
    loss.backward()
    assert x.grad is not None
    return x.grad


def _seed() -> None:
    import torch

    torch.manual_seed(0)
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy as np

        np.random.seed(0)


def _draw() -> None:
    """What other layers do between the forward of a block and its backward."""
    import torch

    torch.rand(3)
    random.random()
    with contextlib.suppress(ImportError):
        import numpy as np

        np.random.rand()


@contextlib.contextmanager
def _checkpoints_switched_off() -> Iterator[None]:
    """The functions that make checkpoints give back, or run, what they are given."""
    import torch.utils.checkpoint
    import torch_remat

    def remat_checkpoint(**_: Any) -> Any:
        return lambda function: function

    def torch_checkpoint(function: Any, *args: Any, **_: Any) -> Any:
        return function(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_remat, "checkpoint", remat_checkpoint)
        patch.setattr(torch.utils.checkpoint, "checkpoint", torch_checkpoint)
        with contextlib.suppress(ImportError):  # torch may have been built without what is distributed
            patch.setattr(f"{_WRAPPERS}.torch_utils_checkpoint", torch_checkpoint)
        yield
