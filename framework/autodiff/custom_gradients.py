"""custom_gradient, grad_pass_through, recompute_grad and stop_gradient: custom gradients.

To recorders, a call of a decorated function is one `Op` with several outputs and a joint rule:

- its inputs are the tensors among the arguments, the value of each variable that the function
  reads, and the results that the function computed, in this order;
- its forward returns the results as new tensors. This is enough for a replay, because the ops
  inside the function were recorded before;
- its attribute `call` holds the user's `grad_fn`, and its joint rule is `call(g)`. The results
  among the inputs have no rule, so no gradient reaches the ops inside the function;
- `grad_fn` runs on tensors; if an outer tape or a trace is active, it records the ops of
  `grad_fn`, which gives higher derivatives.

Each function has one such op per number of inputs, outside the op table.
"""

import functools
import inspect
import types
from typing import Any

import numpy as np

from framework.autodiff.batch_rules import repeated, shape_of
from framework.autodiff.batching import Batched
from framework.autodiff.tape import GradientTape
from framework.core import nest, recorders
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import BatchedValueError, InvalidArgumentError, ShapeError
from framework.core.op import Op
from framework.core.recorders import Recorder, thread
from framework.core.symbolic import KerasTensor, calling
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops import elementwise


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Return `input` unchanged; its gradient is None.

    Args:
        input: a tensor, variable, array or number.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = tf.stop_gradient(x) * x
        >>> tape.gradient(y, x).numpy()
        np.float32(3.0)
    """
    return elementwise.stop_gradient(tensor(input))


def custom_gradient(f: Any = None) -> Any:
    """Decorator for a function that returns its result and its gradient function.

    Args:
        f: a function `f(*args, **kwargs)` that returns `(result, grad_fn)`. `result` may be any
            nest. `grad_fn(*dys)` takes one cotangent per tensor in `result` and returns one
            gradient, or None, per tensor in `args`. If `f` reads trainable variables that are not
            among its arguments, `grad_fn` must take a keyword argument `variables`, a list of
            them, and return `(gradients, gradients_of_variables)`.

    Returns:
        A function that returns `result` as new tensors.

    Raises:
        TypeError: `f` reads variables and `grad_fn` has no argument `variables`.
        ValueError: in the backward pass: `grad_fn` returned a wrong number of gradients.

    Example:
        >>> import framework as tf
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return x, lambda dy: tf.clip_by_value(dy, -1.0, 1.0)
        >>> x = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = clipped(x) * 5.0
        >>> tape.gradient(y, x).numpy()
        np.float32(1.0)
    """
    return custom_gradient if f is None else CustomGradient(f)


class CustomGradient:
    """A function or method decorated with `custom_gradient`; a call returns new tensors."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self._f = f
        # {n: the op that is recorded for calls with n differentiable inputs}
        self._ops = {}

    def __call__(self, *args, **kwargs):
        return self._call(self._f, args, kwargs)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        bound = types.MethodType(self._f, instance)
        return lambda *args, **kwargs: self._call(bound, args, kwargs)

    def _call(self, f, args, kwargs):
        given = nest.flatten(args)
        if any(isinstance(a, KerasTensor) for a in given):
            return self._symbolic(f, args, kwargs)
        with _Reads() as reads:
            result, grad_fn = _pair(f(*args, **kwargs), self)
        variables = reads.besides([*given, *kwargs.values()])
        if variables:
            _must_take_variables(grad_fn, variables)
        inputs = [tensor(a) for a in given] + [v.read() for v in variables]
        results = [tensor(r) for r in nest.flatten(result)]
        call = _GradCall(grad_fn, variables, inputs, len(results))
        outputs = self._op(len(inputs))(*inputs, *results, call=call)
        return nest.pack_sequence_as(result, outputs)

    def _op(self, inputs):
        if inputs not in self._ops:
            name = getattr(self, "__name__", "custom_gradient")
            self._ops[inputs] = CustomGradientOp(name, inputs)
        return self._ops[inputs]

    def _symbolic(self, f, args, kwargs):
        """Return KerasTensors for the results: the call becomes one operation of the model."""
        operation = _Operation(self, f)
        with calling(operation.name):
            result, _ = _pair(f(*args, **kwargs), self)
        flat = [KerasTensor(r.shape, r.dtype, name=operation.name) for r in nest.flatten(result)]
        for i, output in enumerate(flat):
            output.origin = (operation, args, kwargs, i)
        return nest.pack_sequence_as(result, flat)


