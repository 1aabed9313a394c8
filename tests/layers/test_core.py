"""Numbers of single layers; those of real Keras 3.15 where it says so."""

import numpy as np
import pytest

import framework as tf
from framework import keras, layers
from framework.core import random
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.layers import Dense, Dropout, Input, InputLayer, Lambda

X = np.array([[1, -2, 3], [0.5, 0, -1]], "float32")


def test_values_are_keras():
    mask = np.array([[True, True, False]] * 2)
    for made, expected in [
        (layers.Softmax()(X, mask=mask), [[0.952574, 0.047426, 0], [0.622459, 0.377541, 0]]),
        (layers.ReLU(2.0, 0.1, 0.5)(X), [[1, -0.25, 2], [0, -0.05, -0.15]]),
        (layers.Rescaling([1.0, 2.0, 3.0], -1.0)(X), [[0, -5, 8], [-0.5, -1, -4]]),
        (layers.Average()([X, 2 * X, X]), X * 4 / 3),
        (layers.Subtract()([X, 2 * X]), -X),
        (layers.Maximum()([X, -X]), np.abs(X)),
        (layers.Minimum()([X, -X]), -np.abs(X)),
        (layers.RepeatVector(2)(X), np.stack([X, X], 1)),
        (layers.Permute((2, 1))(X[None]), X.T[None]),
        (layers.Concatenate(axis=0)([X, X]), np.concatenate([X, X])),
    ]:
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5, atol=1e-6)
    rows = layers.Add()([np.ones((2, 3)), np.arange(24.0).reshape(2, 4, 3)])
    np.testing.assert_array_equal(rows[1, 3], [22, 23, 24])


@pytest.mark.parametrize("shape", [(4, 3), (2, 5, 3), (2, 2, 2, 3), (0, 3), (2, 0, 3)])
def test_dense_of_any_rank(shape):
    layer = Dense(2, bias_initializer="ones")
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    np.testing.assert_allclose(layer(x).numpy(), x @ layer.kernel.numpy() + 1, rtol=1e-5, atol=1e-6)
    assert layer(KerasTensor((None, None, 3))).shape == (None, None, 2)


def test_dense_takes_integers_and_constraints():
    layer = Dense(2, kernel_constraint="non_neg", bias_constraint="unit_norm")
    assert layer(np.ones((2, 3), "int64")).dtype == "float32"
    assert type(layer.kernel.constraint).__name__ == "NonNeg"
    assert type(layer.bias.constraint).__name__ == "UnitNorm"
    assert Dense(2, use_bias=False).bias_initializer is not None


def test_dropout():
    x = np.ones((100, 100), "float32")
    layer = Dropout(0.3, seed=1)
    np.testing.assert_array_equal(layer(x), x)
    first, second = layer(x, training=True).numpy(), layer(x, training=True).numpy()
    assert set(np.unique(first).round(5)) == {0, np.float32(1 / 0.7).round(5)}
    assert (first == 0).mean() == pytest.approx(0.3, abs=0.02)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, Dropout(0.3, seed=1)(x, training=True))
    random.set_seed(4)
    unseeded = Dropout(0.3)(x, training=True)
    random.set_seed(4)
    np.testing.assert_array_equal(unseeded, Dropout(0.3)(x, training=True))
    assert not Dropout(1.0)(x, training=True).numpy().any()
    assert not hasattr(Dropout(0), "seed_generator")


def test_dropout_noise_shape():
    x = np.ones((4, 5, 6))
    out = Dropout(0.5, noise_shape=(None, 1, None), seed=2)(x, training=True).numpy()
    assert (out == out[:, :1]).all()
    assert not (out == out[:, :, :1]).all()
    with pytest.raises(ShapeError, match=r"noise_shape=\(1,\) has 1 axes.*have 3"):
        Dropout(0.5, noise_shape=(1,))(x, training=True)


def test_flatten_and_reshape():
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(layers.Flatten()(x), x.reshape(2, 12))
    np.testing.assert_array_equal(
        layers.Flatten("channels_first")(x), x.transpose(0, 2, 1).reshape(2, 12)
    )
    assert layers.Flatten()(np.ones((0, 3, 4))).shape == (0, 12)
    assert layers.Flatten()(KerasTensor((None, None, 3))).shape == (None, None)
    assert layers.Reshape((-1, 6))(KerasTensor((None, 3, 4))).shape == (None, 2, 6)
    assert layers.Reshape((-1, 6))(np.ones((0, 12))).shape == (0, 2, 6)
    with pytest.raises(ShapeError, match=r"input_shape=\(3, 4\), target_shape=\(5,\).*'mine'"):
        layers.Reshape((5,), name="mine")(x)
    with pytest.raises(InvalidArgumentError, match="at most one of them -1"):
        layers.Reshape((-1, -1))
    with pytest.raises(InvalidArgumentError, match="a permutation of 1 to 2"):
        layers.Permute((0, 1))


