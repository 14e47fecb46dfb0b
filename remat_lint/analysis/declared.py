"""Which regions the classes of a file declare: an object of each is called once, and what runs is listed.

The object is constructed with unknown arguments, and its parts are told apart by the attributes through
which they are reached (``naming``). A summary of a call says also which regions run whenever it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Deeds
from remat_lint.analysis.facts import DeclaredRegion, DeclaringClass, GivenUp, Kept
from remat_lint.analysis.journal import Journal
from remat_lint.analysis.machine import BudgetSpent, Frame, Operand
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.naming import UNSEEN, Naming, Text
from remat_lint.analysis.state import Claim, Phase, State
from remat_lint.analysis.summaries import Signature, Summaries, Summary
from remat_lint.analysis.values import (
    CheckpointWrapper,
    ClassValue,
    FunctionValue,
    InheritedMethod,
    Partial,
    Reference,
    RegionName,
    RegionWrapper,
    Token,
    Unknown,
    Value,
)
from remat_lint.findings import Place
from remat_lint.project import Project
from remat_lint.source import SourceFile

MAX_CLASS_STEPS = 8_000
"""Statements run for one class: a call of a whole model, constructed and run."""


def declaring_classes(source: SourceFile, project: Project) -> tuple[DeclaringClass, ...]:
    """The classes of a file that declare regions, in the order of their places. Raises ``SourceError``."""
    return tuple(sorted(_Listing(project).of_file(source), key=lambda found: found.place))


@dataclass(frozen=True, slots=True)
class _Run:
    """A region that ran: a ``DeclaredRegion``, of which it is not known yet whether it always does."""

    place: Place
    name: str
    kept: Kept
    checkpoint: str | None
    inside: str | None


class _Calls(Summaries):
    """Tells texts apart."""

    def _shape(self, state: State, value: Value, tokens: dict[Token, int]) -> object:
        return value if isinstance(value, Text) else super()._shape(state, value, tokens)


class _Listing(Naming):
    """Calls objects and lists the regions that run."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.summaries = _Calls(self.object_at, self.nature_of)
        self._runs: dict[_Run, None] = {}
        self._running: list[tuple[str, Kept]] = []
        self._checkpoint: str | None = None
        self._always_by: dict[object, frozenset[object]] = {}
        """For each summary the regions that run whenever the call does."""

    def spend(self, state: State) -> None:  # noqa: ARG002
        """Each class has its own budget, so what a file may cost grows with its classes."""
        self._steps += 1
        if self._steps > MAX_CLASS_STEPS:
            raise BudgetSpent

    def of_file(self, source: SourceFile) -> Iterator[DeclaringClass]:
        scope = self.load(source)
        for klass, name in self._classes(scope, source.lowered.body, None, ""):
            found = self._of_class(klass, name)
            if found is not None:
                yield found

    def _classes(
        self, scope: ModuleScope, body: Sequence[ir.Stmt], owner: ClassValue | None, prefix: str
    ) -> Iterator[tuple[ClassValue, str]]:
        for statement in body:
            if isinstance(statement, ir.ClassDef):
                self.reset_budget()
                klass = self._class_value(scope, statement.klass, owner)
                if klass is not None:
                    name = prefix + klass.definition.name
                    yield klass, name
                    yield from self._classes(scope, statement.klass.body, klass, f"{name}.")
            elif isinstance(statement, (ir.If, ir.Try)):
                yield from self._classes(scope, statement.body, owner, prefix)
                yield from self._classes(scope, statement.orelse, owner, prefix)

    def _of_class(self, klass: ClassValue, name: str) -> DeclaringClass | None:
        self._runs, self._running, self._checkpoint = {}, [], None
        self.summaries, self._always_by = _Calls(self.object_at, self.nature_of), {}
        journal = self.journal = Journal()
        self.reset_budget()
        always: frozenset[object] = frozenset()
        place = Place(klass.scope.source.path, klass.definition.at)
        try:
            if self.is_module(klass):
                always = self._run(klass)
        except BudgetSpent:
            journal.note(GivenUp(place, "a call of the class needs too many steps"))
        if not self._runs:
            return None
        regions = tuple(_declared(run, conditional=run not in always) for run in self._runs)
        complete = not any(isinstance(fact, GivenUp) for fact in journal.facts)
        return DeclaringClass(place, name, regions, complete)

    def _run(self, klass: ClassValue) -> frozenset[object]:
        """Call an object of the class; the regions that run whenever it is called."""
        instance = self.instance_of(klass)
        if not isinstance(instance, Reference):
            return frozenset()
        state, node = State(), ir.Const(0, None)
        with self.entering(Frame(id=self.fresh(), depth=0, scope=klass.scope)):
            whole = self.take_apart(state, instance)
            forward = self.class_attribute(self.mro(klass), "forward")
            operands = [Operand(Unknown(origin=self.fresh()))]
            if isinstance(forward, FunctionValue):
                operands = list(self._unknown_operands(forward, state))
            self.call(state, node, whole, operands)
        return state.declared

    # --- what is listed

    def run_region(
        self, state: State, node: ir.Expr, wrapper: RegionWrapper, operands: Sequence[Operand]
    ) -> Value:
        """A region in a saved one, or in the replay only, declares nothing."""
        name = "".join(map(_prefix, self.name_scopes)) + wrapper.name.text
        if not self.is_inert() and state.phase is not Phase.REPLAY:
            inside = next((outer for outer, kept in reversed(self._running) if kept is Kept.POLICY), None)
            run = _Run(wrapper.place, name, wrapper.kept, self._checkpoint, inside)
            self._runs.setdefault(run)
            state.declared |= {run}
        self._running.append((name, wrapper.kept))
        try:
            return super().run_region(state, node, wrapper, operands)
        finally:
            self._running.pop()

    def _run_call(
        self, state: State, frame: Frame, function: FunctionValue, signature: Signature | None
    ) -> tuple[Value, Deeds]:
        before, state.declared = state.declared, frozenset()
        value = super()._run_call(state, frame, function, signature)
        if signature is not None:
            self._always_by[signature.key] = state.declared
        state.declared |= before
        return value

    def _instantiate(
        self, state: State, node: ir.Expr, summary: Summary, signature: Signature, frame: Frame
    ) -> Value:
        state.declared |= self._always_by.get(signature.key, frozenset())
        return super()._instantiate(state, node, summary, signature, frame)

    def call_context(self, state: State, frame: Frame) -> tuple[object, ...]:
        """A call declares the same regions only in the same checkpoint, regions and scopes."""
        here = (self._checkpoint, tuple(self._running), self.name_scopes)
        return (*super().call_context(state, frame), *here)

    def _outputs(self, state: State, wrapper: RegionWrapper, value: Value) -> Value:
        """Nobody asks here where an output goes."""
        del state, wrapper
        return value

    def claim(self, state: State, claim: Claim) -> None:
        """Nor whether a name is used twice."""

    def run_checkpoint(
        self, state: State, node: ir.Expr, wrapper: CheckpointWrapper, operands: Sequence[Operand]
    ) -> Value:
        before, self._checkpoint = self._checkpoint, self._checkpointed(wrapper.function or Unknown())
        running, self._running = self._running, []
        try:
            return super().run_checkpoint(state, node, wrapper, operands)
        finally:
            self._checkpoint, self._running = before, running

    def _checkpointed(self, function: Value) -> str:
        """The path of the part that a checkpoint calls."""
        match function:
            case Partial(function=inner):
                return self._checkpointed(inner)
            case FunctionValue(receiver=receiver) | InheritedMethod(receiver=receiver):
                path = self.path_of(receiver)
            case _:
                path = self.path_of(function)
        return UNSEEN if path is None else path

    # --- what is not seen

    def call(self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]) -> Value:
        if isinstance(function, Unknown) and not isinstance(function, Text):
            self.give_up(node, "nobody knows what is called")
        return super().call(state, node, function, operands)

    def call_unknown(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        self._note_handed_over(node, operands)
        return super().call_unknown(state, node, operands)

    def call_method(
        self, state: State, node: ir.Expr, receiver: Operand, name: str, operands: Sequence[Operand]
    ) -> Value:
        if isinstance(receiver.value, Unknown):
            self._note_handed_over(node, operands)
        return super().call_method(state, node, receiver, name, operands)

    def _note_handed_over(self, node: ir.Expr, operands: Sequence[Operand]) -> None:
        values = [operand.value for operand in operands]
        if any(isinstance(one, _CALLABLES) or self.path_of(one) is not None for one in values):
            self.give_up(node, "what is handed to unknown code may be called there")


_CALLABLES = (FunctionValue, Partial, RegionWrapper)


def _declared(run: _Run, *, conditional: bool) -> DeclaredRegion:
    return DeclaredRegion(
        run.place,
        _shown(run.name),
        UNSEEN not in run.name,
        run.kept,
        conditional,
        None if run.checkpoint is None else _shown(run.checkpoint),
        None if run.inside is None else _shown(run.inside),
    )


def _prefix(scope: RegionName) -> str:
    """What a scope puts in front; one of which nothing is known may as well be none."""
    return UNSEEN if scope == RegionName("{}") else f"{scope.text}/"


def _shown(pattern: str) -> str:
    return pattern.replace(UNSEEN, "*")
