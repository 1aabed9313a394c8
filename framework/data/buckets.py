"""Batches of elements of similar length: `group_by_window`, then `padded_batch` of each group."""

import bisect
import operator

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.arguments import made
from framework.data.grouping import GroupByWindow
from framework.data.purity import is_pure
from framework.data.shape_functions import ByShape
from framework.data.stage import GeneratorStage
from framework.data.structure import array_in, like, packer
from framework.data.transform import call, is_guessed

_NAME = "bucket_by_sequence_length"


def bucketed(
    dataset, length_of, boundaries, sizes, shapes, values, to_boundary, no_padding, drop_remainder
):
    """Check the arguments of `Dataset.bucket_by_sequence_length`; return its result."""
    boundaries, sizes = list(map(operator.index, boundaries)), list(map(operator.index, sizes))
    if len(sizes) != len(boundaries) + 1:
        raise InvalidArgumentError(
            f"{_NAME}: bucket_batch_sizes: expected {len(boundaries) + 1} sizes, one more than "
            f"bucket_boundaries, got {len(sizes)}."
        )

    def bucket_of(*element):
        value = array_in(call(length_of, element), "element_length_func")
        return bisect.bisect_right(boundaries, int(value))

    def batch(bucket, group):
        number = bucket.item()
        if no_padding:
            return group.batch(sizes[number], drop_remainder)
        wanted = shapes
        if to_boundary:
            if number == len(boundaries):
                raise InvalidArgumentError(
                    f"{_NAME}: pad_to_bucket_boundary: expected lengths below the last boundary, "
                    f"{boundaries[-1]}, got a longer element."
                )
            spec = group.element_spec
            spec = nest.map_structure(_opened, spec) if is_guessed(dataset._framework) else spec
            wanted = _filled(spec, shapes, boundaries[number] - 1)
        return group.padded_batch(sizes[number], wanted, values, drop_remainder)

    parent, pure = dataset._framework, is_pure(length_of)
    how = bucket_of, batch, lambda bucket: sizes[bucket.item()], made, pure
    plain = shapes is None and not to_boundary and not no_padding and not nest.is_nested(values)
    if plain and pure and _has_sequences(parent) and min(sizes) > 0:
        return made(BucketedSequences(parent, *how, sizes, values, drop_remainder))
    return made(GroupByWindow(parent, *how))


def _has_sequences(stage):
    """Return whether a stage is a generator of one-dimensional arrays of numbers."""
    spec = getattr(stage, "signature", None)
    if type(stage) is not GeneratorStage or type(spec) is not TensorSpec or spec.shape is None:
        return False
    return len(spec.shape) == 1 and spec.dtype.np.kind in "biuf"


class BucketedSequences(GroupByWindow):
    """A pipeline stage that yields padded batches, and collects sequences in buckets as bytes.

    A generator's sequences must be copied anyway. Padding a batch by joining bytes is several times
    faster than assigning each sequence to its row.
    """

    def __init__(self, parent, key, reduce, size, dataset, pure, sizes, value, drop_remainder):
        super().__init__(parent, key, reduce, size, dataset, pure)
        self._sizes, self._drop = sizes, drop_remainder
        self._dtype = parent.signature.dtype.np
        self._value = np.array(0 if value is None else array_in(value, _NAME), self._dtype)

    def elements(self):
        groups, sizes = [[] for _ in self._sizes], self._sizes
        bucket_of = ByShape(self._key_of)
        known = bucket_of.known if self.pure else None
        for number, array in enumerate(self.parent.arrays()):
            data = array.tobytes()
            bucket = None if known is None else known.get(array.shape)
            if bucket is None:
                element = Tensor(np.frombuffer(data, self._dtype))
                bucket = (bucket_of if self.pure else self._key_of)(element, number)
                known = bucket_of.known if self.pure else None
            group = groups[bucket]
            group.append(data)
            if len(group) == sizes[bucket]:
                groups[bucket] = []
                yield self._padded(group)
        for group in groups:
            if group and not self._drop:
                yield self._padded(group)

    def _padded(self, group):
        width = max(map(len, group))
        padding = self._value.tobytes() * (width // self._dtype.itemsize)
        rows = b"".join([row + padding[len(row) :] for row in group])
        shape = len(group), width // self._dtype.itemsize
        return Tensor(np.frombuffer(rows, self._dtype).reshape(shape).copy())


def _opened(spec):
    return TensorSpec([None] * len(spec.shape), spec.dtype)


def _filled(spec, shapes, length):
    """Return a nest of shapes in which unknown sizes are replaced by `length`."""
    given = like(spec, shapes, "bucket_by_sequence_length: padded_shapes")
    leaves = [s.shape if w is None else w for s, w in zip(nest.flatten(spec), given)]
    return packer(spec)([[length if n in (None, -1) else n for n in shape] for shape in leaves])
