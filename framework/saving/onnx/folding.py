"""Constant folding: a node whose inputs are constants is computed while the graph is built."""

import numpy as np

from framework.saving.onnx import constants
from framework.saving.onnx.sizes import at
from framework.saving.onnx.traces import at_trace


def same(a, b):
    """Return whether two arrays have equal dtypes, shapes and elements (NaN equals NaN)."""
    if a is b:
        return True
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _transpose(x, perm):
    return np.transpose(x, perm)


def _unsqueeze(x, axes):
    return np.expand_dims(x, tuple(int(i) for i in axes))


def _squeeze(x, axes):
    return np.squeeze(x, tuple(int(i) for i in axes))


def _slice(x, starts, ends, axes, steps=None):
    index = [slice(None)] * x.ndim
    steps = np.ones_like(starts) if steps is None else steps
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        stop = None if step < 0 and end <= -(2**31) else int(end)
        index[axis] = slice(int(start), stop, int(step))
    return x[tuple(index)]


_FOLDS = {
    "Transpose": _transpose,
    "Cast": lambda x, to: x.astype(to),
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Slice": _slice,
    "Concat": lambda *xs, axis: np.concatenate(xs, axis),
    "Neg": np.negative,
    "Gather": lambda x, indices, axis=0: np.take(x, indices, axis),
}


def folded(b, op_type, inputs, attrs, dtype):
    """Return the output of a node as a constant Reference; None if an input is not constant."""
    fold = _FOLDS.get(op_type)
    if fold is None or any(ref is None or ref.arrays is None for ref in inputs):
        return None
    arrays = [
        np.asarray(fold(*(ref.arrays[k] for ref in inputs), **attrs)).astype(dtype, copy=False)
        for k in range(1 if all(ref.array is not None for ref in inputs) else b.traces)
    ]
    path = next((ref.path for ref in inputs if ref.path), None)
    found = b.constant(arrays[0], path=path) if len(arrays) == 1 else b.varying(arrays, path)
    return found if constants.is_known(b, found) else None


def folded_call(b, call, args):
    """Compute a Call whose arguments are constants; return constant References, or None.

    A call that reads variables is computed if it is elementwise or moves elements, and if its
    result is not larger than its inputs.

    Args:
        b: the Builder.
        call: the Call.
        args: its arguments: References, numbers and None.
    """
    refs = [a for a in args if hasattr(a, "arrays")]
    op = call.op
    if op is None or any(ref.arrays is None for ref in refs):
        return None
    of_variables = any(ref.path for ref in refs)
    if of_variables:
        if op.kind not in ("elementwise", "movement"):
            return None
        if sum(a.arrays[0].nbytes for a in refs) < sum(_bytes(v) for v in call.outputs):
            return None
    results = []
    for k in range(b.traces):
        given = [a.arrays[k] if hasattr(a, "arrays") else at_trace(a, k) for a in args]
        with np.errstate(all="ignore"):
            found = op.forward(*given, **{n: at_trace(v, k) for n, v in call.attrs.items()})
        found = found[0] if op.saves else found
        results.append(found if op.outputs != 1 else (found,))
    path = next((ref.path for ref in refs if ref.path), None)
    if path and len({ref.path for ref in refs if ref.path}) > 1:
        path = f"{b.scope}/{op.name}"
    return [b.varying([np.asarray(v) for v in values], path) for values in zip(*results)]


def _bytes(array):
    return int(np.prod([at(n, 0) for n in array.shape])) * array.dtype.itemsize
