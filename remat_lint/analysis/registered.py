"""Names that a class registers for its regions, so that a policy can be told of them.

A class lists them (``AVAILABLE_REMAT_SAVE_REGIONS = ("mix",)``), or has a handle for each of them among its
attributes (``mix_region = Module.register_remat_region("mix")``). torch_remat takes any other name too, but
no policy can save a region that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from remat_lint.analysis import ir
from remat_lint.analysis.facts import Kept, UnregisteredName
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.name_pairs import assigned_value, name_lookup, policy_lookup
from remat_lint.analysis.objects import Objects
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import (
    ClassValue,
    Constant,
    InstanceObject,
    ListObject,
    Reference,
    Value,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import Place

_LISTS = ("AVAILABLE_REMAT_SAVE_REGIONS", "REQUIRED_REMAT_SAVE_REGIONS")
REGISTER = "register_remat_region"
"""The method that makes a handle."""


class Registered(Objects):
    """Compares the names of regions with what the class of the running method registers."""

    def check_registered(
        self, state: State, node: ir.Expr, given: Operand | None, recompute: Operand | None, kept: Kept
    ) -> None:
        """A region about which a policy decides has a name that the class registers."""
        receiver = self.frame.receiver
        found = self.object_at(state, receiver) if isinstance(receiver, Reference) else None
        if kept is not Kept.POLICY or given is None or recompute is None:
            return
        if not isinstance(found, InstanceObject) or not isinstance(found.klass, ClassValue):
            return
        order = [one for one in self.mro(found.klass) if isinstance(one, ClassValue)]
        place, owner = self.place(node), found.klass.definition.name
        for argument in self._local_names(given, recompute):
            made = self._made_late(order, argument)
            if made is not None:
                self.journal.note(UnregisteredName(place, self.text(argument), owner, made))
                return
        names = [name for one in self._local_names(given, recompute) if (name := self.local_name(one))]
        listed = self._listed(state, found, order)
        if names and listed and not any(_is_listed(name, listed) for name in names):
            self.journal.note(UnregisteredName(place, names[0], owner, None, tuple(listed)))

    def _local_names(self, given: Operand, recompute: Operand) -> Iterator[ir.Expr]:
        """What a region is called, and what the helpers of its object are given for it."""
        function = self.frame.function
        if given.expr is not None:
            yield given.expr
        for lookup in (name_lookup(function, given.expr), policy_lookup(function, recompute.expr)):
            if lookup is not None and self._is_receiver(lookup.method.base):
                yield lookup.argument

    # --- lists

    def _listed(self, state: State, found: InstanceObject, order: Sequence[ClassValue]) -> list[str]:
        """The names in the lists of an object and its classes; none where one of them is not all in view."""
        own = [found.get(name) for name in _LISTS]
        inherited = [self.class_names(klass).get(name) for klass in order for name in _LISTS]
        names: list[str] = []
        for value in (*own, *inherited):
            items = self._strings(state, value) if value is not None else ()
            if items is None:
                return []
            names += items
        return list(dict.fromkeys(names))

    def _strings(self, state: State, value: Value) -> list[str] | None:
        held = self.object_at(state, value) if isinstance(value, Reference) else value
        if not isinstance(held, (SequenceValue, ListObject)) or held.rest is not None:
            return None
        items = [item.value for item in held.items if isinstance(item, Constant)]
        strings = [item for item in items if isinstance(item, str)]
        return strings if len(strings) == len(held.items) else None

    # --- handles

    def _made_late(self, order: Sequence[ClassValue], argument: ir.Expr) -> Place | None:
        """Where a handle is made that is no attribute of a class."""
        made = assigned_value(self.frame.function, argument)
        if made is not None and _makes_handle(made):
            return self.place(made)
        if not isinstance(argument, ir.Attribute) or not self._is_receiver(argument.base):
            return None
        if any(argument.name in self.class_names(klass) for klass in order):
            return None
        for klass in order:
            for value in _assigned_by_methods(klass, argument.name):
                if _makes_handle(value):
                    return Place(klass.scope.source.path, value.at)
        return None

    def _is_receiver(self, expr: ir.Expr) -> bool:
        function = self.frame.function
        return function is not None and _is_first_parameter(function, expr)


def _makes_handle(expr: ir.Expr) -> bool:
    function = expr.function if isinstance(expr, ir.Call) else None
    return isinstance(function, ir.Attribute) and function.name == REGISTER


def _assigned_by_methods(klass: ClassValue, name: str) -> Iterator[ir.Expr]:
    """What the methods of a class assign to an attribute of their first parameter."""
    methods = (one.function for one in nested(klass.definition.body) if isinstance(one, ir.FunctionDef))
    for method in methods:
        for statement in nested(method.body):
            if isinstance(statement, ir.Assign) and statement.value is not None:
                targets = (one for one in statement.targets if isinstance(one, ir.Attribute))
                if any(one.name == name and _is_first_parameter(method, one.base) for one in targets):
                    yield statement.value


def _is_first_parameter(function: ir.Function, expr: ir.Expr) -> bool:
    first = function.parameters[0].name if function.parameters else ""
    return isinstance(expr, ir.Name) and expr.id == first


def _is_listed(name: str, listed: Sequence[str]) -> bool:
    """Whether a name, or its last part, is one of those listed, which may be patterns."""
    return any(fnmatchcase(one, pattern) for one in (name, name.rpartition(".")[2]) for pattern in listed)
