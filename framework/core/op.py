"""Op: a primitive with a NumPy forward and a derivative; each call notifies the open recorders.

Arrays in, array out; tensors in, tensor out (and recorded); KerasTensors in, KerasTensor out.
"""

import inspect
import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy import ndarray, ufunc

from framework.core import dtypes
from framework.core.errors import FrameworkError
from framework.core.misfits import OF_NUMPY, misfit
from framework.core.operand import Operand, WeakNumber
from framework.core.recorders import thread
from framework.core.shape_checks import checked
from framework.core.tensor import Tensor

_new = object.__new__
KINDS = ("elementwise", "reduction", "movement", "contraction", "opaque")

table = {}
"""Every op by name."""

_RAW = frozenset(
    (
        *(np.ndarray, int, float, bool, complex, type(None)),
        *(np.dtype(c).type for c in "?bhilqBHILQefdFD"),
    )
)


class NoDerivative:
    """The class of `no_derivative`, which replaces the rule of an input without a derivative."""

    def __repr__(self):
        return "no_derivative"


no_derivative = NoDerivative()


def first_order_only(g, needed):
    """Raise an error; this is the derivative rule of ops that compute another op's backward pass.

    Higher-order derivatives differentiate the `composite` of that other op instead.
    """
    raise FrameworkError(
        "This backward pass has no derivative: for higher orders, differentiate the op's composite "
        "(its forward pass in differentiable ops)."
    )


