"""The state outside the module that a step may change: globals, class attributes, caches of functions.

A factory makes the module anew for each track, but a global counter goes on counting. Every track
begins with the surroundings that the first one found, and what it leaves behind is compared.
"""

from __future__ import annotations

import argparse
import copy
import functools
import os
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from remat_lint.runtime_check.described import (
    BOOKKEEPING,
    described,
    is_array,
    is_own,
    own_kind,
    slots_of,
    variables_of,
)
from remat_lint.runtime_check.reach import within_reach
from remat_lint.runtime_check.users_code import is_user_code

Undo = Callable[[], None]
_DEPTH = 5
_NAMESPACES = (types.SimpleNamespace, argparse.Namespace, threading.local)
"""Classes of Python's own whose objects are only what somebody set on them."""
_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), tuple, frozenset)


class Surroundings:
    """The state that the code of a module's package keeps for itself, as it is now.

    The attributes of the module belong to it: a factory may return the same object each time. ``home`` is
    the name of the module of code with the factory: from there the step sets out.
    """

    def __init__(self, module: nn.Module, home: str) -> None:
        self._modules = list(_code_of(module, home))
        self._known = [(owner, set(vars(owner))) for owner in self._spaces()]
        self._undo = [undo for code in self._modules for undo in _kept_names(code)]
        self._undo += [undo for part in module.modules() for undo in _kept_attributes(part)]
        self._undo.append(_kept_environment())
        self._caches = [cache for code in self._modules for cache in _caches(code)]

    def restore(self) -> None:
        """Put everything back where it was."""
        for owner, known in self._known:
            for name in set(vars(owner)) - known:
                if _is_state(name, vars(owner)[name]):
                    delattr(owner, name)
        for undo in self._undo:
            undo()
        for cache in self._caches:
            cache.cache_clear()

    def described(self) -> Iterator[tuple[str, str]]:
        """What the state is now, as text, by its name in the source."""
        for name, value in self.values():
            yield from described(value, name)

    def values(self) -> Iterator[tuple[str, Any]]:
        """The globals and class attributes that hold state."""
        for prefix, owner in self.owners():
            for name, value in list(vars(owner).items()):
                if _is_state(name, value):
                    yield f"{prefix}{name}", value

    def _spaces(self) -> Iterator[Any]:
        """All that names can be added to: modules of code, classes, functions."""
        for _, owner in self.owners():
            yield owner
            for value in vars(owner).values():
                if isinstance(value, FunctionType) and is_user_code(value.__code__.co_filename):
                    yield value

    def owners(self) -> Iterator[tuple[str, Any]]:
        """The modules of code and their classes, each with what stands before the names of its state."""
        for code in self._modules:
            yield f"{code.__name__}.", code
            for owner in _classes(code):
                yield f"{owner.__module__}.{owner.__qualname__}.", owner


def _code_of(module: nn.Module, home: str) -> Iterator[ModuleType]:
    """The loaded modules of the packages that the module's classes come from, within the step's reach."""
    kinds = {kind for part in module.modules() for kind in type(part).__mro__}
    own = {kind.__module__ for kind in kinds if is_user_code(_file_of(kind))}
    packages = {name.partition(".")[0] for name in own if not _is_installed(sys.modules[name])}
    loaded = {name: code for name, code in list(sys.modules.items()) if isinstance(code, ModuleType)}
    reach = within_reach(
        [*own, home],
        {
            name: code
            for name, code in loaded.items()
            if name in own or name == home or name.partition(".")[0] in packages or _is_of_a_project(code)
        },
    )
    for name, code in loaded.items():
        if name in own or (name in reach and name.partition(".")[0] in packages):
            yield code


def _is_of_a_project(code: ModuleType) -> bool:
    file = getattr(code, "__file__", None)
    return file is not None and is_user_code(file) and not _is_installed(code)


def _is_installed(code: ModuleType) -> bool:
    """Is it a library? Of those, only the modules with the classes themselves are looked at."""
    return "site-packages" in (getattr(code, "__file__", None) or "")


def _classes(code: ModuleType) -> Iterator[type]:
    for value in vars(code).values():
        if isinstance(value, type) and value.__module__ == code.__name__:
            yield value


def _caches(code: ModuleType) -> Iterator[Any]:
    for space in (vars(code), *(vars(owner) for owner in _classes(code))):
        for value in space.values():
            function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if isinstance(function, functools._lru_cache_wrapper):
                yield function


def _is_state(name: str, value: Any) -> bool:
    """Is it the user's to change: no code, but what is called may remember something, too."""
    if name.startswith("__") or isinstance(value, (type, ModuleType)):
        return False
    if isinstance(value, FunctionType):
        return any(True for _ in variables_of(value))
    return not callable(value) or is_user_code(_file_of(type(value)))


