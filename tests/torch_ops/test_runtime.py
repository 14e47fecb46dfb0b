"""The table against the installed torch: each row is run, storages and version counters are compared.

``h`` is a contiguous tensor of positive numbers, ``m`` a square matrix with an inverse, ``i`` an index, ``c``
complex. The operation is looked up by the outermost call of the row, and the first of these names in it is
the source.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

import pytest

from remat_lint.torch_ops import (
    Effect,
    Operation,
    Result,
    attribute,
    einsum_is_view,
    function,
    method,
    module,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")

VIEWS = """
h.view(-1)  h.view(8, 2)  h.view(torch.int32)  h.view_as(h)  h.unsqueeze(0)  h.squeeze()  h.squeeze(0)
h.unflatten(0, (2, 2))  h.detach()  h.T  h.mT  h.H  h.mH  h.t()  h.adjoint()  h.transpose(0, 1)
h.permute(1, 0)  h.swapaxes(0, 1)  h.swapdims(0, 1)  h.movedim(0, 1)  h.moveaxis(0, 1)  h.unbind()
h.split(2)  h.split([1, 3])  h.split_with_sizes([1, 3])  h.chunk(2)  h.tensor_split(2)  h.hsplit(2)
h.vsplit(2)  h[None].dsplit(2)  h.unsafe_chunk(2)  h.unsafe_split(2)  h.unsafe_split_with_sizes([1,3])
h.narrow(0, 1, 2)  h.select(0, 1)  h.expand(4, 4)  h.expand(2, 4, 4)  h.expand_as(h)
h.broadcast_to((2, 4, 4))  h.as_strided((2, 2), (1, 1))  h.diagonal()  h.unfold(0, 2, 1)  h.conj()
h.resolve_conj()  h.resolve_neg()  h.positive()  h.data  h.real  h.__pos__()  h.__iter__()
h.as_subclass(torch.Tensor)  c.real  c.imag  c.conj()  torch.view_as_real(c)
torch.view_as_complex(h.view(2,4,2))  torch.real(h)  torch.imag(c)  torch.transpose(h, 0, 1)
torch.permute(h, (1, 0))  torch.t(h)  torch.adjoint(h)  torch.swapaxes(h, 0, 1)  torch.swapdims(h, 0, 1)
torch.movedim(h, 0, 1)  torch.moveaxis(h, 0, 1)  torch.unbind(h)  torch.split(h, 2)  torch.chunk(h, 2)
torch.tensor_split(h, 2)  torch.hsplit(h, 2)  torch.vsplit(h, 2)  torch.unsafe_chunk(h, 2)
torch.unsafe_split(h, 2)  torch.narrow(h, 0, 0, 2)  torch.select(h, 0, 0)  torch.squeeze(h)
torch.unsqueeze(h, 0)  torch.unflatten(h, 0, (2, 2))  torch.detach(h)  torch.broadcast_to(h, (2, 4, 4))
torch.broadcast_tensors(h, h)  torch.meshgrid(h[0], h[1], indexing="ij")  torch.atleast_1d(h)
torch.atleast_2d(h)  torch.atleast_3d(h)  torch.as_strided(h, (2, 2), (1, 1))  torch.diagonal(h)
torch.linalg.diagonal(h)  torch.conj(h)  torch.resolve_conj(h)  torch.resolve_neg(h)  torch.positive(h)
torch.nn.Parameter(h)  torch.Tensor(h)  torch.ops.aten.alias(h)  torch.ops.aten.slice(h, 0, 0, 2)
torch.ops.aten._unsafe_view(h, [16])  torch.ops.aten.view.default(h, [16])  torch.nn.Identity()(h)
torch.nn.Unflatten(0, (2, 2))(h)  h.t_()  h.transpose_(0, 1)  h.squeeze_()  h.unsqueeze_(0)
h.swapaxes_(0, 1)  h.swapdims_(0, 1)  h.as_strided_((2, 2), (1, 1))
"""
NO_COPY_NEEDED = """
h.contiguous()  h.reshape(-1)  h.flatten()  h.ravel()  h.reshape_as(h)  torch.flatten(h)
torch.reshape(h, (-1,))  torch.ravel(h)  torch.nn.Flatten()(h)  h.to(torch.float32)  h.to(h)  h.to("cpu")
h.float()  h.type(torch.float32)  h.type_as(h)  h.cpu()  h.to_dense()  i.long()  torch.as_tensor(h)
torch.asarray(h)  torch.dropout(h, 0.5, False)  torch.nn.functional.dropout(h, 0.5, False)
torch.nn.functional.dropout(h, 0.0)  torch.nn.functional.dropout1d(h, 0.0)
torch.nn.functional.dropout2d(h[None, None], 0.0)  torch.nn.functional.dropout3d(h[None, None], 0.0)
torch.nn.functional.alpha_dropout(h, 0.0, True)  torch.nn.functional.alpha_dropout(h, 0.5, False)
torch.nn.functional.feature_alpha_dropout(h, 0.0, True)  torch.alpha_dropout(h, 0.5, False)
torch.feature_dropout(h, 0.5, False)  torch.feature_alpha_dropout(h, 0.5, False)
torch.nn.Dropout().eval()(h)  torch.nn.Dropout(0.0)(h)  torch.nn.AlphaDropout().eval()(h)
"""
COPY_NEEDED = """
h.t().contiguous()  h.t().reshape(-1)  h.t().flatten()  h.t().ravel()  torch.flatten(h[:, :3])
torch.reshape(h.t(), (-1,))  torch.nn.Flatten(0)(h.t())  h.to(torch.float64)  h.half()  h.double()
h.bfloat16()  h.long()  h.int()  h.bool()  h.to(torch.float32, copy=True)  h.type(torch.float64)
h.type_as(i)  torch.as_tensor(h, dtype=torch.float64)  torch.nn.functional.dropout(h, 0.5)
torch.dropout(h, 0.5, True)  torch.nn.functional.alpha_dropout(h, 0.5, True)  torch.nn.Dropout()(h)
torch.nn.functional.dropout2d(h[None, None])
"""
READS = """
h.abs()  h.neg()  h.sin()  h.cos()  h.exp()  h.log()  h.sqrt()  h.rsqrt()  h.sigmoid()  h.tanh()
h.relu()  h.sum()  h.mean()  h.std()  h.var()  h.prod()  h.amax()  h.amin()  h.max()  h.min()  h.argmax()
h.median()  h.norm()  h.topk(2)  h.sort()  h.argsort()  h.cumsum(0)  h.cumprod(0)  h.logsumexp(0)
h.softmax(-1)  h.log_softmax(-1)  h.clamp(0, 1)  h.round()  h.floor()  h.frac()  h.sign()  h.add(h)
h.sub(h)  h.mul(h)  h.div(h)  h.pow(2)  h.matmul(h)  h.mm(h)  h.addmm(h, h)  h.lerp(h, 0.5)
h.where(h > 0, h)  h.masked_fill(h > 0, 0)  h.masked_select(h > 0)  h.index_select(0, i)
h.gather(0, i[None])  h.flip(0)  h.flip(())  h.roll(0)  h.roll(1)  h.rot90()  h.rot90(0)  h.tril()
h.triu()  h.repeat(1, 1)  h.tile(1, 1)  h.repeat_interleave(1)  h.clone()  h.diag()  h.diag_embed()
h.isfinite()  h.nan_to_num()  h.nonzero()  h.new_tensor(h.tolist())  h.eq(h)  h.logical_not()  h.sgn()
h.det()  m.inverse()  h.kron(h)  h.trace()  h.renorm(2, 0, 1)  h.__add__(h)  h.__eq__(h)  h.__pow__(2)
h.__reversed__()  m.multinomial(1)  h.index_add(0, i, h)  h.scatter(0, i[None], h)  h.take(i)
torch.add(h, h)  torch.mul(h, h)  torch.matmul(h, h)  torch.mm(h, h)  torch.sigmoid(h)  torch.exp(h)
torch.sum(h)  torch.softmax(h, -1)  torch.cat([h])  torch.stack([h])  torch.hstack([h])
torch.vstack([h])  torch.dstack([h])  torch.column_stack([h])  torch.concat([h])
torch.where(h > 0, h, h)  torch.clone(h)  torch.diag(h)  torch.flip(h, ())  torch.roll(h, 0)
torch.rot90(h, 0)  torch.tile(h, (1, 1))  torch.repeat_interleave(h, 1)  torch.block_diag(h)
torch.tril(h)  torch.clamp(h, 0, 1)  torch.outer(h[0], h[0])  torch.cdist(h, h)  torch.norm(h)
torch.topk(h, 2)  torch.sort(h)  torch.max(h, 0)  torch.std_mean(h)  torch.cumsum(h, 0)  torch.nonzero(h)
torch.unique(h)  torch.einsum("ij,jk->ik", h, h)  torch.einsum("ij->i", h)  torch.narrow_copy(h, 0, 0, 4)
torch.view_copy(h, [4, 4])  torch.squeeze_copy(h)  torch.poisson(h)  torch.normal(h, h)
torch.linalg.multi_dot([h, h])  torch.tensordot(h, h, 1)  torch.bincount(i)
torch.searchsorted(h[0], h[0])  torch.lerp(h, h, 0.5)  torch.full_like(h, 1)  torch.linalg.norm(h)
torch.linalg.det(h)  torch.linalg.inv(m)  torch.linalg.qr(h)  torch.linalg.svd(h)
torch.linalg.vector_norm(h)  torch.special.expit(h)  torch.special.erf(h)  torch.special.i0(h)
torch.fft.fft(h)  torch.fft.fftshift(h)  torch.ops.aten.silu(h)  torch.ops.aten.mm.default(h, h)
torch.native_dropout(h, 0.0, True)  torch.nn.functional.silu(h)  torch.nn.functional.gelu(h)
torch.nn.functional.relu(h)  torch.nn.functional.softmax(h, -1)  torch.nn.functional.log_softmax(h, -1)
torch.nn.functional.linear(h, h)  torch.nn.functional.layer_norm(h, (4,))
torch.nn.functional.rms_norm(h, (4,))  torch.nn.functional.normalize(h)
torch.nn.functional.pad(h, (0, 0))  torch.nn.functional.glu(h)  torch.nn.functional.softplus(h)
torch.nn.functional.mish(h)  torch.nn.functional.elu(h)  torch.nn.functional.leaky_relu(h)
torch.nn.functional.rrelu(h, training=False)  torch.nn.functional.hardtanh(h)
torch.nn.functional.mse_loss(h, h)  torch.nn.functional.l1_loss(h, h)
torch.nn.functional.cross_entropy(h, i)  torch.nn.functional.embedding(i, h)
torch.nn.functional.one_hot(i)  torch.nn.functional.cosine_similarity(h, h)
torch.nn.functional.unfold(h[None, None], 1)  torch.nn.functional.pixel_shuffle(h[None], 1)
torch.nn.functional.interpolate(h[None, None], scale_factor=1)  torch.nn.functional.avg_pool1d(h, 1)
torch.nn.functional.max_pool1d(h, 1)  torch.nn.functional.adaptive_avg_pool1d(h, 4)
torch.nn.functional.conv1d(h, h[:, :, None])
torch.nn.functional.batch_norm(h, None, None, training=True)
torch.nn.functional.scaled_dot_product_attention(h[None], h[None], h[None])
torch.nn.functional.gumbel_softmax(h)  torch.nn.functional.softmin(h, -1)
torch.nn.functional.tanhshrink(h)  torch.nn.functional.logsigmoid(h)  torch.nn.Linear(4, 4)(h)
torch.nn.LayerNorm(4)(h)  torch.nn.SiLU()(h)  torch.nn.ReLU()(h)  torch.nn.Softmax(-1)(h)
torch.nn.BatchNorm1d(4)(h)  torch.nn.GRU(4, 4)(h)  torch.nn.Embedding(4, 4)(i)
torch.nn.Conv1d(4, 4, 1)(h)  torch.nn.MaxPool1d(1)(h)  torch.nn.MSELoss()(h, h)
"""
WRITES = """
h.add_(1)  h.mul_(2)  h.sub_(1)  h.div_(2)  h.copy_(m)  h.fill_(1)  h.zero_()  h.clamp_(0, 1)  h.exp_()
h.sigmoid_()  h.relu_()  h.tanh_()  h.normal_()  h.uniform_()  h.bernoulli_()  h.exponential_()
h.masked_fill_(h > 0, 0)  h.index_add_(0, i, m)  h.scatter_(0, i[None], m)  h.index_fill_(0, i, 1)
h.tril_()  h.lerp_(m, 0.5)  h.addmm_(m, m)  h.pow_(2)  h.sqrt_()  h.round_()  h.neg_()  h.random_()
h.cumsum_(0)  h.__iadd__(1)  h.__imul__(2)  h.__isub__(1)  h.__itruediv__(2)  h.__setitem__(0, 1)
torch.relu_(h)  torch.sigmoid_(h)  torch.exp_(h)  torch.clamp_(h, 0, 1)  torch.dropout_(h, 0.5, True)
torch.nn.functional.elu_(h)  torch.nn.functional.leaky_relu_(h)  torch.nn.init.zeros_(h)
torch.nn.init.normal_(h)  torch.nn.init.xavier_uniform_(h)  torch.nn.init.constant_(h, 1)
operator.iadd(h, 1)  operator.setitem(h, 0, 1)
"""
METADATA = """
h.size()  h.dim()  h.numel()  h.nelement()  h.ndimension()  h.stride()  h.storage_offset()
h.is_contiguous()  h.element_size()  h.get_device()  h.is_floating_point()  h.is_complex()
h.is_same_size(h)  h.is_set_to(h)  h.__len__()  h.__hash__()  h.new_zeros(2)  h.new_ones(2)
h.new_empty(2)  h.shape  h.dtype  h.device  h.ndim  h.requires_grad  h.is_leaf  h.is_cuda  h.nbytes
h.itemsize  h._version  h.grad_fn  h.layout  h.is_sparse  torch.zeros_like(h)  torch.ones_like(h)
torch.empty_like(h)  torch.rand_like(h)  torch.randn_like(h)  torch.randint_like(h, 2)  torch.numel(h)
torch.is_tensor(h)  torch.is_floating_point(h)  torch.result_type(h, h)
"""
REGISTERS = """
h.requires_grad_(False)
"""
SOURCES = ("h", "m", "i", "c")


def rows(text: str) -> list[str]:
    return [row.strip() for line in text.strip().splitlines() for row in line.split("  ") if row.strip()]


def values() -> dict[str, Any]:
    import operator

    torch.manual_seed(0)
    matrix = torch.rand(4, 4) + 4 * torch.eye(4)
    square = {"h": torch.rand(4, 4) + 0.1, "m": matrix, "i": torch.tensor([0, 1, 2, 3])}
    return {**square, "c": torch.rand(4, 4, dtype=torch.complex64), "torch": torch, "operator": operator}


def looked_up(row: str) -> Operation:
    """The operation of the outermost call, or attribute, of the row."""
    node = ast.parse(row, mode="eval").body
    if not isinstance(node, ast.Call):
        assert isinstance(node, ast.Attribute)
        found = attribute(node.attr)
    else:
        found = called(node)
    assert found is not None, row
    return found


def called(node: ast.Call) -> Operation | None:
    target = node.func
    text = ast.unparse(target)
    if text.startswith("torch.nn.") and isinstance(target, ast.Call | ast.Attribute) and "(" in text:
        return module(text.partition("(")[0])
    if text.startswith(("torch.", "operator.")):
        return function(text)
    assert isinstance(target, ast.Attribute)
    return method(target.attr)


def source_of(row: str, given: dict[str, Any]) -> Any:
    used = {node.id: node.col_offset for node in ast.walk(ast.parse(row)) if isinstance(node, ast.Name)}
    return given[min((name for name in SOURCES if name in used), key=used.__getitem__)]


def tensors(result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in tensors(part)]
    return []


def run(row: str) -> tuple[Any, Any, bool, bool]:
    """The source, the result, whether the result is in the source's storage, whether the source changed."""
    given = values()
    source = source_of(row, given)
    storage, before = source.untyped_storage().data_ptr(), source._version
    result = eval(row, given)
    result = tuple(result) if hasattr(result, "__next__") else result
    shares = {part.untyped_storage().data_ptr() == storage for part in tensors(result)}
    assert len(shares) < 2
    return source, result, shares == {True}, source._version != before


