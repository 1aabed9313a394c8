"""Hashes against TensorFlow's, and SipHash's published vector."""

import pytest

from framework.kernels.hashing import fingerprint, keyed_hash

TEXTS = {  # of every length class: TensorFlow's fingerprint
    b"": 0x9AE16A3B2F90404F,
    b"a": 0xB3454265B6DF75E3,
    b"hello": 0xB48BE5A931380CE8,
    b"hello world": 0x588FB7478BD6B01B,
    b"x" * 30: 0x144FBC70428E5FED,
    b"x" * 50: 0x3FF2E52EF910C925,
    b"0123456789" * 13: 0x94C7D81D1C9D5D04,
}


@pytest.mark.parametrize("text", TEXTS)
def test_fingerprints(text):
    assert fingerprint(text) == TEXTS[text]


def test_keyed_hash():
    key = tuple(int.from_bytes(bytes(range(8 * i, 8 * i + 8)), "little") for i in range(2))
    assert keyed_hash(bytes(range(15)), key) == 0xA129CA6149BE45E5  # from the paper's appendix
    assert keyed_hash(b"0123456789" * 13, (1, 2)) == 0xEE84C7D266B8D48A
    assert keyed_hash(b"a", (1, -2)) == keyed_hash(b"a", (1, 2**64 - 2))
