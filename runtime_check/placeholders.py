"""A stand-in for torch_remat's placeholders, for torch builds that cannot make them.

What a skipped region hands on in replay has no data. torch_remat makes it from a storage that
raises on access, with a function of torch that CPU-only builds lack. The stand-in is a tensor
subclass: views of it are stand-ins again, everything that reads raises torch_remat's message.
It is in place only while ``stand_ins_installed`` is open.

Never replace it by a plain tensor over a null storage: kernels would read it without an error.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch
import torch_remat._placeholder as _native
from torch import Tensor

from remat_lint.runtime_check.errors import UsageError
from remat_lint.runtime_check.nested import map_tensors, named_tensors

# Functional forms of views: their results share no storage for autograd, but nothing is read.
_MORE_VIEWS = frozenset({"_unsafe_view", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk"})

# What the dispatcher sees of the questions about metadata.
_QUESTIONS = frozenset({"is_same_size", "dense_dim", "sparse_dim"})


def torch_has_placeholders() -> bool:
    """Can this build of torch make a storage that raises on access?"""
    return hasattr(torch._C, "_set_storage_data_ptr_access_error_msg")


class StandIn(Tensor):
    """A tensor with the right metadata and no data: reading it raises ``message``.

    ``twin`` is a meta tensor of the same shape and strides, on which views are computed.
    """

    twin: Tensor
    message: str

    @staticmethod
    def __new__(
        cls: type[StandIn], twin: Tensor, message: str, device: torch.device, requires_grad: bool = False
    ) -> StandIn:
        made: StandIn = Tensor._make_wrapper_subclass(
            cls,
            twin.size(),
            strides=twin.stride(),
            storage_offset=twin.storage_offset(),
            dtype=twin.dtype,
            device=device,
            requires_grad=requires_grad,
        )
        made.twin = twin
        made.message = message
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Let views and metadata factories through; raise for everything else."""
        kwargs = kwargs or {}
        stand_in = next(t for _, t in named_tensors((args, kwargs), "") if isinstance(t, StandIn))
        if is_view(func):
            return _view(func, stand_in, args, kwargs)
        if _needs_metadata_only(func):
            return func(*map_tensors(args, _uninitialised), **map_tensors(kwargs, _uninitialised))
        raise RuntimeError(stand_in.message)

    def _read(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError(self.message)

    # These reach the data without passing through the dispatcher.
    data_ptr = numpy = tolist = is_shared = _read
    __array__ = __dlpack__ = __reduce_ex__ = __deepcopy__ = __repr__ = _read  # type: ignore[assignment]


def _view(func: Any, stand_in: StandIn, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    twins, twin_kwargs = map_tensors((args, kwargs), lambda t: t.twin if isinstance(t, StandIn) else t)
    message, device = stand_in.message, stand_in.device
    return map_tensors(func(*twins, **twin_kwargs), lambda twin: StandIn(twin, message, device))


def _uninitialised(tensor: Tensor) -> Tensor:
    """A real tensor of the same metadata, for factories that look at nothing else."""
    if not isinstance(tensor, StandIn):
        return tensor
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def is_view(func: Any) -> bool:
    """Does the operation only look at its argument's storage otherwise? It reads and writes no data then."""
    schema = func._schema
    if schema.name.removeprefix("aten::") in _MORE_VIEWS:
        return True
    aliases = [value.alias_info for value in (*schema.arguments, *schema.returns) if value.alias_info]
    if any(alias.is_write for alias in aliases):
        return False
    return bool(schema.returns) and all(value.alias_info for value in schema.returns)


def _needs_metadata_only(func: Any) -> bool:
    name = func._schema.name.removeprefix("aten::")
    return bool(name.endswith("_like") or name.startswith("new_") or name in _QUESTIONS)


def _make_stand_in(metadata: Any, message: str, *, requires_grad: bool = False) -> Tensor:
    """Replaces torch_remat's ``_make_placeholder_tensor``."""
    count = metadata.storage_nbytes // metadata.dtype.itemsize
    storage = torch.empty(count, dtype=metadata.dtype, device="meta")
    twin = storage.as_strided(metadata.shape, metadata.stride, 0)
    return StandIn(twin, message, metadata.device, requires_grad)


def _is_stand_in(tensor: Tensor) -> bool:
    """Replaces torch_remat's ``_is_placeholder``."""
    return isinstance(tensor, StandIn)


def _message_of_stand_in(tensor: Tensor) -> str:
    """Replaces torch_remat's ``_placeholder_message``."""
    assert isinstance(tensor, StandIn), "tensor is not a placeholder"
    return tensor.message


_REPLACEMENTS: dict[str, Callable[..., Any]] = {
    "_make_placeholder_tensor": _make_stand_in,
    "_is_placeholder": _is_stand_in,
    "_placeholder_message": _message_of_stand_in,
}


@contextlib.contextmanager
def stand_ins_installed() -> Iterator[None]:
    """Put the stand-in into every loaded module of torch_remat; take it out afterwards."""
    undo: list[tuple[Any, str, Any]] = []
    for name, replacement in _REPLACEMENTS.items():
        original = getattr(_native, name, None)
        if original is None:
            raise UsageError(
                f"this torch build has no placeholders, and torch_remat has no {name} to replace:"
                " use a CUDA build of torch (it needs no GPU), or torch-remat 0.2.2"
            )
        for module_name, module in list(sys.modules.items()):
            if module_name.split(".")[0] == "torch_remat" and getattr(module, name, None) is original:
                undo.append((module, name, original))
                setattr(module, name, replacement)
    try:
        yield
    finally:
        for module, name, original in undo:
            setattr(module, name, original)
