"""Samples and references of the ops of whole sequences, computed step by step."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import call, real


def _through(x, states, mask, reverse, zero_output, sequence, step):
    """(outputs?, *states), by `step(x_t, *states)`."""
    outputs = []
    for t in range(x.shape[1])[:: -1 if reverse else 1]:
        keep = np.ones((len(x), 1), bool) if mask is None else mask[:, t, None]
        new = step(x[:, t], *states)
        states = [np.where(keep, a, b) for a, b in zip(new, states, strict=True)]
        outputs.append(np.where(keep, states[0], 0) if zero_output else states[0])
    if not sequence:
        return tuple(states)
    empty = np.zeros((len(x), 0, states[0].shape[1]))
    return (np.stack(outputs, 1) if outputs else empty, *states)


def _lstm(x, h, c, kernel, recurrent_kernel, bias, mask, **how):
    def step(x, h, c):
        z = x @ kernel + h @ recurrent_kernel + (0 if bias is None else bias)
        i, f, candidate, o = np.split(z, 4, axis=1)
        c = special.expit(f) * c + special.expit(i) * np.tanh(candidate)
        return special.expit(o) * np.tanh(c), c

    return _through(x, [h, c], mask, step=step, **how)


def _gru(x, h, kernel, recurrent_kernel, bias, mask, **how):
    def step(x, h):
        of_input, of_state = (0, 0) if bias is None else bias
        z, r, candidate = np.split(x @ kernel + of_input, 3, axis=1)
        z_part, r_part, part = np.split(h @ recurrent_kernel + of_state, 3, axis=1)
        z, r = special.expit(z + z_part), special.expit(r + r_part)
        return (z * h + (1 - z) * np.tanh(candidate + r * part),)

    return _through(x, [h], mask, step=step, **how)


def _simple_rnn(x, h, kernel, recurrent_kernel, bias, mask, **how):
    def step(x, h):
        return (np.tanh(x @ kernel + h @ recurrent_kernel + (0 if bias is None else bias)),)

    return _through(x, [h], mask, step=step, **how)


# ---- the joint rules: steps backwards, gate by gate ----------------------------------------------


def _backwards(g_steps, g_states, mask, reverse, zero_output, length, step):
    """The first states' cotangents, by `step(t, keep, *cotangents)`; t counts processed steps."""
    g_states = [np.array(g) for g in g_states]
    for t in reversed(range(length)):
        at = length - 1 - t if reverse else t
        keep = np.ones((len(g_states[0]), 1), bool) if mask is None else mask[:, at, None]
        if g_steps is not None:
            g = g_steps[:, t]
            g_states[0] = g_states[0] + (np.where(keep, g, 0) if zero_output else g)
        g_states = list(step(t, keep, *g_states))
    return g_states


def _assembled(dx, states, d_kernel, d_recurrent, d_bias, reverse, needed):
    dx = np.stack(dx[::-1] if reverse else dx, 1)
    found = (dx, *states, d_kernel, d_recurrent, d_bias)
    return tuple(v for v, n in zip(found, needed) if n)


def _lstm_back(
    g_steps, g_h, g_c, kernel, recurrent_kernel, mask, rows, gates, cells, *, needed, reverse,
    zero_output,
):  # fmt: skip
    units = g_h.shape[1]
    d = np.zeros_like(gates)

    def step(t, keep, g_h, g_c):
        i, f, candidate, o = np.split(gates[t], 4, axis=1)
        squashed = np.tanh(cells[t + 1])
        inside = g_c + g_h * o * (1 - squashed**2)
        d[t] = keep * np.concatenate(
            [inside * candidate * i * (1 - i), inside * cells[t] * f * (1 - f),
             inside * i * (1 - candidate**2), g_h * squashed * o * (1 - o)], 1)  # fmt: skip
        return np.where(keep, d[t] @ recurrent_kernel.T, g_h), np.where(keep, inside * f, g_c)

    states = _backwards(g_steps, (g_h, g_c), mask, reverse, zero_output, len(d), step)
    weights = np.einsum("tbi,tbj->ij", rows[:-1], d)
    dx = [each @ kernel.T for each in d]
    return _assembled(dx, states, weights[units + 1 :], weights[:units], weights[units], reverse,
                      needed)  # fmt: skip


