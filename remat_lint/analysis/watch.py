"""What a running function was seen to do with state that was there before it: which it tests, reads and sets.

A watch belongs to one frame and knows paths only as arms of an ``if``: what any path did counts. It looks
at attributes and names that code in the file changes, and at no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remat_lint.analysis import ir
from remat_lint.analysis.evaluation_order import children, evaluated, header
from remat_lint.analysis.suites import bound_names, nested

if TYPE_CHECKING:
    from remat_lint.findings import Place
    from remat_lint.source import SourceFile

Held = tuple[int, str]
"""State: the number of the object, storage or frame that it belongs to, and the path from there to it."""

ANY_ELEMENT = "[]"
"""The path from a container to an element whose key the source does not show."""

SOME_ELEMENT = "[*]"
"""The path to an element whose key the source shows, whichever that is."""

ADVANCING = frozenset(
    [
        "append",
        "appendleft",
        "clear",
        "extend",
        "extendleft",
        "insert",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "subtract",
    ]
)
"""Methods of containers that do something else each time."""

STORING = frozenset(["add", "setdefault", "update", "discard"])
"""Methods of containers that change nothing when they are called again with equal arguments."""

TENSORS_OF_MODULES = frozenset(
    [
        *("parameters", "named_parameters", "get_parameter"),
        *("buffers", "named_buffers", "get_buffer", "state_dict"),
    ]
)
"""Methods of modules that lead to their tensors."""

WEIGHTS = frozenset(["weight", "bias"])
"""What modules of torch mostly call their parameters."""

_SIZES = frozenset(["shape", "dtype", "device", "ndim", "size", "dim", "numel", "stride", "is_cuda"])
"""What does not depend on the data of a tensor."""


_OF_A_SIZE = frozenset(f"{name}_like" for name in ("zeros", "ones", "empty", "full", "rand", "randn"))
"""Functions that look at the size of what they are handed first."""

_IN_THE_FORM_OF = frozenset(["to", "type_as", "expand_as", "view_as", "reshape_as"])
"""Methods that look at no more of what they are handed."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """An arm of an ``if`` under way: what its condition tests, and whether it ends its own reason to run.

    ``instead`` is whether something is computed where it does not run. Of what it ``finds``, the condition
    tests only whether it is there.
    """

    tested: frozenset[Held]
    once: bool
    instead: bool
    finds: frozenset[Held] = frozenset()
    asks: frozenset[int] | None = None
    """The tensors that its condition looks at; None where every run of the program at hand takes it."""

    redirects: bool = False
    """Whether it computes something else for a name that was there before, or returns."""


_PLAIN = (ir.Name, ir.Attribute, ir.Subscript)
"""Expressions that stand for something that is there."""

Arms = tuple[Arm, ...]
"""The arms around some code, the outermost first."""


@dataclass(frozen=True, slots=True, eq=False)
class Diverged:
    """A statement that runs in one phase only bound a name; to a tensor, if it ``matters`` by itself."""

    place: Place
    matters: bool


@dataclass(slots=True, eq=False)
class Watch:
    """The notes on one call."""

    changed: frozenset[str] = frozenset()
    """The names of attributes and globals that functions of the file change."""

    met: dict[int, frozenset[Held]] = field(default_factory=dict)
    """The state that the expressions of the running statement stand for, by their places."""

    origins: dict[str, frozenset[Held]] = field(default_factory=dict)
    """The state that went into what a local name was bound to last."""

    chosen: dict[str, frozenset[Held]] = field(default_factory=dict)
    """The state that decided which of several things a local name was bound to last."""

    grown: dict[str, frozenset[Held]] = field(default_factory=dict)
    """The state of which something else was computed for a local name, as a counter moves on."""

    bound: dict[str, Arms] = field(default_factory=dict)
    """The arms in which those names were bound."""

    arms: list[Arm] = field(default_factory=list)
    passed: set[Held] = field(default_factory=set)
    """The state tested by a condition on which the function may have ended before this point."""

    turned: set[Held] = field(default_factory=set)
    """That where something is computed on the way to that end."""

    used: dict[Held, set[Arms]] = field(default_factory=dict)
    """The state that something was computed with, with the arms in which that was."""

    found: dict[Held, set[Arms]] = field(default_factory=dict)
    """That of it which the function had not set whole by then."""

    written: dict[Held, set[Arms]] = field(default_factory=dict)
    """The state that was written, with the arms in which that was."""

    written_now: set[Held] = field(default_factory=set)
    """What of that the running statement was the first to write."""

    returned_late: set[Held] = field(default_factory=set)
    """What of the state that the function returned is as the function itself left it."""

    left_now: set[Held] = field(default_factory=set)
    """What calls of the running statement wrote, and did not return as they had found it."""

    early: dict[str, frozenset[Held]] = field(default_factory=dict)
    """The state that a local name holds as it was before the function wrote it."""

    aliases: set[str] = field(default_factory=set)
    """Those of the names that were bound to the state itself, not to what was computed from it."""

    used_early: dict[Held, set[Arms]] = field(default_factory=dict)
    """The state that something was computed with as it was then, with the arms in which that was."""

    copied: dict[Held, set[Held]] = field(default_factory=dict)
    """For state as it was then, the state that was set to it or to what was made of it."""

    seen: set[Held] = field(default_factory=set)
    """The state that any expression stood for, in the ``try`` under way or else so far."""

    read: set[Held] = field(default_factory=set)
    """The state that went into a local name or a result, whatever for."""

    returned: set[Held] = field(default_factory=set)
    """The state whose value the function returned, as a number or the like."""

    diverged: dict[str, Diverged] = field(default_factory=dict)
    """The local names that stand for something else on replay."""

    replaced: dict[Held, Arms] = field(default_factory=dict)
    """The state that was set whole, whatever it had been, with the arms in which that was."""

    reset: set[Held] = field(default_factory=set)
    """That which was set so on every way through the function."""

    skippable: int = 0
    """How many parts of expressions are under way that may be skipped: ``ready or self.reset()``."""

    ended: bool = False
    """Whether the function may have returned before this point."""

    def mentioned(self, expr: ir.Expr | None) -> frozenset[Held]:
        """The state that the value of an expression is made of, its sizes apart."""
        if expr is None or not (self.met or self.origins):
            return frozenset()
        return frozenset(self._mentioned(expr))

    def _mentioned(self, expr: ir.Expr) -> Iterator[Held]:
        waiting = [expr]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ir.Attribute) and part.name in _SIZES:
                continue
            if isinstance(part, ir.Call) and isinstance(part.function, ir.Attribute):
                given = [argument.value for argument in part.arguments]
                if part.function.name in _OF_A_SIZE:
                    waiting += given[1:]
                    continue
                if part.function.name in _IN_THE_FORM_OF:
                    waiting.append(part.function.base)
                    continue
            if isinstance(part, ir.Name):
                yield from self.origins.get(part.id, ())
            yield from self.met.get(part.at, ())
            is_element = (
                isinstance(part, ir.Subscript) and part.at in self.met and key_of(part) != ANY_ELEMENT
            )
            waiting += part.indices if is_element and isinstance(part, ir.Subscript) else children(part)

    def choosing(self, expr: ir.Expr | None) -> frozenset[Held]:
        """The state that decides which of several things an expression stands for: ``layers[self.n]``."""
        match expr:
            case ir.Name(id=name):
                return self.chosen.get(name, frozenset())
            case ir.Subscript(base=base, indices=indices):
                keys = (index for index in indices if not isinstance(index, ir.Slice))
                return self.choosing(base).union(*map(self.mentioned, keys))
            case ir.Conditional(test=test, body=body, orelse=orelse):
                return self.weighed(test) | self.choosing(body) | self.choosing(orelse)
            case ir.Call(function=ir.Name(id="getattr"), arguments=[_, name, *_]):
                return self.mentioned(name.value)
            case ir.Call():
                return self.met.get(expr.at, frozenset())
            case _:
                return frozenset()

    def bind(self, name: str, expr: ir.Expr | None) -> None:
        """A local name is bound to the value of an expression."""
        self.diverged.pop(name, None)
        chosen = self.choosing(expr)
        self.chosen.pop(name, None)
        if chosen:
            self.chosen[name] = chosen
        early = self.unwritten(expr)
        self.early.pop(name, None)
        self.aliases.discard(name)
        if early:
            self.early[name] = early
            if isinstance(expr, _PLAIN):
                self.aliases.add(name)
        if self.met or self.origins:
            state, grown = self.mentioned(expr), frozenset(grown_in(self, expr))
            self.origins.pop(name, None)
            self.grown.pop(name, None)
            if state:
                is_decided = isinstance(expr, ir.Conditional) and bool(self.mentioned(expr.test))
                self.origins[name], self.bound[name] = state, tuple(self.arms[: -1 if is_decided else None])
            if grown:
                self.grown[name] = grown

    def narrow(self, name: str, held: Held) -> None:
        """A local name is bound to this state itself, one of those that a loop goes through."""
        if held in self.origins.get(name, ()):
            self.origins[name] = frozenset([held])

    def unwritten(self, expr: ir.Expr | None) -> frozenset[Held]:
        """The state that the value of an expression is made of as it was before anything wrote it."""
        state = self.mentioned(expr)
        if not state:
            return state
        assert expr is not None
        names = {part.id for part, _ in evaluated((expr,)) if isinstance(part, ir.Name)}
        found_now = self.written_now - self.left_now
        still = {one for one in state if one not in self.written or one in found_now}
        if isinstance(expr, _PLAIN):  # an alias sees it change
            still = {one for one in still if one[1]}
        return frozenset(still).union(*(self.early.get(name, ()) for name in names))

    def hand_back(self, state: Set[Held], expr: ir.Expr | None) -> None:
        """The function returns the value of an expression, which is made of this state."""
        self.returned |= state
        self.returned_late |= state - self.unwritten(expr)

    @contextmanager
    def inside(
        self,
        tested: frozenset[Held],
        body: Sequence[ir.Stmt],
        others: Sequence[ir.Stmt],
        finds: frozenset[Held] = frozenset(),
        *,
        asks: frozenset[int] | None = None,
        known: Set[str] = frozenset(),
    ) -> Iterator[Arm]:
        """An arm of an ``if`` on this state runs; where it does not, the others do.

        Not every run takes it where it is given what the condition ``asks``: the numbers of tensors.
        Before it the names are ``known``.
        """
        once = bool(tested) and any(_settles(one, tested) for one in run_through(body))
        redirects = bool(tested) and _redirects(body, known)
        arm = Arm(tested, once, bool(tested) and _computes(others), finds, asks, redirects)
        self.arms.append(arm)
        try:
            yield arm
        finally:
            self.arms.pop()

    @contextmanager
    def inside_expression(self) -> Iterator[None]:
        """A part of an expression runs that may be skipped."""
        self.skippable += 1
        try:
            yield
        finally:
            self.skippable -= 1

    def weighed(self, test: ir.Expr) -> frozenset[Held]:
        """The state whose contents a condition looks at: not only whether it is there."""
        match test:
            case ir.Comparison(operators=operators) if all(one in ("Is", "IsNot") for one in operators):
                return frozenset()
            case ir.Boolean(left=left, right=right):
                return self.weighed(left) | self.weighed(right)
            case ir.Unary(operand=operand):
                return self.weighed(operand)
            case _:
                return self.mentioned(test)

    def decided(
        self, tested: frozenset[Held], statement: ir.If, known: frozenset[str], *, left: bool
    ) -> bool:
        """A condition on this state decided what ran: whether the function went on, what names are.

        Whether it decided what is returned, or what a name is that was there before, or that both arms bind.
        """
        if left:
            self.passed |= tested
        one, other = map(_assigned, (statement.body, statement.orelse))
        ends = left and _computes((*statement.body, *statement.orelse))
        if ends:
            self.turned |= tested
        return bool(tested) and bool(ends or (one & other) | (known & (one | other)))

    def use(self, state: Iterable[Held], exprs: Iterable[ir.Expr] = ()) -> None:
        """Something is computed with this state, which these expressions stand for."""
        names = self._names_of_state(exprs)
        arms = max((tuple(self.arms), *(self.bound[name] for name in names)), key=len)
        for held in state:  # what is written is there on replay
            around = tuple(arm for arm in arms if held not in arm.finds)
            self.used.setdefault(held, set()).add(around)
            if not self.was_replaced(held):
                self.found.setdefault(held, set()).add(around)
        for held, _ in self.held_early(exprs):
            self.used_early.setdefault(held, set()).add(arms)

    def _names_of_state(self, exprs: Iterable[ir.Expr]) -> list[str]:
        found = (part.id for part, _ in evaluated(tuple(exprs)) if isinstance(part, ir.Name))
        return [name for name in found if name in self.origins]

    def held_early(
        self, exprs: Iterable[ir.Expr], outer: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Held, bool]]:
        """The state that local names in expressions hold as it was before the function wrote it.

        And whether a name is the state itself, which sees it change in place.
        """
        for name in self._names_of_state(exprs):
            if name not in outer:
                yield from ((held, name in self.aliases) for held in self.early.get(name, ()))

    def was_used(self, held: Held) -> bool:
        """Whether something was computed with a state as it was found, on every path that leads here."""
        arms = (around for one in concerned(held) for around in self.found.get(one, ()))
        return any(tuple(self.arms[: len(around)]) == around for around in arms)

    def is_read_by_key(self, held: Held) -> bool:
        """Whether something was computed with single elements of a container."""
        return any((held[0], held[1] + key) in self.found for key in (ANY_ELEMENT, SOME_ELEMENT))

    def write(self, held: Held) -> None:
        """This state is written."""
        if held not in self.written:
            self.written_now.add(held)
        self.written.setdefault(held, set()).add(tuple(self.arms))

    def replace(self, held: Held) -> None:
        """This state is set whole."""
        if self.skippable:
            return
        self.replaced.setdefault(held, tuple(self.arms))
        if not self.arms and not self.ended:
            self.reset.add(held)

    def copy(self, expr: ir.Expr | None, held: Held) -> None:
        """State is set to the value of an expression."""
        for one in self.unwritten(expr):
            if one != held:
                self.copied.setdefault(one, set()).add(held)

    def is_set_wherever_written(self, held: Held) -> bool:
        """Whether a state is set whole, before or after, wherever it is written."""
        around = self.replaced.get(held)
        writes = self.written.get(held, ())
        return around is not None and all(arms[: len(around)] == around for arms in writes)

    def is_computed_with(self, held: Held) -> bool:
        """Whether something is computed with a state wherever it is written."""
        return self._is_wherever_written(held, [self.used.get(one, ()) for one in concerned(held)])

    def is_computed_with_early(self, held: Held) -> bool:
        """Whether that is so of the state as it was before, kept in a name or in other state."""
        kept = (other for one in concerned(held) for other in self.copied.get(one, ()))
        uses = [self.used_early.get(one, ()) for one in concerned(held)]
        return self._is_wherever_written(held, [*uses, *(self.used.get(one, ()) for one in kept)])

    def _is_wherever_written(self, held: Held, uses: Iterable[Iterable[Arms]]) -> bool:
        return any(
            arms[: len(around)] == around
            for found in uses
            for around in found
            for arms in self.written.get(held, ())
        )

    def is_tested(self, held: Held) -> bool:
        """Whether a condition on this state decides whether the code under way runs."""
        tested = self.passed.union(*(arm.tested for arm in self.arms))
        return concerns(held, tested)

    def is_sure_of(self, held: Held) -> bool:
        """Whether no condition but those on this state itself decides whether the code under way runs."""
        return all(arm.asks is None or held[0] in arm.asks or concerns(held, arm.tested) for arm in self.arms)

    def is_turned_by(self, held: Held) -> bool:
        """Whether such a condition makes the code compute something else instead."""
        turned = self.turned.union(*(arm.tested for arm in self.arms if arm.instead))
        return concerns(held, turned)

    def redirects(self, held: Held) -> bool:
        """Whether it is decided by this state that something else is computed here."""
        return any(arm.redirects and concerns(held, arm.tested) for arm in self.arms)

    def was_replaced(self, held: Held) -> bool:
        """Whether the state was set whole before, wherever the code under way runs."""
        around = self.replaced.get(held)
        return around is not None and tuple(self.arms[: len(around)]) == around


def key_of(expr: ir.Subscript) -> str:
    """The path from a container to its element."""
    match expr.indices:
        case (ir.Const(value=key),):
            return f"[{key!r}]"
        case _:
            return ANY_ELEMENT


def element_of(node: ir.Node, held: Held) -> Held:
    """What a node writes of a container: the only element, if the source shows its key."""
    return held[0], held[1] + key_shown(node)


def key_shown(node: ir.Node) -> str:
    """The key that the source shows for an element of a container, "" where it shows none."""
    key = key_of(node) if isinstance(node, ir.Subscript) else ANY_ELEMENT
    return key if key != ANY_ELEMENT else ""


def concerned(held: Held) -> tuple[Held, ...]:
    """The state that is another one where this is written: itself, and what it is part of or has as parts."""
    number, path = held
    found = [path, path + ANY_ELEMENT, path + SOME_ELEMENT]
    if path.endswith("]"):
        around = path[: path.rindex("[")]
        found += [around, around + (SOME_ELEMENT if path.endswith(ANY_ELEMENT) else ANY_ELEMENT)]
    return tuple((number, one) for one in found)


def concerns(written: Held, found: Iterable[Held]) -> bool:
    """Whether any of this state is another one where that is written."""
    return not set(concerned(written)).isdisjoint(found)


def together(ways: Iterable[dict[str, frozenset[Held]]]) -> dict[str, frozenset[Held]]:
    """The state that names are made of where several ways meet."""
    met: dict[str, frozenset[Held]] = {}
    for origins in ways:
        for name, state in origins.items():
            met[name] = met.get(name, frozenset()) | state
    return met


def _assigned(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """The names that statements assign to."""
    assignments = (one for one in nested(body) if isinstance(one, (ir.Assign, ir.AugAssign)))
    return frozenset(name for one in assignments for name in bound_names(one))


def _redirects(block: Sequence[ir.Stmt], known: Set[str]) -> bool:
    """Whether a block computes something else for a name that was there before, or ends the function."""
    ends = any(isinstance(one, ir.Return) and one.value is not None for one in nested(block))
    return ends or (not known.isdisjoint(_assigned(block)) and _computes(block))


def _computes(block: Sequence[ir.Stmt]) -> bool:
    """Whether something new is computed for a local name or a result."""
    return any(
        isinstance(part, ir.Binary) or (isinstance(part, ir.Call) and not is_kept_by(part))
        for statement in nested(block)
        for part, _ in evaluated(_results(statement))
    )


def _results(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    """What a statement gives to a local name, or returns."""
    match statement:
        case ir.Return(value=ir.Expr() as value):
            return (value,)
        case ir.Assign(targets=targets, value=ir.Expr() as value) if any(map(_is_local, targets)):
            return (value,)
        case ir.AugAssign(target=ir.Name() as target, value=value):
            return (ir.Binary(statement.at, statement.operator, target, value),)
        case _:
            return ()


def _is_local(target: ir.Expr) -> bool:
    return isinstance(target, ir.Name) or (
        isinstance(target, ir.Display) and any(map(_is_local, target.items))
    )


def _settles(statement: ir.Stmt, tested: frozenset[Held]) -> bool:
    """Whether a statement sets the state that its arm runs for to a constant: it does not run again."""
    match statement:
        case ir.Assign(targets=targets, value=ir.Const()):
            pass
        case ir.Expression(
            value=ir.Call(
                function=ir.Attribute(base=base, name="fill_"), arguments=[ir.Argument(value=ir.Const())]
            )
        ):
            targets = (base,)
        case _:
            return False
    names = {getattr(target, "name", getattr(target, "id", "")) for target in targets}
    return any(path.rpartition(".")[2] in names for _, path in tested)


def run_through(block: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a block that run wherever it does, those of its ``with`` too."""
    for statement in block:
        yield statement
        if isinstance(statement, ir.With):
            yield from run_through(statement.body)


