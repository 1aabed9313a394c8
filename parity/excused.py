"""Known differences from real Keras 3.15 on JAX, each with its reason.

A row: patterns of titles, separated by " | ", a pattern of the keys that differ, and the reason,
which no other row has. A row that excuses nothing fails.
"""


def ops(names, dtypes=""):
    """Patterns for calls of functions of keras.ops, each in these dtypes; "" is the call itself."""
    ends = [f", {dtype}" for dtype in dtypes.split()] or [""]
    return " | ".join(f"calls of ops: {name}{end}" for name in names.split() for end in ends)


def options(function, *variants):
    """Patterns for calls of a function of keras.ops with options."""
    return " | ".join(f"calls of ops: {function}: {variant}" for variant in variants)


def each(functions, variant):
    """Patterns for one option of several functions of keras.ops."""
    return " | ".join(options(name, variant) for name in functions.split())


def of(family, *titles):
    return " | ".join(f"calls of {family}: {title}" for title in titles)


# ---- what Keras on JAX refuses -------------------------------------------------------------------

REFUSED = [
    (
        " | ".join(
            (
                ops("erf glu normalize rsqrt sigmoid silu swish", "bool int32"),
                ops("image.gaussian_blur", "bool int32"),
                of(
                    "activations",
                    *(
                        f"activation {name} int32"
                        for name in ("glu", "glu axis=0", "sigmoid", "silu", "swish")
                    ),
                ),
            )
        ),
        "value",
        "JAX has the function for floats only; integers and booleans are cast to floats here",
    ),
    (
        " | ".join(
            (ops("image.elastic_transform random.categorical random.dropout", "bool int32"),)
        ),
        "shape",
        "JAX draws in the dtype of the argument and refuses integers; floats are drawn here",
    ),
    (
        ops(
            """
            adaptive_average_pool argpartition average_pool batch_normalization cdist
            image.map_coordinates log_sigmoid log_softmax psnr round scatter softmax vander
        """,
            "bool",
        ),
        "value",
        "JAX has no arithmetic of booleans, which are 0 and 1 here",
    ),
    (
        " | ".join(
            (
                ops("fft fft2 ifft2 irfft istft", "bool int32 bfloat16"),
                ops("rfft polar", "bfloat16"),
            )
        ),
        "value",
        "JAX transforms floats of 32 bits only; others are cast here",
    ),
    (
        " | ".join(
            (
                ops("average_pool max_pool"),
                ops("average_pool max_pool", "int32 bfloat16"),
                ops("max_pool", "bool"),
            )
        ),
        "value",
        "Keras on JAX fails without `strides`, whose default is the pool size",
    ),
    (
        " | ".join(
            (ops("image.affine_transform"), ops("image.affine_transform", "bool int32 bfloat16"))
        ),
        "value",
        "Keras on JAX fails for one transform of a batch, which its documentation allows",
    ),
    (
        " | ".join(
            (
                ops("image.perspective_transform"),
                ops("image.perspective_transform", "int32 bfloat16"),
            )
        ),
        "value",
        "Keras on JAX fails for four points of a batch, which its documentation allows",
    ),
    (
        options("cholesky_inverse", "upper"),
        "value",
        "Keras on JAX inverts one matrix; here also a stack, as of every other function",
    ),
    (
        options("dot_product_attention", "soft cap"),
        "value",
        "Keras on JAX has the soft cap of scores on a TPU only",
    ),
    (
        options("histogram", "range"),
        "value",
        "Keras takes vectors only; other tensors are flattened here, as in NumPy",
    ),
    (
        " | ".join(
            (
                ops("segment_prod"),
                options("segment_prod", "sorted", "unsorted"),
                options("scatter_update", "mul"),
            )
        ),
        "gradient",
        "JAX has no derivative of a product by index",
    ),
    (ops("nextafter"), "gradient", "JAX has no derivative of nextafter; that by x1 is 1 here"),
    (ops("eig"), "gradient", "JAX refuses derivatives of eigenvectors by default"),
]

