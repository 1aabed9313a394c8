"""Checks of the arguments of the callback `TensorBoard`."""

from framework.core.errors import InvalidArgumentError


def frequency(value, name):
    """Return the number of epochs between two summaries; 0 and None mean never."""
    if value is None or value is False:
        return 0
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
        raise InvalidArgumentError(f"TensorBoard: {name}: expected an int >= 0, got {value!r}.")
    return int(value)


def updates(value):
    """Return `update_freq` as "epoch" or as the number of batches between two summaries."""
    if value == "epoch":
        return value
    if value == "batch":
        return 1
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise InvalidArgumentError(
            'TensorBoard: update_freq: expected "epoch", "batch" or a number of batches, got '
            f"{value!r}."
        )
    return int(value)


def batches(value):
    """Return (first, last) of `profile_batch`, or None for no profile.

    >>> batches("2, 4"), batches(3), batches(0)
    ((2, 4), (3, 3), None)
    """
    pair = value.split(",") if isinstance(value, str) else value
    if hasattr(pair, "__index__") or pair is None:
        pair = (pair or 0,) * 2
    pair = tuple(int(n) if str(n).strip().isdigit() else -1 for n in pair)
    if pair == (0, 0):
        return None
    if len(pair) != 2 or not 0 < pair[0] <= pair[1]:
        raise InvalidArgumentError(
            "TensorBoard: profile_batch: expected the number of a batch, from 1, or a pair (first, "
            f"last), got {value!r}."
        )
    return pair
