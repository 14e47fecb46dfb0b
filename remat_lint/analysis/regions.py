"""``torch_remat`` itself: regions, markers, checkpoints and phase tests.

What each of these does to region outputs is measured in SEMANTICS 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.checkpoints import Checkpoints
from remat_lint.analysis.facts import (
    Fate,
    Kept,
    Marker,
    RecomputeInsideSaved,
    RegionCall,
    RegionOutput,
)
from remat_lint.analysis.journal import Evidence
from remat_lint.analysis.machine import Operand, RegionContext
from remat_lint.analysis.outputs import Outputs
from remat_lint.analysis.state import Claim, Consumer, MarkerRun, Phase, State
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    Choice,
    Constant,
    DictObject,
    ListObject,
    Made,
    NameScope,
    PhaseTest,
    PlaceholderTest,
    Reference,
    RegionWrapper,
    Scalar,
    Tensor,
    Token,
    Unknown,
    Value,
    alternatives,
    contents,
    join,
    own_tokens,
)
from remat_lint.analysis.values import Sequence as SequenceValue
from remat_lint.findings import EditMarker

REMAT_NAMES = (
    "checkpoint",
    "region",
    "name_scope",
    "recompute_needs_tensor",
    "is_recomputing",
    "is_placeholder",
)
"""What ``from torch_remat import *`` binds, as far as it matters here."""


class Regions(Checkpoints):
    """Runs the functions of torch_remat."""

    def call_remat(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> Value:
        """Call ``torch_remat.<name>``."""
        match name:
            case "region":
                return self.make_region(state, node, operands)
            case "name_scope":
                return NameScope(self.name_given(state, operands[0] if operands else None))
            case "recompute_needs_tensor":
                return self.run_marker(state, node, operands)
            case "checkpoint":
                return self.make_checkpoint(state, node, operands)
            case "is_recomputing":
                return PhaseTest()
            case "is_placeholder":
                return PlaceholderTest(operands[0].value) if operands else SCALAR
            case _:
                return Unknown(origin=self.fresh())

    # --- declaring a region

    def make_region(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """``remat.region(function, name, recompute=...)``: nothing runs yet."""
        by_position = [operand for operand in operands if operand.keyword is None]
        by_keyword = {operand.keyword: operand for operand in operands if operand.keyword is not None}
        function = by_position[0] if by_position else by_keyword.get("function")
        given = by_position[1] if len(by_position) > 1 else by_keyword.get("name")
        recompute = by_keyword.get("recompute")
        open_ended = any(operand.star or operand.keyword == "**" for operand in operands)
        problems = tuple(self._problems(by_position, given, recompute)) if not open_ended else ()
        if recompute is None and len(by_position) > 2:
            recompute = by_position[2]
        name, kept = self.name_given(state, given), self._kept(recompute)
        value = function.value if function is not None else Unknown()
        place = self.place(node)
        if isinstance(value, RegionWrapper) and value.place == place:
            return value  # of another object that is constructed alike
        self.pure.add((place.path, place.node))
        self.journal.regions[place] = RegionCall(
            place, name.text, kept, problems, function_is_result=_is_result(value)
        )
        return RegionWrapper(place, value, name, kept, self._saved_when(recompute, kept))

    def _saved_when(self, recompute: Operand | None, kept: Kept) -> tuple[str, bool] | None:
        """The condition in ``recompute=not self.save``: its key, and its truth when the region is saved."""
        if recompute is None or recompute.expr is None or kept is not Kept.POLICY:
            return None
        expr, saved = recompute.expr, False
        while isinstance(expr, ir.Unary) and expr.operator == "Not":
            expr, saved = expr.operand, not saved
        key, holds = self.condition_key(expr)
        return (key, saved is holds) if key else None

    def _problems(
        self, by_position: Sequence[Operand], name: Operand | None, recompute: Operand | None
    ) -> Iterator[str]:
        if len(by_position) > 2:
            yield "`recompute` is given by position; it is keyword-only: write `recompute=`"
        elif recompute is None:
            yield "`recompute` is missing: write `recompute=False` to keep the activations"
        elif _is_no_bool(recompute.value):
            yield f"`recompute` is {self._as_written(recompute)}, no bool: write `True` or `False`"
        if name is None:
            yield "the name is missing: give the region a name that is unique in its checkpoint"
        elif name.value == Constant(""):
            yield "the name is empty: give the region a name that is unique in its checkpoint"
        elif isinstance(name.value, Constant) and not isinstance(name.value.value, str):
            yield f"the name is {self._as_written(name)}, no string"

    def _as_written(self, operand: Operand) -> str:
        return f"`{self.text(operand.expr)}`" if operand.expr is not None else "something else"

    def _kept(self, recompute: Operand | None) -> Kept:
        """SAVE or RECOMPUTE where the source says it literally, else a policy decides.

        A constant that comes out of a call, an attribute or a global may be another one in the next
        configuration.
        """
        if recompute is None or not isinstance(recompute.value, Constant):
            return Kept.POLICY
        if isinstance(recompute.expr, (ir.Const, ir.Name)) or recompute.expr is None:
            return Kept.RECOMPUTE if recompute.value.value else Kept.SAVE
        return Kept.POLICY

    # --- running a region

    def run_region(
        self, state: State, node: ir.Expr, wrapper: RegionWrapper, operands: Sequence[Operand]
    ) -> Value:
        """Call a region's function; what comes back may be a placeholder on replay."""
        self.journal.called.add(wrapper.place)
        inert = self.is_inert()
        self._reject_recompute(node, wrapper)
        if not inert:
            way = ((self.frame.id, self.place(node)),)
            self.claim(state, Claim(wrapper.name, self.name_scopes, way, state.conditions()))
        direct = frozenset(
            tensor.token
            for operand in operands
            for tensor in self._direct_tensors(state, operand.value)
            if tensor.token is not None
        )
        self.handed.update(
            tensor.storage for operand in operands for tensor in self._direct_tensors(state, operand.value)
        )
        if wrapper.kept is Kept.RECOMPUTE and not inert:
            for operand in operands:
                for tensor in self._direct_tensors(state, operand.value):
                    self.persist(state, tensor)
        context = RegionContext(
            self.place(node),
            wrapper.name.text,
            wrapper.kept,
            self.fresh(),
            direct,
            self.frame.depth,
            wrapper.function,
            operands,
        )
        self.regions.append(context)
        try:
            value = self.call(state, node, wrapper.function, operands)
        finally:
            self.regions.pop()
        if inert:
            return value
        self._check_region_output(state, node, wrapper, value)
        if wrapper.kept is Kept.RECOMPUTE:
            return value
        return self._outputs(state, wrapper, value)

    def _check_region_output(self, state: State, node: ir.Expr, wrapper: RegionWrapper, value: Value) -> None:
        what = Outputs(self, state, of_region=True).rejected(value)
        if what is not None:
            here = self.place(node)
            place = wrapper.place if wrapper.place.path == here.path else here
            self.reject(RegionOutput(place, wrapper.name.text, what))

    def _reject_recompute(self, node: ir.Expr, wrapper: RegionWrapper) -> None:
        outer = next((region for region in self.regions if region.kept is Kept.SAVE), None)
        if outer is None or wrapper.kept is not Kept.RECOMPUTE:
            return
        here = self.place(node)
        place = here if here.path == outer.place.path else outer.place
        self.reject(RecomputeInsideSaved(place, wrapper.name.text, outer.region, outer.place))

    def _direct_tensors(self, state: State, value: Value) -> Iterator[Tensor]:
        """The tensors that torch_remat sees in an argument: itself, or one hop into a tuple or list."""
        for one in alternatives(value):
            if isinstance(one, Tensor):
                yield one
            for item in self._one_hop(state, one):
                yield from (leaf for leaf in alternatives(item) if isinstance(leaf, Tensor))

    def _one_hop(self, state: State, value: Value) -> tuple[Value, ...]:
        if isinstance(value, SequenceValue) and value.kind == "tuple":
            return (*value.items, *((value.rest,) if value.rest else ()))
        if isinstance(value, Reference):
            found = self.object_at(state, value)
            if isinstance(found, ListObject):
                return (*found.items, *((found.rest,) if found.rest else ()))
        return ()

    def _outputs(self, state: State, wrapper: RegionWrapper, value: Value) -> Value:
        """What a region that may be skipped hands on: the same structure, each storage a token."""
        storages: dict[int, Token] = {}

        def token_for(leaf: Tensor, part: str) -> Token:
            if leaf.storage and leaf.storage in storages:
                return storages[leaf.storage]
            token = self._new_token(state, wrapper, part, leaf.resident)
            if leaf.storage:
                storages[leaf.storage] = token
            return token

        return self._wrap(state, wrapper, value, "", token_for)

    def _wrap(
        self,
        state: State,
        wrapper: RegionWrapper,
        value: Value,
        part: str,
        token_for: Callable[[Tensor, str], Token],
    ) -> Value:
        def wrap(item: Value, name: str) -> Value:
            return self._wrap(state, wrapper, item, name, token_for)

        match value:
            case Tensor():
                token = token_for(value, part)
                return replace(value, token=token, detached=False, resident=False, moved=None, via=())
            case SequenceValue(items=items, rest=rest) if not part:
                wrapped = tuple(wrap(item, f"[{index}]") for index, item in enumerate(items))
                return replace(value, items=wrapped, rest=wrap(rest, "[...]") if rest is not None else None)
            case Reference() if not part and isinstance(found := self.object_at(state, value), ListObject):
                wrapped = tuple(wrap(item, f"[{index}]") for index, item in enumerate(found.items))
                rest = wrap(found.rest, "[...]") if found.rest is not None else None
                return self.allocate(state, ListObject(wrapped, rest))
            case Choice(alternatives=values):
                joined: Value = wrap(values[0], part)
                for other in values[1:]:
                    joined = join(joined, wrap(other, part))
                return joined
            case Constant(value=None):
                return NONE
            case Unknown(computed=True, origin=origin):  # a region returns no number, so it is a tensor
                return wrap(Tensor(storage=origin, like=origin), part)
            case _:
                opaque = Tensor(opaque=True)
                return replace(opaque, token=token_for(opaque, part))

    def _new_token(self, state: State, wrapper: RegionWrapper, part: str, resident: bool) -> Token:
        token = Token(
            self.fresh(),
            wrapper.name.text,
            wrapper.place,
            wrapper.kept,
            part,
            resident=resident,
            saved_when=wrapper.saved_when,
        )
        state.born[token] = self.frame.depth
        return token

    def part_of(self, state: State, tensor: Tensor, part: str) -> Tensor:
        """One output of a region whose function is not known, or one row of its only output."""
        assert tensor.token is not None
        whole = tensor.token
        token = replace(whole, part=whole.part + part, parent=whole)
        state.born.setdefault(token, min(state.born.get(t, self.frame.depth) for t in whole.lineage()))
        return replace(tensor, token=token)

    # --- markers

    def run_marker(self, state: State, node: ir.Expr, operands: Sequence[Operand]) -> Value:
        """``remat.recompute_needs_tensor(*tensors)``."""
        written = node.arguments if isinstance(node, ir.Call) else ()
        for index, argument in enumerate(written):
            given = [operand for operand in operands if operand.expr is argument.value]
            run = self._marker_run(state, node, index, argument, given)
            for operand in given:
                self._mark(state, node, operand)
            if not any(self._is_wrong(state, operand) for operand in given):
                self._remember(state, run, given)
        exprs = {id(argument.value) for argument in written}
        for operand in operands:
            if id(operand.expr) not in exprs:  # handed over by `map`, a `partial`, a wrapper
                self._mark(state, node, operand)
        return NONE

    def _marker_run(
        self, state: State, node: ir.Expr, index: int, argument: ir.Argument, given: Sequence[Operand]
    ) -> MarkerRun:
        """What is known of an argument of a marker just before it runs."""
        held = (own_tokens(one) for operand in given for one in alternatives(operand.value))
        tokens = frozenset(token for found in held for token in found)
        return MarkerRun(
            self.fresh(),
            self.place(node),
            index,
            argument.star + self.text(argument.value),
            self.frame.id,
            self.frame.function,
            self.frame.statement,
            tokens,
            late=_waiting_for(state, tokens),
            again=all(state.is_marked(token) for token in tokens),
        )

    def _remember(self, state: State, run: MarkerRun, given: Sequence[Operand]) -> None:
        """Keep the run until it is known who reads the outputs; what needs no waiting is said now."""
        values = [one for operand in given for one in alternatives(operand.value)]
        if self.compiled:
            self.journal.testify(run, Evidence.COMPILED)
        elif state.phase is Phase.REPLAY:
            self.journal.testify(run, Evidence.REPLAY_ONLY)
        elif self.is_inert() or not values or any(not state.is_marked(token) for token in run.tokens):
            self.journal.testify(run, Evidence.UNKNOWN)
        elif run.tokens:
            state.runs[run.serial] = run
        elif all(isinstance(one, Tensor) and one.made is Made.COPIED for one in values):
            self.journal.testify(run, Evidence.COPY)
        else:
            made = all(self._is_made_here(one) for one in values)
            self.journal.testify(run, Evidence.NO_OUTPUT if made else Evidence.UNKNOWN)

    def _is_made_here(self, value: Value) -> bool:
        """Whether a value is certainly no output, nor shares its storage with one."""
        if isinstance(value, Tensor):
            return value.made is not Made.ELSEWHERE and value.storage not in self.handed
        return isinstance(value, Unknown) and value.computed

    def _is_wrong(self, state: State, operand: Operand) -> bool:
        return not operand.star and self._not_a_tensor(state, operand.value) is not None

    def _mark(self, state: State, node: ir.Expr, operand: Operand) -> None:
        if operand.star:
            for item in (*self._one_hop(state, operand.value), operand.value):
                self.persist(state, item)
            return
        wrong = self._not_a_tensor(state, operand.value)
        if wrong is not None:
            self._note_wrong_argument(state, node, operand, wrong)
            for item in self._one_hop(state, operand.value):
                self.persist(state, item)  # one cause, one finding
        self.persist(state, operand.value)
        if isinstance(operand.value, Unknown):  # one of these outputs, whichever the path took
            for token in operand.value.held:
                self.persist(state, Tensor(token))

    def _not_a_tensor(self, state: State, value: Value) -> str | None:
        """What a marked value is, where it is certainly no tensor."""
        match value:
            case Constant(value=None):
                return "None"
            case Constant() | Scalar():
                return "no tensor"
            case SequenceValue(kind=kind):
                return f"a {kind}"
            case Reference():
                found = self.object_at(state, value)
                if isinstance(found, (ListObject, DictObject)):
                    return "a list" if isinstance(found, ListObject) else "a dict"
                return None
            case _:
                return None

    def _note_wrong_argument(self, state: State, node: ir.Expr, operand: Operand, what: str) -> None:
        edit, statement = None, self.frame.statement
        written = node.arguments if isinstance(node, ir.Call) else ()
        index = next((i for i, one in enumerate(written) if one.value is operand.expr and not one.star), None)
        if index is not None and isinstance(statement, ir.Expression) and statement.value is node:
            code = self._unpacked(state, written[index].value, operand.value)
            path = self.frame.scope.source.path
            edit = EditMarker(path, statement.at, replace=((index, code),)) if code else None
        self.journal.note(
            Marker(self.place(node), self._as_written(operand), Fate.NO_TENSOR, what, edit=edit)
        )

    def _unpacked(self, state: State, expr: ir.Expr, value: Value) -> str:
        """How the tensors in a container are handed over; empty where it holds something else."""
        items = self._one_hop(state, value)
        found = self.object_at(state, value) if isinstance(value, Reference) else None
        if isinstance(found, DictObject):
            items = tuple(contents(found))
        if not items or not all(isinstance(one, Tensor) for item in items for one in alternatives(item)):
            return ""
        if isinstance(expr, ir.Display) and expr.kind in ("list", "tuple"):
            return ", ".join(self.text(item) for item in expr.items)
        if not isinstance(expr, (ir.Name, ir.Attribute, ir.Subscript)):
            return ""
        return f"*{self.text(expr)}.values()" if isinstance(found, DictObject) else f"*{self.text(expr)}"


def _waiting_for(state: State, tokens: frozenset[Token]) -> tuple[Token, Consumer] | None:
    """The first consumer that certainly read one of these outputs, and that a marker would serve now."""
    for waiting, consumers in state.pending.items():
        for consumer in consumers if not tokens.isdisjoint(waiting.lineage()) else ():
            if isinstance(consumer, Consumer) and consumer.certain:
                return waiting, consumer
    return None


def _is_no_bool(value: Value) -> bool:
    if isinstance(value, Constant):
        return not isinstance(value.value, bool)
    return isinstance(value, (Tensor, SequenceValue))


def _is_result(value: Value) -> bool:
    """Whether a region was given what a function returned, instead of the function."""
    if isinstance(value, Unknown):
        return value.computed
    return isinstance(value, (Constant, Tensor, SequenceValue))
