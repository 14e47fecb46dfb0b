"""What a condition is good for: it may decide what is computed, what is told, or what is done once only.

Comes in: a statement that has run, and how many deeds were noted before and after its condition. Goes out:
the deeds that do not matter after all are forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence

from remat_lint.analysis import ir
from remat_lint.analysis.deeds import Draw, Sway, Touch
from remat_lint.analysis.expressions import Expressions
from remat_lint.analysis.external_names import only_tells, only_tells_by_method
from remat_lint.analysis.once import attribute_path, fills_cache, happens_once
from remat_lint.analysis.state import State
from remat_lint.analysis.suites import nested
from remat_lint.analysis.values import NONE, External, InstanceObject, Reference


class Conditions(Expressions):
    """Weighs the conditions of statements."""

    def weigh_if(self, statement: ir.If, state: State, asked: int, ran: int) -> None:
        """An ``if`` has run: its condition was asked, then its arms ran."""
        if len(self.deeds) == asked:
            return
        once = self._happens_once(statement.test, statement.body, state)
        self.weigh_cache((statement.test,), statement.body, ran)
        told = self.deeds.has(Touch, ran)
        if once:
            self.deeds.forget(ran, Touch)
        if once or not self.computes(state, (*statement.body, *statement.orelse), told=told):
            self.deeds.forget(asked, Sway, ran)

    def weigh_rest(
        self, statement: ir.If, rest: Sequence[ir.Stmt], state: State, asked: int, ran: int
    ) -> None:
        """The ``rest`` of a block has run, which an ``if`` before it leaves."""
        self.weigh_cache((statement.test,), rest, ran)
        if len(self.deeds) > asked and self._happens_once(statement.test, rest, state):
            self.deeds.forget(ran, Touch)
            self.deeds.forget(asked, Sway, ran)

    def weigh_cache(self, tests: Sequence[ir.Expr], block: Sequence[ir.Stmt], ran: int) -> None:
        """A block has run where tests found nothing: what it drew may be kept."""
        function = self.frame.function
        if function is not None and self.deeds.has(Draw, ran) and fills_cache(function, tests, block):
            self.deeds.cache_draws(ran)

    def _happens_once(self, test: ir.Expr, block: Sequence[ir.Stmt], state: State) -> bool:
        return happens_once(test, block, state.frames.get(self.frame.id, {}))

    def computes(self, state: State, body: Sequence[ir.Stmt], *, told: bool = False) -> bool:
        """Whether a block may change what is computed; nobody computes with what is only told or stored.

        Where it ``told`` something, a call whose result nobody takes is said to have done so.
        """
        return not all(self._only_tells(state, statement, told) for statement in nested(body))

    def _only_tells(self, state: State, statement: ir.Stmt, told: bool) -> bool:
        match statement:
            case ir.Expression(value=ir.Const()) | ir.Raise() | ir.Assert() | ir.If() | ir.Jump(kind="pass"):
                return True
            case ir.Expression(value=ir.Call(function=function)):
                return self.tells(state, function) or (told and not _is_in_place(function))
            case ir.Assign(targets=targets):
                return all(self._stores(target) for target in targets)
            case ir.AugAssign(target=target):
                return self._stores(target)
            case _:
                return False

    def _stores(self, target: ir.Expr) -> bool:
        """Whether an assignment keeps its value outside the call."""
        function = self.frame.function
        if isinstance(target, ir.Name) and function is not None:
            return target.id in function.globals or target.id in function.nonlocals
        return isinstance(target, ir.Attribute)

    def tells(self, state: State, function: ir.Expr) -> bool:
        """Whether a function is known to tell or wait only, without being called."""
        if not isinstance(function, ir.Attribute):
            value = self.lookup(state, function.id) if isinstance(function, ir.Name) else NONE
            return isinstance(value, External) and only_tells(value.name)
        way = attribute_path(function)
        if not way:
            return False
        base = self.lookup(state, way[0])
        found = self.object_at(state, base) if isinstance(base, Reference) else None
        known = found.klass if isinstance(found, InstanceObject) else base
        if isinstance(known, External):
            return only_tells(".".join((known.name, *way[1:])))
        return only_tells_by_method(way[-2], way[-1])


def _is_in_place(function: ir.Expr) -> bool:
    return isinstance(function, ir.Attribute) and function.name.endswith("_")
