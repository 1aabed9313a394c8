from framework.activations import (
    celu as celu, elu as elu, glu as glu, hard_shrink as hard_shrink, hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu, hard_tanh as hard_tanh, leaky_relu as leaky_relu,
    log_sigmoid as log_sigmoid, log_softmax as log_softmax, relu6 as relu6, selu as selu,
    sigmoid as sigmoid, silu as silu, soft_shrink as soft_shrink, softmax as softmax,
    softplus as softplus, softsign as softsign, sparse_plus as sparse_plus,
    sparse_sigmoid as sparse_sigmoid, squareplus as squareplus, tanh_shrink as tanh_shrink,
    threshold as threshold,
)  # fmt: skip
from framework.keras.ops.arrays import one_hot as one_hot
from framework.keras.ops.convolution import (
    conv as conv, conv_transpose as conv_transpose, depthwise_conv as depthwise_conv,
    separable_conv as separable_conv,
)  # fmt: skip
from framework.keras.ops.neural import (
    batch_normalization as batch_normalization, binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy, ctc_loss as ctc_loss,
    dot_product_attention as dot_product_attention, gelu as gelu,
    layer_normalization as layer_normalization, normalize as normalize, relu as relu,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)  # fmt: skip
from framework.keras.ops.pooling import (
    adaptive_average_pool as adaptive_average_pool, adaptive_max_pool as adaptive_max_pool,
    average_pool as average_pool, max_pool as max_pool, rms_normalization as rms_normalization,
)  # fmt: skip
from framework.keras.ops.reduction import moments as moments
from framework.keras.ops.numerics import polar as polar
from framework.keras.ops.rearrangement import (
    ctc_decode as ctc_decode, depth_to_space as depth_to_space, fold as fold,
    multi_hot as multi_hot, psnr as psnr, space_to_depth as space_to_depth, sparsemax as sparsemax,
    unfold as unfold,
)  # fmt: skip

hard_swish = hard_silu
swish = silu
