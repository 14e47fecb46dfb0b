"""The lists of SEMANTICS 1.1 to 1.4, name by name: what torch_remat was measured to do."""

from __future__ import annotations

import pytest

from remat_lint.torch_ops import Effect, Layout, Operation, Result, attribute, function, method, module

F = "torch.nn.functional"


def known(found: Operation | None) -> Operation:
    assert found is not None
    return found


def names(text: str) -> list[str]:
    return text.split()


VIEW_METHODS = """
view view_as unflatten transpose permute t adjoint swapaxes swapdims movedim moveaxis unbind split
split_with_sizes chunk tensor_split hsplit vsplit dsplit unsafe_chunk unsafe_split narrow select squeeze
unsqueeze expand expand_as broadcast_to as_strided diagonal unfold detach conj resolve_conj resolve_neg
positive __pos__ __iter__ as_subclass
"""
VIEW_FUNCTIONS = """
torch.transpose torch.permute torch.t torch.adjoint torch.swapaxes torch.swapdims torch.movedim
torch.moveaxis torch.unbind torch.split torch.split_with_sizes torch.chunk torch.tensor_split
torch.hsplit torch.vsplit torch.dsplit torch.unsafe_chunk torch.unsafe_split torch.narrow torch.select
torch.squeeze torch.unsqueeze torch.broadcast_to torch.broadcast_tensors torch.meshgrid torch.atleast_1d
torch.atleast_2d torch.atleast_3d torch.as_strided torch.diagonal torch.linalg.diagonal torch.detach
torch.real torch.imag torch.view_as_real torch.view_as_complex torch.conj torch.resolve_conj
torch.resolve_neg torch.positive torch.unflatten torch.ops.aten.alias torch.ops.aten.view.default
torch.ops.aten.slice.Tensor torch.ops.aten._unsafe_view torch.nn.Parameter torch.nn.parameter.Parameter
torch.Tensor.view torch.functional.broadcast_tensors operator.pos operator.getitem
"""


@pytest.mark.parametrize("name", names(VIEW_METHODS))
def test_method_is_a_view(name: str) -> None:
    found = known(method(name))
    assert found.effect is Effect.VIEW
    assert found.sources == ("self",)


@pytest.mark.parametrize("name", names(VIEW_FUNCTIONS))
def test_function_is_a_view(name: str) -> None:
    found = known(function(name))
    assert found.effect is Effect.VIEW
    assert found.sources == found.parameters[:1]


@pytest.mark.parametrize("name", names("T mT H mH data real imag"))
def test_attribute_is_a_view(name: str) -> None:
    assert known(attribute(name)).effect is Effect.VIEW


@pytest.mark.parametrize("name", names("Identity Unflatten"))
def test_module_is_a_view(name: str) -> None:
    assert known(module(f"torch.nn.{name}")).effect is Effect.VIEW


LAYOUTS = {
    Layout.KEEPS: "view view_as unsqueeze squeeze unflatten detach conj positive",
    Layout.PERMUTES: "t transpose permute swapaxes swapdims movedim moveaxis adjoint",
    Layout.SLICES: "narrow select split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes"
    " unsafe_chunk unsafe_split unsafe_split_with_sizes __iter__ __getitem__",
    Layout.BREAKS: "expand expand_as broadcast_to diagonal unfold as_strided",
}


@pytest.mark.parametrize(("layout", "name"), [(k, n) for k, text in LAYOUTS.items() for n in names(text)])
def test_layout_of_a_view(layout: Layout, name: str) -> None:
    assert known(method(name)).layout is layout


@pytest.mark.parametrize(
    "name", names("t_ transpose_ squeeze_ unsqueeze_ swapaxes_ swapdims_ detach_ as_strided_")
)
def test_view_in_place_writes_the_receiver(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.result, found.writes) == (Effect.VIEW, Result.SELF, ("self",))


