"""TensorFlow's wrappers of Python functions, and functions that need TensorFlow's graphs."""

import contextlib
from typing import Any

import numpy as np

from framework.autodiff.tape import UnconnectedGradients
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype
from framework.core.errors import DTypeError, InvalidArgumentError, TapeError
from framework.core.recorders import pause_all
from framework.core.tensor import Tensor


def py_function(
    func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Call `func` with tensors; return its results as differentiable tensors of dtypes `Tout`.

    Args:
        func: a function; if None, `py_function` returns a decorator.
        inp: the arguments, a list of tensors.
        Tout: the dtype of the result, or a list of the dtypes of the results; [] for none.

    >>> import framework as tf
    >>> tf.py_function(lambda x: 2 * x, [tf.constant(3.0)], tf.float32).numpy()
    np.float32(6.0)
    """
    if func is None:
        return lambda function: lambda *args: py_function(function, args, Tout)
    wanted = _wanted(Tout, "py_function")
    return _results(func(*map(tensor, inp or ())), wanted, tensor)


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Call `func` with arrays; return its results as tensors of the dtypes `Tout`.

    There are no gradients.

    Args:
        func, inp, Tout: as in `py_function`.
        stateful: ignored.

    >>> import framework as tf
    >>> tf.numpy_function(np.sinh, [tf.constant(0.0)], tf.float32).numpy()
    np.float32(0.0)
    """
    if func is None:
        return lambda function: lambda *args: numpy_function(function, args, Tout)
    wanted = _wanted(Tout, "numpy_function")
    return _results(func(*[tensor(x).numpy() for x in inp or ()]), wanted, _of_array)


@contextlib.contextmanager
def init_scope() -> Any:
    """Return a context in which no tape records.

    In a `tf.function`, the code in the context runs only while tracing. If it uses an argument of
    the function, or a tensor computed from one, the function is not compiled.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     with tf.init_scope():
        ...         factor = x * 2.0
        ...     y = x * factor
        >>> tape.gradient(y, x).numpy()
        np.float32(6.0)
    """
    with pause_all():
        yield


def _wanted(Tout, what):
    if Tout is None:
        raise InvalidArgumentError(f"{what}: Tout, the dtype of the result, is required.")
    return nest.map_structure(as_dtype, list(Tout) if isinstance(Tout, tuple) else Tout)


def _of_array(value, dtype):
    found = np.asarray(value)
    plain = not hasattr(value, "dtype")
    if not plain and found.dtype != dtype.np:
        raise DTypeError(f"numpy_function: expected an array of Tout={dtype}, got {found.dtype}.")
    return tensor(value, dtype) if plain else Tensor(np.array(found))


def _results(found, wanted, convert):
    if not isinstance(wanted, list):
        return convert(found, wanted)
    found = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
    if len(found) != len(wanted):
        raise InvalidArgumentError(
            f"py_function or numpy_function: `func` must return {len(wanted)} results, one for "
            f"each dtype in Tout, got {len(found)}."
        )
    return [convert(value, dtype) for value, dtype in zip(found, wanted)]


def gradients(
    ys: Any, xs: TensorLike, grad_ys: Any = None, name: str | None = "gradients",
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> None:  # fmt: skip
    """Raise RuntimeError, as TensorFlow does without a graph. Use GradientTape."""
    raise TapeError(
        "tf.gradients needs a graph, but ops run eagerly. Compute ys in "
        "`with tf.GradientTape() as tape:` and call tape.gradient(ys, xs)."
    )


def hessians(
    ys: Any, xs: TensorLike, gate_gradients: bool = False, aggregation_method: Any = None,
    name: str | None = "hessians",
) -> None:  # fmt: skip
    """Raise RuntimeError, as TensorFlow does without a graph. Use GradientTape."""
    raise TapeError(
        "tf.hessians needs a graph, but ops run eagerly. Use two tapes: the jacobian of a gradient "
        "is the Hessian."
    )
