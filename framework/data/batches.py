"""What models train on: batches (x, y, sample_weight) of tensors, whatever the data came as."""

import itertools

from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.random import make_seed, permutation
from framework.core.tensor import Tensor
from framework.data.dataset import INFINITE_CARDINALITY, Dataset
from framework.data.pydataset import PyDataset, in_order
from framework.data.rows import Rows, batches, shuffled_blocks
from framework.data.structure import array_in, map_named, names

_PARTS = ("x", "y", "sample_weight")


def as_batches(
    x, y=None, sample_weight=None, batch_size=None, shuffle=True, seed=None, steps=None,
):  # fmt: skip
    """The batches of `x`, `y` and `sample_weight`: a `_Source`.

    They are tuples (x, y, sample_weight) of tensors or nests of them, None where there is none. The
    order is a function of `seed` and the epoch's number.

    Args:
        x: arrays, tensors or rows of numbers, or a nest of them; or batches: a Dataset, an iterable
            or iterator of tuples (x, y, sample_weight), (x, y) or (x,), or an object whose
            `len()` and `[i]` give its batches, as a PyDataset's.
        y, sample_weight: as x, with as many rows; None where x brings batches.
        batch_size: rows of a batch, only for arrays; where None, as many as make `steps` batches of
            all rows, 32 where that is None too.
        shuffle: True to shuffle rows, "batch" to shuffle blocks of `batch_size` rows. Batches by
            index are shuffled as a whole; Dataset and iterables order their batches themselves.
        seed: an int; drawn from the global generator where None.
        steps: batches that are taken in an epoch, None for all.

    Raises:
        ShapeError: x, y and sample_weight have different numbers of rows.
        InvalidArgumentError: there are no data, or y is given beside batches.

    Arrays are not copied unless they are cast, and must not be written to meanwhile; floating ones
    are cast to `floatx()`, integers stay.
    """
    check_steps(steps)
    if isinstance(x, Dataset):
        kind, made = "a Dataset", IterableBatches(x)
    elif _is_arrays(x):
        return ArrayBatches(x, y, sample_weight, batch_size, shuffle, seed, steps)
    elif isinstance(x, PyDataset) or (hasattr(x, "__getitem__") and hasattr(x, "__len__")):
        kind, made = f"batches by index ({type(x).__name__})", IndexedBatches(x, shuffle, seed)
    elif hasattr(x, "__iter__"):
        kind, made = f"an iterable of batches ({type(x).__name__})", IterableBatches(x)
    else:
        raise DTypeError(f"x must be arrays, tensors, or batches of them; got {x!r}.")
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise InvalidArgumentError(
                f"{name} cannot be given beside x, which is {kind}: each of its batches brings its "
                "own as (x, y) or (x, y, sample_weight)."
            )
    return made


def check_steps(steps):
    """An error unless it is an int >= 1, or None."""
    if steps is not None and not _is_count(steps):
        raise InvalidArgumentError(
            f"The number of steps must be an int >= 1 or None, got {steps!r}."
        )


def _is_count(value):
    return not isinstance(value, bool) and hasattr(value, "__index__") and value >= 1


def _is_arrays(x):
    if isinstance(x, (str, bytes)):
        raise DTypeError(f"x must be arrays, tensors, or batches of them; got the string {x!r}.")
    return isinstance(x, (list, tuple, dict)) or hasattr(x, "shape") or hasattr(x, "__array__")


class _Source:
    """Batches of any kind, epoch by epoch.

    `epoch(number)` iterates over those of an epoch, between `begin()` and `end()`; `num_batches` is
    how many there are, None where it is not known.
    """

    once = False  # whether it goes on in the next epoch by itself: an iterator
    endless = False  # whether an epoch has no end
    read = None  # what makes a batch of an element of the data; None where they come as batches

    def begin(self):
        """An epoch begins."""

    def end(self):
        """An epoch ends, perhaps before all its batches were taken."""


