"""The marker as a statement: recognised, written, and given more arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import libcst as cst

from remat_lint.codemods.commas import Space, separator_like, shared
from remat_lint.codemods.marker_name import MARKER


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
