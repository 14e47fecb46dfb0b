"""Writes a package of any size that has every shape which could make an analysis slow.

Classes come in families of ten. Each inherits from the one before and overrides its template method, which
calls the inherited one twice, under a name scope each: run as written, the last of a family runs the first
a thousand times, with a thousand region names. The functions of a family call each other in the same way.
A family is a part of the next one, ten families deep, built from its configuration. There is a function
that calls itself and, in each family, two that call each other, one in each of its two modules, which
import each other; and all families import each other in a ring.

Every third class reads the output of a region without a marker, on a line that ends in ``# missing``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

DEPTH = 10
"""Classes of a family, and levels of its functions."""

_PROJECTION = '''\
"""A projection that declares a region of its own, and the configuration that builds it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch_remat as remat
from torch import nn


class Part(nn.Module):
    class Config:
        def build(self):
            return self.owner(self)


class Projection(Part):
    @dataclass
    class Config(Part.Config):
        width: int = 8

    def __init__(self, config: Config):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config.width, config.width))

    def should_recompute(self, name):
        return name in self.recomputed

    def project(self, x):
        return x @ self.weight

    def forward(self, x):
        region = remat.region(self.project, "project", recompute=self.should_recompute("project"))
        return region(x)


def gather(x, depth):
    """Calls itself."""
    if depth == 0:
        return x
    return gather(x, depth - 1).view(-1)
'''

_LOWER = '''\
from __future__ import annotations

from dataclasses import dataclass

import torch
import torch_remat as remat

from {package}.projection import Part, Projection, gather
from {package} import {before}


def even(x, depth):
    """Calls `odd` of the other module, which calls this."""
    from {package}.{upper} import odd

    return x if depth == 0 else odd(x, depth - 1)

'''

_UPPER = '''\
from __future__ import annotations

from dataclasses import dataclass

import torch
import torch_remat as remat

from {package}.projection import Part, Projection, gather
from {package}.{lower} import {last_lower}, even


def odd(x, depth):
    """Calls `even` of the other module, which calls this."""
    return x if depth == 0 else even(x, depth - 1)

'''

_LEVELS = """
def {name}_0(x):
    y = remat.region(torch.sin, "{name}", recompute=False)(x)
    remat.recompute_needs_tensor(y)
    return y + x

"""

_LEVEL = """
def {name}_{level}(x):
    with remat.name_scope("left"):
        y = {name}_{below}(x)
    with remat.name_scope("right"):
        return y + {name}_{below}(gather(x, 3))

"""

_CLASS = """
class {name}({base}):
    @dataclass
    class Config({base}.Config):
        {part}: Projection.Config
        other: {other}.Config

    def __init__(self, config: Config):
        super().__init__({to_base})
        self.{part} = config.{part}.build()
        self.other = config.other.build()

    def step(self, x):
{step}        y = self.{part}(h)
        z = even_or_odd(y.view(-1), 4)
{marker}        return torch.sin(z) + y{note}

    def {own}(self, x):
        other = self.other(x)
        remat.recompute_needs_tensor(other)
        with remat.name_scope("{scope}"):
            h = self.step(other)
        return h + self.step(x)
"""


_INHERITED = """\
        with remat.name_scope("once"):
            h = super().step(x)
        with remat.name_scope("again"):
            h = super().step(h)
"""


def write(folder: Path, classes: int, package: str = "generated") -> set[tuple[str, int]]:
    """Write the package into ``folder``; where a marker is missing, as file and line."""
    root = folder / package
    root.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    missing: set[tuple[str, int]] = set()
    for name, text in _modules(classes, package):
        (root / name).write_text(text, encoding="utf-8")
        lines = text.splitlines()
        missing |= {(name, at) for at, line in enumerate(lines, start=1) if line.endswith("# missing")}
    return missing


def _modules(classes: int, package: str) -> Iterator[tuple[str, str]]:
    yield "__init__.py", ""
    yield "projection.py", _PROJECTION
    families = classes // DEPTH
    for family in range(families):
        before = (family or families) - 1
        lower, upper = f"family_{family}_lower", f"family_{family}_upper"
        names = {"package": package, "lower": lower, "upper": upper}
        half = DEPTH // 2
        head = _LOWER.format(before=f"family_{before}_lower", **names)
        yield f"{lower}.py", head + _functions(family) + _classes(family, before, range(half), "even")
        head = _UPPER.format(last_lower=f"Family{family}Level{half - 1}", **names)
        yield f"{upper}.py", head + _classes(family, before, range(half, DEPTH), "odd")


def _functions(family: int) -> str:
    name = f"mix_{family}"
    levels = [_LEVEL.format(name=name, level=level, below=level - 1) for level in range(1, DEPTH)]
    return _LEVELS.format(name=name) + "".join(levels)


def _classes(family: int, before: int, levels: range, recursion: str) -> str:
    text = ""
    for level in levels:
        first = level == 0
        is_missing = (family * DEPTH + level) % 3 == 0
        text += _CLASS.format(
            name=f"Family{family}Level{level}",
            base="Part" if first else f"Family{family}Level{level - 1}",
            part=f"part_{level}",
            other=f"family_{before}_lower.Family{before}Level0" if first and family % DEPTH else "Projection",
            to_base="" if first else "config",
            step=f"        h = mix_{family}_{DEPTH - 1}(x)\n" if first else _INHERITED,
            marker="" if is_missing else "        remat.recompute_needs_tensor(y)\n",
            note="  # missing" if is_missing else "",
            scope=f"other_{family}",
            own="forward" if first else f"forward_{level}",
        ).replace("even_or_odd", recursion)
    return text