SYMBOLIC = [
    (
        " | ".join(
            (
                of(
                    "activations",
                    *(
                        f"activation {name} float32"
                        for name in (
                            "hard_silu",
                            "hard_swish",
                            "mish",
                            "sparsemax",
                            "sparsemax axis=1",
                        )
                    ),
                ),
            )
        ),
        "symbolic",
        "this activation of Keras does not take KerasTensors",
    ),
    (
        " | ".join(
            (
                ops("adaptive_average_pool adaptive_max_pool"),
                options("adaptive_max_pool", "1D"),
                options("adaptive_average_pool", "sizes"),
                options("average", "axis=(0, -1)"),
                each("conv", "same groups"),
                each("conv", "valid groups"),
                options("hypot", "a number", "of a number"),
                options("repeat", "each"),
            )
        ),
        "symbolic",
        "Keras fails to infer the shape, or a shape that the result has",
    ),
    (
        " | ".join(
            (
                options("categorical_crossentropy", "axis", "axis logits"),
                ops("corrcoef where.one"),
                options("rot90", "k=0", "k=2"),
                options("slogdet", "stack"),
            )
        ),
        "symbolic",
        "Keras infers another shape than its result has",
    ),
    (
        ops("eig lu_factor multi_hot polar"),
        "symbolic",
        "Keras infers another dtype than its result has",
    ),
    (ops("ndim"), "symbolic", "Keras makes a KerasTensor of a number that is known"),
    (
        options("bincount", "matrix", "weights"),
        "symbolic",
        "`minlength` is the size that is inferred here; Keras leaves it open",
    ),
    (
        of("layers", *(f"EinsumDense {number} symbolic" for number in (0, 1, 4))),
        "*",
        "the sizes for None in output_shape are known from the input; Keras leaves them open",
    ),
    (
        of("layers", "MelSpectrogram 1 symbolic"),
        "*",
        "Keras infers one axis less than its result has",
    ),
    (
        of("layers", "Lambda 0 symbolic"),
        "*",
        "Keras on JAX cannot infer the shape of a function of NumPy",
    ),
    (of("layers", "Pipeline 0 symbolic"), "shape", "Keras has no compute_output_shape of Pipeline"),
]

DTYPES = [
    (
        ops("relu", "bool"),
        "value dtype",
        "Keras documents the dtype of the argument; on JAX it returns int32",
    ),
    (
        " | ".join(
            (
                options("arctan2", "of a number, bfloat16"),
                options("logaddexp", "of a number, bfloat16"),
            )
        ),
        "value dtype",
        "a Python number takes the dtype of the tensor, as Keras documents; on JAX float32",
    ),
    (
        ops("sparse_categorical_crossentropy", "bfloat16"),
        "value dtype",
        "the loss has the dtype of the predictions, as Keras documents; on JAX it is float32",
    ),
    (
        ops("image.scale_and_translate", "bool int32"),
        "value*",
        "images keep their dtype, as Keras documents, and are rounded; JAX returns float32",
    ),
    (
        of(
            "layers",
            *(
                f"RandomCrop {number} mixed_{dtype}"
                for number in (0, 1)
                for dtype in ("float16", "bfloat16")
            ),
        ),
        "value dtype",
        "RandomCrop returns its compute dtype; in Keras always float32",
    ),
    (
        " | ".join((ops("size"), ops("size", "bool int32 bfloat16"))),
        "value dtype",
        "size is a tensor, as in Keras on TensorFlow; on JAX a Python int",
    ),
    (
        ops("dot_product_attention layer_normalization rms_normalization", "bool int32"),
        "value*",
        "Keras casts back to integers and loses the fractions; the result is float32 here",
    ),
    (
        ops("cholesky_inverse det logdet slogdet solve_triangular", "bfloat16"),
        "value",
        "LAPACK has no 16-bit floats: an error says to cast, as for other matrix functions on JAX",
    ),
    (
        ops("image.sobel_edges", "bool int32"),
        "value",
        "differences of integers overflow in small dtypes: an error says to cast, as in TensorFlow",
    ),
    (
        ops("vectorized_map", "bool int32"),
        "value",
        "integers * 2.0: operators are as strict as TensorFlow's; keras.ops.multiply promotes",
    ),
    (
        of("activations", "initializer Identity*", "initializer STFT*"),
        "int32*",
        "this initializer of Keras ignores an integer dtype",
    ),
]

