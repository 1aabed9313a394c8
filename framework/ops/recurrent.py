"""Recurrent cells as single ops: one step, or whole sequences.

Gates are in Keras's order. Sequence ops take x (batch, time, features), the initial states (batch,
units), kernel, recurrent_kernel, a bias or None, and a mask (batch, time) or None: where the mask
is False, the states do not change, and the previous output is repeated. They return the outputs of
all steps in processing order (if `sequence`), then the last states.

Attributes: `reverse` (process the last step first), `zero_output` (outputs are 0 where the mask is
False), `sequence` (return the outputs of all steps).
"""

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, first_order_only
from framework.core.shape_checks import expect
from framework.kernels import recurrent as kernels
from framework.ops.contraction import matmul
from framework.ops.elementwise import masked, select, sigmoid, tanh
from framework.ops.movement import getitem, split, stack


def _gates(z, units):
    """Return a view of each of the four gates, which are blocks of columns."""
    return [z[..., i * units : (i + 1) * units] for i in range(4)]


@no_warnings
def _lstm_cell(x, h, c, kernel, recurrent_kernel, bias):
    units = c.shape[-1]
    z = x @ kernel
    z += h @ recurrent_kernel
    z += bias
    # The sigmoid overwrites its input, the pre-activations.
    for block in (z[..., : 2 * units], z[..., 3 * units :]):
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


# `lstm_cell_back` returns the cotangents of the inputs that `needed` selects, in order.
lstm_cell_back = Op("lstm_cell_back", _lstm_cell_back, backward=first_order_only, outputs=None)


def _lstm_cell_rule(g, x, h, c, kernel, recurrent_kernel, saved, needed):
    found = iter(lstm_cell_back(*g, x, h, c, kernel, recurrent_kernel, *saved, needed=needed))
    return [next(found) if n else None for n in needed]