def _kept_names(owner: Any) -> Iterator[Undo]:
    for name, value in list(vars(owner).items()):
        if isinstance(value, type) and isinstance(owner, ModuleType) and value.__module__ == owner.__name__:
            yield from _kept_names(value)
        elif _is_state(name, value) and not isinstance(value, (property, staticmethod, classmethod)):
            contents = kept(value, _DEPTH)
            if contents is not None:
                yield functools.partial(_rebind, owner, name, value, contents)


def _kept_attributes(module: nn.Module) -> Iterator[Undo]:
    """The plain attributes of one module, which may be gone when they are put back."""
    reference = weakref.ref(module)
    before = {name: value for name, value in vars(module).items() if name not in BOOKKEEPING}
    inner = [one for value in before.values() if (one := kept(value, _DEPTH)) is not None]

    def undo() -> None:
        alive = reference()
        if alive is None:
            return
        names = vars(alive)
        for name in [name for name in names if name not in BOOKKEEPING and name not in before]:
            del names[name]
        names.update(before)
        for undo_value in inner:
            undo_value()

    yield undo


def _rebind(owner: Any, name: str, value: Any, contents: Undo) -> None:
    if getattr(owner, name, None) is not value:
        setattr(owner, name, value)
    contents()


def _nothing() -> None:
    pass


def kept(value: Any, depth: int = _DEPTH) -> Undo | None:
    """Puts the contents of ``value`` back; None where nothing is known of its kind."""
    if isinstance(value, _IMMUTABLE):
        return _nothing
    if depth == 0 or isinstance(value, nn.Module):
        return None
    if isinstance(value, Tensor):
        return _kept_tensor(value)
    if isinstance(value, torch.Generator):
        return _returning_nothing(value.set_state, value.get_state())
    if isinstance(value, random.Random):
        is_of_system = isinstance(value, random.SystemRandom)
        return None if is_of_system else _returning_nothing(value.setstate, value.getstate())
    if type(value).__module__.startswith("numpy.random") and hasattr(value, "bit_generator"):
        bits = value.bit_generator
        return _returning_nothing(setattr, bits, "state", copy.deepcopy(bits.state))
    if isinstance(value, FunctionType):
        return _kept_variables(value, depth)
    if is_array(value) and value.flags.writeable:
        return _returning_nothing(value.__setitem__, ..., value.copy())
    parts: list[Undo] = []
    if (kind := own_kind(value)) is not None:
        parts.append(_kept_container(kind, value, depth))
    elif isinstance(value, bytearray):
        parts.append(_kept_container(bytearray, value, depth))
    if is_own(type(value)) or isinstance(value, _NAMESPACES):
        names = getattr(value, "__dict__", None)
        parts += [_kept_container(dict, names, depth)] if type(names) is dict else []
        parts += [_kept_slot(slot, value, depth) for slot in slots_of(value)]
    return functools.partial(_all, parts) if parts else None


def _all(parts: Sequence[Undo]) -> None:
    for undo in parts:
        undo()


def _kept_slot(slot: MemberDescriptorType, value: Any, depth: int) -> Undo:
    try:
        before = slot.__get__(value)
    except AttributeError:
        return _nothing
    contents = kept(before, depth - 1) or _nothing

    def undo() -> None:
        slot.__set__(value, before)
        contents()

    return undo


def _kept_environment() -> Undo:
    before = dict(os.environ)

    def undo() -> None:
        for name in [name for name in os.environ if name not in before]:
            del os.environ[name]
        os.environ.update({name: text for name, text in before.items() if os.environ.get(name) != text})

    return undo


def _returning_nothing(function: Callable[..., Any], *args: Any) -> Undo:
    def undo() -> None:
        function(*args)

    return undo


def _kept_variables(function: FunctionType, depth: int) -> Undo:
    before = [(variable, kept(variable.value, depth - 1)) for variable in variables_of(function)]

    def undo() -> None:
        for variable, contents in before:
            if contents is not None:
                variable.rebind(variable.value)
                contents()

    return undo


def _kept_tensor(tensor: Tensor) -> Undo:
    before = tensor.detach().clone()

    def undo() -> None:
        with torch.no_grad():
            tensor.copy_(before)
        tensor.grad = None

    return undo


def _kept_container(kind: Any, container: Any, depth: int) -> Undo:
    """The items of a container; ``kind`` is Python's own class with the methods."""
    before: Any = dict(kind.items(container)) if issubclass(kind, dict) else list(kind.__iter__(container))
    items = before.values() if isinstance(before, dict) else before
    found = (kept(item, depth - 1) for item in items)
    inner = [one for one in found if one is not None and one is not _nothing]

    def undo() -> None:
        kind.clear(container)
        put: Callable[..., None] = getattr(
            kind, "update" if kind is set or issubclass(kind, dict) else "extend"
        )
        put(container, before)
        _all(inner)

    return undo


def _file_of(kind: type) -> str:
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or "<unknown>"
