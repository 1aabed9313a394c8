"""NumPy's functions that create arrays, select elements or test them, with NumPy's dtypes."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.numpy_rule import default_float, enable, python_dtype
from framework.core.tensor import Tensor
from framework.experimental.numpy.conversion import array, asarray, floats, promoted
from framework.experimental.numpy.declarations import ops

asanyarray = ascontiguousarray = asarray


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy",
) -> None:  # fmt: skip
    """Let operators of tensors promote dtypes as in NumPy, and add NumPy's methods to tensors.

    Args:
        prefer_float32: use float32 instead of float64 for Python floats and for floats computed
            from integers.
        dtype_conversion_mode: "legacy" for NumPy's rule; "all" for Keras's rule, which promotes
            int32 and float32 to float32; "safe" for Keras's rule with an error if an operand's
            values may not fit; "off" for TensorFlow's rule, with an error for different dtypes.

    >>> import framework as tf
    >>> experimental_enable_numpy_behavior()
    >>> (tf.constant([1]) + tf.constant([1.5])).dtype
    tf.float64
    >>> tf.constant([1.0, 2.0]).astype("int32").max().numpy()
    np.int32(2)
    >>> experimental_enable_numpy_behavior(dtype_conversion_mode="off")
    """
    from framework.experimental.numpy.methods import add_methods, remove_methods

    enable(prefer_float32, dtype_conversion_mode)
    (remove_methods if dtype_conversion_mode == "off" else add_methods)()


# ---- new arrays ----------------------------------------------------------------------------------


def _dtype(dtype):
    """Convert `dtype` to NumPy's dtype; `float` and None become the default floating dtype."""
    return np.dtype(default_float()) if dtype in (float, None) else dtypes.as_dtype(dtype).np


def _shape(shape):
    sizes = np.asarray(shape).reshape(-1).tolist()
    return tuple(sizes)


def ones(shape: ShapeLike, dtype: DTypeLike = float) -> Any:
    """Return a tensor of ones.

    >>> ones([2]).dtype
    tf.float64
    """
    return Tensor(np.ones(_shape(shape), _dtype(dtype)))


def zeros(shape: ShapeLike, dtype: DTypeLike = float) -> Any:
    """Return a tensor of zeros."""
    return Tensor(np.zeros(_shape(shape), _dtype(dtype)))


empty = zeros


def ones_like(a: TensorLike, dtype: DTypeLike = None) -> Any:
    """Return ones in the shape of `a`, and in its dtype if `dtype` is None."""
    return ops("ones_like")(asarray(a), dtype=dtype and dtypes.as_dtype(dtype))


def zeros_like(a: TensorLike, dtype: DTypeLike = None) -> Any:
    """Return zeros in the shape of `a`, and in its dtype if `dtype` is None."""
    return ops("zeros_like")(asarray(a), dtype=dtype and dtypes.as_dtype(dtype))


empty_like = zeros_like


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike = None) -> Any:
    """Return a tensor filled with `fill_value`."""
    return ops("broadcast_to")(asarray(fill_value, dtype), _shape(shape))