class Op:
    """A primitive operation: a NumPy forward and its derivative rules.

    Args:
        name: unique in `table`.
        forward: a ufunc, or a function whose positional parameters are the inputs (arrays) and
            whose keyword-only parameters are the attributes. It returns one array, or a tuple of
            arrays if `outputs` is not 1 (None: their number varies). With `saves`, it also returns
            a tuple of extra arrays for the backward pass: (result, extra arrays).
        vjps: one rule per input, `rule(g, ...)`, written in ops, returning the cotangent of that
            input; or `no_derivative`. A rule's parameter names declare the values it reads: an
            input, `y` (the output), `saved`, an attribute, or an input's name followed by
            `_shape` or `_dtype`. The tape keeps only values that rules of tracked inputs read.
            `g` is the output's cotangent, or a tuple for several outputs.
        backward: instead of `vjps`, one joint rule that may also name `needed` (a tuple of bools,
            one per input) and returns a sequence of cotangents, one per input (None where not
            needed). With a variadic forward (`*xs`) it may name `xs`, `xs_shape` and so on.
        kind: one of KINDS; the compiler and shape inference treat all ops of a kind alike.
        broadcasts: inputs are broadcast against each other; the tape sums their cotangents back.
        composite: the forward in differentiable ops, for forward mode and export. It replaces a
            joint rule under an outer tape, so that higher orders are exact.
        infer: `infer(*specs, **attrs)` returns the output's (shape, dtype), for ops where running
            the forward on zeros (the default for a symbolic call) is wrong or slow.
        check: `check(*inputs)` raises an error if shapes do not fit, which the kernel does not
            check (see `core/shape_checks.py`). The inputs are arrays, or KerasTensors in a symbolic
            call.
        listed: whether `table` contains it; False for an op of one user's function.
        sized_by_values: the shapes of results depend on the inputs' values, so a compiled plan
            checks that they equal the traced shapes.
        fresh: results and saved values never share memory with inputs. Plans assume this of
            ufuncs; results of other ops without `fresh` may be views.
        raises: whether it may raise because of its inputs' values, such as indices, divisors or
            matrices: True, or a function of the output's dtype. A plan assigns no variable before
                the last op with `raises`.
    """

    __slots__ = (
        "backward", "broadcasts", "chains", "check", "composite", "derivative", "forward", "fresh",
        "infer", "inputs", "joined", "kind", "name", "outputs", "plain", "plans", "raises", "saves",
        "sized_by_values", "takes_needed", "variadic", "vjps",
    )  # fmt: skip

    # whether derivative rules get None, not zeros, for an output without a cotangent
    takes_none = False

    # Copying or unpickling an op returns the same object, because plans compare ops by identity.
    def __reduce__(self):
        place = _place_of(self)
        return (_op_at, place) if place else super().__reduce__()

    def __init__(
        self, name, forward, *vjps, kind="opaque", outputs=1, saves=False, backward=None,
        composite=None, broadcasts=False, infer=None, inputs=None, listed=True, fresh=False,
        check=None, sized_by_values=False, raises=False,
    ):  # fmt: skip
        if listed and name in table:
            raise FrameworkError(f"There is an op named {name!r} already.")
        forward = forward if check is None else checked(forward, check)
        self.name, self.forward, self.check, self.kind = name, forward, check, kind
        self.outputs, self.saves, self.broadcasts, self.infer = outputs, saves, broadcasts, infer
        self.plain, self.fresh = outputs == 1 and not saves, fresh
        self.sized_by_values, self.raises = sized_by_values, raises
        self.inputs, self.variadic = (inputs, False) if inputs else _inputs(forward)
        self.backward, self.composite = backward, composite
        # whether the tape records a call as one edge instead of one edge per input
        self.joined = backward is not None or outputs != 1
        self.vjps = (no_derivative,) if vjps and all(v is no_derivative for v in vjps) else vjps
        self.derivative = backward is not None or any(v is not no_derivative for v in vjps)
        if not vjps and backward is None:
            raise FrameworkError(f"Op {name!r}: expected derivative rules, or no_derivative.")
        if self.derivative and backward is None and len(vjps) != len(self.inputs):
            raise FrameworkError(
                f"Op {name!r}: expected one rule per input {self.inputs}, got {len(vjps)}."
            )
        self.takes_needed = backward and "needed" in inspect.signature(backward).parameters
        self.plans, self.chains = {0: None}, {}
        if listed:
            table[name] = self

    def __call__(self, *args, **attrs) -> Any:
        arrays = []
        boxed = numbers = False
        for arg in args:
            kind = type(arg)
            if kind is Tensor:
                boxed = True
                arrays.append(arg.array)
            elif kind in _RAW:
                arrays.append(arg)
                numbers = numbers or kind is float
            else:
                return self._unusual(args, attrs)
        if numbers and self.broadcasts and (narrow := _narrowed(args, arrays)):
            return self(*narrow, **attrs)
        try:
            value = self.forward(*arrays, **attrs)
        except OF_NUMPY as error:
            raise self.misfit(error, arrays) from None
        if not boxed:
            return value if not self.saves else value[0]
        if self.plain:
            return self.wrap(value, args, attrs)
        return self._several(args, attrs, value)

    def misfit(self, error, arrays):
        """Convert an error of NumPy to the error that the op raises, see `core/misfits.py`."""
        return misfit(self.name, getattr(self.forward, "ufunc", self.forward), error, arrays)

    def wrap(self, value, args, attrs):
        """Return the output as a tensor and notify the recorders."""
        if type(value) is not ndarray:
            value = np.asarray(value)
        output = _new(Tensor)  # `Tensor(value)` is inlined, because a call costs time in every op.
        output.array, output.serial = value, None
        for recorder in thread.stack:
            recorder.op(self, args, attrs, (output,), None)
        return output

    def _several(self, args, attrs, value):
        saved = None
        if self.saves:
            value, saved = value
            saved = tuple([Tensor(v) for v in saved])
        single = self.outputs == 1
        if single:
            outputs = (Tensor(value if type(value) is ndarray else np.asarray(value)),)
        else:
            outputs = tuple([Tensor(np.asarray(v)) for v in value])
        for recorder in thread.stack:
            recorder.op(self, args, attrs, outputs, saved)
        return outputs[0] if single else outputs

    def _unusual(self, args, attrs):
        """Delegate the call to an argument that is an `Operand`; otherwise convert the arguments
        to tensors and arrays, and call the op with them."""
        for arg in args:
            if isinstance(arg, Operand):
                args = tuple([a._read() if isinstance(a, WeakNumber) else a for a in args])
                return arg._op_call(self, args, attrs)
        args = [a._as_operand() if hasattr(a, "_as_operand") else a for a in args]
        if any(isinstance(a, WeakNumber) for a in args):
            args = self._with_numbers(args)
        args = [a if type(a) is Tensor or type(a) in _RAW else np.asarray(a) for a in args]
        return self(*args, **attrs)

    def _with_numbers(self, args):
        """Replace each WeakNumber by a Python number, or by a 0-d tensor in the tensors' dtype if
        they share one and the op is a ufunc."""
        found = {a.array.dtype for a in args if type(a) is Tensor}
        alike = len(found) == 1 and isinstance(getattr(self.forward, "ufunc", self.forward), ufunc)
        dtype = dtypes.as_dtype(*found) if alike else None

        def counted(number):
            adopted = number._adopted(dtype) if alike else None
            return number._read() if adopted is None else adopted

        return [counted(a) if isinstance(a, WeakNumber) else a for a in args]

    def plan(self, mask):
        """Return what a tape records for the tracked inputs in `mask` (bit i: input i is tracked).

        None if no tracked input has a rule; otherwise tuples (position, rule, pick), or for
        a joint rule ((positions,), rule, pick). `pick` says what the rule reads after `g`: None
        for nothing, an int for the input at that position alone (-1: for the output alone), else
        a function `pick(args, attrs, y, saved)` that returns the arguments.
        """
        if mask not in self.plans:
            tracked = [i for i in range(mask.bit_length()) if mask >> i & 1]
            self.plans[mask] = self._make_plan(tracked)
        return self.plans[mask]

    def _make_plan(self, tracked):
        if self.backward is not None:
            return ((tuple(tracked), self.backward, _gather(self, self.backward)),)
        if not self.derivative:
            return None
        rules = [(i, self.vjps[i]) for i in tracked]
        made = tuple((i, r, _picker(self, r)) for i, r in rules if r is not no_derivative)
        return made or None

    def chain(self, mask):
        """Return the result of `plan` as a linked list `(position, rule, reads, pick, rest)`, the
        fastest form for the tape; None if no input has a derivative rule of its own.

        `reads`: READS_NOTHING, READS_INPUT (at position `pick`), READS_PICKED, or READS_OUTPUT.
        """
        if mask not in self.chains:
            plan = None if self.joined else self.plan(mask)
            chain = None
            for position, rule, pick in reversed(plan or ()):
                chain = (position, rule, _reads(pick), pick, chain)
            self.chains[mask] = chain
        return self.chains[mask]

    def call_backward(self, g, arguments, needed) -> Any:
        """Return the cotangents that the joint rule computes from g and the values it reads."""
        if self.takes_needed:
            return self.backward(g, *arguments, needed=needed)
        return self.backward(g, *arguments)

    def __repr__(self):
        return f"<op {self.name}: {self.kind}>"


