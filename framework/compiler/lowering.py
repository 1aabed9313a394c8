"""Lowering of op nodes to lines of NumPy code that write into a given array, where possible.

A ufunc writes into `out`. `INTO` has writers for other ops: `writer(node, operands, out, number)`
returns lines of source, or None for a node that it does not support. `operands` and `out` are names
in the source; `number(n)` returns the name of the number n in the node's dtype.
"""

import math

import numpy as np

from framework.compiler.fusion import ufunc_of
from framework.compiler.ir import OpNode
from framework.kernels import matmul, sums
from framework.kernels.contiguous import IN_ORDER

# NumPy does not vectorize these ops for a scalar operand: they take 5 times as long.
SLOW_WITH_NUMBERS = frozenset(("maximum", "minimum", "relu", "relu6"))
# From this many elements on, an array filled with the scalar is faster than the scalar.
_MANY = 1024


def call(ufunc, name, operands, out):
    """Return the source of a ufunc call that writes into `out`, or allocates if `out` is None."""
    if out is not None:  # np.maximum and np.minimum accept `out` only as a keyword argument.
        out = f"out={out}" if ufunc in (np.maximum, np.minimum) else out
        operands = [*operands, out]
    return f"{name}({', '.join(operands)})"


# On NumPy scalars, an operator gives the same result as the ufunc in a tenth of the time.
OPERATORS = {"add": " + ", "subtract": " - ", "multiply": " * ", "divide": " / "}


def number(node, operand, everywhere):
    """Return the expression of a node whose result is a scalar or a full sum; None for others.

    Args:
        operand: `operand(arg)` returns the expression of an array or a NumPy scalar.
        everywhere: `everywhere(shape, number, dtype)` returns the name of an array filled with
            the number.
    """
    if not node.op.plain or node.all_outputs[0].shape:
        return None
    (y,), name = node.all_outputs, node.op.name
    if name in OPERATORS and not node.attrs:
        kinds = (int, float) if y.dtype.char in "fd" else (int,)
        others = [a for a in node.args if not hasattr(a, "constant")]
        plain = all(type(a) in kinds and a - a == 0 for a in others)
        if not plain or y.dtype.char not in "fdl" or any(v.dtype != y.dtype for v in node.inputs):
            return None
        return OPERATORS[name].join(map(operand, node.args))
    if name not in ("sum_to", "reduce_sum", "reduce_mean") or not _is_float(node):
        return None
    (x,) = node.inputs
    if not x.shape or not x.size:
        return None
    if sums.as_product(x.shape, x.dtype, tuple(range(len(x.shape)))) is None:
        total = f"add_reduce({operand(x)}, {0 if len(x.shape) == 1 else None})"
    else:
        ones = everywhere((x.size,), 1, x.dtype)
        total = f"{seen(operand(x), x, (x.size,))}.dot({ones})"
    return f"{total} / {x.size}" if name == "reduce_mean" else total


def differs(node, name, bound):
    """Return the source of a condition that is true if Python would now read another value.

    Args:
        bound: `bound(key, text, value)` returns a name for an object in the source's namespace.
    """
    if node.how == "bool":
        return f"bool({name})" if not node.expected else f"not {name}"
    if node.how == "shape":
        return f"{name}.shape != {node.expected}"
    expected = bound(("expected", id(node)), "expected", node.expected.tobytes())
    return f"asarray({name}).tobytes() != {expected}"


def into(node):
    """Return the function that writes a node's result into an array, or None; ufuncs need none."""
    writer = INTO.get(node.op.name)
    if writer is None or writer(node, ["a"] * len(node.args), "out", str) is None:
        return None
    return writer


def _is_float(node):
    return all(
        v.dtype.kind == "f" and v.dtype.itemsize > 2 for v in (*node.inputs, *node.all_outputs)
    )


def _relu(node, operands, out, number):
    if _is_float(node):
        return [f"maximum({operands[0]}, {number(0)}, out={out})"]
    return None


def _relu6(node, operands, out, number):
    if _is_float(node):
        return [
            f"maximum({operands[0]}, {number(0)}, out={out})",
            f"minimum({out}, {number(6)}, out={out})",
        ]
    return None


def _sigmoid(node, operands, out, number):
    if not _is_float(node):
        return None
    one = number(1)
    return [
        f"negative({operands[0]}, {out})", f"exp({out}, {out})", f"add({out}, {one}, {out})",
        f"divide({one}, {out}, {out})",
    ]  # fmt: skip


def _rsqrt(node, operands, out, number):
    return [f"sqrt({operands[0]}, {out})", f"reciprocal({out}, {out})"] if _is_float(node) else None


def _tanh_back(node, operands, out, number):
    if not _is_float(node):
        return None
    g, y = operands
    return [f"multiply({y}, {y}, {out})", f"subtract({number(1)}, {out}, {out})",
            f"multiply({g}, {out}, {out})"]  # fmt: skip


def _axes(node):
    """Return (axes, keepdims) of a node that computes sums or means; None for other nodes."""
    if node.op.name not in ("sum_to", "reduce_sum", "reduce_mean") or not _is_float(node):
        return None
    (x,), (y,) = node.inputs, node.all_outputs
    if not y.shape or not x.size:
        return None
    if node.op.name != "sum_to":
        return node.attrs["axis"], node.attrs["keepdims"]
    lead = len(x.shape) - len(y.shape)
    return (tuple(range(lead)), False) if x.shape[lead:] == y.shape else None