class _Operation:
    """A decorated function as one operation of a model; its result is a flat list of tensors."""

    def __init__(self, decorated, f):
        self.name = getattr(decorated, "__name__", "custom_gradient")
        self._decorated, self._f = decorated, f

    def __call__(self, *args, **kwargs):
        return nest.flatten(self._decorated._call(self._f, args, kwargs))


class CustomGradientOp(Op):
    """The op that recorders receive for a call of a decorated function (see module docstring)."""

    __slots__ = ("count",)

    def __init__(self, name, count):
        # The first `count` inputs have derivatives; the others are the results, which the op
        # returns.
        self.count = count
        super().__init__(
            name, lambda *xs, call: xs[count:], outputs=None, listed=False,
            backward=lambda g, call, needed: call(g, needed),
        )  # fmt: skip

    def _make_plan(self, live):
        live = [i for i in live if i < self.count]
        return super()._make_plan(live) if live else None

    @staticmethod
    def batch(op, xs, batched, attrs):
        """Return the results, which are inputs of this op, for all rows of a vectorized map."""
        if any(r.differentiates for r in thread.stack):
            raise BatchedValueError(
                "A tape around a map over rows cannot differentiate a custom_gradient inside the "
                "map. Put the tape inside the map."
            )
        count = shape_of(xs[batched.index(True)])[0]
        every = zip(xs[op.count :], batched[op.count :])
        return tuple([x if b else repeated(x, count) for x, b in every])


class _GradCall:
    """The joint rule of one call: it runs the user's `grad_fn` and checks the gradients."""

    __slots__ = ("_grad_fn", "_results", "_specs", "_variables")

    def __init__(self, grad_fn, variables, inputs, results):
        self._grad_fn, self._variables, self._results = grad_fn, variables, results
        self._specs = [(i.array.shape, i.array.dtype) for i in inputs]

    def __call__(self, g, needed):
        taped = any(type(dy) in (Tensor, Batched) for dy in g)
        dys = [d if type(d) in (Tensor, Batched) else Tensor(np.asarray(d)) for d in g]
        grads = self._gradients([_conjugated(dy) for dy in dys], needed)
        fitted = [_fitted(d, *spec, i) for i, (d, spec) in enumerate(zip(grads, self._specs))]
        if not taped:
            fitted = [d.array if type(d) is Tensor else d for d in fitted]
        return fitted + [None] * self._results

    def _gradients(self, dys, needed):
        """Return the user's gradients, one per input and variable."""
        more = {"needed": needed} if hasattr(self._grad_fn, "takes_needed") else {}
        if not self._variables:
            return self._counted(nest.flatten(self._grad_fn(*dys, **more)))
        grads, of_variables = self._grad_fn(*dys, variables=list(self._variables), **more)
        of_variables = nest.flatten(of_variables)
        if len(of_variables) != len(self._variables):
            raise InvalidArgumentError(
                "Must return gradient for each variable from @custom_gradient grad_fn: it used "
                f"{len(self._variables)}, and returned {len(of_variables)} gradients for them."
            )
        return self._counted(nest.flatten(grads)) + of_variables

    def _counted(self, grads):
        expected = len(self._specs) - len(self._variables)
        if len(grads) != expected:
            raise InvalidArgumentError(
                f"custom_gradient function expected to return {expected} gradients, but returned "
                f"{len(grads)} instead."
            )
        return grads


def _fitted(d, shape, dtype, position):
    """Return a gradient as a tensor of its input's shape and dtype."""
    if d is None or dtype.kind not in "fcV":
        return None
    if not isinstance(d, (Tensor, Batched, CoreVariable)) and not hasattr(d, "_as_tensor"):
        array = np.asarray(d, dtype)
        d = Tensor(array if array.ndim else np.broadcast_to(array, shape))
    d = tensor(d)
    if d.array.shape != shape:
        raise ShapeError(
            f"custom_gradient: grad_fn's gradient number {position}: expected the shape {shape} of "
            f"its input, got {d.array.shape}. Sum the gradient over axes that were broadcast."
        )
    return _conjugated(d if d.array.dtype == dtype else cast(d, dtype=dtype))


def _conjugated(d):
    """Convert a cotangent of derivative rules to TensorFlow's, or back: conjugate it if complex."""
    return elementwise.conj(d) if d.array.dtype.kind == "c" else d