def advances(watch: Watch, expr: ir.Expr, held: Held) -> bool:
    """Whether the value of an expression moves on with the state, which it is to replace."""
    match expr:
        case ir.Name(id=name):
            return concerns(held, watch.origins.get(name, ()))
        case ir.Attribute() | ir.Call(function=ir.Name(id="getattr")):
            return False
        case ir.Call(function=ir.Attribute(base=base)) if is_kept_by(expr):
            return advances(watch, base, held)
        case ir.Call(function=ir.Name(id="max" | "min"), arguments=arguments):
            return any(advances(watch, argument.value, held) for argument in arguments)
        case ir.Boolean(left=left, right=right):
            return advances(watch, left, held) or advances(watch, right, held)
        case ir.Conditional(body=body, orelse=orelse):
            return advances(watch, body, held) or advances(watch, orelse, held)
        case ir.Display(items=items):
            return any(advances(watch, item, held) for item in items)
        case _:
            return concerns(held, watch.mentioned(expr))


def grown_in(watch: Watch, expr: ir.Expr | None) -> Iterator[Held]:
    """The state that operators, sums and lengths in an expression, or behind its names, made something of."""
    for part, _ in evaluated((expr,) if expr is not None else ()):
        match part:
            case ir.Binary(left=left, right=right):
                yield from watch.mentioned(left) | watch.mentioned(right)
            case ir.Call(function=ir.Name(id="len" | "sum"), arguments=[argument, *_]):
                yield from watch.mentioned(argument.value)
            case ir.Name(id=name):
                yield from watch.grown.get(name, ())
            case _:
                continue


