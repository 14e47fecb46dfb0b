"""The intermediate form that the interpreter runs: Python's statements and expressions, nothing else.

Comments, white space and parentheses are gone, ``elif`` is an ``if`` in the ``orelse``, and every
node knows its index ``at`` in the analyser's walk, from which the LibCST node is found again.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """Anything with a place in the source."""

    at: int


# --- expressions -----------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Expr(Node):
    """An expression."""


@dataclass(slots=True, eq=False)
class Name(Expr):
    id: str


@dataclass(slots=True, eq=False)
class Const(Expr):
    """A literal number, string, bytes, ``None``, ``True``, ``False`` or ``...``."""

    value: object


@dataclass(slots=True, eq=False)
class Format(Expr):
    """An f-string: the values it formats, and its text with ``{}`` for each of them.

    It ``is_plain`` where it writes each value as ``str`` does.
    """

    values: tuple[Expr, ...]
    template: str
    is_plain: bool = True


@dataclass(slots=True, eq=False)
class Attribute(Expr):
    base: Expr
    name: str


@dataclass(slots=True, eq=False)
class Argument:
    """One argument of a call; ``star`` is ``""``, ``"*"`` or ``"**"``."""

    value: Expr
    keyword: str | None = None
    star: str = ""


@dataclass(slots=True, eq=False)
class Call(Expr):
    function: Expr
    arguments: tuple[Argument, ...]

    @property
    def receiver(self) -> Expr | None:
        """What a method is called on."""
        return self.function.base if isinstance(self.function, Attribute) else None

    @property
    def method(self) -> str:
        """The name of the method that is called; "" where it is none."""
        return self.function.name if isinstance(self.function, Attribute) else ""


@dataclass(slots=True, eq=False)
class Subscript(Expr):
    base: Expr
    indices: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Unary(Expr):
    operator: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary(Expr):
    operator: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Comparison(Expr):
    left: Expr
    operators: tuple[str, ...]
    rights: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Boolean(Expr):
    """``left and right`` or ``left or right``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Conditional(Expr):
    """``body if test else orelse``."""

    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Starred(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Display(Expr):
    """A tuple, list or set display; ``kind`` is one of these words."""

    kind: str
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class DictDisplay(Expr):
    """A dict display; a key of ``None`` stands for ``**value``."""

    items: tuple[tuple[Expr | None, Expr], ...]


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    function: Function


@dataclass(slots=True, eq=False)
class Clause:
    """One ``for target in iterable if ...`` of a comprehension."""

    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """``kind`` is list, set, dict or generator; ``key`` is given for a dict only."""

    kind: str
    key: Expr | None
    element: Expr
    clauses: tuple[Clause, ...]


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    target: Name
    value: Expr


@dataclass(slots=True, eq=False)
class Await(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None


# --- functions and classes -------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Parameter:
    """``kind`` is positional, keyword, ``*`` or ``**``."""

    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None


@dataclass(slots=True, eq=False)
class Function(Node):
    """A ``def`` or, named ``<lambda>``, a lambda whose body is one ``return``."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...] = ()
    returns: Expr | None = None
    is_generator: bool = False
    nonlocals: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()

    @property
    def is_lambda(self) -> bool:
        return self.name == "<lambda>"

    @property
    def is_left_to_subclasses(self) -> bool:
        """Whether nothing stands in the body but ``raise NotImplementedError`` or ``...``."""
        match [one for one in self.body if not _is_docstring(one)]:
            case [Expression(value=Const(value=what))]:
                return what is ...
            case [Raise(values=(Name(id=name) | Call(function=Name(id=name)), *_))]:
                return name == "NotImplementedError"
            case _:
                return False


@dataclass(slots=True, eq=False)
class Class(Node):
    name: str
    bases: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...] = ()


# --- statements ------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Stmt(Node):
    """A statement."""


@dataclass(slots=True, eq=False)
class Expression(Stmt):
    value: Expr


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    target: Expr
    operator: str
    value: Expr


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    message: Expr | None


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Jump(Stmt):
    """``break``, ``continue`` or ``pass``."""

    kind: str


@dataclass(slots=True, eq=False)
class Import(Stmt):
    """``import a.b as c`` and ``from a import b as c``, one binding each.

    ``bindings`` are (module, attribute or None, bound name); the attribute ``*`` is a star
    import. ``level`` counts the leading dots of a relative import.
    """

    level: int
    bindings: tuple[tuple[str, str | None, str], ...]


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    is_elif: bool = False


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iterable: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Handler:
    types: tuple[Expr, ...]
    name: str | None
    body: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    final: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class With(Stmt):
    items: tuple[tuple[Expr, Expr | None], ...]
    body: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Pattern:
    """What a ``case`` binds: a name to the whole, and patterns to parts of it.

    ``items`` are the parts of a sequence, ``starred`` the position of the one with a ``*``;
    ``attributes`` belong to a class pattern (by position where the name is None), ``keys`` to a mapping.
    ``others`` are what it consists of, or chooses from; ``constant`` is what the whole is compared with, in a
    tuple.
    """

    name: str | None = None
    items: tuple[Pattern, ...] | None = None
    starred: int | None = None
    attributes: tuple[tuple[str | None, Pattern], ...] = ()
    keys: tuple[tuple[object, Pattern], ...] = ()
    others: tuple[Pattern, ...] = ()
    constant: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class Case:
    """One ``case``: its pattern, whether it matches anything, its guard and body."""

    pattern: Pattern
    always: bool
    guard: Expr | None
    body: tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Match(Stmt):
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(slots=True, eq=False)
class FunctionDef(Stmt):
    function: Function


@dataclass(slots=True, eq=False)
class ClassDef(Stmt):
    klass: Class


@dataclass(slots=True, eq=False)
class Module:
    """A whole file: its statements, and every function in it, nested ones and lambdas included."""

    body: tuple[Stmt, ...]
    functions: tuple[Function, ...] = field(default=())


def _is_docstring(statement: Stmt) -> bool:
    return (
        isinstance(statement, Expression)
        and isinstance(statement.value, Const)
        and isinstance(statement.value.value, str)
    )
