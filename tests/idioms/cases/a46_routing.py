"""A46: a routing decision that is always saved, a literal name, keyword arguments."""

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


ROUTER = Router()


def body_marked(x):
    """runtime: ok"""
    return ROUTER.marked(x, k=3)


def body_unmarked(x):
    """runtime: placeholder"""
    return ROUTER.unmarked(x, k=3)