def _lstm_cell_composite(x, h, c, kernel, recurrent_kernel, bias):
    z = matmul(x, kernel) + matmul(h, recurrent_kernel) + bias
    i, f, candidate, o = split(z, sizes=(c.shape[-1],) * 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(candidate)
    return sigmoid(o) * tanh(c), c


# `lstm_cell` is one step of an LSTM with forget gates (Gers et al., 2000). It returns the new
# (h, c), given x (batch, features), h and c (batch, units), kernel (features, 4 units),
# recurrent_kernel (units, 4 units) and bias.
lstm_cell = Op(
    "lstm_cell", _lstm_cell, backward=_lstm_cell_rule, composite=_lstm_cell_composite,
    outputs=2, saves=True,
)  # fmt: skip


# ---- ops on whole sequences ----------------------------------------------------------------------


def _widened(*arrays):
    """Return 16-bit arrays as float32, so that only the result is rounded to 16 bits."""
    if arrays[-2].dtype.itemsize > 2:
        return arrays
    return [a if a is None else a.astype(np.float32) for a in arrays]


def _turned(x, reverse):
    """Return `x` with its steps (axis 1) in processing order."""
    return x[:, ::-1] if reverse and x is not None else x


def _by_steps(mask):
    return None if mask is None else mask.T


def _outputs(rows, units, mask, zero_output, sequence, dtype):
    """Return all outputs (if `sequence`) and the last one; `mask` is in processing order."""
    last = rows[-1, :, :units].astype(dtype)
    if not sequence:
        return (last,)
    steps = rows[1:, :, :units].swapaxes(0, 1)
    if zero_output and mask is not None:
        steps = np.where(mask[:, :, None], steps, steps.dtype.type(0))
    return steps.astype(dtype, copy=False), last


def _cotangent_of_steps(g, mask, zero_output):
    """Return the cotangent of the outputs of all steps, with time as the first axis."""
    if g is None:
        return None
    g = g.swapaxes(0, 1)
    return (
        np.where(mask.T[:, :, None], g, g.dtype.type(0)) if zero_output and mask is not None else g
    )


def _weights(stacked, units):
    """Split the cotangent of stacked weights into those of kernel, recurrent_kernel and bias."""
    if stacked is None:
        return None, None, None
    return stacked[units + 1 :], stacked[:units], stacked[units]


def _picked(cotangents, needed, dtype):
    return tuple(a.astype(dtype, copy=False) for a, n in zip(cotangents, needed) if n)


def _by_order(back):
    """Return a joint rule that calls `back`, an op that returns only the needed cotangents.

    A joint rule returns the cotangents of all inputs at once. Its argument `g` is the cotangents of
    the last states, preceded by that of all outputs if `sequence`.
    """

    def ordered(g, kernel, recurrent_kernel, mask, saved, reverse, zero_output, sequence, needed):
        g = g if sequence else (None, *g)
        cotangents = iter(back(
            *g, kernel, recurrent_kernel, mask, *saved, needed=needed, reverse=reverse,
            zero_output=zero_output,
        ))  # fmt: skip
        return [next(cotangents) if n else None for n in needed]

    return ordered


def _check(op, *, states, blocks, biases=()):
    """Return a function that checks the shapes of a sequence op with `blocks * units` columns."""
    of_states = ["initial_state"] if states == 1 else [f"initial_state[{i}]" for i in range(states)]
    what = {
        "sequences": "(batch, steps, features), with as many features as rows of the kernel",
        **dict.fromkeys(of_states, "(batch, units)"),
        "kernel": "(features, columns)", "recurrent_kernel": "(units, columns)",
        "bias": "one for each column", "mask": "(batch, steps)",
    }  # fmt: skip

    def check(x, *inputs):
        kernel, recurrent_kernel, bias, mask = inputs[states:]
        batch, time, features = x.shape
        units, state = recurrent_kernel.shape[0], (batch, recurrent_kernel.shape[0])
        columns = blocks * units
        if not (
            kernel.shape == (features, columns)
            and recurrent_kernel.shape == (units, columns)
            and inputs[0].shape == inputs[states - 1].shape == state
            and (bias is None or bias.shape == (*biases, columns))
            and (mask is None or mask.shape == (batch, time))
        ):
            refuse(x, *inputs)

    def refuse(x, *inputs):
        kernel, recurrent_kernel, _, _ = inputs[states:]
        (batch, time, _), features, units = x.shape, kernel.shape[0], recurrent_kernel.shape[0]
        columns = blocks * units
        expected = (
            (batch, time, features), *((batch, units),) * states, (features, columns),
            (units, columns), (*biases, columns), (batch, time),
        )  # fmt: skip
        for name, a, shape in zip(what, (x, *inputs), expected):
            if a is not None:
                expect(op, name, a.shape, shape, what[name])

    return check


def _specs(*, states):
    def infer(x, h, *_, sequence, **_attrs):
        batch, time, _ = x.shape
        last = [((batch, h.shape[-1]), x.dtype)] * states
        return [((batch, time, h.shape[-1]), x.dtype), *last] if sequence else last

    return infer


def _steps(x, mask, reverse, step, state):
    """Apply `step(x_t, *state)` to all steps; it returns the next state, the output first."""
    outputs = []
    order = range(x.shape[1])
    for t in reversed(order) if reverse else order:
        new = step(getitem(x, index=(slice(None), t)), *state)
        keep = None if mask is None else getitem(mask, index=(slice(None), slice(t, t + 1)))
        if keep is not None:
            new = [select(keep, a, b) for a, b in zip(new, state)]
        state = new
        outputs.append((state[0], keep))
    return outputs, state


def _composed(x, kernel, mask, reverse, zero_output, sequence, step, state):
    outputs, state = _steps(x, mask, reverse, step, state)
    if not sequence:
        return tuple(state)
    # Without steps, return an empty product with x, which has the right shape.
    if not outputs:
        none = getitem(kernel, index=(slice(None), slice(state[0].shape[1])))
        return (matmul(x, none), *state)
    zero = zero_output and mask is not None
    steps = [masked(y, keep) if zero else y for y, keep in outputs]
    return (stack(*steps, axis=1), *state)


@no_warnings
def _lstm(
    x, h, c, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output,
    sequence,
):  # fmt: skip
    dtype, units = x.dtype, h.shape[-1]
    x, h, c, kernel, recurrent_kernel, bias = _widened(x, h, c, kernel, recurrent_kernel, bias)
    x, mask = _turned(x, reverse), _turned(mask, reverse)
    rows, gates, cells = kernels.lstm(x, h, c, kernel, recurrent_kernel, bias, _by_steps(mask))
    outputs = _outputs(rows, units, mask, zero_output, sequence, dtype)
    return (*outputs, cells[-1].astype(dtype)), (rows, gates, cells)


@no_warnings
def _lstm_back(
    g_steps, g_h, g_c, kernel, recurrent_kernel, mask, rows, gates, cells, *, needed, reverse,
    zero_output,
):  # fmt: skip
    dtype, units = kernel.dtype, g_h.shape[-1]
    g_steps, g_h, g_c, kernel, recurrent_kernel = _widened(
        g_steps, g_h, g_c, kernel, recurrent_kernel
    )
    mask = _turned(mask, reverse)
    g_steps = _cotangent_of_steps(g_steps, mask, zero_output)
    dx, dh, dc, found = kernels.lstm_back(
        g_steps, g_h, g_c, kernel, recurrent_kernel, _by_steps(mask), rows, gates, cells,
        inputs=needed[0], weights=any(needed[3:]),
    )  # fmt: skip
    made = _turned(dx, reverse), dh, dc, *_weights(found, units)
    return _picked(made, needed, dtype)


lstm_back = Op("lstm_back", _lstm_back, backward=first_order_only, outputs=None, fresh=True)


def _lstm_composite(
    x, h, c, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output,
    sequence,
):  # fmt: skip
    if bias is None:
        bias = np.zeros(kernel.shape[-1], kernel.dtype)

    def step(x, h, c):
        return lstm_cell(x, h, c, kernel, recurrent_kernel, bias)

    return _composed(x, kernel, mask, reverse, zero_output, sequence, step, (h, c))


# `lstm` runs `lstm_cell` over all steps: kernel (features, 4 units), recurrent_kernel (units, 4
# units), bias (4 units). It returns (outputs, h, c), or (h, c) without `sequence`.
lstm = Op(
    "lstm", _lstm, backward=_by_order(lstm_back), composite=_lstm_composite, outputs=None,
    saves=True, infer=_specs(states=2), fresh=True,
    check=_check("lstm", states=2, blocks=4),
)  # fmt: skip


@no_warnings
def _simple_rnn(x, h, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output, sequence):
    dtype = x.dtype
    x, h, kernel, recurrent_kernel, bias = _widened(x, h, kernel, recurrent_kernel, bias)
    x, mask = _turned(x, reverse), _turned(mask, reverse)
    rows = kernels.simple_rnn(x, h, kernel, recurrent_kernel, bias, _by_steps(mask))
    return _outputs(rows, h.shape[-1], mask, zero_output, sequence, dtype), (rows,)


@no_warnings
def _simple_rnn_back(
    g_steps, g_h, kernel, recurrent_kernel, mask, rows, *, needed, reverse, zero_output
):
    dtype, units = kernel.dtype, g_h.shape[-1]
    g_steps, g_h, kernel, recurrent_kernel = _widened(g_steps, g_h, kernel, recurrent_kernel)
    mask = _turned(mask, reverse)
    g_steps = _cotangent_of_steps(g_steps, mask, zero_output)
    dx, dh, found = kernels.simple_rnn_back(
        g_steps, g_h, kernel, recurrent_kernel, _by_steps(mask), rows, inputs=needed[0],
        weights=any(needed[2:]),
    )  # fmt: skip
    made = _turned(dx, reverse), dh, *_weights(found, units)
    return _picked(made, needed, dtype)


simple_rnn_back = Op(
    "simple_rnn_back", _simple_rnn_back, backward=first_order_only, outputs=None, fresh=True
)


def _simple_rnn_composite(
    x, h, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output, sequence
):
    def step(x, h):
        z = matmul(x, kernel) + matmul(h, recurrent_kernel)
        return (tanh(z if bias is None else z + bias),)

    return _composed(x, kernel, mask, reverse, zero_output, sequence, step, (h,))


# `simple_rnn` (Elman 1990): h <- tanh(x kernel + h recurrent_kernel + bias). It returns (outputs,
# h), or (h,) without `sequence`.
simple_rnn = Op(
    "simple_rnn", _simple_rnn, backward=_by_order(simple_rnn_back), outputs=None, saves=True,
    composite=_simple_rnn_composite, infer=_specs(states=1), fresh=True,
    check=_check("simple_rnn", states=1, blocks=1),
)  # fmt: skip


@no_warnings
def _gru(x, h, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output, sequence):
    dtype = x.dtype
    x, h, kernel, recurrent_kernel, bias = _widened(x, h, kernel, recurrent_kernel, bias)
    x, mask = _turned(x, reverse), _turned(mask, reverse)
    rows, gates = kernels.gru(x, h, kernel, recurrent_kernel, bias, _by_steps(mask))
    return _outputs(rows, h.shape[-1], mask, zero_output, sequence, dtype), (rows, gates)


@no_warnings
def _gru_back(
    g_steps, g_h, kernel, recurrent_kernel, mask, rows, gates, *, needed, reverse,
    zero_output,
):  # fmt: skip
    dtype, units = kernel.dtype, g_h.shape[-1]
    g_steps, g_h, kernel, recurrent_kernel = _widened(g_steps, g_h, kernel, recurrent_kernel)
    mask = _turned(mask, reverse)
    g_steps = _cotangent_of_steps(g_steps, mask, zero_output)
    weights = any(needed[2:])
    dx, dh, of_input, of_state = kernels.gru_back(
        g_steps, g_h, kernel, recurrent_kernel, _by_steps(mask), rows, gates, inputs=needed[0],
        weights=weights,
    )  # fmt: skip
    made = [_turned(dx, reverse), dh, None, None, None]
    if weights:
        made[2:] = of_input[1:], of_state[:units], np.stack([of_input[0], of_state[units]])
    return _picked(made, needed, dtype)


gru_back = Op("gru_back", _gru_back, backward=first_order_only, outputs=None, fresh=True)


def _gru_composite(x, h, kernel, recurrent_kernel, bias, mask, *, reverse, zero_output, sequence):
    units = h.shape[-1]

    def step(x, h):
        of_input, of_state = matmul(x, kernel), matmul(h, recurrent_kernel)
        if bias is not None:
            of_input = of_input + getitem(bias, index=(0,))
            of_state = of_state + getitem(bias, index=(1,))
        z, r, candidate = split(of_input, sizes=(units,) * 3, axis=1)
        z_part, r_part, part = split(of_state, sizes=(units,) * 3, axis=1)
        z, r = sigmoid(z + z_part), sigmoid(r + r_part)
        candidate = tanh(candidate + r * part)
        return (z * h + (1 - z) * candidate,)

    return _composed(x, kernel, mask, reverse, zero_output, sequence, step, (h,))


# `gru` (Cho et al. 2014, arXiv:1406.1078v1) applies the reset gate after the product: kernel
# (features, 3 units), recurrent_kernel (units, 3 units), bias (2, 3 units) in the order update,
# reset, candidate. It returns (outputs, h), or (h,) without `sequence`.
gru = Op(
    "gru", _gru, backward=_by_order(gru_back), composite=_gru_composite, outputs=None, saves=True,
    infer=_specs(states=1), fresh=True, check=_check("gru", states=1, blocks=3, biases=(2,)),
)  # fmt: skip
