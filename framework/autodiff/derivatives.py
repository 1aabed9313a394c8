"""Derivatives of Python functions with the names of JAX: grad, vjp, jvp, hessian, hvp.

Arguments are tensors, variables, arrays or numbers, or nests of them. The function receives a new
tensor for each differentiated argument, so the same tensor in a closure is a constant; variables
are passed unchanged. Calls can be nested.
"""

import functools
from typing import Any

from framework.autodiff.forward_mode import ForwardAccumulator
from framework.autodiff.tape import GradientTape
from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.variable import CoreVariable
from framework.ops.elementwise import identity


def grad(f: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the gradient of the scalar function `f`.

    Args:
        f: a function that returns a 0-d tensor; with `has_aux`, a pair (0-d tensor, anything else).
        argnums: the position of the differentiated argument, or a tuple of positions.
        has_aux: whether the pair (gradient, anything else) is returned.

    Returns:
        A function of `f`'s arguments. The gradient has the structure of the argument, and is zero
        where `f` does not depend on it. For a tuple of positions, the result is a tuple of
        gradients.

    Raises:
        ValueError: from a call: the result is not a scalar, or there is no such argument.
        TypeError: from a call: a differentiated argument holds integers.

    Example:
        >>> from framework.autodiff import grad
        >>> cube = lambda x: x ** 3
        >>> float(grad(cube)(2.0)), float(grad(grad(cube))(2.0))
        (12.0, 12.0)
    """
    with_value = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f, assigned=_NAMES)
    def gradient(*args, **kwargs):
        value, found = with_value(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(f: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Like `grad`, but the returned function computes (value, gradient).

    With `has_aux` it returns ((value, anything else), gradient).

    Example:
        >>> from framework.autodiff import value_and_grad
        >>> value, gradient = value_and_grad(lambda x: x * x)(3.0)
        >>> float(value), float(gradient)
        (9.0, 6.0)
    """

    @functools.wraps(f, assigned=_NAMES)
    def value_and_gradient(*args, **kwargs):
        args, wanted = _prepared(f, args, argnums)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(wanted)
            value, result = _called(f, args, kwargs, has_aux)
        return result, _gradient(tape, value, wanted)

    return value_and_gradient


def vjp(f: Any, *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of `f` and a function that pulls cotangents back to the primals.

    Args:
        f: a function of `primals` that returns a nest of tensors; with `has_aux` a pair of it and
            anything else.
        primals: its arguments.

    Returns:
        `(value, pull)`, with `has_aux` `(value, pull, anything else)`. `pull(cotangent)` takes a
        cotangent in the structure of the value and returns a tuple with vᵀJ for each primal.

    Example:
        >>> import framework as tf
        >>> from framework.autodiff import vjp
        >>> value, pull = vjp(lambda a, b: a * b, tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
        >>> [g.numpy().tolist() for g in pull(tf.constant([1.0, 10.0]))]
        [[3.0, 40.0], [1.0, 20.0]]
    """
    args, wanted = _prepared(f, primals, tuple(range(len(primals))))
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(wanted)
        result = f(*args)
        value, *aux = _split(f, result, has_aux)
        value = nest.map_structure(tensor, value)

    def pull(cotangent):
        return _dense(
            tape.gradient(value, wanted, output_gradients=cotangent, unconnected_gradients="zero")
        )

    return (value, pull, *aux)


def jvp(fun: Any, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Return the value of `fun` and its derivative in the direction of `tangents`.

    Args:
        fun: a function of `primals` that returns a nest of tensors; with `has_aux` a pair of it and
            anything else.
        primals: a tuple or list of its arguments.
        tangents: in the structure of `primals`, of the same shapes.

    Returns:
        `(value, tangent)`, with `has_aux` `(value, tangent, anything else)`. The tangent J t is in
        the structure of the value.

    Example:
        >>> from framework import math
        >>> from framework.autodiff import jvp
        >>> value, tangent = jvp(math.sin, (0.1,), (0.2,))
        >>> round(float(value), 6), round(float(tangent), 6)
        (0.099833, 0.199001)
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise DTypeError(
                f"jvp: {name} must be a tuple or list of arguments, got {type(given).__name__}. "
                "For one argument write (x,)."
            )
    args, wanted = _prepared(fun, tuple(primals), tuple(range(len(primals))))
    with ForwardAccumulator(nest.flatten(wanted), nest.flatten(tangents)) as accumulator:
        value, *aux = _split(fun, fun(*args), has_aux)
        value = nest.map_structure(tensor, value)
        tangent = accumulator.jvp(value, unconnected_gradients="zero")
    return (value, tangent, *aux)


def hessian(f: Any, argnums: Any = 0) -> Any:
    """Return a function that computes the second derivatives of the scalar function `f`.

    Args:
        f: a function that returns a 0-d tensor.
        argnums: the position of the differentiated argument, or a tuple of positions.

    Returns:
        A function of `f`'s arguments. For an argument of shape s it returns a tensor of shape
        s + s. For a nest of arguments it returns a nest of nests: a block for each pair of leaves.

    Example:
        >>> import framework as tf
        >>> from framework.autodiff import hessian
        >>> hessian(lambda x: x[0] ** 2 * x[1])(tf.constant([2.0, 3.0])).numpy()
        array([[6., 4.],
               [4., 0.]], dtype=float32)
    """

    @functools.wraps(f, assigned=_NAMES)
    def second(*args, **kwargs):
        args, wanted = _prepared(f, args, argnums)
        with GradientTape(persistent=True, watch_accessed_variables=False) as outer:
            outer.watch(wanted)
            with GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(wanted)
                value, _ = _called(f, args, kwargs, False)
            gradient = _gradient(inner, value, wanted)
        return nest.map_structure(
            lambda g: outer.jacobian(g, wanted, unconnected_gradients="zero"), gradient
        )

    return second


def hvp(f: Any, primals: Any, tangents: Any) -> Any:
    """Return the product of the Hessian of `f` and `tangents`, without computing the Hessian.

    Args:
        f: a function that returns a 0-d tensor.
        primals: its argument, or a tuple of its arguments.
        tangents: in the structure of `primals`, of the same shapes.

    Returns:
        Tensors in the structure of `primals`.

    Example:
        >>> import framework as tf
        >>> from framework.autodiff import hvp
        >>> x, v = tf.constant([2.0, 3.0]), tf.constant([1.0, 0.0])
        >>> hvp(lambda x: x[0] ** 2 * x[1], x, v).numpy()
        array([6., 4.], dtype=float32)
    """
    several = type(primals) is tuple
    primals, tangents = (primals, tangents) if several else ((primals,), (tangents,))
    nest.assert_same_structure(primals, tangents)
    args, wanted = _prepared(f, primals, tuple(range(len(primals))))
    with GradientTape(watch_accessed_variables=False) as outer:
        outer.watch(wanted)
        with GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(wanted)
            value, _ = _called(f, args, {}, False)
        gradient = _gradient(inner, value, wanted)
    found = outer.gradient(
        gradient, wanted, output_gradients=tangents, unconnected_gradients="zero"
    )
    found = _dense(found)
    return found if several else found[0]


# ---- shared helpers ------------------------------------------------------------------------------

# These attributes are copied from `f`, all but its docstring.
_NAMES = ("__module__", "__name__", "__qualname__")


def _prepared(f, args, argnums):
    """Return (all arguments, nest of the differentiated ones, which are new tensors)."""
    args = list(args)
    positions = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for i in positions:
        if not -len(args) <= i < len(args):
            raise InvalidArgumentError(
                f"argnums: there is no argument number {i}; {_name(f)} was called with {len(args)}."
            )
        args[i] = nest.map_structure(lambda leaf, i=i: _source(leaf, i), args[i])
    several = isinstance(argnums, (tuple, list))
    return args, tuple(args[i] for i in positions) if several else args[argnums]


def _source(leaf, position):
    found = leaf if isinstance(leaf, CoreVariable) else identity(tensor(leaf))
    if not found.dtype.is_inexact:
        raise DTypeError(
            f"Argument {position} is differentiated and has dtype {found.dtype}; derivatives need "
            "floats. Write 3.0 instead of 3, or cast it with tf.cast."
        )
    return found


def _called(f, args, kwargs, has_aux):
    """Return the scalar to differentiate, and everything that `f` returned."""
    value, *aux = _split(f, f(*args, **kwargs), has_aux)
    value = tensor(value)
    if value.ndim:
        raise ShapeError(
            f"The gradient is defined for functions that return a scalar; {_name(f)} returned "
            f"shape {tuple(value.shape)}. Reduce it, or use vjp or GradientTape.jacobian."
        )
    return value, (value, *aux) if has_aux else value


def _split(f, result, has_aux):
    if result is None:
        raise InvalidArgumentError(
            f"{_name(f)} returned None; it must return the tensors to differentiate."
        )
    if not has_aux:
        return (result,)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise InvalidArgumentError(
            f"has_aux: {_name(f)} must return a pair (value, anything else), got {result!r}."
        )
    return tuple(result)


def _gradient(tape, value, wanted):
    return _dense(tape.gradient(value, wanted, unconnected_gradients="zero"))


def _dense(grads):
    """Return gradients as dense tensors; IndexedSlices are added into zeros."""
    return nest.map_structure(tensor, grads)


def _name(f):
    return getattr(f, "__name__", repr(f))
