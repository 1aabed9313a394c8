"""Kernels along float32 rows: softmax, cross-entropy, layer and rms normalization, gelu.

Each is a task (see `tasks`) whose work items are rows, or elements for gelu. Its docstring lists
the task's arguments: the addresses of its arrays, which have rows of `size` elements, then numbers.
"""

import numpy as np
from llvmlite import ir
from numba import (
    carray,  # pyright: ignore[reportPrivateImportUsage]
    types,
)
from numba.extending import intrinsic

from framework.kernels.fast import math
from framework.kernels.fast.elementwise import load, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.tasks import EVERYTHING, CompiledTask, array, integers, real
from framework.kernels.rows import SUMMED

_f = np.float32


# ---- the maximum of a row ------------------------------------------------------------------------
# LLVM vectorizes a maximum of integers, but not a maximum of floats that propagates NaN. Read as
# integers, float32 numbers compare correctly if those with a set sign bit have their other bits
# inverted; NaN comes first or last, by its sign. The sum of a row with NaN is NaN, whatever its
# maximum is.


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
    """Return the maximum of `size` elements from index `at` on; arbitrary if one is NaN."""
    top = _ordered(_f(-np.inf))
    for j in range(size):
        bits = _ordered(load(x, at + j, 0))
        top = bits if bits > top else top
    return _number(top)


# ---- softmax -------------------------------------------------------------------------------------


@CompiledTask
def softmax(numbers, first, last, memory):
    """Write exp(x) / sum(exp(x)).

    Task arguments: the arrays x, y; then size.
    """
    x, y, size = array(numbers[0]), array(numbers[1]), numbers[2]
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


@CompiledTask
def softmax_back(numbers, first, last, memory):
    """Write y * (g - sum(g * y)).

    Task arguments: the arrays g, y, d; then size.
    """
    g, y, d, size = array(numbers[0]), array(numbers[1]), array(numbers[2]), numbers[3]
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            total += load(g, at + j, 0) * load(y, at + j, 1)
        for j in range(size):
            store(d, at + j, load(y, at + j, 1) * (load(g, at + j, 0) - total), 2)


@math.element
def _less_both(x, top, logarithm):
    """Return x - top - logarithm. The order matters: the first difference is exact near `top`."""
    return (x - top) - logarithm


@CompiledTask
def log_softmax(numbers, first, last, memory):
    """Write x - log(sum(exp(x))).

    Task arguments: the arrays x, y; then size.
    """
    x, y, size = array(numbers[0]), array(numbers[1]), numbers[2]
    for row in range(first, last):
        at = row * size
        top = largest(x, at, size)
        total = _f(0)
        for j in range(size):
            total += math.exp(load(x, at + j, 0) - top)
        logarithm = math.log(total)
        for j in range(size):
            store(y, at + j, _less_both(load(x, at + j, 0), top, logarithm), 1)


@CompiledTask
def log_softmax_back(numbers, first, last, memory):
    """Write g - exp(y) * sum(g).

    Task arguments: the arrays g, y, d; then size.
    """
    g, y, d, size = array(numbers[0]), array(numbers[1]), array(numbers[2]), numbers[3]
    for row in range(first, last):
        at = row * size
        total = _f(0)
        for j in range(size):
            total += load(g, at + j, 0)
        for j in range(size):
            store(d, at + j, load(g, at + j, 0) - math.exp(load(y, at + j, 1)) * total, 2)


@CompiledTask
def sparse_cross_entropy(numbers, first, last, memory):
    """Write log(sum(exp(x))) - x[label], NaN for an invalid label, and arrays for its backward.

    Task arguments: the arrays x, labels, losses, exp(x - max(x)), its sums; then size.
    """
    x, labels = array(numbers[0]), carray(integers(numbers[1]), EVERYTHING)
    losses, e, totals, size = array(numbers[2]), array(numbers[3]), array(numbers[4]), numbers[5]
    for row in range(first, last):
        at, label = row * size, labels[row]
        top = largest(x, at, size)
        total = _f(0)
        for j in range(size):
            v = math.exp(load(x, at + j, 0) - top)
            store(e, at + j, v, 1)
            total += v
        totals[row] = total
        own = x[at + label] if 0 <= label < size else _f(np.nan)
        losses[row] = -_less_both(own, top, math.log(total))


