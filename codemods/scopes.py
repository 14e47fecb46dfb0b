"""Where a statement stands, and which names are bound around it.

Only what the codemods ask: LibCST's scope provider answers more, at three times the cost of a parse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

import libcst as cst

Path = tuple[cst.CSTNode, ...]
"""The nodes around a statement, the module first."""

_BLOCKS = (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine)


class Paths(cst.CSTVisitor):
    """Finds the paths of the wanted statements and of every import."""

    def __init__(self, wanted: Collection[cst.CSTNode]) -> None:
        super().__init__()
        self.found: dict[cst.CSTNode, Path] = {}
        self._wanted = wanted
        self._around: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if node in self._wanted or isinstance(node, (cst.Import, cst.ImportFrom)):
            self.found[node] = tuple(self._around)
        self._around.append(node)
        return not isinstance(node, (cst.BaseExpression, cst.BaseSmallStatement))

    def on_leave(self, original_node: cst.CSTNode) -> None:  # noqa: ARG002
        self._around.pop()


def scopes(path: Path) -> list[cst.CSTNode]:
    """The scopes in which a name at this place is looked up, innermost first."""
    around = [n for n in reversed(path) if isinstance(n, (cst.FunctionDef, cst.ClassDef, cst.Module))]
    return [scope for scope in around if scope is around[0] or not isinstance(scope, cst.ClassDef)]


def outermost_function(path: Path) -> cst.CSTNode:
    """The function that holds the place and all its names; the module where there is none."""
    return next((node for node in path if isinstance(node, cst.FunctionDef)), path[0])


def runs_before(first: Path, second: Path) -> bool:
    """Whether the statement that ends one path has run whenever the one that ends the other is reached.

    A function is taken to be called after its module was loaded.
    """
    if any(_is_type_checking(node) and node.body is after for node, after in _ifs(first)):
        return False
    if isinstance(scopes(first)[0], cst.Module) and any(isinstance(n, cst.FunctionDef) for n in second):
        return True
    for index in range(len(first) - 2, -1, -1):
        block = first[index]
        if not isinstance(block, _BLOCKS):
            continue
        if block in second:
            return _position(block, first) < _position(block, second)
        owner = first[index - 1]
        if not isinstance(block, cst.SimpleStatementLine) and not (
            isinstance(owner, (cst.Try, cst.With)) and owner.body is block
        ):
            return False
    return False


def _ifs(path: Path) -> Iterator[tuple[cst.If, cst.CSTNode]]:
    for node, after in pairwise(path):
        if isinstance(node, cst.If):
            yield node, after


def _is_type_checking(node: cst.If) -> bool:
    test = node.test
    name = test.attr if isinstance(test, cst.Attribute) else test
    return isinstance(name, cst.Name) and name.value == "TYPE_CHECKING"


def _position(
    block: cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine, path: Path
) -> int:
    inside = path[path.index(block) + 1]
    return next(index for index, node in enumerate(block.body) if node is inside)


# --- names


def bound_names(scope: cst.CSTNode) -> set[str]:
    """The names that a module, class or function binds itself, its parameters included."""
    if isinstance(scope, cst.FunctionDef):
        return bound_by((scope.params, scope.body))
    return bound_by((scope.body,) if isinstance(scope, cst.ClassDef) else (scope,))


def bound_by(nodes: Iterable[cst.CSTNode]) -> set[str]:
    """The names that statements bind."""
    visitor = _Bindings(only_header=False)
    for node in nodes:
        node.visit(visitor)
    return visitor.names


def bound_in_header(statement: cst.CSTNode) -> set[str]:
    """The names bound while a statement evaluates its own expressions: no assignments, no suites inside."""
    visitor = _Bindings(only_header=True)
    statement.visit(visitor)
    return visitor.names


class _Bindings(cst.CSTVisitor):
    def __init__(self, *, only_header: bool) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._only_header = only_header

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, _SUITES) and self._only_header:
            return False
        if isinstance(node, cst.If) and _is_type_checking(node):
            if node.orelse is not None:
                node.orelse.visit(self)
            return False
        self.names.update(_names_in(_bound_during(node)))
        if not self._only_header:
            self.names.update(_names_in(_bound_after(node)))
        return not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda))


_SUITES = (cst.IndentedBlock, cst.SimpleStatementSuite)


def _bound_during(node: cst.CSTNode) -> cst.CSTNode | None:
    """What a part of a statement binds before the statement is done with its expressions."""
    match node:
        case cst.AsName(name=target) | cst.MatchAs(name=target) | cst.MatchStar(name=target):
            return target
        case cst.NamedExpr(target=target) | cst.MatchMapping(rest=target):
            return target
    return None


def _bound_after(node: cst.CSTNode) -> cst.CSTNode | None:
    """What a statement binds when it is done with them."""
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            return target
        case cst.For(target=target) | cst.Del(target=target):
            return target
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name) | cst.Param(name=name):
            return name
        case cst.ImportAlias(name=module, asname=None):
            top: cst.BaseExpression = module
            while isinstance(top, cst.Attribute):
                top = top.value
            return top
    return None


def _names_in(target: cst.CSTNode | None) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _names_in(element.value)


class UsedNames(cst.CSTVisitor):
    """All names that code mentions, bound or not: what a new name must differ from."""

    def __init__(self, *, inside_functions: bool) -> None:
        super().__init__()
        self.names: set[str] = set()
        self._inside_functions = inside_functions

    def on_visit(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Name(value=name):
                self.names.add(name)
            case cst.Attribute(value=inner) | cst.Arg(value=inner):
                inner.visit(self)
                return False
            case cst.FunctionDef(name=defined):
                self.names.add(defined.value)
                return self._inside_functions
        return True
