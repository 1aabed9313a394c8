"""check_gradients: compares the tape's derivatives with finite differences of the function.

The function and the tape run in float64. The derivative of a random combination of the outputs
along random directions is compared with the gradient. A direction whose two one-sided derivatives
differ crosses a kink and is skipped. If a derivative is wrong, each recorded op is checked alone
(`op_check.py`); the report names the first op with a wrong rule.
"""

from typing import Any

import numpy as np

from framework.autodiff.debug import gradient_paths, op_check
from framework.autodiff.debug.explain_gradient import serials_of
from framework.autodiff.debug.finite_differences import Differences
from framework.autodiff.debug.repeatable_function import RepeatableFunction, in_double
from framework.autodiff.tape import GradientTape
from framework.core import dtypes, nest
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


class GradientCheck:
    """The report of `check_gradients`; true if every gradient is right.

    Attributes:
        rows: one `Row` per argument and variable.
        wrong: a sentence that names the first op with a wrong rule or another cause; "" if all
            gradients are right.
    """

    def __init__(self, rows, wrong):
        self.rows, self.wrong = rows, wrong

    def __bool__(self):
        return all(row.ok for row in self.rows)

    def __repr__(self):
        width = max([4, *(len(row.name) for row in self.rows)])
        lines = [f"{'name'.ljust(width)}  result  error    checked  at kinks"]
        for row in self.rows:
            result = "ok   " if row.ok else "WRONG"
            error = "-" if row.checked == 0 else f"{row.error:.1e}"
            lines.append(
                f"{row.name.ljust(width)}  {result}   {error.ljust(7)}  {row.checked:7d}  "
                f"{row.kinks:8d}"
            )
        return "\n".join(lines + [self.wrong] * bool(self.wrong))


class Row:
    """The result for one argument or variable.

    Attributes:
        name: as in `args[0]`, or a variable's path.
        error: the largest relative error of a directional derivative.
        checked: the number of directions compared. kinks: the number skipped at kinks.
        ok: whether the gradient is right.
    """

    def __init__(self, name):
        self.name, self.error, self.checked, self.kinks, self.ok = name, 0.0, 0, 0, True


def check_gradients(
    fn: Any, args: Any = (), variables: Any = None, *, n: Any = 5, tolerance: Any = None,
    seed: Any = 0,
) -> Any:  # fmt: skip
    """Compare the gradients of a function with finite differences of its values.

    Args:
        fn: a function of tensors that returns a tensor, or a nest of them. Its random draws are
            repeated at each call.
        args: its arguments, a tuple or list of arrays, tensors, or nests of them; a single array
            or tensor means a tuple of one.
        variables: variables to check too; None: the trainable variables that `fn` reads.
        n: the number of random directions per argument and variable.
        tolerance: the accepted relative error; None: 1e-5, or more if `fn` computes in a dtype
            below float64.
        seed: the seed of the directions.

    Returns:
        A `GradientCheck`, true if every gradient is right.

    Raises:
        ValueError: `args` and `variables` have no floating values.

    Example:
        >>> import framework as tf
        >>> report = tf.debugging.check_gradients(lambda x: tf.tanh(x) * x, [0.5])
        >>> bool(report)
        True
    """
    args = (args,) if isinstance(args, (np.ndarray, Tensor, CoreVariable)) else tuple(args)
    args = nest.map_structure(_array_of, list(args))
    function, args = _repeatable(fn, args, variables)
    try:
        with in_double(function.variables):
            return _Check(function, args, n, tolerance, seed, np.float64).run()
    # `fn` raised this because it contains constants of a fixed dtype such as float32.
    except DTypeError:
        return _Check(function, args, n, tolerance, seed, None).run()


def _repeatable(fn, args, variables):
    """Return a repeatable `fn` and its arguments, in a floating dtype that `fn` accepts."""
    dtypes_to_try = [None, dtypes.floatx().np, np.dtype(np.float64)]
    while True:
        dtype = dtypes_to_try.pop(0)
        given = nest.map_structure(lambda a: _as(a, dtype), args)  # noqa: B023 (called at once)
        try:
            tensors = nest.map_structure(_tensor_of, given)
            return RepeatableFunction(fn, tensors, variables), given
        except DTypeError:
            if not dtypes_to_try:
                raise


