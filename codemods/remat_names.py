"""How a file calls a function of torch_remat: the way it imports that already, or else by a new import.

Preferred is an import that names the function, then one of the module, then a ``from`` import that the
function can be added to. An import counts where it has run and nothing nearer hides its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from remat_lint.codemods.commas import Space, separator_like, shared
from remat_lint.codemods.scopes import Path, bound_names, runs_before, scopes

PACKAGE = "torch_remat"


@dataclass(frozen=True)
class _Import:
    """A way to the function: ``bound`` is the name that must not be hidden, ``call`` what is written."""

    rank: int
    node: cst.Import | cst.ImportFrom
    bound: str
    call: str


@dataclass
class RematNames:
    """What is called at each statement, and what the imports need for it."""

    function: str

    calls: dict[cst.CSTNode, str] = field(default_factory=dict)
    extended: set[cst.CSTNode] = field(default_factory=set)
    added: str | None = None
    known: set[str] = field(default_factory=set)
    """The plain names that the file has for the function."""


def name_calls(
    statements: Collection[cst.CSTNode], paths: Mapping[cst.CSTNode, Path], function: str
) -> RematNames:
    """Decides it for all statements that get a call; ``paths`` holds them and all imports."""
    ways = [way for node in paths for way in _ways(node, function)]
    ways.sort(key=lambda way: way.rank)
    names = RematNames(function, known={way.bound for way in ways if way.call == way.bound} | {function})
    bound = _BoundNames()
    without: list[cst.CSTNode] = []
    for statement in statements:
        found = next((way for way in ways if bound.is_open(way, statement, paths)), None)
        if found is None:
            without.append(statement)
            continue
        names.calls[statement] = found.call
        if found.rank == _TO_EXTEND:
            names.extended.add(found.node)
    if without:
        alias = bound.free_alias([paths[statement] for statement in without])
        names.added = f"import {PACKAGE}" + f" as {alias}" * (alias != PACKAGE)
        names.calls |= dict.fromkeys(without, f"{alias}.{function}")
    return names


_TO_EXTEND = 2


def _ways(node: cst.CSTNode, function: str) -> Iterator[_Import]:
    if isinstance(node, cst.Import):
        for alias in node.names:
            module = dotted(alias.name)
            if module == PACKAGE or (alias.asname is None and module.startswith(f"{PACKAGE}.")):
                name = dotted(alias.asname.name) if alias.asname else PACKAGE
                yield _Import(1, node, name, f"{name}.{function}")
    elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
        if node.relative or dotted(node.module) != PACKAGE:
            return
        named = [alias for alias in node.names if dotted(alias.name) == function]
        for alias in named:
            name = dotted(alias.asname.name) if alias.asname else function
            yield _Import(0, node, name, name)
        if not named:
            yield _Import(_TO_EXTEND, node, function, function)


class _BoundNames:
    """The names of scopes, each looked up once."""

    def __init__(self) -> None:
        self._found: dict[cst.CSTNode, set[str]] = {}

    def of(self, scope: cst.CSTNode) -> set[str]:
        if scope not in self._found:
            self._found[scope] = bound_names(scope)
        return self._found[scope]

    def is_open(self, way: _Import, statement: cst.CSTNode, paths: Mapping[cst.CSTNode, Path]) -> bool:
        """Whether the import's name means the import at the statement."""
        home = scopes(paths[way.node])[0]
        around = scopes(paths[statement])
        if home not in around:
            return False
        nearer = around[: around.index(home) + (way.rank == _TO_EXTEND)]
        if any(way.bound in self.of(scope) for scope in nearer):
            return False
        return runs_before((*paths[way.node], way.node), (*paths[statement], statement))

    def free_alias(self, paths: Sequence[Path]) -> str:
        taken = set().union(*(self.of(scope) for path in paths for scope in scopes(path)))
        wished = ("remat", PACKAGE, *(f"remat_{number}" for number in range(2, len(taken) + 4)))
        return next(name for name in wished if name not in taken)


