"""What loops over elements are made of: memory access, and functions of one element.

The loops themselves are made as source (`compiler/loops.py`); LLVM turns them into vector code,
these functions included, which therefore have no branches and call nothing. Those ending in 32 take
and give float32, those ending in 64 float64. Units in the last place (ulp) are those of the result.
Methods and coefficients of exp, log and tanh: S. Moshier, Cephes (netlib.org/cephes).
"""

import numpy as np
from llvmlite import ir
from numba import float32, float64, int8, int16, int32, int64, types, uint8  # noqa: F401
from numba.extending import intrinsic

from framework.kernels.erf import _P32, _P64, _W32, _W64
from framework.kernels.fast.jit import kernel

FASTMATH = {"contract"}  # sums keep the order in which they are written


def scalar(function):
    """Compile a function of elements into the loops that call it."""
    return kernel(function, fastmath=FASTMATH, forceinline=True)


# ---- memory --------------------------------------------------------------------------------------
# Nothing is checked. `place` counts the arrays of a loop: LLVM is told that arrays of different
# places do not overlap, which it would otherwise have to test, and gives up for many arrays.

_PLACES = 40


def _tell_apart(module, access, place):
    def node(*parts):
        return module.add_metadata(list(parts))

    domain = node(ir.MetaDataString(module, "arrays of a loop"))
    scopes = [node(ir.MetaDataString(module, f"array {i}"), domain) for i in range(_PLACES)]
    access.set_metadata("alias.scope", node(scopes[place]))
    access.set_metadata("noalias", node(*(s for i, s in enumerate(scopes) if i != place)))


def _address(context, builder, kind, array, index):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


