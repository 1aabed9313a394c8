"""Values of tf.image, measured with TensorFlow 2.21: weighted sums of what each call returns.

This file imports NumPy alone, so that `seen(CALLS[name](f))` measures TensorFlow's functions, too.
"""

import numpy as np


def waves(*shape, start=0.0):
    """Numbers from 0 to 1 that differ from each other."""
    n = int(np.prod(shape))
    return np.float32(np.sin(start + np.arange(n) ** 1.3) / 2 + 0.5).reshape(shape)


X, Y = waves(2, 5, 7, 3), waves(2, 5, 7, 3, start=1.0)
BYTES = np.uint8(X * 255)
LARGE, LARGER = waves(2, 13, 14, 2), waves(1, 26, 31, 1)
BOXES = np.float32([[0.05, 0.1, 0.9, 0.8], [0.7, 0.9, 0.2, -0.3]])
CORNERS = np.float32([[0, 0, 0.4, 0.4]]) + waves(9, 1) / 3 + waves(9, 4, start=2.0) / 9
SCORES = waves(9, start=3.0)
ONES = [1, 1, 1, 1]


def seen(y):
    """The shape and three weighted sums of an array, or of each of several."""
    if isinstance(y, (tuple, list)):
        return [seen(part) for part in y]
    y = np.asarray(y)
    flat = y.astype(np.float64).ravel()
    places = np.arange(flat.size)
    sums = [np.sum(flat * (1.5 + np.cos(places * k))) for k in (0, 1, 2.3)]
    return [list(y.shape), y.dtype.name, *(round(float(s / flat.size**0.5), 4) for s in sums)]


class Seen:
    """What `seen` returns for results that are equal to 4 digits."""

    def __init__(self, expected):
        self.expected = expected

    def check(self, found, expected=None):
        expected = self.expected if expected is None else expected
        if isinstance(expected[0], list) and isinstance(expected[0][0], list):
            assert len(found) == len(expected)
            for f, e in zip(found, expected, strict=True):
                self.check(f, e)
        else:
            assert found[:2] == expected[:2]
            np.testing.assert_allclose(found[2:], expected[2:], rtol=1e-5, atol=2e-4)


CALLS = {
    "adjust_brightness": lambda f: f(X, 0.2),
    "adjust_contrast": lambda f: f(X, 1.7),
    "adjust_gamma": lambda f: f(X, 2.2, 0.9),
    "adjust_hue": lambda f: f(X, 0.2),
    "adjust_saturation": lambda f: f(X, 0.6),
    "central_crop": lambda f: f(X, 0.6),
    "combined_non_max_suppression": lambda f: f(
        CORNERS[None, :, None], np.stack([SCORES, SCORES[::-1]], -1)[None], 4, 6, 0.3, 0.2
    ),
    "convert_image_dtype": lambda f: f(BYTES, "float32"),
    "crop_and_resize": lambda f: f(X, BOXES, np.int32([1, 0]), [4, 3], "bilinear", 0.3),
    "crop_to_bounding_box": lambda f: f(X, 1, 2, 3, 4),
    "draw_bounding_boxes": lambda f: f(X, np.stack([BOXES, CORNERS[:2]]), None),
    "extract_glimpse": lambda f: f(X, [3, 4], BOXES[:, :2], True, True, "zero"),
    "extract_patches": lambda f: f(X, [1, 2, 3, 1], [1, 1, 2, 1], ONES, "SAME"),
    "flip_left_right": lambda f: f(X),
    "flip_up_down": lambda f: f(X),
    "grayscale_to_rgb": lambda f: f(LARGER),
    "hsv_to_rgb": lambda f: f(X),
    "image_gradients": lambda f: f(X),
    "non_max_suppression": lambda f: f(CORNERS, SCORES, 6, 0.3, 0.1),
    "non_max_suppression_overlaps": lambda f: f(waves(9, 9), SCORES, 6, 0.6, 0.1),
    "non_max_suppression_padded": lambda f: f(
        CORNERS[None], SCORES[None], 6, 0.3, 0.1, pad_to_max_output_size=True
    ),
    "non_max_suppression_with_scores": lambda f: f(CORNERS, SCORES, 6, 0.3, 0.1, 0.5),
    "pad_to_bounding_box": lambda f: f(X, 1, 2, 8, 10),
    "per_image_standardization": lambda f: f(X),
    "psnr": lambda f: f(X, Y, 1.0),
    "resize": lambda f: f(X, [8, 4], "lanczos3", False, True),
    "resize_with_crop_or_pad": lambda f: f(X, 3, 10),
    "resize_with_pad": lambda f: f(X, 6, 6),
    "rgb_to_grayscale": lambda f: f(X),
    "rgb_to_hsv": lambda f: f(X),
    "rgb_to_yiq": lambda f: f(X),
    "rgb_to_yuv": lambda f: f(X),
    "rot90": lambda f: f(X, 3),
    "sobel_edges": lambda f: f(X),
    "ssim": lambda f: f(LARGE, LARGE[::-1] * 0.9, 1.0),
    "ssim_multiscale": lambda f: f(LARGER, LARGER**2, 1.0, [0.4, 0.6], 5),
    "total_variation": lambda f: f(X),
    "transpose": lambda f: f(X),
    "yiq_to_rgb": lambda f: f(X),
    "yuv_to_rgb": lambda f: f(X),
}
"""One call of each function whose numbers are TensorFlow's."""

