"""Assertions about values, shapes and dtypes."""

from typing import Any

import numpy as np

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.dtypes import DType, as_dtype, float32
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation, when_run
from framework.core.promotion import strict
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def _told(message, what):
    return f"{message} " if message else f"{what}: "


def _compare(name, holds, words):
    def assertion(x, y, message=None, summarize=None, name=None):
        x, y = (np.asarray(tensor(v)) for v in strict(x, y))
        good = holds(x, y)
        if not np.all(good):
            wrong = np.argwhere(~np.broadcast_to(good, np.broadcast(x, y).shape))[0]
            raise InvalidArgumentError(
                f"{_told(message, assertion.__name__)}the condition {words} does not hold "
                f"everywhere; it first fails at index {tuple(wrong.tolist())}. x = {x}, y = {y}"
            )

    assertion.__name__ = assertion.__qualname__ = name
    assertion.__doc__ = f"Raise InvalidArgumentError (a ValueError) unless {words} elementwise."
    return when_run(assertion)


assert_equal = _compare("assert_equal", np.equal, "x == y")
assert_greater = _compare("assert_greater", np.greater, "x > y")
assert_greater_equal = _compare("assert_greater_equal", np.greater_equal, "x >= y")
assert_less = _compare("assert_less", np.less, "x < y")
assert_less_equal = _compare("assert_less_equal", np.less_equal, "x <= y")


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: Any = None, message: Any = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Raise InvalidArgumentError if any element of x equals that of y."""
    _unequal(x, y, message)


_unequal = _compare("assert_none_equal", np.not_equal, "x != y")


def _sign(name, holds, words):
    def assertion(x, message=None, summarize=None, name=None):
        x = np.asarray(tensor(x))
        if not np.all(holds(x, 0)):
            raise InvalidArgumentError(
                f"{_told(message, assertion.__name__)}the condition {words} does not hold "
                f"everywhere. x = {x}"
            )

    assertion.__name__ = assertion.__qualname__ = name
    assertion.__doc__ = f"Raise InvalidArgumentError (a ValueError) unless {words} elementwise."
    return when_run(assertion)


assert_positive = _sign("assert_positive", np.greater, "x > 0")
assert_non_negative = _sign("assert_non_negative", np.greater_equal, "x >= 0")
assert_negative = _sign("assert_negative", np.less, "x < 0")
assert_non_positive = _sign("assert_non_positive", np.less_equal, "x <= 0")


@when_run
def assert_near(
    x: TensorLike, y: TensorLike, rtol: Any = None, atol: Any = None, message: Any = None,
    summarize: Any = None, name: str | None = None,
) -> None:  # fmt: skip
    """Raise InvalidArgumentError unless |x - y| <= atol + rtol * |y|.

    `atol` and `rtol` are 10 times the dtype's epsilon by default.
    """
    x, y = (np.asarray(tensor(v)) for v in strict(x, y))
    default = 10 * np.finfo(x.dtype).eps if x.dtype.kind == "f" else 0
    rtol, atol = (default if t is None else float(t) for t in (rtol, atol))
    if not np.all(np.abs(x - y) <= atol + rtol * np.abs(y)):
        raise InvalidArgumentError(
            f"{_told(message, 'assert_near')}x and y differ by more than atol={atol}, "
            f"rtol={rtol}. x = {x}, y = {y}"
        )


def assert_all_finite(x: TensorLike, message: Any, name: str | None = None) -> Tensor:
    """Return `x`, or raise InvalidArgumentError if it holds inf or NaN."""
    return check_numerics(x, message, name)


@operation
def check_numerics(tensor: TensorLike, message: Any, name: str | None = None) -> Tensor:
    """Return `tensor`, or raise InvalidArgumentError if it holds inf or NaN."""
    x = _tensor(tensor)
    array = np.asarray(x)
    if not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else "Inf"
        raise InvalidArgumentError(f"{message} : Tensor had {kind} values")
    return x


_tensor = tensor


def assert_rank(x: TensorLike, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ShapeError unless x has `rank` axes."""
    _ranked(x, message, "assert_rank", f"rank {int(rank)}", lambda n: n == int(rank))


def assert_rank_at_least(
    x: TensorLike, rank: Any, message: Any = None, name: str | None = None,
) -> None:  # fmt: skip
    """Raise ShapeError unless x has at least `rank` axes."""
    _ranked(
        x, message, "assert_rank_at_least", f"at least rank {int(rank)}", lambda n: n >= int(rank)
    )


