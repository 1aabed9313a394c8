"""Shares NumPy's work on the images of a batch (copies and products) among threads.

NumPy releases the GIL while it copies and multiplies. So each thread takes ranges of images through
the whole computation, in blocks that fit in the cache, with BLAS on one thread. BLAS's own threads
must not be used, because they spin for a tenth of a second after a product.
"""

import itertools

from framework.kernels import blas, threads

_LEAST = 1 << 21  # Threads are faster from this many multiplications or copied elements on.
# The number of ranges is fixed, so that sums are bitwise equal for any number of threads.
_PARTS = 4


def share(function, number, work):
    """Return [function(first, last), ...] for ranges of `number` images, in order; at least one.

    Args:
        work: the approximate number of multiplications, or of copied elements, for all images.
    """
    count = max(min(_PARTS, number), 1) if work >= _LEAST else 1
    ranges = list(itertools.pairwise(number * i // count for i in range(count + 1)))
    results = [None] * count

    def part(i):
        results[i] = function(*ranges[i])

    with blas.limited(1):
        threads.run(part, range(count))
    return results


def blocks(first, last, step):
    """Return slices of `step` or fewer images that cover `first` to before `last`."""
    return [slice(i, min(i + step, last)) for i in range(first, last, step)]