def _narrowed(args, arrays):
    """Return the arguments with Python floats as bfloat16 if an array is bfloat16, else None."""
    # Without this conversion, NumPy computes a bfloat16 array with a Python float in float32.
    for array in arrays:
        if type(array) is ndarray and array.dtype.kind == "V":
            return [np.asarray(a, array.dtype) if type(a) is float else a for a in args]
    return None


def _place_of(op):
    """Return (module, attribute) where an op is defined, to pickle it by name; None if the op is
    not in `table`."""
    if table.get(op.name) is op:
        for name, module in list(sys.modules.items()):
            if name.startswith("framework.ops."):
                for attribute, value in vars(module).items():
                    if value is op:
                        return name, attribute
    return None


def _op_at(module, attribute):
    return getattr(import_module(module), attribute)


class Unary(Op):
    """An op of one input without attributes; its call is specialized for speed."""

    __slots__ = ()

    def __call__(self, x) -> Any:
        if type(x) is Tensor:  # `wrap` is inlined, because a call costs time in every op.
            try:
                value = self.forward(x.array)
            except OF_NUMPY as error:
                raise self.misfit(error, (x.array,)) from None
            output = _new(Tensor)
            output.array = value if type(value) is ndarray else np.asarray(value)
            output.serial = None
            for recorder in thread.stack:
                recorder.op(self, (x,), NO_ATTRS, (output,), None)
            return output
        return Op.__call__(self, x)


class Binary(Op):
    """An op of two inputs without attributes; its call is specialized for speed."""

    __slots__ = ()

    def __call__(self, a, b) -> Any:
        x, y, kind = a, b, type(b)
        if type(a) is Tensor:
            x = a.array
            if kind is Tensor:
                y = b.array
            elif kind not in _RAW or (kind is float and x.dtype.kind == "V"):
                return Op.__call__(self, a, b)
        elif type(a) is float and kind is Tensor and b.array.dtype.kind != "V":
            y = b.array
        else:
            return Op.__call__(self, a, b)
        try:
            value = self.forward(x, y)
        except OF_NUMPY as error:
            raise self.misfit(error, (x, y)) from None
        return self.wrap(value, (a, b), NO_ATTRS)


NO_ATTRS = {}


def _inputs(forward):
    """Return the names of a forward's positional parameters, and whether they are `*variadic`."""
    if isinstance(forward, np.ufunc):
        return {1: ("x",), 2: ("a", "b"), 3: ("a", "b", "c")}[forward.nin], False
    parameters = inspect.signature(forward).parameters.values()
    variadic = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    if variadic:
        return tuple(variadic), True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in parameters if p.kind in positional), False