LOOKS_LIKE_A_VIEW = """
torch.diag torch.diag_embed torch.nn.functional.pad torch.nn.functional.unfold torch.nn.functional.fold
torch.tile torch.cat torch.concat torch.stack torch.hstack torch.vstack torch.dstack torch.column_stack
torch.clone torch.flip torch.roll torch.rot90 torch.repeat_interleave torch.tensor torch.index_select
torch.gather torch.einsum torch.narrow_copy torch.view_copy torch.squeeze_copy torch.block_diag
torch.nn.functional.pixel_shuffle torch.conj_physical torch.nn.functional.interpolate
torch.nn.functional.normalize torch.nn.functional.one_hot
"""


@pytest.mark.parametrize("name", names(LOOKS_LIKE_A_VIEW))
def test_function_that_looks_like_a_view_reads(name: str) -> None:
    assert known(function(name)).effect is Effect.READ


@pytest.mark.parametrize(
    "name", names("repeat tile clone flip roll repeat_interleave new_tensor pin_memory diag")
)
def test_method_that_looks_like_a_view_reads(name: str) -> None:
    assert known(method(name)).effect is Effect.READ


@pytest.mark.parametrize("name", names("contiguous reshape flatten ravel reshape_as"))
def test_copies_where_the_layout_asks_for_it(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.sources, found.layout) == (Effect.RESHAPE, ("self",), None)


@pytest.mark.parametrize(
    "name", names("torch.flatten torch.reshape torch.ravel torch.ops.aten.contiguous.default")
)
def test_function_copies_where_the_layout_asks_for_it(name: str) -> None:
    assert known(function(name)).effect is Effect.RESHAPE


def test_flatten_module_copies_where_the_layout_asks_for_it() -> None:
    assert known(module("torch.nn.Flatten")).effect is Effect.RESHAPE
    assert known(module("torch.nn.modules.flatten.Flatten")).effect is Effect.RESHAPE


@pytest.mark.parametrize(
    "name",
    names("to float half double bfloat16 long int short bool char byte type type_as cpu cuda cfloat cdouble"),
)
def test_cast(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.sources) == (Effect.CAST, ("self",))


@pytest.mark.parametrize(("name", "source"), [("torch.as_tensor", "data"), ("torch.asarray", "obj")])
def test_function_casts(name: str, source: str) -> None:
    found = known(function(name))
    assert (found.effect, found.sources) == (Effect.CAST, (source,))


DROPOUTS = """
torch.nn.functional.dropout torch.nn.functional.dropout1d torch.nn.functional.dropout2d
torch.nn.functional.dropout3d torch.nn.functional.alpha_dropout torch.nn.functional.feature_alpha_dropout
torch.dropout torch.alpha_dropout torch.feature_dropout torch.feature_alpha_dropout
"""


@pytest.mark.parametrize("name", names(DROPOUTS))
def test_dropout(name: str) -> None:
    found = known(function(name))
    assert (found.effect, found.sources, found.draws) == (Effect.DROPOUT, ("input",), True)
    assert "p" in found.parameters
    assert {"training", "train"} & set(found.parameters)


@pytest.mark.parametrize(
    "name", names("Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout")
)
def test_dropout_module(name: str) -> None:
    found = known(module(f"torch.nn.{name}"))
    assert (found.effect, found.draws) == (Effect.DROPOUT, True)
    assert found.constructor[:2] == ("p", "inplace")
    assert found.indirect_inplace == "inplace"


