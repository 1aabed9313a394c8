"""Conversion of any training data to batches (x, y, sample_weight) of tensors."""

from itertools import count as counting
from itertools import islice

from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.random import make_seed, permutation
from framework.core.tensor import Tensor
from framework.data.pydataset import PyDataset, in_order
from framework.data.row_gathering import Rows, batches, shuffled_blocks
from framework.data.sparse_rows import SparseRows
from framework.data.stage import INFINITE, DatasetBase, walk
from framework.data.structure import array_in, map_named, names
from framework.ops.sparse_tensor import SparseTensor

_PARTS = ("x", "y", "sample_weight")


def as_batches(
    x, y=None, sample_weight=None, batch_size=None, shuffle=True, seed=None, steps=None,
):  # fmt: skip
    """Return the batches of `x`, `y` and `sample_weight` as a `_Source`.

    Batches are tuples (x, y, sample_weight) of tensors or nests of tensors, with None for a missing
    part. The order of batches is a function of `seed` and the epoch's number.

    Args:
        x: arrays, tensors or lists of numbers, or a nest of them; or batches: a Dataset, an
            iterable or iterator of tuples (x, y, sample_weight), (x, y) or (x,), or an object whose
            batches are `x[i]` for i < `len(x)`, such as a PyDataset.
        y, sample_weight: as x, with the same number of rows; None if x is batches.
        batch_size: rows per batch, only for arrays; None: the size that gives `steps` batches of
            all rows, or 32 if `steps` is None.
        shuffle: True to shuffle rows, "batch" to shuffle blocks of `batch_size` rows. For a
            PyDataset, the order of batches is shuffled; Datasets and iterables keep their order.
        seed: an int; drawn from the global generator if None.
        steps: the number of batches per epoch, None for all.

    Raises:
        ShapeError: x, y and sample_weight have different numbers of rows.
        InvalidArgumentError: there are no data, or x is batches and y is given.

    Floating arrays are cast to `floatx()`, other dtypes are kept. Arrays are not copied unless they
    are cast: do not write to them during training.
    """
    check_steps(steps)
    if isinstance(x, DatasetBase):
        description, source = "a Dataset", IterableBatches(x)
    elif _is_arrays(x):
        return ArrayBatches(x, y, sample_weight, batch_size, shuffle, seed, steps)
    elif isinstance(x, PyDataset) or (hasattr(x, "__getitem__") and hasattr(x, "__len__")):
        description = f"a {type(x).__name__}, whose batches are x[i]"
        source = IndexedBatches(x, shuffle, seed)
    elif hasattr(x, "__iter__"):
        description = f"a {type(x).__name__}, which is iterated for batches"
        source = IterableBatches(x)
    else:
        raise DTypeError(f"x must be arrays, tensors, or batches of them, got {x!r}.")
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise InvalidArgumentError(
                f"{name} must be None if x is {description}. Put {name} into each batch: (x, y) or "
                "(x, y, sample_weight)."
            )
    return source


def check_steps(steps):
    """Raise an error unless `steps` is an int >= 1 or None."""
    if steps is not None and not _is_count(steps):
        raise InvalidArgumentError(
            f"The number of steps must be an int >= 1 or None, got {steps!r}."
        )


def _is_count(value):
    return not isinstance(value, bool) and hasattr(value, "__index__") and value >= 1


def _is_arrays(x):
    if isinstance(x, (str, bytes)):
        raise DTypeError(f"x must be arrays, tensors, or batches of them, got the string {x!r}.")
    return isinstance(x, (list, tuple, dict)) or hasattr(x, "shape") or hasattr(x, "__array__")


