"""Operations that autograd keeps tensors for, which replay has to compute again.

Measured on torch 2.14.1: an operation on tensors that require grad, run under saved-tensor hooks, saves some
of what it reads or returns. A factor or divisor that is a number is not kept.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEEPING = _words(
    """
    abs abs_ absolute absolute_ acos acos_ acosh adaptive_max_pool1d adaptive_max_pool1d_with_indices
    addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv amax amin aminmax angle arccos arccos_ arccosh
    arcsin arcsin_ arcsinh arctan arctan2 arctan2_ arctan_ arctanh argsort asin asin_ asinh atan atan2
    atan2_ atan_ atanh avg_pool1d baddbmm batch_norm bilinear binary_cross_entropy
    binary_cross_entropy_with_logits bmm cdist celu celu_ chain_matmul cholesky_ex cholesky_inverse
    cholesky_solve clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ complex cond conv1d
    conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d copysign copysign_ corrcoef cos cos_
    cosh cosh_ cosine_similarity cov cross cross_entropy cummax cummin cumprod cumprod_
    cumulative_trapezoid det digamma digamma_ dist div div_ divide divide_ dot dropout dropout1d dropout2d
    dropout3d eig eigh eigvals eigvalsh einsum elu elu_ embedding entr erf erf_ erfc erfc_ erfcx erfinv
    erfinv_ exp exp2 exp2_ exp_ expit expm1 expm1_ float_power fmax fmin fmod fmod_ frexp frobenius_norm
    gammainc gammaincc gammaln gather gaussian_nll_loss gelu ger glu group_norm gumbel_softmax hardshrink
    hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss hypot hypot_ i0 i0_ i0e i1
    i1e igamma igamma_ igammac igammac_ index index_add index_copy index_select inner instance_norm inv
    inv_ex inverse isclose isfinite kl_div kron kthvalue l1_loss layer_norm ldexp ldexp_ leaky_relu
    leaky_relu_ lerp lerp_ lgamma lgamma_ linear linear_cross_entropy log log10 log10_ log1p log1p_ log2
    log2_ log_ log_ndtr log_softmax logaddexp logaddexp2 logcumsumexp logdet logit logit_ logsigmoid
    logsumexp lstsq lu lu_factor lu_factor_ex margin_ranking_loss masked_fill masked_fill_ masked_select
    matmul matrix_exp matrix_norm matrix_rank matrix_sqrth max max_pool1d max_pool1d_with_indices maximum
    median min minimum mish mm mode mse_loss msort mul mul_ multi_dot multigammaln
    multilabel_soft_margin_loss multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean
    nanmedian nanquantile nansum ndtr ndtri nextafter nextafter_ nll_loss norm norm_except_dim normalize
    nuclear_norm outer pairwise_distance pca_lowrank pdist pinv pinverse poisson_nll_loss polar polygamma
    polygamma_ pow pow_ prelu prod psi qr quantile reciprocal reciprocal_ relu relu6 relu_ remainder
    remainder_ rms_norm rrelu rrelu_ rsqrt rsqrt_ scaled_dot_product_attention scatter scatter_add selu
    selu_ sgn sgn_ sigmoid sigmoid_ silu sin sin_ sinc sinc_ sinh sinh_ slogdet smooth_l1_loss
    soft_margin_loss softmax softmin softplus softshrink softsign solve solve_ex sort sqrt sqrt_ square
    square_ std std_mean svd svd_lowrank svdvals take take_along_dim tan tan_ tanh tanh_ tanhshrink
    tensordot tensorinv threshold threshold_ topk trapezoid trapz triangular_solve triplet_margin_loss
    triplet_margin_with_distance_loss true_divide true_divide_ vander var var_mean vdot vecdot vector_norm
    where xlog1py xlogy xlogy_ zeta
    """
)
"""Operations that keep something, with tensors for operands."""

KEEPING_MODULES = _words(
    """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d
    BatchNorm3d Bilinear CELU Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
    CosineSimilarity CrossEntropyLoss ELU Embedding EmbeddingBag GELU GLU GRU GRUCell GroupNorm Hardshrink
    Hardsigmoid Hardswish Hardtanh HuberLoss InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss
    LSTM LSTMCell LayerNorm LazyConv1d LazyConv2d LazyConv3d LazyLinear LeakyReLU Linear LocalResponseNorm
    LogSigmoid LogSoftmax MSELoss MaxPool1d MaxPool2d MaxPool3d Mish MultiheadAttention NLLLoss PReLU
    PairwiseDistance RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax
    Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold TransformerDecoderLayer
    TransformerEncoderLayer TripletMarginLoss
    """
)
"""Modules of ``torch.nn`` whose forward does; dropout and others that can be switched off are left out."""

SCALING = _words("div divide mul multiply true_divide")
"""Those of them that keep nothing where one operand is a number."""

KEEPING_NOTHING = _words(
    """
    add add_ all allclose any argmax argmin argwhere bucketize cat ceil ceil_ clone concat copy_
    count_nonzero cumsum diag diff eq equal fill_ flip floor floor_ frac full_like ge gt heaviside
    histc isin isinf isnan le logical_and logical_not logical_or logical_xor lt mean ne neg nonzero
    ones_like pad repeat repeat_interleave roll rot90 round round_ searchsorted sign stack sub sub_
    sum tile trace tril triu trunc type_as unique zero_ zeros_like
    """
)
"""Operations that keep nothing, whatever they are given."""

WITHOUT_GRADIENTS = _words(
    """
    all any argmax argmin argsort argwhere bincount bool bucketize byte char count_nonzero eq equal ge greater
    greater_equal gt histc int isclose isfinite isin isinf isnan isneginf isposinf isreal le less less_equal
    logical_and logical_not logical_or logical_xor long lt multinomial ne nonzero not_equal one_hot
    searchsorted short signbit
    """
)
"""Operations that give integers, bools or what has no derivative: the result never requires grad."""

WITH_INDICES = _words("cummax cummin kthvalue max median min mode nanmedian sort topk")
"""Operations whose second result are indices."""