def check_result(told: Result, result: Any, source: Any) -> None:
    if told is Result.TENSOR:
        assert isinstance(result, torch.Tensor)
    elif told is Result.TENSORS:
        assert not isinstance(result, torch.Tensor)
        assert tensors(result)
    elif told is Result.SELF:
        assert result is source
    elif told is Result.NONE:
        assert result is None
    elif told is Result.VALUE:
        assert not tensors(result)


@pytest.mark.parametrize("row", rows(VIEWS))
def test_view_shares_its_source(row: str) -> None:
    told = looked_up(row)
    source, result, shares, changed = run(row)
    assert (told.effect, shares, changed) == (Effect.VIEW, True, told.result is Result.SELF)
    check_result(told.result, result, source)


@pytest.mark.parametrize("row", rows(NO_COPY_NEEDED))
def test_source_comes_back_where_no_copy_is_needed(row: str) -> None:
    told = looked_up(row)
    source, result, shares, changed = run(row)
    assert told.effect in (Effect.RESHAPE, Effect.CAST, Effect.DROPOUT)
    assert (shares, changed) == (True, False)
    check_result(told.result, result, source)


@pytest.mark.parametrize("row", rows(COPY_NEEDED))
def test_copy_is_made_where_it_is_needed(row: str) -> None:
    told = looked_up(row)
    _, _, shares, changed = run(row)
    assert told.effect in (Effect.RESHAPE, Effect.CAST, Effect.DROPOUT)
    assert (shares, changed) == (False, False)


