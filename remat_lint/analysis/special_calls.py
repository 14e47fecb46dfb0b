"""Attributes and items, however they are fetched, stored and changed.

``self.n = 1``, ``setattr(self, "n", 1)``, ``vars(self)["n"] = 1`` and ``object.__setattr__(self, "n", 1)``
do the same, and so do ``seen.append(x)`` and ``list.append(seen, x)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.external_names import made_by
from remat_lint.analysis.functions import Functions
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    CONTEXT_VALUE,
    NONE,
    UNKNOWN,
    Attributes,
    CheckpointWrapper,
    Constant,
    DictObject,
    External,
    Fickle,
    FunctionValue,
    InheritedMethod,
    InstanceObject,
    ModuleValue,
    Reference,
    Super,
    Tensor,
    Value,
    bound_to,
    join,
)
from remat_lint.analysis.values import (
    Sequence as SequenceValue,
)

_CLASSES = frozenset(
    [
        *(f"builtins.{name}" for name in ("list", "dict", "set", "object", "type")),
        *(f"collections.{name}" for name in ("deque", "OrderedDict", "defaultdict", "Counter")),
        "torch.Tensor",
        "torch.nn.Module",
    ]
)
"""Classes whose methods are called on what they are handed first, where they are called on the class."""

_CHANGING_FIRST = {
    "heapq.heappush": "append",
    "heapq.heappop": "pop",
    "heapq.heappushpop": "pop",
    "heapq.heapreplace": "pop",
    "bisect.insort": "append",
    "bisect.insort_left": "append",
    "bisect.insort_right": "append",
    "operator.setitem": "__setitem__",
    "operator.delitem": "__delitem__",
    "operator.iadd": "__iadd__",
    "operator.iconcat": "__iadd__",
}
"""Functions that change what they are handed first, and the methods that do as much."""

_ACTS = frozenset(
    [
        *(f"__{verb}{what}__" for verb in ("set", "del") for what in ("attr", "item")),
        "__get__",
        "__getattribute__",
        "__getitem__",
        "__iadd__",
        "__next__",
        "send",
    ]
)
"""Methods for which there is another way to write them."""

CONTEXT_VARIABLE = "contextvars.ContextVar"
_OF_A_CONTEXT_VARIABLE = ("get", "set", "reset")

BY_METHOD = {
    f"builtins.{name}": f"__{name}__"
    for name in ("len", "bool", "int", "float", "complex", "str", "repr", "hash", "abs", "round", "next")
}
"""Functions of Python that call a method of what they are handed."""


_DESCRIPTORS = (FunctionValue, CheckpointWrapper, External)
"""What may be a function that becomes a method where it is an attribute of a class."""

UNARY = {"Minus": "__neg__", "Plus": "__pos__", "BitInvert": "__invert__"}
_BINARY = {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "MatrixMultiply": "matmul",
    "Divide": "truediv",
    "FloorDivide": "floordiv",
    "Modulo": "mod",
    "Power": "pow",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "LeftShift": "lshift",
    "RightShift": "rshift",
}
_COMPARING = {
    "Equal": ("__eq__", "__eq__"),
    "NotEqual": ("__ne__", "__ne__"),
    "LessThan": ("__lt__", "__gt__"),
    "LessThanEqual": ("__le__", "__ge__"),
    "GreaterThan": ("__gt__", "__lt__"),
    "GreaterThanEqual": ("__ge__", "__le__"),
}
"""What is called on the left side with the right one, and what on the right side with the left one."""


class SpecialCalls(Functions):
    """Fetches and stores attributes and items."""

    def fetch(self, state: State, expr: ir.Expr, holder: Operand, name: str) -> Value:
        """``holder.name``, looked at by an expression."""
        base = holder.value
        if isinstance(base, Fickle):
            return base
        value = self.attribute_of(state, expr, base, name)
        if isinstance(base, ModuleValue) and name in base.scope.advanced:
            return self.read_global(expr, value)
        value = self.fetched(value, base, f".{name}")
        self.meet_attribute(state, expr, holder, name, value)
        return value

    def store(
        self,
        state: State,
        target: ir.Attribute,
        holder: Operand,
        value: Operand,
        shown: ir.Node | str | None = None,
    ) -> None:
        """``holder.name = value``; ``shown`` is how messages call it, where it is written otherwise."""
        setter = self.special_method(state, holder.value, f"{target.name}.setter")
        if setter is not None:
            self.call(state, target, setter, [value])
            return
        self.may_be_called(state, [value])
        self.note_attribute(state, target, holder, value, shown)
        if isinstance(holder.value, Tensor) and target.name == "data":
            self.write(state, target, holder)
            self.read(state, target, [value])
        if isinstance(holder.value, ModuleValue):
            state.bind(holder.value.scope.frame, target.name, value.value)
        self.set_attribute(state, holder.value, target.name, value.value)

    def store_item(
        self, state: State, target: ir.Expr, holder: Operand, keys: Sequence[Operand], value: Operand
    ) -> None:
        """``holder[keys] = value``."""
        key = keys[0] if len(keys) == 1 else Operand(SequenceValue(tuple(key.value for key in keys)))
        name = word(keys)
        if isinstance(holder.value, Attributes):
            if name:
                attribute = ir.Attribute(target.at, holder.expr or target, name)
                self.store(state, attribute, Operand(holder.value.holder), value)
            return
        if self.call_special(state, target, holder.value, "__setitem__", [key, value]) is None:
            self.may_be_called(state, [value])
            self.set_item(state, target, holder, keys, value)

    def operate(self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand) -> Value:
        """``left operator right``: what the class of a side says, or what Python and torch do."""
        name = _BINARY.get(operator, "")
        own = self.call_special(state, node, left.value, f"__{name}__", [right])
        if own is None:
            own = self.call_special(state, node, right.value, f"__r{name}__", [left])
        if own is None:
            own = self._made_by_operator(state, left.value, f"__{name}__")
        return own if own is not None else self.binary(state, node, operator, left, right)

    def _made_by_operator(self, state: State, left: Value, name: str) -> Value | None:
        """``path / name``: an object of another package, of which it is known what that gives."""
        found = self.object_at(state, left) if isinstance(left, Reference) else None
        if not isinstance(found, InstanceObject) or not isinstance(found.klass, External):
            return None
        klass = made_by(f"{found.klass.name}.{name}")
        return self.allocate(state, InstanceObject(External(klass))) if klass is not None else None

    def operate_in_place(
        self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand
    ) -> Value | None:
        """``left operator= right`` where the class of the left side says what that does."""
        return self.call_special(state, node, left.value, f"__i{_BINARY.get(operator, '')}__", [right])

    def compare(
        self, state: State, node: ir.Node, operator: str, left: Operand, right: Operand
    ) -> Value | None:
        """A comparison of which the class of a side says what it does."""
        if operator in ("In", "NotIn"):
            return self.call_special(state, node, right.value, "__contains__", [left])
        for_left, for_right = _COMPARING.get(operator, ("", ""))
        own = self.call_special(state, node, left.value, for_left, [right])
        return own if own is not None else self.call_special(state, node, right.value, for_right, [left])

    def act(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """``receiver.name(operands)`` of a method that no class of the project has; None for any other."""
        attribute = ir.Attribute(node.at, receiver.expr or node, word(operands[:1]))
        match name, operands:
            case "__setattr__", [_, value] if attribute.name:
                shown = (
                    f"{self.text(receiver.expr)}.{attribute.name}"
                    if receiver.expr is not None
                    else attribute.name
                )
                self.store(state, attribute, receiver, value, shown)
            case "__setattr__", [key, value]:
                self.may_be_called(state, [value])
                self.look_at_everything(receiver.value, sets=True)
                self.note_all_rewritten(state, receiver.value, node)
                self.set_named(state, receiver.value, key, value.value)
            case "__getattribute__", [_] if attribute.name:
                return self.fetch(state, node, receiver, attribute.name)
            case "__get__", [given, *_] if isinstance(receiver.value, _DESCRIPTORS) and given.value != NONE:
                return _method_of(receiver.value, given.value)
            case "__delattr__", [_] if attribute.name:
                self.note_deletion(state, attribute, receiver)
            case "__setitem__", [key, value]:
                self.store_item(state, node, receiver, [key], value)
            case "__getitem__", [_]:
                return self.item_of(state, node, receiver.value, operands)
            case "__delitem__", [key]:
                self.note_deletion(state, node, receiver, [key.expr])
            case "__iadd__", [value] if not isinstance(receiver.value, Tensor):
                self.call_method(state, node, receiver, "extend", [value])
                return receiver.value
            case ("__next__", []) | ("send", [_]):
                return self.call_external(state, node, "builtins.next", [receiver])
            case _:
                return None
        return NONE

    def call_by_meaning(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """A method is called for which there is another way to write it; None for any other."""
        value = receiver.value
        if isinstance(value, Attributes):
            return self._call_on_attributes(state, node, receiver, value, name, operands)
        if name in _OF_A_CONTEXT_VARIABLE and self._is_context_variable(state, value):
            return self._call_on_context_variable(state, node, receiver, name, operands)
        if name not in _ACTS or (name == "send" and not _is_generator(value)):
            return None
        if isinstance(self.attribute_of(state, node, value, name), FunctionValue):
            return None
        one = Operand(value.receiver) if isinstance(value, Super) else receiver
        return self.act(state, node, one, name, operands)

    def call_unbound(
        self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """``list.append(seen, x)``, ``heapq.heappush(seen, x)``; None for other functions."""
        owner, _, last = name.rpartition(".")
        of_module = owner.startswith("torch.nn.") and looks_like_a_class(owner)
        method = _CHANGING_FIRST.get(name) or (last if owner in _CLASSES or of_module else "")
        if not method or not operands or operands[0].keyword is not None or operands[0].star:
            return None
        first, others = operands[0], operands[1:]
        if method in _ACTS:
            return self.act(state, node, first, method, others)
        if of_module and self.is_module_object(state, first.value):
            return self.call(state, node, InheritedMethod(first.value, owner, method), others)
        if of_module or owner in ("builtins.object", "builtins.type"):
            return None
        return self.call_method(state, node, first, method, others if method != "pop" else ())

    def call_on_own_terms(
        self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]
    ) -> Value | None:
        """``len(bank)`` and its like, where the class of what is handed over says what that does."""
        if name not in BY_METHOD or not operands:
            return None
        return self.call_special(state, node, operands[0].value, BY_METHOD[name])

    def _call_on_attributes(
        self,
        state: State,
        node: ir.Expr,
        receiver: Operand,
        found: Attributes,
        name: str,
        operands: Sequence[Operand],
    ) -> Value | None:
        """A method of ``vars(holder)``."""
        holder, key = Operand(found.holder), word(operands[:1])
        if name == "update":
            for operand in operands:
                other = self.object_at(state, operand.value) if isinstance(operand.value, Reference) else None
                given: list[tuple[object, Value]] = [(operand.keyword, operand.value)]
                if operand.keyword is None:
                    given = list(other.items) if isinstance(other, DictObject) else []
                    if not given:
                        self.note_all_rewritten(state, found.holder, node)
                for word_given, value in given:
                    target = ir.Attribute(node.at, node, str(word_given))
                    self.store(state, target, holder, Operand(value, operand.expr), receiver.expr)
            return NONE
        if name in ("get", "setdefault", "pop") and key:
            value = self.fetch(state, node, holder, key)
            return join(value, operands[1].value) if len(operands) > 1 else value
        return self.act(state, node, receiver, name, operands)

    def _is_context_variable(self, state: State, value: Value) -> bool:
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        return isinstance(found, InstanceObject) and found.klass == External(CONTEXT_VARIABLE)

    def _call_on_context_variable(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """``variable.get()``, ``variable.set(value)`` and ``variable.reset(token)``: it is one attribute."""
        attribute = ir.Attribute(node.at, receiver.expr or node, CONTEXT_VALUE)
        if name == "get":
            return self.fetch(state, node, receiver, CONTEXT_VALUE)
        token = operands[0] if operands else Operand(UNKNOWN)
        before = self.terms_of_attribute(state, receiver, CONTEXT_VALUE)
        if name == "reset":
            self.store(state, attribute, receiver, replace(token, value=UNKNOWN), receiver.expr)
            terms = self.terms_of_attribute(state, token, CONTEXT_VALUE)
            self.move_attribute(state, receiver, CONTEXT_VALUE, terms)
            return NONE
        self.store(state, attribute, receiver, token, receiver.expr)
        made = Operand(self.allocate(state, InstanceObject(External("contextvars.Token"))))
        self.move_attribute(state, made, CONTEXT_VALUE, before)
        return made.value

    def call_external(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        """Call something of another package by its full name."""
        raise NotImplementedError

    def call_method(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        """``receiver.name(operands)`` where the receiver is no object of the project."""
        raise NotImplementedError


def word(keys: Sequence[Operand]) -> str:
    """The name that is the only key, an empty string where there is none."""
    value = keys[0].value if len(keys) == 1 else None
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else ""


def _method_of(function: Value, receiver: Value) -> Value:
    """``function.__get__(receiver)``: a method of another object is bound anew."""
    free = replace(function, receiver=None) if isinstance(function, FunctionValue) else function
    return bound_to(free, receiver)


def looks_like_a_class(name: str) -> bool:
    """Whether a dotted name ends like that of a class."""
    return name.rpartition(".")[2][:1].isupper()


def _is_generator(value: Value) -> bool:
    return isinstance(value, SequenceValue) and value.kind == "generator"
