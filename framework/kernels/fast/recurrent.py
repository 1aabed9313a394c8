"""Recurrent cells over whole sequences, for some rows of the batch: see `kernels/recurrent.py`.

Arrays are flat and have the layout described there. One call runs all steps of the rows `first` to
`last`, so that threads share the batch without barriers. The mask is (time, batch), or empty for
none.
"""

import numpy as np

from framework.kernels.fast.jit import kernel
from framework.kernels.fast.math import sigmoid, tanh
from framework.kernels.fast.micro import WIDTH, pack, panel
from framework.kernels.fast.routine import routine

_ONE = np.float32(1)


def packed(weights):
    """Pack a matrix (steps, columns), which may be a transposed view, into flat panels."""
    steps, columns = weights.shape
    panels = np.empty((-(-columns // WIDTH), steps, WIDTH), np.float32)
    transposed = not weights.flags.c_contiguous
    flat = np.ascontiguousarray(weights.T if transposed else weights).reshape(-1)
    b_step, b_column = (1, steps) if transposed else (columns, 1)
    pack(flat, 0, b_step, b_column, steps, columns, panels)
    return panels.reshape(-1)


@routine
def _product(c, c_at, c_row, a, a_at, a_row, b, steps, rows, columns, add):
    """Compute C = A B or C += A B, where B is packed and rows of A are contiguous."""
    for j in range(0, columns, WIDTH):
        panel(
            c, c_at + j, c_row, a, a_at, a_row, 1, b, j * steps, WIDTH, steps, 1, 0, 0, add, rows,
            min(WIDTH, columns - j),
        )  # fmt: skip


@kernel(forceinline=True)
def _sigmoids(z):
    for j in range(z.size):
        z[j] = sigmoid(z[j])


@kernel(forceinline=True)
def _tanhs(z):
    for j in range(z.size):
        z[j] = tanh(z[j])


@kernel(forceinline=True)
def _copied(source, target):
    for j in range(source.size):
        target[j] = source[j]


@kernel(forceinline=True)
def _added(source, target):
    for j in range(source.size):
        target[j] += source[j]


# ---- backward pass, common to all cells ----------------------------------------------------------
# The array `d`, (steps, rows, columns), holds the cotangents of the gates' pre-activations. It
# covers a few steps only, so that it is still in the cache when dw is computed.

# `d` has about this many rows (steps times batch), because a panel of them fits in the L1 cache.
_DEPTH = 128


@kernel(forceinline=True)
def _row(columns):
    """Return the padded length of a row of `d`: an odd number of lines uses all cache sets."""
    lines = (columns + 15) // 16
    return 16 * (lines + 1 - lines % 2)


@routine
def _states_back(d, d_at, row, steps, add, weights, mask, r, units, count, dh, dh_at):
    """Compute dh, the state's cotangent, from one step of `d`; keep dh in masked rows."""
    start = 0
    while start < count:  # Each iteration handles adjacent rows that are not masked.
        stop = count
        if mask.size:
            while start < count and not mask[r + start]:
                start += 1
            stop = start
            while stop < count and mask[r + stop]:
                stop += 1
        if stop > start:
            _product(
                dh, dh_at + start * units, units, d, d_at + start * row, row, weights, steps,
                stop - start, units, add,
            )  # fmt: skip
        start = stop


@routine
def _weights_back(dw, height, rows, at, stride, run, d, d_at, row, columns, count, steps):
    """Add rowsᵀ d to dw, where `rows` and `d` cover `steps` steps of `count` batch rows."""
    for j in range(0, columns, WIDTH):
        panel(
            dw, j, columns, rows, at, 1, stride, d, d_at + j, row, count, steps, run, count * row,
            1, height, min(WIDTH, columns - j),
        )  # fmt: skip


# ---- LSTM ----------------------------------------------------------------------------------------


@kernel(forceinline=True)
def _next_cell(i, f, candidate, before, after):
    for j in range(i.size):
        after[j] = f[j] * before[j] + i[j] * candidate[j]


@kernel(forceinline=True)
def _next_output(o, cell, h):
    for j in range(o.size):
        h[j] = o[j] * tanh(cell[j])


@kernel
def lstm(rows, stride, gates, cells, weights, mask, width, units, batch, first, last):
    """Run an LSTM: write the gates, the cell states, and the states (columns of `rows`)."""
    columns = 4 * units
    for t in range(gates.size // (batch * columns)):
        start = t * batch + first
        _product(
            gates, start * columns, columns, rows, start * stride, stride, weights, width,
            last - first, columns, 0,
        )  # fmt: skip
        for r in range(t * batch + first, t * batch + last):
            z = gates[r * columns : (r + 1) * columns]
            before, after = cells[r * units :][:units], cells[(r + batch) * units :][:units]
            h = rows[(r + batch) * stride :][:units]
            _sigmoids(z[: 2 * units])
            _tanhs(z[2 * units : 3 * units])
            _sigmoids(z[3 * units :])
            _next_cell(z[:units], z[units : 2 * units], z[2 * units : 3 * units], before, after)
            _next_output(z[3 * units :], after, h)
            if mask.size and not mask[r]:
                _copied(before, after)
                _copied(rows[r * stride :][:units], h)


@kernel(forceinline=True)
def _through_output(o, cell, dh, dc, do):
    for j in range(o.size):
        s = tanh(cell[j])
        part = dh[j] * o[j]
        do[j] = part * s * (_ONE - o[j])
        dc[j] += part * (_ONE - s * s)


@kernel(forceinline=True)
def _through_candidate(i, candidate, dc, di, dcandidate):
    for j in range(i.size):
        part = dc[j] * i[j]
        di[j] = part * candidate[j] * (_ONE - i[j])
        dcandidate[j] = part * (_ONE - candidate[j] * candidate[j])


@kernel(forceinline=True)
def _through_forgetting(f, before, dc, df):
    for j in range(f.size):
        part = dc[j] * f[j]
        df[j] = part * before[j] * (_ONE - f[j])
        dc[j] = part


@kernel
def lstm_back(
    g_steps, rows, stride, gates, cells, of_state, of_input, mask, width, units, batch, first, last,
    dh, dc, dx, dw,
):  # fmt: skip
    """Run the backward pass of `lstm`.

    dh and dc hold the cotangents of the last states, and receive those of the initial states. Write
    dx, and add the weights' cotangent to dw, unless these arrays are empty.
    """
    columns, count = 4 * units, last - first
    features = width - 1 - units
    depth = max(1, _DEPTH // count)
    row = _row(columns)
    d = np.empty(depth * count * row, np.float32)
    stop = gates.size // (batch * columns)
    while stop > 0:
        start = max(0, stop - depth)
        for t in range(stop - 1, start - 1, -1):
            d_at = (t - start) * count * row
            for b in range(first, last):
                r = t * batch + b
                z, dz = gates[r * columns :][:columns], d[d_at + (b - first) * row :][:columns]
                dh_b, dc_b = dh[b * units :][:units], dc[b * units :][:units]
                if g_steps.size:
                    _added(g_steps[r * units :][:units], dh_b)
                if mask.size and not mask[r]:
                    dz[:] = np.float32(0)
                    continue
                i, f = z[:units], z[units : 2 * units]
                candidate, o = z[2 * units : 3 * units], z[3 * units :]
                _through_output(
                    o, cells[(r + batch) * units :][:units], dh_b, dc_b, dz[3 * units :]
                )
                _through_candidate(i, candidate, dc_b, dz[:units], dz[2 * units : 3 * units])
                _through_forgetting(f, cells[r * units :][:units], dc_b, dz[units : 2 * units])
            r = t * batch + first
            _states_back(
                d, d_at, row, columns, 0, of_state, mask, r, units, count, dh, first * units
            )
            if dx.size:
                _product(
                    dx, r * features, features, d, d_at, row, of_input, columns, count,
                    features, 0,
                )  # fmt: skip
        if dw.size:
            _weights_back(
                dw, width, rows, (start * batch + first) * stride, stride, batch * stride, d, 0,
                row, columns, count, stop - start,
            )  # fmt: skip
        stop = start


# ---- simple RNN ----------------------------------------------------------------------------------


@kernel
def simple_rnn(rows, stride, weights, mask, width, units, batch, first, last):
    """Run a simple RNN: write the states, which are columns of `rows`."""
    for t in range(rows.size // (batch * stride) - 1):
        start = t * batch + first
        _product(
            rows, (start + batch) * stride, stride, rows, start * stride, stride, weights, width,
            last - first, units, 0,
        )  # fmt: skip
        for r in range(t * batch + first, t * batch + last):
            h = rows[(r + batch) * stride :][:units]
            _tanhs(h)
            if mask.size and not mask[r]:
                _copied(rows[r * stride :][:units], h)


@kernel(forceinline=True)
def _through_tanh(y, dy, d):
    for j in range(y.size):
        d[j] = dy[j] * (_ONE - y[j] * y[j])


@kernel
def simple_rnn_back(
    g_steps, rows, stride, of_state, of_input, mask, width, units, batch, first, last, dh, dx, dw
):
    """Run the backward pass of `simple_rnn`; see `lstm_back`."""
    count = last - first
    features = width - 1 - units
    depth = max(1, _DEPTH // count)
    row = _row(units)
    d = np.empty(depth * count * row, np.float32)
    stop = rows.size // (batch * stride) - 1
    while stop > 0:
        start = max(0, stop - depth)
        for t in range(stop - 1, start - 1, -1):
            d_at = (t - start) * count * row
            for b in range(first, last):
                r = t * batch + b
                dh_b, dz = dh[b * units :][:units], d[d_at + (b - first) * row :][:units]
                if g_steps.size:
                    _added(g_steps[r * units :][:units], dh_b)
                if mask.size and not mask[r]:
                    dz[:] = np.float32(0)
                else:
                    _through_tanh(rows[(r + batch) * stride :][:units], dh_b, dz)
            r = t * batch + first
            _states_back(d, d_at, row, units, 0, of_state, mask, r, units, count, dh, first * units)
            if dx.size:
                _product(
                    dx, r * features, features, d, d_at, row, of_input, units, count, features, 0
                )
        if dw.size:
            _weights_back(
                dw, width, rows, (start * batch + first) * stride, stride, batch * stride, d, 0,
                row, units, count, stop - start,
            )  # fmt: skip
        stop = start


# ---- GRU -----------------------------------------------------------------------------------------


@kernel(forceinline=True)
def _candidates(r, part, candidate):
    for j in range(r.size):
        candidate[j] = tanh(candidate[j] + r[j] * part[j])


@kernel(forceinline=True)
def _mixed(z, candidate, before, after):
    for j in range(z.size):
        after[j] = candidate[j] + z[j] * (before[j] - candidate[j])


@kernel
def gru(
    rows, stride, gates, of_input, of_part, of_gates, mask, features, units, batch, first, last
):
    """Run a GRU: write the gates, and the states, which are columns of `rows`.

    Args:
        of_input: the packed weights of the inputs.
        of_part: the packed weights by which the state enters the candidate.
        of_gates: the packed weights by which the state enters the update and reset gates.
    """
    columns, count = 4 * units, last - first
    for t in range(gates.size // (batch * columns)):
        start = t * batch + first
        here, h_at = start * columns, start * stride
        _product(
            gates, here + units, columns, rows, h_at + units, stride, of_input, 1 + features, count,
            3 * units, 0,
        )  # fmt: skip
        _product(gates, here, columns, rows, h_at, stride, of_part, units + 1, count, units, 0)
        _product(
            gates, here + units, columns, rows, h_at, stride, of_gates, units + 1, count, 2 * units,
            1,
        )  # fmt: skip
        for r in range(t * batch + first, t * batch + last):
            z = gates[r * columns : (r + 1) * columns]
            before, after = rows[r * stride :][:units], rows[(r + batch) * stride :][:units]
            _sigmoids(z[units : 3 * units])
            _candidates(z[2 * units : 3 * units], z[:units], z[3 * units :])
            _mixed(z[units : 2 * units], z[3 * units :], before, after)
            if mask.size and not mask[r]:
                _copied(before, after)


@kernel(forceinline=True)
def _through_mixing(z, candidate, before, dh, dz, dcandidate):
    for j in range(z.size):
        g = dh[j]
        dz[j] = g * (before[j] - candidate[j]) * z[j] * (_ONE - z[j])
        dcandidate[j] = g * (_ONE - z[j]) * (_ONE - candidate[j] * candidate[j])
        dh[j] = g * z[j]


@kernel(forceinline=True)
def _through_reset(r, part, dcandidate, dr, dpart):
    for j in range(r.size):
        dpart[j] = dcandidate[j] * r[j]
        dr[j] = dcandidate[j] * part[j] * r[j] * (_ONE - r[j])


@kernel
def gru_back(
    g_steps, rows, stride, gates, of_state, of_input, mask, features, units, batch, first, last, dh,
    dx, dw_input, dw_state,
):  # fmt: skip
    """Run the backward pass of `gru`, like `lstm_back`, but with two weight cotangents."""
    columns, count = 4 * units, last - first
    depth = max(1, _DEPTH // count)
    row = _row(columns)
    d = np.empty(depth * count * row, np.float32)
    stop = gates.size // (batch * columns)
    while stop > 0:
        start = max(0, stop - depth)
        for t in range(stop - 1, start - 1, -1):
            d_at = (t - start) * count * row
            for b in range(first, last):
                r = t * batch + b
                z, dz = gates[r * columns :][:columns], d[d_at + (b - first) * row :][:columns]
                dh_b = dh[b * units :][:units]
                if g_steps.size:
                    _added(g_steps[r * units :][:units], dh_b)
                if mask.size and not mask[r]:
                    dz[:] = np.float32(0)
                    continue
                update, reset = z[units : 2 * units], z[2 * units : 3 * units]
                d_candidate = dz[3 * units :]
                _through_mixing(
                    update, z[3 * units :], rows[r * stride :][:units], dh_b,
                    dz[units : 2 * units], d_candidate,
                )  # fmt: skip
                _through_reset(reset, z[:units], d_candidate, dz[2 * units : 3 * units], dz[:units])
            r = t * batch + first
            _states_back(
                d, d_at, row, 3 * units, 1, of_state, mask, r, units, count, dh, first * units
            )
            if dx.size:
                _product(
                    dx, r * features, features, d, d_at + units, row, of_input, 3 * units,
                    count, features, 0,
                )  # fmt: skip
        if dw_input.size:
            at = (start * batch + first) * stride
            _weights_back(
                dw_input, 1 + features, rows, at + units, stride, batch * stride, d, units, row,
                3 * units, count, stop - start,
            )  # fmt: skip
            _weights_back(
                dw_state, units + 1, rows, at, stride, batch * stride, d, 0, row, 3 * units,
                count, stop - start,
            )  # fmt: skip
        stop = start


def warm():
    """Compile the kernels ahead of time; an empty mask compiles the same code as any other."""
    x, nothing, mask = np.zeros(64, np.float32), np.empty(0, np.float32), np.empty(0, bool)
    w = packed(np.zeros((4, 4), np.float32))
    simple_rnn(x, 16, w, mask, 3, 1, 1, 0, 1)
    simple_rnn_back(nothing, x, 16, w, w, mask, 3, 1, 1, 0, 1, x.copy(), nothing, nothing)
    lstm(x, 16, x[:4].copy(), x.copy(), w, mask, 3, 1, 1, 0, 1)
    gru(x, 16, x[:4].copy(), w, w, w, mask, 1, 1, 1, 0, 1)
    lstm_back(
        nothing, x, 16, x[:4].copy(), x.copy(), w, w, mask, 3, 1, 1, 0, 1, x.copy(), x.copy(),
        nothing, nothing,
    )  # fmt: skip
    gru_back(
        nothing, x, 16, x[:4].copy(), w, w, mask, 1, 1, 1, 0, 1, x.copy(), nothing, nothing, nothing
    )