def _simple_rnn_back(
    g_steps, g_h, kernel, recurrent_kernel, mask, rows, *, needed, reverse, zero_output
):
    units = g_h.shape[1]
    d = np.zeros((len(rows) - 1, *g_h.shape))

    def step(t, keep, g_h):
        d[t] = keep * g_h * (1 - rows[t + 1, :, :units] ** 2)
        return (np.where(keep, d[t] @ recurrent_kernel.T, g_h),)

    states = _backwards(g_steps, (g_h,), mask, reverse, zero_output, len(d), step)
    weights = np.einsum("tbi,tbj->ij", rows[:-1], d)
    dx = [each @ kernel.T for each in d]
    return _assembled(dx, states, weights[units + 1 :], weights[:units], weights[units], reverse,
                      needed)  # fmt: skip


def _gru_back(
    g_steps, g_h, kernel, recurrent_kernel, mask, rows, gates, *, needed, reverse, zero_output
):
    units = g_h.shape[1]
    of_input, of_state = np.zeros((2, len(gates), len(g_h), 3 * units))

    def step(t, keep, g_h):
        part, z, r, candidate = np.split(gates[t], 4, axis=1)
        h = rows[t, :, :units]
        d = g_h * (1 - z) * (1 - candidate**2)
        d_z, d_r = g_h * (h - candidate) * z * (1 - z), d * part * r * (1 - r)
        of_input[t] = keep * np.concatenate([d_z, d_r, d], 1)
        of_state[t] = keep * np.concatenate([d_z, d_r, d * r], 1)
        return (np.where(keep, g_h * z + of_state[t] @ recurrent_kernel.T, g_h),)

    states = _backwards(g_steps, (g_h,), mask, reverse, zero_output, len(gates), step)
    by_input = np.einsum("tbi,tbj->ij", rows[:-1], of_input)
    by_state = np.einsum("tbi,tbj->ij", rows[:-1], of_state)
    dx = [each @ kernel.T for each in of_input]
    bias = np.stack([by_input[units], by_state[units]])
    return _assembled(dx, states, by_input[units + 1 :], by_state[:units], bias, reverse, needed)


def _lstm_cell(x, h, c, kernel, recurrent_kernel, bias):
    i, f, candidate, o = np.split(x @ kernel + h @ recurrent_kernel + bias, 4, axis=1)
    c = special.expit(f) * c + special.expit(i) * np.tanh(candidate)
    return special.expit(o) * np.tanh(c), c


def _lstm_cell_back(g_h, g_c, x, h, c, kernel, recurrent_kernel, gates, squashed, needed):
    i, f, candidate, o = np.split(gates, 4, axis=1)
    g_c = g_c + g_h * o * (1 - squashed**2)
    d = np.concatenate([g_c * candidate * i * (1 - i), g_c * c * f * (1 - f),
                        g_c * i * (1 - candidate**2), g_h * squashed * o * (1 - o)], 1)  # fmt: skip
    found = (d @ kernel.T, d @ recurrent_kernel.T, g_c * f, x.T @ d, h.T @ d, d.sum(0))
    return tuple(v for v, n in zip(found, needed, strict=True) if n)


REFERENCES = {
    "lstm_cell": _lstm_cell,
    "lstm_cell_back": _lstm_cell_back,
    "gru": _gru, "gru_back": _gru_back, "lstm": _lstm, "lstm_back": _lstm_back,
    "simple_rnn": _simple_rnn, "simple_rnn_back": _simple_rnn_back,
}  # fmt: skip

# ---- samples -------------------------------------------------------------------------------------

_MASK = np.array([[True, True, False], [False, True, True], [True, False, True]])


