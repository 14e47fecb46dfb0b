"""A36: a region over a method that returns a tuple of region outputs."""

import torch_remat as remat
from blocks import Block


def rotate(q):
    return q * 2 + q.roll(1, -1)


class Rotated(Block):
    def _project(self, x):
        return x * 2, x * 3

    def marked(self, x):
        q, k = remat.region(self._project, "project", recompute=False)(x)
        remat.recompute_needs_tensor(q, k)
        return rotate(q), rotate(k)

    def unmarked(self, x):
        q, k = remat.region(self._project, "project", recompute=False)(x)
        return rotate(q), rotate(k)  # expect: RMT101 insert: remat.recompute_needs_tensor(q, k)


ROTATED = Rotated()


def body_marked(x):
    """runtime: ok"""
    return ROTATED.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return ROTATED.unmarked(x)
