"""Python values as text, so that state is compared without being kept."""

from __future__ import annotations

import random
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from remat_lint.runtime_check.fingerprints import fingerprint

CONTAINERS = frozenset({dict, OrderedDict, defaultdict, Counter, list, deque, set})
"""What is looked into. Containers of other kinds may do anything when they are asked for their items."""

_DEPTH = 3
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def described(value: Any, name: str, depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Every value that can be told apart inside ``value``, by its path: ``layer.seen``, ``CACHE['x']``.

    Functions, classes, modules of code and what lies deeper than ``depth`` are left out, and so are
    submodules: they are described at their own place.
    """
    if isinstance(value, _PLAIN):
        yield name, repr(value)
    elif isinstance(value, Tensor):
        yield name, str(fingerprint(value))
    elif isinstance(value, torch.Generator):
        yield name, str(fingerprint(value.get_state()))
    elif isinstance(value, random.Random) or _is_numpy_generator(value):
        yield name, _stream(value)
    elif isinstance(value, (*_CODE, nn.Module)) or depth == 0:
        return
    elif isinstance(value, (set, frozenset)):
        yield name, repr(sorted(map(repr, value)))
    elif isinstance(value, tuple) or type(value) in CONTAINERS:
        yield f"len({name})", str(len(value))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from described(item, f"{name}[{key!r}]", depth - 1)
    elif type(getattr(value, "__dict__", None)) is dict:
        for key, item in list(vars(value).items()):
            yield from described(item, f"{name}.{key}", depth - 1)


def attributes_of(module: nn.Module) -> Iterator[tuple[str, str]]:
    """The attributes of a module and its submodules, assigned tensors included; no parameters, no buffers."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if name not in _BOOKKEEPING:
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


def _is_numpy_generator(value: Any) -> bool:
    return type(value).__module__.startswith("numpy.random")


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


# What every module holds for torch itself; hooks are functions.
_BOOKKEEPING = frozenset(vars(nn.Module())) - {"training"}
