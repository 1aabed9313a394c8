"""split_dataset: splits rows into two parts, optionally at random and stratified by class."""

import numpy as np

from framework.core import nest, random
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.data.dataset import Dataset


def split_dataset(
    dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None,
    *, stratify=None,
):  # fmt: skip
    """Return two Datasets: the first rows and the last rows of a dataset.

    Args:
        dataset: an array, a tuple, list or dict of arrays of equal length, or a Dataset (which is
            read into memory).
        left_size: the size of the first part, a number of rows or a fraction; the rest if None.
        right_size: the size of the second part, like `left_size`.
        shuffle: choose the rows of each part at random.
        seed: an int; the same seed gives the same parts.
        preferred_backend: accepted for compatibility; has no effect.
        stratify: an array with the class of each row; each part then has the class proportions of
            the whole, up to one row.

    Raises:
        ValueError: no size is given, the sizes exceed the rows, or a part is empty.
        TypeError: a size or the dataset has an unsupported type.

    >>> left, right = split_dataset(np.arange(5), left_size=0.6)
    >>> [int(x) for x in left], [int(x) for x in right]
    ([0, 1, 2], [3, 4])
    """
    rows, total = _rows(dataset)
    left, right = _sizes(left_size, right_size, total)
    order = np.arange(total)
    if shuffle:
        order = random.permutation(random.make_seed() if seed is None else seed, 0, total)
    if stratify is not None:
        classes = np.asarray(stratify)
        if classes.shape != (total,):
            raise ShapeError(
                f"split_dataset: stratify must have shape ({total},), one class per row, got shape "
                f"{classes.shape}."
            )
        order = order[np.argsort(_quantiles(classes[order]), kind="stable")]
    parts = order[:left], order[total - right :]
    if stratify is not None and not shuffle:
        parts = map(np.sort, parts)  # within each part, rows keep their original order
    return tuple(
        Dataset.from_tensor_slices(nest.map_structure(lambda a, p=part: a[p], rows))
        for part in parts
    )


def _rows(dataset):
    """Return the rows as a nest of arrays, and their number."""
    if isinstance(dataset, Dataset):
        elements = list(dataset.as_numpy_iterator())
        return nest.map_structure(lambda *column: np.stack(column), *elements), len(elements)
    if isinstance(dataset, list):
        dataset = tuple(dataset)
    if not isinstance(dataset, (tuple, dict)) and not hasattr(dataset, "__array__"):
        raise TypeError(
            "split_dataset: expected arrays, a nest of them or a Dataset, got "
            f"{type(dataset).__name__}."
        )
    rows = nest.map_structure(np.asarray, dataset)
    lengths = {len(a) for a in nest.flatten(rows)}
    if len(lengths) != 1:
        raise ShapeError(
            f"split_dataset: the arrays have different numbers of rows: {sorted(lengths)}."
        )
    return rows, lengths.pop()


def _sizes(left_size, right_size, total):
    if left_size is None and right_size is None:
        raise InvalidArgumentError(
            "split_dataset: at least one of left_size and right_size must be specified."
        )
    left, right = _count("left_size", left_size, total), _count("right_size", right_size, total)
    left = total - right if left is None else left
    right = total - left if right is None else right
    if left + right > total or not (left > 0 and right > 0):
        raise InvalidArgumentError(
            f"split_dataset: left_size={left_size!r} and right_size={right_size!r} mean {left} and "
            f"{right} rows. Both must be at least 1, and their sum at most {total}, the number of "
            "rows."
        )
    return left, right


def _count(name, size, total):
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, (int, float)):
        raise TypeError(f"split_dataset: {name} must be an int, a float or None, got {size!r}.")
    if not 0 < size <= (1 if isinstance(size, float) else total - 1):
        raise InvalidArgumentError(
            f"split_dataset: {name} must be a number of rows below {total}, or a fraction between "
            f"0 and 1, got {size!r}."
        )
    return round(size * total) if isinstance(size, float) else size


def _quantiles(classes):
    """Return each row's relative position, 0 to 1, among the rows of its class.

    If rows are sorted by this position, every leading part has the class proportions of the whole.
    """
    quantiles = np.empty(len(classes))
    for label in np.unique(classes):
        (rows,) = np.nonzero(classes == label)
        quantiles[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return quantiles
