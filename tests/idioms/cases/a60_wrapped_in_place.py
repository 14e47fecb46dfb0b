"""A60: `forward` of every layer is replaced by its checkpoint; a layer must not hold another one."""

import torch_remat as remat
from blocks import Proj
from torch import nn


class Layer(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.proj = Proj(f"{name}.proj")

    def forward(self, x):
        return self.proj(x) * 2  # expect: RMT101 insert: proj_out = self.proj(x); remat.recompute_needs_tensor(proj_out)


class Nested(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.proj = Proj(f"{name}.proj")

    def forward(self, x):
        return remat.checkpoint(region_name="inner")(self.proj)(x)  # expect: RMT302


class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = nn.ModuleDict({str(i): kind(f"layers.{i}") for i in range(2)})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


def apply_remat(model):
    for fqn, blk in model.layers.items():
        blk.forward = remat.checkpoint(region_name=f"layers.{fqn}", preserve_rng_state=False)(blk.forward)


MODEL, NESTED = Model(Layer), Model(Nested)
apply_remat(MODEL)
apply_remat(NESTED)


def run_model(x):
    """runtime: placeholder"""
    return MODEL(x)


def run_nested(x):
    """runtime: error"""
    return NESTED(x)
