"""The collectives of a step, by name, as the dispatcher sees them.

Every way to a collective ends at an operator of ``c10d`` or ``_c10d_functional``: the functions of
``torch.distributed``, functional collectives, DTensor, and the reducer of DistributedDataParallel, which
is written in C++. A dispatch mode therefore sees them all, and changes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from remat_lint.runtime_check.nested import named_tensors

_NAMESPACES = ("c10d::", "_c10d_functional::")
_FROM_ONE_TO_ONE = frozenset({"send", "recv", "recv_any_source", "isend", "irecv", "batch_p2p_ops"})
_NO_COMMUNICATION = frozenset({"wait_tensor", "wrap_tensor_autograd", "check_for_nan"})
_AS_USERS_CALL_THEM = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce_coalesced",
    "allgather": "all_gather",
    "allgather_base": "all_gather_into_tensor",
    "allgather_coalesced": "all_gather_coalesced",
    "allgather_into_tensor_coalesced": "all_gather_into_tensor_coalesced",
    "reduce_scatter_base": "reduce_scatter_tensor",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single",
    "all_gather_into_tensor_out": "all_gather_into_tensor",
    "reduce_scatter_tensor_out": "reduce_scatter_tensor",
}
_SAME_SHAPE_EVERYWHERE = frozenset({"all_reduce", "all_reduce_coalesced", "broadcast", "reduce"})
"""Elsewhere ranks may give parts of different sizes."""


class Collectives(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tells ``found`` of each collective, as text that is the same on every rank of a right program.

    Sends and receives are no collectives: neighbours do different things there by design.
    ``operations`` counts all operators, as a sign of life; ``last`` is the newest one.
    """

    def __init__(self, found: Callable[[str], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._found = found
        self.operations = 0
        self.last: Any = None

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let torch.compile go on as without a mode: what it compiled is not looked into."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Each operation would otherwise pass through torch.compile's wrapper; it is in no graph."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.operations += 1
        self.last = func
        if func.namespace in ("c10d", "_c10d_functional"):
            name = func.overloadpacket.__name__.strip("_")
            if name not in _FROM_ONE_TO_ONE and name not in _NO_COMMUNICATION:
                self._found(_described(name, args))
        return func(*args, **(kwargs or {}))


def waits_for_others(operation: Any) -> bool:
    """Can the operator not end before another rank does its part?"""
    return operation is not None and operation.name().startswith(_NAMESPACES)


def _described(operator: str, args: tuple[Any, ...]) -> str:
    name = _AS_USERS_CALL_THEM.get(operator, operator)
    tensors = [tensor for _, tensor in named_tensors(args, "")]
    shown = _shapes(tensors) if name in _SAME_SHAPE_EVERYWHERE else _types(tensors)
    parts = [name] if name == "barrier" or not shown else [name, shown]
    size = _group_size(args)
    return " ".join(parts) + (f" over {size} ranks" if size is not None else "")


def _shapes(tensors: Iterable[Tensor]) -> str:
    return ", ".join(f"{_type(tensor)}{list(tensor.shape)}" for tensor in tensors)


def _types(tensors: Iterable[Tensor]) -> str:
    return ", ".join(sorted({_type(tensor) for tensor in tensors}))


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _group_size(args: tuple[Any, ...]) -> int | None:
    """How many ranks take part; the groups themselves are not the same on all ranks."""
    for given in args:
        if isinstance(given, dist.ProcessGroup):
            return int(given.size())
        if isinstance(given, torch.ScriptObject):
            try:
                return int(dist.ProcessGroup.unbox(given).size())
            except RuntimeError:  # the object stands for something else: how to reduce
                continue
    return None
