"""Translation rules for recurrent ops: ONNX's LSTM, GRU and RNN, or a loop where steps are masked.

ONNX's operators take sequences as (steps, batch, features) and have an axis for directions. They
know the length of each sequence, but no mask; with a mask the rule writes a Scan.
"""

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.movement import flip
from framework.saving.onnx.rules.operands import number
from framework.saving.onnx.scans import scan

_BOOL = np.dtype(bool)


@rule("lstm")
def lstm(b, x, h, c, kernel, recurrent_kernel, bias, mask, **how):
    if mask is None:
        weights = kernel, recurrent_kernel, bias
        return _operator(b, "LSTM", x, (h, c), weights, (0, 3, 1, 2), how)

    def step(b, state, z, recurrent_kernel):
        h, c = state
        z = b("Add", z, b("MatMul", h, recurrent_kernel))
        i, f, candidate, o = _blocks(b, z, 4, h.shape[-1])
        kept = b("Mul", b("Sigmoid", f), c)
        c = b("Add", kept, b("Mul", b("Sigmoid", i), b("Tanh", candidate)))
        return [b("Mul", b("Sigmoid", o), b("Tanh", c)), c]

    return _masked(b, x, (h, c), kernel, recurrent_kernel, bias, mask, step, how)


@rule("simple_rnn")
def simple_rnn(b, x, h, kernel, recurrent_kernel, bias, mask, **how):
    if mask is None:
        return _operator(b, "RNN", x, (h,), (kernel, recurrent_kernel, bias), (0,), how)

    def step(b, state, z, recurrent_kernel):
        return [b("Tanh", b("Add", z, b("MatMul", state[0], recurrent_kernel)))]

    return _masked(b, x, (h,), kernel, recurrent_kernel, bias, mask, step, how)


@rule("gru")
def gru(b, x, h, kernel, recurrent_kernel, bias, mask, **how):
    if mask is None:
        weights = kernel, recurrent_kernel, bias
        return _operator(b, "GRU", x, (h,), weights, (0, 1, 2), how, linear_before_reset=1)
    of_input = of_state = None
    if bias is not None:
        of_input, of_state = (_row(b, bias, i) for i in (0, 1))

    def step(b, state, z_of_input, recurrent_kernel):
        (h,) = state
        units = h.shape[-1]
        z_of_state = b("MatMul", h, recurrent_kernel)
        z_of_state = z_of_state if of_state is None else b("Add", z_of_state, of_state)
        z, r, candidate = _blocks(b, z_of_input, 3, units)
        z_part, r_part, part = _blocks(b, z_of_state, 3, units)
        z, r = b("Sigmoid", b("Add", z, z_part)), b("Sigmoid", b("Add", r, r_part))
        candidate = b("Tanh", b("Add", candidate, b("Mul", r, part)))
        return [b("Add", candidate, b("Mul", z, b("Sub", h, candidate)))]

    return _masked(b, x, (h,), kernel, recurrent_kernel, of_input, mask, step, how)


def _row(b, bias, i):
    return b.squeeze(b.slice(bias, [i], [i + 1], [0]), 0)


def _blocks(b, z, count, units):
    sizes = b.constant(np.full(count, units, np.int64))
    return b("Split", z, sizes, axis=-1, outputs=count)


# ---- ONNX's operators ----------------------------------------------------------------------------


def _operator(b, op_type, x, states, weights, order, how, **attrs):
    """Add an LSTM, GRU or RNN node; `order` has Keras's index of each of ONNX's gates."""
    units = states[0].shape[-1]
    kernel, recurrent_kernel, bias = weights
    x = flip(b, x, axis=1) if how["reverse"] else x
    w, r = (_gates(b, b.transpose(k, (1, 0)), order, units) for k in (kernel, recurrent_kernel))
    starts = [None if _is_zero(s) else b.unsqueeze(s, 0) for s in states]
    found = b(
        op_type, b.transpose(x, (1, 0, 2)), w, r, _biases(b, bias, order, units), None, *starts,
        hidden_size=units, outputs=1 + len(states), **attrs,
    )  # fmt: skip
    last = [b.squeeze(state, 0) for state in found[1:]]
    if not how["sequence"]:
        return last
    return [b.transpose(b.squeeze(found[0], 1), (1, 0, 2)), *last]


def _gates(b, k, order, units):
    """Return `k` in shape (1, gates * units, features), with the gates in ONNX's order."""
    parts = [b.slice(k, [i * units], [(i + 1) * units], [0]) for i in order]
    return b.unsqueeze(parts[0] if len(parts) == 1 else b("Concat", *parts, axis=0), 0)


def _biases(b, bias, order, units):
    """Return the biases for inputs, then those for states, in shape (1, 2 * gates * units)."""
    if bias is None:
        return None
    if len(bias.shape) == 2:
        rows = [_gates(b, _row(b, bias, i), order, units) for i in (0, 1)]
    else:
        rows = [_gates(b, bias, order, units)]
        rows.append(b.constant(np.zeros((1, len(order) * units)), bias.dtype))
    return b("Concat", *rows, axis=1)


def _is_zero(ref):
    return ref.arrays is not None and not any(a.any() for a in ref.arrays)


# ---- a loop --------------------------------------------------------------------------------------


def _masked(b, x, states, kernel, recurrent_kernel, bias, mask, step, how):
    """Add a loop in which a masked step keeps the state."""
    z = b("MatMul", x, kernel)
    z = z if bias is None else b("Add", z, bias)
    z.shape = (*x.shape[:2], kernel.shape[-1])
    keep = b.unsqueeze(b.cast(mask, _BOOL), 2)
    keep.shape = (*x.shape[:2], 1)
    b.name_of(recurrent_kernel)

    def body(b, state, parts):
        z, keep = parts
        new = step(b, state, z, recurrent_kernel)
        state = [b("Where", keep, y, old, dtype=y.dtype, shape=old.shape)
                 for y, old in zip(new, state)]  # fmt: skip
        y = state[0]
        if how["zero_output"]:
            y = b("Where", keep, y, number(b, 0, y), dtype=y.dtype)
        return state, [y]

    last, (steps,) = scan(b, states, [z, keep], body, axis=1, reverse=how["reverse"])
    if not how["sequence"]:
        return last
    steps.shape = (*x.shape[:2], states[0].shape[-1])
    return [flip(b, steps, axis=1) if how["reverse"] else steps, *last]
