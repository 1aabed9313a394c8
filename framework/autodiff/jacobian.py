"""jacobian and batch_jacobian: one backward pass for all elements of the target.

The cotangent is the identity matrix, with a row for each element of the target; `batching.py`
applies the derivative rules to all rows together. If a rule cannot be batched, or if the caller
asks for a loop, one backward pass runs for each element.
"""

import math
from typing import Any

import numpy as np

from framework.autodiff.batch_rules import np_dtype_of, shape_of
from framework.autodiff.batching import Batched, Level, rows_of
from framework.autodiff.cotangents import UnconnectedGradients, wants_zero
from framework.autodiff.diagonal import Diagonal, identity
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import conj
from framework.ops.movement import broadcast_to, concat, reshape, stack, transpose
from framework.ops.slices import IndexedSlices


class Jacobians:
    """Base class of `GradientTape`: its methods `jacobian` and `batch_jacobian`."""

    def jacobian(
        self, target: TensorLike, sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE, parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the derivatives of each element of `target` with respect to those of `sources`.

        Args:
            target: one tensor of any rank.
            sources: a tensor or variable, or any nest of them.
            unconnected_gradients: "none" or "zero", or the enum: what unconnected sources get.
            parallel_iterations: accepted; the rows are computed together.
            experimental_use_pfor: False runs a backward pass for each element of `target`, which
                needs a persistent tape. The values are the same.

        Returns:
            Tensors in the structure of `sources`, each of shape `target.shape + source.shape`; None
            where unconnected.

        Raises:
            RuntimeError: the tape is not persistent, and this is a second call or needs a loop.

        Example:
            >>> import framework as tf
            >>> x = tf.constant([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.jacobian(y, x).numpy()
            array([[2., 0.],
                   [0., 4.]], dtype=float32)
        """
        _check(self, parallel_iterations, experimental_use_pfor)
        return jacobian(self, target, sources, unconnected_gradients, experimental_use_pfor)

    def batch_jacobian(
        self, target: TensorLike, source: TensorLike,
        unconnected_gradients: Any = UnconnectedGradients.NONE, parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Return the jacobian of each example: `target[i]` must depend on `source[i]` alone.

        Args:
            target: a tensor of shape (b, ...).
            source: a tensor or variable of shape (b, ...).
            unconnected_gradients: accepted; where unconnected the result is zeros.
            parallel_iterations, experimental_use_pfor: as for `jacobian`.

        Returns:
            A tensor of shape `target.shape + source.shape[1:]`.

        Raises:
            RuntimeError: the tape is not persistent, and this is a second call or needs a loop.
            ValueError: a rank below 2, or different first dimensions.

        Example:
            >>> import framework as tf
            >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.batch_jacobian(y, x).numpy()
            array([[[2., 0.],
                    [0., 4.]],
            <BLANKLINE>
                   [[6., 0.],
                    [0., 8.]]], dtype=float32)
        """
        _check(self, parallel_iterations, experimental_use_pfor)
        return batch_jacobian(self, target, source, unconnected_gradients, experimental_use_pfor)

    def op_on_rows(self, op: Any, args: Any, attrs: Any, outputs: Any, saved: Any) -> None:
        """Record a call of `op` within a map over rows; operands may be `Batched`."""
        tracked = self._tracked
        mask = sum(
            1 << i for i, arg in enumerate(args)
            if type(arg) in (Tensor, Batched) and arg.serial in tracked
        )  # fmt: skip
        if mask:
            self.op(op, args, attrs, outputs, saved, mask)


def jacobian(tape, target, sources, unconnected_gradients, experimental_use_pfor):
    """Return the result of `GradientTape.jacobian`."""
    zero = wants_zero(unconnected_gradients)
    target = _one_tensor(target, "jacobian: target")
    flat = [_one_tensor(s, "jacobian: a source") for s in nest.flatten(sources)]
    shape = shape_of(target)
    eye = _Identity(target, shape, shape)
    found = _rows(tape, target, flat, eye, experimental_use_pfor)
    jacobians = []
    for source, rows in zip(flat, found, strict=True):
        whole = (*shape, *shape_of(source))
        if rows is not None:
            jacobians.append(_shaped(rows, eye.count, whole))
        else:
            jacobians.append(Tensor(np.zeros(whole, source.dtype.np)) if zero else None)
    return nest.pack_sequence_as(sources, jacobians)


def batch_jacobian(tape, target, source, unconnected_gradients, experimental_use_pfor):
    """Return the result of `GradientTape.batch_jacobian`."""
    wants_zero(unconnected_gradients)
    target = _one_tensor(target, "batch_jacobian: target")
    source = _one_tensor(source, "batch_jacobian: source")
    shape, source_shape = shape_of(target), shape_of(source)
    _check_batch(shape, source_shape)
    batch, *trailing = shape
    eye = _Identity(target, tuple(trailing), shape)
    (rows,) = _rows(tape, target, [source], eye, experimental_use_pfor)
    whole = (batch, *trailing, *source_shape[1:])
    if rows is None:
        return Tensor(np.zeros(whole, target.dtype.np))
    rank = len(source_shape) + 1
    return _shaped(transpose(rows, perm=(1, 0, *range(2, rank))), eye.count, whole)


# ---- checks of arguments -------------------------------------------------------------------------


def _check(tape, parallel_iterations, experimental_use_pfor):
    """Mark the tape as used; raise TapeError if a loop needs a persistent tape."""
    tape._use()
    if tape._persistent:
        return
    if not experimental_use_pfor:
        raise TapeError(
            "GradientTape must be created with persistent=True to compute the jacobian with "
            "experimental_use_pfor set to False: each element needs its own backward pass."
        )
    if parallel_iterations is not None and thread.function is not None:
        raise TapeError(
            "GradientTape must be created with persistent=True to compute the jacobian with "
            "parallel_iterations inside a tf.function."
        )


def _shaped(rows, count, shape):
    """Return the rows of a jacobian as a tensor of its shape; zeros if the target is empty."""
    if not count:
        return Tensor(np.zeros(shape, np_dtype_of(rows)))
    found = reshape(rows, shape=shape)
    return Tensor(found) if type(found) is np.ndarray else found


def _one_tensor(value, what):
    if isinstance(value, (Tensor, CoreVariable, Batched)):
        return value
    if nest.is_nested(value):
        raise InvalidArgumentError(
            f"{what} must be one tensor, got {type(value).__name__}. Stack its parts, or call this "
            "for each of them on a persistent tape."
        )
    if "source" in what:
        raise InvalidArgumentError(
            f"{what} must be a tf.Tensor or tf.Variable that the tape watched, got {value!r}."
        )
    return tensor(value)


def _check_batch(shape, source_shape):
    if len(shape) < 2 or len(source_shape) < 2:
        raise InvalidArgumentError(
            "batch_jacobian: target and source must have rank at least 2, the first axis being the "
            f"batch; got the shapes {shape} and {source_shape}. Use jacobian, or add an axis."
        )
    if shape[0] != source_shape[0]:
        raise InvalidArgumentError(
            "batch_jacobian: Need first dimension of target and source, the batch, to be the same; "
            f"got the shapes {shape} and {source_shape}."
        )


# ---- the backward pass ---------------------------------------------------------------------------


class _Identity:
    """The identity matrix, as the cotangents of `count` elements: row i is 1 at element i, else 0.

    `shape` is the shape of a row, to which the elements, of shape `element`, are broadcast.
    """

    def __init__(self, target, element, shape):
        self.count, self.dtype = math.prod(element), target.dtype.np
        self._element, self._shape = element, shape

    def rows(self, start, stop):
        """Return the rows `start` to `stop`, as a `Diagonal` if possible."""
        if self.count and len(self._element) == 1:
            return Diagonal(start, stop, self._shape, self.dtype)
        return self.dense(start, stop)

    def dense(self, start, stop):
        """Return rows of the identity matrix as an array; a row of zeros if the target is empty."""
        if not self.count:
            return np.zeros((1, *self._shape), self.dtype)
        eye = identity(start, stop, self.count, self.dtype)
        ones = (1,) * (len(self._shape) - len(self._element))
        eye = eye.reshape(stop - start, *ones, *self._element)
        return np.broadcast_to(eye, (stop - start, *self._shape)) if ones else eye


def _rows(tape, target, sources, eye, at_once):
    """Return for each source its cotangents: one for each row of the identity matrix `eye`.

    They are None for a source on which the target does not depend.
    """
    if target.dtype.np.kind not in "fcV":
        return [None] * len(sources)
    if target.serial is None:
        target.serial = next(serials)
    record = tape._edges
    try:
        with np.errstate(all="ignore"):
            if at_once:
                found = _at_once(tape, target, sources, eye)
                if found is not None:
                    return found
                tape._edges = record
            return _one_by_one(tape, target, sources, eye)
    finally:
        if not tape._persistent:
            tape._edges = []


def _at_once(tape, target, sources, eye, careful=True):
    """Run one backward pass per block of rows; return None if a rule fails and `careful`."""
    count = max(eye.count, 1)
    step = count if _taped() else max(_BLOCK // _widest(tape), _FEWEST)
    # Make all blocks about equally large.
    step = math.ceil(count / math.ceil(count / step))
    try:
        blocks = [
            _block(tape, target, sources, eye.rows(start, min(start + step, count)))
            for start in range(0, count, step)
        ]
    # If the error is the user's, the backward pass for each row raises it again.
    except Exception:
        if not careful:
            raise
        return None
    if len(blocks) == 1:
        return blocks[0]
    return [None if c[0] is None else concat(*c, axis=0) for c in zip(*blocks)]


# A block of rows has at most _BLOCK elements in its largest array, so that the array stays in the
# cache. The block has at least _FEWEST rows, so that the overhead of its backward pass pays off.
_BLOCK, _FEWEST = 1 << 18, 32


def _widest(tape):
    """Return the number of elements of the largest array that a rule in the tape's record reads."""
    sizes = (
        value.array.size for *_, read in tape._edges
        for value in (read if type(read) is tuple else (read,)) if type(value) is Tensor
    )  # fmt: skip
    return max(sizes, default=1) or 1


def _taped():
    return any(r.differentiates or r.replays for r in thread.stack)


def _block(tape, target, sources, rows):
    level = Level()
    record = tape._edges
    if not tape._persistent:
        # The backward pass empties its list of edges, so it gets a copy.
        tape._edges = list(record)
    grads = {target.serial: Batched(rows, level)}
    tape._walk_back(grads, sources, True)
    if not tape._persistent:
        tape._edges = record
    found = [_collected(tape, grads, source) for source in sources]
    return [None if g is None else rows_of(g, level, rows.shape[0]) for g in found]


def _one_by_one(tape, target, sources, eye):
    taped = _taped()
    record = tape._edges
    columns = [[] for _ in sources]
    for k in range(max(eye.count, 1)):
        if not tape._persistent:
            tape._edges = list(record)
        (row,) = eye.dense(k, k + 1)
        grads = {target.serial: Tensor(row) if taped else row}
        tape._walk_back(grads, sources, taped)
        for column, source in zip(columns, sources, strict=True):
            column.append(_collected(tape, grads, source))
    return [None if c[0] is None else stack(*[tensor(g) for g in c], axis=0) for c in columns]


def _collected(tape, grads, source):
    """Return the cotangent of one source, conjugated if complex; None if unconnected."""
    if source.dtype.np.kind not in "fcV":
        return None
    ends = [source.serial]
    if isinstance(source, CoreVariable):
        ends += tape._reads.get(source.serial, ())
    found = [grads[serial] for serial in ends if serial in grads]
    found = [g.dense() if type(g) is IndexedSlices else g for g in found]
    if not found:
        return None
    total = found[0]
    for g in found[1:]:
        total = total + g
    if shape_of(total) != shape_of(source):
        total = broadcast_to(total, shape=shape_of(source))
    total = conj(total) if source.dtype.np.kind == "c" else total
    return total if isinstance(total, (Tensor, Batched)) else Tensor(np.asarray(total))
