"""Python values as text, so that state is compared without being kept."""

from __future__ import annotations

import contextlib
import random
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from remat_lint.runtime_check.fingerprints import fingerprint
from remat_lint.runtime_check.users_code import is_user_code

CONTAINERS = frozenset({dict, OrderedDict, defaultdict, Counter, list, deque, set})
"""What is looked into. Containers of other kinds may do anything when they are asked for their items."""

_DEPTH = 3
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_CODE = (type, ModuleType, BuiltinFunctionType, MethodType)


def described(value: Any, name: str, depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Every value that can be told apart inside ``value``, by its path: ``layer.seen``, ``CACHE['x']``.

    Classes, modules of code and what lies deeper than ``depth`` are left out, and so are submodules:
    they are described at their own place.
    """
    text = _text(value)
    if text is not None:
        yield name, text
    elif depth > 0:
        size, parts = _parts(value, name)
        if size is not None:
            yield f"len({name})", str(size)
        for path, item in parts:
            yield from described(item, path, depth - 1)


def _text(value: Any) -> str | None:
    """A value that is no container, as text; None where it is one, or code."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, Tensor):
        return str(fingerprint(value))
    if isinstance(value, torch.Generator):
        return str(fingerprint(value.get_state()))
    if isinstance(value, random.Random) or type(value).__module__.startswith("numpy.random"):
        return _stream(value)
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(repr, value)))
    return None


def _parts(value: Any, name: str) -> tuple[int | None, list[tuple[str, Any]]]:
    """How many items a container has, None for an object, and what lies in it."""
    if isinstance(value, (*_CODE, nn.Module)):
        return None, []
    if isinstance(value, FunctionType):
        return None, [(f"{name}.{one.name}", one.value) for one in variables_of(value)]
    if isinstance(value, tuple) or type(value) in CONTAINERS:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return len(value), [(f"{name}[{key!r}]", item) for key, item in items]
    if type(getattr(value, "__dict__", None)) is dict:
        return None, [(f"{name}.{key}", item) for key, item in vars(value).items()]
    return None, []


@dataclass(frozen=True, slots=True)
class Variable:
    """What a function remembers between calls: an attribute of it, or a variable of one around it."""

    name: str
    value: Any
    rebind: Callable[[Any], None]


def variables_of(function: FunctionType) -> Iterator[Variable]:
    """All that a function of the user remembers; nothing of others."""
    if not is_user_code(function.__code__.co_filename):
        return
    for name, value in list(vars(function).items()):
        if name != "__wrapped__":
            yield Variable(name, value, partial(setattr, function, name))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not bound yet
            if cell.cell_contents is not function:
                yield Variable(name, cell.cell_contents, partial(setattr, cell, "cell_contents"))


def attributes_of(module: nn.Module) -> Iterator[tuple[str, str]]:
    """The attributes of a module and its submodules, assigned tensors included; no parameters, no buffers."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if name not in BOOKKEEPING:
                yield from described(value, f"{path}.{name}" if path else name)


def random_states() -> Iterator[tuple[str, str]]:
    """Where the random streams stand: torch on every device, Python, NumPy."""
    yield "torch's random state", str(fingerprint(torch.get_rng_state()))
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            yield f"torch's random state on cuda:{index}", str(fingerprint(torch.cuda.get_rng_state(index)))
    yield "Python's random state", str(hash(random.getstate()))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        yield "NumPy's random state", repr(_hashable(numpy.random.get_state()))


def _stream(value: Any) -> str:
    if isinstance(value, random.Random):
        return str(hash(value.getstate())) if not isinstance(value, random.SystemRandom) else ""
    state = getattr(value, "bit_generator", value)
    get_state = getattr(state, "get_state", None)
    return repr(_hashable(get_state() if get_state is not None else getattr(state, "state", None)))


def _hashable(state: Any) -> Any:
    """NumPy's states hold arrays, whose text is cut short."""
    if isinstance(state, Mapping):
        return {key: _hashable(item) for key, item in state.items()}
    if isinstance(state, (tuple, list)):
        return [_hashable(item) for item in state]
    return hash(state.tobytes()) if hasattr(state, "tobytes") else state


BOOKKEEPING = frozenset(vars(nn.Module())) - {"training"}
"""What every module holds for torch itself: parameters, buffers, parts, hooks."""
