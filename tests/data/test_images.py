"""Images from and to arrays and files: as documented by Keras 3, errors for wrong bytes."""

import io
import sys

import numpy as np
import pytest

from framework import keras

Image = pytest.importorskip("PIL.Image")
utils = keras.utils
PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_arrays_become_images_and_back(channels, mode):
    x = np.arange(24 * channels, dtype=np.uint8).reshape(4, 6, channels)
    img = utils.array_to_img(x, scale=False)
    assert (img.mode, img.size) == (mode, (6, 4))
    back = utils.img_to_array(img)
    assert back.dtype == "float32"
    np.testing.assert_array_equal(back, x)
    first = utils.array_to_img(x.transpose(2, 0, 1), data_format="channels_first", scale=False)
    np.testing.assert_array_equal(
        utils.img_to_array(first, "channels_first", "uint8"), x.transpose(2, 0, 1)
    )


def test_scaling_maps_the_smallest_to_0_and_the_largest_to_255():
    x = np.linspace(-1, 1, 12).reshape(2, 2, 3)
    expected = ((x - x.min()) / (x.max() - x.min()) * 255).astype("float32").astype(int)
    np.testing.assert_allclose(utils.img_to_array(utils.array_to_img(x)), expected, atol=1)
    assert not utils.img_to_array(utils.array_to_img(np.full((2, 2, 3), 7))).any()


def test_one_deep_channel():
    img = utils.array_to_img(np.full((2, 2, 1), 70_000), scale=False)
    assert img.mode == "I"
    assert img.getpixel((0, 0)) == 70_000


@pytest.mark.parametrize(
    ("x", "arguments", "told"),
    [
        (np.ones((4, 6)), {}, r"rank 3, one image, got shape \(4, 6\)"),
        (np.ones((4, 6, 2)), {}, "1, 3 or 4 channels, got 2"),
        (np.ones((4, 6, 3)), {"data_format": "first"}, "must be one of"),
        (np.full((4, 6, 3), 300.0), {"scale": False}, "0 to 255, got 300"),
        (np.full((4, 6, 3), -1.0), {"scale": False}, "clip them first"),
        (np.full((4, 6, 3), np.nan), {}, "got nan"),
    ],
)
def test_arrays_that_are_no_image(x, arguments, told):
    with pytest.raises(ValueError, match=told):
        utils.array_to_img(x, **arguments)


def test_files(tmp_path):
    file = tmp_path / "a.png"
    utils.save_img(file, PIXELS, scale=False)
    for source in (file, str(file), io.BytesIO(file.read_bytes())):
        np.testing.assert_array_equal(utils.img_to_array(utils.load_img(source)), PIXELS)
    assert utils.load_img(file, color_mode="grayscale").mode == "L"
    assert utils.load_img(file, color_mode="rgba").mode == "RGBA"
    assert utils.load_img(file, target_size=(2, 5)).size == (5, 2)
    with pytest.warns(UserWarning, match="alpha channel"):
        utils.save_img(tmp_path / "b.jpg", np.zeros((4, 6, 4)), scale=False)
    assert utils.load_img(tmp_path / "b.jpg").size == (6, 4)
    buffer = io.BytesIO()
    utils.save_img(buffer, PIXELS, file_format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="interpolation: expected one of"):
        utils.load_img(file, target_size=(2, 2), interpolation="cubic")
    with pytest.raises(ValueError, match="color_mode: expected"):
        utils.load_img(file, color_mode="bgr")
    with pytest.raises(TypeError, match="path must be"):
        utils.load_img(3)


def test_keeping_the_aspect_ratio_cuts_out_the_centre(tmp_path):
    utils.save_img(tmp_path / "a.png", PIXELS, scale=False)
    square = utils.load_img(tmp_path / "a.png", target_size=(2, 2), keep_aspect_ratio=True)
    cut = Image.fromarray(PIXELS[:, 1:5]).resize((2, 2), Image.Resampling.NEAREST)
    np.testing.assert_array_equal(np.asarray(square), np.asarray(cut))


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="array_to_img needs Pillow"):
        utils.array_to_img(PIXELS)
