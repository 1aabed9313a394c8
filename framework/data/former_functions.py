"""Functions of tf.data.experimental that are now methods of Dataset."""

from typing import Any

import numpy as np

from framework.core import nest
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.dtypes import int64
from framework.core.errors import InvalidArgumentError
from framework.data.arguments import at_least, integer, made, stage_of
from framework.data.dataset import Dataset
from framework.data.stage import INFINITE, UNKNOWN, Stage
from framework.data.structure import array_in

# ---- functions of a dataset ----------------------------------------------------------------------

Counter = Dataset.counter
RandomDataset = Dataset.random


def cardinality(dataset: Any):
    """Return `dataset.cardinality()`."""
    return dataset.cardinality()


def get_single_element(dataset: Any):
    """Return `dataset.get_single_element()`."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any):
    """Return the `element_spec` of a Dataset or an iterator."""
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator: Any):
    """Return `iterator.get_next_as_optional()`."""
    return iterator.get_next_as_optional()


def at(dataset: Any, index: Any):
    """Return element number `index` of a Dataset.

    Raises:
        InvalidArgumentError: there is no such element.
    """
    number = at_least(0, "at", "index", index)
    for element in stage_of(dataset, "at: dataset").after(number):
        return element
    raise InvalidArgumentError(f"at: index: the dataset has no element {number}.")


def from_list(elements: Any, name: str | None = None):
    """Return a Dataset of the elements in a list, which must have the same structure.

    >>> [x.item() for x in from_list([3, 4])]
    [3, 4]
    """
    if not isinstance(elements, list) or not elements:
        raise InvalidArgumentError(f"from_list: elements: expected a list, got {elements!r}.")
    columns = nest.map_structure(
        lambda *column: np.stack([array_in(value, "from_list: elements") for value in column]),
        *elements,
    )
    return Dataset.from_tensor_slices(columns)


def choose_from_datasets(
    datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Call `Dataset.choose_from_datasets` with these arguments."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Call `Dataset.sample_from_datasets` with these arguments."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def save(
    dataset: Any, path: Any, compression: Any = None, shard_func: Any = None,
    checkpoint_args: Any = None,
) -> None:  # fmt: skip
    """Call `dataset.save` with these arguments."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None
) -> Dataset:
    """Call `Dataset.load` with these arguments."""
    return Dataset.load(path, element_spec, compression, reader_func)


# ---- functions for `dataset.apply` ---------------------------------------------------------------


class AssertCardinality(Stage):
    """A pipeline stage that raises an error if the number of elements is not `expected`."""

    def __init__(self, parent, expected):
        super().__init__(parent)
        self.expected = expected

    def length(self):
        return self.expected

    def elements(self):
        count = 0
        for element in self.parent.iterate():
            count += 1
            if self.expected != INFINITE and count > self.expected:
                raise InvalidArgumentError(
                    f"assert_cardinality: expected {self.expected} elements, got more."
                )
            yield element
        if count != self.expected:
            wanted = "an infinite number of" if self.expected == INFINITE else self.expected
            raise InvalidArgumentError(
                f"assert_cardinality: expected {wanted} elements, got {count}."
            )


def assert_cardinality(expected_cardinality: Any):
    """Return a function for `dataset.apply` that asserts the number of elements.

    An iteration raises an error if the number differs.

    >>> data = Dataset.range(5).filter(lambda x: x < 3).apply(assert_cardinality(3))
    >>> len(data)
    3
    """
    expected = integer("assert_cardinality", "expected_cardinality", expected_cardinality)
    if expected < 0 and expected not in (INFINITE, UNKNOWN):
        raise InvalidArgumentError(
            f"assert_cardinality: expected_cardinality: expected at least 0, got {expected}."
        )
    return lambda dataset: made(AssertCardinality(stage_of(dataset, "dataset"), expected))


def bucket_by_sequence_length(
    element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
    padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: bool = False,
    no_padding: bool = False, drop_remainder: bool = False,
):  # fmt: skip
    """Return a function for `dataset.apply` that calls `bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0"):
    """Return a function that returns its dataset unchanged, because there is only one device."""
    return lambda dataset: dataset


def prefetch_to_device(device: Any, buffer_size: Any = None):
    """Return a function for `dataset.apply` that calls `prefetch`."""
    return lambda dataset: dataset.prefetch(-1 if buffer_size is None else buffer_size)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: DTypeLike = int64
):
    """Return a function for `dataset.apply` that calls `ragged_batch`, which pads."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder)


def enumerate_dataset(start: TensorLike = 0):
    """Return a function for `dataset.apply` that calls `enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None
):
    """Return a function for `dataset.apply` that calls `group_by_window`."""
    how = key_func, reduce_func, window_size, window_size_func
    return lambda dataset: dataset.group_by_window(*how)


def ignore_errors(log_warning: bool = False):
    """Return a function for `dataset.apply` that calls `ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def map_and_batch(
    map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
    num_parallel_calls: Any = None,
):  # fmt: skip
    """Return a function for `dataset.apply` that calls `map`, then `batch`."""
    calls = -1 if num_parallel_batches is not None else num_parallel_calls
    return lambda dataset: dataset.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Any, cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
):  # fmt: skip
    """Return a function for `dataset.apply` that calls `interleave` with threads."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, -1)


def rejection_resample(
    class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None
):
    """Return a function for `dataset.apply` that calls `rejection_resample`."""
    how = class_func, target_dist, initial_dist, seed
    return lambda dataset: dataset.rejection_resample(*how)


def scan(initial_state: Any, scan_func: Any):
    """Return a function for `dataset.apply` that calls `scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None):
    """Return a function for `dataset.apply` that calls `shuffle`, then `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def snapshot(path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None):
    """Return a function for `dataset.apply` that calls `snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def take_while(predicate: Any):
    """Return a function for `dataset.apply` that calls `take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch():
    """Return a function for `dataset.apply` that calls `unbatch`."""
    return lambda dataset: dataset.unbatch()


def unique():
    """Return a function for `dataset.apply` that calls `unique`."""
    return lambda dataset: dataset.unique()
