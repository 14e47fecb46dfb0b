"""The regions that are declared are those that torch_remat records when an object of the class runs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis.declared import declaring_classes
from remat_lint.analysis.facts import DeclaredRegion, DeclaringClass
from remat_lint.project import Project
from remat_lint.source import SourceFile

HEADER = """
import contextlib
import functools
from collections import OrderedDict

import torch
import torch_remat as remat
from torch import nn
from torch.nn import functional as F


def save(function, name):
    return remat.region(function, name, recompute=False)


class Named(nn.Module):
    region_prefix = ""
    saved = ()

    def region_name(self, local):
        return f"{self.region_prefix}.{local}" if self.region_prefix else local

    def recomputes(self, local):
        return self.region_name(local) not in self.saved

    def region(self, function, local):
        return remat.region(function, self.region_name(local), recompute=self.recomputes(local))


def name_of(module, local):
    return ".".join(filter(None, (module.region_prefix, local)))


class Attention(Named):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.region(self.out, "out")(self.region(self.qkv, "qkv")(x))


class FeedForward(Named):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 4)

    def forward(self, x):
        up = remat.region(self.up, name_of(self, "up"), recompute=True)
        return up(x)


class Twice(Named):
    def __init__(self):
        super().__init__()
        self.first, self.second = Attention(), Attention()

    def forward(self, x):
        return self.second(self.first(x))
"""

BODIES = {
    "literal names": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        h = remat.region(self.a, "a", recompute=False)(x)
        return remat.region(function=self.b, name="b" + ".linear", recompute=True)(h)
""",
    "a part of a part, and two parts that are constructed alike": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.left, self.right = Twice(), Twice()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.region(self.lin, "lin")(self.left(x) + self.right(x))
""",
    "inheritance with super().forward": """
class Base(Named):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.mix(self.attention(x))

    def mix(self, x):
        return x


class Model(Base):
    def __init__(self):
        super().__init__()
        self.feed_forward = FeedForward()
        self.gate = nn.Linear(4, 4)

    def mix(self, x):
        return self.feed_forward(x)

    def forward(self, x):
        return save(self.gate, self.region_name("gate"))(super().forward(x))
""",
    "names that parts are constructed with": """
