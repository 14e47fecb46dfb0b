"""Values through types and structures: what the analyser finds, and what torch_remat says of it.

Each program defines ``body(x)``. A line that ends in ``# read`` is the consumer of a finding, no other line
is. torch_remat is asked whether every marker that the fix writes is needed, and all of them are enough.
"""

from __future__ import annotations

import itertools
import re
import sys
import textwrap
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import BareRead, HiddenDependency
from remat_lint.config import Config
from remat_lint.fixer import Fixer
from remat_lint.linter import Linter
from remat_lint.project import Project
from remat_lint.source import SourceFile

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        import torch_remat as remat
    from remat_lint.runtime_check.placeholders import torch_has_placeholders

    runs = torch_has_placeholders()
except ImportError:
    runs = False

PRELUDE = """\
from __future__ import annotations
import collections, dataclasses, functools, itertools, operator, typing
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Optional, Sequence, Union
import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
from torch_remat import recompute_needs_tensor as M

NAMES = itertools.count()

class Proj(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.lin = nn.Linear(8, size)
    def forward(self, x):
        return remat.region(self.lin, f"proj{next(NAMES)}", recompute=False)(x)

class Plain(nn.Module):
    def forward(self, x):
        return x.sin()

def two(x):
    return x * 2, x * 3

def save(f, x):
    return remat.region(f, f"save{next(NAMES)}", recompute=False)(x)
"""