def is_kept_by(call: ir.Call) -> bool:
    """Whether a method gives back what it is called on, at most in another form."""
    return isinstance(call.function, ir.Attribute) and call.function.name in _KEEPING


_KEEPING = frozenset(
    [
        "to",
        "cpu",
        "cuda",
        "half",
        "float",
        "double",
        "bfloat16",
        "type",
        "type_as",
        "contiguous",
        "detach",
        "clone",
        "copy",
        "requires_grad_",
        "eval",
        "train",
        "clamp",
        "get",
    ]
)
"""Methods whose result, put in the place of what they are called on, changes nothing the second time."""


_CHANGING = (
    ADVANCING
    | STORING
    | frozenset(["setattr", "__setattr__", "__setitem__", "__delitem__", "__iadd__", "setitem", "delitem"])
    | frozenset(["iadd", "iconcat", "heappush", "heappop", "heapreplace", "heappushpop"])
    | frozenset(["insort", "insort_left", "insort_right"])
)
"""The last names of methods and functions that change what they are called on, or handed first."""


# --- what code changes, by name --------------------------------------------------------


def changed_names(source: SourceFile) -> frozenset[str]:
    """The attributes, globals and containers that functions of a file change, by their last names."""
    changed: set[str] = set()
    for function in source.lowered.functions:
        if function.name != "__init__":
            outer = function.globals | function.nonlocals
            statements = list(nested(function.body))
            found = {name for statement in statements for name in _changed_by(statement, outer)}
            for statement in reversed(statements):
                found.update(_behind(statement, found))
            changed |= found
            if any(map(_sets_what_it_is_handed, statements)):
                changed |= _keywords(source)
    if not changed.isdisjoint(TENSORS_OF_MODULES):
        changed |= _registered(source) | WEIGHTS
    return frozenset(changed)


