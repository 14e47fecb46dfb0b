"""A32: outputs parked in a dataclass; the one that was not marked is still owed a marker."""

from dataclasses import dataclass

import torch
import torch_remat as remat


class Send(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, rows, meta):
        return rows * 2 + meta * 3


@dataclass
class Pending:
    rows: torch.Tensor
    meta: torch.Tensor


def send(x, name, recompute):
    rows, meta = remat.region(Send.apply, name, recompute=recompute)(x)
    remat.recompute_needs_tensor(meta)
    return Pending(rows=rows, meta=meta.cumsum(0))


def body_passed_on(x):
    """runtime: ok"""
    pending = send(x, "send", False)
    return pending.rows, pending.meta * 2


def body_rows_read(x):
    """runtime: placeholder"""
    pending = send(x, "send", False)
    return pending.rows.relu()  # expect: RMT101 insert: remat.recompute_needs_tensor(pending.rows)
