"""Gradients that the user writes: custom_gradient and what is made of it.

A call of a decorated function is one record like any other. To recorders it is an `Op` of several
outputs with a joint backward:

- its inputs are the tensors of the arguments, a read of each variable that the function used, and
  then the results that the function computed, in this order;
- its forward hands the results on, as new tensors: that is all a replay has to do, for the ops
  inside the function were recorded before it;
- its attribute `call` holds the user's `grad_fn`, and its joint rule is `call(g)`. The results
  among its inputs have no rule, so that nothing flows back into the ops inside the function;
- `grad_fn` is run on tensors, and where an outer tape or a trace listens its ops are recorded: that
  gives the higher orders.

The op is made once for each function and number of inputs, and does not stand in the op table.
"""

import functools
import inspect
import types

import numpy as np

from framework.autodiff.batch_rules import repeated, shape_of
from framework.autodiff.batching import Batched
from framework.autodiff.tape import GradientTape
from framework.core import nest, recorders
from framework.core.doors import cast, tensor
from framework.core.errors import BatchedValueError, InvalidArgumentError, ShapeError
from framework.core.op import Op
from framework.core.recorders import Recorder, thread
from framework.core.symbolic import KerasTensor, calling
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops import elementwise


def stop_gradient(input, name=None):
    """`input` as it is, through which no gradient flows back.

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


def custom_gradient(f=None):
    """Decorator: the function's gradient is the one that it returns beside its result.

    Args:
        f: a function `f(*args, **kwargs)` that returns `(result, grad_fn)`. `result` may be any
            nest. `grad_fn(*dys)` takes one cotangent for each tensor in `result` and returns one
            gradient for each tensor in `args`, None where there is none. Where `f` reads trainable
            variables that are not among its arguments, `grad_fn` must take a keyword argument
            `variables`, a list of them, and return `(gradients, gradients_of_variables)`.

    Returns:
        A function that returns `result`; its tensors are new ones.

    Raises:
        TypeError: `f` uses variables and `grad_fn` takes no `variables`.
        ValueError: when a gradient is asked for: `grad_fn` returned too many or too few.

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
    """A function decorated with `custom_gradient`; a method where it is found in a class."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self._f = f
        self._ops = {}  # number of inputs -> op

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
        call = _Call(grad_fn, variables, inputs, len(results))
        outputs = self._op(len(inputs))(*inputs, *results, call=call)
        return nest.pack_sequence_as(result, outputs)

    def _op(self, inputs):
        if inputs not in self._ops:
            self._ops[inputs] = _CallOp(getattr(self, "__name__", "custom_gradient"), inputs)
        return self._ops[inputs]

    def _symbolic(self, f, args, kwargs):
        """KerasTensors like the results; a model made of them calls this function anew."""
        operation = _Operation(self, f)
        with calling(operation.name):
            result, _ = _pair(f(*args, **kwargs), self)
        made = [KerasTensor(r.shape, r.dtype, name=operation.name) for r in nest.flatten(result)]
        for i, each in enumerate(made):
            each.origin = (operation, args, kwargs, i)
        return nest.pack_sequence_as(result, made)


class _Operation:
    """What KerasTensors remember as their origin: the function, giving a flat list."""

    def __init__(self, decorated, f):
        self.name = getattr(decorated, "__name__", "custom_gradient")
        self._decorated, self._f = decorated, f

    def __call__(self, *args, **kwargs):
        return nest.flatten(self._decorated._call(self._f, args, kwargs))


class _CallOp(Op):
    """What a call is to recorders; the module's text says how."""

    __slots__ = ("count",)

    def __init__(self, name, count):
        self.count = count  # of the inputs that have a rule
        super().__init__(
            name, lambda *xs, call: xs[count:], outputs=None, listed=False,
            backward=lambda g, call, needed: call(g, needed),
        )  # fmt: skip

    def _make_plan(self, live):
        live = [i for i in live if i < self.count]
        return super()._make_plan(live) if live else None

    @staticmethod
    def batch(op, xs, batched, attrs):
        """How the call goes on many rows: the results are computed already."""
        if any(r.differentiates for r in thread.stack):
            raise BatchedValueError("A tape around a map over rows cannot ask a grad_fn within it.")
        count = shape_of(xs[batched.index(True)])[0]
        every = zip(xs[op.count :], batched[op.count :])
        return tuple([x if b else repeated(x, count) for x, b in every])


