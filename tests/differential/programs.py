"""Random checkpoint bodies: short programs that torch accepts, with every idiom the analyser follows.

A program is written as it is drawn, one statement at a time, with a note of what every name holds (a tensor
of a known shape, or a container of them), so that nearly all of them run. ``Chooser`` is the source of
randomness: hypothesis in the tests, which shrinks, or ``random.Random`` for long runs by hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

PRELUDE = """\
import dataclasses
import functools
import typing

import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
from torch_remat import recompute_needs_tensor as need

_policy = {}
_names = {}


def policy(name):
    return _policy.get(name, False)


def fresh(name):
    _names[name] = _names.get(name, 0) + 1
    return f"{name}.{_names[name]}"


class Pair(typing.NamedTuple):
    a: typing.Any
    b: typing.Any


@dataclasses.dataclass
class Record:
    a: typing.Any
    b: typing.Any


class Holder:
    pass


def double(t):
    return t * 2


def two(t):
    return t * 2, t.sin()


def affine(t, scale=1.0, shift=0.0):
    return t * scale + shift


def join(a, b):
    return a * b.sin()


W = torch.randn(6, 6)
lin = nn.Linear(6, 6)
norm = nn.LayerNorm(6)
seq = nn.Sequential(nn.Linear(6, 6), nn.GELU())


# --- program
"""


class Chooser(Protocol):
    """A source of choices."""

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)


class Drawn:
    """Choices that hypothesis records and shrinks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included."""
        return self._draw(st.integers(low, high))


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int]) -> str:
    """The source of one program."""
    return Writer(Drawn(draw)).program()


def seeded_program(seed: int) -> str:
    """The program of a seed."""
    return Writer(Seeded(seed)).program()


# --- what a name holds -----------------------------------------------------------------

FULL = (4, 6)


@dataclass(frozen=True)
class Tensor:
    """A tensor of this shape; ``saved`` where it may be a region's output or a view of one."""

    shape: tuple[int, ...] = FULL
    saved: bool = False


@dataclass(frozen=True)
class Group:
    """A container: how each element is reached, and what it is."""

    kind: str
    items: tuple[tuple[str, Tensor], ...]


Kind = Tensor | Group


@dataclass(frozen=True)
class Value:
    """A tensor expression."""

    text: str
    shape: tuple[int, ...]
    saved: bool


