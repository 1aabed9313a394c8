"""The decorator `tf.function`: calls are traced twice; later calls run a plan."""

import functools
import inspect

import numpy as np

from framework.compiler.call_arguments import (
    PLAIN,
    CallArguments,
    ObjectToken,
    ObjectTokens,
    describe,
    mask_of,
    named,
    replaced,
    text_of,
    with_tensors,
)
from framework.compiler.input_signature import InputSignature
from framework.compiler.plan_cache import PlanCache, compiles
from framework.compiler.seen_signatures import SeenSignatures
from framework.compiler.symbolic_plans import SymbolicPlans
from framework.compiler.tape_plans import TapePlans, listening_tape
from framework.core import nest
from framework.core.conversion import tensor
from framework.core.dtypes import Shape
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import thread
from framework.core.tensor import Tensor, masks
from framework.core.variable import CoreVariable
from framework.kernels import tier
from framework.ops.elementwise import identity


def function(
    func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
    experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
    experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None,
):  # fmt: skip
    """Compile a Python function of tensors: trace it twice per signature, then run a plan.

    A signature is the dtypes and shapes of tensors, the values of booleans and strings, and the
    identities of other objects. An int or float is part of it at first. From its second value on it
    is an input like a tensor, unless Python reads it (`range(n)`, `float(n)`, a shape) or checks
    its exact type: then each value has a plan of its own.

    The first two calls with a signature run the Python body and trace its ops. If both traces are
    equal, later calls run a plan: straight-line NumPy code with preallocated buffers. If they
    differ, the function runs eagerly, and the reason is logged (logger `framework`). Each call
    reads and assigns variables and draws random numbers. If Python reads a tensor's value, as in
    `if loss > 1:`, a call in which it would read another value is traced for another plan. Globals,
    closures and attributes that the body reads are guarded; printing and other side effects happen
    only while tracing. Under a `GradientTape` the call is recorded as one op, whose backward pass
    is a plan too. Under several tapes the body runs eagerly.

    Args:
        func: the function. If None, return a decorator.
        input_signature: a sequence of (nests of) TensorSpec, one for each argument except `self`.
            Arguments that are not tensors are converted to these dtypes.
        jit_compile: False runs the Python body eagerly in each call.
        autograph, reduce_retracing, experimental_implements, experimental_autograph_options,
        experimental_attributes, experimental_relax_shapes, experimental_compile,
        experimental_follow_type_hints: accepted without effect.

    Raises:
        TypeError: `input_signature` is not a sequence of TensorSpec; or, in a call, the arguments
            do not match it.

    Example:
        >>> import framework as tf
        >>> @tf.function
        ... def double(x):
        ...     return x + x
        >>> double(tf.constant([1.0, 2.0])).numpy()
        array([2., 4.], dtype=float32)
        >>> for n in (1.0, 2.0):
        ...     _ = double(tf.constant([n, 4.0]))
        >>> print(double.explain())
        double has 1 plan; it was called 3 times.
        (float32[2]): 1 plan.
    """
    if func is None:
        return lambda func: Function(func, input_signature, jit_compile)
    return Function(func, input_signature, jit_compile)


