"""1 × 1 convolution of few pixels, as in squeeze-and-excite blocks: products of small matrices.

Other algorithms would first pack the weights, for example, which takes longer than these products.
"""

import numpy as np

from framework.kernels import matmul
from framework.kernels.choose import masked
from framework.kernels.sums import added

_FEW = 256  # maximum number of pixels, in all images together
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)


def suits(a, dtype, size, window, groups):
    """Return whether a convolution with the input or output `a` is 1 × 1 and small enough.

    Args:
        a: the images, or the gradient of the output.
        dtype: the dtype of the other array.
        size: the size of the window.
        window: strides, padding and dilations.
    """
    return (
        groups == 1
        and set(size) == {1}
        and 0 < a.size <= _FEW * a.shape[-1]
        and a.dtype == dtype
        and a.dtype in _FLOATS
        and set(window["strides"]) == {1}
        and (window["padding"] == "SAME" or not any(map(any, window["padding"])))
    )


def conv(x, w, bias, relu, out):
    """Return the convolution, plus the bias if there is one; `relu` applies ReLU."""
    y = _product(_rows(x), _rows(w), out)
    if bias is not None:
        y += bias
    if relu:
        np.maximum(y, y.dtype.type(0), out=y)
    return y.reshape(*x.shape[:-1], w.shape[-1])


def back(g, gate, x, w, sums, out):
    """Return the gradients for x (if w is given), and for w and the bias (if x is given)."""
    shape, by_x, by_w = g.shape[:-1], None, None
    g = _rows(g if gate is None else masked(g, gate > 0))
    if w is not None:
        by_x = _product(g, _rows(w).T, out).reshape(*shape, w.shape[-2])
    if x is not None:
        by_w = matmul.dot(_rows(x).T, g).reshape(*(1,) * (x.ndim - 2), x.shape[-1], g.shape[-1])
    return by_x, by_w, added(g, (0,)) if sums else None


def _rows(a):
    return a.reshape(-1, a.shape[-1])


def _product(a, b, out):
    return matmul.dot(a, b, out if out is None else _rows(out))
