"""What a function must be for one call to stand for many: no effects, no outside state."""

import math
import random
import time

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.data.purity import is_pure

SCALE, TABLE, SEEN = 2.0, np.arange(3.0), []
COUNT = 0
LAYER = keras.layers.Rescaling(0.5)


def helper(x):
    return tf.cast(x, "float32") * SCALE


def counted(x):
    global COUNT
    COUNT += 1
    return x


def imports(x):
    import sys

    return x + len(sys.argv)


def outer(offset):
    return lambda x: x + offset


class Scaled(keras.layers.Layer):
    def call(self, x):
        SEEN.append(x)
        return x


PURE = {
    "operators": lambda x, y: (x * 2.0 + 1.0, y),
    "a global number": lambda x: x * SCALE,
    "a global array": lambda x: x + TABLE,
    "a function of the user": lambda x: helper(x) - 1,
    "a closure": outer(3.0),
    "a module": lambda x: x * math.pi + np.float32(2),
    "numpy": lambda x: np.sin(x),
    "a layer": lambda x: LAYER(x),
    "a layer itself": LAYER,
    "a comprehension": lambda x: [x * i for i in range(3)],
    "a shape": lambda x: x / x.shape[0],
}
IMPURE = {
    "print": lambda x: print(x) or x,
    "append": lambda x: SEEN.append(1) or x,
    "a default list": lambda x, seen=[]: seen.append(1) or x,
    "a closure's list": outer(SEEN),
    "a count": counted,
    "python's generator": lambda x: x * random.random(),
    "numpy's generator": lambda x: x + np.random.rand(),  # noqa: NPY002
    "a clock": lambda x: x + time.time(),
    "a file": lambda x: x + len(open("/dev/null").read()),  # noqa: PTH123, SIM115
    "an import": imports,
    "a layer of the user": Scaled(),
    "an inner effect": lambda x: [SEEN.append(i) for i in range(2)] and x,
    "an item stored": lambda x: x + SEEN.__setitem__(0, 1),
    "a builtin": list.append,
    "an object": object(),
}


@pytest.mark.parametrize("name", PURE)
def test_functions_of_tensors_are_pure(name):
    assert is_pure(PURE[name])


@pytest.mark.parametrize("name", IMPURE)
def test_functions_with_effects_are_not(name):
    assert not is_pure(IMPURE[name])