def _sets_what_it_is_handed(statement: ir.Stmt) -> bool:
    """Whether a statement sets attributes under names that it does not show: of ``**changes``, mostly."""
    match statement:
        case ir.Expression(
            value=ir.Call(function=ir.Name(id="setattr"), arguments=[_, ir.Argument(value=name), *_])
        ):
            return not isinstance(name, ir.Const)
        case ir.Expression(value=ir.Call(function=ir.Attribute(base=base, name="update"))):
            return _is_all_attributes(base)
        case _:
            return False


def _is_all_attributes(expr: ir.Expr) -> bool:
    """``config.__dict__``, ``vars(config)``."""
    match expr:
        case ir.Attribute(name="__dict__") | ir.Call(function=ir.Name(id="vars")):
            return True
        case _:
            return False


def _keywords(source: SourceFile) -> frozenset[str]:
    """The keywords of calls in the functions of a file."""
    statements = (one for function in source.lowered.functions for one in nested(function.body))
    return frozenset(
        argument.keyword
        for statement in statements
        for expr in (*header(statement), *_managers(statement))
        for part, _ in evaluated((expr,))
        if isinstance(part, ir.Call)
        for argument in part.arguments
        if argument.keyword
    )


def _managers(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    return tuple(context for context, _ in statement.items) if isinstance(statement, ir.With) else ()


def _registered(source: SourceFile) -> frozenset[str]:
    """The attributes that constructors set, and the buffers that they register."""
    constructors = (one for one in source.lowered.functions if one.name == "__init__")
    found: set[str] = set()
    for statement in (one for constructor in constructors for one in nested(constructor.body)):
        match statement:
            case ir.Assign(targets=targets):
                found.update(target.name for target in targets if isinstance(target, ir.Attribute))
            case ir.Expression(value=ir.Call(arguments=[ir.Argument(value=ir.Const(value=str(name))), *_])):
                found.add(name)
            case _:
                continue
    return frozenset(found)


def _names_in(target: ir.Expr) -> frozenset[str]:
    return frozenset(part.id for part, _ in evaluated((target,)) if isinstance(part, ir.Name))


def _behind(statement: ir.Stmt, changed: Set[str]) -> Iterator[str]:
    """What a local name that is changed was made of: ``t = self.t.float()``, ``for m in self.mem``."""
    match statement:
        case ir.Assign(targets=targets, value=ir.Expr() as value):
            if any(isinstance(target, ir.Name) and target.id in changed for target in targets):
                yield from _last_name(value)
        case ir.For(iterable=iterable) if not changed.isdisjoint(bound_names(statement)):
            yield from _last_name(iterable)
        case _:
            pass
    for part, _ in evaluated(header(statement)):
        if isinstance(part, ir.Comprehension):
            for clause in part.clauses:
                if not changed.isdisjoint(_names_in(clause.target)):
                    yield from _last_name(clause.iterable)


def _changed_by(statement: ir.Stmt, outer: frozenset[str]) -> Iterator[str]:
    match statement:
        case ir.Assign(targets=targets) | ir.Delete(targets=targets):
            for target in targets:
                yield from _names_changed(target, outer)
        case ir.AugAssign(target=target):
            yield from _last_name(target)
        case ir.Expression(value=ir.Call(arguments=arguments)):  # whose result nobody wants
            for argument in arguments:
                yield from _last_name(argument.value)
        case _:
            pass
    for part, _ in evaluated(header(statement)):
        if isinstance(part, ir.Call):
            yield from _changed_by_call(part)


def _changed_by_call(call: ir.Call) -> Iterator[str]:
    """What a call changes if its last name says what it does: what it is called on, or is handed first."""
    function, arguments = call.function, call.arguments
    name = function.name if isinstance(function, ir.Attribute) else getattr(function, "id", "")
    if name not in _CHANGING and not name.endswith("_"):
        return
    if isinstance(function, ir.Attribute):
        yield from _last_name(function.base)
    if arguments:
        yield from _last_name(arguments[0].value)
    for argument in arguments:
        yield from (argument.keyword,) if argument.keyword else ()
        if isinstance(argument.value, ir.Const) and isinstance(argument.value.value, str):
            yield argument.value.value


def _names_changed(target: ir.Expr, outer: frozenset[str]) -> Iterator[str]:
    match target:
        case ir.Display(items=items):
            for item in items:
                yield from _names_changed(item, outer)
        case ir.Name(id=name) if name not in outer:
            return
        case _:
            yield from _last_name(target)


def _last_name(target: ir.Expr) -> Iterator[str]:
    match target:
        case ir.Name(id=name) | ir.Attribute(name=name):
            yield name
            if name == "data" and isinstance(target, ir.Attribute):
                yield from _last_name(target.base)
        case ir.Subscript(base=base, indices=indices):
            yield from _last_name(base)
            yield from (
                one.value for one in indices if isinstance(one, ir.Const) and isinstance(one.value, str)
            )
        case ir.Call(function=ir.Attribute(base=base, name=name)):
            yield from _last_name(base)
            if name in TENSORS_OF_MODULES:
                yield name
        case ir.Call(function=ir.Name(id=name), arguments=arguments):
            if name == "getattr" and len(arguments) > 1 and not isinstance(arguments[1].value, ir.Const):
                yield "buffers"  # any of them
            for argument in arguments:
                yield from _last_name(argument.value)
                if isinstance(argument.value, ir.Const) and isinstance(argument.value.value, str):
                    yield argument.value.value
        case ir.Display(items=items):
            for item in items:
                yield from _last_name(item)
        case _:
            return
