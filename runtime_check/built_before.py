"""Reaches the wrappers that torch_remat made before the tap was open.

All wrappers of ``remat.region`` share one code object, and so do those of ``remat.checkpoint``; each holds
in its closure what it was made from. While this is open, every wrapper that is alive makes itself anew
from that, through the tapped functions. A wrapper that the garbage collector does not know (after
``gc.freeze``), or whose closure looks different in another version of torch_remat, stays as it is.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

import torch_remat._api as _api

_REGION = ("function", "name", "recompute")
_OPTIONS = ("region_name", "determinism_check", "saved_tensors_hooks", "recompute_state_hooks")

Anew = Callable[[Mapping[str, Any]], Callable[..., Any]]


@contextlib.contextmanager
def wrappers_reached() -> Iterator[None]:
    """Open it before the tap: the wrappers' code is found in functions that are not tapped yet."""
    anew: dict[CodeType, tuple[str, Anew]] = {}
    kinds: tuple[tuple[str, CodeType | None, Anew], ...] = (
        ("_remat_check_region", _nested(_api.region, _REGION), _region),
        ("_remat_check_decorator", _nested(_api.checkpoint, _OPTIONS), _decorator),
        ("_remat_check_checkpoint", _nested(_api.checkpoint, (*_OPTIONS, "function")), _checkpoint),
    )
    for entry, code, make in kinds:
        if code is not None:
            anew[code] = entry, make
    wrappers = [
        (wrapper, wrapper.__code__)
        for wrapper in gc.get_referrers(*anew)
        if isinstance(wrapper, FunctionType) and wrapper.__code__ in anew
    ]
    for entry, make in anew.values():
        setattr(_api, entry, make)
    try:
        replaced = {code: _calling(entry, code.co_freevars) for code, (entry, _) in anew.items()}
        for wrapper, code in wrappers:
            wrapper.__code__ = replaced[code]
        yield
    finally:
        for wrapper, code in wrappers:
            wrapper.__code__ = code
        for entry, _ in anew.values():
            delattr(_api, entry)


def _region(closure: Mapping[str, Any]) -> Callable[..., Any]:
    # Not as a keyword: the flag was decided elsewhere, and this line must not pass for that place.
    flag = {"recompute": closure["recompute"]}
    wrapper: Callable[..., Any] = _api.region(closure["function"], closure["name"], **flag)
    return wrapper


def _decorator(closure: Mapping[str, Any]) -> Callable[..., Any]:
    decorate: Callable[..., Any] = _api.checkpoint(**{name: closure[name] for name in _OPTIONS})
    return decorate


def _checkpoint(closure: Mapping[str, Any]) -> Callable[..., Any]:
    wrapper: Callable[..., Any] = _decorator(closure)(closure["function"])
    return wrapper


def _nested(function: Callable[..., Any], names: tuple[str, ...]) -> CodeType | None:
    """The code inside a function whose closure has these names, and ``function`` only if it is one."""
    assert isinstance(function, FunctionType)
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        free = set(code.co_freevars)
        if free.issuperset(names) and ("function" in free) is ("function" in names):
            return code
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return None


def _calling(entry: str, free: tuple[str, ...]) -> CodeType:
    """Code with the same closure that calls ``entry(closure)(*args, **kwargs)``."""
    closure = ", ".join(f"{name!r}: {name}" for name in free)
    source = (
        f"def outer({', '.join(free)}):\n"
        "    def wrapper(*args, **kwargs):\n"
        f"        return {entry}({{{closure}}})(*args, **kwargs)\n"
        "    return wrapper\n"
    )
    made: dict[str, Any] = {}
    exec(source, made)
    code: CodeType = made["outer"](*free).__code__
    assert code.co_freevars == free, "the compiler orders a closure by name"
    return code