NUMBERS = [
    (
        " | ".join(
            (
                options("abs", "special values"),
                each("maximum minimum fmax fmin", "special values"),
                each("maximum minimum fmax fmin", "a number"),
                each("maximum minimum fmax fmin", "of a number"),
                options("clip", "arrays"),
                each("leaky_relu elu selu hard_tanh", "special values"),
                of(
                    "activations",
                    "activation leaky_relu float32",
                    "activation leaky_relu negative_slope=0.3 float32",
                    "activation selu float32",
                    "activation relu negative_slope=0.1 max_value=2.0 threshold=0.5 float32",
                ),
                of(
                    "activations",
                    "regularizer L1",
                    "regularizer L1 l1=0.3",
                    "regularizer L1L2 l1=0.1 l2=0.2",
                ),
            )
        ),
        "gradient*",
        "slopes at kinks, ties and NaN are TensorFlow's (docs/numbers.md); JAX has others",
    ),
    (
        " | ".join(
            (
                ops("sparsemax"),
                options("sparsemax", "axis"),
                of("activations", "activation sparsemax float32"),
            )
        ),
        "gradient",
        "the slope of the formula of Keras, which adds up the sums of the support",
    ),
    (
        " | ".join((options("sparsemax", "axis"), ops("sparsemax", "bool"))),
        "value",
        "Keras adds up the cumulative sums of the support: these rows do not sum to 1",
    ),
    (
        ops("mod"),
        "gradient.1",
        "the slope by the divisor is -floor(x1 / x2), 10 for -2 and 0.2; JAX has 11",
    ),
    (
        options("sinc", "special values"),
        "*",
        "sinc is 0 at whole numbers and at infinity; JAX has NaN, or the error of the sine",
    ),
    (ops("sinc", "int32"), "value", "the sine of a multiple of π is exactly 0 here"),
    (
        options("rsqrt", "special values"),
        "gradient",
        "the slope at -0.0 has the sign of its limit, as the value has; JAX loses it",
    ),
    (
        " | ".join((ops("arccosh"), options("hard_silu", "special values"))),
        "gradient",
        "beyond the domain the slope is NaN where the value is (docs/numbers.md)",
    ),
    (options("nanstd", "NaN"), "gradient", "the slope of one number's deviation is 0; JAX has NaN"),
    (
        ops("categorical_crossentropy"),
        "gradient.1",
        "target and output are equal: the slope is 0, and what both have is rounding",
    ),
    (options("ctc_decode", "beams"), "gradient", "decoded positions have no slope; JAX has NaN"),
    (
        options("qr", "complete"),
        "gradient",
        "the further columns of a complete q are not determined, so they have no derivative",
    ),
    (
        options("cast", "uint8"),
        "value",
        "a negative float has no value of uint8; saturate_cast has",
    ),
    (
        " | ".join((ops("floor_divide", "bool int32"), ops("fmod", "bool"))),
        "value",
        "an integer divided by 0 gives 0, as in NumPy; JAX gives -1, -2 or the dividend",
    ),
    (
        ops("power", "int32"),
        "value",
        "negative powers of integers are an error; JAX computes with the fractions cut off",
    ),
    (
        ops("inv solve", "bool"),
        "value",
        "a matrix that is not invertible is an error; JAX gives infinities and NaN",
    ),
    (
        ops("image.resize", "bool"),
        "value",
        "a resized boolean is True unless it is 0; JAX takes negative numbers for False",
    ),
    (
        options("image.scale_and_translate", "lanczos5 antialias"),
        "gradient.1",
        "sums of weights that cancel: each side is within 1e-5 of the slope in float64",
    ),
    (
        options("image.affine_transform", "channels first", "* bilinear"),
        "gradient.1",
        "Keras on JAX moves channel c by c times the last two numbers, those of perspective",
    ),
    (
        " | ".join((ops("image.gaussian_blur"), ops("image.gaussian_blur", "bfloat16"))),
        "*",
        "Keras on JAX takes images for channels-first ones where data_format is not given",
    ),
    (
        " | ".join(
            (
                ops("image.sobel_edges"),
                ops("image.sobel_edges", "bfloat16"),
                options("image.sobel_edges", "channels first", "one image"),
            )
        ),
        "*",
        "outer pixels are mirrored, as by Keras on TensorFlow; on JAX zeros lie beyond them",
    ),
    (
        of("activations", "initializer STFT *"),
        "float16",
        "windows are computed in float64 and rounded once; Keras computes in float16",
    ),
    (
        of("losses", "Circle*bfloat16", "LogCosh bfloat16"),
        "gradient",
        "losses of 16 bits are computed in float32, nearer to the exact slope than Keras's",
    ),
    (
        of("losses", "CosineSimilarity bfloat16"),
        "value",
        "a sum of cosines that cancel, in float32; that of Keras is farther from the exact one",
    ),
]