class _Call:
    """The joint rule of one call: the user's `grad_fn`, its results checked and arranged."""

    __slots__ = ("_grad_fn", "_results", "_specs", "_variables")

    def __init__(self, grad_fn, variables, inputs, results):
        self._grad_fn, self._variables, self._results = grad_fn, variables, results
        self._specs = [(i.array.shape, i.array.dtype) for i in inputs]

    def __call__(self, g, needed):
        taped = any(type(each) in (Tensor, Batched) for each in g)
        dys = [d if type(d) in (Tensor, Batched) else Tensor(np.asarray(d)) for d in g]
        found = self._gradients([_turned(dy) for dy in dys], needed)
        fitted = [_fitted(d, *spec, i) for i, (d, spec) in enumerate(zip(found, self._specs))]
        if not taped:
            fitted = [d.array if type(d) is Tensor else d for d in fitted]
        return fitted + [None] * self._results

    def _gradients(self, dys, needed):
        """One gradient, as the user gave it, for each input and each variable."""
        told = {"needed": needed} if hasattr(self._grad_fn, "takes_needed") else {}
        if not self._variables:
            return self._counted(nest.flatten(self._grad_fn(*dys, **told)))
        grads, of_variables = self._grad_fn(*dys, variables=list(self._variables), **told)
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
    """A gradient as a tensor of its input's shape and dtype."""
    if d is None or dtype.kind not in "fcV":
        return None
    if not isinstance(d, (Tensor, Batched, CoreVariable)) and not hasattr(d, "_as_tensor"):
        array = np.asarray(d, dtype)
        d = Tensor(array if array.ndim else np.broadcast_to(array, shape))
    d = tensor(d)
    if d.array.shape != shape:
        raise ShapeError(
            f"custom_gradient: grad_fn's gradient number {position} has shape {d.array.shape}, the "
            f"input it belongs to {shape}. Sum it over the axes that were broadcast."
        )
    return _turned(d if d.array.dtype == dtype else cast(d, dtype=dtype))


def _turned(d):
    """From what rules meet to what users do, and back: the conjugate, if complex."""
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
    """Collects the trainable variables that are read."""

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
        """Those that are not among `given`, in the order of their creation."""
        known = {g.serial for g in given if isinstance(g, CoreVariable)}
        return [self._variables[s] for s in sorted(self._variables.keys() - known)]


def _must_take_variables(grad_fn, variables):
    try:
        parameters = inspect.signature(grad_fn).parameters
    except (TypeError, ValueError):  # a callable that tells nothing about itself
        return
    if "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    raise TypeError(
        "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
        f"variables: {', '.join(v.name for v in variables)}."
    )


# ---- made of custom_gradient ---------------------------------------------------------------------


def grad_pass_through(f):
    """`f`, which may be anything that gives a tensor of its argument's shape, with gradient one.

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


def recompute_grad(f):
    """`f`, whose inner values are not kept for the backward pass but computed again there.

    It saves memory at the price of a second call for each gradient. `f` must give the same values
    again: random draws inside it would be drawn anew.

    Args:
        f: a function of tensors, variables and other values that returns any nest of tensors.
    """

    def recomputing(*args, **kwargs):
        with _TapesPaused():
            result = f(*args, **kwargs)

        def grad(*dys, variables=(), needed=()):
            if any(recorder.transposes for recorder in thread.stack):
                raise NotImplementedError(
                    f"recompute_grad tried to transpose the gradient of {f!r}. In forward mode "
                    "(ForwardAccumulator) call the function itself: nothing is kept there that "
                    "could be recomputed."
                )
            given = nest.flatten(args)
            with GradientTape(watch_accessed_variables=False) as tape:
                inner = [_copied(a) for a in given]
                sources = [*inner, *variables]
                asked = [s for s, n in zip(sources, needed) if n and _has_gradient(s)]
                tape.watch(asked)
                again = f(*nest.pack_sequence_as(args, inner), **kwargs)
            grads = tape.gradient(again, asked, list(dys), unconnected_gradients="zero")
            found = dict(zip(map(id, asked), grads, strict=True))
            ordered = [found.get(id(source)) for source in sources]
            of_inputs, of_variables = ordered[: len(given)], ordered[len(given) :]
            return (of_inputs, of_variables) if variables else of_inputs

        grad.takes_needed = True  # what nobody asked for is not computed
        return result, grad

    return _under_its_name(CustomGradient(recomputing), f)


def _copied(value):
    """A tensor or variable as a tensor of its own identity; anything else as it is."""
    return elementwise.identity(value) if _has_gradient(value) else value


def _has_gradient(value):
    return isinstance(value, (Tensor, CoreVariable))


def _under_its_name(decorated, f):
    functools.update_wrapper(decorated, f)
    decorated.__wrapped__ = f
    return decorated


class _TapesPaused:
    """Context in which no tape of this thread records; traces and other recorders go on."""

    def __enter__(self):
        self._stack = thread.stack
        thread.stack = tuple(r for r in thread.stack if not r.differentiates)

    def __exit__(self, *_):
        thread.stack = self._stack
