"""ForwardAccumulator: directional derivatives, computed together with the values.

An accumulator is a recorder. When it receives an op, it computes the tangents of the outputs from
those of the inputs, and keeps them while the outputs exist. Only recorders entered before the
accumulator receive these computations, so nesting gives derivatives of derivatives.

Ops have no derivative rules for forward mode. The Jacobian J of an op follows from its vjp, which
multiplies by J transposed:

- the J of an elementwise op is diagonal, so it equals its transpose: the vjp of the tangent is J t;
- a linear op is applied to the tangent itself;
- for any other op, a tape records the vjp of a zero cotangent. The vjp is linear in the cotangent,
  so differentiating it along t gives J t.
"""

import inspect
import weakref
from typing import Any

import numpy as np

from framework.autodiff.batching import Batched, Level, rows_of
from framework.autodiff.cotangents import UnconnectedGradients, wants_zero
from framework.autodiff.tape import GradientTape
from framework.core import nest, recorders
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.op import no_derivative
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import conj, identity
from framework.ops.movement import broadcast_to, sum_to
from framework.ops.slices import IndexedSlices, sliced


class ForwardAccumulator(Recorder):
    """Computes Jacobian-vector products J t in the forward direction, from tangents t of primals.

    An accumulator computes one direction, for any number of outputs; for many inputs and one output
    a tape is faster. Accumulators can be nested, and mixed with tapes: with a tape inside, the
    tangent of a gradient is a Hessian-vector product.

    Args:
        primals: tensors or variables, or a nest of them.
        tangents: in the same structure, of the same shapes; also numbers and arrays.

    Raises:
        ValueError: a primal occurs twice, or the structures differ.

    Example:
        >>> import framework as tf
        >>> x = tf.constant([2.0, 3.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        ...     with tf.GradientTape() as tape:
        ...         tape.watch(x)
        ...         y = x[0] ** 2 * x[1]
        ...     g = tape.gradient(y, x)
        >>> acc.jvp(y).numpy()
        np.float32(12.0)
        >>> acc.jvp(g).numpy()
        array([6., 4.], dtype=float32)
    """

    differentiates = True
    # the number of directions, which the tangents' leading axis counts; None for a single direction
    _rows = None

    def __init__(self, primals: Any, tangents: Any):
        self._tangents = _Tangents()
        self._recording = False
        try:
            nest.assert_same_structure(primals, tangents)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"ForwardAccumulator: tangents: expected the structure of primals. {error}"
            ) from None
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            if self._tangents.of(_checked(primal)) is not None:
                raise InvalidArgumentError(
                    f"ForwardAccumulator: {primal!r} was specified as a primal multiple times. If "
                    "that is intended, give it once, with the sum of its tangents."
                )
            self._watch(primal, tangent)

    @classmethod
    def _batch_accumulator(cls, primals, tangents):
        """Return an accumulator for several directions, along the leading axis of all tangents.

        Its `jvp` returns tensors with that axis.
        """
        leaves = nest.flatten(tangents)
        sizes = {tuple(tensor(t).shape[:1]) for t in leaves}
        if len(sizes) != 1 or not all(sizes):
            raise ShapeError(
                "_batch_accumulator: all tangents need the same leading axis, one row for each "
                f"direction; got the shapes {[tuple(tensor(t).shape) for t in leaves]}."
            )
        accumulator = cls.__new__(cls)
        ((accumulator._rows,),) = sizes
        accumulator.__init__(primals, tangents)
        return accumulator

    def __enter__(self):
        if self._recording:
            raise InvalidArgumentError("Accumulator is already recording.")
        recorders.push(self)
        self._recording = True
        return self

    def __exit__(self, typ, value, traceback):
        recorders.remove(self)
        self._recording = False

    def _watch(self, primal, tangent):
        """Add `tangent` to the tangent that `primal` has so far."""
        tangent = _fitting(primal, tangent, self._rows)
        have = self._tangents.of(primal)
        self._tangents.keep(primal, tangent if have is None else have + tangent)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE):
        """Return the tangents of `primals`: derivatives along the accumulator's direction.

        Args:
            primals: a tensor or variable computed within the block, or a primal; or a nest of them.
            unconnected_gradients: "none" or "zero", or the enum: the tangent of a tensor that does
                not depend on the accumulator's primals.

        Returns:
            Tensors in the structure of `primals`, each in the shape and dtype of its primal;
            None if unconnected.
        """
        zero = wants_zero(unconnected_gradients)
        return nest.map_structure(lambda item: self._jvp(item, zero), primals)

    def _jvp(self, item, zero):
        if type(item) is IndexedSlices:
            return sliced(self._jvp(item.values, True), item.indices, item.dense_shape)
        if item is None and not zero:  # None means that the result does not depend on the primals
            return None
        found = self._tangents.of(_checked(item))
        if found is None and zero:
            lead = () if self._rows is None else (self._rows,)
            return Tensor(np.zeros((*lead, *item.array.shape), item.array.dtype))
        return found

    # ---- recorder events ----

    def variable_read(self, variable: Any, tensor: TensorLike) -> None:
        tangent = self._tangents.of(variable)
        if tangent is not None:
            self._tangents.keep(tensor, tangent)

    def op(self, op: Any, args: Any, attrs: Any, outputs: Any, saved: Any) -> None:
        known = self._tangents
        mask, bit = 0, 1
        for arg in args:
            if type(arg) in _TENSORS and arg.serial in known:
                mask += bit
            bit += bit
        plan = op.plan(mask) if mask else None
        if plan is None:
            return
        call = _RecordedCall(op, plan, args, attrs, outputs, saved)
        tangents = [known.of(a) if mask >> i & 1 else None for i, a in enumerate(args)]
        stack = thread.stack
        thread.stack = stack[: stack.index(self)]
        try:
            with np.errstate(all="ignore"):
                found = self._called(call, tangents)
        finally:
            thread.stack = stack
        for output, tangent in zip(outputs, found, strict=True):
            if tangent is not None and output.array.dtype.kind in _DIFFERENTIABLE:
                known.keep(output, tangent)

    def _called(self, call, tangents):
        """Return the tangents of an op's outputs; a vectorized map handles several directions."""
        if self._rows is None:
            return call.tangents(tangents)
        level = Level()
        found = call.tangents([None if t is None else Batched(t, level) for t in tangents])
        return [None if t is None else rows_of(t, level, self._rows) for t in found]