@CompiledTask
def sparse_cross_entropy_back(numbers, first, last, memory):
    """Write g * (softmax(x) - one_hot(label)).

    Task arguments: the arrays g, labels, exp(x - max(x)), its sums, d; then size.
    """
    g, labels = array(numbers[0]), carray(integers(numbers[1]), EVERYTHING)
    e, totals, d, size = array(numbers[2]), array(numbers[3]), array(numbers[4]), numbers[5]
    for row in range(first, last):
        at, label = row * size, labels[row]
        share = g[row] / totals[row]
        for j in range(size):
            store(d, at + j, load(e, at + j, 0) * share, 1)
        if 0 <= label < size:
            d[at + label] -= g[row]


# ---- normalization -------------------------------------------------------------------------------
# The backward pass adds up the gradients of gamma and beta over SUMMED rows at a time, then adds up
# these partial sums. The order of additions does not depend on the number of threads.


@CompiledTask
def layer_norm(numbers, first, last, memory):
    """Write rows of mean 0 and variance 1, times gamma plus beta; and each row's mean and rstd.

    Task arguments: the arrays x, gamma, beta, y, mean, rstd; then size, epsilon.
    """
    x, gamma, beta, y = (
        array(numbers[0]), array(numbers[1]), array(numbers[2]), array(numbers[3]),
    )  # fmt: skip
    mean, rstd, size, epsilon = (
        array(numbers[4]),
        array(numbers[5]),
        numbers[6],
        _f(real(numbers[7])),
    )
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


@CompiledTask
def layer_norm_back(numbers, first, last, memory):
    """Write the cotangent of x, and partial sums of the cotangents of gamma and beta.

    Task arguments: the arrays g, x, gamma, mean, rstd, d, partial sums for gamma and for beta; then
    size, whether d is needed.
    """
    g, x, gamma = array(numbers[0]), array(numbers[1]), array(numbers[2])
    mean, rstd, d = array(numbers[3]), array(numbers[4]), array(numbers[5])
    both, part, size, needed = array(numbers[6]), array(numbers[7]), numbers[8], numbers[9]
    share = _f(1) / _f(size)
    for begin in range(first, last, SUMMED):
        sums = begin // SUMMED * size
        for j in range(size):
            store(both, sums + j, _f(0), 4)
            store(part, sums + j, _f(0), 3)
        for row in range(begin, min(begin + SUMMED, last)):
            at, m, r = row * size, mean[row], rstd[row]
            total, product = _f(0), _f(0)
            for j in range(size):
                cotangent = load(g, at + j, 0)
                normal = (load(x, at + j, 1) - m) * r
                store(part, sums + j, load(part, sums + j, 3) + cotangent, 3)
                store(both, sums + j, load(both, sums + j, 4) + cotangent * normal, 4)
                scaled = cotangent * load(gamma, j, 2)
                total += scaled
                product += scaled * normal
            if needed == 0:
                continue
            total, product = total * share, product * share
            for j in range(size):
                normal = (load(x, at + j, 1) - m) * r
                scaled = load(g, at + j, 0) * load(gamma, j, 2)
                store(d, at + j, (scaled - total - normal * product) * r, 5)


@CompiledTask
def rms_norm(numbers, first, last, memory):
    """Write rows divided by their root mean square, times scale; and each row's rstd.

    Task arguments: the arrays x, scale, y, rstd; then size, epsilon.
    """
    x, scale, y, rstd = (
        array(numbers[0]), array(numbers[1]), array(numbers[2]), array(numbers[3]),
    )  # fmt: skip
    size, epsilon = numbers[4], _f(real(numbers[5]))
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


@CompiledTask
def rms_norm_back(numbers, first, last, memory):
    """Write the cotangent of x, and partial sums of the cotangent of scale.

    Task arguments: the arrays g, x, scale, rstd, d, partial sums for scale; then size, whether d is
    needed.
    """
    g, x, scale = array(numbers[0]), array(numbers[1]), array(numbers[2])
    rstd, d, both = array(numbers[3]), array(numbers[4]), array(numbers[5])
    size, needed = numbers[6], numbers[7]
    share = _f(1) / _f(size)
    for begin in range(first, last, SUMMED):
        sums = begin // SUMMED * size
        for j in range(size):
            store(both, sums + j, _f(0), 3)
        for row in range(begin, min(begin + SUMMED, last)):
            at, r = row * size, rstd[row]
            product = _f(0)
            for j in range(size):
                normal = load(x, at + j, 1) * r
                weighted = load(g, at + j, 0) * normal
                store(both, sums + j, load(both, sums + j, 3) + weighted, 3)
                product += weighted * load(scale, j, 2)
            if needed == 0:
                continue
            product *= share
            for j in range(size):
                normal = load(x, at + j, 1) * r
                store(d, at + j, (load(g, at + j, 0) * load(scale, j, 2) - normal * product) * r, 4)


