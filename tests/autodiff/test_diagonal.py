"""Rows of an identity that stay diagonal: the same numbers as rows written out."""

import numpy as np
import pytest

import framework as tf
from framework.autodiff import diagonal, jacobian
from framework.autodiff.diagonal import Diagonal
from framework.core.tensor import Tensor
from framework.ops.contraction import matmul
from framework.ops.elementwise import add, gated, multiply

SIZE = 5
SHAPES = [(SIZE,), (3, SIZE), (2, 3, SIZE)]
PARTS = [(0, SIZE), (0, 2), (2, SIZE), (3, 4)]


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


def written_out(start, stop, shape, scale):
    eye = np.eye(SIZE, dtype="float32")[start:stop]
    rows = np.broadcast_to(
        eye.reshape(stop - start, *(1,) * (len(shape) - 1), SIZE), (stop - start, *shape)
    )
    return rows if scale is None else rows * scale


@pytest.fixture(params=[np.asarray, Tensor], ids=["array", "tensor"])
def boxed(request):
    return request.param


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_computes_as_its_rows_do(shape, part, scaled, boxed):
    scale = normal(*shape) if scaled else None
    rows = Diagonal(*part, shape, np.dtype("f"), None if scale is None else boxed(scale))
    expected = written_out(*part, shape, scale)
    assert rows.shape == expected.shape
    np.testing.assert_array_equal(rows.dense(), expected)
    factor, on = 1 + normal(*shape), normal(*shape) > 0
    for found, wanted in [
        (multiply(rows, boxed(factor)), expected * factor),
        (multiply(boxed(factor), rows), expected * factor),
        (gated(rows, boxed(on)), expected * on),
    ]:
        assert type(found) is Diagonal
        np.testing.assert_array_equal(found.dense(), wanted)
    matrix = normal(SIZE, 4)
    for given, transposed in [(matrix, False), (matrix.T.copy(), True)]:
        found = rows.product(boxed(given), transposed)
        np.testing.assert_allclose(found, expected @ matrix, rtol=1e-6)


def test_other_ops_see_the_rows():
    rows = Diagonal(0, SIZE, (3, SIZE), np.dtype("f"))
    dense = np.array(rows.dense())
    x = normal(3, SIZE)
    np.testing.assert_array_equal(add(rows, Tensor(x)), dense + x)
    np.testing.assert_array_equal(multiply(rows, 2.0), dense * 2)
    np.testing.assert_array_equal(multiply(rows, rows), dense)
    np.testing.assert_array_equal(multiply(rows, x[:1]), dense * x[:1])  # of another shape
    np.testing.assert_allclose(matmul(rows, normal(SIZE, 2)), dense @ normal(SIZE, 2), rtol=1e-6)


W, V = normal(4, SIZE), normal(SIZE, SIZE)
NETWORKS = {
    "tanh": lambda x: tf.tanh(tf.matmul(x, W)),
    "linear": lambda x: tf.matmul(tf.tanh(x), W),
    "transposed": lambda x: tf.matmul(x, W.T.copy(), transpose_b=True),
    "relu": lambda x: tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, W) + 0.1), V)),
    "sigmoid": lambda x: tf.sigmoid(tf.matmul(x, W)),
    "softmax": lambda x: tf.nn.softmax(tf.matmul(x, W)),
    "scaled": lambda x: 3.0 * tf.matmul(x, W) * normal(SIZE),
    "twice": lambda x: tf.matmul(x, W) * tf.tanh(tf.matmul(x, W)) - tf.matmul(x * x, W),
    "of itself": lambda x: x,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_jacobians_are_those_of_the_loop(name):
    x = tf.constant(normal(3, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = NETWORKS[name](x)
        first = y[0]
    for found, looped in [
        [tape.batch_jacobian(y, x, experimental_use_pfor=at_once) for at_once in (True, False)],
        [tape.jacobian(first, x, experimental_use_pfor=at_once) for at_once in (True, False)],
    ]:
        np.testing.assert_allclose(found, looped, rtol=1e-5, atol=1e-6)


def test_in_blocks(change):
    change(jacobian, _BLOCK=1, _FEWEST=2)
    test_jacobians_are_those_of_the_loop("tanh")


def test_a_tape_outside_differentiates_through_it():
    x = tf.constant(normal(3, 4))

    def energy(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = NETWORKS["tanh"](x)
        return tf.reduce_sum(tape.batch_jacobian(y, x) ** 2)

    tf.debugging.check_gradients(energy, [x])


def test_the_sums_of_an_identity_are_not_made(change):
    """As few products of many rows as layers behind the first."""
    calls = []
    product = Diagonal.product
    change(diagonal.Diagonal, product=lambda *args: calls.append(1) or product(*args))
    x = tf.constant(normal(3, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = NETWORKS["relu"](x)
    tape.batch_jacobian(y, x)
    assert len(calls) == 1