def dotted(node: cst.CSTNode | None) -> str:
    """``a.b.c`` as text; empty for anything else."""
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


# --- the imports


def with_function(node: cst.ImportFrom, function: str) -> cst.ImportFrom:
    """The ``from`` import with the function added, in its sorted place where the names are sorted."""
    assert not isinstance(node.names, cst.ImportStar)
    aliases = list(node.names)
    place = _sorted_place([dotted(alias.name) for alias in aliases], function)
    separator = separator_like(_separator(node))
    added = cst.ImportAlias(cst.Name(function))
    if place < len(aliases):
        aliases.insert(place, added.with_changes(comma=cst.Comma(whitespace_after=separator)))
        return node.with_changes(names=aliases)
    last = aliases.pop()
    if isinstance(last.comma, cst.Comma):
        separator, ending = shared(separator, last.comma.whitespace_after)
        added = added.with_changes(comma=last.comma.with_changes(whitespace_after=ending))
    elif node.rpar is not None:
        separator, ending = shared(separator, node.rpar.whitespace_before)
        node = node.with_changes(rpar=node.rpar.with_changes(whitespace_before=ending))
    aliases += [last.with_changes(comma=cst.Comma(whitespace_after=separator)), added]
    return node.with_changes(names=aliases)


def _sorted_place(names: Sequence[str], function: str) -> int:
    """Where the function goes among names; at their end where these follow no order."""
    for key in (str, str.lower):
        if list(names) == sorted(names, key=key):
            return sum(key(name) < key(function) for name in names)
    return len(names)


def _separator(node: cst.ImportFrom) -> Space | None:
    """The white space that stands between two names of the import, or would."""
    assert not isinstance(node.names, cst.ImportStar)
    first = node.names[0].comma
    if len(node.names) > 1 and isinstance(first, cst.Comma):
        return first.whitespace_after
    opening = node.lpar.whitespace_after if node.lpar is not None else None
    return opening if isinstance(opening, cst.ParenthesizedWhitespace) else None


def with_import(body: Sequence[cst.CSTNode], line: str) -> list[cst.CSTNode]:
    """A module's body with one more import, beside those of torch where there are any."""
    new = cst.ensure_type(cst.parse_statement(line), cst.SimpleStatementLine)
    imports = list(_imports(body))
    straight = [i for i, node in imports if isinstance(node, cst.Import) and "torch" in _packages(node)]
    others = [i for i, node in imports if "torch" in _packages(node)]
    if not straight and others:
        below = cst.ensure_type(body[others[0]], cst.SimpleStatementLine)
        lines = [new.with_changes(leading_lines=below.leading_lines), below.with_changes(leading_lines=())]
        return [*body[: others[0]], *lines, *body[others[0] + 1 :]]
    place = straight[-1] + 1 if straight else imports[-1][0] + 1 if imports else _has_docstring(body)
    if place and not imports:
        new = new.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return [*body[:place], new, *body[place:]]


def _imports(body: Sequence[cst.CSTNode]) -> Iterator[tuple[int, cst.Import | cst.ImportFrom]]:
    """The imports at the top of a module, with their indices in its body."""
    for index, statement in enumerate(body):
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return
        for node in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(node, (cst.Import, cst.ImportFrom)):
                yield index, node


def _packages(node: cst.Import | cst.ImportFrom) -> set[str]:
    """The top packages that an import reads from; none for a relative one."""
    if isinstance(node, cst.Import):
        return {dotted(alias.name).partition(".")[0] for alias in node.names}
    return set() if node.relative else {dotted(node.module).partition(".")[0]}


def _has_docstring(body: Sequence[cst.CSTNode]) -> bool:
    first = body[0].body[0] if body and isinstance(body[0], cst.SimpleStatementLine) else None
    return isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString))
