"""The marker as a statement: recognised, written, and given more arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import libcst as cst

from remat_lint.codemods.commas import Space, separator_like, shared

MARKER = "recompute_needs_tensor"


@dataclass
class Change:
    """What becomes of the arguments of a marker, by position."""

    drop: set[int] = field(default_factory=set)
    replace: dict[int, str] = field(default_factory=dict)


def marker_in(statement: cst.CSTNode, names: Collection[str]) -> cst.Call | None:
    """The call, where a small statement is nothing but a marker. ``names`` are the plain names for it."""
    call = statement.value if isinstance(statement, cst.Expr) else None
    if not isinstance(call, cst.Call) or any(arg.keyword or arg.star == "**" for arg in call.args):
        return None
    function = call.func
    if isinstance(function, cst.Attribute):
        return call if function.attr.value == MARKER else None
    return call if isinstance(function, cst.Name) and function.value in names else None


def written(function: str, arguments: Sequence[str], config: cst.PartialParserConfig) -> cst.Expr:
    """A new marker."""
    return cst.Expr(cst.parse_expression(f"{function}({', '.join(arguments)})", config))


def extended(
    statement: cst.Expr, call: cst.Call, arguments: Sequence[str], config: cst.PartialParserConfig
) -> cst.Expr:
    """The marker with the arguments added that it lacks, laid out as its last ones are."""
    module = cst.Module([])
    have = {
        module.code_for_node(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip() for arg in call.args
    }
    args = list(call.args)
    for text in arguments:
        if text not in have:
            new = cst.ensure_type(cst.parse_expression(f"f({text})", config), cst.Call).args[0]
            args = _appended(args, new, call.whitespace_before_args)
    return statement.with_changes(value=call.with_changes(args=args))


def reduced(call: cst.Call, change: Change, config: cst.PartialParserConfig) -> cst.Call:
    """The marker with some arguments dropped and others replaced, the ends of its list laid out as before."""
    args: list[cst.Arg] = []
    for index, arg in enumerate(call.args):
        if index in change.replace:
            new = cst.ensure_type(cst.parse_expression(f"f({change.replace[index]})", config), cst.Call).args
            args += [
                *new[:-1],
                new[-1].with_changes(comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg),
            ]
        elif index not in change.drop:
            args.append(arg)
    last = call.args[-1]
    ending = {"comma": last.comma, "whitespace_after_arg": last.whitespace_after_arg}
    return call.with_changes(args=[*args[:-1], args[-1].with_changes(**ending)])


def _appended(args: list[cst.Arg], new: cst.Arg, opening: Space) -> list[cst.Arg]:
    if not args:
        return [new]
    last = args[-1]
    between: Space | None = opening if isinstance(opening, cst.ParenthesizedWhitespace) else None
    if len(args) > 1 and isinstance(args[-2].comma, cst.Comma):
        between = args[-2].comma.whitespace_after
    separator, comma, ending = separator_like(between), last.comma, last.whitespace_after_arg
    if isinstance(comma, cst.Comma):
        separator, after = shared(separator, comma.whitespace_after)
        comma = comma.with_changes(whitespace_after=after)
    else:
        separator, ending = shared(separator, ending)
    closed = last.with_changes(
        comma=cst.Comma(whitespace_after=separator), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return [*args[:-1], closed, new.with_changes(comma=comma, whitespace_after_arg=ending)]
