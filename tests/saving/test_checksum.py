"""The checksum of a range of a file, against zlib's of the whole."""

import io
import zlib

import numpy as np
import pytest

from framework.saving import checksum
from framework.saving.checksum import Checksum

DATA = np.random.default_rng(0).bytes(1000)


@pytest.mark.parametrize("share", [7, 100, 10_000])
@pytest.mark.parametrize(("start", "size"), [(0, 1000), (3, 994), (10, 1), (5, 0)])
def test_parts_are_joined(share, start, size, tmp_path, change):
    change(checksum, _SHARE=share, _BLOCK=64)
    change(checksum.os, cpu_count=lambda: 3)
    (tmp_path / "f").write_bytes(DATA)
    expected = zlib.crc32(DATA[start : start + size])
    with (tmp_path / "f").open("rb") as file:
        assert Checksum(file, start, size).value() == expected
    assert Checksum(io.BytesIO(DATA), start, size).value() == expected


def test_a_file_that_is_cut_off(tmp_path):
    (tmp_path / "f").write_bytes(DATA)
    with (tmp_path / "f").open("rb") as file, pytest.raises(EOFError):
        Checksum(file, 0, 1001).value()
    with pytest.raises(EOFError):
        Checksum(io.BytesIO(DATA), 0, 1001).value()
