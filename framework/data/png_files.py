"""PNG files: a writer, and a reader of 16-bit colors, which Pillow would reduce to 8 bits.

The format is that of W3C's "Portable Network Graphics (PNG) Specification".
"""

import struct
import zlib

import numpy as np

from framework.core.errors import InvalidArgumentError, UnsafeFileError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLORS = {1: 0, 2: 4, 3: 2, 4: 6}  # maps the number of channels to the color type in the header
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# the largest size in bytes of decoded pixels, because a tiny damaged file can declare any size
_LARGEST = 1 << 31


def written(pixels, compression=-1):
    """Encode uint8 or uint16 pixels of shape (height, width, 1 to 4 channels) as a PNG file."""
    height, width, channels = pixels.shape
    depth = pixels.dtype.itemsize
    rows = np.frombuffer(pixels.astype(f">u{depth}").tobytes(), np.uint8).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8 * depth, _COLORS[channels], 0, 0, 0)
    data = zlib.compress(_filtered(rows, channels * depth).tobytes(), compression)
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _filtered(rows, step):
    """Return each row with the filter (none, left or above) that gives the smallest differences."""
    left, above = np.zeros_like(rows), np.zeros_like(rows)
    left[:, step:], above[1:] = rows[:, :-step], rows[:-1]
    choices = np.stack([rows, rows - left, rows - above])
    costs = np.abs(choices.view(np.int8).astype(np.int16)).sum(axis=2)
    chosen = costs.argmin(axis=0)
    best = choices[chosen, np.arange(len(rows))]
    return np.concatenate([chosen.astype(np.uint8)[:, None], best], axis=1)


def has_deep_colors(contents):
    """Return whether a PNG file has several channels of 16 bits."""
    return len(contents) > 25 and contents[24] == 16 and contents[25] in (2, 4, 6)


def read(contents):
    """Return the pixels (height, width, channels) of a PNG file with 16 bits, as uint16."""
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", contents[16:29])
    if depth != 16 or interlaced:
        raise InvalidArgumentError(
            "PNG: expected 16 bits and no interlacing. Save the image without interlacing."
        )
    step = 2 * _CHANNELS[color]
    size = height * (1 + width * step)
    if size > _LARGEST:
        raise UnsafeFileError(f"PNG: expected at most {_LARGEST} bytes of pixels, got {size}.")
    data = zlib.decompressobj().decompress(b"".join(_parts(contents)), size)
    if len(data) != size:
        raise InvalidArgumentError(f"PNG: expected {size} bytes of pixels, got {len(data)}.")
    rows = np.frombuffer(data, np.uint8).reshape(height, -1)
    done = np.zeros((height + 1, width, step), np.uint8)
    for y, row in enumerate(rows):
        done[y + 1] = _restored(row[0], row[1:].reshape(width, step), done[y])
    return np.frombuffer(done[1:].tobytes(), ">u2").astype(np.uint16).reshape(height, width, -1)


def _parts(contents):
    """Yield the data of the IDAT chunks, which hold the compressed pixels."""
    at = len(SIGNATURE)
    while at + 8 <= len(contents):
        (n,) = struct.unpack(">I", contents[at : at + 4])
        if contents[at + 4 : at + 8] == b"IDAT":
            yield contents[at + 8 : at + 8 + n]
        at += n + 12


def _restored(kind, row, above):
    """Undo the filter of a row of pixels; sums wrap around at 256."""
    if kind == 0:
        return row
    if kind == 1:
        return np.add.accumulate(row, axis=0, dtype=np.uint8)
    if kind == 2:
        return row + above
    left, corner = np.zeros(row.shape[1], int), np.zeros(row.shape[1], int)
    result = np.empty_like(row)
    for x, (value, up) in enumerate(zip(row.astype(int), above.astype(int))):
        guess = (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
        left, corner = (value + guess) % 256, up
        result[x] = left
    return result


def _paeth(left, up, corner):
    """Return the neighbor (left, up or corner) nearest to left + up - corner."""
    guess = left + up - corner
    a, b, c = np.abs(guess - left), np.abs(guess - up), np.abs(guess - corner)
    return np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
