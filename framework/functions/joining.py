"""Functions of tf.strings that join strings, and `format`.

>>> import framework as tf
>>> tf.strings.join(["a", ["b", "c"]], "-").numpy().tolist()
[b'a-b', b'a-c']
"""

from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, OutOfRangeError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.printing import shown
from framework.functions.strings import OBJECT, Each, texts
from framework.ops import movement
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.tables import look_up_all


def _bytes(value):
    return value.encode() if isinstance(value, str) else value


def _join(*parts):
    return parts[-1].join(parts[:-1])


@operation
def join(inputs: Any, separator: Any = "", name: str | None = None) -> Any:
    """Join the corresponding strings of several tensors; a scalar tensor broadcasts.

    Args:
        inputs: a list of tensors of strings; RaggedTensors must have rows of equal lengths.
        separator: the string between them.
    """
    rows = [x for x in inputs if isinstance(x, RaggedTensor)]
    if rows:
        _require_equal_rows(rows)
        flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in inputs]
        return rows[0].with_flat_values(join(flat, separator))
    parts = [texts(x, "join") for x in inputs]
    if not parts:
        raise InvalidArgumentError("join: expected at least one tensor, got none.")
    if len({tuple(x.shape) for x in parts if x.ndim}) > 1:
        raise ShapeError(
            f"join: expected tensors of the same shape, got {[tuple(x.shape) for x in parts]}."
        )
    return look_up_all(*parts, table=Each(_join, (_bytes(separator),)))


def _require_equal_rows(rows):
    splits = [[ends.numpy().tolist() for ends in x.nested_row_splits] for x in rows]
    if any(other != splits[0] for other in splits):
        raise ShapeError(
            f"join: expected ragged tensors with rows of equal lengths, got row splits {splits[0]} "
            f"and {next(other for other in splits if other != splits[0])}."
        )


class _JoinAlong(NamedTuple):
    """The NumPy implementation of an op that joins the strings along the last `count` axes."""

    count: int
    separator: bytes
    dtype: Any = OBJECT

    def __call__(self, x):
        lead = x.shape[: x.ndim - self.count]
        rows = x.reshape(*lead, -1).reshape(int(np.prod(lead)), -1).tolist() if x.size else [
            [] for _ in range(int(np.prod(lead)))
        ]  # fmt: skip
        made = np.empty(len(rows), object)
        made[:] = [self.separator.join(row) for row in rows]
        return made.reshape(lead)

    def shape(self, shape):
        return shape[: len(shape) - self.count]


@operation
def reduce_join(
    inputs: TensorLike, axis: Axis = None, keepdims: bool = False, separator: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Join the strings along the given axes.

    Args:
        inputs: strings.
        axis: the axes; the index along the first one changes fastest. By default all axes, in C
            order.
        keepdims: keep the joined axes with size 1.
        separator: the string between the strings.
    """
    if isinstance(inputs, RaggedTensor):
        return _join_rows(inputs, axis, keepdims, separator)
    x = texts(inputs, "reduce_join")
    every = range(x.ndim)[::-1] if axis is None else np.atleast_1d(np.asarray(axis, int)).tolist()
    joined = all_axes(list(every), x.ndim, "reduce_join")
    axes = [a % x.ndim for a in every][::-1]
    kept = [a for a in range(x.ndim) if a not in joined]
    turned = movement.transpose(x, perm=(*kept, *axes)) if x.ndim else x
    y = look_up_all(turned, table=_JoinAlong(len(axes), _bytes(separator)))
    return movement.expand_axes(y, sorted(axes)) if keepdims else y


def _join_rows(x, axis, keepdims, separator):
    """Join the strings of each row of a ragged tensor, along its last axis."""
    last = x.ndim - 1
    if axis not in (last, -1):
        raise InvalidArgumentError(
            f"reduce_join: axis: expected {last} or -1 for a ragged tensor, got {axis!r}."
        )
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_join_rows(x.values, -1, keepdims, separator))
    y = tensor([_bytes(separator).join(np.asarray(row).tolist()) for row in x] or
               np.empty(0, object))  # fmt: skip
    return movement.expand_axes(y, (1,)) if keepdims else y


class _JoinSegments(NamedTuple):
    """The NumPy implementation of an op that joins the strings of each segment."""

    count: int
    separator: bytes
    dtype: Any = OBJECT

    def __call__(self, x, ids):
        rest = x.shape[ids.ndim :]
        if ((ids < 0) | (ids >= self.count)).any():
            raise OutOfRangeError(
                f"unsorted_segment_join: segment ids must lie from 0 to {self.count - 1}, got "
                f"{ids.tolist()}."
            )
        rows = x.reshape(ids.size, int(np.prod(rest)))
        made = np.empty((self.count, rows.shape[1]), object)
        for segment in range(self.count):
            chosen = rows[ids.reshape(-1) == segment].T.tolist()
            made[segment] = [self.separator.join(row) for row in chosen]
        return made.reshape(self.count, *rest)

    def shape(self, shape, ids):
        return (self.count, *shape[len(ids) :])


@operation
def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: Any, separator: Any = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Join the strings of each segment.

    Args:
        inputs: strings.
        segment_ids: ints of the shape of the leading axes of `inputs`.
        num_segments: the number of segments.
        separator: the string between the strings.
    """
    x, ids = texts(inputs, "unsorted_segment_join"), tensor(segment_ids)
    return look_up_all(x, ids, table=_JoinSegments(int(num_segments), _bytes(separator)))


class _Format(NamedTuple):
    """The NumPy implementation of an op that inserts its printed operands into a template."""

    template: tuple
    summarize: int
    dtype: Any = OBJECT

    def __call__(self, *values):
        made = [self.template[0]]
        for value, text in zip(values, self.template[1:]):
            made += [shown(Tensor(value), self.summarize), text]
        result = np.empty((), object)
        result[()] = "".join(made).encode()
        return result

    def shape(self, *_shapes):
        return ()


@operation
def format(
    template: Any, inputs: Any, placeholder: Any = "{}", summarize: Any = 3,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `template` with its placeholders replaced by printed tensors.

    Args:
        template: a string.
        inputs: a tensor, or a list with one tensor for each placeholder.
        placeholder: the substring of `template` that is replaced.
        summarize: the number of elements to show at both ends of an axis; -1 for all.

    >>> import framework as tf
    >>> tf.strings.format("x = {}", tf.range(9)).numpy()
    b'x = [0 1 2 ... 6 7 8]'
    """
    values = [tensor(x) for x in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    parts = tuple(template.split(placeholder))
    if len(parts) != len(values) + 1:
        raise InvalidArgumentError(
            f"format: expected one input for each of the {len(parts) - 1} placeholders in "
            f"{template!r}, got {len(values)}."
        )
    return look_up_all(*values, table=_Format(parts, int(summarize)))