_TENSORS = frozenset((Tensor, Batched))
_DIFFERENTIABLE = "fcV"  # NumPy dtype kinds: float, complex, and V (bfloat16)


def _checked(primal):
    if isinstance(primal, (Tensor, CoreVariable, Batched)):
        return primal
    raise InvalidArgumentError(
        f"ForwardAccumulator: expected a tf.Tensor or tf.Variable, got {primal!r} of type "
        f"{type(primal).__name__}. Convert it first, x = tf.convert_to_tensor(x), and compute with "
        "that x."
    )


def _fitting(primal, tangent, rows):
    """Return a tangent as a tensor of its primal's shape and dtype; `rows` adds a leading axis."""
    array = _checked(primal).array
    try:
        tangent = tensor(tangent, array.dtype)
    except DTypeError as error:
        raise DTypeError(f"ForwardAccumulator: tangents: {error}") from None
    expected = array.shape if rows is None else (rows, *array.shape)
    if tangent.array.shape != expected:
        raise ShapeError(
            f"ForwardAccumulator: a tangent has shape {tangent.array.shape}, expected {expected} "
            f"for a primal of shape {array.shape}."
        )
    return tangent


class _Tangents(dict):
    """Serial of a tensor or variable -> (weak reference to it, its tangent).

    An entry is removed when its tensor is freed.
    """

    __slots__ = ("__weakref__", "_forget")

    def __init__(self):
        super().__init__()
        # The reference is weak, so that the callback does not keep the dict alive.
        held = weakref.ref(self)

        def forget(reference):
            found = held()
            if found is not None:
                found.pop(reference.serial, None)

        self._forget = forget

    def of(self, item):
        found = self.get(item.serial)
        return None if found is None else found[1]

    def keep(self, item, tangent):
        if item.serial is None:
            item.serial = next(serials)
        reference = _Reference(item, self._forget)
        reference.serial = item.serial
        self[item.serial] = reference, tangent


class _Reference(weakref.ref):
    __slots__ = ("serial",)


class _Transposition(GradientTape):
    """The tape that records a vjp in order to transpose it."""

    transposes = True


