"""Reading, writing and persisting region outputs.

The rules of torch_remat that decide here, all measured (SEMANTICS 1): a bare read needs the output
persisted, by a marker on anything that shares its storage or by a RECOMPUTE region that receives
it, earlier or later on the same path. A SAVE region may read anything. A region that is replayed
may read what it was handed directly, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from remat_lint.analysis import ir
from remat_lint.analysis.divergences import Divergences
from remat_lint.analysis.facts import InPlaceWrite, Kept, Output
from remat_lint.analysis.journal import region_steps
from remat_lint.analysis.machine import (
    Frame,
    Operand,
    RegionContext,
    frame_name,
    in_forward_only,
    is_override,
)
from remat_lint.analysis.state import Chain, Consumer, Hidden, Pending, Phase, State
from remat_lint.analysis.targets import find_target, names_of
from remat_lint.analysis.values import (
    DictObject,
    FunctionValue,
    InstanceObject,
    Method,
    Reference,
    Tensor,
    Token,
    Unknown,
    Value,
    alternatives,
    own_tokens,
    parts,
)
from remat_lint.findings import Place, Step


class Reads(Divergences):
    """Records what happens to tokens."""

    def read(self, state: State, node: ir.Node, operands: Sequence[Operand], *, certain: bool = True) -> None:
        """The operation at ``node`` reads the data of all tensors that the operands hold."""
        for operand in operands:
            if self.filled:
                self.look_at_data(state, operand.value)
            for token in dict.fromkeys(state.tokens(operand.value)):
                self._read_token(state, node, operand, token, certain)

    def _read_token(self, state: State, node: ir.Node, operand: Operand, token: Token, certain: bool) -> None:
        if in_forward_only(state):
            return
        hidden: RegionContext | None = None
        for region in reversed(self.regions):
            if region.kept is Kept.SAVE:
                return
            if token.serial > region.watermark:
                break
            if any(part in region.direct for part in token.lineage()):
                return
            hidden = region
            break
        state.need(token, self.chain())
        if self.swallowing or state.is_marked(token) or _is_recomputed_here(state, token):
            self._note_names(state)
            return
        if hidden is not None:
            self._read_hidden(state, hidden, token, _via(state, operand.value, token))
            return
        if token.resident and not certain:
            return  # it works if nothing is read, and it works if something is
        earlier = _read_before(state, operand.value, token)
        consumer = earlier if earlier is not None else self.consumer(state, node, operand, token, certain)
        known = [waiting for part in token.lineage() for waiting in state.pending.get(part, ())]
        if (
            known
            and token not in state.partly
            and not any(
                isinstance(other, Consumer) and other.statement is consumer.statement for other in known
            )
        ):
            return  # the first consumer of a path speaks for the later ones
        state.partly -= {token}
        state.pending[token] = tuple(dict.fromkeys((*state.pending.get(token, ()), consumer)))

    def _note_names(self, state: State) -> None:
        """A marker that another path needs before a statement under way uses no name that is unbound here."""
        for number, statement in self.chain():
            names = set(state.frames.get(number, {}))
            self.bound[statement] = self.bound.get(statement, names) & names

    def chain(self) -> Chain:
        """The statements under way, from the running function outwards."""
        chain: list[tuple[int, ir.Stmt]] = []
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.statement is not None:
                chain.append((frame.id, frame.statement))
            frame = frame.parent
        return tuple(chain)

    # --- escaping

    def escape(self, state: State, value: Value) -> None:
        """A value goes where the analyser cannot follow: its outputs may be read there."""
        for token in self._reachable(state, value, set()):
            state.need(token, ())

    def _reachable(self, state: State, value: Value, seen: set[int]) -> Iterator[Token]:
        """The tokens that a value holds, and those that a function in it sees around it."""
        yield from state.tokens(value)
        for one in (value, *parts(value)):
            if isinstance(one, FunctionValue) and one.frame not in seen:
                seen.add(one.frame)
                for name in state.frames.get(one.frame, {}).values():
                    yield from self._reachable(state, name, seen)

    def read_on_behalf(
        self, state: State, node: ir.Expr, operands: Sequence[Operand], token: Token, known: Consumer
    ) -> None:
        """A callee is known to read an output that it is handed here, in one of these operands."""
        handed = next((o for o in operands if token in state.tokens(o.value)), Operand(Unknown()))
        consumer = self.consumer(state, node, handed, token, known.certain)
        consumer = replace(consumer, steps=(*consumer.steps, *known.steps))
        state.pending[token] = tuple(dict.fromkeys((*state.pending.get(token, ()), consumer)))

    def _read_hidden(self, state: State, region: RegionContext, token: Token, via: tuple[Step, ...]) -> None:
        if token in state.pending or token.resident:
            return
        frame = self._frame_at(region.depth)
        target = find_target(frame, state, frame.call, token)
        name = target.expression if target is not None else token.region
        way = self._way(state, region, token)
        hidden = Hidden(region.place, region.region, region.kept, name.lstrip("*"), way, via)
        state.pending[token] = (hidden,)

    def _way(self, state: State, region: RegionContext, token: Token) -> str:
        """How the token got into the region without torch_remat seeing it."""
        if token in state.tokens(region.function):
            return "a bound method" if isinstance(region.function, Method) else "a `functools.partial`"
        for operand in region.operands:
            if isinstance(operand.value, Tensor) and operand.value.token == token:
                return "a detached alias"
            if token in state.tokens(operand.value):
                found = self.object_at(state, operand.value) if isinstance(operand.value, Reference) else None
                return _CONTAINERS.get(type(found), "a nested container")
        return "a closure"

    def _frame_at(self, depth: int) -> Frame:
        frame = self.frame
        while frame.depth > depth and frame.parent is not None:
            frame = frame.parent
        return frame

    def consumer(
        self, state: State, node: ir.Node, operand: Operand, token: Token, certain: bool
    ) -> Consumer:
        """Who has to write the marker: the outermost function that holds the token.

        A function that is handed the token, or finds it in a closure, reads on behalf of its caller; but
        a method that a subclass overrides reads on its own, since the caller does not know of it.
        """
        home = min(state.born.get(part, self.frame.depth) for part in token.lineage())
        frame, consuming = self.frame, node
        calls: list[tuple[Place, str]] = []
        expr: ir.Expr | None = operand.expr
        via = _via(state, operand.value, token)
        while frame.depth > home and frame.parent is not None and frame.call is not None:
            if is_override(frame):
                handed_over = Step(Place(frame.parent.scope.source.path, frame.call.at), _hands_over(frame))
                via = (*via, handed_over)
                break
            calls.append((Place(frame.scope.source.path, consuming.at), frame_name(frame)))
            handed = next((o for o in frame.operands if token in state.tokens(o.value)), None)
            expr = handed.expr if handed is not None else None
            via = _via(state, handed.value, token) if handed is not None else ()
            consuming, frame = frame.call, frame.parent
        via = via or _via_names(state, frame, token)
        target = find_target(frame, state, expr or _expression(consuming), token)
        name = target.expression.lstrip("*") if target is not None and target.hoist is None else ""
        called = f"`{name}`" if name else "it"
        inside = tuple(Step(place, f"{reader} reads {called} here") for place, reader in reversed(calls))
        return Consumer(
            place=Place(frame.scope.source.path, consuming.at),
            statement=frame.statement,
            function=frame.function,
            operation=_operation_text(frame, consuming),
            name=name,
            target=target,
            certain=certain,
            steps=(*via, *inside),
            names=tuple(names_of(frame, state, token)),
        )

    # --- persisting

    def persist(self, state: State, value: Value) -> None:
        """A marker ran on a value, or a RECOMPUTE region received it."""
        several = alternatives(value)
        for one in several:
            if not isinstance(one, Tensor) or one.token is None or one.moved is not None:
                continue
            if state.phase is not Phase.REPLAY and not self.is_forgotten(state, one):
                unserved = _read_on_some_paths(state, one.token) if len(several) > 1 else {}
                state.mark(one.token)
                state.pending |= unserved  # on those paths, the value may have been another one

    def is_forgotten(self, state: State, tensor: Tensor) -> bool:
        """Whether torch_remat does not know any more what a detached alias is an alias of."""
        if not tensor.detached or tensor.token is None or state.is_marked(tensor.token):
            return False
        return not state.is_alive(tensor.token)

    def grad_of(self, value: Value) -> bool | None:
        """Whether a value requires grad, None where that is unknown."""
        if not isinstance(value, Tensor):
            return None
        return None if value.grad is False and value.storage in self.changed else value.grad

    # --- writing

    def write(self, state: State, node: ir.Node, operand: Operand) -> None:
        """The operation at ``node`` changes a tensor in place."""
        self.note_in_place(state, node, operand)
        for value in alternatives(operand.value):
            if isinstance(value, Tensor) and value.storage and self.grad_enabled:
                self.changed.add(value.storage)
            if not isinstance(value, Tensor) or value.token is None:
                continue
            if not self.grad_enabled or value.detached:
                # Without autograd in the way, the write reaches the placeholder itself.
                self.read(state, node, [operand])
            consumer = self.consumer(state, node, operand, value.token, certain=True)
            self.outer_writes += consumer.place != self.place(node)
            name = consumer.name or value.token.region
            steps = (*region_steps(value.token), *value.via)
            output = Output(name, value.token.region, value.token.kept, steps)
            self.journal.note(InPlaceWrite(consumer.place, consumer.operation, output))


def _read_on_some_paths(state: State, token: Token) -> dict[Token, tuple[Pending, ...]]:
    """The reads of an output, or of parts of it, on some only of the paths that were joined."""
    return {
        one: waiting
        for one, waiting in state.pending.items()
        if one in state.partly and token in one.lineage()
    }


def _is_recomputed_here(state: State, token: Token) -> bool:
    """Whether the policy is known to have the token's region recomputed on this path."""
    if token.saved_when is None:
        return False
    key, saved = token.saved_when
    return state.assumed.get(key, saved) is not saved


