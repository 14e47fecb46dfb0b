"""A65: attributes are typed by what `build` of a nested `Config` gives, and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch_remat as remat
from blocks import Proj
from torch import nn


class Configurable:
    """A component that its nested ``Config`` builds."""

    @dataclass(kw_only=True)
    class Config:
        prefix: str = ""

        def build(self, **options):
            return self.owner(self, **options)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "Config" in cls.__dict__:
            cls.__dict__["Config"].owner = cls


class Linear(Proj, Configurable):
    @dataclass(kw_only=True)
    class Config(Configurable.Config):
        into: int = 8

    def __init__(self, config: Config):
        super().__init__(config.prefix, config.into)


class Rope(nn.Module, Configurable):
    @dataclass(kw_only=True)
    class Config(Configurable.Config):
        shift: int = 1

    def __init__(self, config: Config):
        super().__init__()
        self.shift = config.shift

    def forward(self, x):
        return x.roll(self.shift, -1)


class Layer(nn.Module, Configurable):
    @dataclass(kw_only=True)
    class Config(Configurable.Config):
        proj: Linear.Config
        out: Linear.Config
        rope: Rope.Config | None = None

    def __init__(self, config: Config, *, layer_id: int):
        super().__init__()
        self.layer_id = layer_id
        self.proj = config.proj.build()
        self.out = config.out.build()
        self.rope: Rope | None = None if config.rope is None else config.rope.build()

    def forward(self, x):
        y = self.out(x)
        if self.rope is not None:
            return self.rope(y)  # expect: RMT101 insert: remat.recompute_needs_tensor(y)
        return y


class Stack(nn.Module, Configurable):
    @dataclass(kw_only=True)
    class Config(Configurable.Config):
        blocks: list[Layer.Config] = field(default_factory=list)
        extra: Linear.Config

    def __init__(self, config: Config):
        super().__init__()
        self.extra = config.extra.build()
        self.layers = nn.ModuleDict({str(i): c.build(layer_id=i) for i, c in enumerate(config.blocks)})

    def forward(self, x):
        x = self.extra(x) + 1  # expect: RMT101 insert: extra_out = self.extra(x); remat.recompute_needs_tensor(extra_out)
        for layer in self.layers.values():
            x = layer.proj(x) * 2  # expect: RMT101 insert: proj_out = layer.proj(x); remat.recompute_needs_tensor(proj_out)
            x = layer(x)
        return x


def layer_config(number, rope):
    return Layer.Config(
        proj=Linear.Config(prefix=f"{number}.proj"), out=Linear.Config(prefix=f"{number}.out"), rope=rope
    )


STACK = Stack.Config(
    blocks=[layer_config(0, None), layer_config(1, Rope.Config())],
    extra=Linear.Config(prefix="extra"),
).build()


def body_stack(x):
    """runtime: placeholder"""
    return STACK(x)