class _Check:
    """One call of `check_gradients`: the function, its arguments, variables and settings."""

    def __init__(self, function, args, n, tolerance, seed, dtype):
        self._function, self._n = function, n
        self._random = np.random.default_rng(seed)
        self._args = args
        flat = [_as(a, dtype) for a in nest.flatten(args)]
        self._places = [i for i, a in enumerate(flat) if _is_floating(a)]
        self._flat = flat
        self._names = _names(args)
        if not self._places and not function.variables:
            raise InvalidArgumentError(
                "check_gradients: expected a floating argument or a trainable variable, got none. "
                "Pass float arrays in args."
            )
        self._tolerance, self._differences, self._size = tolerance, None, 0.0

    def run(self):
        with GradientTape(persistent=True) as tape:
            watched = [Tensor(self._flat[i]) for i in self._places]
            tape.watch(watched)
            outputs = self._call(watched)
        targets = [t for t in outputs if _is_floating(t.array)]
        weights = [self._random.standard_normal(t.array.shape) for t in targets]
        seeds = [Tensor(w.astype(t.array.dtype)) for w, t in zip(weights, targets, strict=True)]
        sources = [*watched, *self._function.variables]
        found = tape.gradient(targets, sources, output_gradients=seeds)
        self._differences = Differences(self._function.coarsest, self._tolerance)
        pairs = zip(weights, targets, strict=True)
        self._size = sum(float(np.sum(np.abs(w * t.array))) for w, t in pairs)
        rows = self._rows(found, weights)
        wrong = "" if all(row.ok for row in rows) else self._blame(tape, targets, sources, rows)
        return GradientCheck(rows, wrong)

    def _call(self, tensors):
        flat = [_tensor_of(a) for a in self._flat]
        for place, each in zip(self._places, tensors, strict=True):
            flat[place] = each
        return nest.flatten(self._function(nest.pack_sequence_as(self._args, flat)))

    # ---- directional derivatives ----

    def _rows(self, found, weights):
        values = [self._flat[i] for i in self._places]
        values += [v.array for v in self._function.variables]
        names = [self._names[i] for i in self._places]
        names += [getattr(v, "path", None) or v.name for v in self._function.variables]
        rows = []
        for k, (name, value, grad) in enumerate(zip(names, values, found, strict=True)):
            row = Row(name)
            gradient = np.zeros(value.shape) if grad is None else np.asarray(grad)
            for _ in range(self._n if value.size else 0):
                direction = self._direction(value)
                self._compare(row, k, direction, np.sum(gradient * direction), weights)
            row.ok = row.error <= self._differences.tolerance
            rows.append(row)
        return rows

    def _direction(self, value):
        direction = self._random.standard_normal(value.shape)
        return direction / max(np.linalg.norm(direction), 1e-300)

    def _compare(self, row, k, direction, expected, weights):
        def value(step):
            return self._value(k, step * direction, weights)

        found = self._differences.compare(value, expected, self._size)
        if found is None:
            row.kinks += 1
        else:
            row.checked += 1
            row.error = max(row.error, found[0])

    def _value(self, k, shift, weights):
        """Return the weighted sum of the outputs after `shift` is added to source number `k`."""
        tensors = [Tensor(self._flat[i]) for i in self._places]
        if k < len(tensors):
            array = tensors[k].array
            tensors[k] = Tensor((array + shift).astype(array.dtype))
            outputs = self._call(tensors)
        else:
            variable = self._function.variables[k - len(tensors)]
            kept = variable.array
            variable._array = (kept + shift).astype(kept.dtype)
            try:
                outputs = self._call(tensors)
            finally:
                variable._array = kept
        arrays = [t.array for t in outputs if _is_floating(t.array)]
        return sum(float(np.sum(w * a)) for w, a in zip(weights, arrays, strict=True))

    # ---- the cause of a wrong gradient ----

    def _blame(self, tape, targets, sources, rows):
        tensors = [Tensor(self._flat[i]) for i in self._places]
        with op_check.Ops() as ops:
            self._call(tensors)
        text = ops.first_wrong(self._random, self._differences)
        if text:
            return text
        bad = next(s for s, row in zip(sources, rows, strict=True) if not row.ok)
        links = gradient_paths.links_of(tape)
        reached = gradient_paths.forward(links, serials_of(tape, bad))
        ends = gradient_paths.ends_of(tape, links, reached)
        if ends:
            return f"A path is cut off: {gradient_paths.joined(ends)[0]}."
        return f"Every op's own rule is right. {tape.explain(targets, bad)}"


def _array_of(value):
    """Return a leaf of the arguments, as an array if it is numeric."""
    if isinstance(value, CoreVariable):
        return value.array
    numeric = isinstance(value, (Tensor, np.ndarray, np.generic, int, float, complex))
    return tensor(value).array if numeric else value


def _tensor_of(value):
    return Tensor(value) if isinstance(value, np.ndarray) else value


def _as(value, dtype):
    """Return the value; cast it to `dtype` if it is a floating array."""
    return value.astype(dtype) if dtype is not None and _is_floating(value) else value


def _is_floating(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _names(value, name="args"):
    """Return each leaf's name, written as an index expression: args[0]['x']."""
    if isinstance(value, dict):
        return [n for key in sorted(value) for n in _names(value[key], f"{name}[{key!r}]")]
    if isinstance(value, (list, tuple)):
        return [n for i, each in enumerate(value) for n in _names(each, f"{name}[{i}]")]
    return [name]
