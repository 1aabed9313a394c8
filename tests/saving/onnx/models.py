"""Models of every layer family, for the test of exported files.

`MODELS` has for each name a function that returns (model, inputs, signature): a model, a function
from a batch size to its list of inputs, and an `input_signature` or None.
"""

import numpy as np

import framework as tf
from framework import keras

L = keras.layers
MODELS = {}


def model(builder):
    """Decorate a builder of a model; its name is that of the table."""
    MODELS[builder.__name__] = builder
    return builder


def floats(*shape):
    """Return a function from a batch size to one input of random floats."""
    rng = np.random.default_rng(7)
    return lambda n: [rng.normal(size=(n, *shape)).astype(np.float32)]


def words(length, below=20):
    """Return a function from a batch size to rows of numbers that end, or start, with zeros."""
    rng = np.random.default_rng(7)

    def make(n):
        ids = rng.integers(1, below, (n, length)).astype(np.int32)
        ids[0, length // 2 :] = 0
        ids[-1, :1] = 0
        return [ids]

    return make


def stack(shape, *layers, dtype=None):
    """Return (a Sequential model with random weights, its inputs, None)."""
    made = keras.Sequential([keras.Input(shape, dtype=dtype), *layers])
    return randomized(made), floats(*shape), None


def randomized(made):
    """Give biases, scales and moving averages values that the test can see."""
    rng = np.random.default_rng(3)
    for v in made.weights:
        if v.ndim == 1 and v.dtype.startswith("float"):
            v.assign(rng.uniform(0.5, 1.5, v.shape))
    return made


# ---- dense networks, graphs of layers ------------------------------------------------------------


@model
def dense_layers():
    return stack((5,), L.Dense(8, "relu"), L.Dropout(0.5), L.Dense(3, "softmax"))


@model
def dense_layers_on_sequences():
    return stack((4, 5), L.Dense(8, "tanh"), L.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"))


@model
def several_inputs_and_outputs():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = L.Dense(4, name="shared")
    x, y = shared(a), shared(b)
    total = L.Dense(2, name="total")(L.Concatenate()([x, y]))
    both = floats(3)
    made = keras.Model([a, b], [total, L.Subtract(name="apart")([x, y])])
    return made, lambda n: [*both(n), *both(n)], None


@model
def inputs_by_name():
    given = {"left": keras.Input((3,), name="left"), "right": keras.Input((2,), name="right")}
    y = L.Dense(2)(L.Concatenate()(list(given.values())))
    made = keras.Model(given, {"sum": y, "double": y * 2})
    left, right = floats(3), floats(2)
    return made, lambda n: [*left(n), *right(n)], None


@model
def nested_models_and_operators():
    inner = keras.Sequential([keras.Input((4,)), L.Dense(4), L.BatchNormalization()])
    x = keras.Input((4,))
    y = inner(x) + keras.ops.sqrt(keras.ops.abs(inner(x * 2)) + 1)
    y = keras.ops.concatenate([y, x[:, ::-1], keras.ops.sum(x, -1, keepdims=True)], axis=-1)
    return randomized(keras.Model(x, y)), floats(4), None


@model
def merging_layers():
    x = keras.Input((4,))
    parts = [L.Dense(4)(x) for _ in range(3)]
    kinds = L.Add, L.Multiply, L.Average, L.Maximum, L.Minimum
    merged = [kind()(parts) for kind in kinds] + [L.Dot(1)(parts[:2])]
    return keras.Model(x, L.Concatenate()(merged)), floats(4), None


@model
def activations():
    names = """relu relu6 leaky_relu elu selu celu gelu silu mish softplus softsign sigmoid
        hard_sigmoid hard_silu tanh hard_tanh tanh_shrink soft_shrink hard_shrink squareplus
        log_sigmoid log_softmax exponential glu sparsemax sparse_plus sparse_sigmoid threshold"""
    x = keras.Input((6,))
    arguments = {"threshold": (0.1, 0.2)}
    made = [getattr(keras.activations, n)(x, *arguments.get(n, ())) for n in names.split()]
    return keras.Model(x, L.Concatenate()([*made, L.PReLU()(x)])), floats(6), None


@model
def lambdas_and_regularizing_layers():
    layers = (
        L.Lambda(lambda x: x * 2 + 1), L.GaussianNoise(0.5), L.GaussianDropout(0.5),
        L.AlphaDropout(0.5), L.ActivityRegularization(0.1), L.SpatialDropout1D(0.5),
    )  # fmt: skip
    return stack((4, 3), *layers)


# ---- convolutions --------------------------------------------------------------------------------


@model
def convolution_1d():
    return stack((12, 3), L.Conv1D(4, 3, dilation_rate=2, padding="causal"), L.Conv1D(5, 3, 2))


@model
def convolution_2d():
    layers = L.Conv2D(6, 3, padding="same", activation="relu"), L.Conv2D(4, (2, 3), (2, 1))
    return stack((9, 10, 3), *layers)


@model
def convolution_2d_strided_same():
    return stack((9, 10, 3), L.Conv2D(6, 3, 2, padding="same"), L.Conv2D(4, 4, 3, padding="same"))


@model
def convolution_2d_dilated_and_grouped():
    layers = L.Conv2D(6, 3, dilation_rate=2), L.Conv2D(9, 3, groups=3, use_bias=False)
    return stack((12, 12, 3), *layers)


@model
def convolution_3d():
    return stack((5, 6, 7, 2), L.Conv3D(3, 2, padding="same"), L.MaxPooling3D(2))


@model
def depthwise_and_separable_convolutions():
    layers = (
        L.DepthwiseConv2D(3, depth_multiplier=2, padding="same"), L.SeparableConv2D(5, 3, 2),
        L.ReLU(6.0),
    )  # fmt: skip
    return stack((10, 9, 3), *layers)


@model
def transposed_convolution_1d():
    layers = L.Conv1DTranspose(4, 3, 2), L.Conv1DTranspose(3, 2, 3, padding="same")
    return stack((5, 3), *layers)


@model
def transposed_convolution_2d():
    layers = (
        L.Conv2DTranspose(4, 3, 2, padding="same"), L.Conv2DTranspose(3, 3, 2, output_padding=1),
        L.Conv2DTranspose(2, 2, dilation_rate=2),
    )  # fmt: skip
    return stack((4, 5, 3), *layers)


@model
def channels_first():
    layers = (
        L.Conv2D(4, 3, data_format="channels_first"), L.BatchNormalization(axis=1),
        L.MaxPooling2D(data_format="channels_first"),
    )  # fmt: skip
    return stack((3, 8, 8), *layers)


@model
def pooling():
    layers = L.MaxPooling2D(3, 2, padding="same"), L.AveragePooling2D(2, 1, padding="same")
    return stack((9, 10, 3), *layers, L.AveragePooling2D(2))


@model
def global_pooling():
    x = keras.Input((5, 6, 3))
    kinds = L.GlobalAveragePooling2D, L.GlobalMaxPooling2D
    return keras.Model(x, L.Concatenate()([k()(x) for k in kinds])), floats(5, 6, 3), None


@model
def shapes_of_images():
    layers = (
        L.ZeroPadding2D(((1, 2), (0, 1))), L.Cropping2D(1), L.UpSampling2D(2),
        L.UpSampling2D(2, interpolation="bilinear"), L.Permute((2, 1, 3)), L.Reshape((-1, 3)),
        L.Flatten(), L.RepeatVector(2),
    )  # fmt: skip
    return stack((4, 5, 3), *layers)


@model
def images_of_unknown_size():
    x = keras.Input((None, None, 3))
    y = L.Conv2D(4, 3, 2, padding="same")(x)
    y = L.AveragePooling2D(2, 1, padding="same")(L.MaxPooling2D(2, padding="same")(y))
    y = L.UpSampling2D(2, interpolation="bilinear")(L.Conv2DTranspose(3, 3, 2, "same")(y))
    sizes = {1: (9, 12), 2: (13, 8)}
    rng = np.random.default_rng(7)
    inputs = lambda n: [rng.normal(size=(n, *sizes[n], 3)).astype(np.float32)]
    return keras.Model(x, y), inputs, None


# ---- normalization -------------------------------------------------------------------------------


@model
def batch_normalization():
    layers = L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU(), L.BatchNormalization(scale=False)
    return stack((6, 6, 3), *layers)


@model
def other_normalizations():
    layers = (
        L.LayerNormalization(), L.LayerNormalization(axis=1), L.GroupNormalization(2),
        L.UnitNormalization(), L.RMSNormalization(), L.SpectralNormalization(L.Dense(3)),
    )  # fmt: skip
    return stack((5, 4), *layers)


# ---- recurrent layers ----------------------------------------------------------------------------


@model
def lstm():
    return stack((6, 3), L.LSTM(4, return_sequences=True), L.LSTM(5))


@model
def gru():
    layers = L.GRU(4, return_sequences=True), L.GRU(5, go_backwards=True), L.Dense(2)
    return stack((6, 3), *layers)


@model
def gru_reset_before():
    return stack((4, 3), L.GRU(4, reset_after=False))


@model
def simple_rnn():
    return stack((6, 3), L.SimpleRNN(4, return_sequences=True), L.SimpleRNN(5, "relu"))


@model
def bidirectional():
    layers = L.Bidirectional(L.LSTM(4, return_sequences=True)), L.Bidirectional(L.GRU(3))
    return stack((6, 3), *layers)


@model
def encoder_and_decoder():
    source, target = keras.Input((5, 3)), keras.Input((4, 2))
    _, h, c = L.LSTM(4, return_state=True)(source)
    y = L.LSTM(4, return_sequences=True)(target, initial_state=[h, c])
    left, right = floats(5, 3), floats(4, 2)
    made = keras.Model([source, target], [L.TimeDistributed(L.Dense(2))(y), h])
    return made, lambda n: [*left(n), *right(n)], None


@model
def cells_and_convolutional_recurrence():
    x = keras.Input((3, 5, 5, 2))
    y = L.ConvLSTM2D(3, 3, padding="same")(x)
    z = L.RNN([L.LSTMCell(4), L.GRUCell(3)])(L.Reshape((3, 50))(x))
    return keras.Model(x, [y, z]), floats(3, 5, 5, 2), None


# ---- words ---------------------------------------------------------------------------------------


@model
def masked_words_into_lstm():
    x = keras.Input((None,), dtype="int32")
    y = L.LSTM(4, return_sequences=True)(L.Embedding(20, 5, mask_zero=True)(x))
    return randomized(keras.Model(x, L.Dense(2)(L.LSTM(3)(y)))), words(6), None


@model
def masked_words_into_bidirectional_gru():
    x = keras.Input((7,), dtype="int32")
    y = L.Embedding(20, 5, mask_zero=True)(x)
    y = L.Bidirectional(L.GRU(4, return_sequences=True), merge_mode="sum")(y)
    y = L.SimpleRNN(3, go_backwards=True)(y)
    return randomized(keras.Model(x, y)), words(7), None


@model
def masked_average():
    x = keras.Input((7,), dtype="int32")
    y = L.GlobalAveragePooling1D()(L.Embedding(20, 5, mask_zero=True)(x))
    return keras.Model(x, y), words(7), None


@model
def transformer_of_unknown_length():
    x = keras.Input((None,), dtype="int32")
    places = keras.ops.arange(keras.ops.shape(x)[1])
    y = L.Embedding(20, 8)(x) + L.Embedding(50, 8)(places)
    attended = L.MultiHeadAttention(2, 4, dropout=0.1)(y, y, use_causal_mask=True)
    y = L.LayerNormalization()(y + attended)
    y = L.LayerNormalization()(y + L.Dense(8)(L.Dense(16, "gelu")(y)))
    return randomized(keras.Model(x, L.Dense(20)(y))), words(6), None


@model
def masked_attention():
    x = keras.Input((7,), dtype="int32")
    y = L.Embedding(20, 8, mask_zero=True)(x)
    y = L.MultiHeadAttention(2, 4)(y, y) + L.GroupQueryAttention(4, 4, 2)(y, y)
    return keras.Model(x, L.GlobalMaxPooling1D()(y)), words(7), None


@model
def attention_between_sequences():
    q, v = keras.Input((None, 4)), keras.Input((None, 4))
    y = [L.Attention(use_scale=True)([q, v]), L.AdditiveAttention()([q, v])]
    rng = np.random.default_rng(7)

    def inputs(n):
        return [rng.normal(size=(n, size, 4)).astype(np.float32) for size in (n + 2, 6 - n)]

    return keras.Model([q, v], y), inputs, None


# ---- preprocessing -------------------------------------------------------------------------------


@model
def preprocessing_of_images():
    normalize = L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0])
    layers = (
        L.Rescaling(1 / 255, offset=-1), L.Resizing(7, 6), L.CenterCrop(5, 4), normalize,
        L.Resizing(9, 8, "bicubic"), L.RandomFlip(), L.RandomRotation(0.1),
    )  # fmt: skip
    return stack((8, 9, 3), *layers)


