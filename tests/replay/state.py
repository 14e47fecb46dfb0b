"""Everything that a program's module holds on to, as plain values by path."""

from __future__ import annotations

import collections
import io
import operator
import pickle
import queue
import random
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

_NUMBERS = (bool, int, float, str, bytes, type(None), torch.Size)
_IGNORED = {"HOOKS", "RECOMPUTED", "LOGGER", "WRAPPED"}
_OWN = "replayed_program"


def state_of(names: dict[str, Any], *, draw: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state behind a module's names, and that of its generators; ``draw`` takes one number of each."""
    walk = _Walk(draw)
    for name, value in names.items():
        if name not in _IGNORED and not name.startswith("__") and not isinstance(value, types.ModuleType):
            walk.visit(name, value)
    return walk.state, walk.streams


class _Walk:
    """One walk over objects; each is seen once."""

    def __init__(self, draw: bool) -> None:
        self.state: dict[str, Any] = {}
        self.streams: dict[str, Any] = {}
        self._draw = draw
        self._seen: set[int] = set()
        self._alive: list[Any] = []

    def visit(self, path: str, value: Any) -> None:
        """Note a value and what it holds."""
        if isinstance(value, _NUMBERS):
            self.state[path] = value
            return
        if isinstance(value, torch.Tensor):
            self.state[path] = value.detach().clone()
            return
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        self._alive.append(value)
        if self._visit_stream(path, value):
            return
        self._visit_object(path, value)

    def _visit_stream(self, path: str, value: Any) -> bool:
        if isinstance(value, torch.Generator):
            if self._draw:
                torch.rand(1, generator=value)
            self.streams[path] = value.get_state()
        elif isinstance(value, random.Random):
            if self._draw:
                value.random()
            self.streams[path] = value.getstate()
        elif isinstance(value, np.random.Generator):
            if self._draw:
                value.random()
            self.streams[path] = pickle.dumps(value.bit_generator.state)
        elif isinstance(value, np.random.RandomState):
            if self._draw:
                value.rand()
            self.streams[path] = pickle.dumps(value.get_state())
        else:
            return False
        return True

    def _visit_object(self, path: str, value: Any) -> None:
        if isinstance(value, io.StringIO):
            self.state[path] = value.getvalue()
        elif isinstance(value, queue.Queue):
            self.state[path] = value.qsize()
        elif hasattr(value, "__next__"):
            self.state[path] = repr(value) if "count(" in repr(value) else operator.length_hint(value, -1)
        else:
            for name, part in _parts(value):
                self.visit(f"{path}{name}", part)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, (list, tuple, collections.deque)):
        yield "#", len(value)
        yield from ((f"[{place}]", part) for place, part in enumerate(value))
    elif isinstance(value, (set, frozenset)):
        yield "#", sorted(map(repr, value)).__repr__()
    elif isinstance(value, types.FunctionType):
        yield from _closure(value)
    elif isinstance(value, type):
        if value.__module__ == _OWN:
            own = vars(value).items()
            yield from ((f".{name}", part) for name, part in own if not name.startswith("__"))
    elif isinstance(value, torch.nn.Module) or type(value).__module__ == _OWN:
        yield from ((f".{name}", part) for name, part in vars(value).items())


def _closure(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    if hasattr(function, "__wrapped__"):  # what torch_remat closes over says nothing of the program
        yield "", function.__wrapped__
    if function.__globals__.get("__name__") != _OWN:
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"<{name}>", cell.cell_contents
        except ValueError:
            continue
