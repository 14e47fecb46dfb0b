"""A33: a method returns region outputs; its caller marks them."""

import torch_remat as remat
from blocks import Block, Proj


class Scores(Block):
    def __init__(self):
        super().__init__("scores")
        self.q, self.k = Proj("q"), Proj("k")

    def _project(self, x):
        return self.q(x), self.k(x)

    def marked(self, x):
        q, k = self._project(x)
        remat.recompute_needs_tensor(q, k)
        return q @ k.mT

    def unmarked(self, x):
        q, k = self._project(x)
        return q @ k.mT  # expect: RMT101 insert: remat.recompute_needs_tensor(q, k)


SCORES = Scores()


def body_marked(x):
    """runtime: ok"""
    return SCORES.marked(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return SCORES.unmarked(x)