# ---- pickers: functions that select the values for a rule's parameters -------------------------

READS_NOTHING, READS_INPUT, READS_PICKED, READS_OUTPUT = range(4)


def _reads(pick):
    """Return which values a rule reads, as one of READS_*, given its `pick` (see `Op.plan`)."""
    if pick is None:
        return READS_NOTHING
    if type(pick) is not int:
        return READS_PICKED
    return READS_INPUT if pick >= 0 else READS_OUTPUT


def _picker(op, rule):
    """Return the `pick` of a rule, which selects the values it reads (see `Op.plan`)."""
    names = list(inspect.signature(rule).parameters)[1:]
    if not names:
        return None
    if len(names) == 1 and not op.joined:
        if names[0] == "y":
            return -1
        if names[0] in op.inputs:
            return op.inputs.index(names[0])
    return _gather(op, rule)


def _gather(op, rule):
    """Return `pick(args, attrs, y, saved)`: the arguments of `rule` without `g` and `needed`."""
    names = [name for name in list(inspect.signature(rule).parameters)[1:] if name != "needed"]
    getters, keys = [_getter(op, name) for name in names], []
    # Trailing parameters are usually attributes, which `attrs.get` reads without a getter function.
    while getters and getters[-1] is None:
        keys.insert(0, names[len(getters) - 1])
        getters.pop()
    if len(getters) == 1 and names[0] in op.inputs and not op.variadic:
        i = op.inputs.index(names[0])
        return lambda args, attrs, y, saved: (args[i], *map(attrs.get, keys))
    getters = [get or _attribute(name) for get, name in zip(getters, names, strict=False)]
    if len(getters) == 1:
        (get,) = getters
        return lambda args, attrs, y, saved: (get(args, attrs, y, saved), *map(attrs.get, keys))
    return lambda args, attrs, y, saved: (
        *[get(args, attrs, y, saved) for get in getters], *map(attrs.get, keys)
    )  # fmt: skip


def _attribute(name):
    return lambda args, attrs, y, saved: attrs.get(name)


def _getter(op, name):
    """Return a function that selects a rule parameter's value; None for an attribute."""
    if name == "y":
        if op.outputs == 1:
            return lambda args, attrs, y, saved: y[0]
        return lambda args, attrs, y, saved: y
    if name == "saved":
        return lambda args, attrs, y, saved: saved
    if op.variadic:
        return _variadic_getter(op, name)
    if name in op.inputs:
        i = op.inputs.index(name)
        return lambda args, attrs, y, saved: args[i]
    base, _, aspect = name.rpartition("_")
    if base in op.inputs and aspect in _ASPECTS:
        i, look = op.inputs.index(base), _ASPECTS[aspect]
        return lambda args, attrs, y, saved: look(args[i])
    return None


def _variadic_getter(op, name):
    (xs,) = op.inputs
    if name == xs:
        return lambda args, attrs, y, saved: args
    base, _, aspect = name.rpartition("_")
    if base == xs and aspect in _ASPECTS:
        look = _ASPECTS[aspect]
        return lambda args, attrs, y, saved: tuple([look(a) for a in args])
    return None


def _shape(arg):
    return arg.array.shape if type(arg) is Tensor else np.shape(arg)


def _dtype(arg):
    return arg.array.dtype if type(arg) is Tensor else np.asarray(arg).dtype


_ASPECTS = {"shape": _shape, "dtype": _dtype}


# ---- shorthands for the definitions in ops/ ------------------------------------------------------


def elementwise(name, forward, *vjps, **options):
    """Return an op computed element by element, its inputs broadcast against each other."""
    inputs = options.get("inputs") or _inputs(forward)[0]
    kind = {1: Unary, 2: Binary}.get(len(inputs), Op) if not _attributes(forward) else Op
    return kind(name, forward, *vjps, kind="elementwise", broadcasts=len(inputs) > 1, **options)


def _attributes(forward):
    if isinstance(forward, np.ufunc):
        return False
    parameters = inspect.signature(forward).parameters.values()
    return any(p.kind is p.KEYWORD_ONLY for p in parameters)


def reduction(name, forward, *vjps, **options):
    """Return an op `forward(x, *, axis, keepdims)` that reduces the axes in a sorted tuple."""
    return Op(name, forward, *vjps, kind="reduction", **options)


def movement(name, forward, *vjps, **options):
    """Return an op that copies, moves or views elements and computes nothing."""
    return Op(name, forward, *vjps, kind="movement", **options)
