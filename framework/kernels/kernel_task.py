"""KernelTask: a kernel as a task, work that the threads of `fast/team.py` share.

A kernel computes work items, mostly rows, that do not depend on one another. So threads can divide
the items among them, and a compiled plan can run several kernels in one parallel region.
"""

import functools
from typing import NamedTuple

import numpy as np

from framework.kernels import threads, tier

# A chunk takes at least this many seconds, because waking a worker thread for less saves no time.
_LEAST = 1e-5


class KernelTask(NamedTuple):
    """A kernel for arrays of fixed sizes, as a task.

    module, name: the module in `kernels/fast`, and the name of the compiled task in it.
    numbers: the task's arguments after the addresses of its arrays.
    extent, unit: the number of work items; chunks are multiples of `unit` items.
    seconds: the estimated time on one thread.
    """

    module: str
    name: str
    numbers: tuple
    extent: int
    unit: int
    seconds: float

    def address(self):
        """Return the address of the machine code, compiled now if necessary."""
        return getattr(tier.library(self.module), self.name).address

    def __call__(self, *arrays):
        """Run the whole kernel on contiguous arrays, whose sizes and dtypes are not checked."""
        numbers, parts = _template(self, len(arrays), threads.count())
        tier.library("team").do_phase(numbers, parts, *arrays)


@functools.lru_cache(1000)
def _template(task, arrays, most):
    """Return (arguments, number of chunks) for `team.do_phase` with at most `most` threads."""
    parts = max(1, min(most, int(task.seconds / _LEAST), -(-task.extent // task.unit)))
    share = -(-task.extent // (parts * task.unit)) * task.unit
    listed = task.address(), 0, task.extent, share
    return np.array([*[0] * arrays, *task.numbers, *listed, 0, 1, parts], np.int64), parts


def bits(number):
    """Return the bits of a float64 as an int64, because all task arguments are int64."""
    return int(np.float64(number).view(np.int64))