def _forward(states, gates):
    """Calls of an op of `states` states and `gates` blocks of columns."""

    def weights(features, units, biased=True):
        bias = real(2, gates * units) if gates == 3 else real(gates * units)
        kernels = real(features, gates * units), real(units, gates * units)
        return (*kernels, bias if biased else None)

    def first(batch, units):
        return [real(batch, units) for _ in range(states)]

    how = {"reverse": False, "zero_output": False, "sequence": True}
    batch = tuple(range(1 + states))
    return [
        call(real(3, 3, 2), *first(3, 2), *weights(2, 2), None, any_batch=batch, **how),
        call(real(3, 3, 4), *first(3, 2), *weights(4, 2), _MASK, any_batch=False,
            **{**how, "zero_output": True}),
        call(real(3, 3, 1), *first(3, 3), *weights(1, 3, False), _MASK, any_batch=False,
            **{**how, "reverse": True}),
        call(real(2, 3, 2), *first(2, 2), *weights(2, 2), None, any_batch=batch,
            **{**how, "reverse": True, "sequence": False}),
        call(real(0, 3, 2), *first(0, 2), *weights(2, 2), None, any_batch=batch, **how),
    ]  # fmt: skip


def _backward(states, gates, saved):
    """Calls of a joint rule; `saved(steps, batch, width, units)` makes what the forward saves."""

    def joint(steps, batch, mask, needed, sequence=True, **how):
        features, units = 3, 2
        return call(
            real(batch, steps, units) if sequence else None,
            *[real(batch, units) for _ in range(states)],
            real(features, gates * units), real(units, gates * units), mask,
            *saved(steps, batch, units + 1 + features, units), needed=needed,
            any_batch=False, other_floats="float32", **how,
        )  # fmt: skip

    every = (True,) * (4 + states) + (False,)
    some = (False,) * (1 + states) + (True, False, True, False)
    return [
        joint(3, 3, None, every, reverse=False, zero_output=False),
        joint(3, 3, _MASK, every, reverse=True, zero_output=True),
        joint(3, 3, _MASK, some, sequence=False, reverse=False, zero_output=False),
        joint(3, 0, None, every, reverse=False, zero_output=False),
    ]


def _rows(steps, batch, width, units):
    return real(steps + 1, batch, width, low=-0.9, high=0.9)


def _gates(steps, batch, columns):
    return real(steps, batch, columns, low=0.1, high=0.9)


SAMPLES = {
    "lstm_cell": [
        call(real(3, 4), real(3, 2), real(3, 2), real(4, 8), real(2, 8), real(8),
            any_batch=(0, 1, 2)),
        call(real(0, 4), real(0, 2), real(0, 2), real(4, 8), real(2, 8), real(8),
            any_batch=(0, 1, 2)),
    ],
    "lstm_cell_back": [
        call(*[real(3, 2)] * 2, real(3, 4), real(3, 2), real(3, 2), real(4, 8), real(2, 8),
            real(3, 8),
            real(3, 2), needed=(True, False, True, True, False, True),
                any_batch=(0, 1, 2, 3, 4, 7, 8)),
        call(*[real(0, 2)] * 2, real(0, 4), real(0, 2), real(0, 2), real(4, 8), real(2, 8),
            real(0, 8),
            real(0, 2), needed=(True,) * 6, any_batch=(0, 1, 2, 3, 4, 7, 8)),
    ],
    "lstm": _forward(2, 4), "gru": _forward(1, 3), "simple_rnn": _forward(1, 1),
    "lstm_back": _backward(2, 4, lambda t, b, width, units: (
        _rows(t, b, width, units), _gates(t, b, 4 * units), real(t + 1, b, units))),
    "gru_back": _backward(1, 3, lambda t, b, width, units: (
        _rows(t, b, width, units), _gates(t, b, 4 * units))),
    "simple_rnn_back": _backward(1, 1, lambda *sizes: (_rows(*sizes),)),
}  # fmt: skip
