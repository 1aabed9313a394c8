"""The validation data of `fit`: rows split off the training arrays, or `validation_data`."""

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.data.batches import as_batches
from framework.training.batch_plans import unpack
from framework.training.usage_warnings import check_unseen_classes


def split_off(share, x, y, sample_weight):
    """Split off the last rows, a fraction `share` of all, for validation.

    Returns:
        (x, y, sample_weight, (x, y, sample_weight) of the rows split off).
    """
    if isinstance(share, (bool, str)) or not hasattr(share, "__float__") or not 0 < share < 1:
        raise InvalidArgumentError(f"fit: validation_split must lie in (0, 1), got {share!r}.")
    leaves = [leaf for leaf in nest.flatten((x, y)) if leaf is not None]
    if not all(hasattr(leaf, "shape") or isinstance(leaf, (int, float)) for leaf in leaves):
        raise InvalidArgumentError(
            "fit: validation_split works only if x and y are arrays. Pass validation_data=... "
            "instead."
        )
    x, y, sample_weight = (_rows_as_arrays(part) for part in (x, y, sample_weight))
    lengths = {len(a) for a in nest.flatten((x, y, sample_weight)) if a is not None}
    if len(lengths) > 1:
        raise InvalidArgumentError(
            f"fit: x, y and sample_weight have different numbers of rows: {sorted(lengths)}."
        )
    (rows,) = lengths
    first = int(np.floor(rows * (1 - share)))
    if first in (0, rows):
        raise InvalidArgumentError(
            f"fit: validation_split={share} of {rows} rows leaves no rows to "
            f"{'train' if first == 0 else 'validate'} on. Pass another fraction or more rows."
        )

    def part(structure, rows_of_it):
        return nest.map_structure(lambda a: None if a is None else a[rows_of_it], structure)

    head, tail = slice(None, first), slice(first, None)
    held_out = tuple(part(s, tail) for s in (x, y, sample_weight))
    if y is not None and not nest.is_nested(y):
        check_unseen_classes(y[head], y[tail])
    return *(part(s, head) for s in (x, y, sample_weight)), held_out


def _rows_as_arrays(structure):
    """Return the nest with its leaves as arrays; a list of numbers or rows becomes one array."""
    if structure is None:
        return None
    if isinstance(structure, list) and not any(hasattr(part, "shape") for part in structure):
        return np.asarray(structure)
    return nest.map_structure(lambda a: None if a is None else np.asarray(a), structure)


def validation_batches(data, batch_size, steps):
    """Return the batches of `validation_data`.

    Args:
        data: (x, y), (x, y, sample_weight), a Dataset, or an iterable of batches.
        batch_size, steps: as in `as_batches`.
    """
    if isinstance(data, (tuple, list)):
        if not 1 <= len(data) <= 3:
            raise InvalidArgumentError(
                "fit: validation_data must be (x, y), (x, y, sample_weight) or a Dataset, got a "
                f"{type(data).__name__} of {len(data)}."
            )
        data = unpack(data)
    elif isinstance(data, (int, float, str)):
        raise InvalidArgumentError(
            "fit: validation_data must be (x, y), (x, y, sample_weight) or a Dataset, got "
            f"{data!r}."
        )
    else:
        data = data, None, None
    return as_batches(*data, batch_size, False, steps=steps)
