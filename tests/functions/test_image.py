"""tf.image beyond the values of tests/surface/image.py: slopes, dtypes, other arguments, errors."""

import numpy as np
import pytest

import framework as tf
from tests.surface.image import BOXES, BYTES, LARGE, LARGER, X, Y, waves

image = tf.image
RNG = np.random.default_rng(3)
DIFFERENTIABLE = {
    "adjust_brightness": (X, 0.2),
    "adjust_contrast": (X, 1.7),
    "adjust_gamma": (X + 0.1, 2.2, 0.9),
    "adjust_hue": (X, 0.2),
    "adjust_saturation": (X, 0.6),
    "central_crop": (X, 0.6),
    "crop_and_resize": (X, BOXES, [1, 0], [4, 3]),
    "crop_to_bounding_box": (X, 1, 2, 3, 4),
    "extract_glimpse": (X, [3, 4], BOXES[:, :2], True, True, "zero"),
    "extract_patches": (X, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    "flip_up_down": (X,),
    "grayscale_to_rgb": (LARGER,),
    "hsv_to_rgb": (X,),
    "pad_to_bounding_box": (X, 1, 2, 8, 10),
    "per_image_standardization": (X,),
    "psnr": (X, Y, 1.0),
    "resize": (X, [8, 4], "mitchellcubic"),
    "resize_with_pad": (X, 6, 6),
    "rgb_to_grayscale": (X,),
    "rgb_to_hsv": (np.float32(X * 0.2 + [0.1, 0.7, 0.4]),),  # away from ties and hue 0
    "rgb_to_yiq": (X,),
    "rot90": (X, 3),
    "sobel_edges": (X,),
    "ssim": (LARGE, LARGE[::-1] * 0.9, 1.0),
    "ssim_multiscale": (LARGER, LARGER**2, 1.0, [0.4, 0.6], 5),
    "total_variation": (X,),
    "yuv_to_rgb": (X,),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_slopes(name):
    x, *rest = DIFFERENTIABLE[name]
    f = getattr(image, name)
    with tf.GradientTape() as tape:
        v = tf.Variable(x)
        y = f(v, *rest)
    given = np.float32(RNG.normal(size=y.shape))
    slopes = np.float64(tape.gradient(y, v, given).numpy())
    step = np.float32(RNG.normal(size=x.shape) * 1e-3)
    ends = [np.float64(f(x + s * step, *rest).numpy()) for s in (1, -1)]
    change = np.sum(given * (ends[0] - ends[1])) / 2
    scale = np.abs(slopes * step).sum()
    assert np.sum(slopes * step) == pytest.approx(change, abs=0.01 * scale)


def test_slopes_by_boxes():
    inner = np.float32([[0.05, 0.1, 0.93, 0.81]])
    with tf.GradientTape() as tape:
        v = tf.Variable(inner)
        y = image.crop_and_resize(X, v, [1], [4, 3])
    given = np.float32(RNG.normal(size=y.shape))
    slopes = tape.gradient(y, v, given).numpy()[0]
    for k in range(4):
        step = np.float32(np.eye(4)[k] * 1e-3)
        ends = [image.crop_and_resize(X, inner + s * step, [1], [4, 3]).numpy() for s in (1, -1)]
        assert slopes[k] == pytest.approx(np.sum(given * (ends[0] - ends[1])) / 2e-3, abs=0.02)


# ---- dtypes --------------------------------------------------------------------------------------

CONVERTED = [  # by TensorFlow
    ([0, 100, 255], "uint8", "uint16", [0, 25600, 65280]),
    ([0, 100, 255], "uint8", "int8", [0, 50, 127]),
    ([-100, 0, 127], "int8", "uint8", [56, 0, 254]),
    ([0, 1000, 32767], "int16", "uint8", [0, 7, 255]),
    ([-3, 1000, 32767], "int16", "int32", [-196608, 65536000, 2147418112]),
    ([0, 51, 255], "uint8", "float32", [0.0, 0.2, 1.0]),
    ([0.0, 0.2, 0.999, 1.0], "float32", "uint8", [0, 51, 255, 255]),
    ([0.0, 0.5, 1.0], "float64", "int16", [0, 16383, 32767]),
    ([0.1, 0.7], "float64", "float16", [0.1, 0.7]),
]


@pytest.mark.parametrize(("x", "old", "new", "expected"), CONVERTED)
def test_converted_dtypes(x, old, new, expected):
    y = image.convert_image_dtype(tf.constant(x, old), new)
    assert y.dtype == new
    np.testing.assert_allclose(y.numpy(), np.array(expected, new), rtol=1e-6)


def test_saturation_and_errors_of_conversion():
    y = image.convert_image_dtype([-1.0, 0.5, 3.0], tf.uint8, saturate=True)
    assert y.numpy().tolist() == [0, 127, 255]
    with pytest.raises(AttributeError, match="integer or floating dtype, got bool"):
        image.convert_image_dtype([True], tf.uint8)


@pytest.mark.parametrize("name", ["adjust_brightness", "adjust_contrast", "adjust_saturation"])
def test_integers_are_changed_as_floats(name):
    f = getattr(image, name)
    y = f(BYTES, 0.3)
    expected = np.clip(f(np.float32(BYTES) / 255, 0.3).numpy(), 0, 1) * 255.5
    assert y.dtype == "uint8"
    assert np.abs(y.numpy() - np.floor(expected)).max() <= 1


# ---- other arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(-1, 6))
def test_quarter_turns(k):
    np.testing.assert_array_equal(image.rot90(X, k).numpy(), np.rot90(X, k, (1, 2)))
    np.testing.assert_array_equal(image.rot90(X[0], k).numpy(), np.rot90(X[0], k))


def test_single_images():
    for f in (image.flip_left_right, image.flip_up_down, image.transpose):
        np.testing.assert_array_equal(f(X[1]).numpy(), f(X).numpy()[1])
    for f, args in (
        (image.central_crop, (0.5,)), (image.resize, ((3, 4), "area")),
        (image.resize_with_pad, (4, 9)), (image.resize_with_crop_or_pad, (9, 4)),
        (image.crop_to_bounding_box, (1, 1, 2, 3)), (image.pad_to_bounding_box, (1, 1, 8, 9)),
        (image.total_variation, ()), (image.per_image_standardization, ()),
    ):  # fmt: skip
        np.testing.assert_allclose(f(X[1], *args).numpy(), f(X, *args).numpy()[1], rtol=1e-5)


@pytest.mark.parametrize("size", [(3, 4), (8, 9), (4, 10), (9, 3)])
def test_cropped_or_padded(size):
    y = image.resize_with_crop_or_pad(X, *size).numpy()
    expected = X
    for axis, new in zip((1, 2), size):
        old = X.shape[axis]
        low = (max(old - new, 0)) // 2
        expected = np.take(expected, range(low, low + min(old, new)), axis)
        room = max(new - old, 0)
        widths = [(room // 2, room - room // 2) if a == axis else (0, 0) for a in range(4)]
        expected = np.pad(expected, widths)
    np.testing.assert_array_equal(y, expected)


def test_resize_keeps_proportions_and_nearest_keeps_dtypes():
    assert image.resize(X, (4, 20), preserve_aspect_ratio=True).shape == (2, 4, 6, 3)
    assert image.resize(BYTES, (3, 3), "nearest").dtype == "uint8"
    assert image.resize(BYTES, (3, 3)).dtype == "float32"
    assert image.resize(np.float64(X), (5, 7)).dtype == "float32"
    np.testing.assert_array_equal(image.resize(X, (5, 7), "bicubic").numpy(), X)
    assert np.abs(image.resize(X, (5, 7), "gaussian").numpy() - X).max() > 0.1


def test_map_of_similarity():
    index = image.ssim(LARGE, LARGE**2, 1.0, 7, return_index_map=True)
    assert index.shape == (2, 7, 8)
    mean = image.ssim(LARGE, LARGE**2, 1.0, 7).numpy()
    np.testing.assert_allclose(index.numpy().mean((1, 2)), mean, rtol=1e-5)
    assert image.psnr(X, X, 1.0).numpy().tolist() == [np.inf] * 2
    many = image.ssim(LARGE[:, None], LARGE[None], 1.0)  # leading axes broadcast
    assert many.shape == (2, 2)
    np.testing.assert_allclose(np.diag(many.numpy()), [1, 1], rtol=1e-6)


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_glimpses_beyond_the_image_are_noise(noise):
    far = [[5.0, 5.0], [0.0, 0.0]]
    y = image.extract_glimpse(X, [4, 4], far, noise=noise).numpy()
    assert np.std(y[0]) > 0.1
    np.testing.assert_array_equal(y[1], X[1, 0:4, 1:5])


def test_draws_differ_and_follow_from_seeds():
    x = waves(1, 1, 6, 1)
    found = {image.random_flip_left_right(x[0]).numpy().tobytes() for _ in range(40)}
    assert len(found) == 2
    batch = np.repeat(x, 64, 0)
    count = (image.random_flip_left_right(batch).numpy() == batch).all((1, 2, 3)).sum()
    assert 12 < count < 52  # each image for itself
    tf.random.set_seed(1)
    first = image.random_crop(LARGE, [2, 3, 3, 2], seed=4).numpy()
    tf.random.set_seed(1)
    np.testing.assert_array_equal(image.random_crop(LARGE, [2, 3, 3, 2], seed=4).numpy(), first)
    changed = tf.function(lambda x: image.random_brightness(x, 0.3))
    assert len({float(changed(X)[0, 0, 0, 0]) for _ in range(5)}) == 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.flip_left_right(X[0, 0]), "rank 3"),
        (lambda: image.rot90(np.zeros((0, 3, 3))), "must not have axes of size 0"),
        (lambda: image.central_crop(X, 0.0), "above 0 and at most 1"),
        (lambda: image.central_crop(X, 1.5), "above 0 and at most 1"),
        (lambda: image.crop_to_bounding_box(X, 1, 2, 8, 4), "8 x 4 pixels from row 1"),
        (lambda: image.crop_to_bounding_box(X, 1, 2, 0, 4), "`target_height` must be positive"),
        (lambda: image.pad_to_bounding_box(X, -1, 2, 8, 10), "do not fit from row -1"),
        (lambda: image.pad_to_bounding_box(X, 1, 2, 4, 10), "into 4 x 10 pixels"),
        (lambda: image.resize(X, (3,)), "`size` must be two positive ints"),
        (lambda: image.resize(X, (3, 3), "cubic"), "`method` must be one of"),
        (lambda: image.resize_with_pad(X, 0, 4), "`target_height` must be positive"),
        (lambda: image.adjust_gamma(X, -1), "must not be negative"),
        (lambda: image.adjust_hue(X, 1.5), "from -1 to 1"),
        (lambda: image.adjust_hue(X[..., :1], 0.5), "3 channels"),
        (lambda: image.adjust_contrast(X[0, 0], 0.5), "rank 3 or more"),
        (lambda: image.rgb_to_hsv(BYTES), "convert_image_dtype"),
        (lambda: image.grayscale_to_rgb(X), "one channel"),
        (lambda: image.psnr(X, X[:, :3], 1.0), "images of the same size"),
        (lambda: image.ssim(X, X, 1.0), "at least 11 x 11"),
        (lambda: image.ssim_multiscale(LARGE, LARGE, 1.0), "at least 11 x 11"),
        (lambda: image.total_variation(X[0, 0]), "rank 3"),
        (lambda: image.image_gradients(X[0]), "rank 4"),
        (lambda: image.extract_patches(X, [2, 2, 2, 1], [1] * 4, [1] * 4, "SAME"), "`sizes`"),
        (lambda: image.extract_patches(X, [1] * 4, [1] * 4, [1] * 4, "FULL"), "`padding`"),
        (lambda: image.crop_and_resize(X, BOXES, [0, 5], [2, 2]), "must lie from 0 to 1, got 5"),
        (lambda: image.crop_and_resize(X, BOXES, [0], [2, 2]), "`box_indices`"),
        (lambda: image.crop_and_resize(X, BOXES, [0, 1], [0, 2]), "`crop_size` must be positive"),
        (lambda: image.crop_and_resize(X, BOXES, [0, 1], [2, 2], "area"), "'nearest'"),
        (lambda: image.extract_glimpse(X, [2, 2], BOXES), r"`offsets` \(batch, 2\)"),
        (lambda: image.extract_glimpse(X, [2, 2], BOXES[:, :2], noise="pink"), "`noise`"),
        (lambda: image.random_brightness(X, -1), "`max_delta` must be at least 0"),
        (lambda: image.random_hue(X, 0.7), "`max_delta` must be from 0 to 0.5"),
        (lambda: image.random_contrast(X, 2, 1), "`lower` < `upper`"),
        (lambda: image.random_crop(X, [2, 6, 3, 3]), "each at most the size of the axis"),
        (lambda: image.stateless_random_crop(X, [2, 1, 3, 3], 3), "two integers"),
    ],
)  # fmt: skip
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
