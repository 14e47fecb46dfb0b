"""A72, A73, A74: regions put around the layers of a model from outside: no marker can be in its code."""

import torch_remat as remat
from torch import nn

MODEL = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
READ = nn.Sequential(nn.Linear(8, 8), nn.SiLU())
MARKED = nn.Sequential(nn.Linear(8, 8), nn.SiLU())


def decide(name):
    return name.startswith("decoder")


def annotate(model):
    for n, m in model.named_modules():
        if isinstance(m, nn.Linear):
            m.forward = remat.region(m.forward, n, recompute=decide(n))  # expect: RMT208


def annotate_by_function(model):
    for n, m in dict(model.named_modules()).items():
        around(m, n)
    for m in model.children():
        setattr(m, "forward", remat.region(m.forward, str(m), recompute=False))  # expect: RMT208


def around(module, name):
    module.forward = remat.region(module.forward, name, recompute=decide(name))  # expect: RMT208


def annotate_and_mark(model):
    for n, m in model.named_modules():
        if isinstance(m, nn.Linear):
            m.forward = marked(remat.region(m.forward, n, recompute=decide(n)))


def marked(region):
    def forward(x):
        y = region(x)
        remat.recompute_needs_tensor(y)
        return y

    return forward


def annotate_for_replay(model):
    for n, m in model.named_modules():
        m.forward = remat.region(m.forward, n, recompute=True)


def annotate_our_own(model):
    for n, m in model.named_modules():
        if isinstance(m, Attention):
            m.forward = remat.region(m.forward, n, recompute=decide(n))


def annotate_by_name(model):
    for layer in model.layers:
        layer.attention.forward = remat.region(layer.attention.forward, "attention", recompute=decide("attention"))


class Attention(nn.Linear):
    pass


annotate(MODEL)
annotate(READ)
annotate_and_mark(MARKED)


def body_model(x):
    """runtime: ok"""
    return MODEL(x)


def body_read(x):
    """runtime: placeholder"""
    return READ(x)


def body_marked(x):
    """runtime: ok"""
    return MARKED(x)
