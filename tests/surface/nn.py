"""Values of tf.nn: by hand, by NumPy, and convolutions by SciPy's correlation."""

import numpy as np
from scipy import signal, special

import framework as tf

RNG = np.random.default_rng(0)
X1, K1 = RNG.normal(size=7), RNG.normal(size=3)
X2, K2 = RNG.normal(size=(5, 6)), RNG.normal(size=(3, 2))
X3, K3 = RNG.normal(size=(4, 4, 5)), RNG.normal(size=(2, 2, 3))
LINE = [[[1.0], [3.0], [2.0], [5.0]]]
SQUARE = [[[[1.0], [3.0]], [[2.0], [6.0]]]]
CUBE = np.arange(8.0).reshape(1, 2, 2, 2, 1)
LABELS, LOGITS = np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([[2.0, -1.0], [0.5, 1.5]])
ROWS = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
COUNTS = np.array([1.0, 2.0, 1.0])
WEIGHTED_MEAN = (ROWS * COUNTS[:, None]).sum(0) / 4


def image(x):
    """With a batch axis and one channel."""
    return x[None, ..., None]


def kernel(k):
    return k[..., None, None]


def valid(x, k):
    return image(signal.correlate(x, k, "valid"))


def full(x, k):
    return image(signal.convolve(x, k, "full"))


def transposed(x, k):
    """The call of a transposed convolution of stride 1, "VALID"."""
    return lambda f: f(image(x), kernel(k), full(x, k).shape, 1, "VALID")


SPACED = np.kron(K2, [[1, 0], [0, 0]])[:-1, :-1]  # two pixels apart
PATCHES = np.lib.stride_tricks.sliding_window_view(X2, K2.shape)
RAISED = (PATCHES + K2).max((2, 3))
TRUE = np.array([[1], [2]])
BIASES = np.array([0.5, -1.0, 0.25])
# classes, and how often the true ones and these are expected
SAMPLE = np.array([2, 0]), np.array([[0.5], [0.25]]), np.array([0.5, 2.0])
PICKED = (LOGITS @ ROWS.T + BIASES)[[[0], [1]], [[1, 2, 0], [2, 2, 0]]]
CHOSEN = PICKED - np.log([[0.5, 0.5, 2.0], [0.25, 0.5, 2.0]])
HITS = np.array([[False, False, False], [False, True, False]])
STEPS = np.eye(3)[[0, 0, 2, 1]][:, None]
CROSS = -(LABELS * special.log_softmax(LOGITS, -1)).sum(-1)
BINARY = -LABELS * special.log_expit(LOGITS) - (1 - LABELS) * special.log_expit(-LOGITS)
WEIGHTED = -3 * LABELS * special.log_expit(LOGITS) - (1 - LABELS) * special.log_expit(-LOGITS)

