# select: RMT205,RMT207
"""Names and policies that are asked of two helpers, and names of the old interface."""

import torch
import torch_remat as remat
from torch import nn


class Block(nn.Module):
    def __init__(self, policy=None):
        super().__init__()
        self.policy = policy or {}

    def remat_region_name(self, local):
        return f"block.{local}"

    def remat_should_recompute(self, local):
        return self.policy.get(local, True)

    def should_recompute_remat_region(self, local):
        return self.policy.get(local, True)

    def forward(self, x):
        x = remat.region(torch.sin, self.remat_region_name("a"), recompute=self.remat_should_recompute("a"))(x)
        x = remat.region(torch.sin, self.remat_region_name("b"), recompute=self.remat_should_recompute("a"))(x)  # expect: RMT205
        return remat.region(  # expect: RMT205
            torch.sin, name=self.remat_region_name("c"), recompute=not self.should_recompute_remat_region("C")
        )(x)


class Older(Block):
    def forward(self, x):
        return remat.region(torch.sin, self.remat_region_name("mix"), recompute=self.should_recompute_remat_region("max"))(x)  # expect: RMT205

    def through_variables(self, x):
        name = self.remat_region_name("mix")
        again = self.remat_should_recompute("max")
        return remat.region(torch.sin, name, recompute=again)(x)  # expect: RMT205

    def negated(self, x):
        keep = self.remat_should_recompute("max")
        return remat.region(torch.sin, self.remat_region_name("mix"), recompute=not keep)(x)  # expect: RMT205

    def same_through_variables(self, x):
        name = self.remat_region_name("mix")
        again = self.remat_should_recompute("mix")
        return remat.region(torch.sin, name, recompute=again)(x)

    def one_flag_for_two(self, x):
        again = self.remat_should_recompute("shuffle")
        x = remat.region(torch.sin, self.remat_region_name("send"), recompute=again)(x)
        return remat.region(torch.cos, self.remat_region_name("receive"), recompute=again)(x)

    def one_flag_for_one_here_and_one_inside(self, x):
        again = self.remat_should_recompute("shuffle")

        def inner(t):
            return remat.region(torch.sin, self.remat_region_name("send"), recompute=again)(t)

        return remat.region(torch.cos, self.remat_region_name("receive"), recompute=again)(inner(x))

    def flag_of_several_values(self, x, fast):
        again = self.remat_should_recompute("max")
        if fast:
            again = True
        return remat.region(torch.sin, self.remat_region_name("mix"), recompute=again)(x)

    def computed(self, x, stage):
        return remat.region(
            torch.sin, self.remat_region_name(f"mix.{stage}"), recompute=self.remat_should_recompute("mix")
        )(x)

    def of_a_variable(self, x, local):
        return remat.region(torch.sin, self.remat_region_name(local), recompute=self.remat_should_recompute("mix"))(x)

    def of_another_object(self, x):
        return remat.region(torch.sin, self.remat_region_name("a"), recompute=self.policy.get("mix"))(x)

    def of_one_method(self, x, options):
        return remat.region(torch.sin, options.get("name"), recompute=options.get("recompute"))(x)

    def literal_name(self, x):
        return remat.region(torch.sin, "mix", recompute=self.remat_should_recompute("mix"))(x)


class Handles(Block):
    first_region = object()
    second_region = object()

    def forward(self, x):
        x = remat.region(torch.sin, self.remat_region_name(self.first_region), recompute=self.remat_should_recompute(self.first_region))(x)
        return remat.region(torch.sin, self.remat_region_name(self.second_region), recompute=self.remat_should_recompute(self.first_region))(x)  # expect: RMT205


def body_old_region(x):
    """runtime: error"""
    return remat.op(torch.sin, "sin", policy=remat.SAVE)(x)  # expect: RMT207


def body_old_policy(x):
    """runtime: error"""
    policy = remat.CheckpointPolicy  # expect: RMT207
    return remat.region(torch.sin, "sin", recompute=policy is None)(x)


def body_old_import(x):
    """runtime: error"""
    from torch_remat import SAVE, op  # expect: RMT207

    return op(torch.sin, "sin", policy=SAVE)(x)


def run_old_option(x):
    """runtime: error"""
    return remat.checkpoint(detect_bare_ops=False)(torch.sin)(x)  # expect: RMT207


def body_probing(x):
    """runtime: ok"""
    try:
        from torch_remat import op
    except ImportError:
        op = None
    assert op is None
    return remat.region(torch.sin, "sin", recompute=True)(x)


def body_unknown_name(x):
    """runtime: error"""
    return remat.checkpointed(torch.sin)(x)


@torch.compile(backend="eager")
def compiled(x):
    return remat.op(torch.sin, "sin", policy=remat.SAVE)(x)  # expect: RMT207