def _pair(returned, decorated):
    try:
        result, grad_fn = returned
    except (TypeError, ValueError):
        grad_fn = None
    if not callable(grad_fn):
        raise TypeError(
            f"custom_gradient: {getattr(decorated, '__name__', 'the function')} must return "
            f"(result, grad_fn), got {returned!r}."
        )
    return result, grad_fn


class _Reads(Recorder):
    """Recorder that collects the trainable variables that are read."""

    def __init__(self):
        self._variables = {}

    def __enter__(self):
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)

    def variable_read(self, variable, tensor):
        if variable.trainable:
            self._variables[variable.serial] = variable

    def besides(self, given):
        """Return the variables that are not among `given`, in the order of their creation."""
        known = {g.serial for g in given if isinstance(g, CoreVariable)}
        return [self._variables[s] for s in sorted(self._variables.keys() - known)]


def _must_take_variables(grad_fn, variables):
    try:
        parameters = inspect.signature(grad_fn).parameters
    # Some callables, such as builtins, have no signature.
    except (TypeError, ValueError):
        return
    if "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    raise TypeError(
        "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
        f"variables: {', '.join(v.name for v in variables)}."
    )


# ---- functions that use custom_gradient ----------------------------------------------------------


def grad_pass_through(f: Any) -> Any:
    """Return `f` with the gradient of the identity; its result must have its argument's shape.

    Variables that `f` reads get no gradient.

    Example:
        >>> import framework as tf
        >>> x, z = tf.Variable(1.0), tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = tf.grad_pass_through(x.assign)(z * z)
        >>> tape.gradient(y, z).numpy()
        np.float32(6.0)
    """

    def passing(*args, **kwargs):
        def grad(*dys, variables=None):
            return dys if variables is None else (dys, [None] * len(variables))

        return f(*args, **kwargs), grad

    return _under_its_name(CustomGradient(passing), f)


def recompute_grad(f: Any) -> Any:
    """Wrap `f` so that the backward pass recomputes its intermediate values, which are not kept.

    This saves memory, and costs a second call of `f` per gradient. `f` must return the same values
    again: random draws inside it would differ.

    Args:
        f: a function of tensors, variables and other values that returns any nest of tensors.
    """
    return recomputed_by(f, f)


def recomputed_by(f: Any, again: Any) -> Any:
    """Wrap `f` so that the backward pass recomputes its intermediate values by calling `again`."""

    def recomputing(*args, **kwargs):
        with _TapesPaused():
            result = f(*args, **kwargs)

        def grad(*dys, variables=(), needed=()):
            if any(recorder.transposes for recorder in thread.stack):
                raise NotImplementedError(
                    f"recompute_grad tried to transpose the gradient of {f!r}. In forward mode "
                    "(ForwardAccumulator) call the function without recompute_grad: forward mode "
                    "keeps no values."
                )
            given = nest.flatten(args)
            with GradientTape(watch_accessed_variables=False) as tape:
                inner = [_copied(a) for a in given]
                sources = [*inner, *variables]
                asked = [s for s, n in zip(sources, needed) if n and _has_gradient(s)]
                tape.watch(asked)
                outputs = again(*nest.pack_sequence_as(args, inner), **kwargs)
            grads = tape.gradient(outputs, asked, list(dys), unconnected_gradients="zero")
            by_id = dict(zip(map(id, asked), grads, strict=True))
            ordered = [by_id.get(id(source)) for source in sources]
            of_inputs, of_variables = ordered[: len(given)], ordered[len(given) :]
            return (of_inputs, of_variables) if variables else of_inputs

        # The rule `_GradCall` passes `needed`, so that unneeded gradients are not computed.
        grad.takes_needed = True
        return result, grad

    return _under_its_name(CustomGradient(recomputing), f)


def _copied(value):
    """Return a new tensor equal to a tensor or variable; return any other value unchanged."""
    return elementwise.identity(value) if _has_gradient(value) else value


def _has_gradient(value):
    return isinstance(value, (Tensor, CoreVariable))


def _under_its_name(decorated, f):
    functools.update_wrapper(decorated, f)
    decorated.__wrapped__ = f
    return decorated


class _TapesPaused:
    """Context manager that pauses the tapes of this thread; other recorders still receive ops."""

    def __enter__(self):
        self._stack = thread.stack
        thread.stack = tuple(r for r in thread.stack if not r.differentiates)

    def __exit__(self, *_):
        thread.stack = self._stack
