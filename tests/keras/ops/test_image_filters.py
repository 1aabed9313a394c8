"""keras.ops.image: blur, edges, similarity, patches, against loops and numbers of Keras."""

import itertools

import numpy as np
import pytest

import framework as tf
from framework import keras

image = keras.ops.image
RNG = np.random.default_rng(9)
X = np.float32(RNG.uniform(size=(2, 6, 7, 3)))
WAVES = np.float32(np.sin(np.arange(336) ** 1.3).reshape(2, 12, 14, 1) / 2 + 0.5)


def in_every_layout(f, x, axes=2):
    """The result for a batch; checked for plans, channels first and single images."""
    y = f(x).numpy()
    compiled = tf.function(f)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x).numpy(), y)
    first = f(np.moveaxis(x, -1, 1), data_format="channels_first").numpy()
    if first.ndim > axes + 1:
        first = np.moveaxis(first, 1, axes + 1)
    np.testing.assert_allclose(first, y, atol=1e-6)
    return y


def linear_slopes(f, x):
    """Check the slopes of a linear function by its adjoint."""
    with tf.GradientTape() as tape:
        v = tf.Variable(np.float64(x))
        y = f(v)
    given = RNG.normal(size=y.shape)
    slopes = tape.gradient(y, v, given).numpy()
    step = RNG.normal(size=x.shape)
    assert np.sum(slopes * step) == pytest.approx(np.sum(given * f(tf.constant(step)).numpy()))


def weighted(x, kernel, padding):
    y = 0
    wide = np.pad(x, ((0, 0), *padding, (0, 0)))
    for i, j in np.ndindex(kernel.shape):
        y = y + kernel[i, j] * wide[:, i : i + x.shape[1], j : j + x.shape[2]]
    return y


def gaussian(n, sigma):
    weights = np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / sigma) ** 2)
    return weights / weights.sum()