class ArrayBatches(_Source):
    """Batches of arrays; the last one is smaller where they do not divide evenly."""

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
            raise InvalidArgumentError(f"x has no rows: {_shapes(parts[0])}. Give at least one.")
        if batch_size is None:
            batch_size = 32 if steps is None else -(-self.num_rows // steps)
        self.batch_size, self.shuffle = int(batch_size), shuffle
        self.num_batches = -(-self.num_rows // self.batch_size)
        self.seed = make_seed() if shuffle and seed is None else seed

    def epoch(self, number):
        """The batches of one epoch, in its own order."""
        rows = self._rows
        if self.shuffle == "batch":
            rows = rows.select(shuffled_blocks(len(rows), self.batch_size, self.seed, number))
        elif self.shuffle:
            rows = rows.select(permutation(self.seed, number, len(rows)))
        return batches([rows], self.batch_size)


class IndexedBatches(_Source):
    """Batches of an object with `len()` and `[i]`, such as a PyDataset, or of an endless one."""

    def __init__(self, source, shuffle=False, seed=None):
        self.source, self.read = source, as_batch
        self.endless = self.num_batches is None
        self.shuffle = shuffle and not self.endless
        self.seed = make_seed() if self.shuffle and seed is None else seed
        if self.num_batches == 0:
            raise InvalidArgumentError(
                f"x ({type(source).__name__}) has no batches: its len() is 0."
            )

    @property
    def num_batches(self):
        source = self.source
        return source.num_batches if hasattr(source, "num_batches") else len(source)

    def begin(self):
        _run(self.source, "on_epoch_begin")

    def end(self):
        _run(self.source, "on_epoch_end")

    def epoch(self, number):
        """The batches of one epoch."""
        count = self.num_batches
        if count is None:
            indices = itertools.count()
        else:
            indices = (
                permutation(self.seed, number, count).tolist() if self.shuffle else range(count)
            )
        for batch in in_order(self.source, indices):
            yield self.read(batch)


def _run(source, hook):
    if hasattr(source, hook):
        getattr(source, hook)()


class IterableBatches(_Source):
    """Batches of a Dataset or another iterable, begun anew each epoch.

    An iterator goes on where it was; when it has run out, further epochs are empty. An endless
    Dataset goes on as well, and begins anew with epoch 0.
    """

    def __init__(self, source):
        self.source, self.read = source, as_batch
        self.endless = (
            isinstance(source, Dataset) and source.cardinality().item() == INFINITE_CARDINALITY
        )
        self.once = hasattr(source, "__next__")
        self._going = None
        self._empty = True

    @property
    def num_batches(self):
        if isinstance(self.source, Dataset):
            n = self.source.cardinality().item()
            return n if n >= 0 else None
        return len(self.source) if hasattr(self.source, "__len__") else None

    def epoch(self, number):
        """The batches of one epoch."""
        if self.endless and (self._going is None or number == 0):
            self._going = iter(self.source)
        for batch in self._going or self.source:
            self._empty = False
            yield self.read(batch)
        if self._empty:
            raise InvalidArgumentError(f"x ({type(self.source).__name__}) gave no batch.")


def as_whole(value):
    """One element of a generator, Dataset, ... in its own structure; a list is a tuple."""
    value = tuple(value) if isinstance(value, list) else value
    return map_named(_tensor, value, "data", is_leaf)


def as_batch(value):
    """One batch of a generator, Dataset, ... as (x, y, sample_weight), None where not given."""
    parts = tuple(value) if isinstance(value, list) else value
    if not isinstance(parts, tuple):
        parts = (parts,)
    if not 1 <= len(parts) <= 3:
        raise InvalidArgumentError(
            f"A batch must be x, (x,), (x, y) or (x, y, sample_weight); got {len(parts)} parts."
        )
    return tuple(
        part if part is None or type(part) is Tensor else map_named(_tensor, part, name, is_leaf)
        for part, name in zip((*parts, None, None), _PARTS)
    )


def _array(value, name):
    """The array of `value`, floats as floatx: what Keras makes of arrays."""
    array = array_in(value, name)
    if dtypes.of_array(array).is_floating:
        array = array.astype(dtypes.floatx().np, copy=False)
    return array


def _tensor(value, name):
    return value if value is None or type(value) is Tensor else Tensor(_array(value, name))


def is_leaf(value):
    """Whether `value` is one input; a list of arrays is several, a list of numbers is one."""
    return not (isinstance(value, list) and value and all(map(_has_arrays, value)))


def _has_arrays(value):
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_has_arrays, value))
    return isinstance(value, dict) or getattr(value, "ndim", 0) > 0


def _shapes(part):
    return map_named(lambda array, _: array.shape, part, "x", is_leaf)
