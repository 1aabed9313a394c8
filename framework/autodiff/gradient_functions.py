"""Derivatives of Python functions by the tape, as in TensorFlow's eager `backprop` module."""

import functools
import inspect
from typing import Any

from framework.autodiff.tape import GradientTape
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.ops.elementwise import identity


def gradients_function(f: Any, params: TensorLike = None) -> Any:
    """Return a function that computes the derivatives of `f` with respect to its arguments.

    This function takes the positional arguments of `f`, and `dy`, the cotangent of the result (ones
    if None).

    Args:
        f: a function of positional arguments that returns a tensor or a nest of them.
        params: the differentiated arguments, a sequence of positions or of names; all if
            None. The others are not converted.

    Example:
        >>> import framework as tf
        >>> from framework.autodiff.gradient_functions import gradients_function
        >>> cube = lambda x: x * x * x
        >>> [float(g) for g in gradients_function(cube)(2.0)]
        [12.0]
        >>> second = gradients_function(lambda x: gradients_function(cube)(x)[0])
        >>> float(second(2.0)[0])
        12.0
    """
    with_value = value_and_gradients_function(f, params)

    @functools.wraps(f, assigned=_NAMES)
    def gradients(*args, dy=None):
        return with_value(*args, dy=dy)[1]

    return gradients


def value_and_gradients_function(f: Any, params: TensorLike = None) -> Any:
    """Like `gradients_function`, but the returned function computes (result, derivatives)."""
    with_vjp = make_vjp(f, params, persistent=False)

    @functools.wraps(f, assigned=_NAMES)
    def value_and_gradients(*args, dy=None):
        value, vjp = with_vjp(*args)
        return value, vjp(dy)

    return value_and_gradients


val_and_grad_function = value_and_gradients_function


def make_vjp(f: Any, params: TensorLike = None, persistent: bool = True) -> Any:
    """Return a function that returns `f`'s result and its vjp.

    `vjp(dy=None)` returns the list of the derivatives; `dy` has the structure of the result, and
    is ones if None.

    Args:
        f, params: as in `gradients_function`.
        persistent: whether the vjp can be called more than once.
    """

    @functools.wraps(f, assigned=_NAMES)
    def value_and_vjp(*args):
        positions = _positions(f, params, len(args))
        with GradientTape(persistent=persistent) as tape:
            args, sources = _watched(args, positions, tape)
            result = f(*args)
            if result is None:
                raise InvalidArgumentError(_returned_none(f))
            result = nest.map_structure(tensor, result)
        return result, lambda dy=None: tape.gradient(result, sources, output_gradients=dy)

    return value_and_vjp


# These attributes are copied from `f`, all but its docstring.
_NAMES = ("__module__", "__name__", "__qualname__")


def _watched(args, positions, tape):
    """Return the arguments with those at `positions` as distinct watched tensors."""
    args, seen = list(args), set()
    for i in positions:
        x = tensor(args[i])
        args[i] = identity(x) if id(x) in seen else x
        seen.add(id(x))
    sources = [args[i] for i in positions]
    tape.watch(sources)
    return args, sources


def _positions(f, params, count):
    """Return the positions of the differentiated arguments."""
    if params is None:
        return range(count)
    if isinstance(params, (str, int)):
        params = (params,)
    if all(isinstance(p, str) for p in params):
        names = _parameter_names(f)
        unknown = [p for p in params if p not in names]
        if unknown:
            raise InvalidArgumentError(
                f"params: {_name(f)} has no parameter {', '.join(map(repr, unknown))}; "
                f"it takes {', '.join(names) or 'none'}."
            )
        params = [names.index(p) for p in params]
    elif not all(isinstance(p, int) for p in params):
        raise InvalidArgumentError(f"params must be all strings or all integers, got {params}.")
    missing = [p for p in params if not 0 <= p < count]
    if missing:
        raise InvalidArgumentError(
            f"params: there is no argument number {missing[0]}; {_name(f)} was called with {count}."
        )
    return params


def _parameter_names(f):
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"params: {_name(f)} has no signature, so names cannot be resolved. Pass positions."
        ) from None


def implicit_value_and_gradients(f: Any) -> Any:
    """Return a function that computes (result, [(gradient, variable), ...]).

    The variables are the trainable ones that `f` read, in the order of their creation.

    Args:
        f: a function of any arguments that returns a tensor or a nest of them.

    Raises:
        ValueError: in a call of the returned function: `f` read no variable or returned None.

    Example:
        >>> import framework as tf
        >>> from framework.autodiff.gradient_functions import implicit_value_and_gradients
        >>> w = tf.Variable(3.0)
        >>> value, [(gradient, variable)] = implicit_value_and_gradients(lambda x: w * w * x)(2.0)
        >>> float(value), float(gradient), variable is w
        (18.0, 12.0, True)
    """

    @functools.wraps(f, assigned=_NAMES)
    def value_and_gradients(*args, **kwargs):
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise InvalidArgumentError(_returned_none(f))
        variables = tape.watched_variables()
        if not variables:
            raise InvalidArgumentError(
                "No trainable variables were accessed while the function was being computed."
            )
        grads = tape.gradient(value, list(variables))
        return value, list(zip(grads, variables, strict=True))

    return value_and_gradients


def implicit_grad(f: Any) -> Any:
    """Like `implicit_value_and_gradients`, but without the value: [(gradient, variable), ...]."""
    with_value = implicit_value_and_gradients(f)

    @functools.wraps(f, assigned=_NAMES)
    def gradients(*args, **kwargs):
        return with_value(*args, **kwargs)[1]

    return gradients


def _returned_none(f):
    return (
        "Cannot differentiate a function that returns None; did you forget to return a value from "
        f"{_name(f)}?"
    )


def _name(f):
    return getattr(f, "__name__", repr(f))
