"""CRC32C, the checksum of TFRecord files, without a loop over bytes for long data."""

import functools

import numpy as np

_POLYNOMIAL = 0x82F63B78  # the polynomial of CRC-32C (Castagnoli), with its bits in reverse order
_BLOCK = 1024  # the number of bytes per vectorized table lookup and XOR reduction


@functools.cache
def _tables():
    """Return uint32 tables [k, byte]: the contribution of a byte to the CRC if k bytes follow."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, (first >> 1) ^ np.uint32(_POLYNOMIAL), first >> 1)
    tables = np.empty((_BLOCK, 256), np.uint32)
    tables[0] = first
    for k in range(1, _BLOCK):
        tables[k] = (tables[k - 1] >> 8) ^ first[tables[k - 1] & 255]
    return tables


@functools.cache
def _bytes_table():
    return _tables()[0].tolist()


@functools.cache
def _flat_tables():
    """Return the tables as one flat array, and where the table for each byte of a block starts."""
    return _tables().reshape(-1), np.arange(_BLOCK - 1, -1, -1) * 256


def crc32c(data):
    """Return the CRC32C of bytes, an int.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    if len(data) < 64:  # For few bytes, a Python loop is faster than NumPy calls.
        table = _bytes_table()
        for byte in data:
            crc = (crc >> 8) ^ table[(crc ^ byte) & 255]
        return crc ^ 0xFFFFFFFF
    array = np.frombuffer(data, np.uint8)
    for start in range(0, len(array), _BLOCK):
        crc = _with_block(crc, array[start : start + _BLOCK])
    return crc ^ 0xFFFFFFFF


def _with_block(crc, block):
    """Return the CRC after another block, whose first four bytes are XORed with the old CRC."""
    if len(block) < 4:
        table = _bytes_table()
        for byte in block.tolist():
            crc = (crc >> 8) ^ table[(crc ^ byte) & 255]
        return crc
    block = block.copy()
    block[:4] ^= np.array([crc], "<u4").view(np.uint8)
    tables, starts = _flat_tables()
    return int(np.bitwise_xor.reduce(tables.take(starts[-len(block) :] + block)))


def masked_crc32c(data):
    """Return the CRC32C in TFRecord's form: the rotated CRC plus a constant."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
