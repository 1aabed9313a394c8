"""Dataset: a pipeline of elements with the methods of tf.data."""

import operator
from typing import Any

import numpy as np

from framework.core import dtypes, nest, random
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data import order, transform
from framework.data.stage import INFINITE, UNKNOWN, Counter, GeneratorStage, Slices
from framework.data.structure import array_in, as_element, like, map_named, packer

AUTOTUNE = -1
INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


class Dataset:
    """A sequence of elements that can be iterated repeatedly.

    An element is a tensor, or a tuple or dict of elements. Functions passed to `map`, `filter`,
    `flat_map` and `take_while` run eagerly, once per element; a tuple's components are separate
    arguments. Arguments that in TensorFlow only affect execution (`num_parallel_calls`,
    `deterministic`, `name`, ...) are accepted and ignored: elements keep their order.

    Arrays in memory have a fast path: between `from_tensor_slices` and `batch`, the methods
    `shuffle`, `take`, `skip`, `shard`, `zip`, `enumerate`, `cache`, `prefetch` and `repeat` only
    change an array of row numbers, and a batch is one slice or one `np.take` of each array.

    >>> data = Dataset.from_tensor_slices([1, 2, 3, 4, 5]).map(lambda x: x * 10).batch(2)
    >>> [batch.tolist() for batch in data]
    [[10, 20], [30, 40], [50]]
    """

    def __init__(self, stage: Any):
        """Internal: users call the static methods below. Other attributes are a subclass's own."""
        self._framework = stage

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors: TensorLike, name: str | None = None):
        """Return a dataset with one element. Arrays are not copied; see `from_tensor_slices`."""
        return Dataset(Slices(map_named(lambda v, n: array_in(v, n)[None], tensors, "tensors")))

    @staticmethod
    def from_tensor_slices(tensors: TensorLike, name: str | None = None):
        """Return a dataset with one element per row (index of the first axis) of the arrays.

        Arrays are not copied: do not write to them while the dataset is in use. A list is
        converted to one tensor.

        Raises:
            ShapeError: the arrays have different numbers of rows.

        >>> data = Dataset.from_tensor_slices({"x": np.eye(2), "y": [0, 1]})
        >>> [(row["x"].tolist(), row["y"].item()) for row in data]
        [([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        """
        return Dataset(Slices(map_named(array_in, tensors, "tensors")))

    @staticmethod
    def from_generator(
        generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
        output_signature: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of the elements of `generator(*args)`, called once per iteration.

        Args:
            generator: a callable that returns an iterable.
            output_types: a nest of dtypes that elements are converted to.
            output_shapes: a nest of shapes that elements must fit.
            output_signature: dtypes and shapes as a nest of TensorSpec. Without types and signature
                elements keep their dtypes.
            args: arguments of `generator`, converted to NumPy arrays and scalars, strings to bytes.

        >>> def countdown(n):
        ...     yield from range(n, 0, -1)
        >>> data = Dataset.from_generator(countdown, output_types="int32", args=[3])
        >>> [element.item() for element in data]
        [3, 2, 1]
        """
        if not callable(generator):
            raise DTypeError(
                "from_generator: generator must be a callable that returns an iterable, got "
                f"{type(generator).__name__}. Wrap it: lambda: {type(generator).__name__}(...)."
            )
        arguments = [array_in(value, "args")[()] for value in args or ()]
        signature = output_signature
        if signature is None and output_types is not None:
            signature = _signature(output_types, output_shapes)
        return Dataset(GeneratorStage(lambda: generator(*arguments), signature))

    @staticmethod
    def range(*args: Any, output_type: Any = "int64", name: str | None = None):
        """Return a dataset of the integers of `range(*args)`.

        >>> list(Dataset.range(1, 10, 3).as_numpy_iterator())
        [np.int64(1), np.int64(4), np.int64(7)]
        """
        bounds = [operator.index(value) for value in args]
        return Dataset(Slices(np.arange(*bounds, dtype=dtypes.as_dtype(output_type).np)))

    @staticmethod
    def counter(
        start: TensorLike = 0, step: Any = 1, dtype: DTypeLike = "int64", name: str | None = None,
    ):  # fmt: skip
        """Return the infinite dataset of start, start + step, ..."""
        return Dataset(Counter(start, step, dtypes.as_dtype(dtype)))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None):
        """Return a dataset of tuples (or a nest) of elements, as long as the shortest dataset.

        >>> pairs = Dataset.zip(Dataset.range(2), Dataset.range(10, 20))
        >>> [(a.item(), b.item()) for a, b in pairs]
        [(0, 10), (1, 11)]
        """
        nested = datasets if datasets is not None else args[0] if len(args) == 1 else args
        nested = tuple(nested) if isinstance(nested, list) else nested
        return Dataset(order.Zip(map_named(_stage, nested, "datasets")))

    # ---- selection and order of elements ----

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None,
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
        size = _integer("shuffle", "buffer_size", buffer_size)
        size = 2**62 if size == UNKNOWN else _at_least(1, "shuffle", "buffer_size", size)
        seed = random.make_seed() if seed is None else _integer("shuffle", "seed", seed)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return Dataset(order.Shuffle(self._framework, size, seed, reshuffle))

    def repeat(self, count: Any = None, name: str | None = None):
        """Return a dataset of the elements repeated `count` times, infinitely if None or -1."""
        count = -1 if count is None else _integer("repeat", "count", count)
        return Dataset(order.Repeat(self._framework, None if count < 0 else count))

    def take(self, count: Any, name: str | None = None):
        """Return a dataset of the first `count` elements, of all if -1."""
        count = _integer("take", "count", count)
        return Dataset(order.Slice(self._framework, 0, None if count < 0 else count))

    def skip(self, count: Any, name: str | None = None):
        """Return a dataset without the first `count` elements, an empty one if -1."""
        count = _integer("skip", "count", count)
        return Dataset(order.Slice(self._framework, max(count, 0), 0 if count < 0 else None))

    def shard(self, num_shards: Any, index: Any, name: str | None = None):
        """Return a dataset of the elements whose position modulo `num_shards` is `index`."""
        num_shards = _at_least(1, "shard", "num_shards", num_shards)
        index = _at_least(0, "shard", "index", index)
        if index >= num_shards:
            raise InvalidArgumentError(
                f"shard: index must be below num_shards={num_shards}, got {index}."
            )
        return Dataset(order.Slice(self._framework, index, None, num_shards))

    def concatenate(self, dataset: Any, name: str | None = None):
        """Return a dataset of these elements, then those of `dataset`.

        Raises:
            DTypeError: the datasets' elements differ in structure or dtype.
        """
        stage = order.Concatenation(self._framework, _stage(dataset, "concatenate: dataset"))
        if not stage.python:
            dtype, other = (nest.map_structure(lambda s: s.dtype, p.spec()) for p in stage.parents)
            if dtype != other:
                raise DTypeError(
                    f"concatenate: dataset: expected elements of dtype {dtype}, got {other}."
                )
        return Dataset(stage)

    def enumerate(self, start: TensorLike = 0, name: str | None = None):
        """Return a dataset of pairs (int64 counter, element)."""
        start, stage = operator.index(start), self._framework
        if stage.indexed:  # a range is indexed, too, so zipping with one keeps the fast path
            return Dataset.zip(Dataset.range(start, start + stage.length()), self)
        return Dataset.zip(Dataset.counter(start), self)

    def cache(self, filename: Any = "", name: str | None = None):
        """Return a dataset that keeps the elements of its first complete iteration in memory."""
        if filename:
            raise InvalidArgumentError(
                "cache: filename must be empty, because elements are kept in memory only, got "
                f"{filename!r}."
            )
        return Dataset(order.Cache(self._framework))

    def prefetch(self, buffer_size: Any, name: str | None = None):
        """Return a dataset whose elements a background thread computes ahead.

        It has an effect only if user code (`map`, a generator, ...) computes elements: a batch of
        arrays takes less time than passing it between threads. If a mapped function draws from
        the global random generator, the order of draws in the program depends on timing; use a
        separate seed or generator in that function.

        Args:
            buffer_size: the number of elements computed ahead; AUTOTUNE means 2, 0 none.
        """
        size = _at_least(AUTOTUNE, "prefetch", "buffer_size", buffer_size)
        return Dataset(order.Prefetch(self._framework, 2 if size == AUTOTUNE else size))

    # ---- functions of elements ----

    def map(
        self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None,
        synchronous: Any = None, use_unbounded_threadpool: bool = False, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of `map_func(element)`: a tensor, or a tuple or dict of tensors."""
        return Dataset(transform.Map(self._framework, map_func))

    def filter(self, predicate: Any, name: str | None = None):
        """Return a dataset of the elements for which `predicate` returns True (a bool tensor)."""
        return Dataset(transform.Filter(self._framework, predicate))

    def take_while(self, predicate: Any, name: str | None = None):
        """Return a dataset of the elements before the first for which `predicate` is False."""
        return Dataset(transform.Filter(self._framework, predicate, ends=True))

    def flat_map(self, map_func: Any, name: str | None = None):
        """Return a dataset of the elements of all datasets `map_func(element)`, concatenated."""
        return Dataset(transform.FlatMap(self._framework, map_func))

    def apply(self, transformation_func: Any):
        """Return `transformation_func(self)`, which must be a Dataset."""
        result = transformation_func(self)
        _stage(result, "apply: the result of transformation_func")
        return result

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None):
        """Return the final state after `state = reduce_func(state, element)` for each element.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).item()
        10
        """
        state = as_element(initial_state, "initial_state")
        for element in self:
            state = as_element(reduce_func(state, element), "reduce_func's result")
        return state

    # ---- batches ----

    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
        deterministic: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of batches: `batch_size` elements stacked along a new first axis.

        Args:
            batch_size: an int.
            drop_remainder: True to drop a smaller last batch.

        Raises:
            ShapeError: elements of one batch have different shapes or dtypes.
        """
        size = _at_least(1, "batch", "batch_size", batch_size)
        return Dataset(transform.Batch(self._framework, size, bool(drop_remainder)))

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
        drop_remainder: bool = False, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of batches of elements padded at their ends to a common shape.

        Args:
            batch_size: an int.
            padded_shapes: a nest of shapes in the structure of an element; None or -1 in a shape,
                and None for a shape, mean the largest size of the batch.
            padding_values: one value, or a nest of values like an element; zeros if None.
            drop_remainder: True to drop a smaller last batch.
        """
        size = _at_least(1, "padded_batch", "batch_size", batch_size)
        return Dataset(
            transform.PaddedBatch(
                self._framework, size, padded_shapes, padding_values, bool(drop_remainder)
            )
        )

    def unbatch(self, name: str | None = None):
        """Return a dataset of the rows of each element."""
        return Dataset(transform.Unbatch(self._framework))

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

        >>> windows = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.tolist() for w in windows.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        size = _at_least(1, "window", "size", size)
        shift = size if shift is None else _at_least(1, "window", "shift", shift)
        stride = _at_least(1, "window", "stride", stride)
        how = size, shift, stride, bool(drop_remainder)
        return Dataset(transform.Window(self._framework, *how, Dataset))

    # ---- properties and iteration ----

    @property
    def element_spec(self):
        """The nest of TensorSpecs of the elements; runs mapped functions on the first element."""
        return self._framework.spec()

    def cardinality(self):
        """Return the number of elements (0-d int64), INFINITE_ or UNKNOWN_CARDINALITY."""
        return Tensor(np.array(self._framework.length(), np.int64))

    def __len__(self):
        n = self._framework.length()
        if n < 0:
            what = "infinite" if n == INFINITE else "unknown until it has been iterated over"
            raise TypeError(f"len(): the dataset's length is {what}. Call cardinality() instead.")
        return n

    def __bool__(self):
        return True

    def __iter__(self):
        return self._framework.iterate()

    def as_numpy_iterator(self):
        """Return an iterator over the elements with copied NumPy arrays instead of tensors."""
        return (nest.map_structure(lambda t: t.numpy(), element) for element in self)

    def get_single_element(self, name: str | None = None):
        """Return the only element; raise InvalidArgumentError if there are none or several."""
        elements = [element for element, _ in zip(self, range(2))]
        if len(elements) != 1:
            count = "none" if not elements else "more than one"
            raise InvalidArgumentError(f"get_single_element: expected one element, got {count}.")
        return elements[0]

    def __repr__(self):
        name = type(self._framework).__name__
        spec = "" if self._framework.python else f" element_spec={self.element_spec}"
        return f"<{name}Dataset{spec}>"

    def _repr_html_(self):
        from framework.core import html

        count = self._framework.length()
        spec = [] if self._framework.python else nest.flatten(self.element_spec)
        rows = [(i, tuple(s.shape), s.dtype.name) for i, s in enumerate(spec)]
        title = f"{type(self._framework).__name__}Dataset of {_count(count)} elements"
        return html.table(title, ("part", "shape", "dtype"), rows)


# ---- arguments -----------------------------------------------------------------------------------


def _count(length):
    """Return the number of elements as text; negative lengths are those of `cardinality`."""
    return {-1: "infinitely many", -2: "an unknown number of"}.get(length, f"{length:,}")


def _stage(dataset, name):
    if not isinstance(dataset, Dataset):
        raise DTypeError(f"{name} must be a Dataset, got {type(dataset).__name__}.")
    return dataset._framework


def _integer(method, name, value):
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{method}: {name} must be an int, got {value!r}.") from None


def _at_least(least, method, name, value):
    value = _integer(method, name, value)
    if value < least:
        raise InvalidArgumentError(f"{method}: {name} must be at least {least}, got {value}.")
    return value


def _signature(output_types, output_shapes):
    types = nest.flatten(output_types)
    specs = map(TensorSpec, like(output_types, output_shapes), types)
    return packer(output_types)(list(specs))
