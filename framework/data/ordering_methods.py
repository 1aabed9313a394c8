"""Methods of Dataset that select, order, keep and combine elements."""

import operator
from typing import Any

from framework.core import nest, random
from framework.core.argument_types import TensorLike
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.data import options as options_module
from framework.data import order, stored, transform
from framework.data.arguments import at_least, integer, made, stage_of
from framework.data.parallel import AUTOTUNE
from framework.data.records import as_path
from framework.data.stage import UNKNOWN

# With 4 elements computed ahead, a thread passes on several small batches at a time. That costs a
# quarter of passing on each separately.
_AHEAD = 4


class OrderingMethods:
    """Methods of Dataset that select, order, keep and combine elements."""

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True,
        name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of the elements in random order, a new order in each iteration.

        A buffer holds up to `buffer_size` elements. Each output is drawn from the buffer and
        replaced by the next input; a buffer of all elements gives a uniform shuffle. The order is
        a function of the seed and the number of the iteration.

        Args:
            buffer_size: an int; UNKNOWN_CARDINALITY for all elements.
            seed: an int; if None, this call draws it from the global generator.
            reshuffle_each_iteration: False for the same order in each iteration.
        """
        size = integer("shuffle", "buffer_size", buffer_size)
        size = 2**62 if size == UNKNOWN else at_least(1, "shuffle", "buffer_size", size)
        seed = random.make_seed() if seed is None else integer("shuffle", "seed", seed)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return made(order.Shuffle(self._framework, size, seed, reshuffle))

    def repeat(self, count: Any = None, name: str | None = None):
        """Return a dataset of the elements repeated `count` times, infinitely if None or -1."""
        count = -1 if count is None else integer("repeat", "count", count)
        return made(order.Repeat(self._framework, None if count < 0 else count))

    def take(self, count: Any, name: str | None = None):
        """Return a dataset of the first `count` elements, or of all elements if -1."""
        count = integer("take", "count", count)
        return made(order.Slice(self._framework, 0, None if count < 0 else count))

    def skip(self, count: Any, name: str | None = None):
        """Return a dataset without the first `count` elements, or an empty dataset if -1."""
        count = integer("skip", "count", count)
        return made(order.Slice(self._framework, max(count, 0), 0 if count < 0 else None))

    def shard(self, num_shards: Any, index: Any, name: str | None = None):
        """Return a dataset of the elements whose position modulo `num_shards` is `index`."""
        num_shards = at_least(1, "shard", "num_shards", num_shards)
        index = at_least(0, "shard", "index", index)
        if index >= num_shards:
            raise InvalidArgumentError(
                f"shard: index must be below num_shards={num_shards}, got {index}."
            )
        return made(order.Slice(self._framework, index, None, num_shards))

    def concatenate(self, dataset: Any, name: str | None = None):
        """Return a dataset of these elements, then those of `dataset`.

        Raises:
            DTypeError: the datasets' elements differ in structure or dtype.
        """
        stage = order.Concatenation(self._framework, stage_of(dataset, "concatenate: dataset"))
        if not stage.python:
            dtype, other = (nest.map_structure(lambda s: s.dtype, p.spec()) for p in stage.parents)
            if dtype != other:
                raise DTypeError(
                    f"concatenate: dataset: expected elements of dtype {dtype}, got {other}."
                )
        return made(stage)

    def enumerate(self, start: TensorLike = 0, name: str | None = None):
        """Return a dataset of pairs (int64 counter, element)."""
        # imported here because `dataset` imports this module
        from framework.data.dataset import Dataset

        start, stage = operator.index(start), self._framework
        if stage.indexed:  # zipped with a range, the dataset keeps its random access
            return Dataset.zip(Dataset.range(start, start + stage.length()), self)
        return Dataset.zip(Dataset.counter(start), self)

    def cache(self, filename: Any = "", name: str | None = None):
        """Return a dataset that keeps the elements of its first complete iteration.

        Args:
            filename: the path of a file, without its suffix, that later programs read, too, until
                it is removed; "" to keep the elements in memory.
        """
        filename = as_path(filename)
        if filename:
            return made(stored.FileCache(self._framework, filename))
        return made(order.Cache(self._framework))

    def prefetch(self, buffer_size: Any, name: str | None = None):
        """Return a dataset whose elements a background thread computes ahead.

        It has an effect only if user code (`map`, a generator, ...) computes elements: slicing
        arrays takes less time than passing a batch between threads. Random draws of this code
        depend on the number of the iteration, not on when the thread runs.

        Args:
            buffer_size: the number of elements computed ahead; AUTOTUNE means 4; 0 means no thread.
        """
        size = at_least(-1, "prefetch", "buffer_size", buffer_size)
        stage = self._framework
        seed = random.make_seed() if stage.python and size else None
        return made(order.Prefetch(stage, _AHEAD if size == AUTOTUNE else size, seed))

    def unique(self, name: str | None = None):
        """Return a dataset without repeated elements; an element must be one tensor.

        >>> from framework.data import Dataset
        >>> list(Dataset.from_tensor_slices([1, 2, 1]).unique().as_numpy_iterator())
        [np.int32(1), np.int32(2)]
        """
        return made(transform.Distinct(self._framework))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None):
        """Return a dataset of the elements whose computation raises no error.

        Args:
            log_warning: True for a warning with each error.

        >>> from framework.data import Dataset
        >>> data = Dataset.range(3).map(lambda x: 6 // x.item()).ignore_errors()
        >>> [x.item() for x in data]
        [6, 3]
        """
        return made(transform.IgnoreErrors(self._framework, bool(log_warning)))

    def with_options(self, options: Any, name: str | None = None):
        """Return a dataset with these options merged into the existing options."""
        if not isinstance(options, options_module.Options):
            raise DTypeError(
                f"with_options: options: expected Options, got {type(options).__name__}."
            )
        return made(order.WithOptions(self._framework, options))

    def options(self):
        """Return the merged `Options` of all stages of this dataset."""
        found = options_module.Options()
        stages = list(transform.walk(self._framework))
        for stage in reversed(stages):
            if isinstance(stage, order.WithOptions):
                found = found.merge(stage.options)
        return found