def assert_rank_in(x: TensorLike, ranks: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ShapeError unless the rank of x is in `ranks`."""
    ranks = [int(r) for r in ranks]
    _ranked(x, message, "assert_rank_in", f"a rank of {ranks}", lambda n: n in ranks)


def assert_scalar(tensor: TensorLike, message: Any = None, name: str | None = None) -> Tensor:
    """Return `tensor` if it is 0-d; otherwise raise ShapeError."""
    _ranked(tensor, message, "assert_scalar", "a 0-d tensor", lambda n: n == 0)
    return _tensor(tensor)


def _ranked(x, message, what, expected, holds):
    x = tensor(x)
    if not holds(x.ndim):
        raise ShapeError(f"{_told(message, what)}expected {expected}, got shape {x.shape}.")


def assert_type(
    tensor: TensorLike, tf_type: Any, message: Any = None, name: str | None = None,
) -> None:  # fmt: skip
    """Raise DTypeError unless `tensor` has the dtype `tf_type`."""
    found, expected = _tensor(tensor).dtype, as_dtype(tf_type)
    if found != expected:
        raise DTypeError(f"{_told(message, 'assert_type')}expected {expected}, got {found}.")


def assert_integer(x: TensorLike, message: Any = None, name: str | None = None) -> None:
    """Raise DTypeError unless x has an integer dtype."""
    found = tensor(x).dtype
    if not found.is_integer:
        raise DTypeError(f"{_told(message, 'assert_integer')}expected integers, got {found}.")


def assert_shapes(
    shapes: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Raise ShapeError unless each tensor has its shape; equal letters stand for equal sizes.

    Args:
        shapes: a dict {tensor: shape}, or a list of pairs (tensor, shape). A shape holds ints,
            letters, and None or "." for any size.
        data, summarize, name: ignored.
        message: the beginning of the error message.

    >>> import framework as tf
    >>> x, y = tf.zeros([2, 3]), tf.zeros([3])
    >>> tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))])
    """
    sizes = {}
    for given, expected in shapes.items() if hasattr(shapes, "items") else shapes:
        x = tensor(given.deref() if hasattr(given, "deref") else given)
        shape = tuple(expected) if isinstance(expected, (tuple, list, str)) else (expected,)
        fits = len(shape) == x.ndim and all(
            want in (None, ".")
            or size is None
            or (size == int(want) if _is_number(want) else sizes.setdefault(want, size) == size)
            for want, size in zip(shape, x.shape)
        )
        if not fits:
            known = f", where {sizes}" if sizes else ""
            raise ShapeError(
                f"{_told(message, 'assert_shapes')}expected shape {shape}{known}, got {x.shape}."
            )


def _is_number(size):
    return not isinstance(size, str) or size.isdigit()


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Return whether `tensor` is a tensor of a numeric dtype."""
    dtype = as_dtype(tensor.dtype) if hasattr(tensor, "dtype") else None
    return dtype is not None and (dtype.is_inexact or dtype.is_integer)


@when_run
def Assert(  # noqa: N802 (TensorFlow's name)
    condition: TensorLike, data: TensorLike, summarize: Any = None, name: str | None = None,
) -> None:  # fmt: skip
    """Raise InvalidArgumentError, with `data` in its message, unless `condition` holds.

    Args:
        condition: a boolean tensor; all elements must be true.
        data: a list of tensors to show.
        summarize: how many elements of each to show; None means 3, -1 all.
    """
    if not np.all(np.asarray(tensor(condition))):
        count = 3 if summarize is None else summarize
        shown = "; ".join(_summary(value, count) for value in data)
        raise InvalidArgumentError(f"Assert: the condition does not hold. Data: {shown}")


def _summary(value, count):
    flat = np.asarray(tensor(value)).reshape(-1)
    few = flat if count < 0 else flat[:count]
    return ", ".join(map(str, few.tolist())) + (", ..." if len(few) < len(flat) else "")


def assert_proper_iterable(values: TensorLike) -> None:
    """Raise DTypeError (a TypeError) unless `values` is a list, tuple or another collection."""
    if isinstance(values, (Tensor, CoreVariable, np.ndarray, str, bytes)):
        raise DTypeError(
            "assert_proper_iterable: expected a list, tuple or another collection, got a "
            f"{type(values).__name__}."
        )
    if not hasattr(values, "__iter__"):
        raise DTypeError(
            f"assert_proper_iterable: expected something iterable, got {type(values).__name__}."
        )


def assert_same_float_dtype(tensors: TensorLike = None, dtype: DTypeLike = None) -> DType:
    """Return the tensors' common floating dtype; raise DTypeError (a ValueError) if they differ.

    Args:
        tensors: tensors; None entries are skipped.
        dtype: the expected dtype; by default that of the first tensor.

    >>> import framework as tf
    >>> tf.debugging.assert_same_float_dtype([tf.ones(2), None, tf.zeros(3)])
    tf.float32
    """
    expected = None if dtype is None else as_dtype(dtype)
    for value in tensors or ():
        if value is None:
            continue
        found = tensor(value).dtype
        if expected is not None and found != expected:
            raise DTypeError(f"assert_same_float_dtype: expected {expected}, got {found}.")
        expected = found
    expected = float32 if expected is None else expected
    if not expected.is_floating:
        raise DTypeError(f"assert_same_float_dtype: expected a floating dtype, got {expected}.")
    return expected
