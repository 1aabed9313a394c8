"""Kernels as tasks for the thread team (`fast/team.py`), called alone or in a plan with others.

A kernel does its work unit by unit, mostly by rows, and what it does to a unit does not depend on
the others. So threads share the units, and a plan takes the kernel up in its stretches.
"""

import functools
from typing import NamedTuple

import numpy as np

from framework.kernels import threads, tier

_LEAST = 1e-5  # seconds of a part that is handed over: who comes may have to be woken up


class KernelTask(NamedTuple):
    """A kernel for arrays of certain sizes.

    module, name: where its task is. numbers: those that follow the addresses of its arrays.
    extent, unit: how many units there are, and how many of them go together.
    seconds: about how long it takes one thread.
    """

    module: str
    name: str
    numbers: tuple
    extent: int
    unit: int
    seconds: float

    def address(self):
        """Where the machine code is; made now if need be."""
        return getattr(tier.library(self.module), self.name).address

    def __call__(self, *arrays):
        """Do all of it; the arrays are contiguous, of the right sizes and dtypes."""
        numbers, parts = _template(self, len(arrays), threads.count())
        tier.library("team").do_alike(numbers, parts, *arrays)


@functools.lru_cache(1000)
def _template(task, arrays, most):
    """What `team.do_alike` needs besides the arrays, for so many threads."""
    parts = max(1, min(most, int(task.seconds / _LEAST), -(-task.extent // task.unit)))
    share = -(-task.extent // (parts * task.unit)) * task.unit
    listed = task.address(), 0, task.extent, share
    return np.array([*[0] * arrays, *task.numbers, *listed, 0, 1, parts], np.int64), parts


def bits(number):
    """A float as a number of a task."""
    return int(np.float64(number).view(np.int64))
