"""Which suites of a function a statement lies in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import evaluated, header

Suite = tuple[ir.Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One suite around a statement: the compound statement it belongs to, and all statements in it."""

    owner: ir.Stmt | None
    suite: Suite


class Suites:
    """The suites of one function, or of a module."""

    def __init__(self, body: Suite) -> None:
        self._levels: dict[ir.Stmt, tuple[Level, ...]] = {}
        self._collect((Level(None, body),))

    def _collect(self, levels: tuple[Level, ...]) -> None:
        for statement in levels[-1].suite:
            self._levels[statement] = levels
            for suite in _inner(statement):
                self._collect((*levels, Level(statement, suite)))

    def around(self, statement: ir.Stmt) -> tuple[Level, ...]:
        """The suites that a statement lies in, from the outermost; none if it is of another function."""
        return self._levels.get(statement, ())

    def common(self, statements: Sequence[ir.Stmt]) -> tuple[Level, ...]:
        """The suites that all these statements lie in, from the outermost."""
        first, *others = (self.around(statement) for statement in statements)
        shared = 0
        while shared < len(first) and all(shared < len(o) and o[shared] is first[shared] for o in others):
            shared += 1
        return first[:shared]

    def member(self, level: Level, statement: ir.Stmt) -> ir.Stmt:
        """The statement of a suite that a statement is, or lies in."""
        levels = self.around(statement)
        depth = levels.index(level)
        inner = levels[depth + 1].owner if depth + 1 < len(levels) else statement
        assert inner is not None
        return inner


def _inner(statement: ir.Stmt) -> Iterator[Suite]:
    match statement:
        case (
            ir.If(body=body, orelse=orelse)
            | ir.For(body=body, orelse=orelse)
            | ir.While(body=body, orelse=orelse)
        ):
            yield from (body, orelse)
        case ir.With(body=body):
            yield body
        case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            yield body
            yield from (handler.body for handler in handlers)
            yield from (orelse, final)
        case ir.Match(cases=cases):
            yield from (case.body for case in cases)
        case _:
            return


def nested(statements: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements, and all inside them, but for those of functions and classes."""
    for statement in statements:
        yield statement
        for suite in _inner(statement):
            yield from nested(suite)


def may_leave(statements: Sequence[ir.Stmt]) -> bool:
    """Whether a function can end in these statements."""
    return any(isinstance(statement, ir.Return) for statement in nested(statements))


def runs_whole(statement: ir.Stmt) -> bool:
    """Whether a statement is simple, and evaluates everything in it once."""
    return not any(_inner(statement)) and not any(skipped for _, skipped in evaluated(header(statement)))


def bound_names(statement: ir.Stmt) -> set[str]:
    """The names that a statement binds or changes, those of the statements inside it apart."""
    names = {e.target.id for e, _ in evaluated(header(statement)) if isinstance(e, ir.Walrus)}
    match statement:
        case ir.Assign(targets=targets) | ir.Delete(targets=targets):
            names.update(name for target in targets for name in _target_names(target))
        case ir.AugAssign(target=target) | ir.For(target=target):
            names.update(_target_names(target))
        case ir.With(items=items):
            names.update(name for _, target in items if target is not None for name in _target_names(target))
        case ir.FunctionDef(function=function):
            names.add(function.name)
        case ir.Import(bindings=bindings):
            names.update(name for _, _, name in bindings)
        case _:
            pass
    return names


def bound_locals(statement: ir.Stmt) -> set[str]:
    """The names that a statement binds: not those of what it changes."""
    match statement:
        case ir.Assign(targets=targets):
            return {name for target in targets for name in _names_bound(target)}
        case ir.AugAssign(target=target) | ir.For(target=target):
            return set(_names_bound(target))
        case ir.With(items=items):
            return {name for _, target in items if target is not None for name in _names_bound(target)}
        case _:
            return bound_names(statement)


def _names_bound(target: ir.Expr) -> Iterator[str]:
    match target:
        case ir.Name(id=name):
            yield name
        case ir.Display(items=items):
            for item in items:
                yield from _names_bound(item)
        case ir.Starred(value=inner):
            yield from _names_bound(inner)
        case _:
            return


def _target_names(target: ir.Expr) -> Iterator[str]:
    """The names that an assignment to a target changes: an attribute's or item's base too."""
    match target:
        case ir.Name(id=name):
            yield name
        case ir.Display(items=items):
            for item in items:
                yield from _target_names(item)
        case ir.Starred(value=inner) | ir.Attribute(base=inner) | ir.Subscript(base=inner):
            yield from _target_names(inner)
        case _:
            return


def changes_nothing(function: ir.Function) -> bool:
    """Whether a function itself sets nothing but names of its own, and calls no method that may change."""
    if function.globals or function.nonlocals or function.is_generator:
        return False
    for statement in nested(function.body):
        match statement:
            case ir.Assign(targets=targets) if not all(
                isinstance(one, (ir.Name, ir.Display)) for one in targets
            ):
                return False
            case ir.AugAssign() | ir.Delete() | ir.With():
                return False
            case ir.Expression(value=ir.Call(function=ir.Attribute(base=base))) if not _is_package(base):
                return False
            case ir.Expression(value=ir.Call(function=ir.Attribute(name=name) | ir.Name(id=name))):
                if name.startswith(_SETTING):
                    return False
            case _:
                continue
    return True


_SETTING = ("manual_seed", "seed", "set_")
"""How the names of functions of packages begin that set something for all that comes after."""


def _is_package(base: ir.Expr) -> bool:
    """Whether something looks like a module, not like an object: ``torch``, ``torch.distributed``."""
    return isinstance(base, ir.Name) and base.id in ("torch", "warnings", "logger", "logging")