VALUES = {
    "nn.compute_average_loss": (
        lambda f: [f(np.array([1.0, 2.0])), f([1.0, 2.0], [3.0, 0.5], 8)], [1.5, 0.5]
    ),
    "nn.scale_regularization_loss": (lambda f: f(np.array([1.0, 2.0])), 3.0),
    "nn.atrous_conv2d": (
        lambda f: f(image(X2), kernel(K2), 2, "VALID"),
        valid(X2, np.kron(K2, [[1, 0], [0, 0]])[:-1, :-1]),
    ),
    "nn.avg_pool": (lambda f: f(SQUARE, 2, 2, "VALID"), [[[[3.0]]]]),
    "nn.avg_pool1d": (lambda f: f(LINE, 2, 2, "VALID"), [[[2.0], [3.5]]]),
    "nn.avg_pool2d": (lambda f: f(SQUARE, [1, 2], 1, "VALID"), [[[[2.0]], [[4.0]]]]),
    "nn.avg_pool3d": (lambda f: f(CUBE, 2, 2, "VALID"), [[[[[3.5]]]]]),
    "nn.max_pool": (lambda f: f(SQUARE, 2, 2, "VALID"), [[[[6.0]]]]),
    "nn.max_pool1d": (lambda f: f(LINE, 2, 2, "VALID"), [[[3.0], [5.0]]]),
    "nn.max_pool2d": (lambda f: f(SQUARE, [2, 1], 1, "VALID"), [[[[2.0], [6.0]]]]),
    "nn.max_pool3d": (lambda f: f(CUBE, 2, 2, "VALID"), [[[[[7.0]]]]]),
    "nn.max_pool_with_argmax": (
        lambda f: f(SQUARE, [1, 2], 1, "VALID"), ([[[[3.0]], [[6.0]]]], [[[[1]], [[3]]]])
    ),
    "nn.pool": (lambda f: f(SQUARE, [2, 1], "AVG"), [[[[1.5], [4.5]]]]),
    "nn.conv1d": (lambda f: f(image(X1), kernel(K1), 1, "VALID"), valid(X1, K1)),
    "nn.conv2d": (lambda f: f(image(X2), kernel(K2), 1, "VALID"), valid(X2, K2)),
    "nn.conv3d": (lambda f: f(image(X3), kernel(K3), [1] * 5, "VALID"), valid(X3, K3)),
    "nn.convolution": (lambda f: f(image(X2), kernel(K2)), valid(X2, K2)),
    "nn.conv1d_transpose": (transposed(X1, K1), full(X1, K1)),
    "nn.conv2d_transpose": (transposed(X2, K2), full(X2, K2)),
    "nn.conv3d_transpose": (
        lambda f: f(image(X3), kernel(K3), full(X3, K3).shape, [1] * 5, "VALID"), full(X3, K3)
    ),
    "nn.depthwise_conv2d": (
        lambda f: f(image(X2), kernel(K2), [1, 1, 1, 1], "VALID"), valid(X2, K2)
    ),
    "nn.separable_conv2d": (
        lambda f: f(image(X2), kernel(K2), np.array([[[[3.0]]]]), [1, 1, 1, 1], "VALID"),
        3 * valid(X2, K2),
    ),
    "nn.batch_normalization": (
        lambda f: f(ROWS, *np.array([[1.0, 2.0], [4.0, 0.25], [0.5, 0.0], [2.0, 1.0]]), 0.0),
        (ROWS - [1, 2]) / [2, 0.5] * [2, 1] + [0.5, 0],
    ),
    "nn.bias_add": (lambda f: f(ROWS, np.array([1.0, -1.0])), ROWS + np.array([1, -1])),
    "nn.crelu": (lambda f: f([[-1.0, 2.0]]), [[0.0, 2.0, 1.0, 0.0]]),
    "nn.depth_to_space": (lambda f: f([[[[1, 2, 3, 4]]]], 2), [[[[1], [2]], [[3], [4]]]]),
    "nn.space_to_depth": (lambda f: f([[[[1], [2]], [[3], [4]]]], 2), [[[[1, 2, 3, 4]]]]),
    "nn.space_to_batch": (
        lambda f: f(SQUARE, [2, 2], [[0, 0], [0, 0]]), [[[[1.0]]], [[[3.0]]], [[[2.0]]], [[[6.0]]]]
    ),
    "nn.dropout": (
        lambda f: [f(ROWS, 0.0), sorted(set(f(tf.ones([100]), 0.5, seed=1).numpy().tolist()))],
        [ROWS, [0.0, 2.0]],
    ),
    "nn.embedding_lookup": (lambda f: f(ROWS, [2, 0, 2]), ROWS[[2, 0, 2]]),
    "nn.all_candidate_sampler": (
        lambda f: f([[1], [2]], 1, 3, True), ([0, 1, 2], [[1.0], [1.0]], [1.0, 1.0, 1.0])
    ),
    "nn.fixed_unigram_candidate_sampler": (
        lambda f: f([[1], [2]], 1, 4, False, 3, unigrams=[0.0, 0.0, 5.0], seed=1),
        ([2, 2, 2, 2], [[0.0], [4.0]], [4.0] * 4),
    ),
    "nn.learned_unigram_candidate_sampler": (
        lambda f: f([[1], [0]], 1, 2, True, 2, seed=1)[0].numpy().sum(), 1
    ),
    "nn.compute_accidental_hits": (
        lambda f: f([[1], [2]], np.array([2, 1, 3]), 1), ([0, 1], [1, 0], [-3.4028235e38] * 2)
    ),
    "nn.nce_loss": (
        lambda f: f(ROWS, BIASES, TRUE, LOGITS, 2, 3, sampled_values=SAMPLE),
        np.logaddexp(0, -CHOSEN[:, 0]) + np.logaddexp(0, CHOSEN[:, 1:]).sum(1),
    ),
    "nn.sampled_softmax_loss": (
        lambda f: f(ROWS, BIASES, TRUE, LOGITS, 2, 3, sampled_values=SAMPLE),
        special.logsumexp(np.where(HITS, -np.inf, CHOSEN), 1) - CHOSEN[:, 0],
    ),
    "nn.conv_transpose": (transposed(X2, K2), full(X2, K2)),
    "nn.atrous_conv2d_transpose": (
        lambda f: f(image(X2), kernel(K2), full(X2, SPACED).shape, 2, "VALID"), full(X2, SPACED)
    ),
    "nn.ctc_greedy_decoder": (
        lambda f: [tf.sparse.to_dense(f(STEPS, [4])[0][0]), f(STEPS, [4])[1]],
        [[[0, 1]], [[-4.0]]],
    ),
    "nn.ctc_beam_search_decoder": (
        lambda f: [tf.sparse.to_dense(f(9 * STEPS, [4])[0][0]), f(0 * STEPS, [1], 3)[1]],
        [[[0, 1]], [[-np.log(3)]]],
    ),
    "nn.ctc_loss": (
        lambda f: f([[1]], np.log([[[0.2, 0.8]], [[0.4, 0.6]]]), [1], [2]),
        [-np.log(0.2 * 0.6 + 0.8 * 0.4 + 0.8 * 0.6)],
    ),
    "nn.ctc_unique_labels": (lambda f: f([[3, 4, 4, 3]]), ([[3, 4, 0, 0]], [[0, 1, 1, 0]])),
    "nn.dilation2d": (
        lambda f: f(image(X2), K2[..., None], [1] * 4, "VALID", "NHWC", [1] * 4), image(RAISED)
    ),
    "nn.erosion2d": (
        lambda f: f(image(-X2), K2[::-1, ::-1, None], [1] * 4, "VALID", "NHWC", [1] * 4),
        -image(RAISED),
    ),
    "nn.isotonic_regression": (
        lambda f: f([[3.0, 1.0, 2.0, 0.0]]), ([[3.0, 1.5, 1.5, 0.0]], [[0, 1, 1, 2]])
    ),
    "nn.local_response_normalization": (
        lambda f: f([[[[1.0, 2.0, 3.0]]]], 1, 1.0, 0.5, 0.75),
        np.array([1, 2, 3]) / (1 + np.array([5, 14, 13]) / 2) ** 0.75 + np.zeros((1, 1, 1, 3)),
    ),
    "nn.l2_loss": (lambda f: f(ROWS), np.sum(ROWS**2) / 2),
    "nn.log_poisson_loss": (lambda f: f([1.0, 2.0], [0.5, 1.0]), np.exp([0.5, 1]) - [0.5, 2]),
    "nn.moments": (lambda f: f(ROWS, [0]), (ROWS.mean(0), ROWS.var(0))),
    "nn.normalize_moments": (
        lambda f: f(3.0, ROWS.sum(0), (ROWS**2).sum(0), None), (ROWS.mean(0), ROWS.var(0))
    ),
    "nn.sufficient_statistics": (
        lambda f: f(ROWS, [0]), (3.0, ROWS.sum(0), (ROWS**2).sum(0), None)
    ),
    "nn.weighted_moments": (
        lambda f: f(ROWS, [0], COUNTS[:, None]),
        (WEIGHTED_MEAN, ((ROWS - WEIGHTED_MEAN) ** 2 * COUNTS[:, None]).sum(0) / 4),
    ),
    "nn.sigmoid_cross_entropy_with_logits": (lambda f: f(LABELS, LOGITS), BINARY),
    "nn.softmax_cross_entropy_with_logits": (lambda f: f(LABELS, LOGITS), CROSS),
    "nn.sparse_softmax_cross_entropy_with_logits": (
        lambda f: f([1, 0], LOGITS), -special.log_softmax(LOGITS, -1)[[0, 1], [1, 0]]
    ),
    "nn.weighted_cross_entropy_with_logits": (lambda f: f(LABELS, LOGITS, 3.0), WEIGHTED),
}  # fmt: skip
