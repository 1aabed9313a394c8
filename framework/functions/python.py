"""Python functions among TensorFlow's: called as they are; and names that need a graph."""

import contextlib

import numpy as np

from framework.autodiff.tape import UnconnectedGradients
from framework.core import nest
from framework.core.doors import tensor
from framework.core.dtypes import as_dtype
from framework.core.errors import DTypeError, InvalidArgumentError, TapeError
from framework.core.recorders import pause_all
from framework.core.tensor import Tensor


def py_function(func=None, inp=None, Tout=None, name=None):
    """`func` called with tensors, its results as tensors of given dtypes. It is differentiated.

    Args:
        func: a function; a decorator is returned where None.
        inp: its arguments, a list of tensors.
        Tout: the dtype of its result, or a list of the dtypes of its results; [] for none.

    >>> import framework as tf
    >>> tf.py_function(lambda x: 2 * x, [tf.constant(3.0)], tf.float32).numpy()
    np.float32(6.0)
    """
    if func is None:
        return lambda function: lambda *args: py_function(function, args, Tout)
    wanted = _wanted(Tout, "py_function")
    return _results(func(*map(tensor, inp or ())), wanted, tensor)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """`func` called with arrays, its results as tensors of given dtypes. No gradient goes through.

    Args:
        func, inp, Tout: as `py_function`'s.
        stateful: accepted.

    >>> import framework as tf
    >>> tf.numpy_function(np.sinh, [tf.constant(0.0)], tf.float32).numpy()
    np.float32(0.0)
    """
    if func is None:
        return lambda function: lambda *args: numpy_function(function, args, Tout)
    wanted = _wanted(Tout, "numpy_function")
    return _results(func(*[tensor(x).numpy() for x in inp or ()]), wanted, _of_array)


@contextlib.contextmanager
def init_scope():
    """A context whose ops no tape records; in a `tf.function` they are done as it is recorded only.

    A function that computes there with tensors of its own runs in Python.

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
        raise InvalidArgumentError(f"{what}: Tout, the dtype of the result, must be given.")
    return nest.map_structure(as_dtype, list(Tout) if isinstance(Tout, tuple) else Tout)


def _of_array(value, dtype):
    found = np.asarray(value)
    plain = not hasattr(value, "dtype")
    if not plain and found.dtype != dtype.np:
        raise DTypeError(f"numpy_function: Tout is {dtype}, but an array of {found.dtype} came.")
    return tensor(value, dtype) if plain else Tensor(np.array(found))


def _results(found, wanted, convert):
    if not isinstance(wanted, list):
        return convert(found, wanted)
    found = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
    if len(found) != len(wanted):
        raise InvalidArgumentError(
            f"Tout says {len(wanted)} results, but the function gave {len(found)}."
        )
    return [convert(value, dtype) for value, dtype in zip(found, wanted)]


def gradients(
    ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None,
    stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE,
):  # fmt: skip
    """RuntimeError, as in TensorFlow: it needs a graph of what was computed. Use GradientTape."""
    raise TapeError(
        "tf.gradients needs a graph, and here everything is computed when it is called. Compute ys "
        "in `with tf.GradientTape() as tape:` and call tape.gradient(ys, xs)."
    )


def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """RuntimeError, as in TensorFlow: it needs a graph of what was computed. Use GradientTape."""
    raise TapeError(
        "tf.hessians needs a graph, and here everything is computed when it is called. Use two "
        "tapes: the jacobian of a gradient is the Hessian."
    )
