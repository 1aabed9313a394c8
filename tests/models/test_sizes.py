"""Sizes that are known at run time: the usual patterns, in layers, functional models and Lambda."""

import math

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import SymbolicValueError
from framework.layers.base import Layer
from tests.looped import looped

ops, layers = keras.ops, keras.layers
TOKEN = np.float32(np.arange(6)).reshape(1, 1, 6)
TABLE = np.float32(np.arange(60)).reshape(10, 6)


def causal_mask(x):
    batch, n = tf.shape(x)[0], tf.shape(x)[1]
    i, j = tf.range(n)[:, None], tf.range(n)
    mask = tf.reshape(tf.cast(i >= j - n + n, "float32"), (1, n, n))
    times = tf.concat([tf.expand_dims(batch, -1), tf.constant([1, 1], dtype=tf.int32)], 0)
    return tf.matmul(tf.tile(mask, times), x)


def heads(x):
    batch, n = ops.shape(x)[0], ops.shape(x)[1]
    parts = ops.transpose(ops.reshape(x, (batch, n, 2, 3)), (0, 2, 1, 3))
    scores = ops.matmul(parts, ops.transpose(parts, (0, 1, 3, 2))) / math.sqrt(3)
    joined = ops.transpose(ops.matmul(ops.softmax(scores), parts), (0, 2, 1, 3))
    return ops.reshape(joined, (batch, n, 2 * 3))


