"""keras.ops: functions on tensors of any kind, with Keras's promotion of dtypes."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.activations": """
        celu elu glu hard_shrink hard_sigmoid hard_silu hard_swish=hard_silu hard_tanh leaky_relu
        log_sigmoid log_softmax relu6 selu sigmoid silu soft_shrink softmax softplus softsign
        sparse_plus sparse_sigmoid squareplus swish=silu tanh_shrink threshold""",
    "framework.autodiff.custom": "custom_gradient",
    "framework.autodiff.derivatives": "jvp",
    "framework.keras.ops.": "nn numpy",
    "framework.keras.ops.arrays": """
        append arange argsort array broadcast_to concatenate convert_to_numpy convert_to_tensor copy
        dot dtype empty empty_like expand_dims eye flip full full_like get_item hstack identity
        inner is_tensor linspace matmul meshgrid moveaxis ndim nonzero one_hot ones ones_like outer
        pad ravel repeat reshape roll shape size slice sort split squeeze stack stop_gradient
        swapaxes take take_along_axis tensordot tile top_k transpose tri tril triu unstack vdot
        vstack where zeros zeros_like""",
    "framework.keras.ops.convolution": "conv conv_transpose depthwise_conv separable_conv",
    "framework.keras.ops.derivatives": "vectorized_map",
    "framework.keras.ops.elementwise": """
        abs=absolute absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and
        bitwise_invert=bitwise_not bitwise_not bitwise_or bitwise_xor cast ceil clip cos cosh divide
        divide_no_nan equal erf exp exp2 expm1 floor floor_divide greater greater_equal isclose
        isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
        logical_or logical_xor maximum minimum mod multiply negative not_equal power reciprocal
        round rsqrt saturate_cast sign sin sinh sqrt square subtract tan tanh true_divide trunc""",
    "framework.keras.ops.nn": """
        batch_normalization binary_crossentropy categorical_crossentropy dot_product_attention gelu
        layer_normalization normalize relu sparse_categorical_crossentropy""",
    "framework.keras.ops.pooling": """
        adaptive_average_pool adaptive_max_pool average_pool max_pool rms_normalization""",
    "framework.keras.ops.reduction": """
        all amax amin any argmax argmin average count_nonzero cumsum logsumexp max mean min moments
        prod ptp std sum var""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.activations import (
        celu as celu, elu as elu, glu as glu, hard_shrink as hard_shrink,
        hard_sigmoid as hard_sigmoid, hard_silu as hard_silu, hard_silu as hard_swish,
        hard_tanh as hard_tanh, leaky_relu as leaky_relu, log_sigmoid as log_sigmoid,
        log_softmax as log_softmax, relu6 as relu6, selu as selu, sigmoid as sigmoid, silu as silu,
        silu as swish, soft_shrink as soft_shrink, softmax as softmax, softplus as softplus,
        softsign as softsign, sparse_plus as sparse_plus, sparse_sigmoid as sparse_sigmoid,
        squareplus as squareplus, tanh_shrink as tanh_shrink, threshold as threshold,
    )  # fmt: skip
    from framework.autodiff.custom import custom_gradient as custom_gradient
    from framework.autodiff.derivatives import jvp as jvp
    from framework.keras.ops import nn as nn, numpy as numpy
    from framework.keras.ops.arrays import (
        append as append, arange as arange, argsort as argsort, array as array,
        broadcast_to as broadcast_to, concatenate as concatenate,
        convert_to_numpy as convert_to_numpy, convert_to_tensor as convert_to_tensor, copy as copy,
        dot as dot, dtype as dtype, empty as empty, empty_like as empty_like,
        expand_dims as expand_dims, eye as eye, flip as flip, full as full, full_like as full_like,
        get_item as get_item, hstack as hstack, identity as identity, inner as inner,
        is_tensor as is_tensor, linspace as linspace, matmul as matmul, meshgrid as meshgrid,
        moveaxis as moveaxis, ndim as ndim, nonzero as nonzero, one_hot as one_hot, ones as ones,
        ones_like as ones_like, outer as outer, pad as pad, ravel as ravel, repeat as repeat,
        reshape as reshape, roll as roll, shape as shape, size as size, slice as slice,
        sort as sort, split as split, squeeze as squeeze, stack as stack,
        stop_gradient as stop_gradient, swapaxes as swapaxes, take as take,
        take_along_axis as take_along_axis, tensordot as tensordot, tile as tile, top_k as top_k,
        transpose as transpose, tri as tri, tril as tril, triu as triu, unstack as unstack,
        vdot as vdot, vstack as vstack, where as where, zeros as zeros, zeros_like as zeros_like,
    )  # fmt: skip
    from framework.keras.ops.convolution import (
        conv as conv, conv_transpose as conv_transpose, depthwise_conv as depthwise_conv,
        separable_conv as separable_conv,
    )  # fmt: skip
    from framework.keras.ops.derivatives import vectorized_map as vectorized_map
    from framework.keras.ops.elementwise import (
        absolute as abs, absolute as absolute, add as add, arccos as arccos, arccosh as arccosh,
        arcsin as arcsin, arcsinh as arcsinh, arctan as arctan, arctan2 as arctan2,
        arctanh as arctanh, bitwise_and as bitwise_and, bitwise_not as bitwise_invert,
        bitwise_not as bitwise_not, bitwise_or as bitwise_or, bitwise_xor as bitwise_xor,
        cast as cast, ceil as ceil, clip as clip, cos as cos, cosh as cosh, divide as divide,
        divide_no_nan as divide_no_nan, equal as equal, erf as erf, exp as exp, exp2 as exp2,
        expm1 as expm1, floor as floor, floor_divide as floor_divide, greater as greater,
        greater_equal as greater_equal, isclose as isclose, isfinite as isfinite, isinf as isinf,
        isnan as isnan, less as less, less_equal as less_equal, log as log, log10 as log10,
        log1p as log1p, log2 as log2, logaddexp as logaddexp, logical_and as logical_and,
        logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor,
        maximum as maximum, minimum as minimum, mod as mod, multiply as multiply,
        negative as negative, not_equal as not_equal, power as power, reciprocal as reciprocal,
        round as round, rsqrt as rsqrt, saturate_cast as saturate_cast, sign as sign, sin as sin,
        sinh as sinh, sqrt as sqrt, square as square, subtract as subtract, tan as tan,
        tanh as tanh, true_divide as true_divide, trunc as trunc,
    )  # fmt: skip
    from framework.keras.ops.nn import (
        batch_normalization as batch_normalization, binary_crossentropy as binary_crossentropy,
        categorical_crossentropy as categorical_crossentropy,
        dot_product_attention as dot_product_attention, gelu as gelu,
        layer_normalization as layer_normalization, normalize as normalize, relu as relu,
        sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    )  # fmt: skip
    from framework.keras.ops.pooling import (
        adaptive_average_pool as adaptive_average_pool, adaptive_max_pool as adaptive_max_pool,
        average_pool as average_pool, max_pool as max_pool, rms_normalization as rms_normalization,
    )  # fmt: skip
    from framework.keras.ops.reduction import (
        all as all, amax as amax, amin as amin, any as any, argmax as argmax, argmin as argmin,
        average as average, count_nonzero as count_nonzero, cumsum as cumsum,
        logsumexp as logsumexp, max as max, mean as mean, min as min, moments as moments,
        prod as prod, ptp as ptp, std as std, sum as sum, var as var,
    )  # fmt: skip