LAYERS = [
    (
        of(
            "layers",
            *(
                f"AutoContrast 1 {mode}"
                for mode in ("inference", "mask", "mixed_float16", "mixed_bfloat16", "training")
            ),
        ),
        "*",
        "Keras takes the extremes of channels-first images along the wrong axes",
    ),
    (
        of("layers", "SpectralNormalization 0 training"),
        "gradient.1",
        "the layer assigns its kernel: slopes by the new one, as TensorFlow's; JAX's by the old",
    ),
    (
        of("layers", "GRU 2 mixed_*"),
        "call",
        "Keras on JAX fails in 16 bits for a GRU without a bias",
    ),
    (
        of("layers", "MultiHeadAttention 1 *", "attention key", "attention key mixed_bfloat16"),
        "call",
        "Keras on JAX fails in MultiHeadAttention if value_dim is not key_dim",
    ),
    (
        of("layers", "RMSNormalization 1 *"),
        "call",
        "Keras fails in RMSNormalization for an axis that is not the last",
    ),
    (
        of("layers", "RandomErasing 0 *"),
        "call",
        "Keras on JAX fails in RandomErasing for a list of fill values",
    ),
    (
        of("layers", "STFTSpectrogram ? mixed_bfloat16"),
        "call",
        "Keras refuses bfloat16 in this layer",
    ),
    (
        of("layers", *(f"{name} 0 mask" for name in ("Maximum", "Minimum", "Multiply"))),
        "value",
        "Keras fails for masks of the rank of the input",
    ),
    (
        of("layers", "Lambda 0 inference"),
        "gradient",
        "JAX does not differentiate a function of NumPy",
    ),
    (
        of(
            "layers",
            "Conv2D 2 inference",
            "GroupQueryAttention 0 training",
            "MultiHeadAttention 0 training",
            "MultiHeadAttention 2 inference",
        ),
        "gradient.[25]",
        "the slope is 0 (a number added to all scores does not change softmax): rounding",
    ),
    (
        of("layers", "attention dropout off"),
        "gradient.[0235]",
        "slopes that cancel to a thousandth: those of JAX are farther from the ones in float64",
    ),
    (
        of("layers", "attention gate mixed_bfloat16"),
        "value",
        "a gated product in float32, rounded once: nearer to the exact number than Keras's",
    ),
    (
        of("layers", "attention rows reversed mixed_bfloat16"),
        "value",
        "a product in float32: Keras first rounds the embeddings to bfloat16",
    ),
]