_CONTAINERS = {DictObject: "a dict argument", InstanceObject: "an object argument"}


def _via(state: State, value: Value, token: Token) -> tuple[Step, ...]:
    ways = (one.via for one in state.leaves(value) if isinstance(one, Tensor) and one.token == token)
    return next(ways, ())


def _via_names(state: State, frame: Frame, token: Token) -> tuple[Step, ...]:
    """The way of an output that a function finds around it, by what the names there stand for."""
    values = (value for names in (frame.id, frame.closure) for value in state.frames.get(names, {}).values())
    return next((via for value in values if (via := _via(state, value, token))), ())


def _read_before(state: State, value: Value, token: Token) -> Consumer | None:
    """What may have copied, where every way from a value to an output leads through it: a move, a reshape."""
    found = [
        leaf.moved or leaf.reshaped if isinstance(leaf, Tensor) else None
        for leaf in state.leaves(value)
        if token in own_tokens(leaf)
    ]
    return found[0] if all(one is not None for one in found) else None


def _hands_over(frame: Frame) -> str:
    assert frame.parent is not None
    return f"handed to {frame_name(frame)} by {frame_name(frame.parent)} {{here}}"


def _expression(node: ir.Node) -> ir.Expr | None:
    return node if isinstance(node, ir.Expr) else None


def _operation_text(frame: Frame, node: ir.Node) -> str:
    """How a message calls the operation: ``F.silu``, ``+``, ``if``."""
    source = frame.scope.source
    if isinstance(node, ir.Call):
        return f"`{' '.join(source.code(node.function.at).split())}`"
    if isinstance(node, ir.AugAssign):
        return f"`{OPERATORS.get(node.operator, node.operator)}=`"
    if isinstance(node, (ir.Binary, ir.Unary)):
        return f"`{OPERATORS.get(node.operator, node.operator)}`"
    if isinstance(node, ir.Comparison):
        return "a comparison"
    if isinstance(node, (ir.Subscript,)):
        return "indexing"
    if isinstance(node, ir.Format):
        return "an f-string"
    return f"`{' '.join(source.code(node.at).split())[:40]}`"


OPERATORS = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "FloorDivide": "//",
    "Modulo": "%",
    "Power": "**",
    "MatrixMultiply": "@",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LeftShift": "<<",
    "RightShift": ">>",
    "Minus": "-",
    "BitInvert": "~",
    "Not": "not",
}
