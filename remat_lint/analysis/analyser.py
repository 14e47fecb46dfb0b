"""From one file to its facts: every function that may run under a checkpoint is run as a root.

A root is a function or method of the file, run with unknown arguments. A function that is only ever
called where nothing it does counts (inside SAVE regions, under a guard) is no root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from remat_lint.analysis import ir
from remat_lint.analysis.awaited import either_awaiting
from remat_lint.analysis.declarations import Declarations, assigned_attributes
from remat_lint.analysis.deeds import Write
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.facts import (
    Assumption,
    Cover,
    GivenUp,
    ModuleFacts,
    Reached,
    Rejection,
    Replayer,
    ReplayFact,
    WrittenWrong,
)
from remat_lint.analysis.journal import Evidence, Journal
from remat_lint.analysis.machine import REMAT, BudgetSpent, Frame, Operand, Wrapped
from remat_lint.analysis.marker_uses import MarkerUses
from remat_lint.analysis.modules import ModuleScope
from remat_lint.analysis.moves import either
from remat_lint.analysis.overrides import SUPER, Mentions
from remat_lint.analysis.placement import Placement
from remat_lint.analysis.regions import REMAT_NAMES
from remat_lint.analysis.replays import MAX_WRAPPED, Replay
from remat_lint.analysis.state import State, join_all, reunite
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import (
    NONE,
    CheckpointWrapper,
    Choice,
    ClassValue,
    Constant,
    Coverage,
    External,
    FunctionValue,
    Imported,
    InstanceObject,
    ListObject,
    ModuleValue,
    Namespace,
    Partial,
    Reference,
    RegionWrapper,
    Token,
    Unknown,
    Value,
    alternatives,
    contents,
    holds_object,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import Place
from remat_lint.project import Project
from remat_lint.source import SourceError, SourceFile

MAX_MODULES = 100
"""No more modules are read for one file: a package that imports all of its parts leads to every one."""


@dataclass(slots=True)
class Root:
    """What running a function found: ``returned`` are reads of outputs that it hands back.

    Its callers may mark those. Where they are in view, they are the ones to ask.
    """

    definition: ir.Function
    journal: Journal
    returned: Journal = field(default_factory=Journal)
    complete: bool = False
    """Whether everything that it leaves unserved was seen."""


class Analyser(Declarations):
    """The interpreter with everything that reaches beyond a single run: modules, classes, roots."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._mentions = Mentions()
        self._roots_here: set[ir.Function] | None = None
        """The functions that matter; None where all may."""
        self._loading = 0
        """How many modules are half loaded."""
        self._imports: dict[Imported, Value] = {}
        self._unparsed: dict[str, None] = {}
        """The imported files that do not parse."""

    # --- modules

    def load(self, source: SourceFile, name: str = "") -> ModuleScope:
        """Run a module once and keep its globals. Raises ``SourceError``."""
        known = self.scopes.get(source.path)
        if known is not None:
            return known
        scope = ModuleScope(name, source, self.fresh())
        self.scopes[source.path] = scope
        scope.advanced = frozenset(one for each in source.lowered.functions for one in _advanced(each))
        state = State()
        frame = Frame(id=scope.frame, depth=0, scope=scope, kind="module")
        self._loading += 1
        with self.own_budget(), self.entering(frame):
            try:
                flow = self.run_block(source.lowered.body, [state])
            except BudgetSpent:
                return scope
            finally:
                self._loading -= 1
                scope.running = None
            self._settle_wrapped(flow.fell)
            for path in flow.fell:
                self.journal.settle(path.pending)
                self.journal.judge(path, path.runs.values())
                scope.names |= path.frames.pop(scope.frame, {})
                scope.heap |= path.heap
                self.kept_frames |= path.frames
        return scope

    def imported(self, statement: ir.Import) -> Iterator[tuple[str, Value]]:
        """The names that an import binds; nothing is read before one of them is used."""
        scope = self.frame.scope
        for module, attribute, name in statement.bindings:
            if attribute == "*":
                yield from self._star_import(scope, module, statement.level)
            elif attribute is None and "." in name:  # `import a.b` binds `a`
                top = name.partition(".")[0]
                yield top, Imported(scope, top, None, 0)
            else:
                yield name, Imported(scope, module, attribute, statement.level)

    def _star_import(self, scope: ModuleScope, module: str, level: int) -> Iterator[tuple[str, Value]]:
        if not level and module == REMAT:
            yield from ((name, External(f"{REMAT}.{name}")) for name in REMAT_NAMES)
        found = self._module(scope, module, level)
        if found is not None:
            for name in _public_names(found):
                yield name, found.names.get(name) or Imported(scope, module, name, level)

    def _module(self, importer: ModuleScope, module: str, level: int) -> ModuleScope | None:
        source = self.project.find(importer.source, module, level)
        if source is None:
            return None
        known = self.scopes.get(source.path)
        if known is not None:
            return known
        if len(self.scopes) >= MAX_MODULES:
            self.journal.note(GivenUp(Place(importer.source.path, 0), "too many modules are imported"))
            return None
        journal, self.journal = self.journal, Journal()
        try:
            return self.load(source, module)
        except SourceError as error:
            self.project.unparsed[source.path] = error
            self._unparsed[source.path] = None
            return None
        finally:
            self.journal = journal

    def resolved(self, value: Value) -> Value:
        """Follow an import to what it stands for."""
        if not isinstance(value, (Imported, Choice)):
            return value
        if isinstance(value, Choice):  # `try: import torch_remat` with a fallback that does nothing
            resolved = tuple(self.resolved(one) for one in value.alternatives)
            if value.absent is not None and resolved == value.alternatives:
                return value
            ours = [one for one in resolved if isinstance(one, External) and one.name.startswith(REMAT)]
            return ours[0] if ours else reduce(join, resolved)
        for _ in range(20):  # re-exports of re-exports; a cycle ends here
            if isinstance(value, Choice):
                return self.resolved(value)
            if not isinstance(value, Imported):
                return value
            value = self._imported_value(value)
        return Unknown()

    def _imported_value(self, value: Imported) -> Value:
        """What an import binds, which a module that is loaded whole does not change any more."""
        known = self._imports.get(value)
        if known is None:
            known = self._resolve_import(value)
            if not self._loading:
                self._imports[value] = known
        return known

    def _resolve_import(self, value: Imported) -> Value:
        module, attribute = value.module, value.attribute
        outside = f"{module}.{attribute}" if attribute is not None else module
        if not value.level and module.partition(".")[0] in ("torch", "torch_remat", "typing", "functools"):
            return External(outside)
        scope = self._module(value.importer, module, value.level)
        if attribute is None:
            return ModuleValue(scope) if scope is not None else self._folder(value, External(outside))
        found = scope.names.get(attribute) if scope is not None else None
        if found is not None and found != value:  # `from . import part` in an `__init__`
            return found
        inner = f"{module}.{attribute}" if module else attribute
        submodule = self._module(value.importer, inner, value.level)
        if submodule is not None:
            return ModuleValue(submodule)
        elsewhere = Unknown() if value.level or scope is not None else External(outside)
        return self._folder(replace(value, module=inner, attribute=None), elsewhere)

    def _folder(self, value: Imported, otherwise: Value) -> Value:
        """A folder of the project without an ``__init__``: only the modules in it can be asked for."""
        here = self.project.has_folder(value.importer.source, value.module, value.level)
        return Namespace(value.importer, value.module, value.level) if here else otherwise

    def module_attribute(self, scope: ModuleScope, name: str) -> Value:
        found = scope.names.get(name)
        if found is not None:
            return self.global_value(name, self.resolved(found))
        submodule = self._module(scope, name, 1) if scope.source.path.endswith("__init__.py") else None
        return ModuleValue(submodule) if submodule is not None else Unknown()

    def namespace_attribute(self, folder: Namespace, name: str) -> Value:
        return self.resolved(Imported(folder.importer, folder.module, name, folder.level))

    # --- roots

    def analyse(self, source: SourceFile) -> ModuleFacts:
        """The facts of one file. Raises ``SourceError``."""
        module = Journal()
        self.journal, self.analysed = module, source
        self.applies_checkpoints = self.project.applies_checkpoints(source)
        self.reset_budget()
        scope = self.load(source)
        if not self.project.reaches_remat(source):
            self._roots_here = self.leading_in(source)
        roots = [self._run_root(function) for function in self._roots(scope, source.lowered.body, None)]
        seen = {root.definition for root in roots} | set(self.contexts)
        for definition in source.lowered.functions:
            if self._matters(definition) and definition not in seen:
                roots.append(self._run_root(FunctionValue(definition, scope, scope.frame)))
        answered = self._answered_by_callers(roots)
        for root in roots:
            root.journal.bring_home(source.path)
            module.called |= root.journal.called
            if self.contexts.get(root.definition) != {False}:
                module.absorb(root.journal)
                if root.definition not in answered:
                    module.absorb(root.returned)
        self._note_checkpointed_classes(scope, source)
        self._note_replaced_methods(scope, source)
        for journal in [*self.class_journals.values(), *self._run_wrapped()]:
            module.facts |= journal.facts
        module.facts = {fact: None for fact in module.facts if not self.is_switched_off(fact)}
        for path in self._unparsed:
            module.note(GivenUp(Place(source.path, 0), f"{path}, which is imported, does not parse"))
        placement = Placement(self.pure, self.bound)
        markers = MarkerUses(source, module.markers, placement).facts()
        return ModuleFacts(source.path, module.build(source.path, placement.bare_read, markers))

    def _matters(self, definition: ir.Function) -> bool:
        """Whether a function is run as a root: without torch_remat only what leads to checkpoints is."""
        return self._roots_here is None or definition in self._roots_here

    def _answered_by_callers(self, roots: Sequence[Root]) -> set[ir.Function]:
        """The functions whose returned outputs are in the runs of others, up to one that nobody calls."""
        complete = {root.definition for root in roots if root.complete}
        asked = [one for one in complete if self.calling.get(one, set()) <= {one}]
        answered: set[ir.Function] = set()
        while asked:
            caller = asked.pop()
            called = {one for one, callers in self.calling.items() if caller in callers} - {caller}
            asked += (called - answered) & complete
            answered |= called
        return answered

    def _roots(
        self, scope: ModuleScope, body: tuple[ir.Stmt, ...], owner: ClassValue | None
    ) -> Iterator[FunctionValue]:
        for statement in body:
            if isinstance(statement, ir.FunctionDef):
                if self._matters(statement.function):
                    root = self._root(scope, statement.function, owner)
                    self._note_decorated(root)
                    yield root
            elif isinstance(statement, ir.ClassDef):
                klass = self._class_value(scope, statement.klass, owner)
                if klass is not None:
                    yield from self._roots(scope, statement.klass.body, klass)
                    yield from self._inherited_roots(klass)
            elif isinstance(statement, (ir.If, ir.Try)):
                yield from self._roots(scope, statement.body, owner)
                yield from self._roots(scope, statement.orelse, owner)

    def _inherited_roots(self, klass: ClassValue) -> Iterator[FunctionValue]:
        """Methods that do something else in this class than where they are written, with an object of it."""
        own = self.class_names(klass)
        methods = [value.definition for value in own.values() if isinstance(value, FunctionValue)]
        inherited: dict[str, FunctionValue] = {}
        for base in self.mro(klass)[1:]:
            for name, value in self.class_names(base).items() if isinstance(base, ClassValue) else ():
                if isinstance(value, FunctionValue) and name not in own and name != "__init__":
                    inherited.setdefault(name, value)
        names = frozenset(own).union(*(assigned_attributes(method) for method in methods))
        if len(klass.bases) > 1:  # what stands behind a base in the order of attributes is another class
            names |= {SUPER}.union(
                *(self.class_names(b) for b in self.mro(klass) if isinstance(b, ClassValue))
            )
        initializer = self.class_attribute(self.mro(klass), "__init__")
        if isinstance(initializer, FunctionValue) and names & self._mentions.of(initializer.definition):
            names |= assigned_attributes(initializer.definition)
        definitions = {name: value.definition for name, value in inherited.items()}
        for name in self._mentions.affected(names, definitions):
            if self._matters(definitions[name]):
                bound = self._root(inherited[name].scope, definitions[name], klass)
                yield replace(bound, owner=inherited[name].owner)

    def _class_value(
        self, scope: ModuleScope, definition: ir.Class, owner: ClassValue | None
    ) -> ClassValue | None:
        names = scope.names if owner is None else self.class_names(owner)
        for value in alternatives(names.get(definition.name, Unknown())):
            if isinstance(value, ClassValue) and value.definition is definition:
                return value
        return None

    def _root(self, scope: ModuleScope, definition: ir.Function, owner: ClassValue | None) -> FunctionValue:
        receiver: Value | None = None
        if owner is not None:
            kinds = {self._decorator(decorator) for decorator in definition.decorators}
            if "classmethod" in kinds:
                receiver = owner
            elif "staticmethod" not in kinds:
                receiver = self.instance_of(owner)
        return FunctionValue(definition, scope, scope.frame, owner, receiver)

    def _run_root(self, function: FunctionValue) -> Root:
        journal = self.journal = Journal()
        root = Root(function.definition, journal)
        self.root = function.definition
        self.unsettled.clear()
        self.reset_budget()
        self.swayed = {}
        state, definition = State(), function.definition
        frame = Frame(
            id=self.fresh(),
            depth=1,
            scope=function.scope,
            function=definition,
            owner=function.owner,
            receiver=function.receiver,
            closure=function.frame,
            is_unkept=True,
        )
        compiled = self._is_compiled(function)
        with self.entering(frame):
            self.compiled = compiled
            self.grad_enabled = not any(map(self._switches_grad_off, definition.decorators))
            self.watch_for(frame)
            self._bind_root(state, frame, function)
            try:
                flow = self.run_block(definition.body, [state])
                ends = [*flow.fell, *(path for path, _ in flow.returned)]
                self.end_guard((), ends)
                self._settle_wrapped(ends)
            except BudgetSpent:
                journal.end_root()
                place = Place(function.scope.source.path, definition.at)
                journal.note(GivenUp(place, "the function needs too many steps"))
                return root
            finally:
                self.root = None
            ends = [*flow.fell, *(path for path, _ in flow.returned)] or [state]
            ends[0].moves = reduce(either, (path.moves for path in ends))
            self._judge_as_body(ends[0], frame)
        if compiled:  # nothing in it is a region or a marker for torch_remat
            return Root(definition, replace(journal.only(WrittenWrong), markers=journal.markers))
        awaiting = reduce(either_awaiting, (path.awaiting for path in ends))
        root.returned.facts |= dict.fromkeys(self.outdated(awaiting))
        self._settle(root, [*flow.returned, *((path, NONE) for path in flow.fell)])
        journal.end_root()
        return root

    def _settle_wrapped(self, ends: Sequence[State]) -> None:
        """Where all its ends are, a run leaves behind what it gave checkpoints to."""
        if self.unsettled and ends:
            self.settle_wrapped(join_all(reunite([path.fork() for path in ends])))

    def _judge_as_body(self, state: State, frame: Frame) -> None:
        """Code that declares regions or markers is the body of some checkpoint, whose hooks nobody knows.

        A plain function that makes a model, and then runs it, is none, nor is one that wants no gradients.
        """
        assert frame.function is not None
        if not self.grad_enabled or (frame.owner is None and frame.function in self.makers):
            return
        if not self.journal.is_body or not (self.journal.regions or self.journal.markers):
            return
        place = Place(frame.scope.source.path, frame.function.at)
        self.journal.note(Assumption(place, self._run_by(frame.function)))
        coverage = Coverage(without=Cover.UNKNOWN)
        replay = Replay(Replayer.ASSUMED, place, coverage, assumed=place)
        self.judge_deeds(replay, self.own_deeds(state, frame, self.deeds))

    def _run_by(self, definition: ir.Function) -> tuple[Place, ...]:
        """Where the functions are defined that one calls, or that are called by those."""
        found: dict[ir.Function, Place] = {}
        waiting = [definition]
        while waiting:
            for callee, place in self.callees.get(waiting.pop(), {}).items():
                if callee not in found:
                    found[callee] = place
                    waiting.append(callee)
        found.pop(definition, None)
        return tuple(found.values())

    def _note_decorated(self, root: FunctionValue) -> None:
        """What a decorator of the project puts in the place of a function runs as well."""
        definition, scope, owner = root.definition, root.scope, root.owner
        names = scope.names if owner is None else self.class_names(owner)
        value = names.get(definition.name)
        if definition.decorators and isinstance(value, FunctionValue) and value.definition is not definition:
            place = Place(scope.source.path, definition.at)
            bound = replace(value, receiver=root.receiver)
            self.wrapped.setdefault((place, bound), Wrapped(bound, State(), ()))

    def _note_checkpointed_classes(self, scope: ModuleScope, source: SourceFile) -> None:
        """The objects that a framework checkpoints run as well where nothing in view calls them."""
        for statement in _classes_in(source):
            klass = self._class_value(scope, statement.klass, None)
            if klass is not None and self.cleared_for(klass) is not None:
                place = Place(source.path, klass.definition.at)
                self.wrapped.setdefault((place, klass), Wrapped(self.instance_of(klass), State(), ()))

    def _note_replaced_methods(self, scope: ModuleScope, source: SourceFile) -> None:
        """What stands in the place of methods runs as well, with objects of each class that has it."""
        values = [self._class_value(scope, one.klass, None) for one in _classes_in(source)]
        for replaced, name in self.replaced_methods:
            for klass in dict.fromkeys((replaced, *values)):
                if klass is None or replaced not in self.mro(klass):
                    continue
                bound = self.attribute_of(State(), ir.Const(0, None), self.instance_of(klass), name)
                if isinstance(bound, CheckpointWrapper):
                    self.wrapped.pop((bound.place, self.class_names(replaced)[name]), None)
                    self.wrapped.setdefault((bound.place, bound), Wrapped(bound, State(), ()))
                elif isinstance(bound, FunctionValue):
                    place = Place(bound.scope.source.path, bound.definition.at)
                    self.wrapped.setdefault((place, bound), Wrapped(bound, State(), ()))

    def _run_wrapped(self) -> Iterator[Journal]:
        """Run the functions that were given a checkpoint here, but not called.

        Only what torch_remat rejects and what is done again is kept: their other findings are those of the
        functions themselves.
        """
        waiting = [(place, one) for (place, _), one in self.wrapped.items() if one is not None]
        for place, wrapped in waiting[:MAX_WRAPPED]:
            yield self._run_one_wrapped(place, wrapped).only(_OF_A_WRAPPED)
        for place, _ in waiting[MAX_WRAPPED:]:
            yield Journal(facts={GivenUp(place, "too many functions are given checkpoints"): None})

    def _run_one_wrapped(self, place: Place, wrapped: Wrapped) -> Journal:
        journal = self.journal = Journal()
        self.reset_budget()
        state = wrapped.state
        frame = Frame(id=self.fresh(), depth=0, scope=self.scopes[place.path])
        with self.entering(frame), self.deeds_apart() as deeds:
            self.way, self.given_until = wrapped.way, self.fresh()
            try:
                self._call_wrapped(state, place, wrapped.function)
                is_done_once = any(isinstance(one.act, Write) and one.is_done_once for one in deeds)
                if is_done_once and self._is_of_several(wrapped.function):
                    self._call_wrapped(state, place, wrapped.function)  # in the next layer
            except BudgetSpent:
                journal.note(GivenUp(place, "the checkpointed function needs too many steps"))
            finally:
                self.way = ()
        return journal

    def _call_wrapped(self, state: State, place: Place, function: Value) -> None:
        self.call(state, ir.Const(place.node, None), function, self._operands_of(function, state))

    def _is_of_several(self, function: Value) -> bool:
        """Whether what is given a checkpoint is, or belongs to, one module of many."""
        match function:
            case CheckpointWrapper(function=Value() as inner) | FunctionValue(receiver=Value() as inner):
                return self._is_of_several(inner)
            case Reference(address=address):
                return address in self.elements
            case _:
                return False

    def _operands_of(self, function: Value, state: State) -> list[Operand]:
        """Something for each parameter of a function, as its annotation says."""
        match function:
            case (
                CheckpointWrapper(function=Value() as inner)
                | Partial(function=External(), positional=(inner,))
            ):
                return self._operands_of(inner, state)
            case FunctionValue():
                given = function.definition.parameters[function.receiver is not None :]
                frame = Frame(
                    id=self.fresh(),
                    depth=0,
                    scope=function.scope,
                    owner=function.owner,
                    closure=function.frame,
                )
                captured = {name for name, value in function.defaults if holds_object(value)}
                with self.entering(frame):
                    operands = [
                        Operand(self.annotated(parameter.annotation, state), keyword=parameter.name)
                        for parameter in given
                        if parameter.kind in ("positional", "keyword") and parameter.name not in captured
                    ]
                if not captured and any(parameter.kind == "**" for parameter in given):
                    operands.append(Operand(Unknown(origin=self.fresh()), keyword="**"))
                return operands
            case Reference():
                forward = self.attribute_of(state, ir.Const(0, None), function, "forward")
                return self._operands_of(self._taken_over(state, function, forward), state)
            case _:
                return [Operand(Unknown(origin=self.fresh()))]

    def _taken_over(self, state: State, module: Reference, forward: Value) -> Value:
        """The ``forward`` as written, where a decorator left one that takes anything and hands it on."""
        takes_anything = isinstance(forward, FunctionValue) and any(
            parameter.kind == "**" for parameter in forward.definition.parameters
        )
        found = self.object_at(state, module)
        order = self.mro(found.klass) if takes_anything and isinstance(found, InstanceObject) else []
        for klass in order:
            for statement in klass.definition.body if isinstance(klass, ClassValue) else ():
                match statement, klass:
                    case ir.FunctionDef(function=ir.Function(name="forward") as written), ClassValue():
                        return self._root(klass.scope, written, klass)
        return forward

    def _bind_root(self, state: State, frame: Frame, function: FunctionValue) -> None:
        parameters = function.definition.parameters
        if function.receiver is not None and parameters:
            state.bind(frame.id, parameters[0].name, function.receiver)
            parameters = parameters[1:]
        for parameter in parameters:
            value = self.annotated(parameter.annotation, state)
            if parameter.kind == "*":
                value = SequenceValue(rest=value)
            state.bind(frame.id, parameter.name, value)
        self.given_until = self.fresh()
        for parameter in parameters:
            if parameter.kind == "**":  # a dict of the call's own
                state.bind(frame.id, parameter.name, Unknown(origin=self.fresh()))

    def _settle(self, root: Root, ends: list[tuple[State, Value]]) -> None:
        journal, returned = root.journal, _returned_by_all(ends)
        for state, value in ends:
            self._returns_wrapper(journal, state, value)
            self.escape(state, value)
            self._escape_to_outer_objects(state)
            if self._needs_no_grad(value):  # nothing is replayed for it
                for run in state.runs.values():
                    journal.testify(run, Evidence.UNKNOWN)
        lost = any(isinstance(fact, GivenUp) for fact in journal.facts)
        root.complete = not lost and not any(self._needs_no_grad(value) for _, value in ends)
        replayed = [state for state, value in ends if not self._needs_no_grad(value)]
        for state in reunite(replayed):
            journal.settle({token: state.pending[token] for token in state.pending if token not in returned})
            root.returned.settle(
                {token: state.pending[token] for token in state.pending if token in returned}
            )
            journal.judge(state, state.runs.values())

    def _needs_no_grad(self, value: Value) -> bool:
        """Whether nothing that is returned requires grad: then backward never comes here."""
        values = value.items if isinstance(value, SequenceValue) and value.rest is None else (value,)
        return bool(values) and all(self.grad_of(one) is False for one in values)

    def _escape_to_outer_objects(self, state: State) -> None:
        """What lies in globals, and in objects that were there before the root, may be read later."""
        outer = {address for scope in self.scopes.values() for address in scope.heap}
        for address, found in state.heap.items():
            if address in outer:
                for item in contents(found):
                    self.escape(state, item)
        for scope in self.scopes.values():
            for value in state.frames.get(scope.frame, {}).values():
                self.escape(state, value)

    def _returns_wrapper(self, journal: Journal, state: State, value: Value) -> None:
        """A function that returns a region around what it was given is a wrapper, not a mistake."""
        match value:
            case RegionWrapper(place=place, function=Unknown() | Constant()):
                journal.called.add(place)
            case FunctionValue() | Partial():
                self.may_be_called(state, [Operand(value)])
            case SequenceValue(items=items):
                for item in items:
                    if isinstance(item, RegionWrapper):
                        journal.called.add(item.place)
            case Reference():
                found = self.object_at(state, value)
                for item in found.items if isinstance(found, ListObject) else ():
                    if isinstance(item, RegionWrapper):
                        journal.called.add(item.place)
            case _:
                return


