"""tf.image: files. Pixels and bytes are TensorFlow's, of JPEG with exact cosine transforms."""

import base64
import io
import zlib

import numpy as np
import pytest

import framework as tf
from tests.surface.image import waves

Image = pytest.importorskip("PIL.Image")
image = tf.image
SMOOTH = np.uint8(
    np.add.outer(np.arange(8) * 5, np.arange(8) * 4)[..., None] // 2 + np.array([0, 20, 60])
)
JPEG = base64.b64decode("""
    /9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywt
    QFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
    T09PT09PT09PT09PT09PT09PT09PT0//wAARCAAIAAgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQF
    BgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcY
    GRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWm
    p6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAA
    AAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAV
    YnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOU
    lZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIR
    AxEAPwDhY4qKKK7TA//Z
""")  # TensorFlow's encode_jpeg(SMOOTH, quality=60)
SEEN = [2, 20, 60, 7, 25, 65, 13, 31, 71, 9, 27, 67, 14, 32, 72, 20, 38, 78, 18, 36, 76, 23, 41, 81,
        29, 47, 87]  # fmt: skip
DEEP = np.uint16([[[0, 300, 65535], [1, 2, 3]], [[40000, 5, 6], [7, 8, 9]]])
DEEP_PNG = base64.b64decode("""
    iVBORw0KGgoAAAANSUhEUgAAAAIAAAACEAIAAACtREYwAAAAIklEQVQImWNgYGDU+f+fgZGBiYGZYY4DAysDGwM7AwcD
    JwA31wMxUNGkwQAAAABJRU5ErkJggg==
""")  # TensorFlow's encode_png(DEEP)


def pillow_file(pixels, kind, mode=None, **options):
    picture = Image.fromarray(pixels)
    stream = io.BytesIO()
    (picture.convert(mode) if mode else picture).save(stream, kind, **options)
    return stream.getvalue()


def test_jpeg_files():
    y = image.decode_jpeg(JPEG)
    assert (y.dtype, y.shape.as_list()) == ("uint8", [8, 8, 3])
    np.testing.assert_allclose(y.numpy()[::3, ::3].ravel(), SEEN, atol=1)
    assert image.decode_jpeg(JPEG, channels=1).shape == (8, 8, 1)
    assert image.decode_jpeg(JPEG, ratio=2).shape == (4, 4, 3)
    part = image.decode_and_crop_jpeg(JPEG, [1, 2, 3, 4]).numpy()
    np.testing.assert_array_equal(part, y.numpy()[1:4, 2:6])
    assert image.extract_jpeg_shape(JPEG).numpy().tolist() == [8, 8, 3]
    assert image.is_jpeg([JPEG, DEEP_PNG]).numpy().tolist() == [True, False]
    for options in ({"quality": 60}, {"format": "rgb", "progressive": True, "optimize_size": True},
                    {"chroma_downsampling": False, "density_unit": "cm"}):  # fmt: skip
        back = image.decode_jpeg(image.encode_jpeg(SMOOTH, **options)).numpy()
        assert np.abs(back.astype(int) - SMOOTH).max() < 9
    few, many = (len(image.encode_jpeg(SMOOTH, quality=q).numpy()) for q in (10, 100))
    assert few < many
    assert image.encode_jpeg(SMOOTH[..., :1], xmp_metadata="<x/>").numpy()[:3] == JPEG[:3]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png_files(channels, dtype):
    x = (waves(2, 9, 7, channels) * np.iinfo(dtype).max).astype(dtype)
    files = image.encode_png(x, compression=5)
    assert files.shape == (2,)
    for pixels, contents in zip(x, files.numpy()):
        np.testing.assert_array_equal(image.decode_png(contents, 0, dtype).numpy(), pixels)
        seen = np.asarray(Image.open(io.BytesIO(contents)))
        if dtype == "uint8" or channels == 1:  # Pillow shows 8 bits of deep colours
            np.testing.assert_array_equal(seen, pixels.squeeze())


def test_deep_png_files():
    np.testing.assert_array_equal(image.decode_png(DEEP_PNG, dtype=tf.uint16).numpy(), DEEP)
    np.testing.assert_array_equal(image.decode_png(DEEP_PNG).numpy(), DEEP >> 8)
    gray = image.decode_png(DEEP_PNG, 1, tf.uint16).numpy()
    assert gray.ravel().tolist() == [7650, 2, 11963, 8]
    alpha = image.decode_png(DEEP_PNG, 4, tf.uint16).numpy()
    assert (alpha[..., 3] == 65535).all()
    y = image.decode_image(DEEP_PNG, dtype=tf.float32).numpy()
    np.testing.assert_allclose(y, DEEP / 65535, rtol=1e-6)


