"""Functions and the points at which their mathematics ends, as plain text and numbers.

The texts run in this package and in TensorFlow and Keras alike: `reference.py` writes what those
two give into `reference.json`. `different.py` names where this package answers otherwise, and why:
the reasons are those of docs/numbers.md.
"""

import math

INF, NAN = math.inf, math.nan
_GRID = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, INF, -INF, NAN]
_TRUE, _ZERO = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]] * 2
POINTS = {  # name: the arguments
    "line": [[
        0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, INF, -INF, NAN, 1e-30, 1e30, -1e30, 90.0, -80.0,
    ]],
    "pairs": [[a for a in _GRID for _ in _GRID], _GRID * len(_GRID)],
    "rows": [[
        [0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [-1.0, 0.0, 3.0], [INF, 1.0, 2.0], [-INF, 1.0, 2.0],
        [INF, -INF, 0.0], [INF, INF, 1.0], [-INF, -INF, -INF], [NAN, 1.0, 2.0], [1.0, NAN, 0.0],
        [1e30, 1e30, 0.0], [1e-30, 0.0, 0.0], [5.0, 5.0, -5.0],
    ]],
    "nothing": [[]],
    "empty rows": [[[], []]],
    "one": [[[3.0]]],
    "zeros": [[[0.0, 0.0], [0.0, 0.0]]],
    "identity": [[[1.0, 0.0], [0.0, 1.0]]],
    "singular": [[[1.0, 2.0], [2.0, 4.0]]],
    "nilpotent": [[[0.0, 1.0], [0.0, 0.0]]],
    "dead row": [[[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [1.0, 2.0, 4.0]]],
    "dead column": [[[0.0, 1.0], [0.0, 2.0]]],
    "infinite": [[[INF, 1.0], [0.0, 2.0]]],
    "labels, zeros": [_TRUE, _ZERO],
    "zeros, zeros": [_ZERO, _ZERO],
    "labels, labels": [_TRUE, _TRUE],
    "labels, wrong": [_TRUE, [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]],
    "zeros, labels": [_ZERO, _TRUE],
    "labels, nan": [_TRUE, [[NAN, 0.5, 0.5], [0.2, 0.3, 0.5]]],
    "labels, inf": [_TRUE, [[INF, 0.0, 1.0], [0.2, 0.3, 0.5]]],
    "labels, no probabilities": [_TRUE, [[-1.0, 0.0, 2.0], [-0.5, 0.5, 1.0]]],
}  # fmt: skip
ALONG = ["rows", "nothing", "empty rows", "one"]
MATRICES = ["zeros", "identity", "singular", "nilpotent"]
KERNELS = ["zeros", "dead column", "infinite"]
LOSSES = [name for name in POINTS if "," in name]


def _names(prefix, text):
    return [f"{prefix}.{name}" for name in text.split()]


def _of_x(form, text):
    return [f"lambda x: {form.format(name)}" for name in text.split()]


_METRICS = """
    Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
    CategoricalHinge CosineSimilarity Hinge KLDivergence LogCoshError MeanAbsoluteError
    MeanAbsolutePercentageError MeanSquaredLogarithmicError Poisson RootMeanSquaredError
    SquaredHinge
"""
_SPARSE = "sparse_categorical_crossentropy(keras.ops.cast(y[:, 0], 'int32')"
_MASKED = "mask=[None, np.zeros((1, 3), bool)]"
_SEGMENTS = "[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]"
TENSORFLOW = {
    "line": [
        *_names("tf.math", """
            abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e
            ceil cos cosh digamma erf erfc erfcinv erfinv exp expm1 floor lgamma log log1p
            log_sigmoid ndtri negative reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign
            sin sinh softplus softsign sqrt square tan tanh"""),
        *_names("tf.nn", "crelu elu gelu leaky_relu relu relu6 selu silu l2_loss"),
        *_of_x("x ** {}", "0.0 0.5 1.0 2.0 3.0 -1.0 -0.5 1.5"),
        *_of_x("{} ** x", "0.0 2.0 (-2.0)"),
        *_of_x("{}", "1.0/x x/0.0 0.0/x x%2.0 x//2.0"),
        # where the branch that is not chosen has no finite slope
        *_of_x("tf.where(tf.zeros_like(x) > x, tf.math.{}(tf.abs(x)), 0.0)", """
            sqrt rsqrt reciprocal log log1p acos asin acosh atanh erfinv"""),
        "lambda x: tf.where(x > 0.0, tf.sqrt(x), 0.0)",
        "lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0)",
        "lambda x: tf.where(x > 0.0, tf.math.rsqrt(x), 0.0)",
        "lambda x: tf.where(x > 0.0, x ** -1.0, 0.0)",
        "lambda x: tf.nn.gelu(x, approximate=True)", "lambda x: tf.clip_by_value(x, -1.0, 1.0)",
        "lambda x: tf.sqrt(tf.square(x))", "lambda x: tf.maximum(x, 0.0)",
        "lambda x: tf.minimum(x, 0.0)", "lambda x: tf.maximum(0.0, x)",
        "lambda x: tf.math.xlogy(x, x)", "lambda x: tf.nn.log_poisson_loss(x, x)",
        "lambda x: tf.nn.log_poisson_loss(x, x, compute_full_loss=True)",
    ],
    "pairs": [
        *_names("tf.math", """
            add atan2 divide divide_no_nan floordiv floormod maximum minimum multiply
            multiply_no_nan pow squared_difference subtract truediv xdivy xlog1py xlogy"""),
        "lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)",
        "lambda x, y: tf.nn.weighted_cross_entropy_with_logits(x, y, pos_weight=2.0)",
        "lambda x, y: tf.nn.batch_normalization(x, 0.0, y, None, None, 0.0)",
    ],
    "along": [
        *_of_x("tf.math.{}(x, axis=-1)", """
            reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance
            reduce_euclidean_norm reduce_logsumexp cumsum cumprod cumulative_logsumexp"""),
        *_names("tf.math", """
            reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance
            reduce_euclidean_norm reduce_logsumexp lbeta zero_fraction"""),
        *_names("tf.nn", "softmax log_softmax l2_normalize"), "tf.norm",
        *_of_x("{}", """
            tf.nn.softmax(x,axis=0) tf.nn.l2_normalize(x,axis=-1) tf.nn.moments(x,axes=[-1])[0]
            tf.nn.moments(x,axes=[-1])[1] tf.norm(x,axis=-1) tf.norm(x,ord=1,axis=-1)
            tf.norm(x,ord=3,axis=-1) tf.norm(x,ord=np.inf,axis=-1)
            tf.linalg.normalize(x,axis=-1)[0] tf.linalg.normalize(x,axis=-1)[1]
            tf.clip_by_norm(x,1.0,axes=[-1]) tf.clip_by_norm(x,1.0) tf.clip_by_norm(x,0.0)
            tf.clip_by_global_norm([x],1.0)[0][0] tf.linalg.global_norm([x])"""),
        "lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.ones_like(x), x)",
        "lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), tf.zeros_like(x))",
    ],
    "rows": [
        *_of_x("{}", """
            tf.argmax(x,axis=-1) tf.argmin(x,axis=-1) tf.sort(x,axis=-1)
            tf.sort(x,axis=-1,direction='DESCENDING') tf.argsort(x,axis=-1,stable=True)
            tf.argsort(x,axis=-1,direction='DESCENDING',stable=True) tf.math.top_k(x,2)[0]
            tf.math.top_k(x,2)[1] tf.math.in_top_k([0]*13,x,1) tf.math.is_non_decreasing(x)"""),
        *_of_x("tf.nn.{}(tf.reshape(x, (1, -1, 1)), 3, 3, 'VALID')", "max_pool1d avg_pool1d"),
        "lambda x: tf.nn.max_pool1d(tf.reshape(x, (1, -1, 1)), 2, 2, 'SAME')",
        "lambda x: tf.nn.max_pool2d(tf.reshape(x, (1, 13, 3, 1)), 3, 1, 'SAME')",
        *_of_x("tf.math.segment_{}(x, " + _SEGMENTS + ")", "max min mean prod"),
        *_of_x(
            "tf.math.unsorted_segment_{}(x, " + _SEGMENTS + ", 9)", "max min mean prod sqrt_n"
        ),
    ],
    "matrices": [
        *_names("tf.linalg", "det expm eigvalsh trace pinv sqrtm inv cholesky logdet matrix_rank"),
        *_of_x("{}", """
            tf.linalg.slogdet(x)[0] tf.linalg.slogdet(x)[1] tf.linalg.svd(x,compute_uv=False)
            tf.linalg.qr(x)[1] tf.norm(x,ord=2,axis=(0,1)) tf.norm(x,ord='fro',axis=(0,1))
            tf.norm(x,ord=1,axis=(0,1)) tf.linalg.normalize(x,axis=(0,1))[0]"""),
    ],
}  # fmt: skip
KERAS = {
    "line": [
        *_names("keras.ops", """
            abs arccos arccosh arcsin arcsinh arctan arctanh ceil cos cosh erf exp exp2 expm1 floor
            log log10 log1p log2 negative reciprocal round rsqrt sigmoid sign sin sinh softplus
            softsign sqrt square tan tanh trunc celu elu gelu hard_shrink hard_sigmoid hard_silu
            hard_tanh leaky_relu log_sigmoid relu relu6 selu silu soft_shrink sparse_plus
            sparse_sigmoid squareplus tanh_shrink isfinite isinf isnan"""),
        *_names("keras.activations", "exponential linear mish softsign"),
        *_of_x("keras.ops.power(x, {})", "0.0 0.5 2.0 3 -1.0 2 1.5"),
        *_of_x("keras.ops.{}", """
            threshold(x,0.5,0.1) clip(x,-1.0,1.0) power(0.0,x) maximum(x,0.0) minimum(0.0,x)"""),
        "lambda x: keras.ops.where(x > 0.0, keras.ops.sqrt(x), 0.0)",
        "lambda x: keras.ops.sqrt(keras.ops.square(x))",
    ],
    "pairs": _names("keras.ops", """
        add arctan2 divide divide_no_nan floor_divide logaddexp maximum minimum mod multiply power
        subtract true_divide"""),
    "along": [
        *_of_x("keras.ops.{}(x, axis=-1)", """
            sum mean max min amax amin prod std var ptp average logsumexp cumsum softmax
            log_softmax normalize rms_normalization"""),
        *_names(
            "keras.ops", "sum mean max min prod std var ptp logsumexp softmax log_softmax"
        ),
        *_of_x("keras.ops.{}", """
            normalize(x,order=1) normalize(x,order=3) layer_normalization(x)
            layer_normalization(x,epsilon=0.0) rms_normalization(x,epsilon=0.0)
            moments(x,axes=[-1])[1] average(x,axis=-1,weights=[0.0,0.0,0.0])"""),
        "lambda x: keras.utils.normalize(np.asarray(x))",
    ],
    "rows": [
        *_of_x("keras.ops.{}", """
            argmax(x,axis=-1) argmin(x,axis=-1) sort(x,axis=-1) argsort(x,axis=-1) top_k(x,2)[0]
            top_k(x,2)[1] count_nonzero(x,axis=-1) any(x,axis=-1) all(x,axis=-1)"""),
        *_of_x("keras.ops.{}_pool(keras.ops.reshape(x, (1, -1, 1)), 3, 3)", "max average"),
        "lambda x: keras.ops.max_pool(keras.ops.reshape(x, (1, -1, 1)), 2, 2, padding='same')",
        "lambda x: keras.layers.GlobalMaxPooling1D()(x[..., None])",
    ],
    "losses": [
        *_names("keras.losses", """
            binary_crossentropy categorical_crossentropy categorical_hinge cosine_similarity hinge
            huber kl_divergence log_cosh mean_absolute_error mean_absolute_percentage_error
            mean_squared_error mean_squared_logarithmic_error poisson squared_hinge
            CosineSimilarity() KLDivergence() Poisson()"""),
        "keras.losses.CosineSimilarity(axis=0)",
        "lambda y, p: keras.losses.binary_crossentropy(y, p, from_logits=True)",
        "lambda y, p: keras.losses.categorical_crossentropy(y, p, from_logits=True)",
        f"lambda y, p: keras.losses.{_SPARSE}, p)",
        f"lambda y, p: keras.losses.{_SPARSE}, p, from_logits=True)",
        "lambda y, p: keras.losses.MeanSquaredError()(y, p, sample_weight=[0.0, 0.0])",
        *(f"lambda y, p: keras.metrics.{name}()(y, p)" for name in _METRICS.split()),
    ],
    "dead row": [
        *_names("keras.layers", """
            UnitNormalization() LayerNormalization(epsilon=0.0) LayerNormalization()
            RMSNormalization() RMSNormalization(epsilon=0.0) GroupNormalization(groups=3)
            GroupNormalization(groups=1,epsilon=0.0) BatchNormalization(epsilon=0.0) Softmax()
            ReLU() ELU() LeakyReLU() Normalization(mean=0.0,variance=0.0)
            Normalization(mean=2.0,variance=0.0)"""),
        "lambda x: keras.layers.Dot(axes=1, normalize=True)([x, x])",
        "lambda x: keras.layers.Softmax()(x, mask=np.zeros((3, 3), bool))",
        f"lambda x: keras.layers.Attention()([x[None], x[None]], {_MASKED})",
        "lambda x: keras.layers.GlobalAveragePooling1D()(x[None], mask=np.zeros((1, 3), bool))",
    ],
    "kernels": [
        *_names("keras.constraints", "MaxNorm() UnitNorm() MinMaxNorm(0.5,1.0) NonNeg()"),
        *_names("keras.regularizers", "OrthogonalRegularizer() L1L2(0.1,0.1)"),
    ],
}  # fmt: skip
_WHERE = {"along": ALONG, "matrices": MATRICES, "losses": LOSSES, "kernels": KERNELS}
CALLS = [
    (text, point)
    for table in (TENSORFLOW, KERAS)
    for where, texts in table.items()
    for text in texts
    for point in _WHERE.get(where, [where])
]
