"""keras.visualization: what is drawn into arrays, and galleries as files."""

import builtins

import numpy as np
import pytest

from framework import keras

view = keras.visualization
IMAGES = np.full((2, 12, 16, 3), 100, "uint8")
BOXES = {
    "boxes": np.float32([[[2, 3, 8, 9], [0, 0, 0, 0]], [[5, 1, 30, 6], [1, 1, 3, 3]]]),
    "labels": np.int32([[1, -1], [0, 2]]),
    "confidences": np.float32([[0.5, 0], [0.25, 1]]),
}
MASKS = (np.arange(2 * 12 * 16) % 3).reshape(2, 12, 16, 1) - (np.arange(2) == 1)[
    :, None, None, None
]


def test_outlines_are_drawn_and_boxes_without_a_label_are_not():
    found = view.draw_bounding_boxes(IMAGES, BOXES, "xyxy", color=(1, 2, 3), line_thickness=1)
    assert found.dtype == "uint8"
    expected = np.full((12, 16), True)
    expected[3, 2:9] = expected[9, 2:9] = expected[3:10, 2] = expected[3:10, 8] = False
    np.testing.assert_array_equal((found[0] == 100).all(-1), expected)
    np.testing.assert_array_equal(found[0][~expected], np.tile([1, 2, 3], ((~expected).sum(), 1)))
    assert (IMAGES == 100).all()
    first = view.draw_bounding_boxes(
        IMAGES.transpose(0, 3, 1, 2), BOXES, "xyxy", None, (1, 2, 3), 1,
        data_format="channels_first",
    )  # fmt: skip
    np.testing.assert_array_equal(first, found)
    relative = {**BOXES, "boxes": BOXES["boxes"] / np.float32([16, 12, 16, 12])}
    found = view.draw_bounding_boxes(
        IMAGES / np.float32(255), relative, "rel_xyxy", None, (1, 2, 3), 1
    )
    np.testing.assert_array_equal(found, first)


def test_names_of_classes_are_written():
    pytest.importorskip("PIL")
    plain = view.draw_bounding_boxes(IMAGES, BOXES, "xyxy")
    named = view.draw_bounding_boxes(IMAGES, BOXES, "xyxy", {1: "cat"}, font_scale=0.7)
    assert (named[0] != plain[0]).any()
    np.testing.assert_array_equal(named[1], plain[1])


def test_masks_colour_images():
    found = view.draw_segmentation_masks(IMAGES, MASKS, alpha=0.5)
    assert found.dtype == "uint8"
    steps = np.array([2**25 - 1, 2**15 - 1, 2**21 - 1])
    for i in range(3):
        color = (i * steps % 255 * 0.5 + 50).astype("uint8")
        assert (found[MASKS[..., 0] == i] == color).all()
    assert (found[MASKS[..., 0] == -1] == 100).all()
    own = view.draw_segmentation_masks(
        IMAGES, MASKS, 3, {0: (1, 1, 1), 1: (2, 2, 2), 2: (3, 3, 3)}, blend=False
    )
    assert own.dtype == "float32"
    np.testing.assert_array_equal(own[0, ..., 0], MASKS[0, ..., 0] + 1)


@pytest.mark.parametrize("many", [1, 2])
def test_galleries_are_files(tmp_path, many):
    pytest.importorskip("matplotlib")
    images, boxes = IMAGES[:many], {k: v[:many] for k, v in BOXES.items()}
    view.plot_image_gallery(
        images, [0, 1][:many], [1, 1][:many], {0: "a"}, path=tmp_path / "a.png", rows=1, cols=3
    )
    view.plot_bounding_box_gallery(
        images, "xyxy", boxes, boxes, legend=True, path=tmp_path / "b.png"
    )
    view.plot_segmentation_mask_gallery(
        images / 255, 3, (0, 1), MASKS[:many], MASKS[:many], path=tmp_path / "c.png"
    )
    for name in "abc":
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


BAD = [
    (lambda: view.draw_bounding_boxes(IMAGES[0], BOXES, "xyxy"), ValueError, "rank 4"),
    (lambda: view.draw_bounding_boxes(IMAGES, [], "xyxy"), TypeError, "dict, got list"),
    (lambda: view.draw_bounding_boxes(IMAGES, {"boxes": 1}, "xyxy"), ValueError, "'labels'"),
    (lambda: view.draw_segmentation_masks(IMAGES, MASKS / 2), TypeError, "integers"),
    (lambda: view.plot_image_gallery(IMAGES, path="a", show=True), ValueError, "`path`"),
    (lambda: view.plot_image_gallery(IMAGES, [1, 2]), ValueError, "label_map"),
    (lambda: view.plot_bounding_box_gallery(IMAGES, "xyxy", legend=True, legend_handles=[1]),
     ValueError, "legend_handles"),
]  # fmt: skip


@pytest.mark.parametrize("row", BAD, ids=lambda row: row[2])
def test_errors_name_the_argument(row):
    call, error, message = row
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("matplotlib", lambda: view.plot_image_gallery(IMAGES)),
        ("PIL", lambda: view.draw_bounding_boxes(IMAGES, BOXES, "xyxy", {1: "a"})),
    ],
)
def test_a_missing_library_is_named(monkeypatch, library, call):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install"):
        call()