READING_METHODS = """
add sub mul div pow floor_divide remainder abs neg matmul mm addmm bmm outer sum mean var std prod amax
amin argmax topk sort cumsum cumprod clamp lerp where softmax log_softmax sigmoid tanh relu exp log sqrt
rsqrt masked_select masked_fill scatter gather index_select flip roll tril triu rot90 norm isfinite
__eq__ __add__ __matmul__ item tolist numpy __array__ __float__ __int__ __bool__ __index__ __format__
__repr__ __str__ equal allclose data_ptr __deepcopy__ __reduce_ex__ __dlpack__ is_pinned is_shared
is_nonzero
"""
READING_FUNCTIONS = """
torch.add torch.matmul torch.mm torch.addmm torch.bmm torch.outer torch.where torch.equal torch.allclose
torch.clamp torch.sigmoid torch.special.expit torch.fft.fft torch.linalg.norm torch.nn.functional.linear
torch.nn.functional.embedding torch.nn.functional.silu torch.nn.functional.gelu
torch.nn.functional.softmax torch.nn.functional.layer_norm torch.nn.functional.rms_norm
torch.nn.functional.group_norm torch.nn.functional.cross_entropy torch.nn.functional.mse_loss
torch.nn.functional.scaled_dot_product_attention torch.nn.functional.conv2d
torch.nn.functional.max_pool2d torch.nn.functional.multi_head_attention_forward torch.topk torch.sort
torch.index_put torch.tril torch.ops.aten.silu torch.ops.aten.mm.default torch.is_nonzero
torch.nn.functional.rrelu torch.save torch.from_dlpack operator.add operator.matmul operator.lt
operator.contains
"""
READING_MODULES = """
Linear Conv2d LayerNorm RMSNorm GroupNorm BatchNorm2d SiLU GELU ReLU Sigmoid Softmax Embedding
MultiheadAttention LSTM GRU CrossEntropyLoss MSELoss RReLU Bilinear MaxPool2d Upsample PixelShuffle
TransformerEncoderLayer
"""


@pytest.mark.parametrize("name", names(READING_METHODS))
def test_method_reads(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.sources) == (Effect.READ, ())


@pytest.mark.parametrize("name", names(READING_FUNCTIONS))
def test_function_reads(name: str) -> None:
    assert known(function(name)).effect is Effect.READ


@pytest.mark.parametrize("name", names(READING_MODULES))
def test_module_reads(name: str) -> None:
    assert known(module(f"torch.nn.{name}")).effect is Effect.READ


@pytest.mark.parametrize(
    "name",
    names("add_ mul_ copy_ set_ index_put_ scatter_ masked_fill_ fill_ zero_ __iadd__ __imul__ __itruediv__"),
)
def test_method_writes_its_receiver_and_returns_it(name: str) -> None:
    found = known(method(name))
    assert (found.result, found.writes) == (Result.SELF, ("self",))


def test_item_assignment_writes() -> None:
    assert known(method("__setitem__")).writes == ("self",)
    assert known(function("operator.setitem")).writes == ("a",)


METADATA_METHODS = """
size dim numel nelement ndimension stride storage_offset is_contiguous element_size get_device
is_floating_point is_complex is_set_to is_same_size untyped_storage __len__ __hash__ new_zeros new_ones
new_empty
"""
METADATA_FUNCTIONS = """
torch.zeros_like torch.ones_like torch.empty_like torch.rand_like torch.randn_like torch.randint_like
torch.numel torch.is_tensor torch.is_floating_point torch.is_complex torch.is_same_size torch.result_type
torch.get_device torch.ops.aten.sym_size operator.is_ operator.is_not
spmd_types.get_local_type spmd_types.runtime.get_partition_spec spmd_types.has_local_type
"""
METADATA_ATTRIBUTES = """
shape ndim dtype device layout requires_grad is_leaf is_cuda nbytes itemsize _version grad_fn grad
retains_grad output_nr is_sparse is_meta is_nested _base
"""


@pytest.mark.parametrize("name", names(METADATA_METHODS))
def test_method_asks_for_metadata(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.sources) == (Effect.METADATA, ())
    assert "self" in found.metadata_only


@pytest.mark.parametrize("name", names(METADATA_FUNCTIONS))
def test_function_asks_for_metadata(name: str) -> None:
    assert known(function(name)).effect is Effect.METADATA


@pytest.mark.parametrize("name", names(METADATA_ATTRIBUTES))
def test_attribute_is_metadata(name: str) -> None:
    assert known(attribute(name)).effect is Effect.METADATA


