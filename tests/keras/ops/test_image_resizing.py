"""keras.ops.image: resizing, padding, cropping, against formulas and numbers of Keras."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from tests.samples.ops.resampling import weights

image = keras.ops.image
RNG = np.random.default_rng(4)
X = np.float32(RNG.uniform(size=(2, 5, 7, 3)))
WAVES = np.float32(np.sin(np.arange(35) ** 1.3).reshape(1, 5, 7, 1))
BYTES = np.uint8(RNG.integers(0, 256, (2, 5, 7, 3)))


def by_matrices(x, size, method, antialias=False):
    rows, columns = (weights(n, m, method, antialias) for n, m in zip(x.shape[1:3], size))
    return np.einsum("ih,bhwc,jw->bijc", rows, np.float64(x), columns)


METHODS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(8, 4), (3, 11), (5, 2)])
def test_resized(method, size):
    expected = by_matrices(X, size, method)
    x = tf.Variable(X)
    f = tf.function(lambda: image.resize(x, size, method))
    with tf.GradientTape() as tape:
        y = image.resize(x, size, method)
    np.testing.assert_allclose(y.numpy(), expected, atol=2e-6)
    for _ in range(3):
        np.testing.assert_array_equal(f().numpy(), y.numpy())
    given = np.float32(RNG.normal(size=y.shape))  # the slope is that of the transposed matrices
    slopes = tape.gradient(y, x, given).numpy()
    assert np.sum(slopes * X) == pytest.approx(np.sum(given * expected), rel=1e-4, abs=1e-4)
    first = image.resize(X.transpose(0, 3, 1, 2), size, method, data_format="channels_first")
    np.testing.assert_array_equal(first.numpy().transpose(0, 2, 3, 1), y.numpy())
    np.testing.assert_array_equal(image.resize(X[0], size, method).numpy(), y.numpy()[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float64"])
def test_dtypes(method, dtype):
    y = image.resize(tf.constant(BYTES, dtype), (7, 4), method)
    assert y.dtype == dtype
    expected = by_matrices(BYTES, (7, 4), method)
    limits = (0, 255) if dtype == "uint8" else (-1e9, 1e9)
    atol = 0.51 if "int" in dtype else 0.15
    np.testing.assert_allclose(y.numpy(), np.clip(expected, *limits), atol=atol)


KERAS = {  # WAVES in size (3, 4), by Keras 3.15 on TensorFlow, bicubic without antialias on JAX
    ("nearest", False): """0.0000 0.6283 -0.2185 -0.7485 -0.4928 -0.8080 -0.9094 -0.9071 0.6349
        0.9996 0.5618 -0.5160""",
    ("bilinear", False): """0.2947 0.0427 -0.3248 -0.0063 -0.0504 -0.5975 -0.6862 -0.2226 0.1230
        0.6897 0.3197 -0.2929""",
    ("bilinear", True): """0.3282 0.0918 -0.0955 0.0717 0.0854 -0.0371 -0.0252 -0.0705 0.0612 0.0740
        0.0208 -0.2166""",
    ("bicubic", False): """0.2926 0.0980 -0.3591 -0.0289 -0.0516 -0.7259 -0.8354 -0.2443 0.1336
        0.8969 0.4335 -0.3443""",
    ("bicubic", True): """0.3629 0.0826 -0.1164 0.1006 0.0756 -0.0462 0.0045 -0.0756 0.0615 0.0435
        0.0312 -0.2202""",
    ("lanczos3", False): """0.3175 0.0840 -0.3828 0.0131 0.0206 -0.7191 -0.8494 -0.1634 0.0584
        0.9699 0.4281 -0.3907""",
    ("lanczos5", True): """0.4031 0.0742 -0.1327 0.1476 0.0317 -0.0543 0.0658 -0.1178 0.1446 -0.0686
        0.0822 -0.1955""",
    ("area", True): """0.3330 0.0558 -0.1557 0.0673 0.0966 -0.0841 -0.0874 -0.0744 0.0499 0.1650
        0.0428 -0.2622""",
}


@pytest.mark.parametrize(("method", "antialias"), KERAS)
def test_numbers_of_keras(method, antialias):
    y = image.resize(WAVES, (3, 4), method, antialias=antialias).numpy()
    np.testing.assert_allclose(y.ravel(), np.float64(KERAS[method, antialias].split()), atol=1e-4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.resize(X, (3,)), "`size` must be two positive ints"),
        (lambda: image.resize(X, (3, 0)), "`size` must be two positive ints"),
        (lambda: image.resize(X[0, 0], (3, 3)), "rank 3"),
        (lambda: image.resize(X, (3, 3), "cubic"), "`interpolation` must be one of 'bilinear'"),
        (lambda: image.resize(X, (3, 3), fill_mode="wrap"), "`fill_mode`"),
        (lambda: image.resize(X, (3, 3), data_format="last"), "`data_format`"),
        (
            lambda: image.resize(X, (3, 3), crop_to_aspect_ratio=True, pad_to_aspect_ratio=True),
            "only one of",
        ),
        (lambda: image.crop_images(X, 1, 1, 1), "exactly two of `left_cropping`"),
        (lambda: image.crop_images(X, 1, 1, 1, 1, 3), "exactly two of `top_cropping`"),
        (lambda: image.crop_images(X, 1, -1, 1, 1), "`left_cropping` must not be negative"),
        (lambda: image.crop_images(X, 3, 1, 3, 1), "do not fit images with 5 pixels"),
        (lambda: image.pad_images(X, 1, 1, target_height=5, target_width=9), "do not fit"),
        (lambda: image.pad_images(X[0, 0], 1, 1, 1, 1), "rank 3"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_integers_halfway_round_as_in_tensorflow():
    """Exact weights would round 4 of these pixels otherwise."""
    x = (np.arange(64).reshape(1, 8, 8, 1) ** 2 * 7 % 256).astype("uint8")
    y = image.resize(x, (13, 7)).numpy().astype(int).ravel()
    assert np.sum(y * np.arange(1, 92)) == 591479  # by Keras on TensorFlow


SCALED = {  # WAVES to (3, 4), scales 0.6 and 0.5, shifts 0.4 and -0.3, by Keras on TensorFlow
    ("linear", True): """0.4567 -0.2312 0.1697 0 0.1142 -0.0096 0.0226 0 -0.0074 -0.0161 -0.0265
        0""",
    ("cubic", True): """0.5411 -0.2781 0.1699 0 0.0933 -0.0243 0.0151 0 0.0024 -0.0016 -0.0518
        0""",
    ("lanczos3", True): """0.5438 -0.2667 0.1519 0 0.1054 -0.0481 0.0206 0 -0.0044 0.0267 -0.0772
        0""",
    ("lanczos5", False): """1.0611 -1.2471 1.0263 0 0.6009 1.3262 0.4446 0 -0.7851 -0.5954 -0.1041
        0""",
    ("linear", False): """0.8201 -0.7932 0.7973 0 0.5347 0.7309 0.3528 0 -0.6565 -0.4494 -0.0464
        0""",
}


@pytest.mark.parametrize(("method", "antialias"), SCALED)
def test_scaled_and_translated(method, antialias):
    def f(x, scale, shift):
        shape = (*x.shape[:1], 3, 4, *x.shape[3:])
        return image.scale_and_translate(x, shape, scale, shift, (1, -2), method, antialias)

    given = WAVES, np.float32([0.6, 0.5]), np.float32([0.4, -0.3])
    expected = np.float64(SCALED[method, antialias].split())
    compiled = tf.function(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(*given).numpy().ravel(), expected, atol=1e-4)
    weights = np.cos(np.arange(12)).reshape(1, 3, 4, 1)
    arrays = [np.float64(a) for a in given]
    arrays[1] += 0.01  # away from the kinks of the linear kernel
    with tf.GradientTape() as tape:
        variables = [tf.Variable(a) for a in arrays]
        total = tf.reduce_sum(f(*variables) * weights)
    for i, slopes in enumerate(tape.gradient(total, variables)):
        steps = [RNG.normal(size=a.shape) * 1e-6 * (i == k) for k, a in enumerate(arrays)]
        ends = [f(*(a + s * d for a, d in zip(arrays, steps))).numpy() for s in (1, -1)]
        change = np.sum((ends[0] - ends[1]) * weights) / 2
        assert np.sum(slopes.numpy() * steps[i]) == pytest.approx(change, rel=1e-4, abs=1e-11)


def test_scaled_integers_stay_in_range():
    scale, shift = np.float32([1.3, 0.6]), np.float32([0.4, -0.3])
    y = image.scale_and_translate(BYTES, (2, 7, 4, 3), scale, shift, (1, 2), "cubic")
    assert y.dtype == "uint8"
    assert y.numpy().min() >= BYTES.min()
    with pytest.raises(ValueError, match="must have 2 numbers"):
        image.scale_and_translate(X, (2, 7, 4, 3), [1.0], [0.0], (1, 2), "cubic")
    with pytest.raises(ValueError, match="`method` must be one of 'linear'"):
        image.scale_and_translate(X, (2, 7, 4, 3), scale, shift, (1, 2), "area")


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_cropped_and_padded(first, single):
    x = X.transpose(0, 3, 1, 2) if first else X
    x = x[0] if single else x
    layout = {"data_format": "channels_first" if first else "channels_last"}
    spatial = (slice(1, 4), slice(2, 6))
    index = (Ellipsis, *spatial) if first else (Ellipsis, *spatial, slice(None))
    expected = x[index]
    for given in (
        {"top_cropping": 1, "left_cropping": 2, "bottom_cropping": 1, "right_cropping": 1},
        {"top_cropping": 1, "left_cropping": 2, "target_height": 3, "target_width": 4},
        {"bottom_cropping": 1, "right_cropping": 1, "target_height": 3, "target_width": 4},
    ):
        np.testing.assert_array_equal(image.crop_images(x, **given, **layout).numpy(), expected)
    widths = [(0, 0)] * (x.ndim - 3) + [(1, 1), (2, 1)]
    widths.insert(len(widths) - 2 if first else len(widths), (0, 0))
    for given in (
        {"top_padding": 1, "left_padding": 2, "bottom_padding": 1, "right_padding": 1},
        {"top_padding": 1, "left_padding": 2, "target_height": 5, "target_width": 7},
        {"bottom_padding": 1, "right_padding": 1, "target_height": 5, "target_width": 7},
    ):
        y = image.pad_images(tf.constant(expected), **given, **layout)
        np.testing.assert_array_equal(y.numpy(), np.pad(expected, widths))


@pytest.mark.parametrize("size", [(4, 4), (10, 6), (3, 9), (2, 9)])
def test_proportions(size):
    height, width = 5, 7
    tall, wide = width * size[0] // size[1], height * size[1] // size[0]
    h, w = min(height, tall), min(width, wide)
    top, left = (height - h) // 2, (width - w) // 2
    cut = X[:, top : top + h, left : left + w]
    y = image.resize(X, size, crop_to_aspect_ratio=True)
    np.testing.assert_allclose(y.numpy(), by_matrices(cut, size, "bilinear"), atol=1e-6)
    margins = [max(n - old, 0) // 2 for n, old in ((tall, height), (wide, width))]
    framed = np.pad(X, ((0, 0), *((m, m) for m in margins), (0, 0)), constant_values=0.5)
    y = image.resize(X, size, pad_to_aspect_ratio=True, fill_value=0.5)
    np.testing.assert_allclose(y.numpy(), by_matrices(framed, size, "bilinear"), atol=1e-6)


def test_unknown_sizes():
    inputs = keras.Input((None, None, 3))
    y = image.resize(image.crop_images(inputs, 1, 1, 0, 0), (4, 4))
    assert y.shape == (None, 4, 4, 3)
    model = keras.Model(inputs, y)
    expected = image.resize(X[:, 1:, 1:], (4, 4)).numpy()
    np.testing.assert_array_equal(model(X).numpy(), expected)


@pytest.mark.parametrize("size", [(4, 4), (3, 9)])
def test_smart_resize(size):
    f = keras.preprocessing.image.smart_resize
    expected = image.resize(X, size, crop_to_aspect_ratio=True).numpy()
    y = f(X, size)
    assert type(y) is np.ndarray
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(f(tf.constant(X[0]), size).numpy(), expected[0])
    first = f(X.transpose(0, 3, 1, 2), size, data_format="channels_first")
    np.testing.assert_array_equal(first.transpose(0, 2, 3, 1), expected)
    floats = f(BYTES, size)
    assert floats.dtype == np.float32
    assert f(BYTES, size, "nearest").dtype == np.uint8
    np.testing.assert_array_equal(f(np.float32(BYTES), size), floats)
    with pytest.raises(TypeError, match="unexpected arguments factor"):
        f(X, size, factor=2)
