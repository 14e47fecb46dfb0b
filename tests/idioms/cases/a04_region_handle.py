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


    def mixed_up(self, x):
        return remat.region(  # expect: RMT205
            self._score,
            self.remat_region_name(self.score_region),
            recompute=self.remat_should_recompute("scores"),
        )(x)

    def of_one_name(self, x):
        return remat.region(
            self._score,
            self.remat_region_name(self.score_region),
            recompute=self.remat_should_recompute("score"),
        )(x)

    def twice(self, x):
        x = remat.region(self._score, self.remat_region_name("score"), recompute=True)(x)
        return remat.region(  # expect: RMT201
            self._score, self.remat_region_name(self.score_region), recompute=True
        )(x)

    def made_in_the_method(self, x):
        region = self.register_remat_region("late")
        return remat.region(  # expect: RMT205
            self._score, self.remat_region_name(region), recompute=self.remat_should_recompute(region)
        )(x)


class Late(Scores):
    def __init__(self):
        super().__init__()
        self.late_region = Block.register_remat_region("late")

    def forward(self, x):
        return remat.region(  # expect: RMT205
            self._score,
            self.remat_region_name(self.late_region),
            recompute=self.remat_should_recompute(self.late_region),
        )(x)

    def inherited(self, x):
        return remat.region(
            self._score,
            self.remat_region_name(self.score_region),
            recompute=self.remat_should_recompute(self.score_region),
        )(x)


SCORES = Scores()


def body_scores(x):
    """runtime: ok"""
    return SCORES(x) + 1


def body_twice(x):
    """runtime: error"""
    return SCORES.twice(x)


def body_late(x):
    """runtime: ok"""
    return Late()(x)