def filtered_png(pixels, kind):
    """A PNG file of 16 bits, each row with the filter `kind`, pixel by pixel."""
    height, width, channels = pixels.shape
    step = 2 * channels
    rows = np.frombuffer(pixels.astype(">u2").tobytes(), np.uint8).reshape(height, -1).astype(int)
    data = b""
    for y in range(height):
        data += bytes([kind])
        for x in range(width * step):
            a = rows[y, x - step] if x >= step else 0
            b = rows[y - 1, x] if y else 0
            c = rows[y - 1, x - step] if y and x >= step else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            guess = [0, a, b, (a + b) // 2, nearest][kind]
            data += bytes([(rows[y, x] - guess) % 256])
    contents = image.encode_png(pixels).numpy()
    at = contents.index(b"IDAT")
    packed = zlib.compress(data)
    return contents[: at - 4] + len(packed).to_bytes(4, "big") + b"IDAT" + packed + bytes(4)


@pytest.mark.parametrize("kind", range(5))
def test_filters_of_png_files(kind):
    x = np.uint16(waves(9, 8, 3) * 3) * np.uint16(300)  # few values, so that guesses tie
    y = image.decode_png(filtered_png(x, kind), dtype=tf.uint16)
    np.testing.assert_array_equal(y.numpy(), x)


def test_other_files():
    for depth in (SMOOTH, SMOOTH[..., 0]):
        y = image.decode_bmp(pillow_file(depth, "BMP")).numpy()
        np.testing.assert_array_equal(y.squeeze(), depth)
    alpha = np.concatenate([SMOOTH, SMOOTH[..., :1]], axis=-1)
    np.testing.assert_array_equal(image.decode_bmp(pillow_file(alpha, "BMP")).numpy(), alpha)
    lossless = pillow_file(SMOOTH, "WEBP", lossless=True)
    np.testing.assert_array_equal(image.decode_webp(lossless).numpy(), SMOOTH[None])
    palette = image.decode_png(pillow_file(SMOOTH, "PNG", "P"))
    assert palette.shape == (8, 8, 3)
    frames = [Image.fromarray(x) for x in (SMOOTH, 255 - SMOOTH)]
    moving = pillow_file(SMOOTH, "GIF", save_all=True, append_images=frames[1:])
    assert image.decode_gif(moving).shape == (2, 8, 8, 3)
    assert image.decode_image(moving).shape == (2, 8, 8, 3)
    assert image.decode_image(moving, expand_animations=False).shape == (8, 8, 3)
    assert image.decode_gif(JPEG).shape == (1, 8, 8, 3)
    deep = image.decode_image(JPEG, dtype=tf.uint16).numpy()
    np.testing.assert_array_equal(deep, image.decode_image(JPEG).numpy() * np.uint16(256))


def test_quality():
    x = np.float32(SMOOTH) / 255
    worse, better = (np.abs(image.adjust_jpeg_quality(x, q).numpy() - x).max() for q in (5, 95))
    assert better < worse < 0.5
    assert image.adjust_jpeg_quality(SMOOTH, 50).dtype == "uint8"
    y = image.stateless_random_jpeg_quality(x, 5, 95, (1, 2)).numpy()
    again = image.stateless_random_jpeg_quality(x, 5, 95, (1, 2)).numpy()
    np.testing.assert_array_equal(y, again)
    assert image.random_jpeg_quality(x, 5, 95).shape == x.shape


def test_functions_and_datasets_read_files():
    read = tf.function(lambda contents: tf.reduce_sum(tf.cast(image.decode_png(contents), "int64")))
    files = [image.encode_png(np.uint8(waves(n, 3, 1) * 255)) for n in (2, 3, 4)]
    expected = [int(read(f)) for f in files * 2]
    assert expected == [int(image.decode_png(f).numpy().sum(dtype=int)) for f in files * 2]
    data = tf.data.Dataset.from_tensor_slices([f.numpy() for f in files]).map(image.decode_png)
    assert [x.shape[0] for x in data] == [2, 3, 4]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.decode_image(b"nothing"), "expected a JPEG, PNG, GIF, BMP or WebP file"),
        (lambda: image.decode_png(DEEP_PNG[:60]), "invalid PNG file"),
        (lambda: image.decode_png(DEEP_PNG[:60], dtype=tf.uint16), "invalid PNG file"),
        (lambda: image.decode_jpeg(JPEG[:200]), "invalid JPEG file"),
        (lambda: image.decode_bmp(JPEG), "in the format BMP, got JPEG"),
        (lambda: image.decode_jpeg(JPEG, channels=4), "`channels` of JPEG must be one of"),
        (lambda: image.decode_jpeg(JPEG, ratio=3), "`ratio` must be 1, 2, 4 or 8"),
        (lambda: image.decode_png(JPEG, dtype=tf.float32), "`dtype` must be uint8 or uint16"),
        (lambda: image.decode_webp(JPEG, dtype=tf.uint16), "`dtype` must be uint8"),
        (lambda: image.decode_png([JPEG]), "the bytes of one file"),
        (lambda: image.decode_and_crop_jpeg(JPEG, [1, 2, 9, 4]), "must lie in 8 x 8 pixels"),
        (lambda: image.encode_png(np.float32(SMOOTH)), "expected uint8 or uint16, got float32"),
        (lambda: image.encode_png(SMOOTH[0]), "expected shape"),
        (lambda: image.encode_png(SMOOTH, 10), "from -1 to 9"),
        (lambda: image.encode_jpeg(SMOOTH[..., :2]), "expected uint8 of shape"),
        (lambda: image.encode_jpeg(SMOOTH, "grayscale"), "expected uint8 of shape"),
        (lambda: image.encode_jpeg(SMOOTH, "rgba"), "`format` must be"),
        (lambda: image.encode_jpeg(SMOOTH, quality=101), "from 0 to 100"),
        (lambda: image.adjust_jpeg_quality(SMOOTH[0], 50), "expected shape"),
        (lambda: image.random_jpeg_quality(SMOOTH, 50, 20), "`min_jpeg_quality` <"),
    ],
)  # fmt: skip
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_header_that_claims_too_much_is_refused():
    huge = DEEP_PNG[:16] + (1 << 30).to_bytes(4, "big") * 2 + DEEP_PNG[24:]
    with pytest.raises(ValueError, match="at most"):
        image.decode_png(huge, dtype=tf.uint16)