def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: DTypeLike = None, order: str = "K",
    subok: bool = True, shape: ShapeLike = None,
) -> Any:  # fmt: skip
    """Return a tensor filled with `fill_value`; its shape and dtype are by default those of `a`."""
    a = asarray(a)
    return full(a.shape if shape is None else shape, asarray(fill_value, dtype or a.dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Any:
    """Return a matrix of shape (N, M) with ones on diagonal `k` and zeros elsewhere."""
    return Tensor(np.eye(N, M, k, _dtype(dtype)))


def identity(n: int, dtype: DTypeLike = float) -> Any:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Any:
    """Return a matrix of shape (N, M) with ones on and below diagonal `k` and zeros above it."""
    return Tensor(np.tri(N, M, k, _dtype(dtype)))


def arange(
    start: TensorLike, stop: TensorLike = None, step: TensorLike = 1, dtype: DTypeLike = None,
) -> Any:  # fmt: skip
    """Return evenly spaced numbers.

    >>> arange(3).dtype, arange(3.0).dtype
    (tf.int64, tf.float64)
    """
    given = [np.asarray(v) for v in (start, stop, step) if v is not None]
    made = np.arange(*((start, stop, step) if stop is not None else (0, start, step)))
    return asarray(made.astype(python_dtype(made) if given else made.dtype), dtype)


def _spaced(function, start, stop, num, endpoint, dtype, axis, **more):
    first, last = floats(start, stop)
    return asarray(getattr(np, function)(
        np.asarray(first), np.asarray(last), int(num), endpoint, axis=axis, **more
    ).astype(first.dtype.np), dtype)  # fmt: skip


def linspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True,
    retstep: bool = False, dtype: DTypeLike = float, axis: int = 0,
) -> Any:  # fmt: skip
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    made = _spaced("linspace", start, stop, num, endpoint, None if dtype is float else dtype, axis)
    if not retstep:
        return made
    first, last = floats(start, stop)
    return made, (last - first) / asarray(max(1, num - endpoint), first.dtype)


def logspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True,
    base: TensorLike = 10.0, dtype: DTypeLike = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Return numbers whose logarithms are evenly spaced."""
    return _spaced("logspace", start, stop, num, endpoint, dtype, axis, base=base)


def geomspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True,
    dtype: DTypeLike = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Return a geometric sequence of `num` numbers from `start` to `stop`."""
    return _spaced("geomspace", start, stop, num, endpoint, dtype, axis)


# ---- several arrays ------------------------------------------------------------------------------


def meshgrid(*xi: TensorLike, **kwargs: Any) -> Any:
    """Return the coordinate arrays of the grid that coordinate vectors span."""
    return ops("meshgrid")(*map(asarray, xi), **kwargs)


def broadcast_arrays(*args: TensorLike, **kwargs: Any) -> list[Any]:
    """Broadcast the arrays to their common shape."""
    made = [asarray(a) for a in args]
    shape = np.broadcast_shapes(*(tuple(a.shape) for a in made))
    return [ops("broadcast_to")(a, shape) for a in made]


def ix_(*args: TensorLike) -> list[Any]:
    """Return index arrays, one along each axis, that together select a block."""
    made = []
    for n, a in enumerate(args):
        vector = asarray(a)
        if vector.dtype.is_bool:
            vector = asarray(np.flatnonzero(np.asarray(vector)))
        shape = (1,) * n + (-1,) + (1,) * (len(args) - n - 1)
        made.append(ops("reshape")(vector, shape))
    return made


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """Return the indices of a main diagonal."""
    return (Tensor(np.arange(n, dtype=np.int32)),) * ndim


def einsum(subscripts: str, *operands: TensorLike, **kwargs: Any) -> Any:
    """Return the Einstein summation of the operands."""
    return ops("einsum")(subscripts, *promoted(*operands))


def where(condition: TensorLike, x: TensorLike = None, y: TensorLike = None) -> Any:
    """Return `x` where `condition` is true, else `y`; without x and y, the indices of True."""
    condition = asarray(condition, bool)
    if x is None and y is None:
        return [cast(part, dtype=np.dtype(np.int64)) for part in ops("nonzero")(condition)]
    return ops("where")(condition, *promoted(x, y))


def select(condlist: Any, choicelist: Any, default: TensorLike = 0) -> Any:
    """Return each element from the first choice whose condition is true there."""
    *choices, default = promoted(*choicelist, default)
    return ops("select")([asarray(c, bool) for c in condlist], choices, default)


def clip(a: TensorLike, a_min: TensorLike, a_max: TensorLike) -> Any:
    """Return `a` with its elements limited to a range; one end can be None."""
    if a_min is None or a_max is None:
        limit, name = (a_max, "minimum") if a_min is None else (a_min, "maximum")
        return ops(name)(*promoted(a, limit))
    a, low, high = promoted(a, a_min, a_max)
    return ops("minimum")(ops("maximum")(a, low), high)


def take(
    a: TensorLike, indices: TensorLike, axis: Axis = None, out: Any = None, mode: str = "clip",
) -> Any:  # fmt: skip
    """Return the slices of `a` at `indices`; indices out of range are clipped or wrap around."""
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        a, axis = ops("ravel")(a), 0
    size = a.shape[axis]
    indices = ops("mod")(indices, size) if mode == "wrap" else ops("clip")(indices, 0, size - 1)
    return ops("take")(a, indices, axis=axis)


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: Axis) -> Any:
    """Return the elements at `indices` along an axis."""
    return ops("take_along_axis")(asarray(arr), asarray(indices), axis=axis)


