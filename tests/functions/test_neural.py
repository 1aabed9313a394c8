"""tf.nn against NumPy and SciPy; cross-entropies at logits where naive formulas overflow."""

import numpy as np
import pytest
from scipy import special

import framework as tf
from framework import keras

X = np.float32([[-3.0, -0.5, 0.0], [0.5, 2.0, 7.0]])

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "silu": lambda x: x * special.expit(x), "swish": lambda x: x * special.expit(x),
    "gelu": lambda x: x * 0.5 * special.erfc(-x / np.sqrt(2)),
    "softplus": lambda x: np.logaddexp(0, x), "softsign": lambda x: x / (1 + np.abs(x)),
    "sigmoid": special.expit, "tanh": np.tanh,
    "softmax": lambda x: special.softmax(x, -1),
    "log_softmax": lambda x: special.log_softmax(x, -1),
    "crelu": lambda x: np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], -1),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    found = getattr(tf.nn, name)(X)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), ACTIVATIONS[name](X), rtol=1e-5, atol=1e-6)


def test_their_arguments():
    np.testing.assert_allclose(tf.nn.softmax(X, axis=0).numpy(), special.softmax(X, 0), rtol=1e-6)
    np.testing.assert_allclose(tf.nn.leaky_relu(X, 0.5).numpy(), np.where(X > 0, X, X / 2))
    whole = tf.nn.leaky_relu(tf.constant([-10, 2]))
    assert (whole.dtype, whole.numpy().tolist()) == ("float32", [-2, 2])
    np.testing.assert_allclose(tf.nn.silu(X, beta=2.0).numpy(), X * special.expit(2 * X), rtol=1e-5)
    np.testing.assert_allclose(
        tf.nn.gelu(X, approximate=True).numpy(), ACTIVATIONS["gelu"](X), atol=2e-3
    )


REAL = ("relu", "relu6", "crelu", "leaky_relu", "elu", "selu", "gelu", "softplus", "softsign")


@pytest.mark.parametrize("name", REAL)
def test_complex_numbers_and_booleans_have_no_order(name):
    with pytest.raises(TypeError, match=f"{name}: expected real numbers, got complex64"):
        getattr(tf.nn, name)(tf.constant([1.0 + 2.0j], "complex64"))
    with pytest.raises(TypeError, match=f"{name}: expected .* got bool"):
        getattr(tf.nn, name)(tf.constant([True]))


@pytest.mark.parametrize("name", ["relu", "relu6", "crelu"])
def test_strings_are_no_numbers(name):
    with pytest.raises(TypeError, match=f"{name}: expected numbers, got strings"):
        getattr(tf.nn, name)(tf.constant(["a"]))


def test_keras_refuses_complex_numbers_where_they_would_lose_a_part():
    z = np.complex64([1 + 2j])
    for function, name in ((keras.activations.gelu, "gelu"), (keras.ops.erf, "x")):
        with pytest.raises(TypeError, match=f"{name}: expected real numbers, got complex64"):
            function(z)


def test_relu_keeps_integers():
    for function, expected in ((tf.nn.relu, [0, 7]), (tf.nn.relu6, [0, 6])):
        for dtype in ("int8", "int64"):
            found = function(tf.constant([-3, 7], dtype))
            assert (found.dtype, found.numpy().tolist()) == (dtype, expected)


BIG = np.float32([[-1000.0, 0.0, 1000.0], [3.0, 1.0, 0.5]])


def test_softmax_cross_entropy():
    labels = np.float32([[0.2, 0.3, 0.5], [1, 0, 0]])
    expected = -(labels * special.log_softmax(BIG.astype("f8"), -1)).sum(-1)
    found = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=BIG)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    along_0 = tf.nn.softmax_cross_entropy_with_logits(labels.T, BIG.T, axis=0)
    np.testing.assert_allclose(along_0.numpy(), expected, rtol=1e-6)
    logits = tf.constant(BIG)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    np.testing.assert_allclose(
        tape.gradient(loss, logits).numpy(), special.softmax(BIG, -1) - labels, atol=1e-6
    )


def test_softmax_cross_entropy_takes_labels_of_any_dtype():
    expected = tf.nn.softmax_cross_entropy_with_logits(np.float32([[1, 0, 0]] * 2), BIG).numpy()
    for dtype in ("int32", "uint8", "bool", "float64", "float16"):
        for make in (lambda x: x, tf.constant, tf.Variable):
            labels = make(np.array([[1, 0, 0]] * 2, dtype))
            found = tf.nn.softmax_cross_entropy_with_logits(labels, BIG)
            assert found.dtype == "float32"
            np.testing.assert_array_equal(found.numpy(), expected)


def test_softmax_cross_entropy_broadcasts():
    """Infinite logits of one row are no matter of another."""
    logits = tf.constant([[1.0, 2.0], [np.inf, 1.0]])
    labels = tf.constant([[0.5, 0.5]])
    with tf.GradientTape() as tape:
        tape.watch([labels, logits])
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    np.testing.assert_allclose(loss.numpy()[0], np.log1p(np.e) - 0.5, rtol=1e-6)
    slopes = tape.gradient(loss, [labels, logits])
    assert [tuple(g.shape) for g in slopes] == [(1, 2), (2, 2)]
    np.testing.assert_allclose(slopes[1].numpy()[0], special.softmax([1.0, 2.0]) - 0.5, rtol=1e-5)


