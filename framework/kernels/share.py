"""Shares NumPy's work on the images of a batch among threads: copies and products of matrices.

NumPy lets other threads run while it copies and multiplies, so blocks of images that fit in the
cache go side by side, each through all that is to be done with it, with BLAS on one thread in each.
BLAS's own threads are not to wake up: they wait for more at full speed for a tenth of a second.
"""

import itertools

from framework.kernels import blas, threads

_LEAST = 1 << 21  # multiplications, or numbers to copy, from which on two threads are faster
_PARTS = 4  # whatever the number of threads: sums of parts have the same bits then


def share(function, number, work):
    """[function(first, last), ...] for ranges of `number` images, in order, at least one range.

    Args:
        work: roughly how many multiplications, or numbers to copy, all of it is.
    """
    count = max(min(_PARTS, number), 1) if work >= _LEAST else 1
    ranges = list(itertools.pairwise(number * i // count for i in range(count + 1)))
    found = [None] * count

    def part(i):
        found[i] = function(*ranges[i])

    with blas.limited(1):
        threads.run(part, range(count))
    return found


def blocks(first, last, step):
    """Slices of `step` images, or fewer at the end."""
    return [slice(i, min(i + step, last)) for i in range(first, last, step)]
