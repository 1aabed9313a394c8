"""`tf.strings.unicode_script`: the writing system of each character, such as Latin or Han.

>>> import framework as tf
>>> tf.strings.unicode_script([ord("a"), ord("д"), ord("字")]).numpy()
array([25,  8, 17], dtype=int32)
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError
from framework.core.operations import operation
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.tables import look_up_all

_INT32 = np.dtype(np.int32)
_NO_POINT, _UNASSIGNED = -1, 103
_END = 0x110000  # after the last code point


@cache
def _ranges():
    """Return (firsts, scripts): the numbers from `firsts[i]` on have the script `scripts[i + 1]`.

    A line of the file has the number of a script in ICU, its name, and ranges.
    """
    loader = globals()["__spec__"].loader
    text = loader.get_data(str(Path(__file__).with_suffix(".txt"))).decode()
    script_at, ends = {}, {0}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        number, _, *ranges = line.split()
        for first, _, last in (each.partition("-") for each in ranges):
            script_at[int(first, 16)] = int(number)
            ends.add(int(last or first, 16) + 1)
    script_at = dict.fromkeys(ends, _UNASSIGNED) | script_at | {_END: _NO_POINT}
    firsts = sorted(script_at)
    scripts = [_NO_POINT, *(script_at[first] for first in firsts)]
    return np.array(firsts, np.int64), np.array(scripts, np.int32)


class _Scripts(NamedTuple):
    """The NumPy implementation of an op that looks up the scripts of code points."""

    dtype: Any = _INT32

    def __call__(self, points):
        firsts, scripts = _ranges()
        return scripts[np.searchsorted(firsts, points, "right")]

    def shape(self, shape):
        return shape


@operation
def unicode_script(input: TensorLike, name: str | None = None) -> Any:
    """Return the number of the script of each code point in ICU's `UScriptCode`, int32.

    Examples are 0 for characters of several scripts, 8 for Cyrillic, 17 for Han, 25 for Latin. The
    result is -1 for numbers that are no code points, and 103 for unassigned code points.

    Args:
        input: ints, a tensor or RaggedTensor, such as the result of `unicode_decode`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(unicode_script(input.flat_values))
    points = tensor(input)
    if not points.dtype.is_integer:
        raise DTypeError(
            f"unicode_script: expected ints, got {points.dtype}. Use tf.strings.unicode_decode."
        )
    return look_up_all(points, table=_Scripts())