class _Source:
    """The base class of sources of batches.

    `epoch(number)` iterates over the batches of an epoch, between `begin()` and `end()`.
    `num_batches` is the number of batches in an epoch, None if unknown.
    """

    once = False  # whether the data are an iterator, which cannot restart
    endless = False  # whether an epoch has infinitely many batches
    read = None  # the function that converts an element of the data to a batch; None for arrays
    seed = None  # the seed of the order, if it is shuffled

    def state(self):
        """Return, as JSON values, what determines an epoch's batches besides its number."""
        return {"seed": self.seed}

    def set_state(self, state):
        """Restore the state that `state()` returned."""
        self.seed = state["seed"]

    def resumed(self, number, taken):
        """Return an iterator over the batches of epoch `number`, without the first `taken`."""
        return self.epoch(number, taken)

    def begin(self):
        """Called at the start of an epoch."""

    def end(self):
        """Called at the end of an epoch, even if not all its batches were taken."""


class ArrayBatches(_Source):
    """Batches of arrays; the last batch may be smaller."""

    def __init__(
        self, x, y=None, sample_weight=None, batch_size=None, shuffle=False, seed=None, steps=None,
    ):  # fmt: skip
        if batch_size is not None and not _is_count(batch_size):
            raise InvalidArgumentError(f"batch_size must be an int >= 1, got {batch_size!r}.")
        if shuffle not in (True, False, "batch"):
            raise InvalidArgumentError(f'shuffle must be True, False or "batch", got {shuffle!r}.')
        parts = tuple(
            None if part is None else map_named(_array, part, name, is_leaf)
            for part, name in zip((x, y, sample_weight), _PARTS)
        )
        labels = [label for part, name in zip(parts, _PARTS) for label in names(part, name)]
        self._rows = Rows.of(parts, labels)
        self.num_rows = len(self._rows)
        if not self.num_rows:
            raise InvalidArgumentError(
                f"x has no rows: expected at least one, got shape {_shapes(parts[0])}."
            )
        if batch_size is None:
            batch_size = 32 if steps is None else -(-self.num_rows // steps)
        self.batch_size, self.shuffle = int(batch_size), shuffle
        self.num_batches = -(-self.num_rows // self.batch_size)
        self.seed = make_seed() if shuffle and seed is None else seed

    @property
    def parts(self):
        """All rows as (x, y, sample_weight): arrays or nests of arrays, None for a missing part."""
        return self._rows.structure

    def epoch(self, number, start=0):
        """Return an iterator over the batches of epoch `number`, from batch `start`."""
        rows = self._rows
        if self.shuffle == "batch":
            rows = rows.select(shuffled_blocks(len(rows), self.batch_size, self.seed, number))
        elif self.shuffle:
            rows = rows.select(permutation(self.seed, number, len(rows)))
        if start:
            rows = rows.select(slice(start * self.batch_size, None))
        return batches([rows], self.batch_size)


class IndexedBatches(_Source):
    """Batches of an object with `[i]` and `len()`, such as a PyDataset, which may be infinite."""

    def __init__(self, source, shuffle=False, seed=None):
        self.source, self.read = source, as_batch
        self.endless = self.num_batches is None
        self.shuffle = shuffle and not self.endless
        self.seed = make_seed() if self.shuffle and seed is None else seed
        if self.num_batches == 0:
            raise InvalidArgumentError(
                f"x ({type(source).__name__}) has no batches: expected len(x) >= 1, got 0."
            )

    @property
    def num_batches(self):
        source = self.source
        return source.num_batches if hasattr(source, "num_batches") else len(source)

    def begin(self):
        _run(self.source, "on_epoch_begin")

    def end(self):
        _run(self.source, "on_epoch_end")

    def epoch(self, number, start=0):
        """Yield the batches of epoch `number`, from batch `start`."""
        count = self.num_batches
        if count is None:
            indices = counting(start)
        else:
            indices = (
                permutation(self.seed, number, count).tolist() if self.shuffle else range(count)
            )[start:]
        for batch in in_order(self.source, indices):
            yield self.read(batch)


def _run(source, hook):
    if hasattr(source, hook):
        getattr(source, hook)()


class IterableBatches(_Source):
    """Batches of a Dataset or another iterable, restarted in each epoch.

    An iterator is not restarted: each epoch takes the items that are left, if any. An infinite
    Dataset continues in the next epoch as well, and restarts at epoch 0.
    """

    def __init__(self, source):
        self.source, self.read = source, as_batch
        self.endless = isinstance(source, DatasetBase) and source.cardinality().item() == INFINITE
        self.once = hasattr(source, "__next__")
        self._going = None
        self._empty = True

    @property
    def num_batches(self):
        if isinstance(self.source, DatasetBase):
            n = self.source.cardinality().item()
            return n if n >= 0 else None
        # `len` raises a TypeError if the length of a PyTorch DataLoader or a tf.data dataset is
        # unknown
        try:
            return len(self.source) if hasattr(self.source, "__len__") else None
        except TypeError:
            return None

    def state(self):
        return {"shuffles": [[stage.seed, stage.epoch] for stage in self._shuffles()]}

    def set_state(self, state):
        for stage, found in zip(self._shuffles(), state["shuffles"], strict=True):
            stage.seed, stage.epoch = found
        self._going = None

    def _shuffles(self):
        """Return the Dataset's stages whose order or random draws change in each iteration."""
        if not isinstance(self.source, DatasetBase):
            return []
        return [stage for stage in walk(self.source._framework) if stage.epoch is not None]

    def resumed(self, number, taken):
        going = self.epoch(number)
        # `next` is called exactly `taken` times, because computing one batch more could draw random
        # numbers
        for _ in islice(going, taken):
            pass
        return going

    def epoch(self, number):
        """Yield the batches of epoch `number`."""
        if self.endless and (self._going is None or number == 0):
            self._going = iter(self.source)
        for batch in self._going or self.source:
            self._empty = False
            yield self.read(batch)
        if self._empty:
            raise InvalidArgumentError(
                f"x ({type(self.source).__name__}) has no batch: expected at least one."
            )


def as_whole(value):
    """Return an element of the data with its leaves as tensors; a list becomes a tuple."""
    value = tuple(value) if isinstance(value, list) else value
    return map_named(_tensor, value, "data", is_leaf)


def as_batch(value):
    """Return an element of the data as (x, y, sample_weight), with None for missing parts."""
    parts = tuple(value) if isinstance(value, list) else value
    if not isinstance(parts, tuple):
        parts = (parts,)
    if not 1 <= len(parts) <= 3:
        raise InvalidArgumentError(
            f"A batch must be x, (x,), (x, y) or (x, y, sample_weight), got {len(parts)} parts."
        )
    return tuple(
        part if part is None or type(part) is Tensor else map_named(_tensor, part, name, is_leaf)
        for part, name in zip((*parts, None, None), _PARTS)
    )


def _array(value, name):
    """Return `value` as an array, floats cast to floatx as in Keras; None stays None."""
    if value is None:  # a model's output without a target, or an optional input, is None
        return None
    array = array_in(value, name)
    if type(value).__name__ == "Series" and array.ndim == 1 and name[:6] != "sample":
        # as in Keras, a column of a table (a Series) becomes a matrix with one column
        array = array[:, None]
    if isinstance(array, SparseRows):
        return array.cast(dtypes.floatx().np) if array.dtype.kind == "f" else array
    if dtypes.of_array(array).is_floating:
        array = array.astype(dtypes.floatx().np, copy=False)
    return array


def _tensor(value, name):
    if value is None or type(value) in (Tensor, SparseTensor):
        return value
    array = _array(value, name)
    return array[:] if isinstance(array, SparseRows) else Tensor(array)


def is_leaf(value):
    """Return whether `value` is one input: anything but a list of arrays and Nones."""
    return not (isinstance(value, list) and _has_arrays(value))


def _has_arrays(value):
    if isinstance(value, (list, tuple)):
        parts = [part for part in value if part is not None]
        return bool(parts) and all(map(_has_arrays, parts))
    return isinstance(value, dict) or getattr(value, "ndim", 0) > 0


def _shapes(part):
    return map_named(lambda array, _: array.shape, part, "x", is_leaf)