def test_lambda():
    def scaled(x, by, training=None, mask=None):
        return x * by * (2 if training else 1)

    layer = Lambda(scaled, arguments={"by": 3.0})
    np.testing.assert_array_equal(layer(X), 3 * X)
    np.testing.assert_array_equal(layer(X, training=True), 6 * X)
    told = Lambda(lambda x: tf.constant(x.numpy()), output_shape=(7,))
    assert told(KerasTensor((None, 3))).shape == (None, 7)
    as_list = Lambda(lambda x: x[:, :2], output_shape=[2])
    assert as_list(KerasTensor((None, 3))).shape == (None, 2)
    several = Lambda(lambda x: [x, {"a": x}], output_shape=[(3,), {"a": [3, 1]}])
    made = several(KerasTensor((None, 3)))
    assert (made[0].shape, made[1]["a"].shape) == ((None, 3), (None, 3, 1))
    of_two = Lambda(lambda xs: xs[0] + xs[1], output_shape=(3,))
    assert of_two([KerasTensor((4, 3)), KerasTensor((4, 3))]).shape == (4, 3)
    by_function = Lambda(lambda x: x, output_shape=lambda shape: (shape[0], 9))
    assert by_function(KerasTensor((None, 3))).shape == (None, 9)
    masked = Lambda(lambda x: x * 1, mask=lambda inputs, mask: inputs[:, 0] > 0)
    np.testing.assert_array_equal(masked(X)._keras_mask, [True, True])
    with pytest.raises(InvalidArgumentError, match="expected a function"):
        Lambda(3)


