"""Hashes of byte strings that are the same on every machine and in every run.

`fingerprint` is FarmHash's Fingerprint64 (Pike & Alakuijala 2014), `keyed_hash` is SipHash-2-4
(Aumasson & Bernstein 2012). TensorFlow hashes strings to buckets with the same two functions.
"""

_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_SEED = 81
_MURMUR = 0xC6A4A7935BD1E995


def fingerprint(text):
    """Return the 64-bit FarmHash fingerprint of a byte string."""
    n = len(text)
    if n <= 16:
        return _of_16(text)
    if n <= 32:
        return _of_32(text)
    return _of_64(text) if n <= 64 else _of_more(text)


def joint_fingerprint(one, other):
    """Combine two 64-bit fingerprints into one, as MurmurHash2 mixes numbers."""
    mixed = one ^ _MURMUR ^ _shaken(other * _MURMUR) * _MURMUR & _MASK
    return _shaken(_shaken(mixed * _MURMUR) * _MURMUR)


def murmur_hash(text, seed=0xDECAFCAFFE):
    """Return the 64-bit MurmurHash2, TensorFlow's hash for values that are not stored in files."""
    value = (seed ^ len(text) * _MURMUR) & _MASK
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        word = _word(text, at) * _MURMUR & _MASK
        word = (word ^ word >> 47) * _MURMUR
        value = (value ^ word) * _MURMUR & _MASK
    if whole < len(text):
        value = (value ^ _word(text, whole)) * _MURMUR & _MASK
    value = (value ^ value >> 47) * _MURMUR & _MASK
    return value ^ value >> 47


def _word(text, at, size=8):
    return int.from_bytes(text[at : at + size], "little")


def _turned(x, by):
    """Return the 64 bits of x rotated right."""
    x &= _MASK
    return (x >> by | x << 64 - by) & _MASK


def _shaken(x):
    x &= _MASK
    return x ^ x >> 47


def _joined(u, v, factor):
    a = _shaken((u ^ v) * factor)
    return _shaken((v ^ a) * factor) * factor & _MASK


def _of_16(text):
    n = len(text)
    factor = _K2 + 2 * n
    if n >= 8:
        a, b = _word(text, 0) + _K2, _word(text, n - 8)
        return _joined(
            _turned(b, 37) * factor + a & _MASK, (_turned(a, 25) + b) * factor & _MASK, factor
        )
    if n >= 4:
        return _joined(n + (_word(text, 0, 4) << 3), _word(text, n - 4, 4), factor)
    if n:
        y, z = text[0] + (text[n >> 1] << 8), n + (text[-1] << 2)
        return _shaken(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _of_32(text):
    n = len(text)
    factor = _K2 + 2 * n
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, n - 8) * factor, _word(text, n - 16) * _K2
    first = _turned(a + b, 43) + _turned(c, 30) + d
    return _joined(first & _MASK, a + _turned(b + _K2, 18) + c & _MASK, factor)


def _of_64(text):
    n = len(text)
    factor = _K2 + 2 * n
    a, b = _word(text, 0) * _K2, _word(text, 8)
    c, d = _word(text, n - 8) * factor, _word(text, n - 16) * _K2
    y = _turned(a + b, 43) + _turned(c, 30) + d & _MASK
    z = _joined(y, a + _turned(b + _K2, 18) + c & _MASK, factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, n - 32)) * factor, (z + _word(text, n - 24)) * factor
    first = _turned(e + f, 43) + _turned(g, 30) + h
    return _joined(first & _MASK, e + _turned(f + a, 18) + g & _MASK, factor)


def _of_more(text):
    """Hash more than 64 bytes in rounds of 64; the last round may overlap the previous one."""
    last = len(text) - 1
    y = _SEED * _K1 + 113 & _MASK
    z = _shaken(y * _K2 + 113) * _K2 & _MASK
    state = _SEED * _K2 + _word(text, 0) & _MASK, y, z, (0, 0), (0, 0)
    for at in range(0, last // 64 * 64, 64):
        state = _round(text, at, *state, _K1, 1)
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1) & _MASK
    w = (w[0] + (last & 63) & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x, y, z, v, w = _round(text, len(text) - 64, x, y, z, v, w, factor, 9)
    first = _joined(v[0], w[0], factor) + _shaken(y) * _K0 + z
    return _joined(first & _MASK, _joined(v[1], w[1], factor) + x & _MASK, factor)


def _round(text, at, x, y, z, v, w, factor, weight):
    x = _turned(x + y + v[0] + _word(text, at + 8), 37) * factor
    y = _turned(y + v[1] + _word(text, at + 48), 42) * factor
    x ^= w[1] * weight
    y += v[0] * weight + _word(text, at + 40)
    z = _turned(z + w[0], 33) * factor
    v = _two(text, at, v[1] * factor, x + w[0])
    w = _two(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z & _MASK, y & _MASK, x & _MASK, v, w


def _two(text, at, a, b):
    """Mix the 32 bytes from index `at` on into the numbers a and b; return the new a and b."""
    p, q, r, s = (_word(text, at + 8 * i) for i in range(4))
    a += p
    b = _turned(b + a + s, 21)
    start = a
    a += q + r
    b += _turned(a, 44)
    return a + s & _MASK, b + start & _MASK


# ---- SipHash -------------------------------------------------------------------------------------

_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def keyed_hash(text, key):
    """Return the 64-bit SipHash of a byte string, keyed with two 64-bit numbers."""
    first, second = (k & _MASK for k in key)
    state = [s ^ k for s, k in zip(_START, (first, second, first, second))]
    whole = len(text) // 8 * 8
    words = [_word(text, at) for at in range(0, whole, 8)]
    words.append(_word(text, whole) | (len(text) & 0xFF) << 56)
    for word in words:
        state[3] ^= word
        state = _mixed(_mixed(state))
        state[0] ^= word
    state[2] ^= 0xFF
    for _ in range(4):
        state = _mixed(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _left(x, by):
    return (x << by | x >> 64 - by) & _MASK


def _mixed(state):
    a, b, c, d = state
    a, c = a + b & _MASK, c + d & _MASK
    b, d = _left(b, 13) ^ a, _left(d, 16) ^ c
    a = _left(a, 32)
    c, a = c + b & _MASK, a + d & _MASK
    b, d = _left(b, 17) ^ c, _left(d, 21) ^ a
    return [a, b, _left(c, 32), d]
