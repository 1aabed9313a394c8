"""split_dataset: rows in two parts, at random, and with classes in proportion, on request."""

import numpy as np

from framework.core import nest, random
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.data.dataset import Dataset


def split_dataset(
    dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None,
    *, stratify=None,
):  # fmt: skip
    """Two Datasets of a dataset's rows, the first ones and the last ones.

    Args:
        dataset: an array, a tuple, list or dict of arrays with as many rows each, or a Dataset
            (whose elements are then all in memory).
        left_size: of the first part, a number of rows or a share; what the other leaves if None.
        right_size: of the second, in the same way.
        shuffle: take rows at random.
        seed: an int; the same seed gives the same parts.
        preferred_backend: accepted; there is one.
        stratify: an array with the class of each row: each part then has each class in the
            proportion of the whole, to a row.

    Raises:
        ValueError: no size, sizes that do not fit the rows, a part without rows.
        TypeError: a size or a dataset of another type.

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
                f"split_dataset: stratify must have one class for each of the {total} rows, got "
                f"shape {classes.shape}."
            )
        order = order[np.argsort(_places(classes[order]), kind="stable")]
    parts = order[:left], order[total - right :]
    if stratify is not None and not shuffle:
        parts = map(np.sort, parts)  # in the order they had
    return tuple(
        Dataset.from_tensor_slices(nest.map_structure(lambda a, p=part: a[p], rows))
        for part in parts
    )


def _rows(dataset):
    """The rows as a nest of arrays, and how many there are."""
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
            f"split_dataset: of {total} rows, left_size={left_size!r} and right_size="
            f"{right_size!r} ask for {left} and {right}: there must be enough, and some for each."
        )
    return left, right


def _count(name, size, total):
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, (int, float)):
        raise TypeError(f"split_dataset: {name} must be an int, a float or None, got {size!r}.")
    if not 0 < size <= (1 if isinstance(size, float) else total - 1):
        raise InvalidArgumentError(
            f"split_dataset: {name} must be a number of rows below {total}, or a share between 0 "
            f"and 1, got {size!r}."
        )
    return round(size * total) if isinstance(size, float) else size


def _places(classes):
    """For each row where it stands among those of its class, from 0 to 1: any first part of the
    rows sorted by it holds each class in its proportion."""
    places = np.empty(len(classes))
    for each in np.unique(classes):
        (where,) = np.nonzero(classes == each)
        places[where] = (np.arange(len(where)) + 0.5) / len(where)
    return places