class Function:
    """A Python function decorated with `tf.function`; it binds to instances like a method."""

    def __init__(self, python_function, input_signature=None, jit_compile=None):
        if not callable(python_function):
            raise InvalidArgumentError(
                f"function: expected a callable, got {type(python_function).__name__}."
            )
        self._calls = 0
        self._in_python = 0
        # The fast path uses ([(dtype, shape) of each tensor], plan, function that builds the
        # result).
        self._latest = None
        self._signatures = SeenSignatures()
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self._signature = InputSignature(python_function, input_signature)
        self._wanted = jit_compile is not False
        name = getattr(python_function, "__name__", "function")
        self._plan_cache = PlanCache(name, losses_stay=False)
        self._numbered = SymbolicPlans(self._plan_cache)
        self._taped = TapePlans(self._plan_cache)
        self._objects = ObjectTokens(self._plan_cache)

    def __getstate__(self):
        return {**self.__dict__, "_latest": None}  # A copy of the function creates its own plans.

    @property
    def input_signature(self):
        return self._signature.specs

    def __set_name__(self, owner, name):
        self._signature.is_method = True

    def __get__(self, instance, owner=None):
        return self if instance is None else BoundFunction(self, instance)

    def __call__(self, *args, **kwargs):
        self._calls += 1
        latest = self._latest
        if latest is not None and not kwargs and compiles() and thread.call is None:
            # Fast path: positional tensors with the dtypes and shapes of the last call.
            kinds, plan, pack = latest
            if len(args) == len(kinds) and not (masks.in_use and _any_masked(args)):
                arrays = []
                for value in args:
                    if type(value) is not Tensor:
                        break
                    array = value.array
                    # `zip` would take 1.5 times as long
                    dtype, shape = kinds[len(arrays)]
                    if array.dtype is not dtype or array.shape != shape:
                        break
                    arrays.append(array)
                else:
                    found = plan(arrays)
                    if found is not None:
                        return pack(found)
        if self._signature.specs is not None:
            args, kwargs = self._signature.fitted(args, kwargs)
        if not (self._wanted and compiles()):
            return self._call_with_recorders(args, kwargs)
        return self._by_key(args, kwargs)

    def _call_with_recorders(self, args, kwargs):
        """Handle a call with open recorders (such as tapes), or with compilation turned off."""
        tape = listening_tape() if self._wanted and tier.tier() != "off" else None
        if tape is None:
            return self._call_eagerly(args, kwargs)
        key, arrays, _ = self._described(args, kwargs)
        body = _Body(self, args, kwargs)
        in_python = lambda: self._call_eagerly(args, kwargs)
        return self._taped(key, arrays, tape, body, in_python)

    def _call_eagerly(self, args, kwargs):
        """Run the body eagerly, with arrays among the arguments converted to tensors."""
        self._in_python += 1
        self._signatures.note(args, kwargs)
        if not all(type(value) in _AS_THEY_ARE for value in (*args, *kwargs.values())):
            args = [with_tensors(value) for value in args]
            kwargs = {name: with_tensors(value) for name, value in kwargs.items()}
        return self._run(args, kwargs)

    def _described(self, args, kwargs):
        """Return (key, arrays, numbers) of a call; the key decides which plans are valid."""
        arrays, numbers = [], []
        key = [] if thread.call is None else _within_a_layer()
        for value in args:
            if type(value) is Tensor and not masks.in_use:
                array = value.array
                arrays.append(array)
                key.append(array.dtype)
                key.append(array.shape)
                if not array.flags.c_contiguous:
                    # The key contains the strides, because the rounding of sums depends on the
                    # memory order.
                    key.append(array.strides)
            else:
                describe(value, key, arrays, self._objects.token, numbers)
        if kwargs:
            key.append(tuple(kwargs))
            for value in kwargs.values():
                describe(value, key, arrays, self._objects.token, numbers)
        return tuple(key), arrays, numbers

    def _by_key(self, args, kwargs):
        key, arrays, numbers = self._described(args, kwargs)
        body = _Body(self, args, kwargs)
        if numbers:
            result = self._numbered(key, arrays, numbers, body)
        else:
            result = self._plan_cache(key, arrays, body)
        self._latest = None
        if not kwargs and thread.call is None and all(type(a) is Tensor for a in args):
            entries = self._plan_cache.plans.get(key, ())
            # Arrays must be in C order: the fast path does not compare strides.
            in_order = all(a.flags.c_contiguous for a in arrays)
            if len(entries) == 1 and len(arrays) == len(args) and in_order:
                (entry,) = entries
                kinds = [(a.dtype, a.shape) for a in arrays]
                # Calling the bound method is faster than calling the plan object.
                self._latest = kinds, entry.plan.__call__, entry.pack
        return result

    def plans(self):
        """Return the CachedPlan of each signature that has exactly one plan."""
        return [each[0] for each in self._plan_cache.plans.values() if len(each) == 1]

    def _run(self, args, kwargs):
        outer, thread.function = thread.function, self
        try:
            result = self.python_function(*args, **kwargs)
        finally:
            thread.function = outer
        if type(result) is not Tensor and result is not None:
            result = _as_result(result)
        return _apart(result, args, kwargs)

    # ---- inspection ----

    @property
    def source(self):
        """The generated source of the plans, in the order in which they were traced.

        Example:
            >>> import framework as tf
            >>> f = tf.function(lambda x: tf.tanh(x) * 2.0)
            >>> for _ in range(2):
            ...     y = f(tf.constant([1.0, 2.0]))
            >>> "tanh" in f.source
            True
        """
        return self._plan_cache.source

    def explain(self):
        """Return a text that lists the plans, why each exists, and what runs eagerly and why."""
        plan_cache, name = self._plan_cache, self._name()
        total = sum(map(len, plan_cache.plans.values()))
        lines = [
            f"{name} has {_count(total, 'plan')}; it was called {_count(self._calls, 'time')}."
        ]
        if not self._wanted:
            lines = [f"{name} runs eagerly: jit_compile=False."]
        elif tier.tier() == "off":
            lines = [f"{name} runs eagerly: compilation is off."]
        lines += [plan_cache.explain()] if plan_cache.plans or plan_cache.refused else []
        if self._in_python and self._wanted:
            lines.append(
                f"{_count(self._in_python, 'call')} ran eagerly: tapes or other recorders were "
                "open, or for one of the reasons above."
            )
        return "\n".join(lines)

    @property
    def is_method(self):
        """Whether the function is defined in a class."""
        return self._signature.is_method

    def get_concrete_function(self, *args, **kwargs):
        """Return a ConcreteFunction: this function for one signature.

        Args:
            args, kwargs: the arguments; a tensor is given as a `tf.TensorSpec` or a tensor. By
                default those of `input_signature`. For a method, the object is the first.
        """
        return self.concrete_of((), args, kwargs)

    def concrete_of(self, instance, args, kwargs):
        """Return a ConcreteFunction; `instance` is a tuple: the object of a method, or empty."""
        from framework.compiler.concrete_function import ConcreteFunction

        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        found = ConcreteFunction(self, args, kwargs, instance)
        self._signatures.note((*instance, *args), kwargs)
        return found

    def signatures_of(self, instance=None):
        """Return [(args, kwargs)] of the known signatures, with a TensorSpec for each tensor.

        For a method, these are the signatures of one object, which `args` does not contain.
        """
        if self.input_signature is not None:
            return [(self.input_signature, {})]
        return self._signatures.of(instance)

    def pretty_printed_concrete_signatures(self, verbose=True):
        """Return the signatures that the function was called with, one per line."""
        known = [*self._plan_cache.plans, *self._plan_cache.refused]
        return "\n".join(f"({text_of(key)})" for key in known)

    def _name(self):
        return getattr(self, "__name__", None) or repr(self.python_function)

    def __repr__(self):
        return f"<function {self._name()} of framework.function>"


