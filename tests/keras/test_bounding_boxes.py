"""keras.utils.bounding_boxes: all formats by their definition, and numbers of Keras."""

import itertools

import numpy as np
import pytest

import framework as tf
from framework import keras

box = keras.utils.bounding_boxes
HEIGHT, WIDTH = 10, 8

# left, top, width, height of a box -> its four numbers in the format
FORMATS = {
    "xyxy": lambda x, y, w, h: (x, y, x + w, y + h),
    "yxyx": lambda x, y, w, h: (y, x, y + h, x + w),
    "xywh": lambda x, y, w, h: (x, y, w, h),
    "center_xywh": lambda x, y, w, h: (x + w / 2, y + h / 2, w, h),
    "center_yxhw": lambda x, y, w, h: (y + h / 2, x + w / 2, h, w),
    "rel_xyxy": lambda x, y, w, h: (x / 8, y / 10, (x + w) / 8, (y + h) / 10),
    "rel_yxyx": lambda x, y, w, h: (y / 10, x / 8, (y + h) / 10, (x + w) / 8),
    "rel_xywh": lambda x, y, w, h: (x / 8, y / 10, w / 8, h / 10),
    "rel_center_xywh": lambda x, y, w, h: ((x + w / 2) / 8, (y + h / 2) / 10, w / 8, h / 10),
}
PLACES = np.random.default_rng(3).uniform(-1, 7, (2, 3, 4))


def boxes_in(name):
    """The same boxes in a format, (2, 3, 4)."""
    return np.stack(FORMATS[name](*np.moveaxis(PLACES, -1, 0)), axis=-1).astype("float32")


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FORMATS, repeat=2)))
def test_convert_format(source, target):
    found = box.convert_format(boxes_in(source), source, target, height=HEIGHT, width=WIDTH)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, boxes_in(target), rtol=1e-5, atol=1e-5)


def test_convert_format_of_dicts_tensors_and_unknown_sizes():
    data = {"boxes": boxes_in("xyxy"), "labels": np.arange(6).reshape(2, 3)}
    found = box.convert_format(data, "xyxy", "XYWH", dtype="float64")
    assert found["labels"] is data["labels"]
    assert found["boxes"].dtype == "float64"
    np.testing.assert_array_equal(data["boxes"], boxes_in("xyxy"))
    symbolic = keras.KerasTensor((None, None, 4))
    converted = box.convert_format(symbolic, "yxyx", "center_xywh")
    assert converted.shape == (None, None, 4)
    assert box.compute_iou(symbolic, symbolic, "xyxy").shape == (None, None, None)
    model = keras.Model(symbolic, converted)
    np.testing.assert_allclose(
        model(boxes_in("yxyx")), boxes_in("center_xywh"), rtol=1e-5, atol=1e-5
    )
    function = tf.function(lambda x, h: box.convert_format(x, "rel_xyxy", "xyxy", h, h))
    np.testing.assert_allclose(
        function(boxes_in("rel_xyxy"), tf.constant(10)), boxes_in("rel_xyxy") * 10, rtol=1e-6
    )


BAD = [
    (lambda: box.convert_format([[1, 2, 3]], "xyxy", "xywh"), ValueError, "dimension of 4"),
    (lambda: box.convert_format([[1, 2, 3, 4]], "xyxy", "xyz"), ValueError, "target='xyz'"),
    (lambda: box.convert_format([[1, 2, 3, 4]], "xyxy", "rel_xyxy"), ValueError, "`height`"),
    (lambda: box.crop([[1, 2, 3, 4]], 1, 1, 2, 2, "xywh"), NotImplementedError, "'xywh'"),
    (lambda: box.clip_to_image_size({"boxes": [[1.0, 2, 3, 4]]}), ValueError, "`height`"),
    (lambda: box.compute_ciou([[1, 2, 3, 4]], [[1, 2, 3, 4]], "rel_xyxy"), ValueError, "absolute"),
    (lambda: box.compute_iou([1, 2, 3, 4], [[1, 2, 3, 4]], "xyxy"), ValueError, "boxes1"),
    (lambda: box.compute_iou([[1, 2, 3, 4]], [[1, 2, 3, 4]], "rel_xyxy"), ValueError, "image_sh"),
    (lambda: box.encode_box_to_deltas([[1, 2, 3, 4]], [[1, 2, 3, 4]], "xyxy", "xyxy", "xyxy"),
     ValueError, "encoding_format"),
    (lambda: box.encode_box_to_deltas([[1, 2, 3, 4]], [[1, 2, 3, 4]], "xyxy", "xyxy",
                                      variance=[1.0]), ValueError, "length 4"),
]  # fmt: skip