@model
def preprocessing_of_columns():
    x = keras.Input((3,))
    codes = L.IntegerLookup(vocabulary=[3, 1, 7], output_mode="multi_hot")
    bins = L.Discretization([-1.0, 0.0, 0.5], output_mode="int")(x)
    crossed = L.CategoryEncoding(4, output_mode="count")(bins)
    y = L.Concatenate()([codes(keras.ops.cast(x * 4, "int64")), L.UnitNormalization()(crossed)])
    return keras.Model(x, y), floats(3), None


@model
def words_by_vocabulary():
    x = keras.Input((2,), dtype="string")
    y = L.Embedding(6, 3)(L.StringLookup(vocabulary=["a", "é", "the"])(x))
    rows = np.array([["a", "zz"], ["the", "é"]], object)
    return keras.Model(x, L.Flatten()(y)), lambda n: [rows[:n]], None


# ---- other forms of models -----------------------------------------------------------------------


@model
def subclass_with_training():
    class Network(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.last = L.Dense(4, "relu"), L.Dense(2)

        def call(self, inputs, training=False):
            h = self.first(inputs)
            h = h + 100 if training else h
            return {"logits": self.last(h), "hidden": h}

    made = Network()
    made(np.zeros((1, 3), np.float32))
    return made, floats(3), None


@model
def sizes_computed_by_tensors():
    class Network(keras.Model):
        def call(self, inputs):
            rows = tf.shape(inputs)[0]
            pairs = tf.reshape(inputs, [rows * 3, 2])
            share = tf.cast(tf.range(rows), tf.float32) / tf.cast(rows, tf.float32)
            return tf.reshape(pairs, [rows, -1]) + share[:, None] + tf.ones([rows, 1])

    return Network(), floats(6), [tf.TensorSpec([None, 6])]


@model
def function_of_a_module():
    class Line(tf.Module):
        def __init__(self):
            self.w = tf.Variable([[1.0], [2.0], [3.0]], name="w")

        @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
        def __call__(self, x):
            return tf.nn.relu(x @ self.w), tf.argmax(x, axis=-1)

    return Line().__call__, floats(3), None


@model
def function_of_gathers_and_segments():
    @tf.function(input_signature=[tf.TensorSpec([None, 6])])
    def function(x):
        best, at = tf.math.top_k(x, 3)
        rows = tf.gather(x, tf.argsort(x, axis=1)[:, :2], axis=1, batch_dims=1)
        sums = tf.math.unsorted_segment_sum(tf.transpose(x), tf.constant([0, 1, 1, 2, 0, 2]), 3)
        ends = tf.where(x > 0, tf.cumsum(x, axis=1), tf.roll(x, 2, axis=1))
        return (
            best,
            at,
            rows,
            sums,
            ends,
            tf.one_hot(at, 6),
            x[:, 1:-1:2],
            tf.einsum("ij,kj->ik", x, x),
        )

    return function, floats(6), None


@model
def python_arithmetic_on_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None], name="x")])
    def function(x):
        rows, columns = x.shape
        half = columns // 2
        middle = tf.roll(x, half, axis=1)[:, : 2 * half]
        mirrored = tf.pad(x, [[0, 0], [1, 2]], "REFLECT")
        framed = tf.pad(x, [[1, 0], [0, 3]], constant_values=7.0)
        twice = tf.repeat(x, 2, axis=0) / columns + 1 / np.sqrt(rows * columns)
        first = (
            x[:, : min(columns, 13)]
            - tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True))[:, None]
        )
        return middle, mirrored, framed, twice, first, tf.signal.frame(x, 3, 2)

    sizes = {1: 7, 2: 16}
    rng = np.random.default_rng(7)
    return function, lambda n: [rng.normal(size=(n, sizes[n])).astype(np.float32)], None


@model
def mixed_precision():
    layers = [L.Conv2D(4, 3, dtype="mixed_float16"), L.Flatten(), L.Dense(3, dtype="float32")]
    return stack((5, 5, 2), *layers)


@model
def float64():
    layers = L.Dense(4, "tanh", dtype="float64"), L.LayerNormalization(dtype="float64")
    made, inputs, _ = stack((5,), *layers, dtype="float64")
    return made, lambda n: [x.astype(np.float64) for x in inputs(n)], None


# ---- whole networks ------------------------------------------------------------------------------


def _network(build, size):
    made = randomized(build(weights=None, input_shape=(size, size, 3), classes=5))
    return made, floats(size, size, 3), None


@model
def mobilenet_v2():
    return _network(lambda **how: keras.applications.MobileNetV2(alpha=0.35, **how), 32)


@model
def resnet50():
    return _network(keras.applications.ResNet50, 32)
