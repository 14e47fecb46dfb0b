"""A31: a field of a NamedTuple shares its storage; a region sees into the whole of it."""

from typing import NamedTuple

import torch
import torch_remat as remat
from blocks import Block, Proj


class Sent(NamedTuple):
    rows: torch.Tensor
    perm: torch.Tensor | None


class Exchange(Block):
    def __init__(self):
        super().__init__("exchange")
        self.again = False
        self.experts = Proj("experts")

    def _send(self, x):
        return Sent(x * 2, None)

    def _recv(self, h, sent):
        return h + sent.rows

    def marked(self, x):
        s = remat.region(self._send, "send", recompute=self.again)(x)
        remat.recompute_needs_tensor(s.rows)
        h = self.experts(s.rows * 2)
        return remat.region(self._recv, "recv", recompute=self.again)(h, s)

    def unmarked(self, x):
        s = remat.region(self._send, "send", recompute=self.again)(x)
        h = self.experts(s.rows * 2)  # expect: RMT101 insert: remat.recompute_needs_tensor(s.rows)
        return remat.region(self._recv, "recv", recompute=self.again)(h, s)


EXCHANGE = Exchange()


def body_marked(x):
    """runtime: ok"""
    return EXCHANGE.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return EXCHANGE.unmarked(x)
