"""A64: a Function that names what it saves; `saved_tensors` can be read once."""

import torch
import torch_remat as remat

WEIGHT = torch.ones(8, requires_grad=True)


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        remat.save_for_backward(ctx, {"x": x, "w": w})
        return x * w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * w, (grad * x).sum(0)


class Twice(Keep):
    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0]
        w = ctx.saved_tensors[1]  # expect: RMT607
        return grad * w, (grad * x).sum(0)


def body_once(x):
    """runtime: ok"""
    y = remat.region(Keep.apply, "keep", recompute=False)(x, WEIGHT)
    remat.recompute_needs_tensor(y)
    return y.sin()


def body_twice(x):
    """runtime: error"""
    y = remat.region(Twice.apply, "keep", recompute=False)(x, WEIGHT)
    remat.recompute_needs_tensor(y)
    return y.sin()
