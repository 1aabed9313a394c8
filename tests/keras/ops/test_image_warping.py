"""keras.ops.image: projective transforms and mapped coordinates, against loops and SciPy."""

import numpy as np
import pytest

import framework as tf
from framework import keras

image = keras.ops.image
RNG = np.random.default_rng(6)
X = np.float32(RNG.uniform(size=(2, 5, 7, 3)))
AFFINE = np.float32(
    [[0.96, -0.3, 1.3, 0.3, 0.96, -0.7, 0, 0], [1.1, 0.2, -9.5, 0.1, 0.8, 8.25, 0, 0]]
)
PERSPECTIVE = np.float32([[1.1, 0.1, -0.4, 0.05, 0.9, 0.3, 0.02, -0.01]])


def folded(i, n, mode):
    """The pixel that stands at position i of an axis, None beyond the image."""
    if mode == "reflect":
        i = i % (2 * n)
        return min(i, 2 * n - 1 - i)
    if mode == "mirror":
        i = i % (2 * n - 2)
        return min(i, 2 * n - 2 - i)
    if mode == "wrap":
        return i % n
    if mode == "nearest":
        return min(max(i, 0), n - 1)
    return i if 0 <= i < n else None


def at(x, place, mode, fill):
    """A pixel, or its linear interpolation between the pixels around the place."""
    total = 0.0
    lower = np.floor(place).astype(int)
    for corner in np.ndindex(*(2,) * len(place)):
        share = np.prod([t if c else 1 - t for c, t in zip(corner, place - lower)])
        index = [folded(i, n, mode) for i, n in zip(lower + corner, x.shape)]
        total = total + share * (fill if None in index else x[tuple(index)])
    return total


def by_loop(x, transforms, mode, fill):
    """Bilinear reading where `mode` moves coordinates: inside the image, or constant."""
    y = np.zeros(x.shape)
    for b, i, j in np.ndindex(x.shape[:3]):
        t = np.float64(transforms[b % len(transforms)])
        k = t[6] * j + t[7] * i + 1
        place = np.array([t[3:6] @ [j, i, 1], t[0:3] @ [j, i, 1]]) / k
        if mode == "nearest":
            place = np.clip(place, 0, np.array(x.shape[1:3]) - 1)
        for c in range(x.shape[3]):
            y[b, i, j, c] = at(x[b, ..., c], place, "constant", fill)
    return y


@pytest.mark.parametrize("transforms", [AFFINE, PERSPECTIVE])
@pytest.mark.parametrize("mode", ["constant", "nearest"])
def test_affine(transforms, mode):
    expected = by_loop(X, transforms, mode, 0.5)
    given = np.broadcast_to(transforms, (2, 8))
    f = tf.function(lambda: image.affine_transform(X, given, "bilinear", mode, 0.5))
    for _ in range(3):
        np.testing.assert_allclose(f().numpy(), expected, atol=3e-6)
    one = image.affine_transform(X[0], transforms[0], fill_mode=mode, fill_value=0.5)
    np.testing.assert_allclose(one.numpy(), expected[0], atol=3e-6)
    first = image.affine_transform(
        X.transpose(0, 3, 1, 2), given, "bilinear", mode, 0.5, data_format="channels_first"
    )
    np.testing.assert_allclose(first.numpy().transpose(0, 2, 3, 1), expected, atol=3e-6)


ROW = np.arange(5.0).reshape(1, 1, 5, 1)  # 0 1 2 3 4
SHIFTS = {  # what TensorFlow reads at the coordinates shift, shift + 1, ...; a row of Keras each
    ("constant", -1.5): "9 4.5 0.5 1.5 2.5",
    ("nearest", 2.25): "2.25 3.25 4 4 4",
    ("reflect", -2.25): "1.25 0.25 0 0.75 1.75",
    ("reflect", 6): "3 2 1 0 0",
    ("wrap", -2.25): "2.75 3.75 4 0.75 1.75",
    ("wrap", 2.25): "2.25 3.25 0 0.25 1.25",
    ("wrap", 11): "1 2 3 4 0",
}


