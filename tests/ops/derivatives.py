"""Derivatives of ops through the tape, compared with central differences in float64."""

import numpy as np

from framework.autodiff.tape import GradientTape
from framework.core.conversion import tensor
from framework.core.op import first_order_only, no_derivative
from framework.core.tensor import Tensor
from framework.ops.reduction import reduce_sum

STEP = 1e-5


def several(value):
    return value if isinstance(value, tuple) else (value,)


def is_float(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def boxed(args):
    return [Tensor(a) if isinstance(a, np.ndarray) else a for a in args]


def differentiable(op, args):
    """Positions of the arguments that a derivative exists for."""
    if not op.derivative or op.backward is first_order_only:
        return []
    vjps = op.vjps if op.backward is None else (None,) * len(args)
    return [i for i, a in enumerate(args) if is_float(a) and vjps[i] is not no_derivative]


def gradients(op, args, attrs, weights, taped=False, positions=None):
    """The cotangents of the differentiable arguments, for `weights` of the outputs."""
    tensors = boxed(args)
    wanted = [tensors[i] for i in positions or differentiable(op, args)]
    with GradientTape() as tape:
        tape.watch(wanted)
        outputs = several(op(*tensors, **attrs))
    seeds = [Tensor(w) for w in weights]
    if not taped:
        return dense(tape.gradient(list(outputs), wanted, output_gradients=seeds))
    with GradientTape() as outer:
        outer.watch(wanted)
        return dense(tape.gradient(list(outputs), wanted, output_gradients=seeds))


def dense(grads):
    """With tensors instead of IndexedSlices."""
    return [None if g is None else tensor(g) for g in grads]


def all_finite(outputs):
    """False for the largest or the mean of nothing: no differences to compare with."""
    return all(np.all(np.isfinite(y)) for y in outputs)


def random_like(values, rng):
    return [np.asarray(rng.normal(size=np.shape(v)), np.asarray(v).dtype) for v in values]


def directions_like(sample, positions, rng):
    """Random directions for the arguments at `positions`."""
    found = random_like([sample.args[i] for i in positions], rng)
    return [v + np.swapaxes(v, -1, -2) for v in found] if sample.symmetric else found


def moved(args, positions, directions, step):
    args = list(args)
    for i, v in zip(positions, directions, strict=True):
        args[i] = np.asarray(args[i] + step * v)
    return args


def check_first(op, sample, rng):
    """Every derivative of `op` along a random direction of its own."""
    positions = differentiable(op, sample.args)
    outputs = several(op(*sample.args, **sample.attrs))
    weights = random_like(outputs, rng)
    found = gradients(op, sample.args, sample.attrs, weights)
    for i, g in zip(positions, found, strict=True):
        assert g is not None, f"{op.name}: no gradient for input {i}"
        assert g.array.shape == sample.args[i].shape
        if not all_finite(outputs):
            continue
        (v,) = directions_like(sample, [i], rng)
        total = [_weighted(op, moved(sample.args, [i], [v], h), sample.attrs, weights)
                 for h in (STEP, -STEP)]  # fmt: skip
        _close(np.sum(g.array * v), (total[0] - total[1]) / (2 * STEP), f"input {i} of {op.name}")


def check_second(op, sample, rng):
    """The derivative of the first derivative, by inputs and cotangents at once."""
    positions = differentiable(op, sample.args)
    args, attrs = sample.args, sample.attrs
    outputs = several(op(*args, **attrs))
    if not all_finite(outputs):
        return
    weights = random_like(outputs, rng)
    across = random_like([args[i] for i in positions], rng)

    tensors, seeds = boxed(args), [Tensor(w) for w in weights]
    wanted = [tensors[i] for i in positions]
    with GradientTape() as outer:
        outer.watch([wanted, seeds])
        with GradientTape() as tape:
            tape.watch(wanted)
            outputs = several(op(*tensors, **attrs))
        first = dense(tape.gradient(list(outputs), wanted, output_gradients=seeds))
        total = 0.0
        for g, u in zip(first, across, strict=True):
            total = reduce_sum(g * Tensor(u), axis=tuple(range(u.ndim)), keepdims=False) + total
    second = outer.gradient(total, [*wanted, *seeds])

    by_args, by_weights = directions_like(sample, positions, rng), random_like(weights, rng)
    found = sum(
        np.sum(g.array * v).real
        for g, v in zip(second, [*by_args, *by_weights], strict=True) if g is not None
    )  # fmt: skip
    totals = []
    for h in (STEP, -STEP):
        shifted = [np.asarray(w + h * v) for w, v in zip(weights, by_weights, strict=True)]
        grads = gradients(op, moved(args, positions, by_args, h), attrs, shifted)
        totals.append(sum(np.sum(g.array * u) for g, u in zip(grads, across, strict=True)))
    _close(found, (totals[0] - totals[1]) / (2 * STEP), f"second derivative of {op.name}")


def _weighted(op, args, attrs, weights):
    outputs = several(op(*args, **attrs))
    return sum(np.sum(w * y).real for w, y in zip(weights, outputs, strict=True))


def _close(found, expected, what):
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7, err_msg=what)
