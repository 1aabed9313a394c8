"""tf.print: print tensors and other values as TensorFlow does."""

import builtins
import sys
from typing import Any

import numpy as np

from framework.core import nest
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def print(
    *inputs: Any, output_stream: Any = None, summarize: Any = 3, sep: Any = " ", end: Any = "\n",
    name: str | None = None,
) -> None:  # fmt: skip
    """Print values. A tensor is printed as its elements, without the middle of long axes.

    Args:
        inputs: tensors, other values, or nests of them.
        output_stream: a stream; by default standard error.
        summarize: the number of elements to show at both ends of an axis; -1 for all.
        sep, end: as in Python's `print`.
        name: ignored.

    >>> import sys
    >>> import framework as tf
    >>> tf.print("w =", tf.range(9), output_stream=sys.stdout)
    w = [0 1 2 ... 6 7 8]
    """
    for recorder in thread.stack:
        recorder.effect("tf.print")
    texts = [shown(value, summarize) for value in inputs]
    stream = sys.stderr if output_stream is None else output_stream
    builtins.print(*texts, sep=sep, end=end, file=stream)


def shown(value, summarize):
    """Return the text that `tf.print` writes for a value or nest."""
    edge = summarize if summarize is not None and summarize >= 0 else sys.maxsize
    return str(nest.map_structure(lambda x: _Shown(x, edge), value))


_ARRAYS = (Tensor, CoreVariable, np.ndarray)


class _Shown:
    """A value whose `repr` is the text that TensorFlow prints; strings are quoted only in lists."""

    def __init__(self, value, edge):
        self.value, self.edge = value, edge

    def __str__(self):
        return repr(self) if isinstance(self.value, _ARRAYS) else str(self.value)

    def __repr__(self):
        if not isinstance(self.value, _ARRAYS):
            return repr(self.value)
        array = np.asarray(self.value)
        return np.array2string(
            array, edgeitems=self.edge, threshold=min(2 * self.edge, sys.maxsize), separator=" ",
            formatter={"float_kind": _float_text, "bool": _bool_text, "object": _quoted,
                       "int_kind": str}, max_line_width=sys.maxsize,
        )  # fmt: skip


def _bool_text(value):
    return str(int(value))


def _quoted(text):
    return f'"{text.decode(errors="replace")}"' if isinstance(text, bytes) else repr(text)


def _float_text(value):
    """Format a float with 6 digits (float64: 15), or more if these do not give its exact value."""
    few, many = (15, 17) if isinstance(value, np.float64) else (6, 9)
    text = f"{value:.{few}g}"
    return text if np.isnan(value) or type(value)(text) == value else f"{value:.{many}g}"
