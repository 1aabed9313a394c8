"""Dot-product attention head by head: the Numba kernels of `kernels/attention.py`, for float32.

The forward and the backward pass are tasks (see `tasks`) with batch * heads work items. Queries,
keys, values and arrays like them are contiguous (batch, length, heads, width); the rows of a head
are `heads * width` apart, and are read in place. The micro-kernel writes the scores of some rows at
a time to scratch memory, which stays in the cache.

A task's arguments are the addresses of its arrays; heads, length, keys, width, width of the values;
the numbers of elements of bias and of mask; the strides (in elements) of each of these two for
(batch, heads, length, keys), 0 along broadcast axes; scale; and whether attention is causal.
"""

import numpy as np
from numba import (
    carray,  # pyright: ignore[reportPrivateImportUsage]
    types,
)

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.math import exp
from framework.kernels.fast.micro import WIDTH, pack, panel
from framework.kernels.fast.routine import routine
from framework.kernels.fast.rows import largest
from framework.kernels.fast.target import LANES
from framework.kernels.fast.tasks import CompiledTask, array, floats, pointer, real

_SCRATCH = 16384  # Scratch memory holds about this many scores, 64 KB.
_LEAST_ROWS, _MOST_ROWS = 16, 64

_f = np.float32
_LOW = _f(-0.7 * float(np.finfo(np.float32).max))

_bools = pointer(types.boolean)


@kernel(forceinline=True)
def _four(numbers, at):
    return numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]


@CompiledTask
def forward(numbers, first, last, memory):
    """Write `out` and each row's maximum and sum, (batch, heads, length).

    Arrays: q, k, v, bias, mask, out, the maxima, the sums.
    """
    _forward(
        array(numbers[0]), array(numbers[1]), array(numbers[2]),
        carray(floats(numbers[3]), numbers[13]), carray(_bools(numbers[4]), numbers[14]),
        array(numbers[5]), array(numbers[6]), array(numbers[7]), (numbers[8], *_four(numbers, 9)),
        _four(numbers, 15), _four(numbers, 19), _f(real(numbers[23])), numbers[24] != 0,
        first, last,
    )  # fmt: skip


@CompiledTask
def backward(numbers, first, last, memory):
    """Write the gradients of q, k and v.

    Arrays: g, q, k, v, bias, mask, out, the maxima, the sums, the gradients.
    """
    _backward(
        array(numbers[0]), array(numbers[1]), array(numbers[2]), array(numbers[3]),
        carray(floats(numbers[4]), numbers[17]), carray(_bools(numbers[5]), numbers[18]),
        array(numbers[6]), array(numbers[7]), array(numbers[8]), array(numbers[9]),
        array(numbers[10]), array(numbers[11]), (numbers[12], *_four(numbers, 13)),
        _four(numbers, 19), _four(numbers, 23), _f(real(numbers[27])), numbers[28] != 0,
        first, last,
    )  # fmt: skip


@kernel(forceinline=True)
def _forward(
    q, k, v, bias, mask, out, high, total, sizes, bias_strides, mask_strides, scale, causal,
    first, last,
):  # fmt: skip
    heads, length, keys, width, wide = sizes
    panels = (keys + WIDTH - 1) // WIDTH
    rows, stride = _block(keys, panels, causal)
    packed = np.empty((panels, width, WIDTH), np.float32)
    scores = np.empty(rows * stride, np.float32)
    skips, plain = causal and mask.size == 0, mask.size == 0 and bias.size == 0
    for head in range(first, last):
        n, h = head // heads, head % heads
        q_at, k_at = (n * length * heads + h) * width, (n * keys * heads + h) * width
        o_at, v_at = (n * length * heads + h) * wide, (n * keys * heads + h) * wide
        pack(k, k_at, 1, heads * width, width, keys, packed)
        flat = packed.reshape(-1)
        _scaled(flat, scale)
        for r in range(0, length, rows):
            here = min(rows, length - r)
            seen = min(keys, r + here) if skips else keys
            _products(scores, stride, q, q_at + r * heads * width, heads * width, flat, width,
                      here, seen)  # fmt: skip
            for i in range(here):
                shown = min(seen, r + i + 1) if skips else seen
                row = scores[i * stride : i * stride + shown]
                if not plain:
                    _mask(row, bias, mask, bias_strides, mask_strides, n, h, r + i, causal)
                most = largest(scores, i * stride, shown)
                s = _f(0)
                for j in range(shown):
                    e = exp(row[j] - most)
                    row[j] = e
                    s += e
                later = scores[i * stride + shown : i * stride + seen]
                for j in range(later.size):
                    later[j] = _f(0)
                high[head * length + r + i] = most
                total[head * length + r + i] = s
            o_row = heads * wide
            _times_rows(out, o_at + r * o_row, o_row, scores, stride, 1, v, v_at, o_row, seen, 0,
                        here, wide)  # fmt: skip
            for i in range(here):
                start = o_at + (r + i) * o_row
                made = out[start : start + wide]
                part = _f(1) / total[head * length + r + i]
                for c in range(wide):
                    made[c] *= part


