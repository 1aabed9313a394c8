"""Rows and calls of the public functions that ops declare: those of the ops' samples."""

import numpy as np

from framework import math
from framework.ops.public import KERAS, TENSORFLOW
from tests.samples.ops import SAMPLES, reference


def _row(op):
    args = SAMPLES[op.name][0].args
    return lambda f: f(*args), reference(op.name)(*args)


def _in_32_bits(args):
    narrow = {"f": np.float32, "i": np.int32}
    return tuple([a.astype(narrow.get(a.dtype.kind, a.dtype)) for a in args])


VALUES = {
    f"math.{name}" if name in dir(math) else name: _row(op) for name, (op, *_) in TENSORFLOW.items()
}
CALLS = {name: (_in_32_bits(SAMPLES[op.name][0].args), {}) for name, (op, *_) in KERAS.items()}
