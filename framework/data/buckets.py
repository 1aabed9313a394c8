"""Batches of elements of similar length: `group_by_window`, then `padded_batch` of each group."""

import bisect
import operator

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.tensor_spec import TensorSpec
from framework.data.arguments import made
from framework.data.grouping import GroupByWindow
from framework.data.purity import is_pure
from framework.data.structure import array_in, like, packer
from framework.data.transform import call, is_guessed

_NAME = "bucket_by_sequence_length"


def bucketed(
    dataset, length_of, boundaries, sizes, shapes, values, to_boundary, no_padding, drop_remainder
):
    """Return the dataset of `Dataset.bucket_by_sequence_length`."""
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

    how = bucket_of, batch, lambda bucket: sizes[bucket.item()], made, is_pure(length_of)
    return made(GroupByWindow(dataset._framework, *how))


def _opened(spec):
    return TensorSpec([None] * len(spec.shape), spec.dtype)


def _filled(spec, shapes, length):
    """Return a nest of shapes with `length` instead of unknown sizes."""
    given = like(spec, shapes)
    leaves = [s.shape if w is None else w for s, w in zip(nest.flatten(spec), given)]
    return packer(spec)([[length if n in (None, -1) else n for n in shape] for shape in leaves])
