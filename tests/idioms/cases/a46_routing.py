"""A46: a routing decision that is always saved, a literal name, keyword arguments; and where a policy decides."""

import torch_remat as remat
from torch import nn


class Router(nn.Module):
    def pick(self, x, k=2):
        score = x.softmax(-1)
        return score.argsort(-1)[..., :k], score * 2

    def marked(self, x, **kw):
        idx, score = remat.region(self.pick, "pick", recompute=False)(x, **kw)
        remat.recompute_needs_tensor(idx, score)
        return score.gather(-1, idx)

    def unmarked(self, x, **kw):
        idx, score = remat.region(self.pick, "pick", recompute=False)(x, **kw)
        return score.gather(-1, idx)  # expect: RMT101 insert: remat.recompute_needs_tensor(score, idx)


    def choose(self, x, k=2):
        score = x.softmax(-1)
        return score.argsort(-1)[..., :k], score * 2  # expect: RMT209

    def by_policy(self, x, again=False):
        idx, score = remat.region(self.choose, "choose", recompute=again)(x)
        remat.recompute_needs_tensor(idx, score)
        return score.gather(-1, idx)


ROUTER = Router()


def body_marked(x):
    """runtime: ok"""
    return ROUTER.marked(x, k=3)


def body_by_policy(x):
    """runtime: ok"""
    return ROUTER.by_policy(x)


def body_unmarked(x):
    """runtime: placeholder"""
    return ROUTER.unmarked(x, k=3)
