"""Reads the table once, lays the corrections over it, and answers by name."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from remat_lint.torch_ops.operation import Effect, Layout, Operation, Result

_TENSOR = "torch.Tensor"
_ATTRIBUTES = "torch.Tensor attributes"
_MODULES = "torch.nn"
_ATEN = "torch.ops.aten"
_KNOWN_AS = {
    "torch.functional": "torch",
    "torch._C._nn": "torch.nn.functional",
    "torch.nn": "torch.nn.parameter",
    "_operator": "operator",
}
"""Namespaces whose functions the table lists under another."""
_ATEN_PREFIXES = {
    "linalg_": "torch.linalg",
    "special_": "torch.special",
    "fft_": "torch.fft",
}


def function(qualified: str) -> Operation | None:
    """The function of that name, as resolved from imports: ``torch.sigmoid``, ``torch.Tensor.add``,
    ``torch.ops.aten.add[.Tensor]``, ``operator.add``."""
    if qualified.startswith(_ATEN + "."):
        return _aten(qualified.split(".")[3])
    namespace, _, name = qualified.rpartition(".")
    if namespace == _TENSOR:
        return _unbound(name)
    return _operation(_KNOWN_AS.get(namespace, namespace), name)


def method(name: str) -> Operation | None:
    """The method of ``torch.Tensor``; the receiver is ``self``, and not among the parameters."""
    return _operation(_TENSOR, name)


def attribute(name: str) -> Operation | None:
    """The attribute of ``torch.Tensor`` that is no method."""
    return _operation(_ATTRIBUTES, name)


def module(qualified: str) -> Operation | None:
    """A call of an instance of the ``nn`` module, or of one of another package; None for containers."""
    namespace, _, name = qualified.rpartition(".")
    if namespace == _MODULES or namespace.startswith(_MODULES + ".modules"):
        return _operation(_MODULES, name)
    return _operation(f"{namespace} modules", name)


@cache
def _unbound(name: str) -> Operation | None:
    """A method as a function of its class: the receiver is the first parameter."""
    bound = method(name)
    return bound and replace(bound, parameters=("self", *bound.parameters))


def _aten(name: str) -> Operation | None:
    """Most aten operators are methods or functions of the same name; the table lists the rest."""
    found = _operation(_ATEN, name) or _unbound(name) or function(f"torch.{name}")
    found = found or function(f"torch.nn.functional.{name}")
    for prefix, namespace in _ATEN_PREFIXES.items():
        if found is None and name.startswith(prefix):
            found = function(f"{namespace}.{name.removeprefix(prefix)}")
    return found


@cache
def _operation(namespace: str, name: str) -> Operation | None:
    entry = _table().get(namespace, {}).get(name)
    return None if entry is None else _build(namespace, name, entry)


@cache
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    """Entries by namespace and name, without the fields that have their usual value."""
    from remat_lint.torch_ops.corrections import CORRECTIONS

    text = Path(__file__).with_name("table.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, dict[str, Any]]] = json.loads(text)["operations"]
    for correction in CORRECTIONS:
        for namespace, name in correction.targets():
            entries = table.setdefault(namespace, {})
            if name in entries or correction.adds:
                entries[name] = {**entries.get(name, {}), **correction.fields}
    return table


def _build(namespace: str, name: str, entry: dict[str, Any]) -> Operation:
    effect = Effect(entry.get("effect", "read"))
    parameters = _words(entry, "parameters")
    receiver = "self" if namespace in (_TENSOR, _ATTRIBUTES) else next(iter(parameters), "input")

    def named(field: str) -> tuple[str, ...]:
        return tuple(receiver if word == "receiver" else word for word in _words(entry, field))

    return Operation(
        name=name,
        effect=effect,
        result=Result(entry.get("result", "tensor")),
        layout=Layout(entry.get("layout", "breaks")) if effect is Effect.VIEW else None,
        parameters=parameters,
        constructor=_words(entry, "constructor"),
        sources=named("sources"),
        metadata_only=named("metadata_only"),
        writes=named("writes"),
        variadic=entry.get("variadic"),
        draws=entry.get("draws", False),
        switches=entry.get("switches", ()),
        draws_unless_given=entry.get("draws_unless_given"),
        draws_like=entry.get("draws_like"),
        constructor_draws=entry.get("constructor_draws", False),
        keeps_output=entry.get("keeps_output", False),
        keeps_output_if_tensor=entry.get("keeps_output_if_tensor"),
        keeps_results=tuple(entry.get("keeps_results", ())),
        keeps_order=entry.get("keeps_order", False),
        indirect_inplace=entry.get("indirect_inplace"),
    )


def _words(entry: dict[str, Any], field: str) -> tuple[str, ...]:
    return tuple(entry.get(field, "").split())
