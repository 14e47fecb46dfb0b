"""Methods of lists, dicts and containers of modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from remat_lint.analysis import ir
from remat_lint.analysis.items import Items
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTENTS,
    NONE,
    SCALAR,
    UNKNOWN,
    Choice,
    Constant,
    DictObject,
    External,
    FunctionValue,
    InstanceObject,
    ListObject,
    Made,
    NameScope,
    Partial,
    Reference,
    RegionName,
    RegionWrapper,
    Tensor,
    Unknown,
    Value,
    alternatives,
    join,
    join_optional,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import WEIGHTS

MODULE_ITSELF = frozenset(
    ["eval", "train", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "apply"]
)
"""Methods of ``nn.Module`` that return the module."""


MAX_PARTS = 64
"""A model of more parts that differ is not looked through whole."""

PARTS = frozenset(["children", "named_children", "get_submodule"])
"""Methods of ``nn.Module`` that lead to its parts."""

WHOLE_TREE = frozenset(["modules", "named_modules"])
"""Those that lead to the parts of its parts, too."""


class Containers(Items):
    """Runs the methods of containers."""

    def call_unknown(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """Something outside the project: it may read the tensors it is given, and mostly does."""
        self.note_unseen(state, node)
        self.read(state, node, operands, certain=False)
        self.hand_out(state, operands)
        self.note_given_away(state, operands)
        return Unknown(origin=self.fresh())

    def note_elements(self, contents: Value) -> None:
        """Remember which modules are elements of a container."""
        self.elements |= {
            one.address
            for item in parts(contents)
            for one in alternatives(item)
            if isinstance(one, Reference)
        }

    def modules_in(self, state: State, module: Value, limit: int = MAX_PARTS) -> Iterator[Reference]:
        """A module and its parts, each once, a module before its own parts."""
        seen: set[int] = set()
        waiting = [module]
        while waiting and len(seen) < limit:
            value = waiting.pop(0)
            if not isinstance(value, Reference):
                waiting = [*parts(value), *waiting] if isinstance(value, (Choice, SequenceValue)) else waiting
                continue
            found = self.object_at(state, value)
            if (
                value.address not in seen
                and self.is_module_object(state, value)
                and isinstance(found, InstanceObject)
            ):
                seen.add(value.address)
                yield value
                waiting = [*(held for _, held in found.attributes), *waiting]

    def all_of(self, state: State, module: Reference, name: str) -> tuple[Value, ...]:
        """What ``module.modules()`` and ``module.named_modules()`` lead to."""
        found = tuple(self.modules_in(state, module))
        return tuple(SequenceValue((SCALAR, one)) for one in found) if name.startswith("named_") else found

    def tensors_of(
        self, state: State, node: ir.Expr, module: Reference, method: str, operands: Sequence[Operand]
    ) -> Value | None:
        """The tensors that a method of a module gives, as far as they are in view; None for other methods."""
        if method in ("get_buffer", "get_parameter"):
            given = operands[0].value if operands else NONE
            name = given.value if isinstance(given, Constant) else None
            return self._tensor_in(state, node, module, name) if isinstance(name, str) else None
        wanted = method.removeprefix("named_")
        if wanted not in ("buffers", "parameters", "state_dict"):
            return None
        is_own = any(one.keyword == "recurse" and one.value == Constant(False) for one in operands)
        found: dict[object, Value] = {}
        for part in [module] if is_own else list(self.modules_in(state, module)):
            for name, tensor, is_weight in self._tensors_in(state, node, part):
                if wanted == "state_dict" or is_weight == (wanted == "parameters"):
                    found[f"{part.address}.{name}"] = tensor
        self.frame.watch.met[node.at] = frozenset(self.root_of(self.number_of(one)) for one in found.values())
        if wanted == "state_dict":
            return self.allocate(state, DictObject(tuple(found.items())))
        values = tuple(found.values())
        return SequenceValue(
            tuple(SequenceValue((SCALAR, one)) for one in values) if method != wanted else values,
            kind="generator",
        )

    def _tensors_in(
        self, state: State, node: ir.Expr, module: Reference
    ) -> Iterator[tuple[str, Value, bool]]:
        """The tensors of a module itself by their names, and whether each is a parameter, frozen or not."""
        found = self.object_at(state, module)
        assert isinstance(found, InstanceObject)
        for name, value in found.attributes:
            if isinstance(value, Tensor):
                yield name, value, value.made is Made.LEAF
        for name in sorted(WEIGHTS) if isinstance(found.klass, External) else ():
            for one in alternatives(self.attribute_of(state, node, module, name)):
                if isinstance(one, Tensor):
                    yield name, self.fetched(one, module, f".{name}"), True

    def _tensor_in(self, state: State, node: ir.Expr, module: Reference, name: str) -> Value:
        return self.fetched(self.attribute_of(state, node, module, name), module, f".{name}")

    def call_on_all(self, state: State, node: ir.Expr, module: Reference, function: Value) -> Value:
        """``module.apply(function)``: calls it on each module, on a module after its parts."""
        for one in list(self.modules_in(state, module))[::-1]:
            self.call(state, node, function, [Operand(one)])
        return module

    def hand_out(self, state: State, operands: Sequence[Operand]) -> None:
        """Functions and region wrappers handed to unknown code may be called there."""
        for operand in operands:
            if isinstance(operand.value, (FunctionValue, Partial)):
                self.escape(state, operand.value)
        if self.unsettled and any(self.is_module_object(state, one.value) for one in operands):
            self.settle_wrapped(state)
        self.may_be_called(state, operands)

    def may_be_called(self, state: State, operands: Sequence[Operand]) -> None:
        """A region wrapper that is stored or handed on is not forgotten, a name scope may be entered.

        Nor is one that a function knows that is stored or handed on.
        """
        self.note_handed(operands)
        for operand in operands:
            for value in self._known_to(state, operand.value, set()):
                if isinstance(value, RegionWrapper):
                    self.journal.called.add(value.place)
            for value in alternatives(operand.value):
                if isinstance(value, NameScope):
                    self.name_scopes += (RegionName("{}"),)

    def note_handed(self, operands: Sequence[Operand]) -> None:
        """These values are no longer known to the running call alone."""
        values = (value for operand in operands for value in (operand.value, *parts(operand.value)))
        self.given_away |= {value.address for value in values if isinstance(value, Reference)}

    def _known_to(self, state: State, value: Value, seen: set[int]) -> Iterator[Value]:
        """A value, its parts, and what a function in it sees around it."""
        for one in (value, *parts(value)):
            yield one
            if isinstance(one, FunctionValue) and one.frame not in {*seen, one.scope.frame}:
                seen.add(one.frame)
                for name in state.frames.get(one.frame, {}).values():
                    yield from self._known_to(state, name, seen)

    def _call_container_method(
        self, state: State, node: ir.Expr, reference: Reference, name: str, operands: Sequence[Operand]
    ) -> Value:
        found = self.object_at(state, reference)
        values = [operand.value for operand in operands]
        if isinstance(found, ListObject):
            return self._call_list_method(state, reference, found, name, values, node)
        if isinstance(found, DictObject):
            return self._call_dict_method(state, reference, found, name, operands)
        if isinstance(found, InstanceObject) and (contents := found.get(CONTENTS)):
            return self._call_module_container(state, node, reference, found, contents, name, values)
        return self.call_unknown(state, node, operands)

    def _call_list_method(
        self,
        state: State,
        reference: Reference,
        found: ListObject,
        name: str,
        values: Sequence[Value],
        node: ir.Expr,
    ) -> Value:
        if name in ("pop", "popleft"):
            return self._take_from_list(state, reference, found, from_left=name == "popleft", values=values)
        if name == "copy":
            return self.allocate(state, found)
        more = self.iterate(state, node, values[0]) if values else SequenceValue()
        state.heap[reference.address] = _changed_list(found, name, values, more)
        return NONE

    def _take_from_list(
        self,
        state: State,
        reference: Reference,
        found: ListObject,
        *,
        from_left: bool,
        values: Sequence[Value],
    ) -> Value:
        items, rest = found.items, found.rest
        if not items or (rest is not None and not from_left):
            return reduce(join, items, rest) if rest is not None else Unknown()
        first = from_left or (bool(values) and values[0] == Constant(0))
        state.heap[reference.address] = replace(found, items=items[1:] if first else items[:-1])
        return items[0] if first else items[-1]

    def _call_dict_method(
        self,
        state: State,
        reference: Reference,
        found: DictObject,
        name: str,
        operands: Sequence[Operand],
    ) -> Value:
        values = tuple(value for _, value in found.items)
        keys = tuple(Constant(key) for key, _ in found.items)
        match name:
            case "values":
                return SequenceValue(values, found.rest)
            case "keys":
                return SequenceValue(keys, SCALAR if found.rest is not None else None)
            case "items":
                pairs = tuple(SequenceValue(pair) for pair in zip(keys, values, strict=True))
                rest = SequenceValue((SCALAR, found.rest)) if found.rest is not None else None
                return SequenceValue(pairs, rest)
            case "get" | "pop" | "setdefault" if operands:
                return self._dict_lookup(state, reference, found, name, operands)
            case "update":
                for operand in operands:
                    if operand.keyword is not None:
                        self._set_object_item(
                            state, reference, [Operand(Constant(operand.keyword))], operand.value
                        )
                    elif isinstance(operand.value, Reference):
                        other = self.object_at(state, operand.value)
                        for key, value in other.items if isinstance(other, DictObject) else ():
                            self._set_object_item(state, reference, [Operand(Constant(key))], value)
                return NONE
            case "copy":
                return self.allocate(state, found)
            case _:
                return Unknown(frozenset(token for value in values for token in state.tokens(value)))

    def _dict_lookup(
        self,
        state: State,
        reference: Reference,
        found: DictObject,
        name: str,
        operands: Sequence[Operand],
    ) -> Value:
        default: Value = operands[1].value if len(operands) > 1 else NONE
        key = operands[0].value
        known = dict(found.items).get(key.value) if isinstance(key, Constant) else None
        if known is None and name == "setdefault":
            self._set_object_item(state, reference, [operands[0]], default)
            self.note_left((reference.address, "[]"), default)
        if isinstance(key, Constant) and found.rest is None:
            return known if known is not None else default
        joined = default
        for _, value in found.items:
            joined = join(joined, value)
        return join(joined, found.rest) if found.rest is not None else joined

    def _call_module_container(
        self,
        state: State,
        node: ir.Expr,
        reference: Reference,
        found: InstanceObject,
        contents: Value,
        name: str,
        values: Sequence[Value],
    ) -> Value:
        items, rest = (
            (contents.items, contents.rest) if isinstance(contents, SequenceValue) else ((), contents)
        )
        names = dict(found.arguments).get("keys")
        keys = names.items if isinstance(names, SequenceValue) else tuple(SCALAR for _ in items)
        match name:
            case "modules" | "named_modules":
                return SequenceValue(self.all_of(state, reference, name))
            case "apply" if values:
                return self.call_on_all(state, node, reference, values[0])
            case "values" | "children":
                return SequenceValue(items, rest)
            case "items" | "named_children":
                pairs = tuple(SequenceValue(pair) for pair in zip(keys, items, strict=False))
                return SequenceValue(pairs, SequenceValue((SCALAR, rest)) if rest is not None else None)
            case "keys":
                return SequenceValue(keys, SCALAR if rest is not None else None)
            case "append" | "insert" | "add_module" | "register_module" if values:
                key = values[0] if name.endswith("_module") else SCALAR
                self._set_object_item(state, reference, [Operand(key)], values[-1])
                return reference
            case "extend" | "update" if values:
                for value in self._more_modules(state, node, values[0]):
                    self._set_object_item(state, reference, [Operand(SCALAR)], value)
                    self.note_elements(SequenceValue((value,)))
                return reference
            case "get" | "pop" | "__getitem__" if values:
                return self._container_item(state, found, [Operand(values[0])])
            case _ if name in MODULE_ITSELF:
                return reference
            case _:
                return Unknown()

    def _more_modules(self, state: State, node: ir.Expr, value: Value) -> tuple[Value, ...]:
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if isinstance(found, DictObject):
            return (*(item for _, item in found.items), *((found.rest,) if found.rest else ()))
        sequence = self.iterate(state, node, value)
        return (*sequence.items, *((sequence.rest,) if sequence.rest else ()))


def _changed_list(found: ListObject, name: str, values: Sequence[Value], more: SequenceValue) -> ListObject:
    """A list after one of its methods; ``more`` is what a loop over the first argument sees."""
    items, rest = found.items, found.rest
    if name == "clear":
        return replace(found, items=(), rest=None)
    if name == "reverse" and rest is None:
        return replace(found, items=items[::-1])
    if name == "insert" and len(values) > 1:
        at = values[0].value if isinstance(values[0], Constant) else None
        if isinstance(at, int) and rest is None:
            return replace(found, items=(*items[:at], values[1], *items[at:]))
        return replace(found, items=(), rest=reduce(join, items, join_optional(rest, values[1]) or UNKNOWN))
    if name == "appendleft" and values:
        return replace(found, items=(values[0], *items))
    if name == "extendleft" and more.rest is None:
        return replace(found, items=(*more.items[::-1], *items))
    if name in ("append", "add") and values:
        more = SequenceValue((values[0],))
    elif name not in ("extend", "update", "extendleft"):
        return found
    if rest is None:
        return replace(found, items=(*items, *more.items), rest=more.rest)
    return replace(found, rest=join_optional(reduce(join, more.items, rest), more.rest))
