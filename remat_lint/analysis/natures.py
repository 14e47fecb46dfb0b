"""What values are made of: of the data of tensors, of parameters, or of constants and sizes alone.

What only depends on constants and sizes is equal each time that code runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated
from remat_lint.analysis.machine import Operand
from remat_lint.analysis.replays import Replays
from remat_lint.analysis.state import State
from remat_lint.analysis.values import (
    DictObject,
    ListObject,
    Made,
    Reference,
    Scalar,
    Tensor,
    Unknown,
    Value,
    alternatives,
    contents,
)
from remat_lint.analysis.values import Sequence as SequenceValue

_TO_NUMBER = frozenset(["item", "tolist", "numpy"])

_NUMBERS = frozenset(["int", "float", "bool"])

MAX_NESTED = 3
"""Containers inside containers deeper than this are not searched for tensors."""


class Natures(Replays):
    """Tells values that are the same each time from those that are not."""

    def depends_on_data(self, state: State, value: Value, depth: int = 0) -> bool:
        """Whether a value is, or holds, a tensor whose data is not the same for every input."""
        match value:
            case Tensor(token=token, made=made, storage=storage):
                if token is not None or made is Made.LEAF:
                    return True
                return bool(storage) and not self.is_steady(storage)
            case Unknown(held=held, origin=origin):
                return bool(held) or (origin in self.tensors and not self.is_steady(origin))
            case SequenceValue(items=items, rest=rest):
                parts = (*items, rest) if rest is not None else items
                return any(self.depends_on_data(state, part, depth + 1) for part in parts)
            case Reference() if depth < MAX_NESTED:
                found = self.object_at(state, value)
                if not isinstance(found, (ListObject, DictObject)):
                    return False
                return any(self.depends_on_data(state, part, depth + 1) for part in contents(found))
            case _:
                parts = alternatives(value)
                return len(parts) > 1 and any(self.depends_on_data(state, part, depth) for part in parts)

    def is_steady(self, number: int) -> bool:
        """Whether what has this number is equal each time the code runs."""
        return number in self.steady or self.root_of(number)[0] in self.steady

    def note_nature(self, operands: Sequence[Value], result: Value) -> None:
        """An operation made something: of constants, sizes and steady things only, or of others too."""
        number = self.number_of(result)
        if not number or number in self.steady:
            return
        if all(self.is_surely_steady(operand) for operand in operands):
            self.steady.add(number)
        elif all(self.is_surely_steady(one) or self.is_learned(one) for one in operands):
            self.learned.add(number)
        elif isinstance(result, Unknown) and any(self.is_known_tensor(one) for one in operands):
            self.tensors.add(number)

    def note_tensor(self, value: Value) -> None:
        """An operation takes this for a tensor."""
        for one in alternatives(value):
            if isinstance(one, Unknown) and one.origin:
                self.tensors.add(one.origin)

    def nature_of(self, value: Value) -> object:
        """What decides whether it matters that a callee stores a value."""
        number = self.number_of(value)
        return self.is_surely_steady(value), number in self.tensors, number in self.learned

    def note_renewed(self, pairs: Iterable[tuple[int, int]]) -> None:
        """What another call made has new numbers for this one."""
        renumbered = dict(pairs)
        for old, new in renumbered.items():
            if old in self.steady:
                self.steady.add(new)
            for known in (self.tensors, self.tallies, self.learned):
                if old in known:
                    known.add(new)
            if old in self.holders:
                holder, path = self.holders[old]
                self.lie_in(new, (renumbered.get(holder, holder), path))

    def is_surely_steady(self, value: Value) -> bool:
        """Whether a value is made of constants, sizes and what objects hold, and of nothing else."""
        match value:
            case Tensor(storage=number, token=token, made=made):
                return token is None and made is not Made.LEAF and self.is_steady(number)
            case Unknown(held=held, origin=number):
                return not held and self.is_steady(number)
            case SequenceValue(items=items, rest=rest):
                return all(map(self.is_surely_steady, items if rest is None else (*items, rest)))
            case Reference():
                return False
            case _:
                return all(map(self.is_surely_steady, alternatives(value))) if _is_choice(value) else True

    def is_learned(self, value: Value) -> bool:
        """Whether a value is made of parameters, constants and sizes: it is equal until the next step."""
        if isinstance(value, Tensor) and value.made is Made.LEAF:
            return True
        number = self.number_of(value)
        return number in self.learned or self.root_of(number)[0] in self.learned

    def is_known_tensor(self, value: Value) -> bool:
        """Whether a value is a tensor: by what made it, or since an operation took it for one."""
        return isinstance(value, Tensor) or (isinstance(value, Unknown) and value.origin in self.tensors)

    def is_from_data(self, state: State, expr: ir.Expr | None) -> bool:
        """Whether the value of an expression is a number taken out of a tensor: ``loss.item()``."""
        if expr is None:
            return False
        values = self.frame.values
        for part, _ in evaluated((expr,)):
            match part:
                case ir.Call(function=ir.Attribute(base=base, name=name)) if name in _TO_NUMBER:
                    if self.depends_on_data(state, values.get(base.at, Scalar())):
                        return True
                case ir.Call(function=ir.Name(id=name), arguments=[argument]) if name in _NUMBERS:
                    if self.depends_on_data(state, values.get(argument.value.at, Scalar())):
                        return True
                case _:
                    continue
        return False

    def is_others(self, number: int) -> bool:
        """Whether what has this number was there before the running call."""
        return self.is_foreign(number, max(self.frame.id, self.replayed_since))

    def may_require_grad(self, state: State, value: Value) -> bool:
        """Whether backward may go through a value, or what it holds."""
        tensors = (one for one in state.leaves(value) if isinstance(one, (Tensor, Unknown)))
        return any(not isinstance(one, Tensor) or one.grad is not False for one in tensors)

    def is_new(self, state: State, value: Operand, expr: ir.Expr | None) -> bool:
        """Whether a value may be another one each time, since it is of the data of tensors."""
        return self.depends_on_data(state, value.value) or self.is_from_data(state, expr)


def _is_choice(value: Value) -> bool:
    return len(alternatives(value)) > 1
