"""A47: five outputs of one Function: read under a guard, under a condition, returned."""

import torch
import torch_remat as remat
from blocks import WIDTH, Block
from torch import nn


class FusedPick(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias, arrival):
        logits = x + bias
        order = arrival.argsort()
        ctx.mark_non_differentiable(order)
        return logits * 2, x.new_ones(WIDTH), logits.clone(), order

    @staticmethod
    def backward(ctx, w, hist, logits, order):
        return w * 2 + logits, None, None


class Router(Block):
    def __init__(self, aux: "AuxLoss | None"):
        super().__init__("router")
        self.aux = aux
        self.register_buffer("bias", torch.zeros(WIDTH))
        self.register_buffer("arrival", torch.arange(WIDTH))
        self.register_buffer("load", torch.zeros(WIDTH))

    def forward(self, x):
        w, hist, logits, order = remat.region(FusedPick.apply, "pick", recompute=False)(
            x, self.bias, self.arrival
        )
        if not remat.is_recomputing():
            with torch.no_grad():
                self.load.add_(hist)
        if self.aux is not None:
            remat.recompute_needs_tensor(logits, hist)
            w = self.aux(w, logits.softmax(-1), hist.float())
        return w, order.view(-1)


class AuxLoss(Block):
    def _inject(self, w, share, hist):
        return w + 0.0 * share.sum()

    def forward(self, w, share, hist):
        return remat.region(self._inject, "aux", recompute=False)(w, share, hist)


WITH_AUX, WITHOUT = Router(AuxLoss()), Router(None)


def body_with_aux(x):
    """runtime: ok"""
    return WITH_AUX(x)[0]


def body_without(x):
    """runtime: ok"""
    return WITHOUT(x)[0]
