"""Tensors inside the containers that modules take and return: tuples, lists, dicts, dataclasses."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from torch import Tensor


def named_tensors(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """Every tensor in ``value`` with its path: ``output``, ``output[0]``, ``output.logits``."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from named_tensors(item, f"{name}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        for index, item in enumerate(value):
            yield from named_tensors(item, f"{name}.{fields[index]}" if fields else f"{name}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from named_tensors(getattr(value, field.name), f"{name}.{field.name}")


def map_tensors(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """``value`` with every tensor replaced, in containers of the same kind.

    Tensors are visited in the order of ``named_tensors``. Other objects are handed on as they are.
    """
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, MutableMapping):
        changed = copy.copy(value)
        for key, item in value.items():
            changed[key] = map_tensors(item, change)
        return changed
    if isinstance(value, (tuple, list)):
        items = [map_tensors(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        replaced = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(replaced, field.name, map_tensors(getattr(value, field.name), change))
        return replaced
    return value
