"""State hooks of a checkpoint: which random states they restore, and what is wrong with them.

A hook's ``snapshot`` is run, then its ``restore`` on what that returned: the random states that are set to a
copy taken by the first are the ones that it covers. Whatever it is made of (other hooks, helper functions,
methods of a base class) is followed like any other code. Comes in: the value that the checkpoint was given.
Goes out: a ``Coverage``, and a fact for each hook that cannot work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deeds
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.facts import Cover, Device, StateHook
from remat_lint.analysis.hook_methods import (
    ENTERED,
    KEPT_IN_ITSELF,
    LIVE,
    MAYBE_STALE,
    NOTHING,
    SOMETIMES,
    Hook,
    Reading,
    Run,
    adds_state,
    fits,
    ignores_state,
    stays_in_context,
)
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.markers import Markers
from remat_lint.analysis.state import State
from remat_lint.analysis.state_reads import Handled
from remat_lint.analysis.values import (
    EVERYTHING,
    NONE,
    ClassValue,
    Constant,
    Coverage,
    DictObject,
    External,
    FunctionValue,
    HeapObject,
    InheritedMethod,
    InstanceObject,
    ListObject,
    Method,
    RandomState,
    Reference,
    Snapshot,
    Source,
    Tensor,
    Value,
    alternatives,
    contents,
    holds,
    is_blank,
    parts,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.analysis.watch import Held
from remat_lint.project import Project

_EMPTY_BASES = frozenset(
    ["torch_remat.RecomputeStateHook", "typing.Protocol", "typing.Generic", "abc.ABC", "builtins.object"]
)
"""Bases outside the project that have no ``snapshot`` and ``restore`` that do anything."""

_ABOUT_RANDOMNESS = re.compile(r"rng|random|seed|generator|dropout", re.IGNORECASE)
"""Words in a hook that may restore a random state in a way that nobody knows here."""


@dataclass(frozen=True, slots=True)
class _Covered:
    """What a hook restores; it is not ``known`` whole where it may restore more."""

    states: frozenset[RandomState] = frozenset()
    devices: frozenset[Device] = frozenset()
    attributes: frozenset[Held] = frozenset()
    known: bool = True


class Hooks(Markers):
    """Looks into state hooks."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.reading_hooks = 0
        """How many hooks are being run: calls in them are run, not taken from summaries."""
        self.handed_on = False
        """Whether one of them called something that nobody sees."""

    def coverage_of(self, state: State, node: ir.Expr, hooks: Operand) -> Coverage:
        """The random states that the hooks of a checkpoint restore."""
        given = hooks.value
        if all(self._is_surely_empty(state, one) for one in alternatives(given)):
            return Coverage(
                known=self._lie_in_own_dict(state, hooks) or not self._is_filled_by_others(hooks.expr)
            )
        filled = [one for one in alternatives(given) if not self._is_left_empty(state, one)]
        found = self._list_at(state, filled[0] if len(filled) == 1 else given)
        if found is None:
            return Coverage(known=False)
        always = len(filled) == len(alternatives(given))
        if found.rest is not None and not found.items and found.sure == 0:
            always, found = False, SequenceValue(alternatives(found.rest))
        found_by = [self._covered_by_hook(state, node, value) for value in found.items]
        covered = frozenset[RandomState]().union(*(one.states for one in found_by))
        return Coverage(
            kinds=frozenset(kind for kind, number in covered if not number),
            objects=frozenset(number for _, number in covered if number),
            devices=frozenset[Device]().union(*(one.devices for one in found_by)),
            attributes=frozenset[Held]().union(*(one.attributes for one in found_by)),
            known=found.rest is None and all(one.known for one in found_by),
            always=always,
            without=Cover.OTHER_HOOK,
        )

    def _is_surely_empty(self, state: State, given: Value) -> bool:
        """Whether there are no hooks: the attribute of an object that was made in view is what it was set to.

        Elsewhere an empty attribute is a setting, which may be another one in the next run.
        """
        if isinstance(given, SequenceValue) and not given.items and given.rest is not None:
            given = given.rest  # what `tuple` and its like make of it
        held: Value | HeapObject | None = self.as_set(state, given)
        if isinstance(given, Reference):
            held = self.object_at(state, given)
        return held == NONE or (
            isinstance(held, (SequenceValue, ListObject)) and not held.items and held.rest is None
        )

    def _is_left_empty(self, state: State, given: Value) -> bool:
        """Whether there are no hooks where a condition leaves them out."""
        found = self._list_at(state, given)
        return found is not None and found.sure == 0 and not found.items and found.rest is None

    def _lie_in_own_dict(self, state: State, hooks: Operand) -> bool:
        """Whether hooks lie in a dict, such as keyword arguments, that the running call alone has filled."""
        held = self.frame.values.get(hooks.expr.at) if hooks.expr is not None else None
        is_dict = isinstance(held, Reference) and isinstance(self.object_at(state, held), DictObject)
        references = (one for one in (held, hooks.value) if isinstance(one, Reference))
        return is_dict and all(self.is_kept_to_itself(one.address) for one in references)

    def _is_filled_by_others(self, expr: ir.Expr | None) -> bool:
        """Whether functions of the file change what an expression takes the hooks from."""
        found = evaluated((expr,)) if expr is not None else ()
        named = (
            one.id if isinstance(one, ir.Name) else one.name
            for one, _ in found
            if isinstance(one, (ir.Name, ir.Attribute))
        )
        return not self.frame.watch.changed.isdisjoint(named)

    def _list_at(self, state: State, value: Value) -> SequenceValue | ListObject | None:
        """The tuple or list that a value is; None for anything else."""
        found = self.object_at(state, value) if isinstance(value, Reference) else value
        return found if isinstance(found, (SequenceValue, ListObject)) else None

    def items_of(self, state: State, value: Value) -> tuple[Value, ...] | None:
        """The items of a tuple or list; None for anything else."""
        found = self._list_at(state, value)
        return found.items if found is not None else None

    def _covered_by_hook(self, state: State, node: ir.Expr, value: Value) -> _Covered:
        """What one hook restores; that is not known where it cannot work, or nobody sees its methods."""
        hook = self._hook_in_view(state, node, value)
        if hook is None:
            return _Covered(known=False)
        problem = self._missing_method(hook)
        if problem is not None:
            self._report_hook(node, hook, *problem)
            return _Covered(known=False)
        path = state.fork()
        path.seeded = frozenset()
        assert hook.snapshot is not None
        assert hook.restore is not None
        with self._reading_hook():
            first = self._run_method(path, node, hook.snapshot)
            taken = self._returned(path, first.value, first.began, set())
            found = [NONE if self._is_new_and_empty(path, one, first.began) else one for one in taken]
            second = self._run_method(path, node, hook.snapshot)
            again = list(self._returned(path, second.value, first.began, set()))
            restore = self._run_method(path, node, hook.restore, [Operand(first.value)])
        read = Reading(hook, first, found, second, again, restore)
        problem = next(self._faults_of(state, read), None)
        if problem is not None:
            self._report_hook(node, hook, *problem)
            return _Covered(known=False)
        states = self._states_restored(read)
        if stays_in_context(hook.functions()):
            self._report_hook(node, hook, *ENTERED, breaks=not states)
            if not states:
                return _Covered(known=False)
        elif read.may_be_stale():
            self._report_hook(node, hook, *MAYBE_STALE, breaks=False)
        elif read.restores_sometimes():
            self._report_hook(node, hook, *SOMETIMES, breaks=False)
        attributes = frozenset(self._attributes_restored(state, first.handled, restore.handled))
        devices = frozenset(copy.device for copy in restore.copies() if copy.device is not None)
        return _Covered(states or frozenset(), devices, attributes, states is not None and not hook.is_open)

    def _run_method(self, path: State, node: ir.Expr, method: Value, given: Sequence[Operand] = ()) -> Run:
        """Run a method of a hook, and see what it does."""
        began, self.undone, self.handed_on = self.fresh(), False, False
        turns = self.turns = []
        handled = self.handled = Handled()
        path.restored = frozenset()
        value = self.call(path, node, method, given)
        return Run(value, began, turns, handled, path.restored, self.undone, self.handed_on)

    def note_unseen(self, state: State, node: ir.Expr) -> None:
        """What a call does to random states is not seen; what only tells does nothing to them."""
        if self.turns is not None:
            self.handed_on |= not (isinstance(node, ir.Call) and self.tells(state, node.function))

    def _attributes_restored(self, state: State, before: Handled, after: Handled) -> Iterator[Held]:
        """What ``snapshot`` looked at and ``restore`` set, with all that lies in it."""
        both = before.looked_at & after.looked_at
        everything = {held for held in both if held[1].endswith(EVERYTHING)}
        named = {held for held in before.looked_at if holds(after.set, held)}
        for owner, path in (before.looked_at & after.set) | named | everything:
            yield owner, path
            yield self.stands_for.get(owner, owner), path
            for inner in self._returned(state, self._lying_at(state, owner, path), 0, set()):
                if self.number_of(inner):
                    yield self.number_of(inner), EVERYTHING

    def _lying_at(self, state: State, owner: int, path: str) -> Value:
        """What an object holds in an attribute, or a module in a global; the object itself for everything."""
        path = path.removesuffix(EVERYTHING)
        if not path:
            return Reference(owner)
        first, *others = path.removeprefix(".").split(".")
        value = self._held_under(state, Reference(owner), first)
        scopes = (scope for scope in self.scopes.values() if scope.frame == owner)
        value = next((scope.names.get(first, NONE) for scope in scopes), value)
        for name in others:
            value = self._held_under(state, value, name)
        return value

    def _held_under(self, state: State, holder: Value, name: str) -> Value:
        """What an object, or one of several, holds in an attribute."""
        objects = (self.object_at(state, one) for one in alternatives(holder) if isinstance(one, Reference))
        held = (found.get(name) for found in objects if isinstance(found, InstanceObject))
        return next((value for value in held if value is not None), NONE)

    def _report_hook(self, node: ir.Expr, hook: Hook, what: str, advice: str, *, breaks: bool = True) -> None:
        if not hook.is_open:  # a subclass may have other methods
            name = hook.klass.definition.name
            self.journal.note(StateHook(self.place(node), name, what, advice, breaks=breaks))

    @contextmanager
    def _reading_hook(self) -> Iterator[None]:
        """What a hook does is nobody's deed, and no fact of the code around the checkpoint."""
        journal, deeds, handled = self.journal, self.deeds, self.handled
        self.journal, self.deeds = Journal(), Deeds()
        self.reading_hooks += 1
        try:
            yield
        finally:
            self.reading_hooks -= 1
            self.journal, self.deeds, self.handled, self.turns = journal, deeds, handled, None

    def _hook_in_view(self, state: State, node: ir.Expr, value: Value) -> Hook | None:
        """The hook that a value is; None where its methods may come from outside the project."""
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        klass = found.klass if isinstance(found, InstanceObject) else value
        if not isinstance(klass, ClassValue):
            return None
        order = self.mro(klass)
        seen = all(
            len(one.bases) == len(one.definition.bases) for one in order if isinstance(one, ClassValue)
        )
        others = (one for one in order if isinstance(one, External) and one.name not in _EMPTY_BASES)
        computed = self.class_attribute(order, "__getattr__") is not None
        if computed or not seen or any(not one.name.startswith("torch.nn.") for one in others):
            return None
        methods = [self.attribute_of(state, node, value, name) for name in ("snapshot", "restore")]
        own = found.attributes if isinstance(found, InstanceObject) else ()
        for name, method in zip(("snapshot", "restore"), methods, strict=True):
            is_set = name in dict(own) or self.class_attribute(order, name) is not None
            if is_set and is_blank(method):
                return None
        is_open = isinstance(value, Reference) and value.address in self.open
        snapshot, restore = (None if _is_missing(method) else method for method in methods)
        address = value.address if isinstance(value, Reference) else 0
        return Hook(klass, address, snapshot, restore, is_open)

    # --- what is wrong

    def _missing_method(self, hook: Hook) -> tuple[str, str] | None:
        """A method that is not there, or does nothing yet."""
        for name, method in (("snapshot", hook.snapshot), ("restore", hook.restore)):
            when = "the forward" if name == "snapshot" else "backward"
            if method is None:
                return f"has no `{name}`: {when} raises `AttributeError`", f"Write `{name}`."
            if isinstance(method, (Tensor, Snapshot, Constant, SequenceValue)):
                return f"has a `{name}` that is no method: {when} raises `TypeError`", "Make it a method."
            if isinstance(method, FunctionValue) and method.definition.is_left_to_subclasses:
                return f"leaves `{name}` to its subclasses: nothing is restored", f"Write `{name}`."
        return None

    def _faults_of(self, state: State, read: Reading) -> Iterator[tuple[str, str]]:
        """Why a hook that has both methods does not restore what it took."""
        hook = read.hook
        yield from read.faults_of_turns()
        if any(self._is_live_state(state, one, read.first.began) for one in read.found):
            yield LIVE
        if not read.gives_own_copies():
            yield LIVE if any(isinstance(one, External) for one in read.found) else KEPT_IN_ITSELF
        if read.found[0] != NONE and ignores_state(hook.restore):
            yield (
                "has a `restore` that does not use what it is given: what `snapshot` took is not restored",
                "Set the state to it.",
            )
        elif adds_state(hook.restore):
            yield (
                "adds what it took to the state, instead of setting the state to it: "
                "another replay begins elsewhere",
                "Return the whole state from `snapshot`, and assign it in `restore`.",
            )
        elif read.restores_nothing():
            yield NOTHING

    def _returned(self, state: State, value: Value, mark: int, seen: set[int]) -> Iterator[Value]:
        """A value and what it is made of, in containers that are newer than ``mark`` too."""
        yield value
        inner = parts(value)
        if isinstance(value, Reference) and value.address > mark and value.address not in seen:
            seen.add(value.address)
            held = self.object_at(state, value)
            inner = tuple(contents(held)) if held is not None else ()
        for one in inner:
            yield from self._returned(state, one, mark, seen)

    def _is_new_and_empty(self, state: State, value: Value, mark: int) -> bool:
        """Whether a value is an empty container that was made since: nothing is taken."""
        if isinstance(value, Reference) and value.address <= mark:
            return False
        found = self.object_at(state, value) if isinstance(value, Reference) else value
        if not isinstance(found, (SequenceValue, ListObject, DictObject)):
            return False
        return not found.items and found.rest is None

    def _is_live_state(self, state: State, value: Value, mark: int) -> bool:
        """Whether a value is the state itself: an object that was there before, and that changes in place."""
        if isinstance(value, Source):
            return value.number < mark
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        return (
            isinstance(value, Reference)
            and value.address < mark
            and isinstance(found, (ListObject, DictObject))
        )

    # --- what is restored

    def _states_restored(self, read: Reading) -> frozenset[RandomState] | None:
        """The states that were set to copies of themselves; None where others may be restored as well."""
        gives = read.restore.gives()
        if any(not turn.copies for turn in gives):
            return None
        covered = frozenset(turn.key for turn in gives if fits(turn))
        order = (one for one in self.mro(read.hook.klass) if isinstance(one, ClassValue))
        about_randomness = any(
            _ABOUT_RANDOMNESS.search(one.scope.source.code(one.definition.at)) for one in order
        )
        return None if not covered and about_randomness and not read.takes_nothing() else covered


def _is_missing(method: Value) -> bool:
    """Whether an attribute that was asked for is not there."""
    by_class = isinstance(method, Method) and isinstance(method.receiver, ClassValue)
    return by_class or isinstance(method, InheritedMethod) or is_blank(method)