TYPES = {
    "class_level_annotation": """
        class Block(nn.Module):
            proj: Proj
            def __init__(self, parts):
                super().__init__()
                self.proj = parts["proj"]
            def forward(self, x):
                return self.proj(x) + 1  # read
        BLOCK = Block({"proj": Proj()})
        def body(x):
            return BLOCK(x)
        """,
    "annotation_of_an_attribute": """
        class Block(nn.Module):
            def __init__(self, parts):
                super().__init__()
                self.proj: Proj = parts["proj"]
            def forward(self, x):
                return self.proj(x) + 1  # read
        BLOCK = Block({"proj": Proj()})
        def body(x):
            return BLOCK(x)
        """,
    "constructor_parameters": """
        class Block(nn.Module):
            def __init__(self, a: Proj, b: "Proj | None", c: Optional[Proj], d: Annotated[Proj, 1]):
                super().__init__()
                self.a, self.b, self.c, self.d = a, b, c, d
            def forward(self, x):
                x = self.a(x) * 2  # read
                x = self.b(x) * 2  # read
                x = self.c(x) * 2  # read
                return self.d(x) * 2  # read
        BLOCK = Block(Proj(), Proj(), Proj(), Proj())
        def body(x):
            return BLOCK(x)
        """,
    "containers_of_parameters": """
        class Block(nn.Module):
            def __init__(self, a: list[Proj], b: dict[str, Proj], c: tuple[Proj, ...], d: Sequence["Proj"]):
                super().__init__()
                self.a, self.b = nn.ModuleList(a), nn.ModuleDict(b)
                self.c, self.d = nn.ModuleList(c), nn.ModuleList(d)
            def forward(self, x):
                for proj in self.a:
                    x = proj(x) * 2  # read
                for proj in self.b.values():
                    x = proj(x) * 2  # read
                x = self.c[0](x) * 2  # read
                for name, proj in self.d.named_children():
                    x = proj(x) * 2  # read
                return x
        BLOCK = Block([Proj()], {"a": Proj()}, (Proj(),), [Proj()])
        def body(x):
            return BLOCK(x)
        """,
    "a_class_that_is_handed_over": """
        class Block(nn.Module):
            def __init__(self, kind: type[Proj]):
                super().__init__()
                self.proj = kind(8)
            def forward(self, x):
                return self.proj(x) * 2  # read
        BLOCK = Block(Proj)
        def body(x):
            return BLOCK(x)
        """,
    "either_of_two_classes": """
        class Block(nn.Module):
            def __init__(self, part: Union[Proj, Plain]):
                super().__init__()
                self.part = part
            def forward(self, x):
                return self.part(x) * 2  # read
        BLOCK = Block(Proj())
        def body(x):
            return BLOCK(x)
        """,
    "parameters_of_functions": """
        def apply(proj: Proj, x):
            return proj(x) * 2  # read
        PROJ = Proj()
        def body(x):
            return apply(PROJ, x)
        """,
    "a_factory_by_its_annotation": """
        REGISTRY = {}
        def make(name) -> Proj:
            return REGISTRY[name]()
        REGISTRY["proj"] = Proj
        class Block(nn.Module):
            def __init__(self, name):
                super().__init__()
                self.proj = make(name)
            def forward(self, x):
                return self.proj(x) * 2  # read
        BLOCK = Block("proj")
        def body(x):
            return BLOCK(x)
        """,
    "a_factory_by_following_it": """
        def make(kind):
            if kind == "plain":
                return Plain()
            return Proj()
        class Block(nn.Module):
            def __init__(self, kind):
                super().__init__()
                self.part = make(kind)
            def forward(self, x):
                return self.part(x) * 2  # read
        BLOCK = Block("proj")
        def body(x):
            return BLOCK(x)
        """,
    "attributes_set_late": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = None
            def setup(self):
                self.proj = Proj()
                self.parts = nn.ModuleList([Proj()])
            def forward(self, x):
                x = self.proj(x) * 2  # read
                return self.parts[0](x) * 2  # read
        BLOCK = Block()
        BLOCK.setup()
        def body(x):
            return BLOCK(x)
        """,
    "sequential": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.all = nn.Sequential(Plain(), Proj())
                self.some = nn.Sequential(*[Proj() for _ in range(2)])
                self.named = nn.Sequential(collections.OrderedDict([("a", Proj()), ("b", Proj())]))
            def forward(self, x):
                x = self.all(x) * 2  # read
                x = self.some(x) * 2  # read
                return self.named(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "module_lists": """
        class Block(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.a = nn.ModuleList(Proj() for _ in range(n))
                self.b = nn.ModuleList([])
                for _ in range(n):
                    self.b.append(Proj())
                self.c = nn.ModuleList()
                self.c.extend([Proj() for _ in range(n)])
            def forward(self, x):
                for i, proj in enumerate(self.a):
                    x = proj(x) * 2  # read
                for proj in self.b:
                    x = proj(x) * 2  # read
                return self.c[-1](x) * 2  # read
        BLOCK = Block(2)
        def body(x):
            return BLOCK(x)
        """,
    "module_dicts": """
        class Block(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.a = nn.ModuleDict({"q": Proj(), "k": Plain()})
                self.b = nn.ModuleDict({f"l{i}": Proj() for i in range(n)})
                self.c = nn.ModuleDict()
                for i in range(n):
                    self.c[str(i)] = Proj()
                self.d = nn.ModuleDict()
                self.d["v"] = Proj()
                self.d.update({"w": Plain()})
            def forward(self, x):
                x = self.a["q"](x) * 2  # read
                x = self.a["k"](x) * 2
                for name, proj in self.b.items():
                    x = proj(x) * 2  # read
                for proj in self.c.values():
                    x = proj(x) * 2  # read
                return self.d["v"](x) * 2  # read
        BLOCK = Block(2)
        def body(x):
            return BLOCK(x)
        """,
    "computed_names": """
        class Block(nn.Module):
            def __init__(self, n):
                super().__init__()
                for i in range(n):
                    setattr(self, f"proj{i}", Proj())
                    self.add_module(f"plain_{i}", Plain())
                self.add_module("last", Proj())
                self.n = n
            def forward(self, x):
                for i in range(self.n):
                    x = getattr(self, f"proj{i}")(x) * 2  # read
                    x = getattr(self, f"plain_{i}")(x) * 2
                x = self.proj0(x) * 2  # read
                return self.last(x) * 2  # read
        BLOCK = Block(2)
        def body(x):
            return BLOCK(x)
        """,
    "configs_that_build": """
        class Configurable:
            @dataclass(kw_only=True)
            class Config:
                def build(self, **options):
                    return self._owner(self, **options)
            def __init_subclass__(cls, **options):
                super().__init_subclass__(**options)
                if "Config" in cls.__dict__:
                    cls.__dict__["Config"]._owner = cls
        class Linear(Proj, Configurable):
            @dataclass(kw_only=True)
            class Config(Configurable.Config):
                size: int = 8
            def __init__(self, config: Config):
                super().__init__(config.size)
        class Norm(Plain, Configurable):
            @dataclass(kw_only=True)
            class Config(Configurable.Config):
                eps: float = 1.0
            def __init__(self, config: Config):
                super().__init__()
        class Block(nn.Module, Configurable):
            @dataclass(kw_only=True)
            class Config(Configurable.Config):
                wq: Linear.Config
                wk: Linear.Config | None = None
                wo: "Linear.Config" = field(default_factory=lambda: Linear.Config())
                norm: Norm.Config = field(default_factory=Norm.Config)
                more: list[Linear.Config] = field(default_factory=list)
                named: dict[str, Linear.Config] = field(default_factory=dict)
                either: Union[Linear.Config, Norm.Config]
            def __init__(self, config: Config, *, dim: int = 8):
                super().__init__()
                self.wq = config.wq.build()
                self.wk = config.wk.build() if config.wk is not None else None
                self.wo = config.wo.build()
                self.norm = config.norm.build()
                self.more = nn.ModuleList([c.build() for c in config.more])
                self.named = nn.ModuleDict({k: c.build() for k, c in config.named.items()})
                self.either = config.either.build()
                self.copied = dataclasses.replace(config.wq, size=8).build()
            def forward(self, x):
                x = self.wq(x) * 2  # read
                if self.wk is not None:
                    x = self.wk(x) * 2  # read
                x = self.wo(x) * 2  # read
                x = self.norm(x) * 2
                for part in self.more:
                    x = part(x) * 2  # read
                for part in self.named.values():
                    x = part(x) * 2  # read
                x = self.either(x) * 2  # read
                return self.copied(x) * 2  # read
        C = Linear.Config
        BLOCK = Block.Config(wq=C(), wk=C(), more=[C()], named={"a": C()}, either=C()).build(dim=8)
        def body(x):
            return BLOCK(x)
        """,
    "inheritance_in_the_order_of_python": """
        class Base(nn.Module):
            def make(self):
                return Plain()
            def __init__(self):
                super().__init__()
                self.part = self.make()
            def forward(self, x):
                return self.part(x) * 2  # read
        class Left(Base):
            pass
        class Right(Base):
            def make(self):
                return Proj()
        class Both(Left, Right):
            pass
        BLOCK = Both()
        def body(x):
            return BLOCK(x)
        """,
    "super_in_every_form": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
            def forward(self, x):
                return self.proj(x)
            @classmethod
            def made(cls):
                return cls()
        class Zero(Base):
            def forward(self, x):
                return super().forward(x) * 2  # read
        class Two(Base):
            def forward(self, x):
                return super(Two, self).forward(x) * 2  # read
        class Nested(Base):
            def forward(self, x):
                def inner(t):
                    return super(Nested, self).forward(t)
                return inner(x) * 2  # read
        class Named(Base):
            def forward(self, x):
                return Base.forward(self, x) * 2  # read
        class Made(Base):
            @classmethod
            def made(cls):
                return super().made()
            def forward(self, x):
                return super().forward(x) * 2  # read
        BLOCKS = nn.ModuleList([Zero(), Two(), Nested(), Named()])
        MADE = Made.made()
        def body(x):
            for block in BLOCKS:
                x = block(x)
            return MADE(x)
        """,
    "kinds_of_methods": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
            @staticmethod
            def fixed(x):
                return save(torch.sin, x)
            @classmethod
            def of_class(cls, x):
                return cls.fixed(x)
            @property
            def part(self):
                return self.proj
            @part.setter
            def part(self, value):
                self.proj = value
            @functools.cached_property
            def cached(self):
                return self.proj
            def forward(self, x):
                x = self.fixed(x) * 2  # read
                x = Block.fixed(x) * 2  # read
                x = self.of_class(x) * 2  # read
                x = self.part(x) * 2  # read
                return self.cached(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "callable_objects": """
        class Scale:
            def __init__(self, by):
                self.by = by
            def __call__(self, x):
                return save(torch.sin, x)
        SCALE = Scale(2)
        def body(x):
            return SCALE(x) * 2  # read
        """,
    "partials": """
        def run(x, part, *, times):
            return part(x)
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
            def _run(self, x, which):
                return self.proj(x)
            first = functools.partialmethod(_run, which="a")
            def forward(self, x):
                x = self.first(x) * 2  # read
                again = functools.partial(run, part=self.proj, times=1)
                return again(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "decorators": """
        def logged(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                return function(*args, **kwargs)
            return inner
        def with_options(**options):
            def decorate(function):
                return function
            return decorate
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
            @logged
            def a(self, x):
                return self.proj(x)
            @with_options(times=2)
            def b(self, x):
                return self.proj(x)
            @torch.no_grad if False else logged
            def c(self, x):
                return self.proj(x)
            def forward(self, x):
                x = self.a(x) * 2  # read
                x = self.b(x) * 2  # read
                return self.c(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "self_and_protocols": """
        class Like(typing.Protocol):
            def __call__(self, x): ...
        class Block(nn.Module):
            def __init__(self, like: Like):
                super().__init__()
                self.proj = Proj()
                self.like = like
            def ready(self) -> typing.Self:
                return self
            def forward(self, x):
                return self.ready().proj(x) * 2  # read
        BLOCK = Block(torch.sin)
        def body(x):
            return BLOCK(x)
        """,
    "subclasses_of_containers": """
        class Projs(nn.ModuleList):
            def __init__(self, n):
                super().__init__([Proj() for _ in range(n)])
            def forward(self, x):
                for proj in self:
                    x = proj(x) * 2  # read
                return x
        class Steps(nn.Sequential):
            def forward(self, x):
                return super().forward(x) * 2  # read
        BLOCK, STEPS = Projs(2), Steps(Plain(), Proj())
        def body(x):
            return STEPS(BLOCK(x))
        """,
    "ways_to_a_part": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
            def forward(self, x):
                x = getattr(self, "proj")(x) * 2  # read
                x = self._modules["proj"](x) * 2  # read
                x = self.get_submodule("proj")(x) * 2  # read
                for part in self.children():
                    x = part(x) * 2  # read
                for name, part in self.named_children():
                    x = part(x) * 2  # read
                return typing.cast(Proj, self.proj)(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "a_class_that_is_chosen": """
        def choose(name):
            return {"proj": Proj, "plain": Plain}[name]
        KINDS = {"proj": Proj}
        class Block(nn.Module):
            def __init__(self, name):
                super().__init__()
                self.a = choose(name)()
                self.b = KINDS[name]()
                self.c = (Proj if name == "proj" else Plain)()
            def forward(self, x):
                x = self.a(x) * 2  # read
                x = self.b(x) * 2  # read
                return self.c(x) * 2  # read
        BLOCK = Block("proj")
        def body(x):
            return BLOCK(x)
        """,
    "a_part_of_a_part": """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = Proj()
                self.parts = nn.ModuleDict({"a": Proj()})
        class Block(nn.Module):
            def __init__(self, inner: Inner):
                super().__init__()
                self.inner = inner
            def forward(self, x):
                inner = self.inner
                x = inner.proj(x) * 2  # read
                return self.inner.parts["a"](x) * 2  # read
        BLOCK = Block(Inner())
        def body(x):
            return BLOCK(x)
        """,
    "mixins": """
        class WithProj:
            def _build(self):
                self.proj = Proj()
            def project(self, x):
                return self.proj(x)
        class Block(WithProj, nn.Module):
            def __init__(self):
                super().__init__()
                self._build()
            def forward(self, x):
                return self.project(x) * 2  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "an_abstract_base": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = self.make()
            def make(self):
                raise NotImplementedError
            def forward(self, x):
                return self.post(self.part(x))  # read
            def post(self, y):
                return y * 2
        class Block(Base):
            def make(self):
                return Proj()
        BLOCK = Block()
        def body(x):
            y = BLOCK(x)
            return y
        """,
}

STRUCTURES = {
    "concatenated_tuples": """
        def body(x):
            a = save(two, x)
            b = save(two, x)
            M(*a)
            outs = a + b
            p, q, r, s = outs
            p = p + q
            return p + r + s  # read
        """,
    "records": """
        @dataclass
        class Pair:
            first: torch.Tensor
            second: torch.Tensor | None = None
            rest: list = field(default_factory=list)
        @dataclass
        class Triple(Pair):
            third: torch.Tensor | None = None
            def __post_init__(self):
                self.kept = self.first
        def body(x):
            a, b = save(two, x)
            c = save(torch.sin, x)
            pair = Pair(a, second=b)
            pair.rest.append(c)
            other = Pair(x)
            other.rest.append(x)
            triple = Triple(a, x, third=c)
            M(pair.first)
            x = x + triple.kept + triple.first + other.rest[0]
            x = x + pair.second  # read
            return x + pair.rest[0]  # read
        """,
    "named_tuples": """
        class Pair(NamedTuple):
            first: torch.Tensor
            second: torch.Tensor | None = None
        Old = collections.namedtuple("Old", "left right")
        Typed = typing.NamedTuple("Typed", [("one", Any), ("two", Any)])
        def body(x):
            a, b = save(two, x)
            c, d = save(two, x)
            pair, old, typed = Pair(a), Old(b, right=c), Typed(one=x, two=d)
            M(pair.first)
            x = x + a
            x = x + old.left  # read
            x = x + old.right  # read
            one, second = typed
            x = x + one
            return x + second  # read
        """,
    "zip_enumerate_map": """
        def body(x):
            a, b, c = save(lambda t: (t * 1, t * 2, t * 3), x)
            M(a)
            for i, (left, right) in enumerate(zip((a, x), (x, b))):
                x = x + left
                x = x + right  # read
            for done in map(torch.cos, [c]):  # read
                x = x + done
            return x
        """,
    "filter_and_chain": """
        def body(x):
            a, b = save(two, x)
            c, d = save(two, x)
            M(a, c)
            for t in itertools.chain([a], (c,)):
                x = x + t
            for t in itertools.chain.from_iterable([[b]]):
                x = x + t  # read
            for t in filter(lambda t: t.ndim > 1, [d]):
                x = x + t  # read
            return x
        """,
    "zip_longest_and_islice": """
        def body(x):
            a, b = save(two, x)
            M(a)
            for left, right in itertools.zip_longest([a, x], [x]):
                x = x + left
            for t in itertools.islice([b, x], 1):
                x = x + t  # read
            return x
        """,
    "getters": """
        def body(x):
            a, b = save(two, x)
            M(a)
            first = operator.itemgetter(0)
            both = operator.itemgetter("a", "b")({"a": a, "b": b})
            x = x + first((a, b))
            x = x + both[0]
            return x + both[1]  # read
        """,
    "dict_of_zip": """
        def body(x):
            named = dict(zip(("a", "b"), save(two, x)))
            M(named["a"])
            x = x + named["a"]
            return x + named["b"]  # read
        """,
    "dict_of_pairs": """
        def body(x):
            a, b = save(two, x)
            named = dict([("a", a), ("b", b)])
            M(named["a"])
            x = x + named["a"]
            return x + named["b"]  # read
        """,
    "outputs_in_a_list": """
        def body(x):
            outs = []
            for i in range(2):
                outs.append(save(torch.sin, x))
            for out in outs:
                M(out)
            return sum(outs) + torch.stack(outs).sum(0)
        """,
    "outputs_in_a_list_unmarked": """
        def body(x):
            outs = []
            for i in range(2):
                outs.append(save(torch.sin, x))
            return torch.stack(outs).sum(0)  # read
        """,
    "reversed_and_sorted": """
        def body(x):
            a, b = save(two, x)
            M(a)
            for t in reversed([a, x]):
                x = x + t
            for t in sorted([b], key=lambda t: t.ndim):
                x = x + t  # read
            return x
        """,
    "deques": """
        def body(x):
            a, b = save(two, x)
            M(a)
            waiting = collections.deque([a])
            x = x + waiting.popleft()
            waiting.append(b)
            waiting.appendleft(a)
            x = x + waiting[0]
            return x + waiting.pop()  # read
        """,
    "default_dicts": """
        def body(x):
            a, b = save(two, x)
            M(a)
            found = collections.defaultdict(list)
            found["a"].append(a)
            found["b"].append(b)
            x = x + found["a"][0]
            return x + found["b"][0]  # read
        """,
    "attributes_within_one_call": """
        class Block(nn.Module):
            def _first(self, x):
                self.kept = save(torch.sin, x)
            def forward(self, x):
                self._first(x)
                return self.kept + x  # read
        BLOCK = Block()
        def body(x):
            return BLOCK(x)
        """,
    "starred_calls": """
        def add(a, b):
            return a + b
        def body(x):
            outs = save(two, x)
            M(outs[0], outs[1])
            x = x + add(*outs)
            more = save(two, x)
            return add(*more)  # read
        """,
}

PROGRAMS = TYPES | STRUCTURES


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_analyser_finds(name: str) -> None:
    code = PRELUDE + textwrap.dedent(PROGRAMS[name])
    source = SourceFile("model.py", code.encode())
    facts = analyse(source, Project())
    found = {
        source.span(fact.place.node).line for kind in (BareRead, HiddenDependency) for fact in facts.of(kind)
    }
    expected = {n for n, line in enumerate(code.splitlines(), start=1) if re.search(r"# read$", line)}
    assert found == expected


@pytest.mark.skipif(not runs, reason="needs torch_remat and a torch that has placeholders")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_remat_agrees(name: str) -> None:
    """With the markers of the fix the program runs; it raises without any one of them."""
    code = PRELUDE + textwrap.dedent(PROGRAMS[name])
    fixed = Fixer(Linter(Config(root=Path(), select=("RMT101",)))).fix(SourceFile("model.py", code.encode()))
    assert fixed.bugs == []
    assert ("placeholder" in _outcome(code)) is bool(re.search("# read$", code, re.MULTILINE))
    lines = fixed.after.text.splitlines()
    if not fixed.unfixed:
        assert _outcome("\n".join(lines)) == ""
        for number, line in enumerate(lines):
            if line.strip().startswith("M(") and line not in code.splitlines():
                assert "placeholder" in _outcome("\n".join(lines[:number] + lines[number + 1 :]))


def _outcome(code: str) -> str:
    """The error that a program ends in, if it does."""
    module: dict[str, Any] = {"__name__": "structures"}
    torch.manual_seed(0)
    sys.modules["structures"] = types.ModuleType("structures")  # dataclasses look their module up
    try:
        exec(compile(code, "structures.py", "exec", dont_inherit=True), module)
    finally:
        del sys.modules["structures"]

    def body(x: Any) -> Any:
        module["NAMES"] = itertools.count()  # a replay gives the same names
        return module["body"](x)

    x = torch.randn(4, 8, requires_grad=True)
    try:
        remat.checkpoint(region_name="body")(body)(x).sum().backward()
    except RuntimeError as error:
        return str(error)
    return ""