def _added(node, operands, out, number):
    """Lower a sum to a matrix product if `sums.as_product` allows it, else to `add.reduce`."""
    found = _axes(node)
    if found is None:
        return None
    (x,), (y,) = node.inputs, node.all_outputs
    axis, keepdims = found
    sizes = sums.as_product(x.shape, x.dtype, axis)
    if sizes is None:
        return [f"add_reduce({operands[0]}, {axis}, None, {out}, {keepdims})"]
    before, count, after = sizes
    ones = number(1)
    if before == after == 1:
        return [f"{out}[...] = {seen(operands[0], x, (count,))}.dot({ones})"]
    shape = (count, after) if after > 1 else (before, count)
    factors = [ones, seen(operands[0], x, shape)]
    product = "dot" if x.size < sums.LEAST_SHARED else "alone_dot"
    into = seen(out, y, (y.size,))
    return [f"{product}({', '.join(factors if after > 1 else factors[::-1])}, {into})"]


def _reduce_mean(node, operands, out, number):
    lines = _added(node, operands, out, number)
    if lines is None:
        return None
    count = math.prod(node.inputs[0].shape[i] for i in node.attrs["axis"])
    return [*lines, f"divide({out}, {count}, {out})"]


def seen(text, value, shape):
    """Return the expression of an array reshaped to `shape`."""
    return text if value.shape == shape else f"{text}.reshape({shape})"


def spread(node):
    """Return the shape to which a writer's scalar operands are broadcast, or None."""
    if node.op.name in SLOW_WITH_NUMBERS:
        return node.all_outputs[0].shape if node.all_outputs[0].size >= _MANY else None
    found = _axes(node)
    sizes = found and sums.as_product(node.inputs[0].shape, node.inputs[0].dtype, found[0])
    return sizes[1:2] if sizes else None


def _matmul(node, operands, out, number):
    """Lower a product of two matrices: BLAS reads transposed operands without a copy."""
    a, b = node.inputs if len(node.inputs) == 2 else (None, None)
    if a is None or len(a.shape) != 2 or len(b.shape) != 2 or not _is_float(node):
        return None
    if not (a.dtype == b.dtype and a.size and b.size):
        return None
    first, second = operands
    first += ".T" if node.attrs.get("transpose_a") else ""
    second += ".T" if node.attrs.get("transpose_b") else ""
    rows, inner = a.shape[::-1] if node.attrs.get("transpose_a") else a.shape
    if inner == 1 and 1 in (a.size, b.size):
        # One factor is 1 × 1, so multiply elementwise. `np.dot` gives wrong results for inf and NaN
        # (see `matmul.dot`).
        return [f"multiply({first}, {second}, {out})"]
    product = "dot" if rows * b.size <= matmul.ALONE else "large_dot"
    return [f"{product}({first}, {second}, {out})"]


INTO = {
    "relu": _relu, "relu6": _relu6, "sigmoid": _sigmoid, "rsqrt": _rsqrt, "tanh_back": _tanh_back,
    "sum_to": _added, "reduce_sum": _added, "reduce_mean": _reduce_mean, "matmul": _matmul,
}  # fmt: skip

# Ops that read an operand after they start to write `out`, which therefore must not alias it.
LATE_READERS = frozenset(("tanh_back", "sum_to", "reduce_sum", "reduce_mean", "matmul", "products"))

# Kernels that can write their first output into `out`. An entry is a function of a node that
# returns the positions of the inputs that `out` may overwrite, or None if the node does not compute
# its first output.
KERNELS = {
    **dict.fromkeys(
        ("batch_norm", "conv", "conv_bias", "conv_input", "cell_put", "gelu_with_slope"),
        lambda node: (),
    ),
    **dict.fromkeys(
        ("conv_bias_back", "conv_max_pool_back"),
        lambda node: () if node.attrs["needed"][0] else None,
    ),
    "batch_norm_back": lambda node: (0,) if node.attrs["needed"][0] else None,
}


def takes_out(node):
    """Return whether the node's kernel can write its first output into a given array."""
    found = KERNELS.get(node.op.name)
    return found is not None and found(node) is not None and node.outputs[0].nbytes > 0


NAMES = {
    "maximum": np.maximum, "minimum": np.minimum, "negative": np.negative, "exp": np.exp,
    "add": np.add, "divide": np.true_divide, "sqrt": np.sqrt, "reciprocal": np.reciprocal,
    "multiply": np.multiply, "subtract": np.subtract, "add_reduce": np.add.reduce, "dot": np.dot,
    "alone_dot": sums.dot, "large_dot": matmul.dot, "large_dots": matmul.several,
    "asarray": np.asarray, "array": np.array, "IN_ORDER": IN_ORDER, "bool": bool,
}  # fmt: skip


def read_as_arrays(graph):
    """Return the ids of 0-d Values that must be arrays, because ops other than ufuncs read them."""
    readers = [s for s in graph.nodes if type(s) is OpNode and ufunc_of(s.op) is None]
    return {id(v) for s in readers for v in s.inputs if not v.shape}


def is_literal(value):
    """Return whether `repr` of an attribute evaluates to the attribute."""
    if isinstance(value, (tuple, list)):
        return all(map(is_literal, value))
    return value is None or type(value) in (bool, int, str)
