from framework.math import sigmoid as sigmoid, tanh as tanh
from framework.functions.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    nce_loss as nce_loss, sampled_softmax_loss as sampled_softmax_loss,
)  # fmt: skip
from framework.functions.convolution import (
    atrous_conv2d as atrous_conv2d, atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d as conv1d, conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose, conv3d as conv3d, conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose, convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)  # fmt: skip
from framework.functions.ctc import (
    ctc_beam_search_decoder as ctc_beam_search_decoder, ctc_greedy_decoder as ctc_greedy_decoder,
    ctc_loss as ctc_loss, ctc_unique_labels as ctc_unique_labels,
)  # fmt: skip
from framework.functions.embedding import embedding_lookup as embedding_lookup
from framework.functions.isotonic import isotonic_regression as isotonic_regression
from framework.functions.local_windows import (
    dilation2d as dilation2d, erosion2d as erosion2d,
    local_response_normalization as local_response_normalization, lrn as lrn,
)  # fmt: skip
from framework.functions.moments import (
    moments as moments, normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics, weighted_moments as weighted_moments,
)  # fmt: skip
from framework.functions.distribution import (
    compute_average_loss as compute_average_loss,
    scale_regularization_loss as scale_regularization_loss,
)  # fmt: skip
from framework.functions.neural import (
    batch_normalization as batch_normalization, bias_add as bias_add, crelu as crelu,
    dropout as dropout, elu as elu, gelu as gelu,
    in_top_k as in_top_k, l2_loss as l2_loss, l2_normalize as l2_normalize,
    leaky_relu as leaky_relu, log_poisson_loss as log_poisson_loss, log_softmax as log_softmax,
    relu as relu, relu6 as relu6, selu as selu,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits, silu as silu,
    softmax as softmax, softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softplus as softplus, softsign as softsign,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    swish as swish, top_k as top_k,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)  # fmt: skip
from framework.functions.sparse_lookup import (
    embedding_lookup_sparse as embedding_lookup_sparse,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)  # fmt: skip
from framework.functions.pooling import (
    avg_pool as avg_pool, avg_pool1d as avg_pool1d, avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d, depth_to_space as depth_to_space, max_pool as max_pool,
    max_pool1d as max_pool1d, max_pool2d as max_pool2d, max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax, pool as pool, space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)  # fmt: skip
from framework.functions.reduction import zero_fraction as zero_fraction
