"""The stand-in placeholder behaves as torch's own: views pass, reads raise the same message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
remat = pytest.importorskip("torch_remat")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, check  # noqa: E402
from remat_lint.runtime_check.placeholders import torch_has_placeholders  # noqa: E402

WEIGHT = torch.linspace(-1, 1, 64).reshape(8, 8)


def double(x: Tensor) -> Tensor:
    return x * 2


class Reads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor) -> Tensor:
        ctx.save_for_backward(h)
        return h * 1

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (h,) = ctx.saved_tensors
        return grads[0] * h


def ignore(result: object, h: Tensor) -> Tensor:
    """Go on with the output alone: only evaluating ``result`` mattered."""
    return h


FINE: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "returned": lambda h, x: h,
    "view": lambda h, x: h.view(-1, 2).view_as(x),
    "transpose and back": lambda h, x: h.t().mT,
    "unflatten and unbind": lambda h, x: h.unflatten(-1, (2, -1)).unbind(-2)[0],
    "chunk": lambda h, x: h.chunk(2, dim=-1)[1],
    "split": lambda h, x: h.split([3, 5], dim=-1)[0],
    "slice": lambda h, x: h[:, 2:4],
    "expand": lambda h, x: h[None].expand(3, 4, 8),
    "contiguous already": lambda h, x: h.contiguous().reshape(2, 16),
    "same type": lambda h, x: h.float().to(x.dtype),
    "detached": lambda h, x: ignore(h.detach(), h),
    "shape and device": lambda h, x: ignore((h.shape, h.device, h.stride(), h.requires_grad), h),
    "same size": lambda h, x: x * float(h.is_same_size(x)) + h.dense_dim(),
    "zeros like it": lambda h, x: x + torch.zeros_like(h),
    "new from it": lambda h, x: x + h.new_ones(8),
    "expanded like it": lambda h, x: x[0].expand_as(h).sin(),
    "asked whether it is one": lambda h, x: h if remat.is_placeholder(h.t()) else ignore(h + 1, h),
    "into a saved region": lambda h, x: remat.region(torch.sin, "sin", recompute=False)(h.t()),
    "into a recomputed region": lambda h, x: remat.region(torch.sin, "sin", recompute=True)(h) + h,
}

READS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "arithmetic": lambda h, x: x + h,
    "activation": lambda h, x: F.silu(h),
    "of a view": lambda h, x: h.t() * 2,
    "of a chunk": lambda h, x: F.silu(h.chunk(2, dim=-1)[0]),
    "matrix product": lambda h, x: h @ WEIGHT,
    "reduction": lambda h, x: h.sum(),
    "clone": lambda h, x: h.clone(),
    "copying contiguous": lambda h, x: h.t().contiguous(),
    "cast": lambda h, x: h.double(),
    "cat": lambda h, x: torch.cat([h, x]),
    "where": lambda h, x: torch.where(x > 0, h, x),
    "index by mask": lambda h, x: h[x > 0],
    "condition": lambda h, x: x if h.sum() > 0 else x * 2,
    "item": lambda h, x: x * h[0, 0].item(),
    "list": lambda h, x: ignore(h.tolist(), x),
    "printed": lambda h, x: ignore(repr(h), x),
    "pointer": lambda h, x: ignore(h.data_ptr(), x),
    "into another": lambda h, x: x.clone().copy_(h),
    "detached, without gradients": lambda h, x: x * h.detach().abs(),
    "unused": lambda h, x: ignore(h + 1, h),
    "expression into a region": lambda h, x: remat.region(torch.sin, "sin", recompute=False)(h + 1),
    "custom function": lambda h, x: Reads.apply(h),
}


def verdict(consume: Callable[[Tensor, Tensor], Any], stand_ins: bool | None) -> CheckResult:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return remat.checkpoint(region_name="body")(self.body)(x)

        def body(self, x: Tensor) -> Tensor:
            return consume(remat.region(double, "double", recompute=False)(x), x)

    return check(
        lambda: (Model(), torch.linspace(0.5, 2, 32).reshape(4, 8)),
        Options(device="cpu", stand_ins=stand_ins),
    )


WAYS = [True, False] if torch_has_placeholders() else [True]


@pytest.mark.parametrize("stand_ins", WAYS, ids=lambda w: "stand-in" if w else "native")
@pytest.mark.parametrize("consume", FINE.values(), ids=FINE)
def test_view_or_metadata_passes(consume: Callable[[Tensor, Tensor], Any], stand_ins: bool) -> None:
    result = verdict(consume, stand_ins)
    assert [str(one.raised) for one in result.broken] == []
    assert result.exit_status == 0


@pytest.mark.parametrize("stand_ins", WAYS, ids=lambda w: "stand-in" if w else "native")
@pytest.mark.parametrize("consume", READS.values(), ids=READS)
def test_read_raises_the_message_of_torch_remat(
    consume: Callable[[Tensor, Tensor], Any], stand_ins: bool
) -> None:
    raised = verdict(consume, stand_ins)["as configured"].raised
    assert raised is not None
    assert (raised.phase, raised.region) == ("backward", "double")
    assert raised.message.startswith(
        "RuntimeError: body::double.out is a placeholder for the output of remat.region 'body::double'"
    )