def test_sparse_softmax_cross_entropy():
    expected = -special.log_softmax(BIG.astype("f8"), -1)[[0, 1], [2, 0]]
    for labels in ([2, 0], np.int64([2, 0]), tf.constant([2, 0], tf.uint8)):
        found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=BIG)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_sigmoid_cross_entropy():
    labels = np.float32([[0.0, 0.5, 1.0], [1.0, 0.0, 0.25]])
    z = BIG.astype("f8")
    expected = np.maximum(z, 0) - z * labels + np.log1p(np.exp(-np.abs(z)))
    found = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=BIG)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    weighted = tf.nn.weighted_cross_entropy_with_logits(labels, BIG, 1.0)
    np.testing.assert_allclose(weighted.numpy(), expected, rtol=1e-6, atol=1e-6)
    doubled = tf.nn.weighted_cross_entropy_with_logits(np.ones_like(BIG), BIG, 2.0)
    np.testing.assert_allclose(doubled.numpy(), 2 * np.logaddexp(0, -z), rtol=1e-6)


def test_sums_and_moments():
    x = np.random.default_rng(0).normal(3, 2, (4, 5, 6)).astype("f4")
    assert float(tf.nn.l2_loss([3.0, 4.0])) == 12.5
    np.testing.assert_allclose(
        tf.nn.l2_normalize(x, axis=1).numpy(),
        x / np.linalg.norm(x, axis=1, keepdims=True),
        rtol=1e-5,
    )
    for axes, keepdims in (([0], False), ([0, 2], True), ([0, 1, 2], False)):
        mean, variance = tf.nn.moments(x, axes, keepdims=keepdims)
        np.testing.assert_allclose(mean.numpy(), x.mean(tuple(axes), keepdims=keepdims), rtol=1e-4)
        np.testing.assert_allclose(
            variance.numpy(), x.var(tuple(axes), keepdims=keepdims), rtol=1e-4
        )
    mean, variance = tf.nn.moments(x, [0, 1])
    found = tf.nn.batch_normalization(x, mean, variance, 1.0, 2.0, 1e-3)
    expected = (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + 1e-3) * 2 + 1
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3, atol=1e-5)
    plain = tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)
    np.testing.assert_allclose(plain.numpy(), (expected - 1) / 2, rtol=1e-3, atol=1e-5)


def test_bias_add():
    x = np.zeros((2, 3, 4), np.float32)
    assert tf.nn.bias_add(x, [1.0, 2.0, 3.0, 4.0]).numpy()[1, 2].tolist() == [1, 2, 3, 4]
    assert tf.nn.bias_add(x, [1.0, 2.0, 3.0], "NCHW").numpy()[1, :, 2].tolist() == [1, 2, 3]


def test_dropout():
    tf.random.set_seed(0)
    x = tf.ones([200, 100])
    found = tf.nn.dropout(x, 0.2).numpy()
    assert (found == 0).mean() == pytest.approx(0.2, abs=0.01)
    np.testing.assert_allclose(np.unique(found), [0, 1.25])
    assert tf.nn.dropout(x, 0.0) is x
    rows = tf.nn.dropout(x, 0.5, noise_shape=[None, 1]).numpy()
    assert set(rows.sum(1).tolist()) == {0.0, 200.0}
    kept = tf.Variable(tf.ones([50]))
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(kept, 0.5, seed=1)
    np.testing.assert_array_equal(tape.gradient(y, kept).numpy(), y.numpy())


def test_lookup_and_top_k():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert tf.nn.embedding_lookup(table, [[2, 0]]).numpy().tolist() == [[[5, 6], [1, 2]]]
    scores = [[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]]
    assert tf.math.in_top_k([2, 2], scores, 2).numpy().tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tf.nn.softmax_cross_entropy_with_logits([0.0, 1.0], X), ValueError,
         r"labels of shape \(2,\) do not fit logits of shape \(2, 3\)"),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], X), IndexError,
         "labels must lie from 0 to 2, got 3"),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([1.0, 0.0], X), TypeError,
         "labels must be integers, got float32"),
        (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([1], X), ValueError,
         r"expected \(2,\)"),
        (lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0, 2.0]), ValueError,
         r"the same shape, got \(1,\) and \(2,\)"),
        (lambda: tf.nn.bias_add(X, [1.0]), ValueError, r"bias of shape \(1,\).*axis 1"),
        (lambda: tf.nn.dropout(X, 1.0), ValueError, r"rate must be in \[0, 1\), got 1.0"),
        (lambda: tf.nn.embedding_lookup(tf.ones([3, 2]), [3]), IndexError,
         "ids must lie from 0 to 2, got 3"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_log_poisson_loss():
    """TensorFlow 2.21 leaves Stirling's term out for targets from 0 to 1."""
    targets, logs = tf.constant([1.0, 2.0, 5.0, 0.0]), tf.constant([0.5, -1.0, 2.0, 1.0])
    found = tf.nn.log_poisson_loss(targets, logs)
    expected = np.exp(logs.numpy()) - logs.numpy() * targets.numpy()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    full = tf.nn.log_poisson_loss(targets, logs, compute_full_loss=True)
    z = np.float64([2.0, 5.0])
    stirling = np.zeros(4)
    stirling[1:3] = z * np.log(z) - z + 0.5 * np.log(2 * np.pi * z)
    np.testing.assert_allclose(full.numpy(), expected + stirling, rtol=1e-6)
    np.testing.assert_allclose(
        full.numpy(), [1.1487212, 3.0196857, 2.1599035, 2.7182817], rtol=1e-6
    )
    with tf.GradientTape() as tape:
        tape.watch(targets)
        full = tf.nn.log_poisson_loss(targets, logs, compute_full_loss=True)
    slopes = np.where(stirling > 0, np.log([1, 2, 5, 1]) + 0.5 / np.float64([1, 2, 5, 1]), 0)
    np.testing.assert_allclose(tape.gradient(full, targets).numpy(), slopes - logs, rtol=1e-6)