NUMBERS = {
    "adjust_brightness": [[2, 5, 7, 3], "float32", 26.2091, 16.1525, 15.6739],
    "adjust_contrast": [[2, 5, 7, 3], "float32", 18.9634, 12.0353, 11.3135],
    "adjust_gamma": [[2, 5, 7, 3], "float32", 12.0334, 7.5771, 7.2346],
    "adjust_hue": [[2, 5, 7, 3], "float32", 18.7552, 11.387, 11.5742],
    "adjust_saturation": [[2, 5, 7, 3], "float32", 22.5808, 13.7975, 13.5004],
    "central_crop": [[2, 3, 5, 3], "float32", 12.596, 7.5658, 7.8579],
    "combined_non_max_suppression": [
        [[1, 6, 4], "float32", 3.4239, 2.0454, 1.9937],
        [[1, 6], "float32", 3.0942, 2.0659, 2.1393],
        [[1, 6], "float32", 2.0412, 1.2754, 0.907],
        [[1], "int32", 10.0, 10.0, 10.0],
    ],
    "convert_image_dtype": [[2, 5, 7, 3], "float32", 18.8943, 11.7445, 11.2846],
    "crop_and_resize": [[2, 4, 3, 3], "float32", 10.3664, 6.2405, 6.2788],
    "crop_to_bounding_box": [[2, 3, 4, 3], "float32", 10.4728, 6.3223, 6.5648],
    "draw_bounding_boxes": [[2, 5, 7, 3], "float32", 19.2212, 11.9278, 11.3965],
    "extract_glimpse": [[2, 3, 4, 3], "float32", 9.5371, 5.6502, 5.8457],
    "extract_patches": [[2, 5, 4, 18], "float32", 26.5921, 16.1, 15.9126],
    "flip_left_right": [[2, 5, 7, 3], "float32", 18.9634, 11.6696, 11.65],
    "flip_up_down": [[2, 5, 7, 3], "float32", 18.9634, 11.2271, 11.3714],
    "grayscale_to_rgb": [[1, 26, 31, 3], "float32", 62.3582, 36.9202, 37.428],
    "hsv_to_rgb": [[2, 5, 7, 3], "float32", 12.6223, 7.6524, 7.4489],
    "image_gradients": [
        [[2, 5, 7, 3], "float32", 0.1997, -0.0883, 0.4003],
        [[2, 5, 7, 3], "float32", -1.1177, -1.3591, -0.7374],
    ],
    "non_max_suppression": [[3], "int32", 15.8771, 13.2017, 8.5009],
    "non_max_suppression_overlaps": [[4], "int32", 16.25, 12.0386, 9.0269],
    "non_max_suppression_padded": [
        [[1, 6], "int32", 11.2268, 9.335, 6.011],
        [[1], "int32", 7.5, 7.5, 7.5],
    ],
    "non_max_suppression_with_scores": [
        [[6], "int32", 21.433, 10.7898, 12.4061],
        [[6], "float32", 2.5925, 1.8036, 1.7813],
    ],
    "pad_to_bounding_box": [[2, 8, 10, 3], "float32", 12.5431, 7.4445, 7.5794],
    "per_image_standardization": [[2, 5, 7, 3], "float32", -0.0, 1.0783, -0.1355],
    "psnr": [[2], "float32", 32.2779, 29.3143, 21.5356],
    "resize": [[2, 8, 4, 3], "float32", 18.1576, 10.8933, 10.8899],
    "resize_with_crop_or_pad": [[2, 3, 10, 3], "float32", 12.3987, 7.2611, 7.4563],
    "resize_with_pad": [[2, 6, 6, 3], "float32", 12.8117, 7.6197, 7.6068],
    "rgb_to_grayscale": [[2, 5, 7, 1], "float32", 11.2698, 7.1842, 6.9428],
    "rgb_to_hsv": [[2, 5, 7, 3], "float32", 22.0885, 13.168, 12.9885],
    "rgb_to_yiq": [[2, 5, 7, 3], "float32", 5.8516, 3.4131, 3.5386],
    "rgb_to_yuv": [[2, 5, 7, 3], "float32", 5.8813, 3.4892, 3.2064],
    "rot90": [[2, 7, 5, 3], "float32", 18.9634, 11.3655, 11.2186],
    "sobel_edges": [[2, 5, 7, 3, 2], "float32", -1.9142, -1.4466, -0.9073],
    "ssim": [[2], "float32", 0.0121, 0.0109, 0.0078],
    "ssim_multiscale": [[1], "float32", 2.311, 2.311, 2.311],
    "total_variation": [[2], "float32", 237.6181, 217.1741, 163.5143],
    "transpose": [[2, 7, 5, 3], "float32", 18.9634, 11.6024, 11.2871],
    "yiq_to_rgb": [[2, 5, 7, 3], "float32", 25.412, 15.2043, 15.0341],
    "yuv_to_rgb": [[2, 5, 7, 3], "float32", 32.6528, 19.3032, 19.1362],
}

