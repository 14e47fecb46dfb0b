"""Decides what goes where, before anything is changed: statements that markers precede, calls and new names.

Edits of one statement become one insertion. An edit that cannot be made is left out here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from remat_lint.codemods.hoisting import in_evaluation_order
from remat_lint.codemods.marker_call import MARKER, Change
from remat_lint.codemods.remat_names import RematNames, name_calls
from remat_lint.codemods.scopes import Path, Paths, UsedNames, bound_in_header, outermost_function
from remat_lint.findings import EditMarker, InsertMarker, MarkerEdit, MarkTarget, MoveMarker
from remat_lint.source import SourceFile


@dataclass
class Insertion:
    """What goes before one statement: calls that get a name, in evaluation order, then the marker."""

    arguments: list[str]
    hoists: dict[cst.Call, str] = field(default_factory=dict)
    indentation: dict[cst.CSTNode, str] = field(default_factory=dict)
    function: str = ""


@dataclass
class Plan:
    """All insertions of a file by the statement that they precede, and what its imports need.

    ``changes`` are those of markers that are there; the ones in ``removed`` lose all their arguments.
    ``around`` are the nodes on the way to a change: nothing else has to be looked at.
    """

    insertions: dict[cst.CSTNode, Insertion]
    names: RematNames
    changes: dict[cst.CSTNode, Change]
    removed: set[cst.CSTNode]
    around: set[cst.CSTNode]


def plan(source: SourceFile, edits: Sequence[MarkerEdit]) -> Plan:
    """What has to be written for the edits that can be made."""
    wanted = {source.nodes[index] for edit in edits for index in _statements(edit)}
    paths = Paths(wanted)
    source.tree.visit(paths)
    found = paths.found
    grouped: dict[cst.CSTNode, list[InsertMarker]] = {}
    changes: dict[cst.CSTNode, Change] = {}
    for edit in sorted(edits, key=_statements):
        wish, removal = _parts(edit)
        if wish is not None:
            anchor = _anchor(source.nodes[wish.before], found)
            if not _is_possible(source, wish, anchor):
                continue
            grouped.setdefault(anchor, []).append(wish)
        if removal is not None:
            change = changes.setdefault(source.nodes[removal.statement], Change())
            change.drop.update(removal.drop)
            change.replace.update(removal.replace)
    namer = _Namer(source.tree)
    insertions = {
        anchor: _insertion(source, anchor, group, found[anchor], namer) for anchor, group in grouped.items()
    }
    names = name_calls(insertions, found, MARKER)
    for anchor, insertion in insertions.items():
        insertion.function = names.calls[anchor]
    changed = [found[node] for node in (*insertions, *names.extended, *changes)]
    removed = {node for node, change in changes.items() if _loses_all(node, change)}
    return Plan(insertions, names, changes, removed, {source.tree}.union(*changed, changes))


def _parts(edit: MarkerEdit) -> tuple[InsertMarker | None, EditMarker | None]:
    """What an edit writes, and what it takes out."""
    match edit:
        case InsertMarker():
            return edit, None
        case EditMarker():
            return None, edit
        case MoveMarker(insertion=insertion, removal=removal):
            return insertion, removal


def _statements(edit: MarkerEdit) -> tuple[int, ...]:
    """The statements that an edit concerns, where it writes first."""
    insertion, removal = _parts(edit)
    before = (insertion.before,) if insertion is not None else ()
    return (*before, removal.statement) if removal is not None else before


def _loses_all(statement: cst.CSTNode, change: Change) -> bool:
    call = cst.ensure_type(cst.ensure_type(statement, cst.Expr).value, cst.Call)
    return len(change.drop) == len(call.args)


def _anchor(statement: cst.CSTNode, paths: dict[cst.CSTNode, Path]) -> cst.CSTNode:
    """The statement that the marker precedes: before an ``elif`` there is no room but above its ``if``."""
    path = paths[statement]
    while isinstance(path[-1], cst.If) and path[-1].orelse is statement:
        *rest, statement = path
        path = paths[statement] = tuple(rest)
    return statement


def _is_possible(source: SourceFile, edit: InsertMarker, anchor: cst.CSTNode) -> bool:
    hoists = [source.nodes[target.hoist] for target in edit.targets if target.hoist is not None]
    if hoists and (anchor is not source.nodes[edit.before] or isinstance(anchor, cst.While)):
        return False
    if not all(isinstance(node, cst.Call) for node in hoists):
        return False
    names = {name for target in edit.targets if target.hoist is None for name in _words(target.expression)}
    return bool(edit.targets) and not names & bound_in_header(anchor)


def _words(expression: str) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", expression))


def _insertion(
    source: SourceFile, anchor: cst.CSTNode, edits: Sequence[InsertMarker], path: Path, namer: _Namer
) -> Insertion:
    targets = [target for edit in edits for target in edit.targets]
    wished = {source.nodes[t.hoist]: t.expression.lstrip("*") for t in targets if t.hoist is not None}
    order, indentation = in_evaluation_order(anchor, wished)
    hoists = {call: namer.unused(wished[call], path) for call in order}
    arguments = [
        t.expression
        if t.hoist is None
        else _star(t) + hoists[cst.ensure_type(source.nodes[t.hoist], cst.Call)]
        for t in targets
    ]
    return Insertion(list(dict.fromkeys(arguments)), hoists, indentation)


def _star(target: MarkTarget) -> str:
    """``*`` where the hoisted call gives several outputs."""
    return "*" if target.expression.startswith("*") else ""


class _Namer:
    """Gives names that nothing in the function, and nothing in the module around it, is called by."""

    def __init__(self, tree: cst.Module) -> None:
        self._tree = tree
        self._used: dict[cst.CSTNode, set[str]] = {}

    def unused(self, wished: str, path: Path) -> str:
        function = outermost_function(path)
        used = self._names(self._tree) | self._names(function)
        name, number = wished, 1
        while name in used:
            number += 1
            name = f"{wished}_{number}"
        self._used[function].add(name)
        return name

    def _names(self, scope: cst.CSTNode) -> set[str]:
        if scope not in self._used:
            visitor = UsedNames(inside_functions=scope is not self._tree)
            scope.visit(visitor)
            self._used[scope] = visitor.names
        return self._used[scope]