@pytest.mark.parametrize("name", names("assert_type assert_local_type mutate_type"))
def test_naming_the_type_of_a_distributed_tensor_hands_it_back(name: str) -> None:
    found = known(function(f"spmd_types.{name}"))
    assert (found.effect, found.layout, found.sources) == (Effect.VIEW, Layout.KEEPS, ("tensor",))


@pytest.mark.parametrize("name", names("assert_type_like assert_local_type_like"))
def test_copying_the_type_of_a_distributed_tensor_reads_neither(name: str) -> None:
    found = known(function(f"spmd_types.{name}"))
    assert (found.effect, found.writes) == (Effect.REGISTER, ())
    assert found.metadata_only == ("tensor", "source")


@pytest.mark.parametrize("name", names("expand_as view_as reshape_as type_as to is_same_size"))
def test_the_other_tensor_gives_its_metadata_only(name: str) -> None:
    assert "other" in known(method(name)).metadata_only


@pytest.mark.parametrize(("name", "only"), [("torch.full_like", "input"), ("torch.Tensor.new_full", "self")])
def test_fill_value_is_read_and_the_model_is_not(name: str, only: str) -> None:
    found = known(function(name))
    assert (found.effect, found.metadata_only) == (Effect.READ, (only,))
    assert "fill_value" in found.parameters


@pytest.mark.parametrize(
    "name", names("requires_grad_ retain_grad register_hook register_post_accumulate_grad_hook record_stream")
)
def test_registers(name: str) -> None:
    found = known(method(name))
    assert (found.effect, found.writes) == (Effect.REGISTER, ())


def test_address_of_the_data_reads() -> None:
    assert known(attribute("__cuda_array_interface__")).effect is Effect.READ


DRAWING_FUNCTIONS = """
torch.rand torch.randn torch.randint torch.randperm torch.rand_like torch.randn_like torch.randint_like
torch.bernoulli torch.normal torch.multinomial torch.poisson torch.rrelu torch.nn.functional.rrelu
torch.nn.functional.gumbel_softmax torch.nn.functional.fractional_max_pool2d
torch.nn.functional.scaled_dot_product_attention torch.nn.functional.multi_head_attention_forward
torch.nn.init.normal_ torch.nn.init.kaiming_uniform_ torch.nn.init.orthogonal_ torch.Tensor.normal_
torch.Tensor.uniform_ torch.Tensor.exponential_ torch.Tensor.bernoulli_ torch.svd_lowrank
torch.ops.aten.native_dropout
"""


@pytest.mark.parametrize("name", names(DRAWING_FUNCTIONS))
def test_function_draws(name: str) -> None:
    assert known(function(name)).draws


@pytest.mark.parametrize(
    "name", names("torch.sigmoid torch.nn.functional.linear torch.zeros torch.nn.init.zeros_")
)
def test_function_does_not_draw(name: str) -> None:
    assert not known(function(name)).draws


PERSISTED_FREE = """
torch.sigmoid torch.tanh torch.relu torch.exp torch.expm1 torch.sqrt torch.rsqrt torch.reciprocal
torch.softmax torch.nn.functional.softmax torch.nn.functional.log_softmax torch.logsumexp torch.cumprod
torch.amax torch.norm torch.std torch.prod torch.tan torch.cdist torch.inverse torch.linalg.inv
torch.linalg.cholesky torch.linalg.det torch.nn.functional.scaled_dot_product_attention
torch.nn.functional.relu torch.relu_ torch.Tensor.sigmoid
"""
NOT_PERSISTED = """
torch.matmul torch.nn.functional.linear torch.nn.functional.gelu torch.nn.functional.silu
torch.nn.functional.mish torch.nn.functional.elu torch.nn.functional.selu torch.nn.functional.celu
torch.nn.functional.leaky_relu torch.nn.functional.relu6 torch.nn.functional.hardtanh
torch.nn.functional.hardsigmoid torch.nn.functional.softplus torch.nn.functional.logsigmoid
torch.nn.functional.threshold torch.nn.functional.layer_norm torch.nn.functional.rms_norm
torch.nn.functional.group_norm torch.nn.functional.batch_norm torch.nn.functional.dropout torch.mul
torch.add torch.div torch.sin torch.abs torch.clamp torch.where torch.masked_fill torch.cat
torch.nn.functional.embedding torch.cumsum torch.sum torch.mean torch.max torch.sort torch.topk
torch.nn.functional.glu torch.nn.functional.normalize torch.clone torch.pow
"""