SEED = (1, 2)


def _is_flipped(axis):
    def among(y):
        pairs = zip(np.asarray(y), X, np.flip(X, axis), strict=True)
        return all(np.array_equal(a, b) or np.array_equal(a, c) for a, b, c in pairs)

    return among


def _is_part(y):
    height, width = np.shape(y)[1:3]
    places = np.ndindex(6 - height, 8 - width)
    return any(np.array_equal(y, X[:, i : i + height, j : j + width]) for i, j in places)


def _is_brighter(y):
    return bool(np.ptp(y - X) < 1e-6 and 0 < np.abs(y - X).max() <= 0.3)


def _has_contrast(y):
    factors = np.std(y, (1, 2)) / np.std(X, (1, 2))
    return bool(np.ptp(factors) < 1e-5 and 0.2 <= factors.mean() <= 0.9)


def _has_values(y):
    """Whether the largest of red, green and blue is as it was, but something is not."""
    return bool(np.allclose(np.max(y, -1), X.max(-1), atol=1e-6) and np.abs(y - X).max() > 1e-3)


RANDOM = {
    "brightness": ((0.3,), _is_brighter),
    "contrast": ((0.2, 0.9), _has_contrast),
    "crop": (([2, 3, 4, 3],), _is_part),
    "flip_left_right": ((), _is_flipped(2)),
    "flip_up_down": ((), _is_flipped(1)),
    "hue": ((0.3,), _has_values),
    "saturation": ((0.2, 0.9), _has_values),
}
"""Arguments of random changes, and what holds for their results."""


PNG = bytes.fromhex("""
    89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000000b49444154789c634839
    01000193012d8143be760000000049454e44ae426082
""")
"""Two grey pixels, 100 and 200, as TensorFlow reads them."""

BMP = b"BM" + np.uint32([62, 0, 54, 40, 2, 1, 1 | 24 << 16, 0, 8, 0, 0, 0, 0]).tobytes()
BMP += bytes([1, 2, 3, 4, 5, 6, 0, 0])


def _jpeg():
    from framework.image import encode_jpeg

    return encode_jpeg(BYTES[0])


def _of_pillow(call):
    """The call, where Pillow is installed."""

    def row(f):
        import pytest

        pytest.importorskip("PIL")
        return call(f)

    return row


FILES = {
    "adjust_jpeg_quality": (lambda f: f(X[0], 95).shape, [5, 7, 3]),
    "decode_and_crop_jpeg": (lambda f: f(PNG, [0, 1, 1, 1]), [[[200]]]),
    "decode_bmp": (lambda f: f(BMP), [[[3, 2, 1], [6, 5, 4]]]),
    "decode_gif": (lambda f: f(PNG), [[[[100] * 3, [200] * 3]]]),
    "decode_image": (lambda f: f(PNG), [[[100], [200]]]),
    "decode_jpeg": (lambda f: f(PNG), [[[100], [200]]]),
    "decode_png": (lambda f: f(PNG), [[[100], [200]]]),
    "decode_jxl": (lambda f: f(PNG), [[[100], [200]]]),
    "decode_webp": (lambda f: f(PNG), [[[100], [200]]]),
    "encode_jpeg": (lambda f: f(BYTES[0]).numpy()[:3] == b"\xff\xd8\xff", True),
    "encode_png": (lambda f: f(BYTES[0]).numpy()[:4] == b"\x89PNG", True),
    "extract_jpeg_shape": (lambda f: f(_jpeg()), [5, 7, 3]),
    "is_jpeg": (lambda f: f(PNG), False),
    "random_jpeg_quality": (lambda f: f(X[0], 5, 95).shape, [5, 7, 3]),
    "stateless_random_jpeg_quality": (lambda f: f(X[0], 5, 95, SEED).shape, [5, 7, 3]),
}


def _same_part(*seed):
    return lambda f: f([50, 80, 3], BOXES[None, :1], *seed, area_range=(1.0, 1.0))[1]


SAMPLED = {
    "sample_distorted_bounding_box": (_same_part(0), [50, 80, -1]),  # no part has these limits
    "stateless_sample_distorted_bounding_box": (_same_part(SEED), [50, 80, -1]),
}


def _rows():
    yield from SAMPLED.items()
    yield "ResizeMethod", (lambda c: [c.BICUBIC, c.NEAREST_NEIGHBOR], ["bicubic", "nearest"])
    for name, call in CALLS.items():
        yield name, (lambda f, call=call: seen(call(f)), Seen(NUMBERS[name]))
    for name, (call, expected) in FILES.items():
        yield name, (_of_pillow(call), expected)
    for name, (args, holds) in RANDOM.items():
        for prefix, seed in (("random_", 5), ("stateless_random_", SEED)):
            row = lambda f, a=args, h=holds, s=seed: h(np.asarray(f(X, *a, seed=s)))
            yield prefix + name, (row, True)


VALUES = {f"image.{name}": row for name, row in _rows()}
