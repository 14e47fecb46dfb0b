"""What torch_remat takes as the result of a region or of a checkpointed function, and what it rejects.

It takes a tensor, or a tuple or list of tensors. A region may also return ``None`` among tensors, and no leaf
that requires grad.
"""

from __future__ import annotations

from collections.abc import Callable

from remat_lint.analysis.machine import Machine, qualified
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    NONE,
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InstanceObject,
    ListObject,
    Made,
    Reference,
    Scalar,
    Sequence,
    Tensor,
    Value,
    alternatives,
)

_PLAIN_BASES = ("builtins.object", "torch.nn.", "typing.Generic", "typing.Protocol", "abc.ABC")
"""Bases that make no class a kind of tensor, tuple or list."""


_SURE = ("a dict", "a container inside a container", "an object")
"""What a value is never taken for by mistake."""

Judge = Callable[[Value], str | None]


class Outputs:
    """Judges the results of regions, or of checkpoints."""

    def __init__(self, machine: Machine, state: State, *, of_region: bool) -> None:
        self._machine = machine
        self._state = state
        self._of_region = of_region

    def rejected(self, value: Value) -> str | None:
        """What is wrong with a result, where that is certain: ``a dict``, ``a number``.

        Of several paths one is enough, unless it returns ``None`` or a number: those stand for what the
        analyser lost, now and then.
        """
        return self._of_all_paths(value, self._whole)

    def _of_all_paths(self, value: Value, judge: Judge) -> str | None:
        found = [judge(one) for one in alternatives(value)]
        if all(found):
            return found[0]
        return next((what for what in found if what is not None and what.startswith(_SURE)), None)

    def _whole(self, value: Value) -> str | None:
        if value == NONE:
            return "`None`"
        items = self._items(value)
        if items is None:
            return self._leaf(value)
        wrong = (self._of_all_paths(item, self._item) for item in items)
        return next((what for what in wrong if what is not None), None)

    def _item(self, value: Value) -> str | None:
        if value == NONE:
            return None if self._of_region else "a `None` among its tensors"
        if self._items(value) is not None:
            return "a container inside a container"
        return self._leaf(value)

    def _items(self, value: Value) -> tuple[Value, ...] | None:
        """What is in a tuple or list; None for anything else."""
        found: Value | ListObject | object = value
        if isinstance(value, Reference):
            found = self._machine.object_at(self._state, value)
        if isinstance(found, ListObject) or (isinstance(found, Sequence) and found.kind == "tuple"):
            return found.items if found.rest is None else (*found.items, found.rest)
        return None

    def _leaf(self, value: Value) -> str | None:
        match value:
            case Tensor(made=Made.LEAF) if self._of_region:
                return "a new leaf that requires grad"
            case Constant(value=found) if found is not ...:
                return f"the {type(found).__name__} `{found!r}`"
            case Scalar():
                return "a number, size or string"
            case Sequence(kind=kind):
                return f"a {kind}"
            case FunctionValue() | ClassValue():
                return "a function" if isinstance(value, FunctionValue) else "a class"
            case Reference():
                return self._object(value)
            case _:
                return None

    def _object(self, reference: Reference) -> str | None:
        found = self._machine.object_at(self._state, reference)
        if isinstance(found, DictObject):
            return "a dict"
        if not isinstance(found, InstanceObject):
            return None
        if isinstance(found.klass, External):
            return f"a module `{found.klass.name.rpartition('.')[2]}`"
        return f"an object of class `{found.klass.definition.name}`" if _is_plain(found.klass) else None


def _is_plain(klass: ClassValue) -> bool:
    """Whether a class is certainly no kind of tensor, tuple or list."""
    return len(klass.bases) == len(klass.definition.bases) and all(
        _is_plain(base) if isinstance(base, ClassValue) else qualified(base).startswith(_PLAIN_BASES)
        for base in klass.bases
    )
