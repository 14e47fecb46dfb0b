"""A01: a pair of helpers gives name and policy; what a policy decides may be saved."""

import torch
import torch_remat as remat
from blocks import WIDTH, Block
from torch import nn


class Gate(Block):
    def __init__(self):
        super().__init__("gate")
        self.weight = nn.Parameter(torch.ones(WIDTH, WIDTH))

    def _g(self, x):
        return x @ self.weight

    def marked(self, x):
        g = remat.region(self._g, self.remat_region_name("g"), recompute=self.remat_should_recompute("g"))(x)
        remat.recompute_needs_tensor(g)
        return x * g.tanh()

    def unmarked(self, x):
        g = remat.region(self._g, self.remat_region_name("g"), recompute=self.remat_should_recompute("g"))(x)
        return x * g.tanh()  # expect: RMT101 insert: remat.recompute_needs_tensor(g)

    def mismatched(self, x):
        g = remat.region(  # expect: RMT205
            self._g, self.remat_region_name("g"), recompute=self.remat_should_recompute("gate")
        )(x)
        remat.recompute_needs_tensor(g)
        return x * g.tanh()


GATE = Gate()


def body_marked(x):
    """runtime: ok"""
    return GATE.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return GATE.unmarked(x)