@pytest.mark.parametrize(("mode", "shift"), SHIFTS)
def test_beyond_the_image(mode, shift):
    t = [1.0, 0, shift, 0, 1, 0, 0, 0]
    for x, axis in ((ROW, 2), (ROW.transpose(0, 2, 1, 3), 1)):
        given = t if axis == 2 else [1.0, 0, 0, 0, 1, shift, 0, 0]
        y = image.affine_transform(x, given, "bilinear", mode, 9.0).numpy()
        np.testing.assert_allclose(y.ravel(), np.float64(SHIFTS[mode, shift].split()), atol=1e-6)


def test_the_nearest_pixel_is_away_from_zero():
    y = image.affine_transform(ROW, [1.0, 0, -1.5, 0, 1, 0, 0, 0], "nearest", fill_value=9).numpy()
    assert y.ravel().tolist() == [9, 9, 1, 2, 3]


def test_affine_where_the_projection_is_zero():
    y = image.affine_transform(ROW, [1.0, 0, 0, 0, 1, 0, -0.5, 0], fill_mode="wrap", fill_value=9)
    assert y.numpy().ravel()[2] == 9


def test_affine_of_integers_cuts_fractions_off():
    y = image.affine_transform(np.uint8(ROW + 1), [1.0, 0, 0.75, 0, 1, 0, 0, 0])
    assert y.dtype == "uint8"
    assert y.numpy().ravel().tolist() == [1, 2, 3, 4, 1]


@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect", "wrap"])
def test_slopes_of_affine_transforms(mode):
    away_from_kinks = np.float32([[1, 0, 2.4, 0, 1, -1.7, 0, 0]])
    with tf.GradientTape() as tape:
        x, t = tf.constant(X, "float64"), tf.constant(away_from_kinks)
        tape.watch([x, t])
        y = image.affine_transform(x, t, fill_mode=mode, fill_value=0.5)
        given = np.cos(np.arange(X.size)).reshape(X.shape)
        total = tf.reduce_sum(y * given)
    by_x, by_t = tape.gradient(total, [x, t])

    def change(dx, dt):
        ends = [
            image.affine_transform(x + s * dx, t + s * dt, fill_mode=mode, fill_value=0.5)
            for s in (1, -1)
        ]
        return np.sum((ends[0] - ends[1]).numpy() * given) / 2

    dx = RNG.normal(size=X.shape)
    assert np.sum(by_x.numpy() * dx) == pytest.approx(change(dx, 0 * t), abs=1e-5)
    for i in range(6):
        step = np.float32(np.eye(8)[i : i + 1] * 1e-3)
        assert by_t.numpy()[0, i] == pytest.approx(change(0 * dx, step) / 1e-3, abs=0.02)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.affine_transform(X, AFFINE, "bicubic"), "`interpolation` must be one of"),
        (lambda: image.affine_transform(X, AFFINE, fill_mode="mirror"), "`fill_mode` must be one"),
        (lambda: image.affine_transform(X[0, 0], AFFINE), "`images` must have rank 3"),
        (lambda: image.affine_transform(X, AFFINE[None]), "`transform` must have rank 1"),
        (lambda: image.affine_transform(X, AFFINE[:, :6]), r"\(2, 8\), eight numbers"),
        (lambda: image.affine_transform(X[0], AFFINE), r"\(1, 8\), eight numbers"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_unknown_sizes():
    images, transforms = keras.Input((None, None, 3)), keras.Input((8,))
    y = image.affine_transform(images, transforms)
    assert y.shape == (None, None, None, 3)
    model = keras.Model([images, transforms], y)
    expected = image.affine_transform(X, AFFINE).numpy()
    np.testing.assert_array_equal(model([X, AFFINE]).numpy(), expected)
