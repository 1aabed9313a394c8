"""Recurrent cells as single ops. Gates stand in Keras's order: input, forget, candidate, output."""

import numpy as np

from framework.core.op import Op, first_order_only
from framework.core.quiet import quiet
from framework.ops.contraction import matmul
from framework.ops.elementwise import sigmoid, tanh
from framework.ops.movement import split


def _gates(z, units):
    """Views of the four blocks of columns."""
    return [z[..., i * units : (i + 1) * units] for i in range(4)]


@quiet
def _lstm_cell(x, h, c, kernel, recurrent_kernel, bias):
    units = c.shape[-1]
    z = x @ kernel
    z += h @ recurrent_kernel
    z += bias
    for block in (z[..., : 2 * units], z[..., 3 * units :]):  # the sigmoid, in place
        np.negative(block, out=block)
        np.exp(block, out=block)
        np.add(block, 1, out=block)
        np.reciprocal(block, out=block)
    i, f, candidate, o = _gates(z, units)
    np.tanh(candidate, out=candidate)
    c = f * c + i * candidate
    squashed = np.tanh(c)
    return (o * squashed, c), (z, squashed)


def _lstm_cell_back(
    g_h, g_c, x, h, c, kernel, recurrent_kernel, gates, squashed, *, needed
):  # fmt: skip
    i, f, candidate, o = _gates(gates, c.shape[-1])
    g_c = g_c + g_h * o * (1 - squashed * squashed)
    if any(needed[:2]) or any(needed[3:]):
        d = np.empty_like(gates)
        di, df, dcandidate, do = _gates(d, c.shape[-1])
        di[...] = g_c * candidate * i * (1 - i)
        df[...] = g_c * c * f * (1 - f)
        dcandidate[...] = g_c * i * (1 - candidate * candidate)
        do[...] = g_h * squashed * o * (1 - o)
    made = (
        lambda: d @ kernel.T,
        lambda: d @ recurrent_kernel.T,
        lambda: g_c * f,
        lambda: x.T @ d,
        lambda: h.T @ d,
        lambda: np.add.reduce(d, axis=0),
    )
    return tuple(make() for make, n in zip(made, needed, strict=True) if n)


# The cotangents of the inputs in `needed`, in order.
lstm_cell_back = Op("lstm_cell_back", _lstm_cell_back, backward=first_order_only, outputs=None)


def _lstm_cell_rule(g, x, h, c, kernel, recurrent_kernel, saved, needed):
    found = iter(lstm_cell_back(*g, x, h, c, kernel, recurrent_kernel, *saved, needed=needed))
    return [next(found) if n else None for n in needed]


def _lstm_cell_composite(x, h, c, kernel, recurrent_kernel, bias):
    z = matmul(x, kernel) + matmul(h, recurrent_kernel) + bias
    i, f, candidate, o = split(z, sizes=(c.shape[-1],) * 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(candidate)
    return sigmoid(o) * tanh(c), c


# One step of Hochreiter & Schmidhuber's LSTM with forget gates, (h, c) from x (batch, features),
# h and c (batch, units), kernel (features, 4 units), recurrent_kernel (units, 4 units), bias.
lstm_cell = Op(
    "lstm_cell", _lstm_cell, backward=_lstm_cell_rule, composite=_lstm_cell_composite,
    outputs=2, saves=True,
)  # fmt: skip
