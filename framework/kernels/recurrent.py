"""Whole sequences through recurrent cells, in time-major arrays.

`rows[t, b]` is [h | 1 | x]: the state before step t, a one for the bias, the input of step t. So a
step is one product with the stacked weights [recurrent_kernel; bias; kernel], and after the last
step one product gives the cotangents of all three. Sigmoids are 0.5 tanh(z / 2) + 0.5: with their
columns of the weights halved, one tanh serves all gates.
"""

import numpy as np


def rows_of(x, h, mask):
    """The rows with the inputs and the first state in them, and the mask by steps as (t, b, 1)."""
    batch, time, features = x.shape
    units = h.shape[1]
    width = units + 1 + features
    rows = np.empty((time + 1, batch, -(-width // 16) * 16), x.dtype)[:, :, :width]
    rows[0, :, :units] = h
    rows[:, :, units] = 1
    rows[:time, :, units + 1 :] = x.swapaxes(0, 1)
    return rows, None if mask is None else mask.T[:, :, None]


def stacked(recurrent_kernel, bias, kernel, halved=None):
    """[recurrent_kernel; bias; kernel], the columns that `halved` selects divided by 2."""
    units = len(recurrent_kernel)
    made = np.empty((units + 1 + len(kernel), kernel.shape[1]), kernel.dtype)
    made[:units] = recurrent_kernel
    made[units] = 0 if bias is None else bias
    made[units + 1 :] = kernel
    if halved is not None:
        made[:, halved] *= 0.5
    return made


def blocks(z, units):
    """Views of the blocks of `units` columns."""
    return [z[..., k : k + units] for k in range(0, z.shape[-1], units)]


def _squash(z):
    """The sigmoid of 2 z in place."""
    np.tanh(z, out=z)
    z *= 0.5
    z += 0.5


def _slope(y):
    """The sigmoid's derivative, from its value."""
    return y - y * y


# ---- LSTM: gates are (t, b, 4 units) in Keras's order: input, forget, candidate, output ----------


def lstm(x, h, c, kernel, recurrent_kernel, bias, mask):
    """(rows, gates, cells) of a whole sequence; `rows[1:]` and `cells[1:]` hold the states."""
    rows, mask = rows_of(x, h, mask)
    time, units = len(rows) - 1, h.shape[1]
    sigmoids = np.arange(4 * units) // units != 2
    weights = stacked(recurrent_kernel, bias, kernel, sigmoids)
    half = np.where(sigmoids, 0.5, 1).astype(x.dtype)
    shift = np.where(sigmoids, 0.5, 0).astype(x.dtype)
    gates = np.empty((time, len(x), 4 * units), x.dtype)
    cells = np.empty((time + 1, *c.shape), x.dtype)
    cells[0] = c
    part = np.empty_like(cells[0])
    for t in range(time):
        z = np.matmul(rows[t], weights, out=gates[t])
        np.tanh(z, out=z)
        z *= half
        z += shift
        i, f, candidate, o = blocks(z, units)
        c, h = cells[t + 1], rows[t + 1, :, :units]
        np.multiply(f, cells[t], out=c)
        c += np.multiply(i, candidate, out=part)
        np.multiply(o, np.tanh(c, out=part), out=h)
        if mask is not None:
            keep = ~mask[t]
            np.copyto(c, cells[t], where=keep)
            np.copyto(h, rows[t, :, :units], where=keep)
    return rows, gates, cells


def lstm_back(g_sequence, g_h, g_c, recurrent_kernel, mask, gates, cells):
    """Cotangents of the gates before their activations (t, b, 4 units), and of the first h and c.

    `g_sequence` is time-major, or None.
    """
    d = np.empty_like(gates)
    dh, dc = np.array(g_h), np.array(g_c)
    units = dh.shape[1]
    part, slope = np.empty_like(dh), np.empty_like(d[0]) if len(d) else None
    transposed = np.ascontiguousarray(recurrent_kernel.T)
    for t in range(len(d) - 1, -1, -1):
        if g_sequence is not None:
            dh += g_sequence[t]
        keep = None if mask is None else ~mask[:, t, None]
        held = None if keep is None else (dh.copy(), dc.copy())
        i, f, candidate, o = blocks(gates[t], units)
        di, df, dcandidate, do = blocks(d[t], units)
        np.tanh(cells[t + 1], out=part)
        np.multiply(dh, part, out=do)
        part *= part
        np.subtract(1, part, out=part)
        part *= o
        part *= dh
        dc += part
        np.multiply(dc, candidate, out=di)
        np.multiply(dc, cells[t], out=df)
        np.multiply(dc, i, out=dcandidate)
        dc *= f
        np.multiply(gates[t], gates[t], out=slope)
        square = np.subtract(1, blocks(slope, units)[2], out=part)
        np.subtract(gates[t], slope, out=slope)
        blocks(slope, units)[2][...] = square
        d[t] *= slope
        if keep is not None:
            np.copyto(d[t], 0, where=keep)
            np.copyto(dc, held[1], where=keep)
        np.matmul(d[t], transposed, out=dh)
        if keep is not None:
            np.copyto(dh, held[0], where=keep)
    return d, dh, dc


# ---- what LSTM and the simple cell share -------------------------------------------------------


def weights_back(rows, d):
    """The cotangent of [recurrent_kernel; bias; kernel]."""
    time, batch, width = len(d), d.shape[1], rows.shape[2]
    return rows[:time].reshape(time * batch, width).T @ d.reshape(time * batch, d.shape[2])


def inputs_back(d, kernel):
    """The cotangent of the inputs, (batch, time, features)."""
    time, batch, columns = d.shape
    return (
        (d.reshape(time * batch, columns) @ kernel.T)
        .reshape(time, batch, len(kernel))
        .swapaxes(0, 1)
    )


# ---- the simple cell -----------------------------------------------------------------------------


def simple_rnn(x, h, kernel, recurrent_kernel, bias, mask):
    """`rows` of a whole sequence; `rows[1:]` hold the states."""
    rows, mask = rows_of(x, h, mask)
    units = h.shape[1]
    weights = stacked(recurrent_kernel, bias, kernel)
    z = np.empty(h.shape, x.dtype)
    for t in range(len(rows) - 1):
        np.matmul(rows[t], weights, out=z)
        np.tanh(z, out=rows[t + 1, :, :units])
        if mask is not None:
            np.copyto(rows[t + 1, :, :units], rows[t, :, :units], where=~mask[t])
    return rows


def simple_rnn_back(g_sequence, g_h, recurrent_kernel, mask, rows):
    """Cotangents of the sums before the tanh (t, b, units), and of the first state."""
    dh = np.array(g_h)
    units = dh.shape[1]
    d = np.empty((len(rows) - 1, *dh.shape), dh.dtype)
    transposed = np.ascontiguousarray(recurrent_kernel.T)
    for t in range(len(d) - 1, -1, -1):
        if g_sequence is not None:
            dh += g_sequence[t]
        y = rows[t + 1, :, :units]
        np.multiply(y, y, out=d[t])
        np.subtract(1, d[t], out=d[t])
        d[t] *= dh
        if mask is None:
            np.matmul(d[t], transposed, out=dh)
        else:
            keep = ~mask[:, t, None]
            np.copyto(d[t], 0, where=keep)
            dh = np.where(keep, dh, d[t] @ transposed)
    return d, dh


# ---- GRU with the reset gate after the product (Cho et al. 2014, arXiv:1406.1078v1) --------------
# gates are (t, b, 4 units): the state's part of the candidate, update, reset, candidate. Those
# that the state enters are the first three blocks, those that the input enters the last three.


def gru(x, h, kernel, recurrent_kernel, bias, mask):
    """(rows, gates) of a whole sequence; `rows[1:]` hold the states. bias is (2, 3 units)."""
    rows, mask = rows_of(x, h, mask)
    time, batch, units = len(rows) - 1, len(x), h.shape[1]
    of_input, of_state = gru_weights(kernel, recurrent_kernel, bias)
    gates = np.empty((time, batch, 4 * units), x.dtype)
    inputs = rows[:time].reshape(time * batch, rows.shape[2])[:, units:]
    gates.reshape(time * batch, 4 * units)[:, units:] = inputs @ of_input
    z = np.empty((batch, 3 * units), x.dtype)
    for t in range(time):
        before, after = rows[t, :, :units], rows[t + 1, :, :units]
        np.matmul(rows[t, :, : units + 1], of_state, out=z)
        part, update, reset, candidate = blocks(gates[t], units)
        part[...] = z[:, :units]
        both = gates[t, :, units : 3 * units]
        both += z[:, units:]
        _squash(both)
        candidate += reset * part
        np.tanh(candidate, out=candidate)
        np.subtract(before, candidate, out=after)
        after *= update
        after += candidate
        if mask is not None:
            np.copyto(after, before, where=~mask[t])
    return rows, gates


def gru_weights(kernel, recurrent_kernel, bias):
    """[bias; kernel] for update, reset, candidate; [recurrent_kernel; bias] for the candidate's
    part, update, reset; those of the sigmoids halved."""
    units = len(recurrent_kernel)
    of_input = np.empty((1 + len(kernel), 3 * units), kernel.dtype)
    of_state = np.empty((units + 1, 3 * units), kernel.dtype)
    of_input[0] = 0 if bias is None else bias[0]
    of_input[1:] = kernel
    of_state[:units] = candidate_first(recurrent_kernel)
    of_state[units] = 0 if bias is None else candidate_first(bias[1])
    of_input[:, : 2 * units] *= 0.5
    of_state[:, units:] *= 0.5
    return of_input, of_state


def candidate_first(a):
    """Keras's (update, reset, candidate) columns as (candidate, update, reset)."""
    return np.roll(a, a.shape[-1] // 3, axis=-1)


def gru_back(g_sequence, g_h, recurrent_kernel, mask, rows, gates):
    """Cotangents of the gates before their activations (t, b, 4 units), and of the first state."""
    d = np.empty_like(gates)
    dh = np.array(g_h)
    units = dh.shape[1]
    transposed = np.ascontiguousarray(candidate_first(recurrent_kernel).T)
    for t in range(len(d) - 1, -1, -1):
        if g_sequence is not None:
            dh += g_sequence[t]
        part, update, reset, candidate = blocks(gates[t], units)
        dpart, dupdate, dreset, dcandidate = blocks(d[t], units)
        np.multiply(dh, 1 - update, out=dcandidate)
        dcandidate *= 1 - candidate * candidate
        np.multiply(dcandidate, reset, out=dpart)
        np.multiply(dcandidate, part, out=dreset)
        np.multiply(dh, rows[t, :, :units] - candidate, out=dupdate)
        dreset *= _slope(reset)
        dupdate *= _slope(update)
        if mask is None:
            dh *= update
            dh += d[t, :, : 3 * units] @ transposed
        else:
            keep = ~mask[:, t, None]
            np.copyto(d[t], 0, where=keep)
            dh = np.where(keep, dh, dh * update + d[t, :, : 3 * units] @ transposed)
    return d, dh


def gru_weights_back(rows, d):
    """Cotangents of [bias; kernel] and [recurrent_kernel; bias], in Keras's order of columns."""
    time, batch, width = len(d), d.shape[1], rows.shape[2]
    units = d.shape[2] // 4
    rows, d = rows[:time].reshape(time * batch, width), d.reshape(time * batch, 4 * units)
    of_input = rows[:, units:].T @ d[:, units:]
    of_state = rows[:, : units + 1].T @ d[:, : 3 * units]
    return of_input, np.roll(of_state, -units, axis=1)