class Projection(nn.Linear):
    def __init__(self, name):
        super().__init__(4, 4)
        self.name = name

    def forward(self, x):
        return save(super().forward, self.name)(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = Projection("q"), Projection(name="k")
        self.rest = nn.ModuleList([Projection(f"rest.{i}") for i in range(2)])

    def forward(self, x):
        x = self.k(self.q(x))
        for layer in self.rest:
            x = layer(x)
        return x
""",
    "a list of modules": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attention(), FeedForward(), Attention()])

    def forward(self, x):
        for layer in self.layers[:2]:
            x = layer(x)
        return self.layers[-1](x)
""",
    "a list of modules of unknown length": """
class Model(Named):
    def __init__(self, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(Twice() for _ in range(depth))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x)
        return x
""",
    "a sequence, a dict of modules, and modules called as they come": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(Attention(), nn.ReLU(), FeedForward())
        self.named = nn.ModuleDict({"left": FeedForward(), "right": Attention()})

    def forward(self, x):
        x = self.steps(x) + self.named["left"](x)
        for part in self.named.values():
            pass
        return self.named["right"](x)
""",
    "names in a loop": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        for i in range(3):
            x = save(self.lin, f"step{i}")(x)
        for name in ("left", "right"):
            x = remat.region(self.lin, name + "." + str(i), recompute=True)(x)
        return save(self.lin, f"{i:02d}.{{}}")(x)
""",
    "a prefix that parts are constructed with": """
class Inner(nn.Module):
    def __init__(self, prefix=""):
        super().__init__()
        self.prefix = prefix
        self.lin = nn.Linear(4, 4)

    def name(self, local):
        return f"{self.prefix}/{local}" if self.prefix else local

    def forward(self, x):
        return save(self.lin, self.name("lin"))(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Inner("first"), Inner()

    def forward(self, x):
        return self.b(self.a(x))
""",
    "regions inside regions": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.attention, self.other, self.third = Attention(), FeedForward(), FeedForward()
        self.lin = nn.Linear(4, 4)

    def inner(self, x):
        return remat.region(self.lin, "inner", recompute=True)(x)

    def forward(self, x):
        x = remat.region(self.attention, "attention", recompute=True)(x)
        x = self.region(self.inner, "outer")(x)
        return remat.region(self.saved_whole, "whole", recompute=False)(x)

    def saved_whole(self, x):
        return save(self.lin, "within")(x)
""",
    "branches": """
class Model(Named):
    def __init__(self, gated=False):
        super().__init__()
        self.gated = gated
        self.lin = nn.Linear(4, 4)
        self.attention = Attention()

    def forward(self, x):
        if self.gated:
            x = save(self.lin, "gate")(x)
        elif x.shape[0] > 100:
            return self.attention(x)
        if not remat.is_recomputing():
            pass
        return save(self.lin, "last")(x)
""",
    "wrappers made by __init__, partial functions, lambdas and bound methods": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.lin, self.attention = nn.Linear(4, 4), Attention()
        self.made = remat.region(self.lin, "made", recompute=False)
        self.act = functools.partial(remat.region, recompute=False)

    def forward(self, x):
        run = self.attention.forward
        x = self.act(lambda t: F.silu(self.lin(t)), "act")(self.made(x))
        return run(x)
""",
    "name scopes": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.lin, self.attention = nn.Linear(4, 4), Attention()

    def forward(self, x):
        for i in range(2):
            with remat.name_scope(f"step{i}"):
                x = save(self.lin, "lin")(x)
                with remat.name_scope("deep"):
                    x = self.attention(x)
        return save(self.lin, "lin")(x)
""",
    "a part that may be absent, and a prefix that __init__ leaves empty": """
class Told(nn.Module):
    def __init__(self):
        super().__init__()
        self.region_prefix = ""
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return save(self.lin, self.region_prefix + ".lin")(x)


class Model(Named):
    def __init__(self, gated=True):
        super().__init__()
        self.gate = FeedForward() if gated else None
        self.told = Told()

    def forward(self, x):
        x = self.told(x)
        return x if self.gate is None else self.gate(x)
""",
    "loops over numbers": """
class Model(Named):
    def __init__(self, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([Attention() for _ in range(depth)])
        self.few = nn.ModuleList([Attention(), FeedForward()])

    def forward(self, x):
        for i in range(len(self.layers)):
            x = self.layers[i](x)
        for i in range(len(self.few)):
            x = self.few[i](x)
        return x
""",
    "layers whose forward is a checkpoint": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([FeedForward(), FeedForward()])
        for i, layer in enumerate(self.layers):
            layer.forward = remat.checkpoint(region_name=f"layers.{i}")(layer.forward)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "checkpoints of own methods and of lambdas": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.part = nn.Linear(4, 4), FeedForward()
        self.part.region_prefix = "part"

    def forward(self, x):
        x = remat.checkpoint(region_name="body")(self.body)(x)
        return remat.checkpoint(region_name="lambda")(lambda t: save(self.lin, "last")(self.part(t)))(x)

    def body(self, x):
        return save(self.lin, "lin")(x)
""",
    "a function that is handed the module": """
def run(module, x):
    return save(module.lin, name_of(module, local="lin"))(module.attention(x))


class Model(Named):
    def __init__(self):
        super().__init__()
        self.lin, self.attention = nn.Linear(4, 4), Attention()

    def forward(self, x):
        return run(self, x)
""",
    "context managers of the project": """
@contextlib.contextmanager
def noted():
    yield


@contextlib.contextmanager
def scoped(name):
    with remat.name_scope(name):
        yield


class Model(Named):
    def __init__(self):
        super().__init__()
        self.a, self.b = Attention(), Attention()

    def forward(self, x):
        with noted():
            x = self.a(x)
        with scoped("s"):
            return self.b(x)
""",
    "containers in containers, and parts under computed names": """
class Model(Named):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([("first", Attention()), ("second", FeedForward())]))
        self.rows = nn.ModuleList([nn.ModuleList([Attention()]), nn.ModuleList([FeedForward()])])
        self.named = nn.ModuleDict({"a": Attention(), "b": FeedForward()})
        for i in range(2):
            setattr(self, f"layer{i}", Attention())
        self.add_module("extra", FeedForward())

    def forward(self, x):
        x = self.extra(self.net(x))
        for row in self.rows:
            for layer in row:
                x = layer(x)
        for name, layer in self.named.items():
            x = save(torch.sin, f"sin_{name}")(layer(x))
        for i in range(2):
            x = getattr(self, f"layer{i}")(x)
        return x
""",
    "a decorator that makes a region of a method": """
def as_region(name):
    def wrap(function):
        @functools.wraps(function)
        def run(self, x):
            return save(functools.partial(function, self), self.region_name(name))(x)

        return run

    return wrap


class Step(Named):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    @as_region("lin")
    def forward(self, x):
        return self.lin(x)


class Model(Named):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(x)
""",
    "layers that are filled in": """
class Model(Named):
    def __init__(self, depth=2):
        super().__init__()
        self.listed = nn.ModuleList()
        self.named = nn.ModuleDict()
        for i in range(depth):
            self.listed.append(Attention())
            self.named[str(i)] = FeedForward()

    def forward(self, x):
        for layer in self.listed:
            x = layer(x)
        for layer in self.named.values():
            x = layer(x)
        return x
""",
    "layers that are checkpoints": """
class Block(Named):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()

    def forward(self, x):
        return self.feed_forward(self.attention(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
        self.head = Attention()
        for layer in self.layers:
            set_prefixes(layer)
        set_prefixes(self.head)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = remat.checkpoint(region_name=f"layers.{i}")(layer)(x)
        return remat.checkpoint(region_name="head")(self.head.forward)(x)


def set_prefixes(block):
    for path, module in block.named_modules():
        if isinstance(module, Named):
            module.region_prefix = path
""",
}


def declared(path: Path, name: str) -> DeclaringClass:
    """What the analysis says of one class."""
    source, project = SourceFile.read(path), Project()
    project.add(source)
    return next(one for one in declaring_classes(source, project) if one.name == name)


def recorded(program: str) -> list[tuple[str, bool]]:
    """Names and flags of the regions that torch_remat records when the model runs.

    A model without checkpoints of its own is one checkpoint, and its parts are told where they stand in it.
    """
    torch = pytest.importorskip("torch")
    remat = pytest.importorskip("torch_remat")
    names: dict[str, Any] = {"__name__": "model"}
    exec(program, names)
    run = model = names["Model"]()
    if "remat.checkpoint" not in program:
        run = remat.checkpoint(region_name="model")(model)
        for path, part in model.named_modules():
            if hasattr(part, "region_prefix"):
                part.region_prefix = path
    with remat.collect_trace() as trace:
        run(torch.ones(2, 4, requires_grad=True))
    return [(entry.name, entry.recompute) for entry in trace.entries]


def inner_names(region: DeclaredRegion) -> tuple[str, ...]:
    """The name as the class knows it, and as the part knows it that is checkpointed."""
    prefix = f"{region.checkpoint}." if region.checkpoint else ""
    return (region.name, region.name.removeprefix(prefix))


def fits(region: DeclaredRegion, name: str, recompute: bool) -> bool:
    agrees = region.kept == "policy" or (region.kept == "recompute") is recompute
    names = inner_names(region)
    return agrees and (name in names if region.static else any(fnmatchcase(name, n) for n in names))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_declared_names_are_those_that_run(body: str, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(HEADER + body)
    found = declared(path, "Model")
    names = recorded(HEADER + body)
    assert names
    assert found.complete
    unlisted = [n for n in names if not any(fits(region, *n) for region in found.regions)]
    idle = [
        region.name
        for region in found.regions
        if not region.conditional and not any(fits(region, *n) for n in names)
    ]
    assert (unlisted, idle) == ([], [])
