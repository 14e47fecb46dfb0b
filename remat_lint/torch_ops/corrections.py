"""What PyTorch's schemas and signatures do not say, by hand, each with its reason.

"Measured" means: run with torch_remat 0.2.2 on torch 2.14.1. A view's layout that is named nowhere
here is ``BREAKS``. ``receiver`` stands for ``self`` of a method, for the first parameter elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from remat_lint.torch_ops.operation import Switch

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = ("torch.Tensor",)
PLAIN = ("torch", "torch.Tensor")
ATTRIBUTES = ("torch.Tensor attributes",)
NEURAL = ("torch.nn.functional",)
MODULES = ("torch.nn",)
MATH = (*PLAIN, "torch.nn.functional", "torch.special", "torch.linalg")
EVERYWHERE = (*MATH, *ATTRIBUTES, "torch.ops.aten")


@dataclass(frozen=True)
class Correction:
    """``fields`` of an entry, by their names in ``Operation``, for all ``names`` in all ``namespaces``.

    A name that a namespace lacks is skipped there, unless the correction is what ``adds`` it.
    """

    reason: str
    namespaces: tuple[str, ...]
    names: str
    fields: dict[str, Any]
    adds: bool = False

    def targets(self) -> Iterator[tuple[str, str]]:
        return ((namespace, name) for namespace in self.namespaces for name in self.names.split())


_VIEW = {"effect": "view", "sources": "receiver"}
_VIEWS = {**_VIEW, "result": "tensors"}
_CAST = {"effect": "cast", "sources": "receiver"}
_DROPOUT = {"effect": "dropout", "sources": "receiver", "draws": True}
_ONLY_ASKED = {"effect": "metadata", "result": "value", "metadata_only": "receiver"}
_FROM_SHAPE = {"effect": "metadata", "metadata_only": "receiver"}
_NOTHING = {"effect": "register", "result": "none", "writes": ""}
_READS_VALUE = {"effect": "read", "result": "value"}
_KEPT = {"keeps_output": True}
_MEASURED = "measured: autograd saves the result itself (SEMANTICS 1.6)"

VIEWS = (
    Correction(
        "no schema marks them: the wrappers are Python, or autograd is told not to see the view",
        (*EVERYWHERE, *METHODS),
        "unsafe_chunk unsafe_split unsafe_split_with_sizes broadcast_tensors meshgrid",
        _VIEWS,
    ),
    Correction("iterating unbinds the first dimension", METHODS, "__iter__", _VIEWS),
    Correction(
        "Python wrappers; the result is a tuple for several", PLAIN, "atleast_1d atleast_2d atleast_3d", _VIEW
    ),
    Correction("Python: another class over the same storage", METHODS, "as_subclass __pos__", _VIEW),
    Correction("stubs lack the class that comes back", METHODS, "as_subclass __pos__", {"result": "tensor"}),
    Correction("a property with no schema", ATTRIBUTES, "data", {**_VIEW, "result": "tensor"}),
    Correction(
        "the caller looks at the index: an int, slice, None or Ellipsis views, anything else reads",
        METHODS,
        "__getitem__",
        {**_VIEW, "parameters": "key", "layout": "slices", "result": "tensor"},
        adds=True,
    ),
    Correction(
        "classes that take the storage of their argument",
        ("torch.nn.parameter",),
        "Parameter Buffer UninitializedParameter",
        {**_VIEW, "parameters": "data requires_grad", "layout": "keeps"},
        adds=True,
    ),
    Correction(
        "the constructor takes the storage of a tensor argument",
        ("torch",),
        "Tensor",
        {**_VIEW, "parameters": "data", "layout": "keeps"},
        adds=True,
    ),
    Correction(
        "measured: the same tensor", MODULES, "Identity", {**_VIEW, "parameters": "input", "layout": "keeps"}
    ),
    Correction("calls Tensor.unflatten", MODULES, "Unflatten", {**_VIEW, "layout": "keeps"}),
    Correction(
        "the schema has a write annotation for the change of sizes and strides; no data is touched",
        PLAIN,
        "t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ detach_ as_strided_",
        {**_VIEW, "result": "self", "writes": "receiver"},
    ),
    Correction(
        "the operator of that name is Tensor.unfold; this one is im2col, which copies",
        NEURAL,
        "unfold",
        {"effect": "read", "sources": ""},
    ),
    Correction(
        "unsafe in autograd only, a view in storage",
        ("torch.ops.aten",),
        "_unsafe_view lift",
        {**_VIEW, "parameters": "self size"},
        adds=True,
    ),
)

LAYOUTS = (
    Correction(
        "a contiguous tensor stays so",
        EVERYWHERE,
        "view view_as unsqueeze squeeze unflatten detach data positive __pos__ alias as_subclass conj"
        " resolve_conj resolve_neg view_as_real view_as_complex atleast_1d atleast_2d atleast_3d unsqueeze_"
        " squeeze_ detach_ _unsafe_view lift lift_fresh _reshape_alias _conj _neg_view",
        {"layout": "keeps"},
    ),
    Correction(
        "dimensions change places",
        EVERYWHERE,
        "t T mT H mH adjoint transpose permute swapaxes swapdims movedim moveaxis numpy_T matrix_H t_"
        " transpose_ swapaxes_ swapdims_",
        {"layout": "permutes"},
    ),
    Correction(
        "contiguous where the first dimension is cut",
        EVERYWHERE,
        "narrow select split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes unsafe_split"
        " unsafe_chunk unsafe_split_with_sizes slice __iter__",
        {"layout": "slices"},
    ),
)

_ORDERED = {"keeps_order": True}
KEEPS_ORDER = (
    Correction(
        "measured: made of pointwise operators, which alone have the tag",
        (*MATH, *NEURAL),
        "absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh complex divide fix floor_divide"
        " greater greater_equal hardswish isclose isreal less less_equal multiply negative normalize"
        " not_equal polar softsign subtract sym_sum tanhshrink true_divide __abs__ __neg__ kl_div"
        " hinge_embedding_loss binary_cross_entropy_with_logits margin_ranking_loss",
        _ORDERED,
    ),
    Correction(
        "other names of pointwise operators",
        ("torch.special",),
        "digamma erf erfc erfinv exp2 expit expm1 gammainc gammaincc gammaln i0 log1p logit ndtr psi round"
        " sinc xlogy",
        _ORDERED,
    ),
    Correction(
        "measured: copies that keep the strides",
        (*MATH, *NEURAL),
        "argsort cdouble cfloat chalf dequantize fill flip fliplr flipud full_like msort new_tensor"
        " slice_scatter sort tensor _lazy_clone __reversed__",
        _ORDERED,
    ),
    Correction("measured: multiplied with a mask", NEURAL, "alpha_dropout feature_alpha_dropout", _ORDERED),
    Correction(
        "measured: Python's operators are pointwise",
        METHODS,
        "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__"
        " __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__",
        _ORDERED,
    ),
    Correction(
        "the same",
        ("operator",),
        "add sub mul truediv floordiv mod pow and_ or_ xor eq ne lt le gt ge neg abs invert inv",
        _ORDERED,
    ),
    Correction(
        "measured: modules that call a pointwise operator",
        MODULES,
        "AlphaDropout CELU ELU FeatureAlphaDropout GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU"
        " Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
        _ORDERED,
    ),
)

COPIES_PERHAPS = (
    Correction(
        "the schema says view; they copy where the layout asks for it (SEMANTICS 1.2)",
        PLAIN,
        "contiguous reshape flatten ravel reshape_as",
        {"effect": "reshape"},
    ),
    Correction("calls Tensor.flatten", MODULES, "Flatten", {"effect": "reshape", "sources": "receiver"}),
    Correction(
        "the schema says view, or there is none; a change of dtype or device copies (SEMANTICS 1.2)",
        METHODS,
        "to cpu cuda xpu ipu mtia float half double bfloat16 long int short char byte bool cfloat cdouble"
        " chalf type_as to_dense coalesce",
        {**_CAST, "result": "tensor"},
    ),
    Correction("without an argument a string comes back, and nothing is read", METHODS, "type", _CAST),
    Correction(
        "Python objects too; a tensor is taken as it is (SEMANTICS 1.1)",
        ("torch",),
        "as_tensor asarray",
        _CAST,
    ),
    Correction(
        "asks for the address of the data first (measured)",
        METHODS,
        "pin_memory",
        {"effect": "read", "sources": ""},
    ),
    Correction(
        "identity in evaluation and for p == 0 (measured)",
        (*PLAIN, *NEURAL),
        "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout dropout_"
        " alpha_dropout_ feature_dropout_ feature_alpha_dropout_",
        _DROPOUT,
    ),
    Correction(
        "the same as modules",
        MODULES,
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout",
        _DROPOUT,
    ),
)

METADATA = (
    Correction(
        "a number, flag or shape comes back; the schema does not say whether data were read (SEMANTICS 1.4)",
        PLAIN,
        "size dim ndimension numel nelement stride storage_offset is_contiguous element_size get_device"
        " is_floating_point is_complex is_conj is_neg is_inference is_signed is_same_size is_set_to"
        " is_coalesced is_distributed is_tensor is_storage dense_dim sparse_dim dim_order storage_type"
        " result_type can_cast promote_types typename broadcast_shapes qscheme q_scale q_zero_point"
        " q_per_channel_axis cudnn_is_acceptable _is_view _use_count _is_zerotensor __len__ __hash__"
        " __sizeof__ __dir__ __dlpack_device__",
        _ONLY_ASKED,
    ),
    Correction(
        "the same as operators, under names of their own",
        ("torch.ops.aten",),
        "sym_size sym_numel sym_stride sym_storage_offset sym_is_contiguous",
        {**_ONLY_ASKED, "metadata_only": "self", "parameters": "self dim"},
        adds=True,
    ),
    Correction("neither tensor is read", PLAIN, "is_same_size", {"metadata_only": "receiver other"}),
    Correction("neither tensor is read", METHODS, "is_set_to", {"metadata_only": "receiver tensor"}),
    Correction(
        "only shape, dtype and device of the first argument count",
        PLAIN,
        "zeros_like ones_like empty_like rand_like randn_like randint_like new_zeros new_ones new_empty"
        " new_empty_strided",
        _FROM_SHAPE,
    ),
    Correction(
        "the same, but the value may be a tensor, which is read",
        PLAIN,
        "full_like new_full new_tensor new",
        {"metadata_only": "receiver", "result": "tensor"},
    ),
    Correction(
        "only shape, dtype or device of the other tensor count",
        METHODS,
        "expand_as view_as reshape_as type_as to",
        {"metadata_only": "other"},
    ),
    Correction(
        "a storage object; asking it for its address reads, for its size does not (SEMANTICS 1.3, 1.4)",
        METHODS,
        "untyped_storage storage _typed_storage",
        {**_ONLY_ASKED, "result": "unknown"},
    ),
    Correction("a tensor of its own, or None", ATTRIBUTES, "grad _grad", {"result": "unknown"}),
    Correction(
        "None or a tensor; differs between forward and replay (SEMANTICS 1.4)",
        ATTRIBUTES,
        "_base",
        {"result": "unknown"},
    ),
)

REGISTERS = (
    Correction(
        "touches no data, whatever the write annotation says",
        METHODS,
        "requires_grad_",
        {"effect": "register", "result": "self", "writes": "", "metadata_only": "receiver"},
    ),
    Correction("comes back with nothing", METHODS, "retain_grad record_stream", _NOTHING),
    Correction("runs autograd, comes back with nothing", METHODS, "backward", {"result": "none"}),
    Correction(
        "comes back with a handle",
        METHODS,
        "register_hook register_post_accumulate_grad_hook",
        {"effect": "register", "result": "value"},
    ),
)

READS = (
    Correction(
        "data leave for Python",
        PLAIN,
        "__array__ const_data_ptr is_shared __dlpack__ to_dlpack __format__ __repr__ __str__ __reduce__"
        " __reduce_ex__",
        _READS_VALUE,
    ),
    Correction("holds the address of the data", ATTRIBUTES, "__cuda_array_interface__", _READS_VALUE),
    Correction(
        "the stubs do not say what comes back",
        METHODS,
        "__eq__ __ne__ __pow__ __deepcopy__ __reversed__",
        {"result": "tensor"},
    ),
    Correction(
        "augmented assignment writes to the left side",
        METHODS,
        "__iadd__ __isub__ __imul__ __itruediv__ __idiv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__"
        " __ixor__ __ilshift__ __irshift__",
        {"result": "self", "writes": "receiver"},
    ),
    Correction(
        "assigns to a part of the tensor", METHODS, "__setitem__", {"result": "none", "writes": "receiver"}
    ),
    Correction(
        "in training the running statistics change, without an annotation",
        ("torch", *NEURAL),
        "batch_norm instance_norm native_batch_norm",
        {"writes": "running_mean running_var"},
    ),
    Correction(
        "Python wrappers without annotation",
        NEURAL,
        "logsigmoid softsign tanhshrink upsample upsample_bilinear upsample_nearest",
        {"result": "tensor"},
    ),
    Correction("a named tuple", MODULES, "AdaptiveLogSoftmaxWithLoss", {"result": "tensors"}),
)

SIGNATURES = (
    Correction(
        "the stubs list dtype first; sizes are what is given", METHODS, "view", {"parameters": "size dtype"}
    ),
    Correction(
        "the constructors hide behind *args",
        MODULES,
        "LSTM GRU",
        {"constructor": "input_size hidden_size num_layers bias batch_first dropout bidirectional"},
    ),
    Correction(
        "the constructor hides behind *args",
        MODULES,
        "RNN",
        {
            "constructor": "input_size hidden_size num_layers nonlinearity bias batch_first dropout"
            " bidirectional"
        },
    ),
)

_IN_TRAINING = Switch("training", True)
_IN_TRAINING_IF_ASKED = Switch("training", False)
_TRAIN = Switch("train", True)
_RECURRENT = (Switch("dropout", 0.0), Switch("num_layers", 1, off=(1,)))


def _chance(parameter: str, default: float) -> Switch:
    """The probability of a dropout: measured, nothing is drawn where it is 0, nor where it is 1."""
    return Switch(parameter, default, off=(0, 1))


DRAWS = (
    Correction(
        "Python functions that draw inside",
        ("torch", *NEURAL),
        "gumbel_softmax multi_head_attention_forward svd_lowrank pca_lowrank",
        {"draws": True},
    ),
    Correction(
        "initialisers that draw, by their names of today and of old",
        ("torch.nn.init",),
        "uniform_ normal_ trunc_normal_ xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_"
        " orthogonal_ sparse_ uniform normal xavier_uniform xavier_normal kaiming_uniform kaiming_normal"
        " orthogonal sparse",
        {"draws": True},
    ),
    Correction(
        "signatures of Python: in training, which is the default",
        NEURAL,
        "dropout dropout1d dropout2d dropout3d",
        {"switches": (_chance("p", 0.5), _IN_TRAINING)},
    ),
    Correction(
        "signatures of Python: in training, which is not the default",
        NEURAL,
        "alpha_dropout feature_alpha_dropout",
        {"switches": (_chance("p", 0.5), _IN_TRAINING_IF_ASKED)},
    ),
    Correction(
        "schemas: the probability and the mode are always given",
        PLAIN,
        "dropout alpha_dropout feature_dropout feature_alpha_dropout native_dropout dropout_ alpha_dropout_"
        " feature_dropout_ feature_alpha_dropout_",
        {"switches": (_chance("p", 0.5), _TRAIN)},
    ),
    Correction(
        "schemas: the slope is drawn in training, which is not the default",
        (*PLAIN, *NEURAL, "torch.ops.aten"),
        "rrelu rrelu_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional",
        {"switches": (_IN_TRAINING_IF_ASKED,)},
    ),
    Correction(
        "modules: in training",
        MODULES,
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout",
        {"switches": (_chance("p", 0.5), _IN_TRAINING)},
    ),
    Correction("in training", MODULES, "RReLU", {"draws": True, "switches": (_IN_TRAINING,)}),
    Correction(
        "the windows are drawn in evaluation too, where they are not given",
        (*NEURAL, *MODULES),
        "fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices"
        " fractional_max_pool3d_with_indices FractionalMaxPool2d FractionalMaxPool3d",
        {"draws": True, "draws_unless_given": "_random_samples"},
    ),
    Correction(
        "schemas: attention has no dropout where none is asked for",
        (*NEURAL, "torch.ops.aten"),
        "scaled_dot_product_attention _cudnn_attention_forward _efficient_attention_forward"
        " _flash_attention_forward _flash_attention_forward_no_dropout_inplace"
        " _scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps"
        " _scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention"
        " _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu"
        " _scaled_dot_product_fused_attention_overrideable _triton_scaled_dot_attention",
        {"switches": (_chance("dropout_p", 0.0),)},
    ),
    Correction(
        "the tag says so, but they choose a kernel, take a softmax, or use the mask that the forward drew",
        ("torch.ops.aten",),
        "_fused_sdp_choice _nested_tensor_softmax_with_shape _cudnn_attention_backward"
        " _scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention_backward",
        {"draws": False},
    ),
    Correction(
        "signature of Python",
        NEURAL,
        "multi_head_attention_forward",
        {"switches": (_chance("dropout_p", 0.0), _IN_TRAINING)},
    ),
    Correction(
        "the stubs list an overload for packed sequences first",
        ("torch",),
        "gru lstm rnn_tanh rnn_relu",
        {
            "parameters": "input hx params has_biases num_layers dropout train bidirectional batch_first",
            "switches": (*_RECURRENT, _TRAIN),
        },
    ),
    Correction(
        "in training, between the layers of a stack",
        MODULES,
        "RNN LSTM GRU",
        {"draws": True, "switches": (*_RECURRENT, _IN_TRAINING)},
    ),
    Correction(
        "in training, and not by default",
        MODULES,
        "MultiheadAttention",
        {"draws": True, "switches": (_chance("dropout", 0.0), _IN_TRAINING)},
    ),
    Correction(
        "in training, and by default",
        MODULES,
        "Transformer TransformerEncoderLayer TransformerDecoderLayer",
        {"draws": True, "switches": (_chance("dropout", 0.1), _IN_TRAINING)},
    ),
    Correction(
        "a stack of copies of a layer",
        MODULES,
        "TransformerEncoder",
        {"draws": True, "draws_like": "encoder_layer", "switches": (_IN_TRAINING,)},
    ),
    Correction(
        "a stack of copies of a layer",
        MODULES,
        "TransformerDecoder",
        {"draws": True, "draws_like": "decoder_layer", "switches": (_IN_TRAINING,)},
    ),
    Correction(
        "measured: their weights are drawn when they are made",
        MODULES,
        "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding"
        " EmbeddingBag RNN LSTM GRU RNNCell LSTMCell GRUCell MultiheadAttention Transformer"
        " TransformerEncoderLayer TransformerDecoderLayer AdaptiveLogSoftmaxWithLoss LinearCrossEntropyLoss",
        {"constructor_draws": True},
    ),
)

KEEPS_OUTPUT = (
    Correction(
        _MEASURED,
        MATH,
        "exp exp2 expm1 sqrt rsqrt reciprocal sigmoid expit tanh tan relu sgn softmax log_softmax softmin"
        " logsumexp logcumsumexp cumprod prod amax amin norm vector_norm std det cholesky cholesky_inverse"
        " cholesky_solve inverse inv pinverse cdist dist pdist pairwise_distance copysign hypot polar"
        " index_reduce scatter_reduce lu_solve solve_triangular householder_product eigvals eigvalsh svdvals"
        " tensorinv erfcx i0e i1 i1e log_ndtr ndtri __rpow__",
        _KEPT,
    ),
    Correction(_MEASURED, ("torch.linalg",), "solve pinv tensorsolve", _KEPT),
    Correction(
        "measured on 2.14.1 without dropout and mask; not on 2.13.0",
        NEURAL,
        "scaled_dot_product_attention",
        _KEPT,
    ),
    Correction(
        _MEASURED,
        (*PLAIN, *NEURAL),
        "exp_ exp2_ expm1_ sqrt_ rsqrt_ reciprocal_ sigmoid_ tanh_ tan_ relu_ sgn_ elu_ celu_ leaky_relu_"
        " rrelu_",
        _KEPT,
    ),
    Correction(_MEASURED, MODULES, "Sigmoid Tanh ReLU Softmax Softmax2d Softmin LogSoftmax", _KEPT),
    Correction(
        "measured: not where the exponent is a number",
        PLAIN,
        "pow float_power __pow__",
        {"keeps_output_if_tensor": "exponent"},
    ),
    Correction(
        "measured: the indices, not the values",
        (*PLAIN, *NEURAL),
        "topk sort kthvalue mode cummax cummin max min median nanmedian max_pool1d max_pool2d max_pool3d"
        " adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d"
        " fractional_max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices"
        " adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices"
        " fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices frexp",
        {"keeps_results": (1,)},
    ),
    Correction(
        "measured: the reduction to one number, which has one result", PLAIN, "median nanmedian", _KEPT
    ),
    Correction(
        "measured: the first of two",
        MATH,
        "std_mean slogdet cholesky_ex inv_ex solve_ex triangular_solve",
        {"keeps_results": (0,)},
    ),
    Correction("measured: both", MATH, "aminmax eigh qr lu_factor", {"keeps_results": (0, 1)}),
    Correction(
        "measured: mean and reciprocal deviation",
        ("torch",),
        "native_layer_norm native_group_norm",
        {"keeps_results": (1, 2)},
    ),
)

OPERATORS = (
    Correction(
        "functions of the standard library that call the methods of a tensor",
        ("operator",),
        "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge concat",
        {"parameters": "a b"},
        adds=True,
    ),
    Correction("the same", ("operator",), "neg abs invert inv", {"parameters": "a"}, adds=True),
    Correction(
        "the same, to Python values",
        ("operator",),
        "contains truth not_ index",
        {**_READS_VALUE, "parameters": "a b"},
        adds=True,
    ),
    Correction(
        "the tensor itself", ("operator",), "pos", {**_VIEW, "parameters": "a", "layout": "keeps"}, adds=True
    ),
    Correction(
        "see __getitem__",
        ("operator",),
        "getitem",
        {**_VIEW, "parameters": "a b", "layout": "slices"},
        adds=True,
    ),
    Correction(
        "see __setitem__",
        ("operator",),
        "setitem",
        {"parameters": "a b c", "result": "none", "writes": "a"},
        adds=True,
    ),
    Correction(
        "augmented assignment",
        ("operator",),
        "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift",
        {"parameters": "a b", "result": "self", "writes": "a"},
        adds=True,
    ),
    Correction(
        "identity and length",
        ("operator",),
        "is_ is_not length_hint",
        {**_ONLY_ASKED, "parameters": "a b"},
        adds=True,
    ),
)

_DROP_PATH = ("timm.layers", "timm.layers.drop", "timm.models.layers", "timm.models.layers.drop")
_DROPS = ("torchvision.ops", "torchvision.ops.stochastic_depth", "torchvision.ops.drop_block")
_FLASH = ("flash_attn", "flash_attn.flash_attn_interface")

DRAWS_OF_OTHER_PACKAGES = (
    Correction(
        "drops whole samples in training; nothing by default",
        tuple(f"{namespace} modules" for namespace in _DROP_PATH),
        "DropPath",
        {
            **_DROPOUT,
            "parameters": "x",
            "constructor": "drop_prob scale_by_keep",
            "switches": (_chance("drop_prob", 0.0), _IN_TRAINING),
        },
        adds=True,
    ),
    Correction(
        "the same as a function, of which the mode is an argument",
        _DROP_PATH,
        "drop_path",
        {
            **_DROPOUT,
            "parameters": "x drop_prob training scale_by_keep",
            "switches": (_chance("drop_prob", 0.0), _IN_TRAINING_IF_ASKED),
        },
        adds=True,
    ),
    Correction(
        "drops rows or samples, or blocks of a picture, in training; the chance is always given",
        tuple(f"{namespace} modules" for namespace in _DROPS),
        "StochasticDepth DropBlock2d DropBlock3d",
        {
            **_DROPOUT,
            "parameters": "input",
            "constructor": "p mode",
            "switches": (_chance("p", 0.5), _IN_TRAINING),
        },
        adds=True,
    ),
    Correction(
        "the same as functions",
        _DROPS,
        "stochastic_depth",
        {**_DROPOUT, "parameters": "input p mode training", "switches": (_chance("p", 0.5), _IN_TRAINING)},
        adds=True,
    ),
    Correction(
        "the same as functions",
        _DROPS,
        "drop_block2d drop_block3d",
        {
            **_DROPOUT,
            "parameters": "input p block_size inplace eps training",
            "switches": (_chance("p", 0.5), _IN_TRAINING),
        },
        adds=True,
    ),
    Correction(
        "the kernel draws from torch's state of the device, if asked for dropout",
        _FLASH,
        "flash_attn_func",
        {
            "draws": True,
            "result": "unknown",
            "parameters": "q k v dropout_p",
            "switches": (_chance("dropout_p", 0.0),),
        },
        adds=True,
    ),
    Correction(
        "the same of sequences that are packed",
        _FLASH,
        "flash_attn_varlen_func",
        {
            "draws": True,
            "result": "unknown",
            "parameters": "q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p",
            "switches": (_chance("dropout_p", 0.0),),
        },
        adds=True,
    ),
    Correction(
        "the same of one tensor",
        _FLASH,
        "flash_attn_qkvpacked_func",
        {
            "draws": True,
            "result": "unknown",
            "parameters": "qkv dropout_p",
            "switches": (_chance("dropout_p", 0.0),),
        },
        adds=True,
    ),
    Correction(
        "the same of another package",
        ("xformers.ops",),
        "memory_efficient_attention",
        {"draws": True, "parameters": "query key value attn_bias p", "switches": (_chance("p", 0.0),)},
        adds=True,
    ),
)

TYPES_OF_DISTRIBUTED_TENSORS = (
    Correction(
        "spmd_types keeps the type of a tensor in an attribute of it, and hands the tensor back",
        ("spmd_types", "spmd_types.runtime"),
        "assert_type assert_local_type mutate_type",
        {**_VIEW, "parameters": "tensor", "layout": "keeps"},
        adds=True,
    ),
    Correction(
        "the same, with nothing back",
        ("spmd_types", "spmd_types.runtime"),
        "assert_type_like assert_local_type_like",
        {**_NOTHING, "metadata_only": "tensor source", "parameters": "tensor source overrides"},
        adds=True,
    ),
    Correction(
        "asks for that attribute",
        ("spmd_types", "spmd_types.runtime"),
        "get_local_type get_axis_local_type maybe_get_axis_local_type get_partition_spec has_local_type",
        {**_ONLY_ASKED, "parameters": "tensor"},
        adds=True,
    ),
)

CORRECTIONS = (
    *VIEWS,
    *LAYOUTS,
    *COPIES_PERHAPS,
    *METADATA,
    *REGISTERS,
    *READS,
    *SIGNATURES,
    *DRAWS,
    *KEEPS_OUTPUT,
    *OPERATORS,
    *KEEPS_ORDER,
    *TYPES_OF_DISTRIBUTED_TENSORS,
    *DRAWS_OF_OTHER_PACKAGES,
)
"""Applied in this order: a later one wins."""