@pytest.mark.parametrize("row", rows(READS))
def test_result_of_a_read_is_new(row: str) -> None:
    told = looked_up(row)
    source, result, shares, changed = run(row)
    assert (told.effect, shares, changed) == (Effect.READ, False, False)
    check_result(told.result, result, source)


@pytest.mark.parametrize("row", rows(WRITES))
def test_write_changes_the_source_and_returns_it(row: str) -> None:
    told = looked_up(row)
    source, result, _, changed = run(row)
    assert changed
    assert len(told.writes) == 1
    check_result(told.result, result, source)


@pytest.mark.parametrize("row", rows(METADATA))
def test_metadata_hold_no_storage(row: str) -> None:
    told = looked_up(row)
    source, result, shares, changed = run(row)
    assert (told.effect, shares, changed) == (Effect.METADATA, False, False)
    check_result(told.result, result, source)


@pytest.mark.parametrize("row", rows(REGISTERS))
def test_registering_changes_nothing(row: str) -> None:
    told = looked_up(row)
    source, result, _, changed = run(row)
    assert (told.effect, changed) == (Effect.REGISTER, False)
    check_result(told.result, result, source)


@pytest.mark.parametrize(
    "equation", ["ij->ji", "ij->ij", "ii->i", "ij", "ba", "...ij->...ji", "ij->i", "ii", "ij->"]
)
def test_einsum_shares_where_it_is_said_to_be_a_view(equation: str) -> None:
    h = torch.rand(4, 4)
    result = torch.einsum(equation, h)
    shares = result.untyped_storage().data_ptr() == h.untyped_storage().data_ptr()
    assert shares is einsum_is_view(equation)


def test_detaching_in_place_is_a_write_that_the_version_counter_misses() -> None:
    source, result, shares, changed = run("h.detach_()")
    assert (result is source, shares, changed) == (True, True, False)


def test_drawing_operations_advance_the_generator() -> None:
    for row in (
        "torch.poisson(h)",
        "h.normal_()",
        "torch.nn.functional.gumbel_softmax(h)",
        "torch.rand_like(h)",
    ):
        given = values()
        before = torch.get_rng_state()
        eval(row, given)
        assert looked_up(row).draws
        assert not torch.equal(before, torch.get_rng_state())