def windows(x):
    batch, n = tf.shape(x)[0], tf.shape(x)[1]
    parts = tf.reshape(x, (batch * n // 2, 2, 6))
    mixed = tf.reverse(parts, [1])
    return tf.reshape(mixed, (batch, n, 6))


def class_token(x):
    token = tf.broadcast_to(TOKEN, [tf.shape(x)[0], 1, 6])
    return tf.concat([token, x], axis=1)


def positions(x):
    return x + tf.gather(TABLE, tf.range(start=0, limit=tf.shape(x)[-2], delta=1))


def pairwise(x):
    batch = ops.shape(x)[0]
    rows = ops.reshape(x, (batch, -1))
    products = ops.matmul(rows, ops.transpose(rows))
    return products - ops.eye(batch) * 1e3


def shifted(x):
    batch = tf.shape(x)[0]
    return tf.concat([tf.zeros((batch, 1, 6)), x[:, : tf.shape(x)[1] - 1]], axis=1)


def strided_pairs(x):
    batch, n, width = ops.shape(x)
    both = ops.stack([x[:, ::2], x[:, 1::2]], axis=2)
    return ops.reshape(both, (batch, n // 2 * 2, width))


PATTERNS = {
    "class token": class_token,
    "causal mask": causal_mask,
    "heads": heads,
    "windows": windows,
    "positions": positions,
    "positions by arange": lambda x: x + ops.take(TABLE, ops.arange(ops.shape(x)[1]), axis=0),
    "positions of a slice": lambda x: x + tf.constant(TABLE)[: tf.shape(x)[1]],
    "positions of a variable": lambda x: x + keras.Variable(TABLE)[: ops.shape(x)[1]],
    "patches": lambda x: tf.reshape(x, [tf.shape(x)[0], -1, 3]),
    "flat": lambda x: ops.reshape(x, (ops.shape(x)[0], ops.shape(x)[1] * ops.shape(x)[2])),
    "flat by product": lambda x: tf.reshape(x, (-1, tf.reduce_prod(tf.shape(x)[1:]))),
    "shape of another": lambda x: tf.reshape(tf.reshape(x, (-1, 6)), tf.shape(x)),
    "zeros": lambda x: x + tf.zeros((tf.shape(x)[0], 1, 6)),
    "ones": lambda x: ops.ones((ops.shape(x)[0], 2)) * ops.mean(x, axis=(1, 2))[:, None],
    "fill": lambda x: tf.fill([tf.shape(x)[0], 3], 2.5),
    "fill with a size": lambda x: tf.fill([3], tf.shape(x)[0]),
    "full": lambda x: ops.full((ops.shape(x)[0], ops.shape(x)[1]), 2.0) + x[..., 0],
    "eye": lambda x: tf.matmul(tf.eye(tf.shape(x)[1], batch_shape=[tf.shape(x)[0]]), x),
    "one_hot": lambda x: ops.one_hot(ops.argmax(x, axis=1), ops.shape(x)[1]),
    "linspace": lambda x: x[..., 0] * ops.linspace(0.0, 1.0, ops.shape(x)[1]),
    "tile": lambda x: tf.tile(TOKEN, [tf.shape(x)[0], tf.shape(x)[1], 1]) + x,
    "repeat": lambda x: ops.repeat(x[:, :1], ops.shape(x)[1], axis=1),
    "broadcast_to": lambda x: ops.broadcast_to(TOKEN, ops.shape(x)) + x,
    "pairwise": pairwise,
    "shifted": shifted,
    "halves": lambda x: x[:, : ops.shape(x)[1] // 2] + x[:, -(ops.shape(x)[1] // 2) :],
    "last": lambda x: x[:, ops.shape(x)[1] - 1],
    "tf.slice": lambda x: tf.slice(x, [0, 1, 0], [tf.shape(x)[0], tf.shape(x)[1] - 1, 6]),
    "ops.slice": lambda x: ops.slice(x, (0, 1, 0), (ops.shape(x)[0], ops.shape(x)[1] - 1, 6)),
    "strided pairs": strided_pairs,
    "random rows": lambda x: keras.random.normal((ops.shape(x)[0], 2), seed=1) + x[:, 0, :2],
    "stateless": lambda x: tf.random.stateless_normal(tf.shape(x), seed=[1, 2]) + x,
    "mean by hand": lambda x: tf.reduce_sum(x, 0) / tf.cast(tf.shape(x)[0], tf.float32),
    "mean by a number": lambda x: ops.sum(x, axis=0) / ops.shape(x)[0],
    "scaled": lambda x: x * ops.shape(x)[1] ** -0.5,
    "scaled by a root": lambda x: x / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float32)),
    "number and variable": lambda x: x + keras.Variable(2.0) * ops.shape(x)[1],
    "minimum": lambda x: x[:, : tf.minimum(tf.shape(x)[1], 3)],
    "unstacked shape": lambda x: tf.ones(tf.unstack(tf.shape(x))[:2]),
    "where": lambda x: tf.where(tf.range(tf.shape(x)[1])[:, None] < 2, x, tf.zeros_like(x)),
    "mask of lengths": lambda x: x * tf.sequence_mask(
        tf.fill([tf.shape(x)[0]], 2), tf.shape(x)[1], dtype=x.dtype)[..., None],
    "split": lambda x: ops.split(x, [ops.shape(x)[1] // 2], axis=1)[0],
    "pad": lambda x: tf.pad(x, [[0, 0], [0, 8 - tf.shape(x)[1]], [0, 0]]),
    "compare": lambda x: tf.where(tf.shape(x)[0] > 2, x, -x),
    "size": lambda x: tf.ones_like(x) * tf.cast(tf.size(x), "float32"),
    "cond": lambda x: tf.cond(tf.shape(x)[0] > 2, lambda: x * 2.0, lambda: x[:, 1:]),
    "cond on values": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x),
    "cond of several": lambda x: tf.cond(tf.size(x) > 24, lambda: (x, 1.0), lambda: (-x, 2.0))[0],
    "ceil": lambda x: x[0, :1, :2] + tf.zeros((math.ceil(ops.shape(x)[1] / 3), 2)),
    "rounded": lambda x: x[0, :1, :2] + ops.zeros((round(ops.shape(x)[1] * 0.5), 2)),
    "remainder": lambda x: ops.pad(x, ((0, 0), (0, -ops.shape(x)[1] % 3), (0, 0))),
}  # fmt: skip

SHAPES = {"batch": (None, 4, 6), "length": (3, None, 6), "both": (None, None, 6)}


class InLayer(Layer):
    def __init__(self, f, **kwargs):
        super().__init__(**kwargs)
        self.f = f

    def call(self, x):
        return self.f(x)


class InFunction(InLayer):
    @tf.function
    def call(self, x):
        return self.f(x)


HOW = {
    "straight": lambda f, x: f(x),
    "layer": lambda f, x: InLayer(f)(x),
    "tf.function": lambda f, x: InFunction(f)(x),
    "Lambda": lambda f, x: layers.Lambda(f)(x),
    "nested": lambda f, x: keras.Model(x, f(x))(x * 1.0),
}


def numbers(*shape):
    return np.float32(np.sin(np.arange(math.prod(shape)))).reshape(shape)


@looped("how", HOW)
@looped("shape", SHAPES)
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name, shape, how):
    f, shape = PATTERNS[name], SHAPES[shape]
    x = keras.Input(batch_shape=shape)
    y = HOW[how](f, x)
    model = keras.Model(x, y)
    for batch, length in ((3, 4), (1, 6), (2, 4)):
        data = numbers(shape[0] or batch, shape[1] or length, 6)
        expected = np.asarray(f(tf.constant(data)))
        found = np.asarray(model(data))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        assert len(y.shape) == found.ndim
        assert all(n in (None, m) for n, m in zip(y.shape, found.shape)), (y.shape, found.shape)


class Sampling(Layer):
    """As the examples of VAEs have it."""

    def __init__(self, drawn, **kwargs):
        super().__init__(**kwargs)
        self.drawn, self.seed_generator = drawn, keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        if self.drawn == "tf":
            epsilon = tf.random.normal(shape=(tf.shape(z_mean)[0], tf.shape(z_mean)[1]))
            return z_mean + tf.exp(0.5 * z_log_var) * epsilon
        batch, width = ops.shape(z_mean)[0], ops.shape(z_mean)[1]
        epsilon = keras.random.normal(shape=(batch, width), seed=self.seed_generator)
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


@pytest.mark.parametrize("eagerly", [True, False])
@pytest.mark.parametrize("drawn", ["tf", "keras"])
def test_a_variational_autoencoder_trains(drawn, eagerly):
    keras.utils.set_random_seed(1)
    i = keras.Input((12,))
    h = layers.Dense(8, activation="relu")(i)
    sampling = Sampling(drawn)
    z = sampling([layers.Dense(2)(h), layers.Dense(2)(h)])
    assert z.shape == (None, 2)
    assert sampling.seed_generator.state.numpy()[1] == 0  # nothing was drawn so far
    model = keras.Model(i, layers.Dense(12)(z))
    model.compile("adam", "mse", run_eagerly=eagerly)
    x = numbers(40, 12)
    history = model.fit(x, x, batch_size=16, epochs=4, verbose=0).history["loss"]
    assert history[-1] < history[0]
    assert not np.array_equal(model(x[:3]), model(x[:3]))
    assert model.predict(x[:5], verbose=0).shape == (5, 12)


TRAINED = (
    "class token", "causal mask", "heads", "windows", "pairwise", "shifted", "halves", "pad",
    "mean by a number", "eye", "cond",
)  # fmt: skip


def trained(build, eagerly, batches):
    keras.utils.set_random_seed(2)
    i = keras.Input((None, 6))
    model = keras.Model(i, build(layers.Dense(6)(i)))
    model.compile(keras.optimizers.SGD(0.05), "mse", run_eagerly=eagerly)
    for batch in batches:
        x = numbers(batch, 4, 6)
        model.train_on_batch(x, np.zeros_like(model(x)))
    return [w.numpy() for w in model.weights]


@pytest.mark.parametrize("how", ["straight", "layer"])
@pytest.mark.parametrize("name", TRAINED)
def test_plans_train_as_eager_steps_do(name, how):
    """Steps of three batch sizes: those that are recorded and those that run a plan."""
    batches = [3, 3, 3, 3, 2, 2, 2, 5, 3]
    results = [trained(lambda x: HOW[how](PATTERNS[name], x), e, batches) for e in (True, False)]
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# ---- the numbers themselves ----------------------------------------------------------------------


def test_a_size_is_a_number():
    x = keras.Input((None, 6))
    batch, n, width = ops.shape(x)
    assert (x.shape, width) == ((None, None, 6), 6)
    assert isinstance(batch, int)
    assert batch == ops.shape(x)[0]
    assert not batch != batch  # noqa: PLR0124, SIM202
    assert batch * 2 + 1 == 1 + 2 * ops.shape(x)[0]
    assert (n // 2 * 2 + n % 2 - -n + abs(n)).dtype == "int32"
    assert (n / 2).dtype == "float32"
    assert isinstance(n > 3, bool)
    assert (None in (batch, n), batch is None, batch == "text") == (False, False, False)
    assert "size 1 of 'input_layer" in repr(n * 2)


def test_what_python_asks_of_a_size_is_refused_clearly():
    batch = ops.shape(keras.Input((2,), name="rows"))[0]
    for ask in (int, float, bool, range, lambda n: [0] * n, lambda n: 1 if n > 3 else 2):
        with pytest.raises(SymbolicValueError, match=r"'rows'.*> is known when the model runs"):
            ask(batch)


def test_numbers_take_on_the_dtype_of_tensors():
    x = keras.Input((4,), dtype="float16")
    n = ops.shape(x)[0]
    for made in (x * n, n * x, tf.multiply(x, n), ops.add(n, x), x / n, n - x, x * (n / 2)):
        assert made.dtype == "float16"
    half = tf.constant([1.5], tf.float16)
    assert (half * n).dtype == (n * half).dtype == "float16"
    assert tf.convert_to_tensor(n).dtype == "int32"
    assert tf.convert_to_tensor(n, tf.float64).dtype == tf.cast(n, tf.float64).dtype == "float64"
    assert ops.convert_to_tensor(n / 2).dtype == "float32"
    assert (n * np.float32(2.0)).kind is float
    assert tf.add(n, 1).dtype == tf.stack([n, 2]).dtype == "int32"
    with pytest.raises(TypeError, match="float"):
        tf.add(tf.constant([1]), n / 2)
    model = keras.Model(x, [x * n, tf.stack([n, 2]), tf.add(n, 1), tf.cast(n, "float32") / 2.0])
    scaled, pair, more, half = model(np.ones((3, 4)))
    assert (scaled.dtype, scaled.numpy()[0, 0]) == ("float16", 3)
    assert (pair.numpy().tolist(), int(more), float(half)) == ([3, 2], 4, 1.5)


def test_shapes_follow_the_sizes():
    x = keras.Input((None, 6))
    batch, n, _ = ops.shape(x)
    assert ops.reshape(x, (batch, n, 2, 3)).shape == (None, None, 2, 3)
    assert ops.reshape(x, (batch, n * 6)).shape == (None, None)
    assert tf.zeros((n // 64, 2)).shape == (None, 2)
    assert tf.zeros((n // n, 2)).shape == (1, 2)
    rows = ops.reshape(ops.concatenate([x, x], axis=0), (2 * batch, n, 6))
    assert layers.Dense(4)(rows).shape == (None, None, 4)
    back = ops.reshape(layers.Dense(4)(rows), (batch, 2, n, 4))
    model = keras.Model(x, back)
    assert model(np.ones((3, 5, 6))).shape == (3, 2, 5, 4)
    both = ops.concatenate([x, keras.Input((None, 6))], axis=1)
    assert ops.reshape(both, (ops.shape(both)[0], -1, 3)).shape == (None, None, 3)


def test_two_inputs_have_sizes_of_their_own():
    x, y = keras.Input((6,)), keras.Input((6,))
    assert ops.reshape(x, (ops.shape(y)[0], -1)).shape == (None, None)
    with pytest.raises(SymbolicValueError, match="known when the model runs"):
        assert ops.shape(x)[0] == ops.shape(y)[0]


def test_building_draws_and_changes_nothing():
    tf.random.set_seed(4)
    x = keras.Input((6,))
    y = tf.random.shuffle(x) + tf.random.normal((tf.shape(x)[0], 6)) + tf.nn.dropout(x, 0.5)
    model = keras.Model(x, y)
    first = np.asarray(model(np.ones((3, 6))))
    tf.random.set_seed(4)
    ones = tf.ones((3, 6))
    again = tf.random.shuffle(ones) + tf.random.normal((3, 6)) + tf.nn.dropout(ones, 0.5)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, model(np.ones((3, 6))))


def test_a_loop_in_a_layer():
    def doubled(x):
        step = lambda i, y: (i + 1, y * 2.0)
        return tf.while_loop(lambda i, y: i < tf.shape(x)[1], step, (0, x))[1]

    x = keras.Input((None, 6))
    y = InLayer(doubled)(x)
    assert y.shape == (None, None, 6)
    np.testing.assert_array_equal(keras.Model(x, y)(np.ones((1, 3, 6))), np.full((1, 3, 6), 8.0))
    with pytest.raises(SymbolicValueError):
        doubled(x)


def test_an_input_of_symbolic_sizes_leaves_them_open():
    _, n, width = ops.shape(keras.Input((None, 6)))
    assert keras.Input((n, width)).shape == (None, None, 6)
    assert layers.Dense(3).compute_output_shape((None, n, width)) == (None, None, 3)


def test_gradients_pass_through_operations():
    x = keras.Input((None, 6))
    n = ops.shape(x)[1]
    model = keras.Model(x, x[:, : n // 2] * tf.tile(TOKEN, [tf.shape(x)[0], n // 2, 1]))
    data = tf.constant(numbers(2, 4, 6))
    with tf.GradientTape() as tape:
        tape.watch(data)
        total = tf.reduce_sum(model(data))
    expected = np.zeros((2, 4, 6), "float32")
    expected[:, :2] = TOKEN
    np.testing.assert_array_equal(tape.gradient(total, data), expected)


def test_a_wrong_size_gives_the_error_of_the_function():
    x = keras.Input((4, 6))
    with pytest.raises(ValueError, match=r"reshape: .* does not fit .*shapes \(None, 4, 6\)"):
        tf.reshape(x, (tf.shape(x)[0], 5, 6))
    with pytest.raises(ValueError, match="axis"):
        tf.unstack(x, axis=3)