@CompiledTask
def added_rows(numbers, first, last, memory):
    """Write the sum of the rows, added in order; work items are columns.

    Task arguments: the arrays x, y; then the number of rows, size.
    """
    x, y, rows, size = array(numbers[0]), array(numbers[1]), numbers[2], numbers[3]
    for j in range(first, last):
        store(y, j, _f(0), 1)
    for row in range(rows):
        for j in range(first, last):
            store(y, j, load(y, j, 1) + load(x, row * size + j, 0), 1)


# ---- sums of all elements ------------------------------------------------------------------------
# The elements are added in the order of NumPy's pairwise summation, to round the same: each block
# of up to 128 elements has eight partial sums, and block sums are added in pairs.


@kernel(forceinline=True, fastmath=False)
def _few(x, at, size):
    """Return the sum of up to _LEAF elements from index `at` on."""
    if size < 8:
        total = _f(0)
        for i in range(at, at + size):
            total += x[i]
        return total
    a, b, c, d = x[at], x[at + 1], x[at + 2], x[at + 3]
    e, f, g, h = x[at + 4], x[at + 5], x[at + 6], x[at + 7]
    whole = at + size // 8 * 8
    for i in range(at + 8, whole, 8):
        a, b, c, d = a + x[i], b + x[i + 1], c + x[i + 2], d + x[i + 3]
        e, f, g, h = e + x[i + 4], f + x[i + 5], g + x[i + 6], h + x[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, at + size):
        total += x[i]
    return total


_LEAF = 128


def _pairwise(numbers, first, last, memory):
    """Write the sum of all elements, divided by `count`.

    Task arguments: the arrays x, y; then size, count.
    """
    x, y, size, count = array(numbers[0]), array(numbers[1]), numbers[2], numbers[3]
    # `memory` is a stack of incomplete sums. Each entry has two numbers: the size of the second
    # half (0 while that half is being summed), and the sum of the first half.
    waiting, at, total = 0, 0, _f(0)
    while True:
        while size > _LEAF:
            half = size // 2
            half -= half % 8
            memory[2 * waiting] = size - half
            waiting += 1
            size = half
        total = _few(x, at, size)
        at += size
        while waiting > 0 and memory[2 * waiting - 2] == 0:
            waiting -= 1
            total = memory[2 * waiting + 1] + total
        if waiting == 0:
            break
        size = int(memory[2 * waiting - 2])
        memory[2 * waiting - 2], memory[2 * waiting - 1] = 0, total
    y[0] = total / _f(count)


pairwise = CompiledTask(_pairwise, fastmath=False)


# ---- gelu ----------------------------------------------------------------------------------------


@CompiledTask
def gelu(numbers, first, last, memory):
    """Write x Φ(x), Φ the normal distribution function.

    Task arguments: the arrays x, y.
    """
    x, y = array(numbers[0]), array(numbers[1])
    for i in range(first, last):
        store(y, i, math.gelu(load(x, i, 0)), 1)


@CompiledTask
def gelu_back(numbers, first, last, memory):
    """Write g times the derivative of gelu.

    Task arguments: the arrays g, x, d.
    """
    g, x, d = array(numbers[0]), array(numbers[1]), array(numbers[2])
    for i in range(first, last):
        store(d, i, load(g, i, 0) * math.gelu_slope(load(x, i, 1)), 2)


@CompiledTask
def gelu_tanh(numbers, first, last, memory):
    """Write gelu's tanh approximation.

    Task arguments: the arrays x, y.
    """
    x, y = array(numbers[0]), array(numbers[1])
    for i in range(first, last):
        store(y, i, math.gelu_tanh(load(x, i, 0)), 1)


@CompiledTask
def gelu_tanh_back(numbers, first, last, memory):
    """Write g times the derivative of the tanh approximation of gelu.

    Task arguments: the arrays g, x, d.
    """
    g, x, d = array(numbers[0]), array(numbers[1]), array(numbers[2])
    for i in range(first, last):
        store(d, i, load(g, i, 0) * math.gelu_tanh_slope(load(x, i, 1)), 2)


def warm():
    """Compile all tasks of this module ahead of time."""
    for task in (
        softmax, softmax_back, log_softmax, log_softmax_back, sparse_cross_entropy,
        sparse_cross_entropy_back, layer_norm, layer_norm_back, rms_norm, rms_norm_back, added_rows,
        pairwise, gelu, gelu_back, gelu_tanh, gelu_tanh_back,
    ):  # fmt: skip
        task.compiled  # noqa: B018  (the property compiles it)
