"""CRC-32 of large data at the speed of memory, with NumPy.

zlib computes 1 to 3 GB/s on one core. A CRC is the remainder of a polynomial over GF(2), modulo

    x^91639 + x^41678 + 1,

the multiple of CRC-32's own polynomial that has three terms and the lowest degree. Squaring a
polynomial over GF(2) doubles its exponents, so this also holds for words of 32 bits instead of
single bits: a word may be replaced by itself at two later positions of the message, 49961 and 91639
words further. At the end 91639 words are left, whose remainder zlib computes. For large data, the
square of the polynomial, with twice these distances, needs half as many NumPy calls, each of which
releases and takes the interpreter's lock.
"""

import zlib
from functools import cache, lru_cache

import numpy as np

_WORDS, _GAP = 91639, 91639 - 41678
# from this number of bytes on, this is faster than zlib, which computes the last 360 kB
_LEAST = 2**20
_LARGE = 2**25  # from this number of bytes on, the squared polynomial is faster
_ONES = 2**32 - 1
_POLYNOMIAL = 0xEDB88320  # the polynomial of CRC-32, with its bits in reverse order
_ORDER = 2**32 - 1  # the order of x modulo the polynomial: x ** _ORDER is 1


class Crc32:
    """The CRC-32 of bytes that come in blocks; fast if all but the last are multiples of 4 bytes.

    Args:
        size: the number of bytes that will come, roughly.

    >>> crc = Crc32(5)
    >>> crc.update(b"ab")
    >>> crc.update(b"cde")
    >>> crc.value() == zlib.crc32(b"abcde")
    True
    """

    def __init__(self, size):
        self._crc, self._words, self._at = 0, None, 0
        times = 2 if size >= _LARGE else 1
        self._gap = times * _GAP
        if size >= _LEAST:
            self._words = np.zeros(times * _WORDS, np.uint32)
            self._words[0] = _ONES  # the definition of CRC-32 inverts the first 32 bits

    def update(self, data):
        """Add the bytes of a buffer."""
        if self._words is not None:
            words = len(data) // 4
            self._fold(np.frombuffer(data, np.uint32, words) if words else ())
            data = memoryview(data)[4 * words :]
            if not data:
                return
            self._crc, self._words = self._folded(), None
        self._crc = zlib.crc32(data, self._crc)

    def value(self):
        """Return the CRC-32 of all bytes so far."""
        return self._crc if self._words is None else self._folded()

    def _fold(self, message):
        """XOR each word into two later positions; the ring buffer ends at the farther one."""
        ring, at, done = self._words, self._at, 0
        size, gap = len(ring), self._gap
        while done < len(message):
            later = (at + gap) % size
            count = min(len(message) - done, size - max(at, later), size - gap)
            here, there = ring[at : at + count], ring[later : later + count]
            np.bitwise_xor(here, message[done : done + count], out=here)
            np.bitwise_xor(there, here, out=there)
            done, at = done + count, (at + count) % size
        self._at = at

    def _folded(self):
        ring = np.concatenate([self._words[self._at :], self._words[: self._at]])
        # These words lie after the end of the message, so the remainder of both is divided by
        # x ** (number of these bits).
        remainder = zlib.crc32(ring, _ONES) ^ _ONES
        return _product(_power(_ORDER - 32 * len(ring)), remainder) ^ _ONES


def joined(first, second, length):
    """Return the CRC-32 of two byte strings one after the other; `length` is the second's.

    Appended bytes multiply the polynomial of the first by a power of x.

    >>> joined(zlib.crc32(b"ab"), zlib.crc32(b"cde"), 3) == zlib.crc32(b"abcde")
    True
    """
    return _product(_power(8 * length), first) ^ second


@lru_cache(maxsize=4096)  # a model's arrays have few different sizes, so exponents repeat
def _power(exponent):
    """Return x ** exponent modulo CRC-32's polynomial; the highest bit is the coefficient of 1."""
    result, place = 1 << 31, 0  # the polynomial 1: the highest bit is the coefficient of x ** 0
    while exponent >> place:
        if exponent >> place & 1:
            result = _product(result, _square(place))
        place += 1
    return result


@cache
def _square(times):
    """Return x ** (2 ** times) modulo the polynomial."""
    if not times:
        return 1 << 30
    root = _square(times - 1)
    return _product(root, root)


def _product(a, b):
    """Return the product of two polynomials modulo the polynomial of CRC-32."""
    result = 0
    for place in range(31, -1, -1):
        if a >> place & 1:
            result ^= b
        b = b >> 1 ^ (_POLYNOMIAL if b & 1 else 0)
    return result
