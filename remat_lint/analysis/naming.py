"""How the regions of an object are named: the paths of its parts, and strings of which a part is known.

Frameworks tell each module where it stands in the block that is checkpointed, after all modules were made:
``qkv`` of the attention is ``attention.qkv``. So a name that a module makes is the path of attributes to
that module joined with the local name, unless the source shows what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from remat_lint.analysis import ir
from remat_lint.analysis.analyser import Analyser
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    CheckpointWrapper,
    ClassValue,
    Compiled,
    Constant,
    External,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    Method,
    Partial,
    Reference,
    RegionWrapper,
    Scalar,
    Unknown,
    Value,
    alternatives,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.project import Project

UNSEEN = "\0"
"""Stands in a name for any text; a name can hold any character that can be printed."""

MAX_PARTS = 3_000
"""Parts of one object that are told apart."""

_HOLE = re.compile(r"\{\{|\}\}|\{\}")


@dataclass(frozen=True, slots=True)
class Text(Unknown):
    """A string, with ``UNSEEN`` where the source does not show it. In all else it is unknown."""

    pattern: str = UNSEEN


def text_of(value: Value) -> str | None:
    """The text of a string, None where it is none."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        return value.value
    return value.pattern if isinstance(value, Text) else None


class Naming(Analyser):
    """An analyser that knows the parts of one object by their paths."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._paths: dict[int, str] = {}
        self._parts = 0

    def is_setting(self, expr: ir.Expr) -> bool:  # noqa: ARG002
        """A part is named as it was constructed."""
        return False

    def as_configured(self, value: Value, *, is_known: bool) -> Value:
        """An empty name is where the object itself stands: the paths of its parts begin there."""
        return value if value == Constant("") else super().as_configured(value, is_known=is_known)

    # --- paths

    def take_apart(self, state: State, whole: Reference) -> Reference:
        """An object like this one, each part of which is an object of its own and known by its path.

        To the analyser, modules that are constructed alike are one.
        """
        self._paths, self._parts = {}, 0
        return self._copied(state, whole, "", {})

    def path_of(self, value: Value | None) -> str | None:
        """The path of a part, None for everything else."""
        return self._paths.get(value.address) if isinstance(value, Reference) else None

    def _copied(self, state: State, part: Reference, path: str, above: dict[int, Reference]) -> Reference:
        found = self.object_at(state, part)
        if part.address in above:
            return above[part.address]
        if not isinstance(found, InstanceObject) or not self.is_module(found.klass):
            return part
        self._parts += 1
        known = self._paths.setdefault(part.address, path)
        if known != path:
            self._paths[part.address] = UNSEEN
        if self._parts > MAX_PARTS:
            return part
        copy = self.allocate(state, found)
        self._paths[copy.address] = path
        above = {**above, part.address: copy}
        attributes = tuple(
            (name, self._copied_below(state, found, name, value, path, above))
            for name, value in found.attributes
        )
        state.heap[copy.address] = replace(found, attributes=attributes)
        return copy

    def _copied_below(
        self,
        state: State,
        owner: InstanceObject,
        name: str,
        value: Value,
        path: str,
        above: dict[int, Reference],
    ) -> Value:
        if name != CONTENTS or not isinstance(value, SequenceValue):
            return self._copied_value(state, value, dotted(path, name), above)
        keys = dict(owner.arguments).get("keys")
        names = keys.items if isinstance(keys, SequenceValue) else ()
        items = tuple(
            self._copied_value(state, item, dotted(path, _key(names, index)), above)
            for index, item in enumerate(value.items)
        )
        rest = value.rest and self._copied_value(state, value.rest, dotted(path, UNSEEN), above)
        if rest is not None and not items:
            items = (rest,)  # a container that is looped over holds something
        return replace(value, items=items, rest=rest)

    def _copied_value(self, state: State, value: Value, path: str, above: dict[int, Reference]) -> Value:
        copies = [
            self._copied(state, one, path, above) if isinstance(one, Reference) else _rebound(one, above)
            for one in alternatives(value)
        ]
        joined: Value = copies[0]
        for other in copies[1:]:
            joined = join(joined, other)
        return joined

    def is_module(self, klass: ClassValue | External) -> bool:
        """Whether objects of a class are called through ``forward``."""
        return any(
            one.name.startswith("torch.nn.")
            if isinstance(one, External)
            else "forward" in self._names_of(one)
            for one in self.mro(klass)
        )

    def _names_of(self, klass: Value) -> dict[str, Value]:
        return self.class_names(klass) if isinstance(klass, ClassValue) else {}

    # --- strings

    def evaluate(self, expr: ir.Expr, state: State) -> Value:
        value = super().evaluate(expr, state)
        text: str | None = None
        if isinstance(expr, ir.Format):
            text = self._formatted(expr)
        elif isinstance(expr, ir.Binary) and expr.operator == "Add" and not isinstance(value, Constant):
            left, right = (text_of(self.frame.values[side.at]) for side in (expr.left, expr.right))
            if left is not None or right is not None:
                text = (UNSEEN if left is None else left) + (UNSEEN if right is None else right)
        if text is None:
            return value
        named = _as_value(text)
        self.frame.values[expr.at] = named
        return named

    def _formatted(self, expr: ir.Format) -> str:
        values = iter(expr.values if expr.is_plain else ())

        def filled(hole: re.Match[str]) -> str:
            if hole[0] != "{}":
                return hole[0][0]
            value = next(values, None)
            return UNSEEN if value is None else _written(self.frame.values[value.at])

        return _HOLE.sub(filled, expr.template)

    def attribute_of(self, state: State, node: ir.Expr, base: Value, name: str) -> Value:
        """An attribute of a part: another part, or a string that is told later where the part stands."""
        value = super().attribute_of(state, node, base, name)
        path = self.path_of(base)
        found = self.object_at(state, base) if isinstance(base, Reference) else None
        if path is None or not isinstance(found, InstanceObject):
            return value
        if value == Constant("") and self._is_told_later(found, name):
            return Text(pattern=path)
        if all(self.path_of(one) is not None for one in alternatives(value)):
            return value
        part = self._copied_value(state, value, dotted(path, name), {})  # known by its declared type only
        if part != value:
            assert isinstance(base, Reference)
            state.heap[base.address] = found.with_attribute(name, part)
        return part

    def _is_told_later(self, found: InstanceObject, name: str) -> bool:
        """Whether an empty string is what a class, or its ``__init__``, starts with."""
        if found.get(name) is None:
            return True
        return any(
            isinstance(statement, ir.Assign) and statement.value is not None and _sets_empty(statement, name)
            for klass in self.mro(found.klass)
            for function in self._names_of(klass).values()
            if isinstance(function, FunctionValue)
            for statement in function.definition.body
        )

    def call(self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]) -> Value:
        """A string that a module, or a function that is handed one, makes of a local name."""
        value = super().call(state, node, function, operands)
        if function == External("builtins.len") and len(operands) == 1:
            return self._length(state, operands[0].value) or value
        if function == External("builtins.str") and len(operands) == 1:
            return _as_value(_written(operands[0].value))
        if not isinstance(value, (Unknown, Scalar)) or isinstance(value, Text):
            return value
        owner = next(
            (path for one in _handed(function, operands) if (path := self.path_of(one)) is not None), None
        )
        local = [text for operand in operands if (text := text_of(operand.value)) is not None]
        return _as_value(dotted(owner, local[0])) if owner is not None and len(local) == 1 else value

    def _length(self, state: State, value: Value) -> Value | None:
        """How many parts a container has, where its constructor shows them all."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        contents = found.get(CONTENTS) if isinstance(found, InstanceObject) else None
        if isinstance(contents, SequenceValue) and contents.rest is None:
            return Constant(len(contents.items))
        return None

    def _cannot_matter(self, state: State, function: FunctionValue, operands: Sequence[Operand]) -> bool:
        names_a_region = any(text_of(operand.value) is not None for operand in operands) and any(
            self.path_of(one) is not None for one in _handed(function, operands)
        )
        return not names_a_region and super()._cannot_matter(state, function, operands)

    def _shown(self, operand: Operand) -> str:
        text = text_of(operand.value)
        if text is not None:
            return text
        expr = operand.expr
        if isinstance(expr, ir.Call) and expr.arguments:
            local = text_of(self.frame.values[expr.arguments[-1].value.at])
            if local is not None:
                return UNSEEN + local
        return UNSEEN