@dataclass
class Scope:
    """What can be used at a place. ``frozen`` names must keep their kind: they belong to an outer block."""

    names: dict[str, Kind] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    frozen: frozenset[str] = frozenset()
    depth: int = 0
    looped: bool = False
    returns: str | None = None
    graded: bool = True

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block."""
        child = replace(self, names=dict(self.names), frozen=frozenset(self.names), depth=self.depth + 1)
        return replace(child, **changes)  # type: ignore[arg-type]


Lines = list[str]


def indented(lines: Lines) -> Lines:
    """The lines as the suite of a compound statement."""
    return [f"    {line}" for line in lines] or ["    pass"]


@dataclass(frozen=True)
class Helper:
    """A generated function: what calling it needs and gives. ``result`` None: it returns nothing."""

    call: str
    parameters: int
    flagged: bool
    result: Kind | None
    regions: bool = True


def _views(shape: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """Views that torch takes of any tensor with this shape, whatever its strides."""
    size = len(shape)
    found: list[tuple[str, tuple[int, ...]]] = [
        ("{}.detach()", shape),
        ("{}[...]", shape),
        ("{}.unsqueeze(0)", (1, *shape)),
        ("{}[None]", (1, *shape)),
        ("{}.view_as({})", shape),
    ]
    if size == 2:
        rows, columns = shape
        found += [
            ("{}.t()", (columns, rows)),
            ("{}.T", (columns, rows)),
            ("{}.transpose(0, 1)", (columns, rows)),
            ("{}.permute(1, 0)", (columns, rows)),
            ("torch.transpose({}, 0, 1)", (columns, rows)),
            ("{}.mT", (columns, rows)),
            ("{}.swapaxes(0, 1)", (columns, rows)),
            ("{}[0]", (columns,)),
            ("{}[-1]", (columns,)),
            ("{}.select(0, 1)", (columns,)),
            ("{}[:, 0]", (rows,)),
            ("{}[..., 0]", (rows,)),
            ("{}[:2]", (2, columns)),
            ("{}[:, :2]", (rows, 2)),
            ("{}[1:, 1:]", (rows - 1, columns - 1)),
            ("{}[::2]", ((rows + 1) // 2, columns)),
            ("{}.narrow(0, 1, 2)", (2, columns)),
            ("{}.expand(3, -1, -1)", (3, *shape)),
            ("{}.movedim(0, 1)", (columns, rows)),
            ("{}.chunk(2)[0]", ((rows + 1) // 2, columns)),
            ("{}.split(2)[0]", (2, columns)),
            ("torch.unbind({})[1]", (columns,)),
            ("{}.diagonal()", (min(shape),)),
            ("{}.squeeze()", shape),
        ]
        if 0 in found[-1][1] or min(shape) < 3:
            found = [view for view in found if min(view[1]) > 1 or len(view[1]) > 2]
    elif size == 1:
        found += [("{}[1:]", (shape[0] - 1,)), ("{}.unsqueeze(-1).expand(-1, 3)", (shape[0], 3))]
    elif size == 3 and shape[0] == 1:
        found += [("{}.squeeze(0)", shape[1:]), ("{}[0]", shape[1:])]
    elif size == 3:
        found += [("{}[0]", shape[1:]), ("{}.transpose(0, 2)", shape[::-1]), ("{}.unbind(0)[1]", shape[1:])]
    return [(text, shape) for text, shape in found if len(shape) <= 3 and all(side > 0 for side in shape)]


def _flat(shape: tuple[int, ...]) -> int:
    total = 1
    for side in shape:
        total *= side
    return total


MAYBE_COPIES = ("{}.contiguous()", "{}.reshape(-1)", "{}.flatten()", "torch.flatten({})", "{}.ravel()")
READS = (
    "{}.sum()",
    "{}.sin().sum()",
    "({} * 2).sum()",
    "F.silu({}).sum()",
    "torch.exp({}).sum()",
    "{}.clone().sum()",
    "torch.cat([{0}, {0}]).sum()",
    "torch.stack(({0}, {0})).sum()",
    "{}.max()",
    "{}.mean()",
    "(-{}).sum()",
    "({0} * {0}).sum()",
    "{}.double().sum().float()",
    "({} > 0).sum()",
    "{}[{} > 0].sum()",
    "float({}.sum())",
    "{}.sum().item()",
    "torch.where({0} > 0, {0}, 0.0).sum()",
    "{}.abs().amax()",
    "F.relu({}).sum()",
    "{}.cumsum(0).sum()",
    "torch.einsum('...i->...', {}).sum()",
    "{}.pow(2).sum()",
    "{}.norm()",
    "F.softmax({}, -1).max()",
    "abs({}.sum())",
    "sum({}).sum()",
    "torch.sum({})",
    "{}.add(1).sum()",
    "{}.mul({}).sum()",
    "{}.clamp(min=0).sum()",
    "F.dropout({}, 0.0).sum()",
    "{}.square().sum()",
)
METADATA = (
    "{}.shape[0]",
    "len({})",
    "{}.dim()",
    "torch.zeros_like({}).sum()",
    "{}.numel()",
    "{}.size(0)",
    "torch.ones_like({}).sum()",
    "{}.new_zeros(2).sum()",
    "float({}.requires_grad)",
    "torch.empty({}.shape).numel()",
)
FULL_READS = (
    "x + {}",
    "lin({})",
    "norm({})",
    "torch.add(x, {})",
    "{} @ W",
    "seq({})",
    "x * {}",
    "F.linear({}, W)",
    "torch.lerp(x, {}, 0.5)",
)

ONE_TO_ONE = (
    "lambda a: a @ W",
    "lambda a: a * 2",
    "double",
    "lin",
    "norm",
    "seq",
    "torch.sin",
    "F.silu",
    "affine",
    "functools.partial(affine, scale=3.0)",
    "lambda a: affine(a, 2.0)",
    "lambda a: (a * 2).t().contiguous().t()",
    "nn.Sequential(lin, norm)",
    "F.gelu",
    "lambda a: a.sin().view(2, 12).view(4, 6)",
)
RESIDENT = ("torch.sigmoid", "torch.exp", "lambda a: a.tanh()", "F.softmax")
TWO_TO_ONE = (
    "torch.add",
    "torch.mul",
    "join",
    "lambda a, b: a + b.cos()",
    "lambda a, b: a * b",
    "torch.maximum",
)
TO_MANY: tuple[tuple[str, str, tuple[tuple[int, ...], ...]], ...] = (
    ("two", "tuple", (FULL, FULL)),
    ("lambda a: (a * 2, a @ W)", "tuple", (FULL, FULL)),
    ("lambda a: [a * 2, a.sin()]", "list", (FULL, FULL)),
    ("lambda a: Pair(a * 2, a.cos())", "named", (FULL, FULL)),
    ("lambda a: (a * 2).chunk(2)", "tuple", ((2, 6), (2, 6))),
    ("lambda a: torch.cat([a, a], -1).chunk(2, -1)", "tuple", (FULL, FULL)),
    ("lambda a: (a @ W).unbind(0)", "tuple", ((6,), (6,), (6,), (6,))),
    ("lambda a: (a * 2).split([1, 3])", "tuple", ((1, 6), (3, 6))),
    ("lambda a: (a * 2, a * 3, a * 4)", "tuple", (FULL, FULL, FULL)),
)


class Writer:
    """Writes one program."""

    def __init__(self, chooser: Chooser) -> None:
        self._choose = chooser
        self._count: dict[str, int] = {}
        self._top: Lines = []
        self._helpers: list[Helper] = []
        self._policies = 0

    # --- choices -----------------------------------------------------------------------

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self._choose.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about this share of draws."""
        return self._choose.integer(1, 100) > 100 - percent

    def name(self, stem: str) -> str:
        """A name that is new in this program."""
        self._count[stem] = self._count.get(stem, -1) + 1
        return f"{stem}{self._count[stem]}"

    # --- the whole program -------------------------------------------------------------

    def program(self) -> str:
        """The source."""
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            self._define_helper()
        scope = Scope({"x": Tensor(), "acc": Tensor()}, ["flag_a", "flag_b"], returns="tensor")
        lines = ["acc = x.sin()"]
        lines += self._region(scope)
        for _ in range(self.pick((2, 3, 4, 5, 6, 7, 8))):
            lines += self.statement(scope)
        lines += self._end(scope)
        body = ["def body(x, w, flag_a, flag_b):", *indented(lines)]
        return PRELUDE + "\n".join([*self._top, *body]) + "\n"

    def _end(self, scope: Scope) -> Lines:
        values = [v for v in self.values(scope) if v.saved]
        if values and self.chance(30):
            value = self.pick(values)
            return [self.pick((f"return acc, {value.text}", f"return [{value.text}, acc.sin()]"))]
        if values and self.chance(15):
            return [f"return acc * {self.pick(values).text}.sum()"]
        return ["return acc.sin()"]

    # --- values ------------------------------------------------------------------------

    def values(self, scope: Scope) -> list[Value]:
        """Every tensor that has an expression here, without ``x`` and ``acc``."""
        found = []
        for name, kind in scope.names.items():
            if isinstance(kind, Tensor):
                found.append(Value(name, kind.shape, kind.saved))
            else:
                found += [Value(name + reach, item.shape, item.saved) for reach, item in kind.items]
        return [value for value in found if value.text != "acc"]

    def value(self, scope: Scope, shape: tuple[int, ...] | None = None) -> Value:
        """One tensor, a saved one where there is one; ``x`` where there is none."""
        fitting = [v for v in self.values(scope) if shape is None or v.shape == shape]
        saved = [v for v in fitting if v.saved]
        if saved and self.chance(90):
            # The newest is the most interesting one.
            return saved[-1] if self.chance(40) else self.pick(saved)
        return self.pick(fitting) if fitting else Value("x", FULL, False)

    def viewed(self, value: Value) -> Value:
        """A view of it, in some cases."""
        if not self.chance(35):
            return value
        text, shape = self.pick(_views(value.shape))
        return Value(text.replace("{}", value.text), shape, value.saved)

    def groups(self, scope: Scope, *kinds: str) -> list[tuple[str, Group]]:
        """The containers in scope, of some kinds."""
        return [
            (name, kind)
            for name, kind in scope.names.items()
            if isinstance(kind, Group) and (not kinds or kind.kind in kinds)
        ]

    def flag(self, scope: Scope) -> str | None:
        """A condition that nothing else on the path depends on, where one is left."""
        if not scope.flags:
            return None
        flag = scope.flags.pop(self._choose.integer(0, len(scope.flags) - 1))
        return f"not {flag}" if self.chance(30) else flag

    def new(self, scope: Scope, kind: Kind, stem: str = "h") -> str:
        """A name for it: mostly a new one, or one that held the same kind."""
        same = [
            name
            for name, old in scope.names.items()
            if name not in ("x", "acc")
            and isinstance(old, Tensor)
            and isinstance(kind, Tensor)
            and old.shape == kind.shape
        ]
        if same and self.chance(25):
            name = self.pick(same)
        else:
            name = self.name(stem)
        scope.names[name] = kind
        return name

    # --- statements --------------------------------------------------------------------

    def statement(self, scope: Scope) -> Lines:
        """One statement, with what it needs before it."""
        for _ in range(5):
            lines = self.pick(self._table(scope))(scope)
            if lines:
                return lines
        return self._read(scope)

    def _table(self, scope: Scope) -> list[Callable[[Scope], Lines]]:
        simple = (
            [self._read] * 8
            + [self._marker] * 6
            + [self._region] * 5
            + [self._view] * 5
            + [self._copy] * 2
            + [self._container] * 3
            + [self._unpack] * 2
            + [self._helper_call] * 3
            + [self._metadata]
            + [self._rebind] * 2
            + [self._hidden] * 2
            + [self._comprehension] * 2
            + [self._walrus]
            + [self._conditional] * 2
            + [self._starred_marker] * 2
            + [self._python_read]
            + [self._delete]
            + [self._consumer] * 3
            + [self._boolean]
            + [self._in_place]
            + [self._augmented]
            + [self._lambda] * 2
        )
        if scope.depth >= 2:
            return simple
        compound = (
            [self._if] * 5
            + [self._loop] * 3
            + [self._over] * 3
            + [self._while]
            + [self._try] * 2
            + [self._with] * 2
            + [self._guard] * 3
            + [self._match]
            + [self._nested_def] * 3
            + [self._early_return]
        )
        return simple + compound

    def block(self, scope: Scope, **changes: object) -> Lines:
        """A nested block of one to three statements."""
        inner = scope.inner(**changes)
        inner.flags = scope.flags
        lines: Lines = []
        for _ in range(self.pick((1, 1, 2, 3))):
            lines += self.statement(inner)
        return lines

    # --- regions -----------------------------------------------------------------------

    def _recompute(self) -> str:
        draw = self._choose.integer(1, 100)
        if draw <= 62:
            return "False"
        if draw <= 78:
            return "True"
        if self._policies < 2:
            self._policies += 1
        return f'policy("p{self._choose.integer(0, self._policies - 1)}")'

    def _wrapper(self, scope: Scope, function: str, recompute: str) -> str:
        name = self.name("r")
        label = f'fresh("{name}")' if scope.looped else f'"{name}"'
        form = self._choose.integer(1, 10)
        if form == 10:
            return f"remat.region(function={function}, name={label}, recompute={recompute})"
        return f"remat.region({function}, {label}, recompute={recompute})"

    def _region(self, scope: Scope) -> Lines:
        draw = self._choose.integer(1, 10)
        if draw <= 3:
            return self._region_to_many(scope)
        if draw <= 5:
            return self._region_of_two(scope)
        recompute = self._recompute()
        saved = recompute != "True"
        before: Lines = []
        if draw == 6 and scope.graded:
            function = self.pick(RESIDENT)
            if function == "F.softmax":
                function = "functools.partial(F.softmax, dim=-1)"
        elif draw == 7:
            function, before = self._local_function(scope)
        elif draw == 8:
            function = "lambda a: (a * 2).t()"
            argument = self.value(scope, FULL).text
            name = self.new(scope, Tensor((6, 4), saved))
            return [f"{name} = {self._wrapper(scope, function, recompute)}({argument})"]
        else:
            function = self.pick(ONE_TO_ONE)
        argument = self.value(scope, FULL).text if not self.chance(30) else "x"
        call = self._called(scope, before, self._wrapper(scope, function, recompute), argument)
        if self.chance(12):
            text, shape = self.pick(_views(FULL))
            if text.count("{}") == 1:
                return [*before, f"{self.new(scope, Tensor(shape, saved))} = {text.replace('{}', call)}"]
        if self.chance(8):
            return [*before, f"acc = acc + {call}"]
        return [*before, f"{self.new(scope, Tensor(FULL, saved))} = {call}"]

    def _called(self, scope: Scope, before: Lines, wrapper: str, arguments: str) -> str:
        if self.chance(15):
            name = self.name("wrapped")
            before.append(f"{name} = {wrapper}")
            return f"{name}({arguments})"
        return f"{wrapper}({arguments})"

    def _local_function(self, scope: Scope) -> tuple[str, Lines]:
        name = self.name("local")
        form = self._choose.integer(1, 4)
        if form == 1:
            return name, [f"def {name}(a):", "    return a * 2 + 1"]
        if form == 2:
            return name, [f"def {name}(a):", "    b = a @ W", "    return b.sin() * a"]
        if form == 3:
            inner = self.name("r")
            kept = self.pick(("False", "True"))
            mark = ["    need(b)"] if self.chance(50) else []
            label = f'fresh("{inner}")' if scope.looped else f'"{inner}"'
            body = [
                f"    b = remat.region(double, {label}, recompute={kept})(a)",
                *mark,
                "    return b.sin() * 2",
            ]
            return name, [f"def {name}(a):", *body]
        return name, [f"{name} = lambda a: a.cos()"]

    def _region_of_two(self, scope: Scope) -> Lines:
        recompute = self._recompute()
        first, second = self.value(scope, FULL).text, self.value(scope, FULL).text
        function = self.pick(TWO_TO_ONE)
        arguments = f"{first}, {second}"
        if function == "join" and self.chance(40):
            arguments = self.pick((f"{first}, b={second}", f"a={first}, b={second}", f"*[{first}, {second}]"))
        elif self.chance(20):
            function = "lambda p: p[0] * p[1].sin()"
            arguments = self.pick(
                (f"[{first}, {second}]", f"({first}, {second})", f"Pair({first}, {second})")
            )
        before: Lines = []
        call = self._called(scope, before, self._wrapper(scope, function, recompute), arguments)
        return [*before, f"{self.new(scope, Tensor(FULL, recompute != 'True'))} = {call}"]

    def _region_to_many(self, scope: Scope) -> Lines:
        recompute = self._recompute()
        saved = recompute != "True"
        function, form, shapes = self.pick(TO_MANY)
        before: Lines = []
        argument = self.value(scope, FULL).text
        call = self._called(scope, before, self._wrapper(scope, function, recompute), argument)
        style = self._choose.integer(1, 10)
        if style <= 5:
            names = [self.name("h") for _ in shapes]
            scope.names.update((n, Tensor(s, saved)) for n, s in zip(names, shapes, strict=True))
            return [*before, f"{', '.join(names)} = {call}"]
        if style <= 6 and len(shapes) > 2:
            first, rest = self.name("h"), self.name("rest")
            scope.names[first] = Tensor(shapes[0], saved)
            items = tuple((f"[{i}]", Tensor(s, saved)) for i, s in enumerate(shapes[1:]))
            scope.names[rest] = Group("list", items)
            return [*before, f"{first}, *{rest} = {call}"]
        if style == 7:
            index = self._choose.integer(0, len(shapes) - 1)
            name = self.name("h")
            scope.names[name] = Tensor(shapes[index], saved)
            return [*before, f"{name} = {call}[{index}]"]
        name = self.name("outs")
        reaches = (".a", "[1]") if form == "named" else tuple(f"[{i}]" for i in range(len(shapes)))
        scope.names[name] = Group(
            form, tuple((r, Tensor(s, saved)) for r, s in zip(reaches, shapes, strict=True))
        )
        return [*before, f"{name} = {call}"]

    def _consumer(self, scope: Scope) -> Lines:
        """A region that takes saved outputs: with ``recompute=True`` it makes them persist."""
        value = self.viewed(self.value(scope))
        recompute = self.pick(("True", "True", "True", "False", 'policy("hidden")'))
        argument = self.pick((value.text, value.text, f"*({value.text},)", f"**{{'t': {value.text}}}"))
        function = "double" if argument.startswith("**") else "lambda a: a.sin()"
        call = f"{self._wrapper(scope, function, recompute)}({argument})"
        return [f"{self.new(scope, Tensor(value.shape, recompute != 'True'))} = {call}"]

    def _hidden(self, scope: Scope) -> Lines:
        """A region that gets at an output by a way that torch_remat does not look along."""
        value = self.value(scope, FULL)
        recompute = self.pick(("True", "True", "True", "False", 'policy("hidden")'))
        function, argument = self.pick(
            (
                ("lambda a: a * {}", "x"),
                ("functools.partial(torch.mul, {})", "x"),
                ("lambda d: d['k'].sin()", "{{'k': {}}}"),
                ("lambda p: p[0][0].sin()", "[[{}]]"),
                ("lambda r: r.a * 2", "Record({}, None)"),
                ("lambda a, b={}: a * b", "x"),
                ("{}.mul", "x"),
                ("lambda a, d: a * d['k']", "x, d={{'k': {}}}"),
                ("lambda a: a * {}.shape[0]", "x"),
                ("lambda a: a + {}.t().sum()", "x"),
            )
        )
        wrapper = self._wrapper(scope, function.replace("{}", value.text), recompute)
        argument = argument.replace("{}", value.text).replace("{{", "{").replace("}}", "}")
        return [f"{self.new(scope, Tensor(FULL, recompute != 'True'))} = {wrapper}({argument})"]

    # --- reads, markers, views ---------------------------------------------------------

    def read_of(self, value: Value) -> str:
        """An expression that reads it and fits ``acc``."""
        if value.shape == FULL and self.chance(30):
            return self.pick(FULL_READS).replace("{}", value.text)
        text = self.pick(READS)
        if "einsum" in text and len(value.shape) > 2:
            text = "{}.sum()"
        return text.replace("{0}", value.text).replace("{}", value.text)

    def _read(self, scope: Scope) -> Lines:
        value = self.value(scope)
        marked = [f"need({value.text})"] if value.saved and self.chance(45) else []
        viewed = self.viewed(value)
        form = self._choose.integer(1, 12)
        if form == 12:
            other = self.value(scope)
            read = f"({viewed.text}.sum() + {other.text}.sum())"
        else:
            read = self.read_of(viewed)
        if form == 11:
            return [*marked, f"{self.new(scope, Tensor((), False), 's')} = {viewed.text}.sum()"]
        after = marked and self.chance(20)
        line = f"acc = acc {self.pick('+*')} {read}"
        return [line, *marked] if after else [*marked, line]

    def _python_read(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        return [
            self.pick(
                (
                    f"print({value.text})",
                    f"_ = f'{{{value.text}}}'",
                    f"assert {value.text}.isfinite().all()",
                    f"_ = str({value.text})",
                    f"_ = {value.text}.tolist()",
                    f"_ = {value.text}.detach().numpy()",
                    f"print({value.text}.shape)",
                    f"_ = f'{{{value.text}.shape}}'",
                    f"_ = bool({value.text}.sum() > 0)",
                    f"_ = {value.text} is None",
                    f"_ = isinstance({value.text}, torch.Tensor)",
                    f"_ = torch.equal({value.text}, {value.text})",
                )
            )
        ]

    def _metadata(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        return [f"acc = acc * {self.pick(METADATA).replace('{}', value.text)}"]

    def _marker(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        call = self.pick(("need", "need", "remat.recompute_needs_tensor"))
        draw = self._choose.integer(1, 10)
        if draw == 10:
            return [f"{call}({value.text}.clone())"]
        if draw >= 8:
            return [f"{call}({value.text}, {self.value(scope).text})"]
        return [f"{call}({value.text})"]

    def _starred_marker(self, scope: Scope) -> Lines:
        groups = self.groups(scope, "tuple", "list", "named")
        if not groups:
            return []
        name, _ = self.pick(groups)
        element = self.name("each")
        return self.pick(
            (
                [f"need(*{name})"],
                [f"need(*{name}[:1])"],
                [f"for {element} in {name}:", f"    need({element})"],
                [f"list(map(need, {name}))"],
                [f"[need({element}) for {element} in {name}]"],
            )
        )

    def _view(self, scope: Scope) -> Lines:
        value = self.value(scope)
        text, shape = self.pick(_views(value.shape))
        return [f"{self.new(scope, Tensor(shape, value.saved))} = {text.replace('{}', value.text)}"]

    def _copy(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        text = self.pick(MAYBE_COPIES if len(value.shape) > 1 else MAYBE_COPIES[:1])
        shape = value.shape if "contiguous" in text else (_flat(value.shape),)
        return [f"{self.new(scope, Tensor(shape, value.saved))} = {text.replace('{}', value.text)}"]

    def _rebind(self, scope: Scope) -> Lines:
        names = [
            n
            for n, k in scope.names.items()
            if isinstance(k, Tensor) and n not in ("x", "acc") and k.shape == FULL
        ]
        if not names:
            return []
        name = self.pick(names)
        form = self.pick(
            (
                f"{name} = {name} + 1",
                f"{name} = x",
                f"{name} = {name}.clone()",
                f"{name} = x.cos()",
                f"{name} = {name}[...]",
                f"{name} = x = {name}",
                f"{name}, _ = x, {name}",
            )
        )
        if form.startswith(f"{name} = x = "):
            return [f"{name} = alias = {name}", "acc = acc + alias.sum()"]
        return [form]

    def _augmented(self, scope: Scope) -> Lines:
        value = self.value(scope, FULL)
        name = self.name("total")
        scope.names[name] = Tensor(FULL, False)
        return [f"{name} = x * 3", f"{name} {self.pick(('+=', '*=', '-='))} {value.text}"]

    def _in_place(self, scope: Scope) -> Lines:
        if not self.chance(30):
            return []
        value = self.value(scope, FULL)
        if value.text == "x":
            return []
        return [
            self.pick(
                (
                    f"{value.text}.add_(1)",
                    f"{value.text}.t().mul_(2)",
                    f"{value.text}[0] = 0",
                    f"{value.text} += 1",
                )
            )
        ]

    def _delete(self, scope: Scope) -> Lines:
        names = [n for n in scope.names if n not in ("x", "acc") and n not in scope.frozen]
        if not names:
            return []
        name = self.pick(names)
        del scope.names[name]
        return [f"del {name}"]

    # --- containers --------------------------------------------------------------------

    def _container(self, scope: Scope) -> Lines:
        first, second = self.value(scope), self.viewed(self.value(scope))
        items = (Tensor(first.shape, first.saved), Tensor(second.shape, second.saved))
        name = self.name("c")

        def group(kind: str, *reaches: str) -> None:
            scope.names[name] = Group(kind, tuple(zip(reaches, items, strict=True)))

        form = self._choose.integer(1, 11)
        if form <= 2:
            group("tuple", "[0]", "[-1]")
            return [f"{name} = ({first.text}, {second.text})"]
        if form == 3:
            group("list", "[0]", "[1]")
            return [f"{name} = [{first.text}]", f"{name}.append({second.text})"]
        if form == 4:
            group("dict", "['a']", "['b']")
            return [f"{name} = {{'a': {first.text}, 'b': {second.text}}}"]
        if form == 5:
            group("dict", "['a']", ".get('b')")
            return [f"{name} = dict(a={first.text})", f"{name}['b'] = {second.text}"]
        if form == 6:
            group("named", ".a", "[1]")
            return [f"{name} = Pair({first.text}, b={second.text})"]
        if form == 7:
            group("record", ".a", ".b")
            return [f"{name} = Record({first.text}, {second.text})"]
        if form == 8:
            group("object", ".a", ".b")
            return [f"{name} = Holder()", f"{name}.a = {first.text}", f"{name}.b = {second.text}"]
        if form == 9:
            group("list", "[0]", "[1]")
            return [f"{name} = [None] * 2", f"{name}[0] = {first.text}", f"{name}[1] = {second.text}"]
        if form == 10:
            group("list", "[0]", "[1]")
            return [f"{name} = [{first.text}] + [{second.text}]"]
        group("tuple", "[0]", "[1]")
        return [f"{name} = *({first.text},), {second.text}"]

    def _unpack(self, scope: Scope) -> Lines:
        groups = [(n, g) for n, g in self.groups(scope, "tuple", "list", "named") if len(g.items) > 1]
        if not groups:
            return []
        name, group = self.pick(groups)
        if len(group.items) != 2:
            return []
        left, right = self.name("h"), self.name("h")
        scope.names[left], scope.names[right] = group.items[0][1], group.items[1][1]
        return [
            self.pick(
                (
                    f"{left}, {right} = {name}",
                    f"[{left}, {right}] = {name}",
                    f"({left}, *_), {right} = [{name}[0]], {name}[1]",
                )
            )
        ]

    def _comprehension(self, scope: Scope) -> Lines:
        value = self.value(scope)
        element = self.name("p")
        if not value.shape:
            return []
        groups = self.groups(scope, "tuple", "list", "named")
        over = self.pick(
            (f"{value.text}.chunk(2)", f"{value.text}.unbind(0)", value.text, f"{value.text}.split(2)")
        )
        if groups and self.chance(50):
            over = self.pick(groups)[0]
        if self.chance(30):
            name = self.name("parts")
            shape = value.shape[1:] if "unbind" in over else None
            if shape:
                scope.names[name] = Group(
                    "list", (("[0]", Tensor(shape, value.saved)), ("[-1]", Tensor(shape, value.saved)))
                )
                return [f"{name} = [{element}[...] for {element} in {over}]"]
        return [
            self.pick(
                (
                    f"acc = acc + sum({element}.sum() for {element} in {over})",
                    f"acc = acc + sum([{element}.cos().sum() for {element} in {over}])",
                    f"acc = acc + sum({element}.shape[0] if {element}.dim() else 1 for {element} in {over})",
                    f"acc = acc + len({{i: {element}.sum() for i, {element} in enumerate({over})}})",
                    f"acc = acc + sum(map(torch.sum, {over}))",
                )
            )
        ]

    # --- control flow ------------------------------------------------------------------

    def _if(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        lines = [f"if {flag}:", *indented(self.block(scope))]
        if self.chance(40):
            lines += ["else:", *indented(self.block(scope))]
        return lines

    def _early_return(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None or scope.returns is None or scope.depth:
            return []
        before = self.block(scope) if self.chance(50) else []
        if scope.returns == "nothing":
            return [f"if {flag}:", *indented([*before, "return"])]
        return [f"if {flag}:", *indented([*before, "return acc.cos()"])]

    def _conditional(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        value = self.value(scope)
        draw = self._choose.integer(1, 4)
        if draw == 1:
            return [f"acc = acc + ({self.read_of(value)} if {flag} else x)"]
        if draw == 2:
            return [f"need({value.text}) if {flag} else None"]
        other = self.value(scope, value.shape)
        if other.shape != value.shape:
            return []
        kind = Tensor(value.shape, value.saved or other.saved)
        return [f"{self.new(scope, kind)} = {value.text} if {flag} else {other.text}"]

    def _boolean(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        value = self.value(scope)
        return [
            self.pick(
                (
                    f"{flag} and need({value.text})",
                    f"({flag}) or need({value.text})",
                    f"_ = {flag} and {value.text}.sum()",
                    f"_ = {value.text}.shape[0] > 0 and {value.text}.sum() > 0",
                    f"_ = ({flag}) or print({value.text})",
                    f"_ = {value.text} if {flag} else None",
                )
            )
        ]

    def _loop(self, scope: Scope) -> Lines:
        index = self.name("i")
        head = f"for {index} in range(2):"
        lines = [head, *indented(self.block(scope, looped=True))]
        flag = self.flag(scope) if self.chance(30) else None
        if flag is not None:
            lines += indented([f"if {flag}:", f"    {self.pick(('break', 'continue'))}"])
            if self.chance(50):
                lines += indented(self.block(scope, looped=True, depth=2))
        if self.chance(15):
            lines += ["else:", *indented(self.block(scope))]
        return lines

    def _over(self, scope: Scope) -> Lines:
        element = self.name("e")
        value = self.value(scope)
        groups = self.groups(scope, "tuple", "list", "named")
        if groups and self.chance(50):
            name, group = self.pick(groups)
            shapes = {item.shape for _, item in group.items}
            if len(shapes) != 1:
                return []
            kind = Tensor(shapes.pop(), any(item.saved for _, item in group.items))
            head = self.pick(
                (
                    f"for {element} in {name}:",
                    f"for _, {element} in enumerate({name}):",
                    f"for {element}, _ in zip({name}, range(9)):",
                )
            )
        elif len(value.shape) >= 2:
            kind = Tensor(value.shape[1:], value.saved)
            head = self.pick((f"for {element} in {value.text}:", f"for {element} in {value.text}.unbind(0):"))
        else:
            return []
        inner = scope.inner(looped=True, names={**scope.names, element: kind})
        inner.flags = scope.flags
        lines: Lines = []
        for _ in range(self.pick((1, 1, 2))):
            lines += self.statement(inner)
        if self.chance(40):
            lines.append(f"acc = acc + {element}.sum()")
        if self.chance(25):
            lines.insert(0, f"need({element})")
        return [head, *indented(lines)]

    def _while(self, scope: Scope) -> Lines:
        count = self.name("n")
        block = self.block(scope, looped=True)
        flag = self.flag(scope) if self.chance(40) else None
        stop = f"if {count} > 1 or ({flag}):" if flag else f"if {count} > 1:"
        return [f"{count} = 0", "while True:", *indented([f"{count} += 1", *block, stop, "    break"])]

    def _try(self, scope: Scope) -> Lines:
        flag = self.flag(scope) if self.chance(40) else None
        raised = [f"if {flag}:", "    raise ZeroDivisionError"] if flag is not None else []
        lines = ["try:", *indented([*raised, *self.block(scope)])]
        if flag is not None:
            lines += ["except ZeroDivisionError:", *indented(self.block(scope))]
            if self.chance(40):
                lines += ["else:", *indented(self.block(scope))]
        if flag is None or self.chance(40):
            lines += ["finally:", *indented(self.block(scope))]
        return lines

    def _with(self, scope: Scope) -> Lines:
        if self.chance(50):
            scope_name = self.name("scope")
            label = f'fresh("{scope_name}")' if scope.looped else f'"{scope_name}"'
            return [f"with remat.name_scope({label}):", *indented(self.block(scope))]
        return ["with torch.no_grad():", *indented(self.block(scope, graded=False))]

    def _match(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        lines = [f"match {flag}:", "    case True:", *indented(indented(self.block(scope)))]
        return [*lines, "    case _:", *indented(indented(self.block(scope)))]

    def _guard(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        read = self.pick((f"print({value.text}.sum().item())", f"_ = float({value.text}.detach().sum())"))
        marker = f"need({value.text})"
        return self.pick(
            (
                ["if not remat.is_recomputing():", f"    {read}"],
                ["if remat.is_recomputing():", f"    {marker}"],
                ["if not remat.is_recomputing():", f"    {marker}"],
                [f"if not remat.is_placeholder({value.text}):", f"    {read}"],
                ["if remat.is_recomputing():", "    pass", "else:", f"    {read}"],
                [f"if remat.is_placeholder({value.text}):", "    pass", "else:", f"    {read}"],
            )
        )

    def _walrus(self, scope: Scope) -> Lines:
        value = self.value(scope)
        text, shape = self.pick(_views(value.shape))
        name = self.name("v")
        scope.names[name] = Tensor(shape, value.saved)
        view = text.replace("{}", value.text)
        flag = self.flag(scope) if self.chance(60) else None
        if flag is None:
            return [f"acc = acc + ({name} := {view}).shape[0]"]
        lines = [f"if ({name} := {view}).dim() > 0 and {flag}:"]
        return [*lines, *indented(self.block(scope))]

    # --- functions ---------------------------------------------------------------------

    def _lambda(self, scope: Scope) -> Lines:
        value = self.value(scope)
        name = self.name("f")
        draw = self._choose.integer(1, 5)
        if draw == 1:
            return [f"{name} = lambda: {value.text}.sum()", f"acc = acc + {name}()"]
        if draw == 2:
            return [f"{name} = lambda t: t.sum()", f"acc = acc + {name}({value.text})"]
        if draw == 3:
            return [f"{name} = lambda: need({value.text})", f"{name}()"]
        if draw == 4:
            return [
                f"{name} = lambda t: t[...]",
                f"{self.new(scope, Tensor(value.shape, value.saved))} = {name}({value.text})",
            ]
        return [f"{name} = lambda: {value.text}.sum()"]

    def _nested_def(self, scope: Scope) -> Lines:
        name = self.name("inner")
        scope_inner = scope.inner(looped=True, returns=None, depth=1)
        scope_inner.flags = scope.flags
        own: dict[str, Kind] = {k: v for k, v in scope.names.items() if k != "acc"}
        parameter = self.name("t")
        value = self.value(scope)
        scope_inner.names = {**own, parameter: Tensor(value.shape, value.saved), "acc": Tensor()}
        scope_inner.frozen = frozenset(scope_inner.names)
        lines = ["acc = x * 2"]
        before = set(scope_inner.names)
        for _ in range(self.pick((1, 2))):
            lines += self._pure(scope_inner)
        lines.append(f"return acc.sin(), {parameter}" if self.chance(50) else "return acc.sin()")
        del before
        defined = [f"def {name}({parameter}):", *indented(lines)]
        if lines[-1] == "return acc.sin()":
            return [*defined, f"acc = acc + {name}({value.text})"]
        result = self.name("h")
        scope.names[result] = Tensor(value.shape, value.saved)
        return [*defined, f"part, {result} = {name}({value.text})", "acc = acc + part"]

    def _pure(self, scope: Scope) -> Lines:
        """A statement that rebinds no name of an outer function."""
        old = dict(scope.names)
        for _ in range(6):
            lines = self.pick(self._table(scope))(scope)
            bound = {line.strip().split(" ")[0].rstrip(",") for line in lines}
            if (
                lines
                and not bound & (set(old) - {"acc"})
                and not any(line.strip().startswith("del ") for line in lines)
            ):
                return lines
            scope.names = dict(old)
        return [f"acc = acc + {self.value(scope).text}.sum()"]

    def _define_helper(self) -> None:
        if self.chance(30):
            self._define_module()
            return
        name = self.name("helper")
        parameters = self.pick((1, 1, 2))
        flagged = self.chance(30)
        names = ["t", "u"][:parameters]
        scope = Scope({n: Tensor(FULL, True) for n in names}, ["flag"] if flagged else [], looped=True)
        scope.names["x"] = scope.names["t"]
        scope.names["acc"] = Tensor()
        lines = ["x = t", "acc = torch.ones(4, 6)"]
        scope.returns, lines_end, result = self._helper_result(scope)
        for _ in range(self.pick((1, 2, 3))):
            lines += self.statement(scope)
        if lines_end == "any":
            value = self.value(scope, FULL)
            lines_end, result = f"return {value.text}", Tensor(FULL, True)
        lines.append(lines_end)
        header = ", ".join(names + ["flag"] * flagged)
        self._top += [f"def {name}({header}):", *indented(lines), "", ""]
        self._helpers.append(Helper(name, parameters, flagged, result))

    def _helper_result(self, scope: Scope) -> tuple[str | None, str, Kind | None]:
        draw = self._choose.integer(1, 6)
        if draw == 1:
            return "nothing", "return None", None
        if draw <= 3:
            return "tensor", "return acc", Tensor(FULL, False)
        if draw == 4:
            items = (("[0]", Tensor()), ("[1]", Tensor(FULL, True)))
            return None, "return acc, t", Group("tuple", items)
        return None, "any", Tensor(FULL, True)

    def _define_module(self) -> None:
        name = self.name("Block")
        scope = Scope({"x": Tensor(FULL, True), "acc": Tensor()}, [], looped=True)
        lines: Lines = ["acc = torch.ones(4, 6)"]
        function, label = self.pick(("lin", "_mix")), self.name("r")
        region = f"remat.region(self.{function}, fresh('{label}'), recompute={self._recompute()})"
        draw = self._choose.integer(1, 4)
        scope.names["h"] = Tensor(FULL, True)
        lines.append(f"h = {region}(x)")
        if draw == 1:
            lines += ["self.kept = h", "acc = acc + self._later()"]
        elif draw == 2:
            lines += ["h = self._pass(h)"]
        for _ in range(self.pick((0, 1, 2))):
            lines += self.statement(scope)
        lines.append(f"return {self.value(scope, FULL).text}" if self.chance(60) else "return acc")
        mark = ["need(self.kept)"] if self.chance(50) else []
        self._top += [
            f"class {name}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.lin = nn.Linear(6, 6)",
            "",
            "    def _mix(self, t):",
            "        return self.lin(t) * 2",
            "",
            "    def _pass(self, t):",
            *indented(
                indented(
                    [
                        *(["need(t)"] if self.chance(30) else []),
                        self.pick(("return t", "return t[...]", "return t * 1")),
                    ]
                )
            ),
            "",
            "    def _later(self):",
            *indented(indented([*mark, "return self.kept.sum()"])),
            "",
            "    def forward(self, x):",
            *indented(indented(lines)),
            "",
            "",
        ]
        if self.chance(40):
            sub = self.name("Sub")
            after = self.pick(
                (
                    ["return h"],
                    ["return h.sin()"],
                    ["need(h)", "return h.sin()"],
                    ["return x + h"],
                    ["return x.cos() + h[...].sum()"],
                )
            )
            self._top += [f"class {sub}({name}):"]
            if self.chance(50):
                override = self.pick((["return t.sin()"], ["return super()._mix(t) + 1"]))
                self._top += ["    def _mix(self, t):", *indented(indented(override)), ""]
            if self.chance(70):
                self._top += [
                    "    def forward(self, x):",
                    *indented(indented(["h = super().forward(x)", *after])),
                    "",
                ]
            else:
                self._top += ["    extra = 1", ""]
            self._top += [""]
            name = sub
        instance = name.lower()
        self._top += [f"{instance} = {name}()", "", ""]
        self._helpers.append(Helper(instance, 1, False, Tensor(FULL, True)))

    def _helper_call(self, scope: Scope) -> Lines:
        if not self._helpers:
            return []
        helper = self.pick(self._helpers)
        arguments = [self.value(scope, FULL).text for _ in range(helper.parameters)]
        if helper.flagged:
            flag = self.flag(scope)
            if flag is None:
                return []
            arguments.append(flag if self.chance(50) else f"flag={flag}")
        call = f"{helper.call}({', '.join(arguments)})"
        if helper.result is None:
            return [call]
        if isinstance(helper.result, Group):
            name = self.name("got")
            scope.names[name] = helper.result
            return [f"{name} = {call}"]
        if self.chance(25):
            return [f"acc = acc + {call}"]
        return [f"{self.new(scope, helper.result)} = {call}"]