@kernel(forceinline=True)
def _backward(
    g, q, k, v, bias, mask, out, high, total, d_q, d_k, d_v, sizes, bias_strides, mask_strides,
    scale, causal, first, last,
):  # fmt: skip
    heads, length, keys, width, wide = sizes
    panels = (keys + WIDTH - 1) // WIDTH
    rows, stride = _block(keys, panels, causal)
    packed_k = np.empty((panels, width, WIDTH), np.float32)
    packed_v = np.empty((panels, wide, WIDTH), np.float32)
    p = np.empty(rows * stride, np.float32)
    d = np.empty(rows * stride, np.float32)
    skips, plain = causal and mask.size == 0, mask.size == 0 and bias.size == 0
    q_row, v_row = heads * width, heads * wide
    for head in range(first, last):
        n, h = head // heads, head % heads
        q_at, k_at = (n * length * heads + h) * width, (n * keys * heads + h) * width
        o_at, v_at = (n * length * heads + h) * wide, (n * keys * heads + h) * wide
        pack(k, k_at, 1, q_row, width, keys, packed_k)
        pack(v, v_at, 1, v_row, wide, keys, packed_v)
        flat_k, flat_v = packed_k.reshape(-1), packed_v.reshape(-1)
        _scaled(flat_k, scale)
        if skips:
            for row in range(keys):
                _clear(d_k, k_at + row * q_row, width)
                _clear(d_v, v_at + row * v_row, wide)
        for r in range(0, length, rows):
            here = min(rows, length - r)
            seen = min(keys, r + here) if skips else keys
            own_q, own_o = q_at + r * q_row, o_at + r * v_row
            _products(p, stride, q, own_q, q_row, flat_k, width, here, seen)
            _products(d, stride, g, own_o, v_row, flat_v, wide, here, seen)
            for i in range(here):
                shown = min(seen, r + i + 1) if skips else seen
                row, slope = p[i * stride : i * stride + shown], d[i * stride : i * stride + shown]
                start = own_o + i * v_row
                mean = _dot(g[start : start + wide], out[start : start + wide])
                most = high[head * length + r + i]
                part = _f(1) / total[head * length + r + i]
                # If all positions of a row are masked, the row has no gradient.
                factor = _f(0) if mask.size > 0 and most <= _LOW else scale
                if not plain:
                    _mask(row, bias, mask, bias_strides, mask_strides, n, h, r + i, causal)
                for j in range(shown):
                    e = exp(row[j] - most) * part
                    row[j] = e
                    slope[j] = e * (slope[j] - mean) * factor
                for later in (p, d):
                    rest = later[i * stride + shown : i * stride + seen]
                    for j in range(rest.size):
                        rest[j] = _f(0)
            adds = 1 if r > 0 or skips else 0
            _times_rows(d_q, own_q, q_row, d, stride, 1, k, k_at, q_row, seen, 0, here, width)
            _times_rows(d_k, k_at, q_row, d, 1, stride, q, own_q, q_row, here, adds, seen, width)
            _times_rows(d_v, v_at, v_row, p, 1, stride, g, own_o, v_row, here, adds, seen, wide)


@kernel(forceinline=True)
def _block(keys, panels, causal):
    """Return how many rows of scores are computed at a time, and the stride between rows."""
    most = _LEAST_ROWS if causal else _MOST_ROWS
    rows = min(most, max(_LEAST_ROWS, _SCRATCH // max(keys, 1)))
    # Pad long rows: rows whose distance is a multiple of a page would share few cache sets.
    return rows, panels * WIDTH + (LANES if keys >= 256 else 0)


@kernel(forceinline=True)
def _clear(x, at, size):
    for i in range(at, at + size):
        x[i] = _f(0)


@routine
def _scaled(x, factor):
    for i in range(x.size):
        x[i] *= factor


@routine
def _products(scores, stride, a, a_at, a_row, packed, depth, rows, keys):
    """Compute scores[i, j], the product of row i of `a` and key j of the packed keys."""
    for j in range(0, keys, WIDTH):
        panel(
            scores, j, stride, a, a_at, a_row, 1, packed, j * depth, WIDTH, depth, 1, 0, 0, 0,
            rows, min(WIDTH, keys - j),
        )  # fmt: skip


@routine
def _times_rows(c, c_at, c_row, a, a_row, a_step, b, b_at, b_row, steps, add, rows, columns):
    """Compute C = A B, or C += A B with `add`; A begins at the first element of `a`."""
    for j in range(0, columns, WIDTH):
        panel(
            c, c_at + j, c_row, a, 0, a_row, a_step, b, b_at + j, b_row, steps, 1, 0, 0, add, rows,
            min(WIDTH, columns - j),
        )  # fmt: skip


@routine
def _mask(row, bias, mask, bias_strides, mask_strides, n, h, r, causal):
    """Turn products into scores: add the bias, and write `_LOW` at masked positions."""
    size = row.size
    if bias.size > 0:
        start = n * bias_strides[0] + h * bias_strides[1] + r * bias_strides[2]
        if bias_strides[3] == 1:
            own = bias[start : start + size]
            for j in range(size):
                row[j] += own[j]
        else:
            for j in range(size):
                row[j] += bias[start]
    if mask.size > 0:
        start = n * mask_strides[0] + h * mask_strides[1] + r * mask_strides[2]
        if mask_strides[3] == 1:
            shown = mask[start : start + size]
            for j in range(size):
                row[j] = row[j] if shown[j] else _LOW
        elif not mask[start]:
            for j in range(size):
                row[j] = _LOW
    if causal:
        for j in range(r + 1, size):
            row[j] = _LOW


@kernel(forceinline=True)
def _dot(a, b):
    s = _f(0)
    for i in range(a.size):
        s += a[i] * b[i]
    return s


def warm():
    """Compile the tasks `forward` and `backward` ahead of time."""
    for task in (forward, backward):
        task.compiled  # noqa: B018  (the property compiles it)
