"""Python values as text, so that state is compared without being kept."""

from __future__ import annotations

import contextlib
import itertools
import operator
import random
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import torch
import xxhash
from torch import Tensor, nn

from remat_lint.runtime_check.fingerprints import fingerprint
from remat_lint.runtime_check.users_code import is_user_code

CONTAINERS = frozenset({dict, OrderedDict, defaultdict, Counter, list, deque, set})
"""What is looked into. Containers of other kinds may do anything when they are asked for their items."""

_DEPTH = 5
_MANY = 1000  # so many items are told apart together, not one by one
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_CODE = (type, ModuleType, BuiltinFunctionType, GeneratorType, MethodType)


def described(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """What can be told apart inside ``value``, as text, by its path: ``layer.seen``, ``CACHE['x']``."""
    for path, leaf in leaves(value, name):
        yield path, _text(leaf)


def leaves(value: Any, name: str, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Every value that can be told apart inside ``value``, by its path.

    Classes, modules of code and what lies deeper than ``depth`` are left out, and so are submodules:
    they are described at their own place.
    """
    if _is_leaf(value):
        yield name, value
        if isinstance(value, Tensor) and depth > 0:
            for key, item in vars(value).items():
                yield from leaves(item, f"{name}.{key}", depth - 1)
    elif depth > 0:
        size, parts = _parts(value, name)
        if size is not None:
            yield f"len({name})", size
        for path, item in parts:
            yield from leaves(item, path, depth - 1)


def _is_leaf(value: Any) -> bool:
    known = (is_stream, is_array, _is_iterator, _is_long)
    return isinstance(value, _LEAVES) or any(is_one(value) for is_one in known)


def is_array(value: Any) -> bool:
    """Is it an array of NumPy's, or one of its numbers?"""
    return type(value).__module__ == "numpy" and hasattr(value, "tobytes")


def is_stream(value: Any) -> bool:
    """Is it a source of random numbers with a state of its own?"""
    own = isinstance(value, (torch.Generator, random.Random))
    return own or type(value).__module__.startswith("numpy.random")


def _is_iterator(value: Any) -> bool:
    """One of Python's own, which can be looked at without being moved on."""
    kind = type(value)
    return kind is itertools.count or (kind.__module__ == "builtins" and issubclass(kind, Iterator))


def _text(leaf: Any) -> str:
    if isinstance(leaf, _PLAIN):
        return repr(leaf)
    if isinstance(leaf, Tensor):
        return str(fingerprint(leaf))
    if isinstance(leaf, torch.Generator):
        return str(fingerprint(leaf.get_state()))
    if isinstance(leaf, (set, frozenset)):
        return _brief(repr(sorted(map(repr, leaf))))
    if isinstance(leaf, (array, bytearray)) or _is_long(leaf):
        return _brief(repr(leaf))
    if is_array(leaf):
        return f"an array of shape {leaf.shape} and {_brief(str(leaf.tobytes()))}"
    return _stream(leaf) if is_stream(leaf) else _position(leaf)


def _is_long(value: Any) -> bool:
    """Numbers and texts by the thousand, such as a vocabulary."""
    if not (isinstance(value, tuple) or type(value) in CONTAINERS) or len(value) < _MANY:
        return False
    items = value.values() if isinstance(value, dict) else value
    return all(isinstance(item, _PLAIN) for item in items)


def _brief(text: str) -> str:
    """A text itself, or what tells a long one from others."""
    return text if len(text) < 200 else f"{len(text)} characters, {xxhash.xxh3_64_hexdigest(text.encode())}"


def _position(iterator: Iterator[Any]) -> str:
    """How far an iterator has come, as far as it tells."""
    if isinstance(iterator, GeneratorType):
        frame = iterator.gi_frame
        plain = {k: v for k, v in frame.f_locals.items() if isinstance(v, _PLAIN)} if frame else {}
        return f"at {frame.f_lasti} with {plain}" if frame else "at its end"
    if isinstance(iterator, itertools.count):
        return repr(iterator)
    return str(operator.length_hint(iterator, -1))


def _parts(value: Any, name: str) -> tuple[int | None, list[tuple[str, Any]]]:
    """How many items a container has, None for an object, and what lies in it."""
    if isinstance(value, _CODE):
        return None, []
    if isinstance(value, FunctionType):
        return None, [(f"{name}.{one.name}", one.value) for one in variables_of(value)]
    if isinstance(value, partial):
        return None, [(f"{name}.args", value.args), (f"{name}.keywords", value.keywords)]
    size, items = None, list[tuple[str, Any]]()
    own = own_kind(value)
    if own is not None:
        size = own.__len__(value)
        pairs = own.items(value) if issubclass(own, dict) else enumerate(own.__iter__(value))
        items = [(f"{name}[{key!r}]", item) for key, item in pairs]
    return size, items + [(f"{name}.{key}", item) for key, item in _attributes_of_object(value)]


def own_kind(value: Any) -> Any:
    """Python's own container that a value is one of, whose methods do nothing unforeseen."""
    if isinstance(value, tuple) or type(value) in CONTAINERS:
        return type(value)
    return next((kind for kind in (dict, list) if isinstance(value, kind) and is_own(type(value))), None)


def is_own(kind: type) -> bool:
    """Is it a class of the user's?"""
    return is_user_code(getattr(sys.modules.get(kind.__module__), "__file__", None) or "<unknown>")


def _attributes_of_object(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds by name: parts of a module lie in the list of its parts, too."""
    names = getattr(value, "__dict__", None) if type(value) not in CONTAINERS else None
    if isinstance(value, nn.Module):
        yield from vars(value).get("_buffers", {}).items()
        yield from vars(value).get("_modules", {}).items()
        names = {key: item for key, item in vars(value).items() if key not in BOOKKEEPING}
    if type(names) is dict:
        yield from list(names.items())
    for slot in slots_of(value):
        with contextlib.suppress(AttributeError):  # not set
            yield slot.__name__, slot.__get__(value)


def slots_of(value: Any) -> Iterator[MemberDescriptorType]:
    """The slots of an object of the user's; not members of classes written in C, which may be read-only."""
    for kind in type(value).__mro__ if is_own(type(value)) else ():
        if "__slots__" in vars(kind):
            yield from (slot for slot in vars(kind).values() if isinstance(slot, MemberDescriptorType))


@dataclass(frozen=True, slots=True)
class Variable:
    """What a function remembers between calls: an attribute of it, or a variable of one around it."""

    name: str
    value: Any
    rebind: Callable[[Any], None]


def _rebind_nothing(_value: Any) -> None:
    """A default is the same object for good; only what it holds changes."""


def variables_of(function: FunctionType) -> Iterator[Variable]:
    """All that a function of the user remembers; nothing of others."""
    if not is_user_code(function.__code__.co_filename):
        return
    for name, value in list(vars(function).items()):
        if name != "__wrapped__":
            yield Variable(name, value, partial(setattr, function, name))
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for number, value in enumerate(defaults):
        if not isinstance(value, _PLAIN):
            yield Variable(f"defaults[{number}]", value, _rebind_nothing)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not bound yet
            if cell.cell_contents is not function:
                yield Variable(name, cell.cell_contents, partial(setattr, cell, "cell_contents"))


def attributes_of(module: nn.Module) -> Iterator[tuple[str, str]]:
    """The attributes of a module and its submodules, assigned tensors included; no parameters, no buffers."""
    for name, value in attributes(module):
        yield from described(value, name)


def attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """The attributes themselves, by their path."""
    for path, part in module.named_modules():
        for name, value in list(vars(part).items()):
            if name not in BOOKKEEPING:
                yield f"{path}.{name}" if path else name, value
    for path, tensor in itertools.chain(module.named_parameters(), module.named_buffers()):
        for name, value in vars(tensor).items():
            yield f"{path}.{name}", value


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


_LEAVES = (*_PLAIN, Tensor, set, frozenset, array, bytearray)

BOOKKEEPING = frozenset(vars(nn.Module())) - {"training"}
"""What every module holds for torch itself: parameters, buffers, parts, hooks."""