class _RecordedCall:
    """One recorded call of an op; `plan` lists derivative rules of inputs with tangents."""

    def __init__(self, op, plan, args, attrs, outputs, saved):
        self.op, self.plan, self.args, self.attrs = op, plan, args, attrs
        self.outputs, self.saved = outputs, saved

    def tangents(self, tangents):
        """Return the outputs' tangents from those of the inputs, None for an input without one."""
        op = self.op
        if op.composite is not None:
            return self._through_composite(tangents)
        if op.kind == "elementwise" and not op.joined and self._of_one_real_dtype(tangents):
            return (self._diagonal(tangents),)
        if op.kind == "movement" or (op.kind == "reduction" and _is_linear(op)):
            found = op(*self._moved(tangents), **self.attrs)
            return found if type(found) is tuple else (found,)
        if op.kind == "contraction" and op.outputs == 1:
            return (self._by_one_input_each(tangents),)
        return self._transposed(tangents)

    def _positions(self):
        """Return the positions of the inputs that have both a tangent and a derivative rule."""
        first = self.plan[0][0]
        return first if type(first) is tuple else [i for i, _, _ in self.plan]

    def _read(self, pick):
        """Return the arguments of a derivative rule after its first argument, the cotangent."""
        if pick is None:
            return ()
        if type(pick) is int:
            return (self.args[pick] if pick >= 0 else self.outputs[0],)
        return pick(self.args, self.attrs, self.outputs, self.saved)

    def _of_one_real_dtype(self, tangents):
        dtype = self.outputs[0].array.dtype
        return dtype.kind in "fV" and all(t is None or t.array.dtype == dtype for t in tangents)

    def _diagonal(self, tangents):
        shape = self.outputs[0].array.shape
        total = None
        for i, rule, pick in self.plan:
            t = tangents[i]
            t = t if t.array.shape == shape else broadcast_to(t, shape=shape)
            d = rule(t, *self._read(pick))
            total = d if total is None else total + d
        return total

    def _moved(self, tangents):
        """Return the tangents as arguments of a linear op, with zeros for inputs without one."""
        op = self.op
        moved = []
        for i, (arg, t) in enumerate(zip(self.args, tangents, strict=True)):
            if t is not None:
                moved.append(t)
            elif op.backward is None and op.vjps[i] is no_derivative:
                moved.append(arg)
            else:
                array = np.asarray(getattr(arg, "array", arg))
                moved.append(np.broadcast_to(np.zeros((), array.dtype), array.shape))
        return moved

    def _by_one_input_each(self, tangents):
        """Return the tangent of an op that is linear in each input: a sum over the inputs."""
        total = None
        for i in self._positions():
            d = self.op(*self.args[:i], tangents[i], *self.args[i + 1 :], **self.attrs)
            total = d if total is None else total + d
        return total

    def _through_composite(self, tangents):
        copies = [a if t is None else identity(a) for a, t in zip(self.args, tangents, strict=True)]
        pairs = [(c, t) for c, t in zip(copies, tangents, strict=True) if t is not None]
        with ForwardAccumulator(*map(list, zip(*pairs, strict=True))) as inner:
            outputs = self.op.composite(*copies, **self.attrs)
        return inner.jvp(outputs if type(outputs) is tuple else (outputs,))

    def _transposed(self, tangents):
        zeros = [Tensor(np.zeros(y.array.shape, y.array.dtype)) for y in self.outputs]
        with _Transposition(watch_accessed_variables=False) as tape:
            tape.watch(zeros)
            pairs = [
                (self._unbroadcast(d, i), _turned(tangents[i]))
                for i, d in self._cotangents(zeros[0] if self.op.outputs == 1 else tuple(zeros))
                if d is not None
            ]
        targets, directions = ([p[k] for p in pairs] for k in (0, 1))
        found = tape.gradient(targets, zeros, output_gradients=directions)
        return [None if g is None else _turned(g) for g in found]

    def _cotangents(self, g):
        """Return (position, cotangent) for each input that has a tangent and a rule."""
        op = self.op
        if op.backward is None:
            return [(i, rule(g, *self._read(pick))) for i, rule, pick in self.plan]
        ((positions, _, pick),) = self.plan
        needed = tuple([i in positions for i in range(len(self.args))])
        ds = list(op.call_backward(g, self._read(pick), needed))
        return [(i, ds[i]) for i in positions]

    def _unbroadcast(self, d, position):
        d, shape = tensor(d), self.args[position].array.shape
        return sum_to(d, shape=shape) if self.op.broadcasts and d.array.shape != shape else d


def _turned(t):
    """Return the conjugate of a complex tangent, because a tape conjugates its result once more."""
    return conj(t) if t.array.dtype.kind == "c" else t


_linear = {}  # for each op, whether its rule reads no input, output or saved value


def _is_linear(op):
    if op not in _linear:
        names = set() if op.joined else {*inspect.signature(op.vjps[0]).parameters}
        _linear[op] = not op.joined and not names & {*op.inputs, "y", "saved"}
    return _linear[op]