def compress(condition: TensorLike, a: TensorLike, axis: Axis = None) -> Any:
    """Return the slices for which the 1-d condition holds."""
    a = asarray(a)
    a = ops("ravel")(a) if axis is None else a
    return ops("take")(a, np.flatnonzero(np.asarray(condition)), axis=axis or 0)


def average(
    a: TensorLike, axis: Axis = None, weights: TensorLike = None, returned: bool = False,
) -> Any:  # fmt: skip
    """Return the weighted mean; with `returned` also the sum of the weights."""
    if weights is None:
        (a,) = floats(a)
        made = ops("mean")(a, axis=axis)
        total = asarray(a.size // max(1, made.size), made.dtype)
    else:
        a, weights = floats(a, weights)
        made = ops("average")(a, axis=axis, weights=weights)
        total = ops("sum")(weights, axis=axis if weights.shape == a.shape else None)
    return (made, ops("broadcast_to")(total, made.shape)) if returned else made


def _with_rank(rank):
    def function(*arys: TensorLike) -> Any:
        made = [array(a, ndmin=rank) for a in arys]
        if rank == 3:
            made = [_deep(asarray(a)) for a in arys]
        return made[0] if len(made) == 1 else made

    function.__name__ = f"atleast_{rank}d"
    function.__doc__ = f"Return the arrays with at least {rank} axes."
    return function


def _deep(a):
    """Return an array with three axes: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""
    shape = tuple(a.shape)
    if len(shape) < 3:
        a = ops("reshape")(a, ((1, 1, 1), (1, *shape, 1), (*shape, 1))[len(shape)])
    return a


atleast_1d, atleast_2d, atleast_3d = map(_with_rank, (1, 2, 3))

# ---- tests of arrays and dtypes ------------------------------------------------------------------


def array_equal(a1: TensorLike, a2: TensorLike) -> Any:
    """Return whether shapes and elements are equal."""
    a1, a2 = promoted(a1, a2)
    return Tensor(np.asarray(a1.shape == a2.shape)) if a1.shape != a2.shape else ops("all")(
        ops("equal")(a1, a2))  # fmt: skip


def isscalar(num: Any) -> bool:
    """Return whether a value is a number."""
    return np.isscalar(num) or getattr(num, "ndim", None) == 0


def iscomplexobj(x: TensorLike) -> bool:
    """Return whether the dtype is complex."""
    return asarray(x).dtype.is_complex


def isrealobj(x: TensorLike) -> bool:
    """Return whether the dtype is real."""
    return not iscomplexobj(x)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Return whether the first dtype is equal to the second or a subtype of it."""
    plain = (d.np if isinstance(d, dtypes.DType) else d for d in (arg1, arg2))
    return np.issubdtype(*plain)


def ndim(a: TensorLike) -> int:
    """Return the number of axes."""
    return asarray(a).ndim


def shape(a: TensorLike) -> Any:
    """Return the shape."""
    return asarray(a).shape


def size(x: TensorLike, axis: Axis = None) -> Any:
    """Return the number of elements, int64, or the size of an axis."""
    x = asarray(x)
    found = x.size if axis is None else np.prod([x.shape[i] for i in np.ravel(axis)], dtype=int)
    return Tensor(np.asarray(found, np.int64))


def finfo(dtype: DTypeLike) -> Any:
    """Return the limits of a floating dtype."""
    return np.finfo(dtypes.as_dtype(dtype).np)


def iinfo(int_type: DTypeLike) -> Any:
    """Return the limits of an integer dtype."""
    return np.iinfo(dtypes.as_dtype(int_type).np)