@intrinsic(prefer_literal=True)
def load(typing, array, index, place):
    """The element at a flat index of a contiguous array."""

    def emit(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        raw = builder.load(pointer)
        _tell_apart(builder.module, raw, place.literal_value)
        return context.data_model_manager[array.dtype].from_data(builder, raw)

    return array.dtype(array, types.intp, place), emit


@intrinsic(prefer_literal=True)
def store(typing, array, index, value, place):
    """Set the element at a flat index of a contiguous array."""

    def emit(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        raw = context.data_model_manager[array.dtype].as_data(builder, args[2])
        access = builder.store(raw, pointer)
        _tell_apart(builder.module, access, place.literal_value)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype, place), emit


def _reinterpret(of, to):
    @intrinsic
    def reinterpret(typing, x):
        def emit(context, builder, signature, args):
            return builder.bitcast(args[0], context.get_value_type(to))

        return to(of), emit

    return reinterpret


_bits32, _float32_of = (
    _reinterpret(types.float32, types.int32),
    _reinterpret(types.int32, types.float32),
)
_bits64, _float64_of = (
    _reinterpret(types.float64, types.int64),
    _reinterpret(types.int64, types.float64),
)


@kernel(fastmath={"reassoc", "contract", "nsz"}, forceinline=True)
def plus(total, x):
    """A sum's next step; several such sums may run side by side and be added up at the end."""
    return total + x


# ---- choice --------------------------------------------------------------------------------------


@scalar
def maximum(a, b):
    return a if a >= b or a != a else b


@scalar
def minimum(a, b):
    return a if a <= b or a != a else b


# ---- float32 -------------------------------------------------------------------------------------


@scalar
def _two_to_32(n):
    """2**n for -126 <= n <= 127."""
    return _float32_of((n + int32(127)) << int32(23))


@scalar
def _reduced_32(x):
    """n and r with x = n log 2 + r, and (exp(r) - 1 - r) / r²."""
    n = np.rint(x * float32(1.44269504088896341))
    r = x - n * float32(0.693359375) + n * float32(2.12194440e-4)
    p = float32(1.9875691500e-4)
    p = p * r + float32(1.3981999507e-3)
    p = p * r + float32(8.3334519073e-3)
    p = p * r + float32(4.1665795894e-2)
    p = p * r + float32(1.6666665459e-1)
    return n, r, p * r + float32(5.0000001201e-1)


@scalar
def exp_32(x):
    """Within 2 ulp."""
    inside = x if x > float32(-104) else float32(-104)
    inside = inside if inside < float32(89) else float32(89)
    n, r, p = _reduced_32(inside)
    n = int32(n)
    half = n >> int32(1)
    y = (p * r * r + r + float32(1)) * _two_to_32(half) * _two_to_32(n - half)
    return x if x != x else y


@scalar
def expm1_32(x):
    """Within 2 ulp."""
    inside = x if x > float32(-25) else float32(-25)
    inside = inside if inside < float32(89) else float32(89)
    n, r, p = _reduced_32(inside)
    half = _two_to_32(int32(n) - int32(1))
    y = float32(2) * ((p * r * r + r) * half + (half - float32(0.5)))
    return x if x != x or x == float32(0) else y


@scalar
def log_32(x):
    """Within 2 ulp."""
    small = x < float32(1.17549435e-38)
    bits = _bits32(x * float32(8388608) if small else x)
    e = float32(((bits >> int32(23)) & int32(255)) - (int32(149) if small else int32(126)))
    m = _float32_of((bits & int32(0x007FFFFF)) | int32(0x3F000000))
    low = m < float32(0.70710678118654752)
    e = e - float32(1) if low else e
    m = m + m - float32(1) if low else m - float32(1)
    z = m * m
    p = float32(7.0376836292e-2)
    p = p * m - float32(1.1514610310e-1)
    p = p * m + float32(1.1676998740e-1)
    p = p * m - float32(1.2420140846e-1)
    p = p * m + float32(1.4249322787e-1)
    p = p * m - float32(1.6668057665e-1)
    p = p * m + float32(2.0000714765e-1)
    p = p * m - float32(2.4999993993e-1)
    p = p * m + float32(3.3333331174e-1)
    y = p * m * z - float32(2.12194440e-4) * e - float32(0.5) * z
    y = m + y + float32(0.693359375) * e
    y = x if x == float32(np.inf) else y
    y = float32(-np.inf) if x == float32(0) else y
    return y if x >= float32(0) else float32(np.nan)


@scalar
def log1p_32(x):
    """Within 3 ulp."""
    u = float32(1) + x
    d = u - float32(1)
    exact = d == float32(0) or u == float32(np.inf)
    y = log_32(u) * (x / (float32(1) if exact else d))
    return x if exact else y


@scalar
def tanh_32(x):
    """Within 4 ulp; 1 from 9 on."""
    size = abs(x)
    e = exp_32(size + size)
    large = float32(1) - float32(2) / (e + float32(1))
    z = x * x
    p = float32(-5.70498872745e-3)
    p = p * z + float32(2.06390887954e-2)
    p = p * z - float32(5.37397155531e-2)
    p = p * z + float32(1.33314422036e-1)
    p = p * z - float32(3.33332819422e-1)
    small = p * z * x + x
    large = -large if x < float32(0) else large
    return large if size > float32(0.625) else small


@scalar
def sigmoid_32(x):
    """Within 4 ulp."""
    return float32(1) / (float32(1) + exp_32(-x))


@scalar
def softplus_32(x):
    """Within 4 ulp."""
    return maximum(x, float32(0)) + log1p_32(exp_32(-abs(x)))


@scalar
def erf_32(x):
    """Within 4 ulp; the method is that of `kernels/erf.py`."""
    size = abs(x)
    size = float32(4) if size > float32(4) else size
    squared = size * size
    small = float32(_P32[0])
    for c in _P32[1:]:
        small = small * squared + float32(c)
    u = (size - float32(2)) / (size + float32(2))
    large = float32(_W32[0])
    for c in _W32[1:]:
        large = large * u + float32(c)
    large = float32(1) - large * exp_32(-squared)
    large = -large if x < float32(0) else large
    return small * x + x if size < float32(1) else large


# ---- float64 -------------------------------------------------------------------------------------


@scalar
def _two_to_64(n):
    """2**n for -1022 <= n <= 1023."""
    return _float64_of((n + int64(1023)) << int64(52))


@scalar
def _reduced_64(x):
    """n and exp(r) - 1 with x = n log 2 + r."""
    n = np.rint(x * 1.4426950408889634073599)
    r = x - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6
    z = r * r
    p = 1.26177193074810590878e-4
    p = p * z + 3.02994407707441961300e-2
    p = (p * z + 9.99999999999999999910e-1) * r
    q = 3.00198505138664455042e-6
    q = q * z + 2.52448340349684104192e-3
    q = q * z + 2.27265548208155028766e-1
    q = q * z + 2.0
    return n, 2.0 * (p / (q - p))


@scalar
def exp_64(x):
    """Within 2 ulp."""
    inside = x if x > -746.0 else -746.0
    inside = inside if inside < 710.0 else 710.0
    n, less = _reduced_64(inside)
    n = int64(n)
    half = n >> int64(1)
    y = (less + 1.0) * _two_to_64(half) * _two_to_64(n - half)
    return x if x != x else y


@scalar
def expm1_64(x):
    """Within 3 ulp."""
    inside = x if x > -45.0 else -45.0
    inside = inside if inside < 710.0 else 710.0
    n, less = _reduced_64(inside)
    half = _two_to_64(int64(n) - int64(1))
    y = 2.0 * (less * half + (half - 0.5))
    return x if x != x or x == 0.0 else y


@scalar
def log_64(x):
    """Within 2 ulp."""
    small = x < 2.2250738585072014e-308
    bits = _bits64(x * 4503599627370496.0 if small else x)
    e = float64(((bits >> int64(52)) & int64(2047)) - (int64(1074) if small else int64(1022)))
    m = _float64_of((bits & int64(0x000FFFFFFFFFFFFF)) | int64(0x3FE0000000000000))
    low = m < 0.70710678118654752440
    e = e - 1.0 if low else e
    m = m + m - 1.0 if low else m - 1.0
    z = m * m
    p = 1.01875663804580931796e-4
    p = p * m + 4.97494994976747001425e-1
    p = p * m + 4.70579119878881725854
    p = p * m + 1.44989225341610930846e1
    p = p * m + 1.79368678507819816313e1
    p = p * m + 7.70838733755885391666
    q = m + 1.12873587189167450590e1
    q = q * m + 4.52279145837532221105e1
    q = q * m + 8.29875266912776603211e1
    q = q * m + 7.11544750618563894466e1
    q = q * m + 2.31251620126765340583e1
    y = m * (z * p / q) - e * 2.121944400546905827679e-4 - 0.5 * z
    y = m + y + e * 0.693359375
    y = x if x == np.inf else y
    y = -np.inf if x == 0.0 else y
    return y if x >= 0.0 else np.nan


@scalar
def log1p_64(x):
    """Within 3 ulp."""
    u = 1.0 + x
    d = u - 1.0
    exact = d == 0.0 or u == np.inf
    y = log_64(u) * (x / (1.0 if exact else d))
    return x if exact else y


@scalar
def tanh_64(x):
    """Within 4 ulp."""
    size = abs(x)
    large = 1.0 - 2.0 / (exp_64(size + size) + 1.0)
    z = x * x
    p = -9.64399179425052238628e-1
    p = p * z - 9.92877231001918586564e1
    p = p * z - 1.61468768441708447952e3
    q = z + 1.12811678491632931402e2
    q = q * z + 2.23548839060100448583e3
    q = q * z + 4.84406305325125486048e3
    small = x + x * z * (p / q)
    large = -large if x < 0.0 else large
    return large if size >= 0.625 else small


@scalar
def sigmoid_64(x):
    """Within 4 ulp."""
    return 1.0 / (1.0 + exp_64(-x))


@scalar
def softplus_64(x):
    """Within 4 ulp."""
    return maximum(x, 0.0) + log1p_64(exp_64(-abs(x)))


@scalar
def erf_64(x):
    """Within 4 ulp; the method is that of `kernels/erf.py`."""
    size = abs(x)
    size = 6.0 if size > 6.0 else size
    squared = size * size
    small = _P64[0]
    for c in _P64[1:]:
        small = small * squared + c
    u = (size - 3.0) / (size + 3.0)
    large = _W64[0]
    for c in _W64[1:]:
        large = large * u + c
    large = 1.0 - large * exp_64(-squared)
    large = -large if x < 0.0 else large
    return small * x + x if size < 1.0 else large


# ---- compiling a loop ----------------------------------------------------------------------------


def compiled(function, signature, cached):
    """A generated loop as machine code, for one combination of types and no other.

    Args:
        signature: its parameters' types: "float32:2:r" is an array of 2 dimensions that is read,
            "float32:2:w" one that is written, "int" an int.
        cached: whether the machine code is kept on the disk.
    """
    dispatcher = kernel(function, fastmath=FASTMATH, cache=cached)
    dispatcher.compile(types.void(*map(_type, signature.split())))
    dispatcher.disable_compile()
    return dispatcher


def _type(text):
    if text == "int":
        return types.intp
    kind, ndim, access = text.split(":")
    dtype = types.boolean if kind == "bool" else getattr(types, kind)
    return types.Array(dtype, int(ndim), "C", readonly=access == "r")


def warm():
    """Nothing: loops are compiled when they are known."""
