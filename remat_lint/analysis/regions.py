"""``torch_remat`` itself: regions, markers, checkpoints and phase tests.

What each of these does to region outputs is measured in SEMANTICS 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.facts import DuplicateName, Kept, RecomputeInsideSaved, RegionCall
from remat_lint.analysis.machine import Frame, Operand, RegionContext
from remat_lint.analysis.markers import Markers
from remat_lint.analysis.state import Claim, Condition, State
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    CheckpointWrapper,
    Choice,
    Constant,
    ListObject,
    NameScope,
    PhaseTest,
    PlaceholderTest,
    Reference,
    RegionWrapper,
    Tensor,
    Token,
    Unknown,
    Value,
    join,
)
from remat_lint.analysis.values import Sequence as SequenceValue

REMAT = "torch_remat"

REMAT_NAMES = (
    "checkpoint",
    "region",
    "name_scope",
    "recompute_needs_tensor",
    "is_recomputing",
    "is_placeholder",
)
"""What ``from torch_remat import *`` binds, as far as it matters here."""


class Regions(Markers):
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
                function = next((o.value for o in operands if o.keyword is None), None)
                self.journal.is_body &= bool(self.checkpoints)
                return CheckpointWrapper(function)
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
        return self.declare_region(state, node, function, given, recompute, problems)

    def declare_region(
        self,
        state: State,
        node: ir.Expr,
        function: Operand | None,
        given: Operand | None,
        recompute: Operand | None,
        problems: tuple[str, ...],
    ) -> Value:
        """The wrapper of a function under a ``given`` name."""
        name, kept = self.name_given(state, given), self._kept(recompute)
        value = function.value if function is not None else Unknown()
        place = self.place(node)
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
            yield f"`recompute` is {self.as_written(recompute)}, no bool: write `True` or `False`"
        if name is None:
            yield "the name is missing: give the region a name that is unique in its checkpoint"
        elif name.value == Constant(""):
            yield "the name is empty: give the region a name that is unique in its checkpoint"
        elif isinstance(name.value, Constant) and not isinstance(name.value.value, str):
            yield f"the name is {self.as_written(name)}, no string"

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
            for tensor in self.direct_tensors(state, operand.value)
            if tensor.token is not None
        )
        self.handed.update(
            tensor.storage for operand in operands for tensor in self.direct_tensors(state, operand.value)
        )
        if wrapper.kept is Kept.RECOMPUTE and not inert:
            for operand in operands:
                for tensor in self.direct_tensors(state, operand.value):
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
        if inert or wrapper.kept is Kept.RECOMPUTE:
            return value
        return self._outputs(state, wrapper, value)

    def _reject_recompute(self, node: ir.Expr, wrapper: RegionWrapper) -> None:
        outer = next((region for region in self.regions if region.kept is Kept.SAVE), None)
        if outer is None or wrapper.kept is not Kept.RECOMPUTE:
            return
        here = self.place(node)
        place = here if here.path == outer.place.path else outer.place
        self.reject(RecomputeInsideSaved(place, wrapper.name.text, outer.region, outer.place))

    def claim(self, state: State, claim: Claim) -> None:
        """A region that is not inert uses up its name in the checkpointed body that runs."""
        name = claim.name.under(claim.scopes)
        if not name.identity or not self._are_at_hand(name.variables):
            return
        earlier = [one for one in state.claimed.get(name.identity, ()) if not one.excludes(claim)]
        if earlier:
            place, first = claim.seen_after(earlier[0])
            self.reject(DuplicateName(place, name.text, first, claim.way[-1][1]))
        state.claim(name.identity, claim)

    def claims_of_call(self, state: State, conditions: frozenset[Condition]) -> tuple[Claim, ...]:
        """The names that the call which ends now used, with the scopes that it entered itself.

        ``conditions`` are those that held before it.
        """
        outside = len(self.name_scopes)
        return tuple(
            replace(claim, scopes=claim.scopes[outside:], conditions=claim.conditions - conditions)
            for claims in state.claimed.values()
            for claim in claims
        )

    def claim_for_caller(self, state: State, node: ir.Expr, callee: Frame, claims: Sequence[Claim]) -> None:
        """Claim the names that a call used, in terms of the frame that called."""
        if self._has_checkpoint_elsewhere(state, callee):
            return
        conditions = state.conditions()
        renumbered = {number: self.fresh() for claim in claims for number, _ in claim.way}
        for claim in claims:
            names = [self.name_for_caller(state, callee, name) for name in (*claim.scopes, claim.name)]
            known = [name for name in names if name is not None]
            if len(known) == len(names):
                *scopes, name = known
                inner = ((renumbered[number], place) for number, place in claim.way)
                way = ((self.frame.id, self.place(node)), *inner)
                scopes = [*self.name_scopes, *scopes]
                self.claim(state, Claim(name, tuple(scopes), way, claim.conditions | conditions))

    def _has_checkpoint_elsewhere(self, state: State, callee: Frame) -> bool:
        """Whether a call runs a module that is no part of this body, where no checkpoint is in view.

        The layers of a stack are wrapped one by one where the model is put together; without gradients
        a whole model runs, and no checkpoint begins.
        """
        receiver = callee.receiver
        if self.checkpoints or not isinstance(receiver, Reference) or receiver == self.frame.receiver:
            return False
        if not self.grad_enabled:
            return True
        return receiver.address in self.elements and not self.has_own_name(state, callee)

    def _are_at_hand(self, variables: frozenset[str]) -> bool:
        """Whether names belong to frames that still run: others say nothing about this call."""
        running = {str(frame.id) for frame in self.active_frames()}
        owners = {variable.partition(":")[0] for variable in variables if ":" in variable}
        return owners <= running

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

    # --- checkpoints

    def run_checkpoint(
        self, state: State, node: ir.Expr, function: Value, operands: Sequence[Operand]
    ) -> Value:
        """Run a checkpointed body: what it leaves unserved is settled here, what it returns is real."""
        before, runs = state.pending, state.runs
        state.pending, state.runs = {}, {}
        regions, self.regions = self.regions, []
        claimed, state.claimed = state.claimed, {}
        self.checkpoints += 1
        try:
            value = self.call(state, node, function, operands)
        finally:
            self.regions = regions
            self.checkpoints -= 1
        self.escape(state, value)
        state.claimed = claimed
        self.journal.settle(state.pending)
        self.journal.judge(state, state.runs.values())
        state.pending, state.runs = before, runs
        return self._real(state, value)

    def _real(self, state: State, value: Value) -> Value:
        match value:
            case Tensor():
                return replace(value, token=None, opaque=False, moved=None, via=())
            case SequenceValue(items=items, rest=rest):
                real = tuple(self._real(state, item) for item in items)
                return replace(value, items=real, rest=self._real(state, rest) if rest is not None else None)
            case Unknown(origin=origin):
                return Unknown(origin=origin)
            case Choice(alternatives=values):
                joined = self._real(state, values[0])
                for other in values[1:]:
                    joined = join(joined, self._real(state, other))
                return joined
            case _:
                return Unknown() if any(True for _ in state.tokens(value)) else value


def _is_no_bool(value: Value) -> bool:
    if isinstance(value, Constant):
        return not isinstance(value.value, bool)
    return isinstance(value, (Tensor, SequenceValue))


def _is_result(value: Value) -> bool:
    """Whether a region was given what a function returned, instead of the function."""
    if isinstance(value, Unknown):
        return value.computed
    return isinstance(value, (Constant, Tensor, SequenceValue))
