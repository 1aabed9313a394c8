"""tf.nn: activations, cross-entropies, normalization, dropout."""

from framework.functions.elementwise import sigmoid as sigmoid, tanh as tanh
from framework.functions.neural import (
    batch_normalization as batch_normalization, bias_add as bias_add, crelu as crelu,
    dropout as dropout, elu as elu, embedding_lookup as embedding_lookup, gelu as gelu,
    in_top_k as in_top_k, l2_loss as l2_loss, l2_normalize as l2_normalize,
    leaky_relu as leaky_relu, log_poisson_loss as log_poisson_loss, log_softmax as log_softmax,
    moments as moments, relu as relu, relu6 as relu6, selu as selu,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits, silu as silu,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softplus as softplus, softsign as softsign,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    swish as swish,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)  # fmt: skip
from framework.functions.reduction import zero_fraction as zero_fraction