def _advanced(function: ir.Function) -> set[str]:
    """The globals that a function computes anew from what they are: counters, flags that are flipped.

    One that is set to something else is a setting: that happens before a step, not in the middle of it.
    """
    if not function.globals:
        return set()
    found: set[str] = set()
    for statement in nested(function.body):
        match statement:
            case ir.AugAssign(target=ir.Name(id=name)):
                found.add(name)
            case ir.Assign(targets=targets, value=ir.Expr() as value):
                used = {one.id for one, _ in evaluated((value,)) if isinstance(one, ir.Name)}
                found.update(one.id for one in targets if isinstance(one, ir.Name) and one.id in used)
            case _:
                pass
    return found & function.globals


def _classes_in(source: SourceFile) -> Iterator[ir.ClassDef]:
    """The classes that a module defines."""
    return (statement for statement in source.lowered.body if isinstance(statement, ir.ClassDef))


_OF_A_WRAPPED = Rejection | ReplayFact | Reached | GivenUp


def _public_names(scope: ModuleScope) -> Sequence[str]:
    """What a star import of a module binds: what ``__all__`` says, else all that is not hidden."""
    listed = scope.names.get("__all__")
    found = scope.heap.get(listed.address) if isinstance(listed, Reference) else listed
    items = found.items if isinstance(found, (ListObject, SequenceValue)) and found.rest is None else None
    if items is None:
        return [name for name in scope.names if not name.startswith("_")]
    values = [item.value for item in items if isinstance(item, Constant)]
    return [name for name in values if isinstance(name, str)]


def _returned_by_all(ends: Sequence[tuple[State, Value]]) -> set[Token]:
    """The outputs that are handed back, themselves or what they are part of, wherever they were made."""
    returned: set[Token] = set()
    kept: set[Token] = set()
    for state, value in ends:
        handed = set(state.tokens(value))
        for token in state.pending:
            (kept if handed.isdisjoint(token.lineage()) else returned).add(token)
    return returned - kept