class BoundFunction(functools.partial):
    """A `tf.function` bound to one object; a call costs as much as that of a bound method."""

    __slots__ = ()

    @property
    def function(self):
        """The `tf.function` that this object calls."""
        return self.func

    @property
    def instance(self):
        """The object whose method this is; calls pass it as the first argument."""
        return self.args[0]

    __func__, __self__ = function, instance

    def get_concrete_function(self, *args, **kwargs):
        """Return a ConcreteFunction of the method, for one signature; see `tf.function`."""
        if args and args[0] is self.args[0]:
            args = args[1:]
        return self.func.concrete_of(self.args, args, kwargs)

    def __getattr__(self, name):
        return getattr(self.func, name)

    def __eq__(self, other):
        if type(other) is not BoundFunction:
            return NotImplemented
        return self.func is other.func and self.args[0] is other.args[0]

    def __hash__(self):
        return hash((id(self.func), id(self.args[0])))

    def __repr__(self):
        return f"<bound function {self.func._name()} of {self.args[0]!r}>"


class _Body(CallArguments):
    """The body of a user's function as a function of tensors and numbers, for tracing."""

    __slots__ = ("_args", "_function", "_kwargs")

    def __init__(self, function, args, kwargs):
        self.values, self._leaves = (*args, *kwargs.values()), None
        self._function, self._args, self._kwargs = function, args, kwargs

    def __call__(self, tensors, numbers=None):
        tensors = iter(tensors)
        numbers = None if numbers is None else iter(numbers)
        self._function._signatures.note(self._args, self._kwargs)
        args = [replaced(a, tensors, numbers) for a in self._args]
        kwargs = {name: replaced(a, tensors, numbers) for name, a in self._kwargs.items()}
        return self._function._run(args, kwargs)

    @property
    def function(self):
        """The user's Python function that the body calls."""
        return self._function.python_function

    @property
    def names(self):
        """Names of the arrays among the arguments, from the parameters of the function."""
        try:
            parameters = list(inspect.signature(self._function.python_function).parameters)
        except (TypeError, ValueError):
            parameters = []
        parameters += [f"x{i}" for i in range(len(parameters), len(self._args))]
        return named([*parameters[: len(self._args)], *self._kwargs], self.values)


# ---- arguments and results -----------------------------------------------------------------------

_AS_THEY_ARE = frozenset((Tensor, *PLAIN))
_BECOME_TENSORS = (
    *(CoreVariable, np.ndarray, np.generic, Shape),
    *(bool, int, float, complex, str, bytes),
)


def _as_result(result):
    """Return the result of the body with numbers, arrays and variables converted to tensors."""
    if all(type(leaf) is Tensor for leaf in nest.flatten(result)):
        return result
    return nest.map_structure(lambda v: tensor(v) if isinstance(v, _BECOME_TENSORS) else v, result)


def _apart(result, args, kwargs):
    """Return the result with copies of those tensors that are arguments.

    Plans return new tensors, so eager calls must, too: `f(x)` is never `x`.
    """
    given = CallArguments((*args, *kwargs.values())).leaves()
    own = {id(each): None for each in given if type(each) is Tensor}
    if not own or not any(id(leaf) in own for leaf in nest.flatten(result)):
        return result

    def apart(leaf):
        if id(leaf) not in own:
            return leaf
        if own[id(leaf)] is None:
            own[id(leaf)] = made = identity(leaf)
            if (mask := mask_of(leaf)) is not None:
                made._keras_mask = mask
        return own[id(leaf)]

    return nest.map_structure(apart, result)


_TRAINING = {
    None: ObjectToken("in a layer"),
    True: ObjectToken("training"),
    False: ObjectToken("not training"),
}


def _any_masked(values):
    return any(mask_of(value) is not None for value in values)


def _within_a_layer():
    """Return [training, compute dtype] of the open layer call, which inner layers inherit."""
    layer, training, _ = thread.call
    return [_TRAINING[None if training is None else bool(training)], str(layer.compute_dtype)]


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"
