"""What code does outside the program, what it tells other ranks, and what decides that may change.

The names of other packages are in ``external_names``. An effect through an object that was made in the
call, such as a file that it opened, is the call's own: that it was opened tells it all. A value that may be
another one on replay matters only where it decides what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remat_lint.analysis import external_names, ir
from remat_lint.analysis.deeds import Send, Sway, Touch
from remat_lint.analysis.draws import Draws
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.facts import Decides, Touched, Unsteady
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.state import State
from remat_lint.analysis.unkept import Drawn
from remat_lint.analysis.values import (
    ClassValue,
    Constant,
    External,
    Fickle,
    FunctionValue,
    InstanceObject,
    Reading,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    holds_object,
    parts,
    reading_in,
    reading_of,
)
from remat_lint.findings import GuardStatement

_WRITING = frozenset("wax+")
_HARMLESS = frozenset(
    f"builtins.{name}"
    for name in ("bool", "float", "id", "int", "len", "list", "repr", "round", "str", "tuple")
)
_IDENTITIES = ("builtins.id", "builtins.hash")


class Effects(Draws):
    """Notes effects outside the program, and what unsteady values decide."""

    # --- effects

    def note_external(self, state: State, node: ir.Expr, name: str, operands: Sequence[Operand]) -> None:
        """A function of another package is called."""
        if external_names.communicates(name):
            self.note_deed(state, node, Send(self.called(node)))
        for operand in operands[:1] if external_names.changes_its_first(name) else ():
            for one in self.tensors_in(state, operand):
                self.note_in_place(state, node, one, counted=not external_names.communicates(name))
        touched = external_names.touched_by(name)
        if name in external_names.OPENERS and _opens_to_write(name, operands):
            touched = Touched.FILE
        if touched is None or _is_idempotent(operands):
            return
        file = self._file_handed(state, name, operands)
        if file and touched is Touched.OUTPUT:
            touched = Touched.FILE
        self._touch(state, node, touched, file)

    def note_external_method(
        self, state: State, node: ir.Expr, receiver: Value, name: str, operands: Sequence[Operand]
    ) -> None:
        """A method that an object has from a class of another package is called, by its full ``name``."""
        touched = external_names.touched_by(name)
        if name in external_names.OPENERS and _opens_to_write(name, operands):
            touched = Touched.FILE
        takes = touched is Touched.QUEUE and name.endswith((".get", ".get_nowait"))
        if takes and self.note_taken(state, node, receiver):
            return
        if touched is not None and not _is_idempotent(operands):
            number = self.number_of(receiver) if external_names.is_ones_own(name) else 0
            self._touch(state, node, touched, number)

    def note_told(self, state: State, node: ir.Expr, receiver: Operand, name: str) -> None:
        """A method of something unknown is called, which may tell by its name what it is."""
        touched = external_names.touched_by_method(_last_name(receiver.expr), name)
        if touched is not None:
            self._touch(state, node, touched)

    def _touch(self, state: State, node: ir.Expr, touched: Touched, number: int = 0) -> None:
        self.note_deed(state, node, Touch(self.called(node), touched, number, self._guard_around(node)))

    def _guard_around(self, node: ir.Expr) -> GuardStatement | None:
        """What makes a call run in the forward only, where it is a statement of its own."""
        statement = self.frame.statement
        if not isinstance(statement, ir.Expression) or statement.value is not node:
            return None
        if all(expr is node or self._changes_nothing(expr) for expr, _ in evaluated((node,))):
            return GuardStatement(self.frame.scope.source.path, statement.at)
        return None

    def _changes_nothing(self, expr: ir.Expr) -> bool:
        """Whether nobody misses an expression but who uses its value."""
        if not isinstance(expr, ir.Call):
            return not isinstance(expr, (ir.Walrus, ir.Yield, ir.Await))
        function = self.frame.values.get(expr.function.at)
        if isinstance(function, External):
            return function.name in _HARMLESS
        return (self.frame.scope.source.path, expr.at) in self.pure

    def _file_handed(self, state: State, name: str, operands: Sequence[Operand]) -> int:
        """The number of the open file that a function writes into; 0 where it is handed none."""
        position = external_names.HANDED_FILES.get(name)
        for index, operand in enumerate(operands):
            is_file = operand.keyword in ("file", "fp", "f") or (
                operand.keyword is None and index == position
            )
            value = operand.value
            found = self.object_at(state, value) if is_file and isinstance(value, Reference) else None
            if isinstance(found, InstanceObject) and found.klass == External(external_names.FILE):
                return self.number_of(value)
        return 0

    # --- what may be another value on replay

    def read_unsteady(self, node: ir.Expr, name: str, operands: Sequence[Operand] = ()) -> Fickle | None:
        """What a function of another package returns, if it may return something else on replay."""
        unsteady = external_names.unsteady(name)
        if unsteady is None:
            return None
        if name in _IDENTITIES and all(self._stays(operand.value) for operand in operands):
            return None
        return self.fickle(node, unsteady)

    def fickle(self, node: ir.Node, unsteady: Unsteady) -> Fickle:
        """A scalar that is read here."""
        return Fickle(Reading(self.text(node), unsteady, self.place(node), self.fresh()))

    def read_global(self, node: ir.Expr, value: Value) -> Value:
        """A global that a function rebinds. One that is ``None`` at first is set once, before training."""
        return self.fickle(node, Unsteady.GLOBAL) if isinstance(value, (Constant, Scalar)) else value

    def _stays(self, value: Value) -> bool:
        """Whether a value is the same object on replay: tensors are made anew."""
        if isinstance(value, Reference):
            return self.is_foreign(value.address, self.frame.id)
        return isinstance(value, (Constant, Scalar, External, ClassValue, FunctionValue))

    def decide(self, state: State, node: ir.Node, value: Value, decides: Decides) -> None:
        """What is computed depends on a value."""
        reading = reading_of(value)
        if reading is None or self._is_settled(reading):
            return
        if decides is Decides.SEED and reading.unsteady is Unsteady.GLOBAL:
            return  # mostly the number of the step, which no replay counts; one that does is told elsewhere
        place = reading.mixed if decides is Decides.VALUE and reading.mixed is not None else self.place(node)
        read_here = reading.place.path == place.path and reading.place.node in self.frame.values
        read = place if read_here else reading.place
        act = Sway(reading.what, reading.unsteady, decides, read, reading.number)
        self.note_deed_at(state, place, act)

    def _is_settled(self, reading: Reading) -> bool:
        """Whether something was read before the run, when modules were loaded and objects made."""
        return reading.number <= self.given_until or reading.number in self.outside

    def mix(self, state: State, node: ir.Node, operands: Sequence[Operand]) -> None:
        """A tensor is computed from these operands."""
        for operand in operands:
            if not self.is_operand_unkept(operand):
                self.decide(state, node, operand.value, Decides.VALUE)

    def mixed(self, node: ir.Node, operands: Sequence[Operand]) -> Reading | None:
        """What the result of an operation on these depends on, which may be a tensor."""
        values = [operand.value for operand in operands if not self.is_operand_unkept(operand)]
        reading = reading_in(values)
        if reading is None or reading.mixed is not None or all(isinstance(v, Fickle) for v in values):
            return reading
        return replace(reading, mixed=self.place(node))

    def hand_over(self, state: State, node: ir.Node, value: Value) -> None:
        """A function that is run again returns a value: what it depends on has decided what it computes."""
        for one in (value, *parts(value)):
            if isinstance(one, Unknown) and one.reading is not None and one.reading.mixed is not None:
                self.decide(state, node, one, Decides.VALUE)

    def pick(self, state: State, node: ir.Expr, base: Value, indices: Sequence[Operand], item: Value) -> None:
        """``base[indices]`` gives ``item``: an index decides which tensor or function is taken."""
        taken = isinstance(base, Tensor) or isinstance(item, Tensor) or holds_object(item)
        for index in indices if taken else ():
            self.decide(state, node, index.value, Decides.INDEX)
            used = self.frame.watch.mentioned(index.expr)
            if used and index.expr is not None and self._is_kept(node):
                self.compute_with(state, used, (index.expr,), Decides.INDEX)

    def _is_kept(self, node: ir.Expr) -> bool:
        """Whether backward needs the value of an expression."""
        return self.keeps_its_value(self.frame.statement) and not self.is_unkept_here(node, Drawn.NOISE)


def is_duration(operator: str, left: Value) -> bool:
    """Whether ``left`` is a time from which something is taken: a number, no tensor."""
    return operator == "Subtract" and isinstance(left, Fickle) and left.reading.unsteady is Unsteady.TIME


def _opens_to_write(name: str, operands: Sequence[Operand]) -> bool:
    position = external_names.OPENERS[name]
    given = next((o.value for o in operands if o.keyword == "mode"), None)
    if given is None and len(operands) > position and operands[position].keyword is None:
        given = operands[position].value
    return isinstance(given, Constant) and isinstance(given.value, str) and bool(_WRITING & set(given.value))


def _is_idempotent(operands: Sequence[Operand]) -> bool:
    """Whether nothing is done the second time: ``makedirs(path, exist_ok=True)``."""
    return any(o.keyword in ("exist_ok", "missing_ok") and o.value == Constant(True) for o in operands)


def _last_name(expr: ir.Expr | None) -> str:
    match expr:
        case ir.Name(id=name) | ir.Attribute(name=name):
            return name
        case ir.Call(function=function):
            return _last_name(function)
        case _:
            return ""