CONFIGS = [
    (
        of("losses", "* bfloat16"),
        "config",
        "Keras leaves the dtype of a loss out of its config",
    ),
    (
        of("losses", "* bfloat16"),
        "serialized",
        "Keras leaves the dtype of a loss out of its file",
    ),
    (
        of("losses", "CosineSimilarity *", "SparseCategoricalCrossentropy *"),
        "config",
        "Keras leaves the axis of a loss out of the config",
    ),
    (
        of("losses", "CosineSimilarity *", "SparseCategoricalCrossentropy *"),
        "serialized",
        "Keras leaves the axis of a loss out of the file",
    ),
    (of("losses", "Huber *"), "config", "Keras leaves delta out of the config"),
    (of("losses", "Huber *"), "serialized", "Keras leaves delta out of the file"),
    (
        of("losses", "CategoricalGeneralizedCrossEntropy *"),
        "deserialized",
        "Keras does not find this class again",
    ),
    (
        of("losses", "function CategoricalGeneralizedCrossEntropy *"),
        "by name",
        "Keras does not know this function by its name",
    ),
    (
        of("metrics", "CosineSimilarity*"),
        "config",
        "Keras leaves the axis of this metric out of the config",
    ),
    (
        of("metrics", "CosineSimilarity*"),
        "serialized",
        "Keras leaves the axis of this metric out of the file",
    ),
    (
        of("metrics", "SparseTopKCategoricalAccuracy *"),
        "config",
        "Keras leaves from_sorted_ids out of the config",
    ),
    (
        of("metrics", "SparseTopKCategoricalAccuracy *"),
        "serialized",
        "Keras leaves from_sorted_ids out of the file",
    ),
    (
        of("metrics", "AUC label_weights=*"),
        "*serialized",
        "Keras cannot load an AUC with label weights from its file",
    ),
    (
        of("activations", "initializer Identity*"),
        "config",
        "Keras leaves the gain out of the config",
    ),
    (
        of("activations", "initializer Identity*"),
        "serialized",
        "Keras leaves the gain out of the file",
    ),
    (
        " | ".join(
            (
                of("activations", "regularizer L1*", "regularizer OrthogonalRegularizer*"),
                of("layers", "Dense 2 config"),
            )
        ),
        "config",
        "Keras rounds the factor to float32 in the config",
    ),
    (
        " | ".join(
            (
                of("activations", "regularizer L1*", "regularizer OrthogonalRegularizer*"),
                of("layers", "Dense 2 config"),
            )
        ),
        "serialized",
        "Keras rounds the factor to float32 in the file",
    ),
    (
        of("layers", "SimpleRNN ? config"),
        "config",
        "Keras leaves the seed of SimpleRNN out of its config",
    ),
    (
        of("layers", "SimpleRNN ? config"),
        "serialized",
        "Keras leaves the seed of SimpleRNN out of its file",
    ),
    (
        of("layers", "RandomGrayscale ? config"),
        "config",
        "Keras leaves the seed of RandomGrayscale out of its config",
    ),
    (
        of("layers", "RandomGrayscale ? config"),
        "serialized",
        "Keras leaves the seed of RandomGrayscale out of its file",
    ),
    (
        of("layers", "MaxNumBoundingBoxes 0 config"),
        "config",
        "Keras leaves fill_value out of the config",
    ),
    (
        of("layers", "MaxNumBoundingBoxes 0 config"),
        "serialized",
        "Keras leaves fill_value out of the file",
    ),
    (
        of("layers", "SpatialDropout?D ? config"),
        "config",
        "Keras writes the dtype of SpatialDropout as a name, that of all other layers as a policy",
    ),
    (
        of("layers", "SpatialDropout?D ? config"),
        "serialized",
        "Keras writes the dtype of SpatialDropout as a name in files; both kinds load here",
    ),
    (
        of("layers", "RandomShear 0 config"),
        "*",
        "Keras cannot load the config of its RandomShear",
    ),
    (of("layers", "Lambda 0 config"), "*", "Keras cannot write a function of NumPy"),
]

EXCUSED = [*REFUSED, *SYMBOLIC, *DTYPES, *NUMBERS, *LAYERS, *CONFIGS]
