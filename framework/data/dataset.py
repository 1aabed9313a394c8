"""Dataset: a pipeline of elements, with tf.data's methods."""

import operator
from typing import Any

import numpy as np

from framework.core import dtypes, nest, random
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.spec import TensorSpec
from framework.core.tensor import Tensor
from framework.data import order, transform
from framework.data.stage import INFINITE, UNKNOWN, Counter, Generator, Slices
from framework.data.structure import array_in, as_element, like, map_named, packer

AUTOTUNE = -1
INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


class Dataset:
    """A sequence of elements that can be passed over again and again.

    An element is a tensor, or a tuple or dict of elements. Functions given to `map`, `filter` and
    their like run eagerly, one call per element; the components of a tuple are their arguments.
    Arguments that only steer how TensorFlow runs a pipeline (`num_parallel_calls`,
    `deterministic`, `name`, ...) are accepted and change nothing: results come in order.

    Arrays in memory take a fast path: between `from_tensor_slices` and `batch`, the stages
    `shuffle`, `take`, `skip`, `shard`, `zip`, `enumerate`, `cache`, `prefetch` and `repeat` only
    order row numbers, and a batch is one slice or one `np.take` of each array.

    >>> data = Dataset.from_tensor_slices([1, 2, 3, 4, 5]).map(lambda x: x * 10).batch(2)
    >>> [batch.tolist() for batch in data]
    [[10, 20], [30, 40], [50]]
    """

    def __init__(self, stage: Any):
        """Made by the static methods below, not by users."""
        self._stage = stage

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors, name=None):
        """A dataset of one element. Arrays are not copied; see `from_tensor_slices`."""
        return Dataset(Slices(map_named(lambda v, n: array_in(v, n)[None], tensors, "tensors")))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """One element for each row (index into the first dimension) of the arrays.

        Nothing is copied: arrays given must not be written to while the dataset is in use. A list
        is converted to one tensor.

        Raises:
            ShapeError: the arrays have different numbers of rows.

        >>> data = Dataset.from_tensor_slices({"x": np.eye(2), "y": [0, 1]})
        >>> [(row["x"].tolist(), row["y"].item()) for row in data]
        [([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        """
        return Dataset(Slices(map_named(array_in, tensors, "tensors")))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None,
                       output_signature=None, name=None):  # fmt: skip
        """The elements that `generator(*args)` gives; it is called anew for each pass.

        Args:
            generator: a callable that returns an iterable.
            output_types: a nest of dtypes, and
            output_shapes: a nest of shapes, what elements are converted to and must fit; or
            output_signature: both as a nest of TensorSpec. Without any, elements are taken as they
                come.
            args: values given to `generator`, as NumPy arrays and scalars, strings as bytes.

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
        given = [array_in(value, "args")[()] for value in args or ()]
        signature = output_signature
        if signature is None and output_types is not None:
            signature = _signature(output_types, output_shapes)
        return Dataset(Generator(lambda: generator(*given), signature))

    @staticmethod
    def range(*args, output_type="int64", name=None):
        """The integers of `range(*args)`, as int64 tensors.

        >>> list(Dataset.range(1, 10, 3).as_numpy_iterator())
        [np.int64(1), np.int64(4), np.int64(7)]
        """
        bounds = [operator.index(value) for value in args]
        return Dataset(Slices(np.arange(*bounds, dtype=dtypes.as_dtype(output_type).np)))

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """start, start + step, ... without end."""
        return Dataset(Counter(start, step, dtypes.as_dtype(dtype)))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, until the shortest ends.

        >>> pairs = Dataset.zip(Dataset.range(2), Dataset.range(10, 20))
        >>> [(a.item(), b.item()) for a, b in pairs]
        [(0, 10), (1, 11)]
        """
        found = datasets if datasets is not None else args[0] if len(args) == 1 else args
        found = tuple(found) if isinstance(found, list) else found
        return Dataset(order.Zip(map_named(_stage, found, "datasets")))

    # ---- which elements, in which order ----

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """The elements in random order, another one each pass.

        Up to `buffer_size` elements wait in a buffer; the next one given is drawn from it and the
        next one of the source takes its place. A buffer that holds all elements shuffles perfectly.
        The order is a function of the seed and of how many passes were begun before.

        Args:
            buffer_size: an int; UNKNOWN_CARDINALITY for all elements.
            seed: an int; drawn from the global generator, now, where None.
            reshuffle_each_iteration: False for the same order each pass.
        """
        size = _integer("shuffle", "buffer_size", buffer_size)
        size = 2**62 if size == UNKNOWN else _at_least(1, "shuffle", "buffer_size", size)
        seed = random.make_seed() if seed is None else _integer("shuffle", "seed", seed)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return Dataset(order.Shuffle(self._stage, size, seed, reshuffle))

    def repeat(self, count=None, name=None):
        """`count` passes over the elements, endlessly many where None or -1."""
        count = -1 if count is None else _integer("repeat", "count", count)
        return Dataset(order.Repeat(self._stage, None if count < 0 else count))

    def take(self, count, name=None):
        """The first `count` elements, all where -1."""
        count = _integer("take", "count", count)
        return Dataset(order.Slice(self._stage, 0, None if count < 0 else count))

    def skip(self, count, name=None):
        """The elements after the first `count`, none where -1."""
        count = _integer("skip", "count", count)
        return Dataset(order.Slice(self._stage, max(count, 0), 0 if count < 0 else None))

    def shard(self, num_shards, index, name=None):
        """The elements whose position modulo `num_shards` is `index`."""
        num_shards = _at_least(1, "shard", "num_shards", num_shards)
        index = _at_least(0, "shard", "index", index)
        if index >= num_shards:
            raise InvalidArgumentError(
                f"shard: index must be below num_shards={num_shards}, got {index}."
            )
        return Dataset(order.Slice(self._stage, index, None, num_shards))

    def concatenate(self, dataset, name=None):
        """These elements, then those of `dataset`.

        Raises:
            DTypeError: their elements are known to differ in structure or dtype.
        """
        made = order.Concatenate(self._stage, _stage(dataset, "concatenate: dataset"))
        if not made.python:
            kinds = [nest.map_structure(lambda s: s.dtype, p.spec()) for p in made.parents]
            if kinds[0] != kinds[1]:
                raise DTypeError(f"concatenate: elements differ: {kinds[0]} and {kinds[1]}.")
        return Dataset(made)

    def enumerate(self, start=0, name=None):
        """Pairs of a counter (int64) and the element."""
        start, stage = operator.index(start), self._stage
        if stage.indexed:  # numbers that are rows of an array too
            return Dataset.zip(Dataset.range(start, start + stage.length()), self)
        return Dataset.zip(Dataset.counter(start), self)

    def cache(self, filename="", name=None):
        """The elements of the first complete pass, kept in memory for the next ones."""
        if filename:
            raise InvalidArgumentError(
                f"cache: elements are kept in memory only; leave filename empty, got {filename!r}."
            )
        return Dataset(order.Cache(self._stage))

    def prefetch(self, buffer_size, name=None):
        """Elements made ahead by a thread, where Python code makes them (`map`, a generator, ...).

        Behind arrays in memory alone it does nothing: a batch of them takes less time than handing
        it from thread to thread. A mapped function that draws random numbers from the global
        generator shares it with the program's other draws, whose order then depends on timing;
        give it a seed or generator of its own.

        Args:
            buffer_size: how many elements may wait; 2 where AUTOTUNE, none ahead where 0.
        """
        size = _at_least(AUTOTUNE, "prefetch", "buffer_size", buffer_size)
        return Dataset(order.Prefetch(self._stage, 2 if size == AUTOTUNE else size))

    # ---- functions of elements ----

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):  # fmt: skip
        """`map_func` of each element: a tensor, or a tuple or dict of tensors."""
        return Dataset(transform.Map(self._stage, map_func))

    def filter(self, predicate, name=None):
        """The elements for which `predicate` gives True, as one bool tensor."""
        return Dataset(transform.Filter(self._stage, predicate))

    def take_while(self, predicate, name=None):
        """The elements before the first one for which `predicate` gives False."""
        return Dataset(transform.Filter(self._stage, predicate, ends=True))

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that `map_func` gives, one dataset after the other."""
        return Dataset(transform.FlatMap(self._stage, map_func))

    def apply(self, transformation_func):
        """`transformation_func` of this dataset, which must be a dataset as well."""
        made = transformation_func(self)
        _stage(made, "apply: the result of transformation_func")
        return made

    def reduce(self, initial_state, reduce_func, name=None):
        """The last state after `state = reduce_func(state, element)` for each element.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).item()
        10
        """
        state = as_element(initial_state, "initial_state")
        for element in self:
            state = as_element(reduce_func(state, element), "reduce_func's result")
        return state

    # ---- batches ----

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None,
              name=None):  # fmt: skip
        """`batch_size` elements stacked into one, along a new first dimension.

        Args:
            batch_size: an int.
            drop_remainder: True to leave out a smaller last batch.

        Raises:
            ShapeError: elements of one batch have different shapes or dtypes.
        """
        size = _at_least(1, "batch", "batch_size", batch_size)
        return Dataset(transform.Batch(self._stage, size, bool(drop_remainder)))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None,
                     drop_remainder=False, name=None):  # fmt: skip
        """As `batch`, elements first padded at their ends to a common shape.

        Args:
            batch_size: an int.
            padded_shapes: a nest of shapes like an element; None or -1 in them, and None for all,
                means the longest of a batch.
            padding_values: one value, or a nest of values like an element; zeros where None.
            drop_remainder: True to leave out a smaller last batch.
        """
        size = _at_least(1, "padded_batch", "batch_size", batch_size)
        return Dataset(
            transform.PaddedBatch(
                self._stage, size, padded_shapes, padding_values, bool(drop_remainder)
            )
        )

    def unbatch(self, name=None):
        """The rows of each element, as elements."""
        return Dataset(transform.Unbatch(self._stage))

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements each, in an element's structure.

        Args:
            size: an int.
            shift: from the begin of one window to the next; `size` where None.
            stride: from one element of a window to the next.
            drop_remainder: True to leave out windows of fewer elements.

        >>> windows = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [w.tolist() for w in windows.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        size = _at_least(1, "window", "size", size)
        shift = size if shift is None else _at_least(1, "window", "shift", shift)
        stride = _at_least(1, "window", "stride", stride)
        stage = transform.Window(self._stage, size, shift, stride, bool(drop_remainder), Dataset)
        return Dataset(stage)

    # ---- what it is, what is in it ----

    @property
    def element_spec(self):
        """The nest of TensorSpecs that elements fit; mapped functions are tried on the first."""
        return self._stage.spec()

    def cardinality(self):
        """The number of elements as an int64 tensor; INFINITE_ or UNKNOWN_CARDINALITY."""
        return Tensor(np.array(self._stage.length(), np.int64))

    def __len__(self):
        n = self._stage.length()
        if n < 0:
            what = "infinite" if n == INFINITE else "unknown until it has been iterated over"
            raise TypeError(
                f"The dataset's length is {what}; cardinality() says which, len() cannot."
            )
        return n

    def __bool__(self):
        return True

    def __iter__(self):
        return self._stage.iterate()

    def as_numpy_iterator(self):
        """The elements with NumPy arrays (copies) in place of tensors."""
        return (nest.map_structure(lambda t: t.numpy(), element) for element in self)

    def get_single_element(self, name=None):
        """The only element; InvalidArgumentError where there are none or more."""
        found = [element for element, _ in zip(self, range(2))]
        if len(found) != 1:
            count = "no" if not found else "more than one"
            raise InvalidArgumentError(f"get_single_element: the dataset has {count} element.")
        return found[0]

    def __repr__(self):
        kind = type(self._stage).__name__
        spec = "" if self._stage.python else f" element_spec={self.element_spec}"
        return f"<{kind}Dataset{spec}>"


# ---- arguments -----------------------------------------------------------------------------------


def _stage(dataset, name):
    if not isinstance(dataset, Dataset):
        raise DTypeError(f"{name} must be a Dataset, got {type(dataset).__name__}.")
    return dataset._stage


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
