"""Dataset: a pipeline of elements with the methods of tf.data."""

import operator
from typing import Any

import numpy as np

from framework.core import dtypes, nest, random
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.errors import DTypeError, InvalidArgumentError, OutOfRangeError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data import mixing, order
from framework.data.arguments import integer, stage_of
from framework.data.batching_methods import BatchingMethods
from framework.data.computing_methods import ComputingMethods
from framework.data.iterator import Iterator, NumpyIterator
from framework.data.ordering_methods import OrderingMethods
from framework.data.parallel import AUTOTUNE  # noqa: F401 (a public name)
from framework.data.records import matching
from framework.data.stage import INFINITE, UNKNOWN, Counter, DatasetBase, GeneratorStage, Slices
from framework.data.storing_methods import StoringMethods
from framework.data.structure import array_in, like, map_named, packer, rows_in

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


class Dataset(OrderingMethods, ComputingMethods, BatchingMethods, StoringMethods, DatasetBase):
    """A sequence of elements that can be iterated repeatedly.

    An element is a tensor, or a tuple or dict of elements. Functions passed to `map`, `filter`,
    `flat_map` and `take_while` run as if eagerly, once per element; a tuple's components are
    separate arguments. With `num_parallel_calls` they run on threads, and elements keep their order
    unless `deterministic=False`. `iter(dataset)` is an `Iterator`, whose position can be saved.

    Arrays in memory have a fast path: between `from_tensor_slices` and `batch`, the methods
    `shuffle`, `take`, `skip`, `shard`, `zip`, `enumerate`, `cache`, `prefetch` and `repeat` only
    change an array of row indices, and a batch is one slice or one `np.take` of each array. A
    mapped function of ops that are elementwise or only move elements is called once per batch.

    >>> data = Dataset.from_tensor_slices([1, 2, 3, 4, 5]).map(lambda x: x * 10).batch(2)
    >>> [batch.tolist() for batch in data]
    [[10, 20], [30, 40], [50]]
    """

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors: TensorLike, name: str | None = None):
        """Return a dataset with one element. Arrays are not copied; see `from_tensor_slices`."""
        return Dataset(Slices(map_named(lambda v, n: array_in(v, n)[None], tensors, "tensors")))

    @staticmethod
    def from_tensor_slices(tensors: TensorLike, name: str | None = None):
        """Return a dataset with one element per row (index of the first axis) of the arrays.

        Arrays are not copied: do not write to them while the dataset is in use. A list is
        converted to one tensor. Rows of an h5py Dataset are read when they are needed.

        Raises:
            ShapeError: the arrays have different numbers of rows.

        >>> data = Dataset.from_tensor_slices({"x": np.eye(2), "y": [0, 1]})
        >>> [(row["x"].tolist(), row["y"].item()) for row in data]
        [([1.0, 0.0], 0), ([0.0, 1.0], 1)]
        """
        return Dataset(Slices(map_named(rows_in, tensors, "tensors")))

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
        """Return the infinite dataset of the integers start, start + step, ..."""
        return Dataset(Counter(_number(start), _number(step), dtypes.as_dtype(dtype)))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None):
        """Return a dataset of tuples (or a nest) of elements, as long as the shortest dataset.

        >>> pairs = Dataset.zip(Dataset.range(2), Dataset.range(10, 20))
        >>> [(a.item(), b.item()) for a, b in pairs]
        [(0, 10), (1, 11)]
        """
        nested = datasets if datasets is not None else args[0] if len(args) == 1 else args
        nested = tuple(nested) if isinstance(nested, list) else nested
        return Dataset(order.Zip(map_named(stage_of, nested, "datasets")))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return the infinite dataset of random int64 numbers from 0 to 2**32 - 1.

        Args:
            seed: an int; drawn from the global generator if None.
            rerandomize_each_iteration: True for other numbers in each iteration.
        """
        seed = random.make_seed() if seed is None else integer("random", "seed", seed)
        return Dataset(mixing.RandomNumbers(seed, bool(rerandomize_each_iteration)))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of the paths of files that match patterns such as "data/*.csv".

        Args:
            file_pattern: a pattern, or a list of patterns.
            shuffle: False for sorted paths; otherwise a new order in each iteration.
            seed: the seed of the order.

        Raises:
            InvalidArgumentError: no file matches.
        """
        paths = matching(file_pattern)
        if not paths:
            raise InvalidArgumentError(
                f"list_files: file_pattern: no file matches {file_pattern!r}."
            )
        dataset = Dataset.from_tensor_slices(np.array(paths, object))
        if shuffle or shuffle is None:
            return dataset.shuffle(len(paths), seed=seed)
        return dataset

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ):
        """Return a dataset that takes each element from the dataset that `choice_dataset` selects.

        Args:
            datasets: a list of Datasets of equal structure.
            choice_dataset: a Dataset of ints, positions in `datasets`.
            stop_on_empty_dataset: True to end when the chosen dataset has no more elements, False
                to skip it.

        >>> tens, ones = Dataset.range(10, 60, 10), Dataset.range(5)
        >>> choice = Dataset.from_tensor_slices(np.array([0, 1, 1, 0]))
        >>> [x.item() for x in Dataset.choose_from_datasets([tens, ones], choice)]
        [10, 0, 1, 20]
        """
        stages = _stages(datasets, "choose_from_datasets")
        choice = stage_of(choice_dataset, "choose_from_datasets: choice_dataset")
        return Dataset(mixing.Choice(choice, stages, bool(stop_on_empty_dataset)))

    @staticmethod
    def sample_from_datasets(
        datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: Any = None,
    ):  # fmt: skip
        """Return a dataset that takes each element from a dataset chosen at random.

        Args:
            datasets: a list of Datasets of equal structure.
            weights: the relative probability of each dataset; equal if None. A Dataset yields
                new weights for each element.
            seed: an int; drawn from the global generator if None.
            stop_on_empty_dataset: True to end when the chosen dataset has no more elements, False
                to choose again.
            rerandomize_each_iteration: False for the same choices in each iteration.
        """
        name = "sample_from_datasets"
        stages = _stages(datasets, name)
        if weights is None:
            weights = np.ones(len(stages))
        if isinstance(weights, Dataset):
            weights = weights._framework
        else:
            weights = np.asarray(array_in(weights, f"{name}: weights"), np.float64)
            if weights.shape != (len(stages),) or (weights < 0).any() or not weights.any():
                raise InvalidArgumentError(
                    f"{name}: weights: expected {len(stages)} numbers, at least 0 and not all 0, "
                    f"got {weights!r}."
                )
            stages = [stage for stage, weight in zip(stages, weights) if weight]
            weights = weights[weights > 0]
        seed = random.make_seed() if seed is None else integer(name, "seed", seed)
        again = rerandomize_each_iteration is None or bool(rerandomize_each_iteration)
        if len(stages) == 1:
            return Dataset(stages[0])
        choice = mixing.SampledNumbers(weights, seed, again)
        return Dataset(mixing.Choice(choice, stages, bool(stop_on_empty_dataset)))

    # ---- properties and iteration ----

    @property
    def element_spec(self):
        """The nest of TensorSpecs of the elements.

        Reading it calls mapped functions with KerasTensors, or with the first element if they need
        values.
        """
        return self._framework.spec()

    def cardinality(self):
        """Return the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY, as int64."""
        return Tensor(np.array(self._framework.length(), np.int64))

    def __len__(self):
        n = self._framework.length()
        if n < 0:
            what = "infinite" if n == INFINITE else "unknown until it has been iterated over"
            raise TypeError(f"len(): the dataset's length is {what}. Call cardinality() instead.")
        return n

    def __bool__(self):
        return True

    def __getitem__(self, index):
        """Return the element at an index without computing those before it.

        The stages must have random access: arrays, HDF5 and NumPy files, `map`, `batch`, `zip`,
        `take`, `skip` and `shard`.

        >>> data = Dataset.range(10).map(lambda x: x * x).batch(4)
        >>> data[1].tolist(), data[-1].tolist()
        ([16, 25, 36, 49], [64, 81])
        """
        stage, number = self._framework, integer("Dataset[i]", "i", index)
        if not stage.accessible:
            raise InvalidArgumentError(
                f"Dataset[i]: {self!r} has no random access: one of its stages is random, or can "
                "only be read in sequence. Iterate over it."
            )
        length = stage.length()
        if not -length <= number < length:
            raise OutOfRangeError(f"Dataset[i]: expected an index below {length}, got {number}.")
        return next(stage.after(number % length))

    def __iter__(self):
        return Iterator(self._framework)

    def as_numpy_iterator(self):
        """Return an iterator over the elements with copied NumPy arrays instead of tensors."""
        return NumpyIterator(self)

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


def _stages(datasets, name):
    stages = [stage_of(each, f"{name}: datasets[{i}]") for i, each in enumerate(datasets)]
    if not stages:
        raise InvalidArgumentError(f"{name}: datasets: expected at least one Dataset, got none.")
    return stages


def _count(length):
    """Return a number of elements as text for a message; INFINITE is -1, UNKNOWN is -2."""
    return {-1: "infinitely many", -2: "an unknown number of"}.get(length, f"{length:,}")


def _number(value):
    return value.item() if hasattr(value, "item") else value


def _signature(output_types, output_shapes):
    types = nest.flatten(output_types)
    shapes = like(output_types, output_shapes, "from_generator: output_shapes")
    specs = map(TensorSpec, shapes, types)
    return packer(output_types)(list(specs))
