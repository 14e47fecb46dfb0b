"""``torch_remat`` itself: regions, markers, checkpoints and phase tests.

What each of these does to region outputs is measured in SEMANTICS 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.checkpoints import Checkpoints
from remat_lint.analysis.facts import (
    NO_STRING,
    Inside,
    Kept,
    NameMismatch,
    RecomputeInsideSaved,
    RegionCall,
    RegionOutput,
)
from remat_lint.analysis.journal import others
from remat_lint.analysis.machine import Operand, RegionContext
from remat_lint.analysis.moves import unknown
from remat_lint.analysis.name_pairs import name_lookup, policy_lookup
from remat_lint.analysis.outputs import Outputs
from remat_lint.analysis.state import Claim, State, Way
from remat_lint.analysis.values import (
    NONE,
    SCALAR,
    ByPhase,
    Choice,
    Constant,
    ListObject,
    NameScope,
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
from remat_lint.findings import ReplaceCode, Step

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
                return ByPhase()
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
        if not self._are_mixed_up(node, given, recompute):
            self.check_registered(state, node, given, recompute, kept)
        place = self.place(node)
        if isinstance(value, RegionWrapper) and value.place == place:
            return value  # of another object that is constructed alike
        self.pure.add((place.path, place.node))
        self.note_aware()
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
            yield f"the name is {self.as_written(name)}, which no policy matches, since it is {NO_STRING}"

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

    def check_registered(
        self, state: State, node: ir.Expr, given: Operand | None, recompute: Operand | None, kept: Kept
    ) -> None:
        """A region about which a policy decides has a name that the class registers."""
        raise NotImplementedError

    def _are_mixed_up(self, node: ir.Expr, given: Operand | None, recompute: Operand | None) -> bool:
        """Whether the helpers that name a region and decide about it are given two local names."""
        if given is None or recompute is None:
            return False
        name = name_lookup(self.frame.function, given.expr)
        policy = policy_lookup(self.frame.function, recompute.expr)
        if name is None or policy is None or name.method.name == policy.method.name:
            return False
        if self.text(name.method.base) != self.text(policy.method.base):
            return False
        if not self._differ(name.argument, policy.argument):
            return False
        code, other = self.text(name.argument), self.text(policy.argument)
        edit = ReplaceCode(self.place(node).path, policy.argument.at, code)
        self.journal.note(NameMismatch(self.place(node), code, other, edit))
        return True

    def _differ(self, first: ir.Expr, second: ir.Expr) -> bool:
        """Whether two local names are certainly not the same: two known ones, or two handles."""
        values = [self.local_name(one) for one in (first, second)]
        if None not in values:
            return values[0] != values[1]
        handles = isinstance(first, ir.Attribute) and isinstance(second, ir.Attribute)
        return handles and self.text(first) != self.text(second)

    def local_name(self, expr: ir.Expr) -> str | None:
        """The string that a literal is, or an attribute in the statement that runs."""
        if isinstance(expr, ir.Const):
            return expr.value if isinstance(expr.value, str) else None
        value = self.frame.values.get(expr.at) if isinstance(expr, ir.Attribute) else None
        return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None

    # --- running a region

    def run_region(
        self, state: State, node: ir.Expr, wrapper: RegionWrapper, operands: Sequence[Operand]
    ) -> Value:
        """Call a region's function; what comes back may be a placeholder on replay."""
        self.journal.called.add(wrapper.place)
        inert = self.is_inert()
        self._reject_recompute(node, wrapper)
        if not inert:
            name, way = wrapper.name.under(self.own_scopes()), Way(self.frame.id, self.place(node))
            self.claim(state, Claim(name, way, state.conditions()))
        direct = frozenset(
            tensor.token
            for operand in operands
            for tensor in self.direct_tensors(state, operand.value)
            if tensor.token is not None and not self.is_forgotten(state, tensor)
        )
        self.handed.update(
            tensor.storage for operand in operands for tensor in self.direct_tensors(state, operand.value)
        )
        if wrapper.kept is not Kept.RECOMPUTE:
            self.note_given_away(state, operands)
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
        for operand in operands:
            self.hand_over(state, node, operand.value)
        self.regions.append(context)
        try:
            with self.replay_of(Inside(context.place, context.region, wrapper.kept)):
                seeded, moves = state.seeded, state.moves
                value = self.call(state, node, wrapper.function, operands)
                self.hand_over(state, node, value)
                if wrapper.kept is not Kept.RECOMPUTE:
                    self.skip_draws(state, seeded)
                    state.moves = unknown(state.moves, moves)
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
        here, region = self.place(node), wrapper.name.text
        place = here if here.path == outer.place.path else outer.place
        first = Step(outer.place, f"region {outer.region} is called here")
        last = Step(here, f"region {region} is called here")
        chain = (first, *self.calls_since(outer.depth), last)
        self.reject(RecomputeInsideSaved(place, region, outer.region, others(chain, place)))

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
                return replace(
                    value, token=token, detached=False, resident=False, moved=None, reshaped=None, via=()
                )
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


def _is_no_bool(value: Value) -> bool:
    if isinstance(value, Constant):
        return not isinstance(value.value, bool)
    return isinstance(value, (Tensor, SequenceValue))


def _is_result(value: Value) -> bool:
    """Whether a region was given what a function returned, instead of the function."""
    if isinstance(value, Unknown):
        return value.computed
    return isinstance(value, (Constant, Tensor, SequenceValue))
