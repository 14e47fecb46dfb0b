"""A04: a handle that is a class attribute names the region; the marker stands at the producer."""

import torch
import torch_remat as remat
from blocks import WIDTH, Block
from torch import nn


class Scores(Block):
    score_region = Block.register_remat_region("score")

    def __init__(self):
        super().__init__("scores")
        self.weight = nn.Parameter(torch.ones(WIDTH, WIDTH))

    def _score(self, x):
        return x @ self.weight

    def forward(self, x):
        s = remat.region(
            self._score,
            self.remat_region_name(self.score_region),
            recompute=self.remat_should_recompute(self.score_region),
        )(x)
        remat.recompute_needs_tensor(s)
        return s


SCORES = Scores()


def body_scores(x):
    """runtime: ok"""
    return SCORES(x) + 1