def _rebound(value: Value, copies: dict[int, Reference]) -> Value:
    """A method or wrapper of an object as that of its copy."""
    match value:
        case Reference(address=address):
            return copies.get(address, value)
        case FunctionValue(receiver=Reference() as receiver):
            return replace(value, receiver=_rebound(receiver, copies))
        case InheritedMethod(receiver=receiver):
            return replace(value, receiver=_rebound(receiver, copies))
        case RegionWrapper(function=function) | Compiled(function=function) | Partial(function=function):
            return replace(value, function=_rebound(function, copies))
        case CheckpointWrapper(function=Value() as function):
            return replace(value, function=_rebound(function, copies))
        case _:
            return value


def _written(value: Value) -> str:
    """What ``str`` makes of a value."""
    if isinstance(value, Constant) and isinstance(value.value, (str, int)):
        return str(value.value)
    return value.pattern if isinstance(value, Text) else UNSEEN


def dotted(path: str, name: str) -> str:
    """A path with one more name."""
    return f"{path}.{name}" if path else name


def _key(names: Sequence[Value], index: int) -> str:
    if not names:
        return str(index)
    key = names[index] if index < len(names) else None
    return str(key.value) if isinstance(key, Constant) else UNSEEN


def _as_value(text: str) -> Value:
    return Text(pattern=text) if UNSEEN in text else Constant(text)


def _handed(function: Value, operands: Sequence[Operand]) -> Iterator[Value | None]:
    if isinstance(function, (FunctionValue, InheritedMethod, Method)):
        yield function.receiver
    yield from (operand.value for operand in operands)


def _sets_empty(statement: ir.Assign, name: str) -> bool:
    """``self.name = ""``."""
    empty = isinstance(statement.value, ir.Const) and statement.value.value == ""
    return empty and any(isinstance(t, ir.Attribute) and t.name == name for t in statement.targets)
