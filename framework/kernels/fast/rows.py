"""Kernels along float32 rows: layer and root-mean-square normalisation, softmax, gelu.

Arrays are flat, of rows of `size` numbers; each function works on the rows (gelu: the numbers) from
`first` to `last`, so that threads can share them.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from framework.kernels.fast import math
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel

_f = np.float32
_ROWS = 64  # rows whose gradients of gamma and beta are added up before they join the others


# ---- the largest number of a row -----------------------------------------------------------------
# LLVM makes no vector code of a maximum that NaN has to pass; integers have none. The bits of a
# float32, those below the sign turned round where it is set, are in the order of the numbers, NaN
# at both ends by its sign: a row with one is NaN by its sum, whatever its largest number is.


@intrinsic
def _ordered(_, x):
    def emit(context, builder, signature, arguments):
        integer = ir.IntType(32)
        bits = builder.bitcast(arguments[0], integer)
        sign = builder.ashr(bits, ir.Constant(integer, 31))
        return builder.xor(bits, builder.and_(sign, ir.Constant(integer, 0x7FFFFFFF)))

    return types.int32(types.float32), emit


@intrinsic
def _number(_, bits):
    def emit(context, builder, signature, arguments):
        integer = ir.IntType(32)
        sign = builder.ashr(arguments[0], ir.Constant(integer, 31))
        turned = builder.xor(arguments[0], builder.and_(sign, ir.Constant(integer, 0x7FFFFFFF)))
        return builder.bitcast(turned, ir.FloatType())

    return types.float32(types.int32), emit


@kernel(forceinline=True)
def largest(x, at, size):
    """The largest of `size` numbers from a place on; of no use beside NaN."""
    top = _ordered(_f(-np.inf))
    for j in range(size):
        bits = _ordered(load(x, at + j, 0))
        top = bits if bits > top else top
    return _number(top)


# ---- softmax -------------------------------------------------------------------------------------


@kernel
def softmax(x, first, last, size, y):
    """exp(x) over its sum."""
    for row in range(first, last):
        at = row * size
        top = largest(x, at, size)
        total = _f(0)
        for j in range(size):
            e = math.exp(load(x, at + j, 0) - top)
            store(y, at + j, e, 1)
            total += e
        share = _f(1) / total
        for j in range(size):
            store(y, at + j, load(y, at + j, 1) * share, 1)


@kernel
def softmax_back(g, y, first, last, size, d):
    """y * (g - sum(g * y))."""
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            total += load(g, at + j, 0) * load(y, at + j, 1)
        for j in range(size):
            store(d, at + j, load(y, at + j, 1) * (load(g, at + j, 0) - total), 2)


@math.element
def _less_both(x, top, logarithm):
    """Near `top` the first difference is exact, and small: LLVM must not take x - (top + ...)."""
    return (x - top) - logarithm


@kernel
def log_softmax(x, first, last, size, y):
    """x - log(sum(exp(x)))."""
    for row in range(first, last):
        at = row * size
        top = largest(x, at, size)
        total = _f(0)
        for j in range(size):
            total += math.exp(load(x, at + j, 0) - top)
        logarithm = math.log(total)
        for j in range(size):
            store(y, at + j, _less_both(load(x, at + j, 0), top, logarithm), 1)


@kernel
def log_softmax_back(g, y, first, last, size, d):
    """g - exp(y) * sum(g)."""
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            total += load(g, at + j, 0)
        for j in range(size):
            store(d, at + j, load(g, at + j, 0) - math.exp(load(y, at + j, 1)) * total, 2)


# ---- normalisation -------------------------------------------------------------------------------


@kernel
def layer_norm(x, gamma, beta, first, last, size, epsilon, y, mean, rstd):
    """Rows of mean 0 and variance 1, times gamma plus beta; and what the backward needs."""
    share = _f(1) / _f(size)
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            total += load(x, at + j, 0)
        m = total * share
        total = _f(0)
        for j in range(size):
            v = load(x, at + j, 0) - m
            total += v * v
        r = _f(1) / np.sqrt(total * share + epsilon)
        mean[row], rstd[row] = m, r
        for j in range(size):
            normal = (load(x, at + j, 0) - m) * r
            store(y, at + j, normal * load(gamma, j, 1) + load(beta, j, 2), 3)


@kernel
def layer_norm_back(g, x, gamma, mean, rstd, first, last, size, d, d_gamma, d_beta):
    """The cotangents; those of gamma and beta are of these rows alone."""
    share = _f(1) / _f(size)
    part, both = np.empty(size, _f), np.empty(size, _f)
    d_gamma[:] = _f(0)
    d_beta[:] = _f(0)
    for begin in range(first, last, _ROWS):
        part[:] = _f(0)
        both[:] = _f(0)
        for row in range(begin, min(begin + _ROWS, last)):
            at, m, r = row * size, mean[row], rstd[row]
            total, product = _f(0), _f(0)
            for j in range(size):
                cotangent = load(g, at + j, 0)
                normal = (load(x, at + j, 1) - m) * r
                store(part, j, load(part, j, 3) + cotangent, 3)
                store(both, j, load(both, j, 4) + cotangent * normal, 4)
                scaled = cotangent * load(gamma, j, 2)
                total += scaled
                product += scaled * normal
            total, product = total * share, product * share
            for j in range(size):
                normal = (load(x, at + j, 1) - m) * r
                scaled = load(g, at + j, 0) * load(gamma, j, 2)
                store(d, at + j, (scaled - total - normal * product) * r, 5)
        for j in range(size):
            d_beta[j] += part[j]
            d_gamma[j] += both[j]


@kernel
def rms_norm(x, scale, first, last, size, epsilon, y, rstd):
    """Rows over their root mean square, times scale; and what the backward needs."""
    share = _f(1) / _f(size)
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            v = load(x, at + j, 0)
            total += v * v
        r = _f(1) / np.sqrt(total * share + epsilon)
        rstd[row] = r
        for j in range(size):
            store(y, at + j, load(x, at + j, 0) * r * load(scale, j, 1), 2)


@kernel
def rms_norm_back(g, x, scale, rstd, first, last, size, d, d_scale):
    """The cotangents; that of scale is of these rows alone."""
    share = _f(1) / _f(size)
    both = np.empty(size, _f)
    d_scale[:] = _f(0)
    for begin in range(first, last, _ROWS):
        both[:] = _f(0)
        for row in range(begin, min(begin + _ROWS, last)):
            at, r = row * size, rstd[row]
            product = _f(0)
            for j in range(size):
                normal = load(x, at + j, 1) * r
                weighted = load(g, at + j, 0) * normal
                store(both, j, load(both, j, 3) + weighted, 3)
                product += weighted * load(scale, j, 2)
            product *= share
            for j in range(size):
                normal = load(x, at + j, 1) * r
                store(d, at + j, (load(g, at + j, 0) * load(scale, j, 2) - normal * product) * r, 4)
        for j in range(size):
            d_scale[j] += both[j]


# ---- gelu ----------------------------------------------------------------------------------------


@kernel
def gelu(x, first, last, y):
    """x times the normal distribution function of x."""
    for i in range(first, last):
        store(y, i, math.gelu(load(x, i, 0)), 1)


@kernel
def gelu_back(g, x, first, last, d):
    """g times the slope of gelu."""
    for i in range(first, last):
        store(d, i, load(g, i, 0) * math.gelu_slope(load(x, i, 1)), 2)


@kernel
def gelu_tanh(x, first, last, y):
    """gelu by its tanh approximation."""
    for i in range(first, last):
        store(y, i, math.gelu_tanh(load(x, i, 0)), 1)


@kernel
def gelu_tanh_back(g, x, first, last, d):
    """g times the slope of the approximation."""
    for i in range(first, last):
        store(d, i, load(g, i, 0) * math.gelu_tanh_slope(load(x, i, 1)), 2)


def warm():
    """Compile everything, by calls on tiny inputs."""
    x, y, v = np.ones(8, _f), np.empty(8, _f), [np.ones(4, _f) for _ in range(6)]
    for function in (softmax, log_softmax):
        function(x, 0, 2, 4, y)
    for function in (softmax_back, log_softmax_back):
        function(x, x, 0, 2, 4, y)
    layer_norm(x, v[0], v[1], 0, 2, 4, _f(1), y, v[2], v[3])
    layer_norm_back(x, x, v[0], v[2], v[3], 0, 2, 4, y, v[4], v[5])
    rms_norm(x, v[0], 0, 2, 4, _f(1), y, v[3])
    rms_norm_back(x, x, v[0], v[3], 0, 2, 4, y, v[4])
    for function in (gelu, gelu_tanh):
        function(x, 0, 8, y)
    for function in (gelu_back, gelu_tanh_back):
        function(x, x, 0, 8, y)
