"""From a LibCST tree to the intermediate form, in one walk that numbers the nodes it keeps.

The walk visits statements and expressions in source order and appends each one's LibCST node to a
list; the position in that list is the node's index. The same bytes give the same indices, so a
codemod finds the node that a finding names by lowering the file again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import libcst as cst

from remat_lint.analysis import ir


def lower(tree: cst.Module) -> tuple[ir.Module, list[cst.CSTNode]]:
    """The intermediate form of a module and the nodes its indices point to."""
    lowering = _Lowering()
    body = lowering.block(tree.body)
    return ir.Module(body, tuple(lowering.functions)), lowering.nodes


def lower_expression(text: str) -> ir.Expr | None:
    """An expression that stands in a string, such as an annotation; None where it is none.

    Its indices mean nothing.
    """
    try:
        return _Lowering().expr(cst.parse_expression(text.strip()))
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        return None


_CONSTANTS = {"True": True, "False": False, "None": None}


class _Lowering:
    def __init__(self) -> None:
        self.nodes: list[cst.CSTNode] = []
        self.functions: list[ir.Function] = []
        self._declared: list[tuple[set[str], set[str], list[bool]]] = []

    def mark(self, node: cst.CSTNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    # --- statements

    def block(self, body: Iterable[cst.CSTNode]) -> tuple[ir.Stmt, ...]:
        return tuple(self._statements(body))

    def suite(self, suite: cst.BaseSuite) -> tuple[ir.Stmt, ...]:
        return self.block(suite.body)

    def _statements(self, body: Iterable[cst.CSTNode]) -> Iterator[ir.Stmt]:
        for node in body:
            if isinstance(node, cst.SimpleStatementLine):
                yield from self._statements(node.body)
                continue
            lowered = _STATEMENTS.get(type(node))
            if lowered is not None:
                yield lowered(self, node)

    def expression_statement(self, node: cst.Expr) -> ir.Stmt:
        return ir.Expression(self.mark(node), self.expr(node.value))

    def assign(self, node: cst.Assign) -> ir.Stmt:
        at = self.mark(node)
        targets = tuple(self.expr(target.target) for target in node.targets)
        return ir.Assign(at, targets, self.expr(node.value))

    def ann_assign(self, node: cst.AnnAssign) -> ir.Stmt:
        at = self.mark(node)
        target, annotation = self.expr(node.target), self.expr(node.annotation.annotation)
        return ir.Assign(at, (target,), self.optional(node.value), annotation)

    def aug_assign(self, node: cst.AugAssign) -> ir.Stmt:
        at = self.mark(node)
        operator = type(node.operator).__name__.removesuffix("Assign")
        return ir.AugAssign(at, self.expr(node.target), operator, self.expr(node.value))

    def return_(self, node: cst.Return) -> ir.Stmt:
        return ir.Return(self.mark(node), self.optional(node.value))

    def raise_(self, node: cst.Raise) -> ir.Stmt:
        parts = (node.exc, node.cause.item if node.cause else None)
        return ir.Raise(self.mark(node), tuple(self.expr(part) for part in parts if part is not None))

    def assert_(self, node: cst.Assert) -> ir.Stmt:
        return ir.Assert(self.mark(node), self.expr(node.test), self.optional(node.msg))

    def del_(self, node: cst.Del) -> ir.Stmt:
        at, target = self.mark(node), self.expr(node.target)
        return ir.Delete(at, target.items if isinstance(target, ir.Display) else (target,))

    def jump(self, node: cst.CSTNode) -> ir.Stmt:
        return ir.Jump(self.mark(node), type(node).__name__.lower())

    def scope_declaration(self, node: cst.Global | cst.Nonlocal) -> ir.Stmt:
        if self._declared:
            nonlocals, global_names, _ = self._declared[-1]
            declared = global_names if isinstance(node, cst.Global) else nonlocals
            declared.update(item.name.value for item in node.names)
        return ir.Jump(self.mark(node), "pass")

    def import_(self, node: cst.Import) -> ir.Stmt:
        bindings = []
        for alias in node.names:
            module = _dotted(alias.name)
            if alias.asname is not None:
                bindings.append((module, None, _dotted(alias.asname.name)))
            else:
                bindings.append((module, None, module))
        return ir.Import(self.mark(node), 0, tuple(bindings))

    def import_from(self, node: cst.ImportFrom) -> ir.Stmt:
        module = _dotted(node.module) if node.module is not None else ""
        if isinstance(node.names, cst.ImportStar):
            bindings: tuple[tuple[str, str | None, str], ...] = ((module, "*", "*"),)
        else:
            bindings = tuple(
                (module, _dotted(a.name), _dotted(a.asname.name) if a.asname else _dotted(a.name))
                for a in node.names
            )
        return ir.Import(self.mark(node), len(node.relative), bindings)

    def if_(self, node: cst.If) -> ir.Stmt:
        return self._if(node, is_elif=False)

    def _if(self, node: cst.If, is_elif: bool) -> ir.Stmt:
        at, test, body = self.mark(node), self.expr(node.test), self.suite(node.body)
        return ir.If(at, test, body, self._orelse(node.orelse), is_elif)

    def _orelse(self, node: cst.If | cst.Else | None) -> tuple[ir.Stmt, ...]:
        if isinstance(node, cst.If):
            return (self._if(node, is_elif=True),)
        return self.suite(node.body) if node is not None else ()

    def while_(self, node: cst.While) -> ir.Stmt:
        at, test, body = self.mark(node), self.expr(node.test), self.suite(node.body)
        return ir.While(at, test, body, self._orelse(node.orelse))

    def for_(self, node: cst.For) -> ir.Stmt:
        at, target, iterable = self.mark(node), self.expr(node.target), self.expr(node.iter)
        return ir.For(at, target, iterable, self.suite(node.body), self._orelse(node.orelse))

    def try_(self, node: cst.Try | cst.TryStar) -> ir.Stmt:
        at, body = self.mark(node), self.suite(node.body)
        handlers = tuple(self._handler(handler) for handler in node.handlers)
        final = self.suite(node.finalbody.body) if node.finalbody else ()
        return ir.Try(at, body, handlers, self._orelse(node.orelse), final)

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> ir.Handler:
        types: tuple[ir.Expr, ...] = ()
        if node.type is not None:
            caught = self.expr(node.type)
            types = caught.items if isinstance(caught, ir.Display) else (caught,)
        name = node.name.name.value if node.name and isinstance(node.name.name, cst.Name) else None
        return ir.Handler(types, name, self.suite(node.body))

    def with_(self, node: cst.With) -> ir.Stmt:
        at = self.mark(node)
        items = tuple(
            (self.expr(item.item), self.expr(item.asname.name) if item.asname else None)
            for item in node.items
        )
        return ir.With(at, items, self.suite(node.body))

    def match(self, node: cst.Match) -> ir.Stmt:
        at, subject = self.mark(node), self.expr(node.subject)
        return ir.Match(at, subject, tuple(self._case(case) for case in node.cases))

    def _case(self, node: cst.MatchCase) -> ir.Case:
        pattern = _pattern(node.pattern)
        always = node.guard is None and isinstance(node.pattern, cst.MatchAs) and node.pattern.pattern is None
        return ir.Case(pattern, always, self.optional(node.guard), self.suite(node.body))

    def function_def(self, node: cst.FunctionDef) -> ir.Stmt:
        at = self.mark(node)
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        returns = self.expr(node.returns.annotation) if node.returns else None
        parameters = self.parameters(node.params)
        function = self._function(
            at, node.name.value, parameters, lambda: self.suite(node.body), decorators, returns
        )
        return ir.FunctionDef(at, function)

    def _function(
        self,
        at: int,
        name: str,
        parameters: tuple[ir.Parameter, ...],
        body: Callable[[], tuple[ir.Stmt, ...]],
        decorators: tuple[ir.Expr, ...] = (),
        returns: ir.Expr | None = None,
    ) -> ir.Function:
        nonlocals: set[str] = set()
        global_names: set[str] = set()
        yields: list[bool] = []
        self._declared.append((nonlocals, global_names, yields))
        statements = body()
        self._declared.pop()
        function = ir.Function(
            at,
            name,
            parameters,
            statements,
            decorators,
            returns,
            bool(yields),
            frozenset(nonlocals),
            frozenset(global_names),
        )
        self.functions.append(function)
        return function

    def class_def(self, node: cst.ClassDef) -> ir.Stmt:
        at = self.mark(node)
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        bases = tuple(self.expr(base.value) for base in node.bases)
        return ir.ClassDef(at, ir.Class(at, node.name.value, bases, self.suite(node.body), decorators))

    def parameters(self, node: cst.Parameters) -> tuple[ir.Parameter, ...]:
        found: list[ir.Parameter] = []
        for param in (*node.posonly_params, *node.params):
            found.append(self._parameter(param, "positional"))
        if isinstance(node.star_arg, cst.Param):
            found.append(self._parameter(node.star_arg, "*"))
        for param in node.kwonly_params:
            found.append(self._parameter(param, "keyword"))
        if node.star_kwarg is not None:
            found.append(self._parameter(node.star_kwarg, "**"))
        return tuple(found)

    def _parameter(self, node: cst.Param, kind: str) -> ir.Parameter:
        annotation = self.expr(node.annotation.annotation) if node.annotation else None
        return ir.Parameter(node.name.value, kind, self.optional(node.default), annotation)

    # --- expressions

    def optional(self, node: cst.BaseExpression | None) -> ir.Expr | None:
        return self.expr(node) if node is not None else None

    def expr(self, node: cst.CSTNode) -> ir.Expr:
        lowered = _EXPRESSIONS.get(type(node))
        if lowered is None:
            return ir.Const(self.mark(node), ...)
        return lowered(self, node)

    def name(self, node: cst.Name) -> ir.Expr:
        at = self.mark(node)
        if node.value in _CONSTANTS:
            return ir.Const(at, _CONSTANTS[node.value])
        return ir.Name(at, node.value)

    def constant(self, node: cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString) -> ir.Expr:
        return ir.Const(self.mark(node), node.evaluated_value)

    def ellipsis(self, node: cst.Ellipsis) -> ir.Expr:
        return ir.Const(self.mark(node), ...)

    def concatenated(self, node: cst.ConcatenatedString) -> ir.Expr:
        if isinstance(node.evaluated_value, (str, bytes)):
            return ir.Const(self.mark(node), node.evaluated_value)
        at = self.mark(node)
        parts = [self.expr(part) for part in (node.left, node.right)]
        values = tuple(value for part in parts if isinstance(part, ir.Format) for value in part.values)
        template = "".join(
            part.template if isinstance(part, ir.Format) else str(part.value)
            for part in parts
            if isinstance(part, (ir.Format, ir.Const))
        )
        is_plain = all(part.is_plain for part in parts if isinstance(part, ir.Format))
        return ir.Format(at, values, template, is_plain)

    def formatted(self, node: cst.FormattedString) -> ir.Expr:
        at = self.mark(node)
        values: list[ir.Expr] = []
        template = ""
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                values.append(self.expr(part.expression))
                template += "{}"
            elif isinstance(part, cst.FormattedStringText):
                template += part.value
        is_plain = not any(
            isinstance(part, cst.FormattedStringExpression)
            and (part.format_spec is not None or part.conversion is not None or part.equal is not None)
            for part in node.parts
        )
        return ir.Format(at, tuple(values), template, is_plain)

    def attribute(self, node: cst.Attribute) -> ir.Expr:
        at = self.mark(node)
        return ir.Attribute(at, self.expr(node.value), node.attr.value)

    def call(self, node: cst.Call) -> ir.Expr:
        at, function = self.mark(node), self.expr(node.func)
        return ir.Call(at, function, tuple(self._argument(arg) for arg in node.args))

    def _argument(self, node: cst.Arg) -> ir.Argument:
        return ir.Argument(self.expr(node.value), node.keyword.value if node.keyword else None, node.star)

    def subscript(self, node: cst.Subscript) -> ir.Expr:
        at, base = self.mark(node), self.expr(node.value)
        return ir.Subscript(at, base, tuple(self._index(item.slice) for item in node.slice))

    def _index(self, node: cst.BaseSlice) -> ir.Expr:
        if isinstance(node, cst.Slice):
            at = self.mark(node)
            lower, upper = self.optional(node.lower), self.optional(node.upper)
            return ir.Slice(at, lower, upper, self.optional(node.step))
        assert isinstance(node, cst.Index)
        if node.star:
            return ir.Starred(self.mark(node), self.expr(node.value))
        return self.expr(node.value)

    def unary(self, node: cst.UnaryOperation) -> ir.Expr:
        at = self.mark(node)
        return ir.Unary(at, type(node.operator).__name__, self.expr(node.expression))

    def binary(self, node: cst.BinaryOperation) -> ir.Expr:
        at = self.mark(node)
        return ir.Binary(at, type(node.operator).__name__, self.expr(node.left), self.expr(node.right))

    def comparison(self, node: cst.Comparison) -> ir.Expr:
        at, left = self.mark(node), self.expr(node.left)
        operators = tuple(type(item.operator).__name__ for item in node.comparisons)
        return ir.Comparison(at, left, operators, tuple(self.expr(c.comparator) for c in node.comparisons))

    def boolean(self, node: cst.BooleanOperation) -> ir.Expr:
        at = self.mark(node)
        operator = "and" if isinstance(node.operator, cst.And) else "or"
        return ir.Boolean(at, operator, self.expr(node.left), self.expr(node.right))

    def conditional(self, node: cst.IfExp) -> ir.Expr:
        at, body = self.mark(node), self.expr(node.body)
        test = self.expr(node.test)
        return ir.Conditional(at, test, body, self.expr(node.orelse))

    def display(self, node: cst.Tuple | cst.List | cst.Set) -> ir.Expr:
        at = self.mark(node)
        return ir.Display(at, type(node).__name__.lower(), self._items(node.elements))

    def _items(self, elements: Sequence[cst.BaseElement]) -> tuple[ir.Expr, ...]:
        items: list[ir.Expr] = []
        for element in elements:
            if isinstance(element, cst.StarredElement):
                items.append(ir.Starred(self.mark(element), self.expr(element.value)))
            else:
                items.append(self.expr(element.value))
        return tuple(items)

    def dict_display(self, node: cst.Dict) -> ir.Expr:
        at = self.mark(node)
        items: list[tuple[ir.Expr | None, ir.Expr]] = []
        for element in node.elements:
            key = self.expr(element.key) if isinstance(element, cst.DictElement) else None
            items.append((key, self.expr(element.value)))
        return ir.DictDisplay(at, tuple(items))

    def lambda_(self, node: cst.Lambda) -> ir.Expr:
        at = self.mark(node)

        def body() -> tuple[ir.Stmt, ...]:
            value = self.expr(node.body)
            return (ir.Return(value.at, value),)

        return ir.Lambda(at, self._function(at, "<lambda>", self.parameters(node.params), body))

    def comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> ir.Expr:
        at = self.mark(node)
        kind = {"ListComp": "list", "SetComp": "set"}.get(type(node).__name__, "generator")
        clauses = self._clauses(node.for_in)
        return ir.Comprehension(at, kind, None, self.expr(node.elt), clauses)

    def dict_comprehension(self, node: cst.DictComp) -> ir.Expr:
        at, clauses = self.mark(node), self._clauses(node.for_in)
        return ir.Comprehension(at, "dict", self.expr(node.key), self.expr(node.value), clauses)

    def _clauses(self, node: cst.CompFor | None) -> tuple[ir.Clause, ...]:
        clauses = []
        while node is not None:
            iterable, target = self.expr(node.iter), self.expr(node.target)
            clauses.append(ir.Clause(target, iterable, tuple(self.expr(test.test) for test in node.ifs)))
            node = node.inner_for_in
        return tuple(clauses)

    def walrus(self, node: cst.NamedExpr) -> ir.Expr:
        at = self.mark(node)
        assert isinstance(node.target, cst.Name)
        target = ir.Name(self.mark(node.target), node.target.value)
        return ir.Walrus(at, target, self.expr(node.value))

    def await_(self, node: cst.Await) -> ir.Expr:
        return ir.Await(self.mark(node), self.expr(node.expression))

    def yield_(self, node: cst.Yield) -> ir.Expr:
        if self._declared:
            self._declared[-1][2].append(True)
        at, value = self.mark(node), node.value
        return ir.Yield(at, self.optional(value.item if isinstance(value, cst.From) else value))


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _pattern(node: cst.CSTNode) -> ir.Pattern:
    """What a ``case`` pattern binds."""
    match node:
        case cst.MatchAs(pattern=inner, name=name):
            below = (_pattern(inner),) if inner is not None else ()
            return ir.Pattern(name=name.value if name is not None else None, others=below)
        case cst.MatchStar(name=name):
            return ir.Pattern(name=name.value if name is not None else None)
        case cst.MatchList(patterns=elements) | cst.MatchTuple(patterns=elements):
            parts = [
                element.value if isinstance(element, cst.MatchSequenceElement) else element
                for element in elements
            ]
            starred = next((i for i, part in enumerate(parts) if isinstance(part, cst.MatchStar)), None)
            return ir.Pattern(items=tuple(_pattern(part) for part in parts), starred=starred)
        case cst.MatchClass(patterns=positional, kwds=keywords):
            attributes = [(None, _pattern(element.value)) for element in positional]
            named = [(element.key.value, _pattern(element.pattern)) for element in keywords]
            return ir.Pattern(attributes=(*attributes, *named))
        case cst.MatchMapping(elements=elements):
            keys = [(_key(element.key), _pattern(element.pattern)) for element in elements]
            return ir.Pattern(keys=tuple(keys))
        case cst.MatchOr(patterns=options):
            return ir.Pattern(others=tuple(_pattern(option.pattern) for option in options))
        case cst.MatchSingleton(value=value):
            return ir.Pattern(constant=(_CONSTANTS.get(value.value),))
        case cst.MatchValue(value=(cst.SimpleString() | cst.Integer() | cst.Float()) as value):
            return ir.Pattern(constant=(value.evaluated_value,))
        case _:
            return ir.Pattern()


def _key(node: cst.CSTNode) -> object:
    return node.evaluated_value if isinstance(node, (cst.SimpleString, cst.Integer)) else None


_STATEMENTS: dict[type[cst.CSTNode], Callable[[Any, Any], ir.Stmt]] = {
    cst.Expr: _Lowering.expression_statement,
    cst.Assign: _Lowering.assign,
    cst.AnnAssign: _Lowering.ann_assign,
    cst.AugAssign: _Lowering.aug_assign,
    cst.Return: _Lowering.return_,
    cst.Raise: _Lowering.raise_,
    cst.Assert: _Lowering.assert_,
    cst.Del: _Lowering.del_,
    cst.Pass: _Lowering.jump,
    cst.Break: _Lowering.jump,
    cst.Continue: _Lowering.jump,
    cst.Global: _Lowering.scope_declaration,
    cst.Nonlocal: _Lowering.scope_declaration,
    cst.Import: _Lowering.import_,
    cst.ImportFrom: _Lowering.import_from,
    cst.If: _Lowering.if_,
    cst.While: _Lowering.while_,
    cst.For: _Lowering.for_,
    cst.Try: _Lowering.try_,
    cst.TryStar: _Lowering.try_,
    cst.With: _Lowering.with_,
    cst.Match: _Lowering.match,
    cst.FunctionDef: _Lowering.function_def,
    cst.ClassDef: _Lowering.class_def,
}

_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Any, Any], ir.Expr]] = {
    cst.Name: _Lowering.name,
    cst.Integer: _Lowering.constant,
    cst.Float: _Lowering.constant,
    cst.Imaginary: _Lowering.constant,
    cst.SimpleString: _Lowering.constant,
    cst.Ellipsis: _Lowering.ellipsis,
    cst.ConcatenatedString: _Lowering.concatenated,
    cst.FormattedString: _Lowering.formatted,
    cst.Attribute: _Lowering.attribute,
    cst.Call: _Lowering.call,
    cst.Subscript: _Lowering.subscript,
    cst.UnaryOperation: _Lowering.unary,
    cst.BinaryOperation: _Lowering.binary,
    cst.Comparison: _Lowering.comparison,
    cst.BooleanOperation: _Lowering.boolean,
    cst.IfExp: _Lowering.conditional,
    cst.Tuple: _Lowering.display,
    cst.List: _Lowering.display,
    cst.Set: _Lowering.display,
    cst.Dict: _Lowering.dict_display,
    cst.Lambda: _Lowering.lambda_,
    cst.ListComp: _Lowering.comprehension,
    cst.SetComp: _Lowering.comprehension,
    cst.GeneratorExp: _Lowering.comprehension,
    cst.DictComp: _Lowering.dict_comprehension,
    cst.NamedExpr: _Lowering.walrus,
    cst.Await: _Lowering.await_,
    cst.Yield: _Lowering.yield_,
}
