"""Whether code may have weights of its own: if not, its gradients come from what it is handed.

Told by what the code names, and by what its object holds. What is not plainly without weights may have some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import (
    ClassValue,
    Constant,
    DictObject,
    External,
    FunctionValue,
    HeapObject,
    InstanceObject,
    ListObject,
    Reference,
    Scalar,
    Tensor,
    Value,
    contents,
)
from remat_lint.analysis.values import Sequence as SequenceValue

_MAX_DEPTH = 6
"""Functions that call each other, and objects that hold each other, deeper than this are not searched."""

_WITHOUT = (
    "builtins",
    "torch_remat",
    "math",
    "random",
    "numpy",
    "time",
    "logging",
    "collections",
    "functools",
)
"""Packages whose functions have no weights."""

_MODULES = ("torch.nn.", "torch.Tensor", "torch.load")
_FUNCTIONS = "torch.nn.functional"


class Weights:
    """Looks for weights on one path."""

    def __init__(
        self,
        state: State,
        object_at: Callable[[State, Reference], HeapObject | None],
        resolved: Callable[[Value], Value],
    ) -> None:
        self._state = state
        self._object_at = object_at
        self._resolved = resolved
        self._seen: set[object] = set()

    def may_have(self, value: Value, depth: int = 0) -> bool:
        """Whether a value, or what it calls, may hold a tensor that requires grad."""
        value = self._resolved(value)
        if value in self._seen:
            return False
        self._seen.add(value)
        if depth > _MAX_DEPTH:
            return True
        match value:
            case Constant() | Scalar():
                return False
            case Tensor(grad=grad):
                return grad is not False
            case External(name=name):
                return _may_be_weight(name)
            case SequenceValue(items=items, rest=rest):
                return self._any((*items, rest) if rest is not None else items, depth)
            case Reference():
                return self._may_object(self._object_at(self._state, value), depth)
            case FunctionValue():
                return self._may_function(value, depth)
            case ClassValue():
                return any(not isinstance(base, External) for base in value.bases)
            case _:
                return True

    def _any(self, values: Sequence[Value], depth: int) -> bool:
        return any(self.may_have(value, depth + 1) for value in values)

    def _may_object(self, found: HeapObject | None, depth: int) -> bool:
        match found:
            case ListObject() | DictObject():
                return self._any(tuple(contents(found)), depth)
            case InstanceObject(klass=ClassValue() as klass, attributes=attributes):
                if any(base != External("torch.nn.Module") for base in klass.bases):
                    return True
                methods = [one for one in klass.definition.body if isinstance(one, ir.FunctionDef)]
                names = (name for one in methods for name in _names(one.function))
                if any(self._may_global(klass, name, depth) for name in names):
                    return True
                return self._any([held for _, held in attributes], depth)
            case _:
                return True

    def _may_global(self, klass: ClassValue, name: str, depth: int) -> bool:
        value = klass.scope.names.get(name)
        return value is not None and self.may_have(value, depth + 1)

    def _may_function(self, function: FunctionValue, depth: int) -> bool:
        if function.receiver is not None:
            return self.may_have(function.receiver, depth + 1)
        if function.frame != function.scope.frame:
            return True
        values = [function.scope.names.get(name) for name in _names(function.definition)]
        return self._any([value for value in values if value is not None], depth)


def _names(function: ir.Function) -> Iterator[str]:
    """All names in the body of a function, but for those of functions inside it."""
    for statement in nested(function.body):
        for expr, _ in evaluated(header(statement)):
            if isinstance(expr, ir.Name):
                yield expr.id


def _may_be_weight(name: str) -> bool:
    if name.startswith("torch.") or name == "torch":
        return name.startswith(_MODULES) and not name.startswith(_FUNCTIONS)
    return name.partition(".")[0] not in _WITHOUT