@pytest.mark.parametrize("size", [(3, 3), (5, 3), (4, 1)])
@pytest.mark.parametrize("sigma", [(1.0, 1.0), (0.5, 2.0)])
def test_blur(size, sigma):
    columns, rows = map(gaussian, size, sigma)
    padding = [((n - 1) // 2, n - 1 - (n - 1) // 2) for n in (size[1], size[0])]
    expected = weighted(X, np.outer(rows, columns), padding)

    def f(x, data_format=None):
        return image.gaussian_blur(x, size, sigma, data_format)

    np.testing.assert_allclose(in_every_layout(f, X), expected, atol=1e-6)
    np.testing.assert_allclose(f(X[1]).numpy(), expected[1], atol=1e-6)
    linear_slopes(f, X)


def test_blur_of_integers():
    x = np.uint8(X * 255)
    y = image.gaussian_blur(x)
    assert y.dtype == "uint8"
    exact = image.gaussian_blur(np.float64(x)).numpy()
    np.testing.assert_array_equal(y.numpy(), np.rint(exact))


def test_edges():
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    wide = np.pad(X, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    inner = (slice(None), slice(0, X.shape[1]), slice(0, X.shape[2]))
    expected = [weighted(wide, k, [(0, 2), (0, 2)])[inner] for k in (down, down.T)]
    y = in_every_layout(image.sobel_edges, X)
    np.testing.assert_allclose(y, np.stack(expected, axis=-1), atol=1e-5)
    linear_slopes(image.sobel_edges, X)


SSIM = [  # Keras 3.15 on TensorFlow, of WAVES and WAVES[::-1] ** 2
    ({}, [0.116628, 0.097766]),
    ({"max_val": 2.0, "filter_size": 7, "filter_sigma": 1.0}, [0.030080, -0.001919]),
    ({"filter_size": 5, "k1": 0.1, "k2": 0.2}, [0.093091, 0.078597]),
]


@pytest.mark.parametrize(("arguments", "expected"), SSIM)
def test_similarity(arguments, expected):
    def f(x, data_format=None):
        return image.ssim(x, x[::-1] ** 2, **arguments, data_format=data_format)

    np.testing.assert_allclose(in_every_layout(f, WAVES), expected, atol=2e-5)
    one = image.ssim(WAVES[0], WAVES[1] ** 2, **arguments)
    assert one.shape == ()
    assert float(one) == pytest.approx(expected[0], abs=2e-5)


def test_slopes_of_similarity():
    x, y = np.float64(WAVES), tf.constant(WAVES[::-1] ** 2, "float64")
    with tf.GradientTape() as tape:
        v = tf.Variable(x)
        total = tf.reduce_sum(image.ssim(v, y, filter_size=7))
    step = RNG.normal(size=x.shape)
    ends = [np.sum(image.ssim(x + h * step, y, filter_size=7).numpy()) for h in (1e-6, -1e-6)]
    slope = np.sum(tape.gradient(total, v).numpy() * step)
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4)
    whole = np.uint8(WAVES * 255)
    assert image.ssim(whole, whole, 255).numpy().tolist() == [1, 1]


def patches_by_loop(x, size, strides, dilations, same):
    axes = range(len(size))
    spatial = x.shape[1:-1]
    if same:
        places = [-(-n // s) for n, s in zip(spatial, strides)]
        need = [
            max((m - 1) * s + (k - 1) * d + 1 - n, 0)
            for m, s, k, d, n in zip(places, strides, size, dilations, spatial)
        ]
        x = np.pad(x, [(0, 0), *((p // 2, p - p // 2) for p in need), (0, 0)])
    else:
        places = [
            (n - (k - 1) * d - 1) // s + 1 for n, s, k, d in zip(spatial, strides, size, dilations)
        ]
    y = np.zeros((len(x), *places, np.prod(size) * x.shape[-1]), x.dtype)
    for place in np.ndindex(*places):
        cells = itertools.product(*(range(size[a]) for a in axes))
        at = [tuple(place[a] * strides[a] + c[a] * dilations[a] for a in axes) for c in cells]
        y[(slice(None), *place)] = np.concatenate([x[(slice(None), *i)] for i in at], axis=-1)
    return y


VOLUMES = np.float32(RNG.uniform(size=(2, 5, 4, 6, 2)))
PATCHES = [
    (X, (3, 3), None, 1, "valid"), (X, (2, 3), (1, 1), 1, "same"), (X, (2, 2), (2, 1), 1, "valid"),
    (X, (2, 2), (1, 1), (2, 3), "same"), (X, (3, 2), None, 1, "same"),
    (VOLUMES, (2, 2, 3), None, 1, "valid"), (VOLUMES, (2, 1, 2), (1, 2, 1), 1, "same"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "size", "strides", "dilation", "padding"), PATCHES)
def test_patches(x, size, strides, dilation, padding):
    every = tuple(np.broadcast_to(dilation, len(size)))
    expected = patches_by_loop(x, size, strides or size, every, padding == "same")

    def f(x, data_format=None):
        return image.extract_patches(x, size, strides, dilation, padding, data_format)

    np.testing.assert_array_equal(in_every_layout(f, x, len(size)), expected)
    np.testing.assert_array_equal(f(x[0]).numpy(), expected[0])
    linear_slopes(f, x)
    if len(size) == 3:
        y = image.extract_patches_3d(x, size, strides, dilation, padding)
        np.testing.assert_array_equal(y.numpy(), expected)


def test_patches_of_integers_and_one_size():
    whole = np.uint8(X * 255)
    y = image.extract_patches(whole, 2)
    assert (y.dtype, y.shape.as_list()) == ("uint8", [2, 3, 3, 12])
    assert image.extract_patches_3d(VOLUMES, 2).shape == (2, 2, 2, 3, 16)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.gaussian_blur(X, (3, 0)), "`kernel_size` must be two positive"),
        (lambda: image.gaussian_blur(X, 3), "`kernel_size` must be two positive"),
        (lambda: image.gaussian_blur(X, (3, 3), (0.0, 1.0)), "`sigma` must be two positive"),
        (lambda: image.sobel_edges(X[0]), "rank 4"),
        (lambda: image.sobel_edges(np.uint8(X)), "Cast them first"),
        (lambda: image.ssim(X, X), "at least 11 x 11 pixels"),
        (lambda: image.extract_patches(X, (2,)), "2 or 3 numbers"),
        (lambda: image.extract_patches(X, "2"), "an int or a tuple"),
        (lambda: image.extract_patches(X[0, 0], 2), "rank 3 or 4"),
        (lambda: image.extract_patches(X, 2, padding="full"), "'valid' or 'same'"),
        (lambda: image.extract_patches_3d(VOLUMES, (2, 2)), "a positive int or 3 of them"),
        (lambda: image.extract_patches(X, 2, strides=(1, 0)), "`strides` must be a positive int"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
