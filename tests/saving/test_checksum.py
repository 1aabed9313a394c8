"""CRC-32 of buffers and of ranges of files, against zlib's; reading of ranges."""

import io
import zlib

import numpy as np
import pytest

from framework.saving import checksum, crc32
from framework.saving.checksum import Reading, fill
from framework.saving.crc32 import Crc32

DATA = np.random.default_rng(0).bytes(1000)


@pytest.mark.parametrize("share", [7, 100, 10_000])
@pytest.mark.parametrize(("start", "size"), [(0, 1000), (3, 994), (10, 1), (5, 0)])
def test_parts_are_joined(share, start, size, tmp_path, change):
    change(checksum, _SHARE=share, _BLOCK=64)
    change(checksum.os, cpu_count=lambda: 3)
    (tmp_path / "f").write_bytes(DATA)
    expected = zlib.crc32(DATA[start : start + size])
    with (tmp_path / "f").open("rb") as file:
        for source in (file, io.BytesIO(DATA)):
            into = bytearray(size)
            assert Reading(source, start, size).value() == expected
            assert Reading(source, start, size, memoryview(into)).value() == expected
            assert into == DATA[start : start + size]


@pytest.mark.parametrize("share", [100, 10_000])
def test_a_range_is_read_into_a_buffer(share, tmp_path, change):
    change(checksum, _SHARE=share, _BLOCK=64)
    (tmp_path / "f").write_bytes(DATA)
    with (tmp_path / "f").open("rb") as file:
        for source in (file, io.BytesIO(DATA)):
            into = bytearray(900)
            fill(source, 50, memoryview(into))
            assert into == DATA[50:950]
            with pytest.raises(EOFError):
                fill(source, 101, memoryview(into))


def test_a_file_that_is_cut_off(tmp_path):
    (tmp_path / "f").write_bytes(DATA)
    with (tmp_path / "f").open("rb") as file, pytest.raises(EOFError):
        Reading(file, 0, 1001).value()
    with pytest.raises(EOFError):
        Reading(io.BytesIO(DATA), 0, 1001).value()


@pytest.mark.parametrize(
    "size", [0, 1, 3, 4, 5, 7, 8, 366_555, 366_556, 366_557, 733_111, 733_112, 1_000_003]
)
@pytest.mark.parametrize("block", [4, 4096, 333, 2**18])
@pytest.mark.parametrize("large", [0, 2**25])
def test_words_are_folded(size, block, large, change):
    if size > 10**5 and block < 100:
        block = 40_000
    change(crc32, _LEAST=0, _LARGE=large)
    data = np.random.default_rng(size).bytes(size)
    crc = Crc32(size)
    for start in range(0, size, block):
        crc.update(memoryview(data)[start : start + block])
        assert crc.value() == zlib.crc32(data[: start + block])
    assert crc.value() == zlib.crc32(data)