@pytest.mark.parametrize("row", BAD, ids=lambda row: row[2])
def test_errors_name_the_argument(row):
    call, error, message = row
    with pytest.raises(error, match=message):
        call()


A = np.float32(
    [[[1, 2, 6, 5], [0, -1, 3, 9], [4, 4, 7, 6]], [[2, 1, 5, 4], [-3, -4, -1, -2], [1, 1, 9, 8]]]
)
C = np.float32([[[2, 2, 5, 6], [0, 0, 8, 8]], [[-4, -4, -2, -2], [3, 0, 4, 7]]])
TURN = np.float32(
    [[20, -130], [0.1, 0], [-0.2, 0.3], [1.2, 0.8], [10, -5], [5, 20]]
)  # angle, shift, scale, shear
KERAS = {
    "compute_iou": (
        lambda: box.compute_iou(A, C, "xyxy"),
        [0.5, 0.2344, 0.1053, 0.3429, 0.125, 0.0938, 0.0, 0.2308, 0.3333, 0.0, 0.0, 0.1053],
    ),
    "compute_iou, masked": (
        lambda: box.compute_iou(A, C, "xyxy", use_masking=True, mask_val=-7),
        [0.5, 0.2344, 0.1053, 0.3429, 0.125, 0.0938, -7, 0.2308, -7, -7, -7, 0.1053],
    ),
    "compute_ciou": (
        lambda: box.compute_ciou(A[:, :2], C, "xyxy"),
        [0.4873, 0.2918, -0.5, -0.4506],
    ),
    "encode_box_to_deltas": (
        lambda: box.encode_box_to_deltas(
            A[:, :2] + 5, C + 5, "xyxy", "xywh", variance=[0.1, 0.1, 0.2, 0.2]
        ),
        [13.3333, 7, 6.4964, 3.4657, 2.5, 16.6667, 1.3118, 7.3317,
         -16.6667, -20, 0, 0, 45, 47.5, 8.9588, 7.5204],
    ),
    "decode_deltas_to_boxes": (
        lambda: box.decode_deltas_to_boxes(
            A[:, :2], C / 9, "xyxy", "rel_yxyx", "center_xywh", image_shape=(10, 8, 3)
        ),
        [0.1245, 0.0317, 0.7088, 1.121, -0.8162, -0.2686, 1.6162, 0.6436,
         -0.0034, 0.1207, 0.2368, 0.421, -0.5177, -0.3616, -0.0823, 0.0283],
    ),
    "affine_transform": (
        lambda: box.affine_transform(A, *TURN, 10, 8, 0.2, 0.7),
        [-2.0003, -2.45, 5.7595, 2.5995, -5.0297, -5.0053, 4.674, 7.5654,
         2.7787, -0.4347, 7.5577, 2.8277, -0.5365, 6.2605, 2.5395, 9.7494,
         5.6154, 8.5558, 7.6661, 10.8817, -4.6378, 2.8857, 3.0165, 11.452],
    ),
    "pad": (lambda: box.pad(C[0], 1, 2), [4, 3, 7, 7, 2, 1, 10, 9]),
    "crop": (lambda: box.crop(C[0], 1, 2, 5, 4), [0, 1, 3, 5, 0, 0, 4, 5]),
    "clip_to_image_size": (
        lambda: box.clip_to_image_size({"boxes": C[1]}, 5, 4)["boxes"],
        [0, 0, 0, 0, 3, 0, 4, 5],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERAS)
def test_numbers_are_those_of_keras(name):
    call, expected = KERAS[name]
    np.testing.assert_allclose(np.ravel(call()), expected, atol=1e-4)


def test_boxes_without_an_area_get_no_label():
    data = {"boxes": C, "labels": np.array([[1, 2], [3, 4]])}
    assert box.clip_to_image_size(data, 5, 4)["labels"].numpy().tolist() == [[1, 2], [-1, 4]]
    relative = box.clip_to_image_size(data, bounding_box_format="rel_xyxy")
    assert relative["labels"].numpy().tolist() == [[-1, 2], [-1, -1]]


SHIFT = np.float32([1, 2, 3, 1])


def test_decoding_by_levels_inverts_encoding():
    anchors = {"low": A[0], "high": A[1]}
    deltas = {k: box.encode_box_to_deltas(v, v + SHIFT, "xyxy", "xyxy") for k, v in anchors.items()}
    found = box.decode_deltas_to_boxes(anchors, deltas, "xyxy", "xyxy")
    for k, v in anchors.items():
        np.testing.assert_allclose(found[k], v + SHIFT, atol=1e-5)
