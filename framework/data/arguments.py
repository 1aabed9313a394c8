"""Check the arguments of Dataset's methods; convert between Dataset and its pipeline Stage."""

import operator

from framework.core.errors import DTypeError, InvalidArgumentError
from framework.data.stage import DatasetBase


def made(stage):
    """Return a Dataset whose last stage is `stage`."""
    # imported here because `dataset` imports this module
    from framework.data.dataset import Dataset

    return Dataset(stage)


def stage_of(dataset, name):
    """Return the last stage of a Dataset; error messages begin with `name`."""
    if not isinstance(dataset, DatasetBase):
        raise DTypeError(f"{name} must be a Dataset, got {type(dataset).__name__}.")
    return dataset._framework


def integer(method, name, value):
    """Return the argument `value` as an int, or raise an error that names it."""
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{method}: {name} must be an int, got {value!r}.") from None


def at_least(least, method, name, value):
    """Return the argument `value` as an int, or raise an error if it is less than `least`."""
    value = integer(method, name, value)
    if value < least:
        raise InvalidArgumentError(f"{method}: {name} must be at least {least}, got {value}.")
    return value


def workers(method, num_parallel_calls):
    """Check `num_parallel_calls`: None for no extra threads, an int >= 1, or AUTOTUNE."""
    if num_parallel_calls is None:
        return None
    count = at_least(-1, method, "num_parallel_calls", num_parallel_calls)
    if count == 0:
        raise InvalidArgumentError(f"{method}: num_parallel_calls must be at least 1, got 0.")
    return count
