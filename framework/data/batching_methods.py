"""Methods of Dataset that join elements into batches and windows, and split batches."""

from typing import Any

from framework.core import nest
from framework.core.argument_types import DTypeLike
from framework.core.dtypes import int64
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.data import grouping
from framework.data.arguments import at_least, made, workers
from framework.data.buckets import bucketed


class BatchingMethods:
    """Methods of Dataset that join elements into batches and windows, and split batches."""

    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
        deterministic: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of batches: `batch_size` elements stacked along a new first axis.

        Args:
            batch_size: an int.
            drop_remainder: True to drop a smaller last batch.
            num_parallel_calls: the number of threads that stack elements; None for no threads.
            deterministic: False to return batches in the order of completion.

        Raises:
            ShapeError: elements of one batch have different shapes or dtypes.
        """
        size = at_least(1, "batch", "batch_size", batch_size)
        how = workers("batch", num_parallel_calls), deterministic is None or bool(deterministic)
        return made(grouping.Batch(self._framework, size, bool(drop_remainder), *how))

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
        drop_remainder: bool = False, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of batches of elements padded at their ends to a common shape.

        Args:
            batch_size: an int.
            padded_shapes: a nest of shapes in the structure of an element. A size of None or -1 is
                the largest in the batch; None instead of a shape means this for all its sizes.
            padding_values: one value, or a nest of values like an element; zeros if None.
            drop_remainder: True to drop a smaller last batch.
        """
        size = at_least(1, "padded_batch", "batch_size", batch_size)
        return made(
            grouping.PaddedBatch(
                self._framework, size, padded_shapes, padding_values, bool(drop_remainder)
            )
        )

    def ragged_batch(
        self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: DTypeLike = int64,
        name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of batches of elements of different sizes, padded with zeros.

        The batches are dense: they equal `to_tensor()` of TensorFlow's ragged batches.

        >>> from framework.data import Dataset
        >>> import numpy as np
        >>> data = Dataset.range(1, 4).map(lambda n: np.full(n.item(), 7)).ragged_batch(3)
        >>> [batch.tolist() for batch in data]
        [[[7, 0, 0], [7, 7, 0], [7, 7, 7]]]
        """
        size = at_least(1, "ragged_batch", "batch_size", batch_size)
        how = size, None, None, bool(drop_remainder)
        return made(grouping.PaddedBatch(self._framework, *how))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None):
        """Return a dataset of batches of other sizes, with the same rows.

        Args:
            batch_size: an int, or a list of ints, used cyclically.
            drop_remainder: True to drop a smaller last batch.

        >>> from framework.data import Dataset
        >>> [b.tolist() for b in Dataset.range(7).batch(3).rebatch([1, 3])]
        [[0], [1, 2, 3], [4], [5, 6]]
        """
        several = batch_size.tolist() if hasattr(batch_size, "tolist") else batch_size
        several = several if isinstance(several, (list, tuple)) else [several]
        sizes = [at_least(1, "rebatch", "batch_size", size) for size in several]
        if not sizes:
            raise InvalidArgumentError("rebatch: batch_size must have at least one size, got none.")
        _check_rows(self, "rebatch")
        return made(grouping.Rebatch(self._framework, sizes, bool(drop_remainder)))

    def bucket_by_sequence_length(
        self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
        padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False,
        drop_remainder: bool = False, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of padded batches of elements of similar length.

        Args:
            element_length_func: a function of an element that returns its length, an int.
            bucket_boundaries: increasing ints; the last bucket has no upper boundary.
            bucket_batch_sizes: the batch size of each bucket; there is one more bucket than
                boundaries.
            padded_shapes, padding_values: those of `padded_batch`.
            pad_to_bucket_boundary: True to pad unknown sizes to the largest length of the bucket.
            no_padding: True to batch without padding.
            drop_remainder: True to drop smaller last batches.

        >>> from framework.data import Dataset
        >>> import numpy as np
        >>> rows = Dataset.range(1, 5).map(lambda n: np.full(n.item(), n.item()))
        >>> data = rows.bucket_by_sequence_length(lambda row: len(row), [3], [2, 2])
        >>> [batch.tolist() for batch in data]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        return bucketed(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
            padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def unbatch(self, name: str | None = None):
        """Return a dataset of the rows of each element."""
        _check_rows(self, "unbatch")
        return made(grouping.Unbatch(self._framework))

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
        name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of windows: datasets of `size` elements, in an element's structure.

        Args:
            size: an int.
            shift: the distance between the starts of two windows; `size` if None.
            stride: the distance between two elements of a window.
            drop_remainder: True to drop windows of fewer elements.

        >>> from framework.data import Dataset
        >>> windows = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.tolist() for w in windows.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        size = at_least(1, "window", "size", size)
        shift = size if shift is None else at_least(1, "window", "shift", shift)
        stride = at_least(1, "window", "stride", stride)
        how = size, shift, stride, bool(drop_remainder)
        return made(grouping.Window(self._framework, *how, made))


def _check_rows(dataset, method):
    """Raise an error if elements are known to be scalars. The user's functions are not called."""
    if dataset._framework.python:
        return
    for spec in nest.flatten(dataset.element_spec):
        if getattr(spec, "shape", None) == ():
            raise ShapeError(
                f"{method}: expected elements with rows, got a scalar of shape (). Call batch "
                "first."
            )
