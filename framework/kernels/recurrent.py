"""Recurrent cells over whole sequences, in time-major arrays.

`rows[t, b]` is [h | 1 | x | padding]: the state before step t, a one for the bias, and the input of
step t. So each step is one product with the stacked weights [recurrent_kernel; bias; kernel], and
in the backward pass a single product gives the cotangents of all three. Where the mask (time,
batch) is False, states do not change.

NumPy computes sigmoids as 0.5 tanh(z / 2) + 0.5. The weights' columns of sigmoid gates are halved,
so one call of tanh computes all gates.
"""

import numpy as np

from framework.kernels import threads, tier
from framework.kernels.contiguous import contiguous, flattened

# The Numba kernels are used if a sequence takes at least this many multiplications (300 µs).
_COMPILED = 1 << 17
_SHARED = 1 << 24  # Threads share the batch from this many multiplications (200 µs) on.


def rows_of(x, h):
    """Return a new `rows` (see the module's docstring) with the inputs and the initial state."""
    batch, time, features = x.shape
    units = h.shape[1]
    width = units + 1 + features
    rows = np.empty((time + 1, batch, -(-width // 16) * 16), x.dtype)
    rows[0, :, :units] = h
    rows[:, :, units] = 1
    rows[:time, :, units + 1 : width] = x.swapaxes(0, 1)
    return rows


def stacked(recurrent_kernel, bias, kernel, factors=None):
    """Return [recurrent_kernel; bias; kernel] with its columns multiplied by `factors`."""
    units = len(recurrent_kernel)
    weights = np.empty((units + 1 + len(kernel), kernel.shape[1]), kernel.dtype)
    weights[:units] = recurrent_kernel
    weights[units] = 0 if bias is None else bias
    weights[units + 1 :] = kernel
    if factors is not None:
        weights *= factors
    return weights


def blocks(z, units):
    """Return a list of views: for each gate, its block of `units` columns of z."""
    return [z[..., k : k + units] for k in range(0, z.shape[-1], units)]


def _compiled(array, work):
    """Return the module of Numba kernels, or None if NumPy is used.

    Args:
        array: an array with about one row per step.
        work: the number of multiplications of one step.
    """
    if array.dtype != np.float32 or work * len(array) < _COMPILED:
        return None
    return tier.library("recurrent")


def _share(function, work, time, batch):
    """Call `function((first, last))` for ranges of the batch, on threads if that is faster."""
    count = threads.count() if work * time >= _SHARED else 1
    step = -(-batch // (8 * count)) * 8
    parts = [(first, min(batch, first + step)) for first in range(0, batch, step)]
    if len(parts) == 1:
        function(parts[0])
    else:
        threads.run(function, parts)


def _flat(array, dtype):
    """Return the array with a single axis; None becomes an empty array."""
    return np.empty(0, dtype) if array is None else flattened(array)


def _transposed(fast, *kernels):
    return [fast.packed(contiguous(w).T) for w in kernels]


# ---- LSTM: gates are (t, b, 4 units) in Keras's order: input, forget, candidate, output ----------


def lstm(x, h, c, kernel, recurrent_kernel, bias, mask):
    """Return (rows, gates, cells) of a sequence; `rows[1:]` and `cells[1:]` contain the states."""
    rows = rows_of(x, h)
    time, batch, units = len(rows) - 1, len(x), h.shape[1]
    width = units + 1 + len(kernel)
    gates = np.empty((time, batch, 4 * units), x.dtype)
    cells = np.empty((time + 1, *c.shape), x.dtype)
    cells[0] = c
    work = batch * width * 4 * units
    fast = _compiled(gates, work)
    if fast is None:
        _lstm(rows[:, :, :width], gates, cells, kernel, recurrent_kernel, bias, mask)
        return rows, gates, cells
    weights, mask = fast.packed(stacked(recurrent_kernel, bias, kernel)), _flat(mask, bool)
    stride, flat = rows.shape[2], [a.reshape(-1) for a in (rows, gates, cells)]
    _share(
        lambda part: fast.lstm(
            flat[0], stride, flat[1], flat[2], weights, mask, width, units, batch, *part
        ), work, time, batch,
    )  # fmt: skip
    return rows, gates, cells


def _lstm(rows, gates, cells, kernel, recurrent_kernel, bias, mask):
    units = cells.shape[2]
    is_tanh = np.arange(4 * units) // units == 2
    half, shift = (np.where(is_tanh, n, 0.5).astype(rows.dtype) for n in (1, 0))
    weights = stacked(recurrent_kernel, bias, kernel, half)
    states, part = rows[:, :, :units], np.empty_like(cells[0])
    for t in range(len(gates)):
        z = np.matmul(rows[t], weights, out=gates[t])
        np.tanh(z, out=z)
        z *= half
        z += shift
        i, f, candidate, o = blocks(z, units)
        c, h = cells[t + 1], states[t + 1]
        np.multiply(f, cells[t], out=c)
        c += np.multiply(i, candidate, out=part)
        np.multiply(o, np.tanh(c, out=part), out=h)
        if mask is not None:
            masked = ~mask[t, :, None]
            np.copyto(c, cells[t], where=masked)
            np.copyto(h, states[t], where=masked)


def lstm_back(
    g_steps, g_h, g_c, kernel, recurrent_kernel, mask, rows, gates, cells, *, inputs, weights
):
    """Return the cotangents of x, the initial h and c, and [recurrent_kernel; bias; kernel].

    Args:
        g_steps: the outputs' cotangent, time-major, or None.
        inputs, weights: whether the cotangents of x and of the weights are needed; otherwise they
            are None.
    """
    dh, dc = np.array(g_h, order="C"), np.array(g_c, order="C")
    batch, units = dh.shape
    width = units + 1 + len(kernel)
    work = batch * width * 4 * units
    fast = _compiled(gates, work)
    if fast is None:
        d = np.empty_like(gates)
        _lstm_back(g_steps, recurrent_kernel, mask, gates, cells, d, dh, dc)
        dx = _inputs_back(d, kernel) if inputs else None
        return dx, dh, dc, _weights_back(rows, 0, width, d) if weights else None
    packed = _transposed(fast, recurrent_kernel, kernel)
    rows, gates, cells = (np.ascontiguousarray(a) for a in (rows, gates, cells))
    cotangents = _Cotangents(len(gates), batch, len(kernel), [(width, 4 * units)], inputs, weights)
    mask, g_steps = _flat(mask, bool), _flat(g_steps, np.float32)

    def run(part):
        fast.lstm_back(
            g_steps, rows.reshape(-1), rows.shape[2], gates.reshape(-1), cells.reshape(-1), *packed,
            mask, width, units, batch, *part, dh.reshape(-1), dc.reshape(-1),
            *cotangents.places(part),
        )  # fmt: skip

    _share(run, work, len(gates), batch)
    return cotangents.inputs(), dh, dc, cotangents.weights(0)


class _Cotangents:
    """The arrays to which the Numba kernels write the cotangents of the inputs and the weights.

    The weights' cotangents are summed separately for each range of the batch.
    """

    def __init__(self, time, batch, features, shapes, inputs, weights):
        self._steps = np.empty((time, batch, features), np.float32) if inputs else None
        self._shapes, self._wanted, self._parts = shapes, weights, {}

    def places(self, part):
        own = [np.zeros(s if self._wanted else 0, np.float32) for s in self._shapes]
        self._parts[part] = own
        return _flat(self._steps, np.float32), *[a.reshape(-1) for a in own]

    def inputs(self):
        """Return the inputs' cotangent (batch, time, features), or None."""
        return None if self._steps is None else self._steps.swapaxes(0, 1)

    def weights(self, k):
        if not self._wanted:
            return None
        first, *others = [self._parts[part][k] for part in sorted(self._parts)]
        for other in others:
            first += other
        return first


def _lstm_back(g_steps, recurrent_kernel, mask, gates, cells, d, dh, dc):
    units = dh.shape[1]
    part, slope = np.empty_like(dh), np.empty(gates.shape[1:], gates.dtype)
    transposed = np.ascontiguousarray(recurrent_kernel.T)
    for t in range(len(d) - 1, -1, -1):
        if g_steps is not None:
            dh += g_steps[t]
        masked = None if mask is None else ~mask[t, :, None]
        held = None if masked is None else (dh.copy(), dc.copy())
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
        of_tanh = np.subtract(1, blocks(slope, units)[2], out=part)
        np.subtract(gates[t], slope, out=slope)
        blocks(slope, units)[2][...] = of_tanh
        d[t] *= slope
        if masked is not None:
            np.copyto(d[t], 0, where=masked)
            np.copyto(dc, held[1], where=masked)
        np.matmul(d[t], transposed, out=dh)
        if masked is not None:
            np.copyto(dh, held[0], where=masked)


# ---- cotangents of weights and inputs from those of the sums (t, b, columns) ---------------------


def _weights_back(rows, left, right, d, first=0, last=None):
    """Return the sum over t and b of rows[t, b, left:right] times d[t, b, first:last]."""
    count = len(d) * d.shape[1]
    rows = rows[: len(d)].reshape(count, rows.shape[2])
    return rows[:, left:right].T @ d.reshape(count, d.shape[2])[:, first:last]


def _inputs_back(d, kernel, first=0):
    """Return x's cotangent (batch, time, features), computed from the columns d[..., first:]."""
    time, batch, columns = d.shape
    dx = d.reshape(time * batch, columns)[:, first:] @ kernel.T
    return dx.reshape(time, batch, len(kernel)).swapaxes(0, 1)


# ---- simple RNN ----------------------------------------------------------------------------------


def simple_rnn(x, h, kernel, recurrent_kernel, bias, mask):
    """Return an array in the layout of `rows_of`, with the states in `rows[1:]`."""
    rows = rows_of(x, h)
    time, batch, units = len(rows) - 1, len(x), h.shape[1]
    width = units + 1 + len(kernel)
    work = batch * width * units
    fast = _compiled(rows, work)
    weights = stacked(recurrent_kernel, bias, kernel)
    if fast is None:
        _simple_rnn(rows[:, :, :width], weights, mask)
        return rows
    weights, mask = fast.packed(weights), _flat(mask, bool)
    stride, flat = rows.shape[2], rows.reshape(-1)
    _share(
        lambda part: fast.simple_rnn(flat, stride, weights, mask, width, units, batch, *part),
        work, time, batch,
    )  # fmt: skip
    return rows


def _simple_rnn(rows, weights, mask):
    states = rows[:, :, : weights.shape[1]]
    z = np.empty(states.shape[1:], rows.dtype)
    for t in range(len(rows) - 1):
        np.matmul(rows[t], weights, out=z)
        np.tanh(z, out=states[t + 1])
        if mask is not None:
            np.copyto(states[t + 1], states[t], where=~mask[t, :, None])


def simple_rnn_back(g_steps, g_h, kernel, recurrent_kernel, mask, rows, *, inputs, weights):
    """Return the cotangents of x, the initial state and [recurrent_kernel; bias; kernel].

    Arguments are those of `lstm_back`.
    """
    dh = np.array(g_h, order="C")
    time, (batch, units) = len(rows) - 1, dh.shape
    width = units + 1 + len(kernel)
    work = batch * width * units
    fast = _compiled(rows, work)
    if fast is None:
        d = np.empty((time, batch, units), dh.dtype)
        _simple_rnn_back(g_steps, recurrent_kernel, mask, rows[:, :, :units], d, dh)
        dx = _inputs_back(d, kernel) if inputs else None
        return dx, dh, _weights_back(rows, 0, width, d) if weights else None
    packed, rows = _transposed(fast, recurrent_kernel, kernel), np.ascontiguousarray(rows)
    cotangents = _Cotangents(time, batch, len(kernel), [(width, units)], inputs, weights)
    mask, g_steps = _flat(mask, bool), _flat(g_steps, np.float32)

    def run(part):
        fast.simple_rnn_back(
            g_steps, rows.reshape(-1), rows.shape[2], *packed, mask, width, units, batch, *part,
            dh.reshape(-1), *cotangents.places(part),
        )  # fmt: skip

    _share(run, work, time, batch)
    return cotangents.inputs(), dh, cotangents.weights(0)


def _simple_rnn_back(g_steps, recurrent_kernel, mask, states, d, dh):
    transposed = np.ascontiguousarray(recurrent_kernel.T)
    for t in range(len(d) - 1, -1, -1):
        if g_steps is not None:
            dh += g_steps[t]
        np.multiply(states[t + 1], states[t + 1], out=d[t])
        np.subtract(1, d[t], out=d[t])
        d[t] *= dh
        if mask is None:
            np.matmul(d[t], transposed, out=dh)
        else:
            masked = ~mask[t, :, None]
            np.copyto(d[t], 0, where=masked)
            np.copyto(dh, d[t] @ transposed, where=~masked)


# ---- GRU with the reset gate after the product (Cho et al. 2014, arXiv:1406.1078v1) --------------
# `gates` is (t, b, 4 units), four blocks: the state's contribution to the candidate, update, reset,
# candidate. The state contributes to the first three blocks, the input to the last three.


def gru(x, h, kernel, recurrent_kernel, bias, mask):
    """Return (rows, gates) of a sequence; `rows[1:]` hold the states. bias is (2, 3 units)."""
    rows = rows_of(x, h)
    time, batch, units = len(rows) - 1, len(x), h.shape[1]
    features = len(kernel)
    gates = np.empty((time, batch, 4 * units), x.dtype)
    work = batch * (units + features) * 3 * units
    fast = _compiled(gates, work)
    if fast is None:
        of_input, of_state = _gru_weights(kernel, recurrent_kernel, bias, 0.5)
        _gru(rows[:, :, : units + 1 + features], gates, of_input, of_state, mask)
        return rows, gates
    of_input, of_state = _gru_weights(kernel, recurrent_kernel, bias, 1)
    weights = [
        fast.packed(np.ascontiguousarray(w))
        for w in (of_input, of_state[:, :units], of_state[:, units:])
    ]
    mask, stride = _flat(mask, bool), rows.shape[2]
    flat = rows.reshape(-1), gates.reshape(-1)
    _share(
        lambda part: fast.gru(
            flat[0], stride, flat[1], *weights, mask, features, units, batch, *part
        ), work, time, batch,
    )  # fmt: skip
    return rows, gates


def _gru_weights(kernel, recurrent_kernel, bias, factor):
    """Return [bias; kernel] and [recurrent_kernel; bias], with columns in the order of `gates`.

    The former has the columns of update, reset, candidate; the latter those of the state's
    contribution to the candidate, update, reset. Update and reset are multiplied by `factor`.
    """
    units = len(recurrent_kernel)
    of_input = np.empty((1 + len(kernel), 3 * units), kernel.dtype)
    of_state = np.empty((units + 1, 3 * units), kernel.dtype)
    of_input[0] = 0 if bias is None else bias[0]
    of_input[1:] = kernel
    of_state[:units] = candidate_first(recurrent_kernel)
    of_state[units] = 0 if bias is None else candidate_first(bias[1])
    of_input[:, : 2 * units] *= factor
    of_state[:, units:] *= factor
    return of_input, of_state


def candidate_first(a):
    """Reorder Keras's columns (update, reset, candidate) to (candidate, update, reset)."""
    return np.roll(a, a.shape[-1] // 3, axis=-1)


def _gru(rows, gates, of_input, of_state, mask):
    time, batch, columns = gates.shape
    units = columns // 4
    inputs = rows[:time, :, units:].reshape(time * batch, len(of_input))
    gates.reshape(time * batch, columns)[:, units:] = inputs @ of_input
    states, z = rows[:, :, :units], np.empty((batch, 3 * units), rows.dtype)
    for t in range(time):
        np.matmul(rows[t, :, : units + 1], of_state, out=z)
        part, update, reset, candidate = blocks(gates[t], units)
        part[...] = z[:, :units]
        both = gates[t, :, units : 3 * units]
        both += z[:, units:]
        np.tanh(both, out=both)
        both *= 0.5
        both += 0.5
        candidate += reset * part
        np.tanh(candidate, out=candidate)
        after = np.subtract(states[t], candidate, out=states[t + 1])
        after *= update
        after += candidate
        if mask is not None:
            np.copyto(after, states[t], where=~mask[t, :, None])


def gru_back(g_steps, g_h, kernel, recurrent_kernel, mask, rows, gates, *, inputs, weights):
    """Return the cotangents of x, the first state, [bias; kernel] and [recurrent_kernel; bias]."""
    dh = np.array(g_h, order="C")
    batch, units = dh.shape
    features = len(kernel)
    work = batch * (units + features) * 3 * units
    fast = _compiled(gates, work)
    transposed = candidate_first(recurrent_kernel).T
    if fast is None:
        d = np.empty_like(gates)
        _gru_back(g_steps, transposed, mask, rows[:, :, :units], gates, d, dh)
        dx = _inputs_back(d, kernel, units) if inputs else None
        if not weights:
            return dx, dh, None, None
        of_input = _weights_back(rows, units, units + 1 + features, d, units)
        of_state = _weights_back(rows, 0, units + 1, d, 0, 3 * units)
        return dx, dh, of_input, np.roll(of_state, -units, axis=1)
    packed = _transposed(fast, transposed.T, kernel)
    rows, gates = (np.ascontiguousarray(a) for a in (rows, gates))
    shapes = [(1 + features, 3 * units), (units + 1, 3 * units)]
    cotangents = _Cotangents(len(gates), batch, features, shapes, inputs, weights)
    mask, g_steps = _flat(mask, bool), _flat(g_steps, np.float32)

    def run(part):
        fast.gru_back(
            g_steps, rows.reshape(-1), rows.shape[2], gates.reshape(-1), *packed, mask, features,
            units, batch, *part, dh.reshape(-1), *cotangents.places(part),
        )  # fmt: skip

    _share(run, work, len(gates), batch)
    of_state = np.roll(cotangents.weights(1), -units, axis=1) if weights else None
    return cotangents.inputs(), dh, cotangents.weights(0), of_state


def _gru_back(g_steps, transposed, mask, states, gates, d, dh):
    units = dh.shape[1]
    transposed = np.ascontiguousarray(transposed)
    for t in range(len(d) - 1, -1, -1):
        if g_steps is not None:
            dh += g_steps[t]
        part, update, reset, candidate = blocks(gates[t], units)
        dpart, dupdate, dreset, dcandidate = blocks(d[t], units)
        np.multiply(dh, 1 - update, out=dcandidate)
        dcandidate *= 1 - candidate * candidate
        np.multiply(dcandidate, reset, out=dpart)
        np.multiply(dcandidate, part, out=dreset)
        np.multiply(dh, states[t] - candidate, out=dupdate)
        dreset *= reset - reset * reset
        dupdate *= update - update * update
        if mask is None:
            dh *= update
            dh += d[t, :, : 3 * units] @ transposed
        else:
            masked = ~mask[t, :, None]
            np.copyto(d[t], 0, where=masked)
            before = dh * update + d[t, :, : 3 * units] @ transposed
            np.copyto(dh, before, where=~masked)