def test_input():
    x = Input((3, None), batch_size=2, dtype="int32", name="mine")
    assert (x.shape, x.dtype, x.name) == ((2, 3, None), "int32", "mine")
    assert isinstance(x.origin[0], InputLayer)
    assert Input(batch_shape=(4, 5)).shape == (4, 5)
    assert Input(()).shape == (None,)
    layer = InputLayer((3,))
    again = InputLayer.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert again.batch_shape == (None, 3)
    for arguments, message in [
        ({}, "expected shape .* or batch_shape"),
        ({"shape": (1,), "batch_shape": (1, 1)}, "not both"),
        ({"shape": 3}, r"write \(3,\)"),
        ({"shape": (1,), "ragged": True}, "ragged=True is not supported"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            Input(**arguments)


def test_merging_functions_and_errors():
    np.testing.assert_array_equal(layers.add([X, X]), 2 * X)
    np.testing.assert_array_equal(layers.subtract([X, X]), 0 * X)
    np.testing.assert_array_equal(layers.multiply([X, X]), X * X)
    np.testing.assert_array_equal(layers.average([X, X]), X)
    np.testing.assert_array_equal(layers.maximum([X, X]), X)
    np.testing.assert_array_equal(layers.minimum([X, X]), X)
    assert layers.concatenate([X, X], axis=1).shape == (2, 6)
    for make, message in [
        (lambda: layers.Add()(X), "called on a list of at least 1"),
        (lambda: layers.Subtract()([X, X, X]), "exactly 2 inputs"),
        (lambda: layers.Add()([X, X[:, :2]]), r"shapes \(2, 3\) and \(2, 2\)"),
        (lambda: layers.Concatenate(axis=0)([X, X[:, :2]]), "matching shapes except"),
        (lambda: layers.Concatenate(axis=4)([X, X]), "axis=4 is out of range"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


A, B = [[True, False, False]], [[True, True, False]]


@pytest.mark.parametrize(
    ("axis", "masks", "expected"),
    [
        (-1, (A, B), [[True, True, False]]),
        (-1, (A, None), [[True, True, True]]),
        (1, (A, B), [[True, False, False, True, True, False]]),
        (1, (A, None), [[True, False, False, True, True, True]]),
        (0, (None, B), [[True, True, True], [True, True, False]]),
        (1, (np.array(A)[..., None] & [True, False], B), [[True, False, False, True, True, False]]),
        (1, (None, None), None),
    ],
)
def test_masks_of_what_is_concatenated(axis, masks, expected):  # as Keras has them
    layer, masks = layers.Concatenate(axis), [None if m is None else tf.constant(m) for m in masks]
    inputs = [tf.ones((1, 3, 2)), tf.ones((1, 3, 2))]
    symbols = [KerasTensor((None, 3, 2)), KerasTensor((None, 3, 2))]
    if expected is None:
        assert layer.compute_mask(inputs, masks) is layer.compute_mask(symbols, masks) is None
        return
    np.testing.assert_array_equal(layer.compute_mask(inputs, masks), expected)
    for x, mask in zip(inputs, masks, strict=True):
        x._keras_mask = mask
    np.testing.assert_array_equal(layer(inputs)._keras_mask, expected)
    for x, mask in zip(symbols, masks, strict=True):
        x._keras_mask = None if mask is None else KerasTensor((None, *mask.shape[1:]), "bool")
    assert layer(symbols)._keras_mask.shape == (None, len(expected[0]))


def test_older_names_of_arguments():
    assert InputLayer(input_shape=(3, 2)).batch_shape == (None, 3, 2)
    assert InputLayer(batch_input_shape=(5, 2)).batch_shape == (5, 2)
    with pytest.warns(UserWarning, match="Use `negative_slope` instead"):
        layer = layers.LeakyReLU(alpha=0.1)
    assert layer.get_config()["negative_slope"] == 0.1
    np.testing.assert_allclose(layer(X), np.where(X > 0, X, np.float32(0.1) * X))


def test_a_name_may_be_empty_as_in_keras():
    assert Dense(1, name="").name == ""
    with pytest.raises(ValueError, match="Dense: name must be a string without '/', got 'a/b'"):
        Dense(1, name="a/b")


@pytest.mark.parametrize(
    ("name", "of_first", "of_both"),
    [
        ("Multiply", [5, 0, -2, 12], [0, -1, -2, 12]),
        ("Maximum", [5, 0, -2, -3], [5, -1, -2, -3]),
        ("Minimum", [5, -1, -2, -4], [5, -1, -2, -4]),
    ],
)
def test_what_is_masked_is_left_out(name, of_first, of_both):  # numbers of Keras 3.15
    first, second = ([[[5], [-1], [9], [-3]]], [[[5], [0], [-2], [-4]]])
    masks = [[[False, True, False, True]], [[False, False, True, True]]]
    for count, expected in ((1, of_first), (2, of_both)):
        inputs = [tf.constant(first), tf.constant(second)]
        for x, mask in zip(inputs[:count], masks, strict=False):
            x._keras_mask = tf.constant(mask)
        np.testing.assert_array_equal(getattr(layers, name)()(inputs)[0, :, 0], expected)


def test_a_mask_is_an_output_of_a_model():
    first, second = keras.Input((4, 2)), keras.Input((4, 2))
    y = layers.Concatenate(1)([layers.Masking()(first), second])
    x = np.float32([[[0, 0], [1, 2], [0, 0], [3, 4]]])
    mask = keras.Model([first, second], y._keras_mask)([x, x])
    np.testing.assert_array_equal(mask, [[False, True, False, True, True, True, True, True]])


def test_masks_of_softmax():
    y = layers.Softmax()(np.ones((1, 3), "float32"), mask=np.float32([[0.9, 0.4, 1]]))
    np.testing.assert_allclose(y, [[0.5, 0, 0.5]])
    for shape in ((2, 3), (1, 1, 3)):
        with pytest.raises(ValueError, match="a mask that broadcasts to the inputs of shape"):
            layers.Softmax()(np.ones((1, 3), "float32"), mask=np.ones(shape))


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (4,)}, {"batch_size": 5}, {"batch_shape": (2, 4)}, {"dtype": "float16"},
    ],
)  # fmt: skip
def test_arguments_that_contradict_the_tensor_of_an_input(arguments):
    with pytest.raises(ValueError, match=f"Input: expected {next(iter(arguments))}="):
        InputLayer(input_tensor=KerasTensor((2, 3)), **arguments)


def test_batch_sizes_given_twice():
    with pytest.raises(ValueError, match="batch_size or batch_shape, not both"):
        InputLayer(batch_size=4, batch_shape=(4, 3))
    with pytest.raises(ValueError, match="tensor: expected a KerasTensor, got ndarray"):
        InputLayer(input_tensor=np.zeros(3))
