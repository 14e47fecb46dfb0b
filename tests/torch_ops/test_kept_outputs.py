"""``keeps_output`` against autograd: is the result itself among the tensors saved for backward?"""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from remat_lint.torch_ops import Operation, function, method, module

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")

ROWS = """
x.exp()  x.exp2()  x.expm1()  x.sqrt()  x.rsqrt()  x.reciprocal()  x.sigmoid()  x.tanh()  x.tan()
x.relu()  x.sgn()  x.softmax(-1)  x.log_softmax(-1)  x.logsumexp(-1)  x.logcumsumexp(-1)  x.cumprod(-1)
x.prod()  x.prod(-1)  x.amax()  x.amin(-1)  x.norm()  x.norm(1)  x.norm(2, -1)  x.std()  x.std(-1)
x.det()  x.inverse()  x.pinverse()  x.copysign(x)  x.hypot(x)  x.dist(t)  x.median()  x.nanmedian()
x.exp_()  x.sigmoid_()  x.tanh_()  x.relu_()  x.sqrt_()  x.rsqrt_()  x.reciprocal_()  x.expm1_()
x.exp2_()  x.tan_()  x.sgn_()  torch.sigmoid(x)  torch.cdist(x, t)  torch.linalg.det(x)
torch.linalg.inv(x)  torch.linalg.norm(x)  torch.linalg.vector_norm(x)  torch.special.expit(x)
torch.special.i1(x)  torch.special.erfcx(x)  torch.special.ndtri(x / 9)
torch.nn.functional.softmin(x, -1)  torch.nn.functional.relu(x)  torch.nn.functional.softmax(x, -1)
torch.nn.functional.log_softmax(x, -1)  torch.nn.functional.pdist(x)
torch.linalg.pinv(x)  torch.linalg.solve(x, t)  torch.nn.functional.elu_(x)
torch.nn.functional.celu_(x)  torch.nn.functional.leaky_relu_(x)  torch.nn.Sigmoid()(x)
torch.nn.Tanh()(x)  torch.nn.ReLU()(x)  torch.nn.Softmax(-1)(x)  torch.nn.LogSoftmax(-1)(x)
torch.nn.Softmin(-1)(x)  x.matmul(t)  x.add(1)  x.mul(t)  x.div(t)  x.sin()  x.abs()  x.clamp(0, 1)
x.where(x > 0, t)  x.cumsum(0)  x.sum()  x.mean()  x.clone()  x.log()  x.masked_fill(x > 1, 0)  x.var()
x.erf()  x.square()  x.logit(0.1)  x.flip(0)  x.tril()  torch.nn.functional.linear(x, t)
torch.nn.functional.gelu(x)  torch.nn.functional.silu(x)  torch.nn.functional.mish(x)
torch.nn.functional.elu(x)  torch.nn.functional.selu(x)  torch.nn.functional.celu(x)
torch.nn.functional.leaky_relu(x)  torch.nn.functional.relu6(x)  torch.nn.functional.hardtanh(x)
torch.nn.functional.hardsigmoid(x)  torch.nn.functional.softplus(x)  torch.nn.functional.logsigmoid(x)
torch.nn.functional.threshold(x, 0, 0)  torch.nn.functional.layer_norm(x, (4,))
torch.nn.functional.dropout(x)  torch.nn.functional.normalize(x)  torch.nn.functional.glu(x)
torch.nn.SiLU()(x)  torch.nn.GELU()(x)  torch.nn.LayerNorm(4)(x)  torch.nn.functional.mse_loss(x, t)
torch.cat([x, x])  torch.pow(x, 2)
"""
SEVERAL = """
x.topk(2)  x.sort()  x.kthvalue(1)  x.mode()  x.cummax(0)  x.cummin(0)  x.max(0)  x.min(0)  x.median(0)
x.nanmedian(0)  x.aminmax()  torch.std_mean(x)  torch.linalg.slogdet(x)  torch.linalg.qr(x)
torch.linalg.lu_factor(x)  torch.linalg.inv_ex(x)
"""


def rows(text: str) -> list[str]:
    return re.split(r"\s{2,}|\n", text.strip())


def found_for(row: str) -> Operation:
    name = row.partition("(")[0]
    if name.startswith("x."):
        found = method(name.removeprefix("x."))
    else:
        found = module(name) if re.fullmatch(r"torch\.nn\.[A-Z]\w+", name) else function(name)
    assert found is not None
    return found


def saved_and_result(row: str) -> tuple[set[int], Any]:
    """The addresses of the tensors that the last operation saves, and its result."""
    torch.manual_seed(0)
    leaf = (torch.rand(4, 4) + torch.eye(4)).requires_grad_()
    x = leaf * 1.0
    saved: set[int] = set()

    def keep(tensor: Any) -> Any:
        saved.add(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        return saved, eval(row, {"x": x, "t": torch.rand(4, 4), "torch": torch})


def is_saved(tensor: Any, saved: set[int]) -> bool:
    return tensor.untyped_storage().data_ptr() in saved


@pytest.mark.parametrize("row", rows(ROWS))
def test_the_single_result_is_saved_as_told(row: str) -> None:
    saved, result = saved_and_result(row)
    assert is_saved(result, saved) is found_for(row).keeps_output


@pytest.mark.parametrize("row", rows(SEVERAL))
def test_of_several_results_those_are_saved_that_are_told(row: str) -> None:
    saved, results = saved_and_result(row)
    positions = tuple(place for place, result in enumerate(results) if is_saved(result, saved))
    assert positions == found_for(row).keeps_results


@pytest.mark.parametrize(
    ("row", "kept"), [("torch.pow(x, t)", True), ("torch.pow(x, 2)", False), ("x.pow(t)", True)]
)
def test_a_power_is_saved_where_the_exponent_is_a_tensor(row: str, kept: bool) -> None:
    saved, result = saved_and_result(row)
    assert is_saved(result, saved) is kept
    assert found_for(row).keeps_output_if_tensor == "exponent"