@pytest.mark.parametrize("name", names(PERSISTED_FREE))
def test_output_is_persisted_free(name: str) -> None:
    assert known(function(name)).keeps_output


@pytest.mark.parametrize("name", names(NOT_PERSISTED))
def test_output_is_not_persisted_free(name: str) -> None:
    assert not known(function(name)).keeps_output


def test_a_power_is_persisted_if_the_exponent_is_a_tensor() -> None:
    assert known(function("torch.pow")).keeps_output_if_tensor == "exponent"


@pytest.mark.parametrize("name", names("topk sort max kthvalue cummax"))
def test_indices_are_persisted_and_values_are_not(name: str) -> None:
    assert known(method(name)).keeps_results == (1,)


@pytest.mark.parametrize("name", names("relu silu elu leaky_relu hardtanh dropout threshold"))
def test_inplace_argument(name: str) -> None:
    assert known(function(f"{F}.{name}")).indirect_inplace == "inplace"


PARAMETERS = {
    "torch.split": "tensor split_size_or_sections dim",
    "torch.chunk": "input chunks dim",
    "torch.sort": "input dim descending stable out",
    "torch.add": "input other alpha out",
    "torch.addbmm": "input batch1 batch2 beta alpha out",
    "torch.Tensor.transpose": "self dim0 dim1",
    "torch.Tensor.view": "self size dtype",
    "torch.nn.functional.dropout": "input p training inplace",
    "torch.special.expit": "input out",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_in_the_order_of_calls(name: str) -> None:
    assert known(function(name)).parameters == tuple(PARAMETERS[name].split())


@pytest.mark.parametrize(("name", "variadic"), [("view", "size"), ("permute", "dims"), ("expand", "size")])
def test_remaining_positional_arguments(name: str, variadic: str) -> None:
    assert known(method(name)).variadic == variadic


RESULTS = {
    "torch.split": Result.TENSORS,
    "torch.meshgrid": Result.TENSORS,
    "torch.topk": Result.TENSORS,
    "torch.max": Result.UNKNOWN,
    "torch.sigmoid": Result.TENSOR,
    "torch.equal": Result.VALUE,
    "torch.nn.functional.multi_head_attention_forward": Result.TENSORS,
    "torch.Tensor.tolist": Result.VALUE,
    "torch.Tensor.size": Result.VALUE,
    "torch.Tensor.untyped_storage": Result.UNKNOWN,
    "torch.Tensor.retain_grad": Result.NONE,
    "torch.Tensor.requires_grad_": Result.SELF,
    "torch.nn.init.zeros_": Result.SELF,
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str) -> None:
    assert known(function(name)).result is RESULTS[name]


@pytest.mark.parametrize("name", names("LSTM GRU RNN"))
def test_recurrent_modules_return_nested_tuples(name: str) -> None:
    assert known(module(f"torch.nn.{name}")).result is Result.UNKNOWN


@pytest.mark.parametrize("name", names("Sequential ModuleList ModuleDict ParameterList Module"))
def test_containers_are_the_callers_business(name: str) -> None:
    assert module(f"torch.nn.{name}") is None


@pytest.mark.parametrize(
    "name", names("math.exp torch.nowhere numpy.add sigmoid torch.nn.Linear torch.ops.aten.nowhere")
)
def test_other_functions_are_unknown(name: str) -> None:
    assert function(name) is None


def test_other_names_are_unknown() -> None:
    assert method("nowhere") is None
    assert attribute("weight") is None
    assert module("mine.Linear") is None
