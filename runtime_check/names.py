"""What the tensors and the numbers of a step are called in its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from remat_lint.runtime_check.described import attributes, described, is_stream, leaves, random_states
from remat_lint.runtime_check.fingerprints import fingerprint
from remat_lint.runtime_check.surroundings import Surroundings

TORCH, PYTHON, NUMPY = "torch's random state", "Python's random state", "NumPy's random state"
PYTHONS_STREAMS = frozenset({PYTHON, NUMPY})
GLOBAL_STREAMS = PYTHONS_STREAMS | {TORCH}


def storage_of(tensor: Tensor) -> int | None:
    """Which storage the tensor looks at; None where it has none. A number is used again once it is free."""
    try:
        storage: int = tensor.untyped_storage()._cdata
        return storage
    except (RuntimeError, NotImplementedError):
        return None


class Names:
    """The state of a running step by name: parameters, buffers, attributes, globals, variables."""

    def __init__(self, module: Callable[[], nn.Module], surroundings: Surroundings) -> None:
        self._module = module
        self._surroundings = surroundings

    def of_storage(self, storage: int | None, frames: Iterable[FrameType] = ()) -> str | None:
        """What a storage is called: by the model, its package, or else a variable of the ``frames``."""
        for name, tensor in self._tensors():
            if storage is not None and storage_of(tensor) == storage:
                return name
        for frame in frames:
            for name, value in frame.f_locals.items():
                if storage is not None and isinstance(value, Tensor) and storage_of(value) == storage:
                    return f"variable {name} of {frame.f_code.co_name}"
        return None

    def of_generator(self, generator: torch.Generator) -> str:
        """What a generator is called."""
        # Operations are given another Python object for the same generator.
        found = (
            name
            for name, value in self._values()
            if isinstance(value, torch.Generator)
            and getattr(value, "_cdata", value) == getattr(generator, "_cdata", None)
        )
        return next(found, "a torch.Generator")

    def streams(self) -> frozenset[str]:
        """The random streams that the module and its package hold, and Python's own."""
        held = (name for name, value in self._values() if is_stream(value))
        return PYTHONS_STREAMS.union(held)

    def value(self, wanted: str) -> Any:
        """The attribute, global or item of this name; None where there is none."""
        return next((value for name, value in self._values() if name == wanted), None)

    def buffers(self) -> dict[int, str]:
        """The storages of the buffers."""
        named = ((storage_of(buffer), name) for name, buffer in self._module().named_buffers())
        return {storage: name for storage, name in named if storage is not None}

    def state(self, frames: Iterable[FrameType] = ()) -> dict[str, str]:
        """Everything that is known of the step's state, as text; variables are those of the ``frames``."""
        state = dict(random_states())
        state |= _settings()
        state |= {name: str(fingerprint(tensor)) for name, tensor in self._registered()}
        for name, value in (*attributes(self._module()), *self._surroundings.values()):
            state.update(described(value, name))
        paths = {id(part): path for path, part in self._module().named_modules()}
        for frame in frames:
            for name, value in frame.f_locals.items():
                text = _text(value, paths)
                if text is not None:
                    state.setdefault(f"variable {name} of {frame.f_code.co_name}", text)
        return state

    def reader(self, what: str) -> Callable[[], str] | None:
        """Reads the state of this name again and again; None where nothing of this name is known.

        It reads one attribute, not the whole module: it runs after every line.
        """
        if what in dict(random_states()):
            return lambda: dict(random_states())[what]
        inner = what.removeprefix("len(").removeprefix("buffer ")
        owners = [(f"{path}." if path else "", part) for path, part in self._module().named_modules()]
        owners += list(self._surroundings.owners())
        for prefix, owner in sorted(owners, key=lambda one: -len(one[0])):
            name = re.split(r"[.\[)]", inner.removeprefix(prefix), maxsplit=1)[0]
            if inner.startswith(prefix) and (prefix or name):
                return lambda: _held(owner, name)
        return None

    def _tensors(self) -> Iterator[tuple[str, Tensor]]:
        yield from self._registered()
        for name, value in self._values():
            if isinstance(value, Tensor):
                yield name, value

    def _registered(self) -> Iterator[tuple[str, Tensor]]:
        module = self._module()
        yield from ((f"parameter {name}", parameter) for name, parameter in module.named_parameters())
        yield from ((f"buffer {name}", buffer) for name, buffer in module.named_buffers())

    def _values(self) -> Iterator[tuple[str, Any]]:
        for name, value in (*attributes(self._module()), *self._surroundings.values()):
            yield from leaves(value, name)


def _held(owner: Any, name: str) -> str:
    space = vars(owner)
    value = space[name] if name in space else space.get("_buffers", {}).get(name)
    return str(dict(described(value, name)))


def _text(value: Any, paths: dict[int, str]) -> str | None:
    """A variable as text, where that says what it stands for."""
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        return repr(value)
    if isinstance(value, nn.Module) and id(value) in paths:
        return paths[id(value)] or "the module"
    return None


def _settings() -> dict[str, str]:
    """What torch is told from outside, and what may not be the same when backward comes."""
    return {
        "torch.get_default_dtype()": str(torch.get_default_dtype()),
        "torch.are_deterministic_algorithms_enabled()": str(torch.are_deterministic_algorithms_enabled()),
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision(),
        "torch.get_num_threads()": str(torch.get_num_threads()),
        "torch.is_autocast_enabled('cpu')": str(torch.is_autocast_enabled("cpu")),
        "torch.get_autocast_dtype('cpu')": str(torch.get_autocast_dtype("cpu")),
        "torch.is_grad_enabled()": str(torch.is_grad_enabled()),
    }
