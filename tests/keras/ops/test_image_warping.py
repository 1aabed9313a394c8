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
SHIFTS = {  # what Keras on JAX reads at the coordinates shift, shift + 1, ...
    ("constant", -1.5): "9 4.5 0.5 1.5 2.5",
    ("nearest", 2.25): "2.25 3.25 4 4 4",
    ("reflect", -2.25): "1.25 0.25 0 0.75 1.75",
    ("reflect", 6): "3 2 1 0 0",
    ("wrap", -2.25): "2.75 3.75 1 0.75 1.75",
    ("wrap", 2.25): "2.25 3.25 3 0.25 1.25",
    ("mirror", -2.25): "2.25 1.25 0.25 0.75 1.75",
    ("mirror", 6): "2 1 0 1 2",
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


# ---- perspective ---------------------------------------------------------------------------------

WAVES = np.float32(np.sin(np.arange(35) ** 1.3).reshape(1, 5, 7, 1)[:, :3, :4])
START = np.float32([[0, 0], [0, 5], [7, 0], [7, 5]])
END = np.float32([[0.3, 0.5], [0.7, 5], [6, -1], [8, 6.1]])
KERAS = {  # of WAVES with fill_value=0.7, by Keras 3.15 on TensorFlow
    "nearest": """0.7000 0.8415 -0.8571 0.7000 0.7000 0.7029 0.8926 0.7000 0.7000 0.6870 -0.8080
        0.7000""",
    "bilinear": """0.6101 0.7498 -0.4468 0.7000 0.4482 0.5749 0.0959 0.7351 0.4772 0.6251 -0.1386
        0.7595""",
}


@pytest.mark.parametrize("interpolation", KERAS)
def test_perspective(interpolation):
    expected = np.float64(KERAS[interpolation].split()).reshape(WAVES.shape)

    def f(x, start, end, data_format=None):
        return image.perspective_transform(x, start, end, interpolation, 0.7, data_format)

    compiled = tf.function(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(WAVES, START, END).numpy(), expected, atol=1e-4)
    np.testing.assert_allclose(f(WAVES[0], START, END).numpy(), expected[0], atol=1e-4)
    first = f(WAVES.transpose(0, 3, 1, 2), START, END, "channels_first").numpy()
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), expected, atol=1e-4)
    two = f(np.repeat(WAVES, 2, 0), np.stack([START, START]), np.stack([END, START])).numpy()
    np.testing.assert_allclose(two, np.concatenate([expected, WAVES]), atol=1e-4)


def test_slopes_of_perspectives():
    given = np.cos(np.arange(WAVES.size)).reshape(WAVES.shape)

    def f(start, end):
        y = image.perspective_transform(tf.constant(WAVES, "float64"), start, end)
        return tf.reduce_sum(y * given)

    for i in (0, 1):
        points = [tf.constant(START + 0.05), tf.constant(END)]
        with tf.GradientTape() as tape:
            tape.watch(points)
            total = f(*points)
        slope = tape.gradient(total, points)[i].numpy()[1, 0]
        step = np.float32(np.zeros((4, 2)))
        step[1, 0] = 2e-3
        ends = [f(*(p + s * step if k == i else p for k, p in enumerate(points))) for s in (1, -1)]
        assert slope == pytest.approx(float(ends[0] - ends[1]) / 4e-3, abs=0.02)


# ---- mapped coordinates --------------------------------------------------------------------------

MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [(4, 5), (3, 2, 4), (6,)])
def test_mapped_coordinates(mode, order, shape):
    x = RNG.uniform(size=shape)
    places = RNG.uniform(-9, 9, (len(shape), 3, 4))
    rounded = np.rint(places) if order == 0 else places
    expected = [at(x, rounded[(slice(None), *i)], mode, 0.3) for i in np.ndindex(3, 4)]

    def f(x, places):
        return image.map_coordinates(x, places, order, mode, 0.3)

    with tf.GradientTape() as tape:
        v, p = tf.Variable(x), tf.Variable(places)
        y = f(v, p)
    np.testing.assert_allclose(y.numpy().ravel(), expected, atol=1e-12)
    np.testing.assert_array_equal(tf.function(f)(x, places).numpy(), y.numpy())
    given = RNG.normal(size=y.shape)
    by_x, by_places = tape.gradient(y, [v, p], given)
    step = RNG.normal(size=shape)
    change = np.sum(given * (f(x + step, places) - f(x - step, places)).numpy()) / 2
    assert np.sum(by_x.numpy() * step) == pytest.approx(change)
    if order == 0:
        assert by_places is None
    else:
        step = RNG.normal(size=places.shape) * 1e-7
        change = np.sum(given * (f(x, places + step) - f(x, places - step)).numpy()) / 2
        assert np.sum(by_places.numpy() * step) == pytest.approx(change, rel=1e-5)


def test_mapped_coordinates_of_integers_and_invalid_places():
    y = image.map_coordinates(np.uint8([10, 20, 31]), [[0.56, 1.5]], 1)
    assert (y.dtype, y.numpy().tolist()) == ("uint8", [16, 26])
    for mode in MODES:
        y = image.map_coordinates([1.0, 2.0], [[np.nan, np.inf, -np.inf, 0.0]], 0, mode)
        assert y.numpy()[3] == 1
    with pytest.raises(NotImplementedError, match="`order` must be 0 or 1"):
        image.map_coordinates([1.0, 2.0], [[0.0]], 2)


# ---- elastic transforms --------------------------------------------------------------------------


def test_elastic_transform():
    x = np.broadcast_to(np.float32(np.indices((20, 30))).transpose(1, 2, 0), (2, 20, 30, 2))
    f = image.elastic_transform
    y = f(x, alpha=3.0, sigma=2.0, seed=5).numpy()
    np.testing.assert_array_equal(f(x, alpha=3.0, sigma=2.0, seed=5).numpy(), y)
    moved = (y - x)[:, 8:12, 8:22]  # each channel is a coordinate, so this is the displacement
    assert 0.05 < np.std(moved) < 5
    assert np.abs(np.diff(moved, axis=2)).max() < 1.5  # it is smooth
    assert abs(np.corrcoef(moved[..., 0].ravel(), moved[..., 1].ravel())[0, 1]) < 0.9
    assert np.abs(moved[0] - moved[1]).max() > 0.01  # and another one in each image
    first = f(x.transpose(0, 3, 1, 2), 3.0, 2.0, seed=5, data_format="channels_first").numpy()
    np.testing.assert_array_equal(first.transpose(0, 2, 3, 1), y)
    np.testing.assert_array_equal(f(x, alpha=0.0, sigma=2.0).numpy(), x)
    assert f(np.uint8(x[0]), seed=1).dtype == "uint8"
    assert not np.array_equal(f(x).numpy(), f(x).numpy())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.perspective_transform(X, START[:3], END), "`start_points` must have shape"),
        (lambda: image.perspective_transform(X, START, END[None]), "must have the same shape"),
        (lambda: image.map_coordinates(X, X, 1), "`coordinates` must have shape"),
        (lambda: image.map_coordinates(X, X, 1, "mirrored"), "`fill_mode` must be one of"),
        (lambda: image.elastic_transform(X, fill_mode="mirrored"), "`fill_mode` must be one of"),
        (lambda: image.elastic_transform(X, interpolation="area"), "`interpolation` must be one"),
        (lambda: image.affine_transform(X, AFFINE, "bicubic"), "`interpolation` must be one of"),
        (lambda: image.affine_transform(X, AFFINE, fill_mode="edge"), "`fill_mode` must be one"),
        (lambda: image.affine_transform(X[0, 0], AFFINE), "`images` must have rank 3"),
        (lambda: image.affine_transform(X, AFFINE[None]), "`transform` must have rank 1"),
        (lambda: image.affine_transform(X, AFFINE[:, :6]), "one for each of the 2"),
        (lambda: image.affine_transform(X[0], AFFINE), "one for each of the 1"),
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
