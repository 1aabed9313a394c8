"""Division of NumPy's work on the images of a batch, copies and products, among threads.

NumPy releases the GIL while it copies and multiplies. So each thread takes ranges of images through
the whole computation, in blocks that fit in the cache, with BLAS on one thread. BLAS's own threads
must not wake up: after a product they spin for a tenth of a second.
"""

import itertools

from framework.kernels import blas, threads

_LEAST = 1 << 21  # minimum multiplications or copied elements for which two threads are faster
_PARTS = 4  # number of ranges; fixed, so that sums have the same bits for any number of threads


def share(function, number, work):
    """Return [function(first, last), ...] for ranges of `number` images, in order; at least one.

    Args:
        work: about how many multiplications, or elements to copy, all images take.
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
    """Return slices of `step` images from `first` to before `last`; the last may be shorter."""
    return [slice(i, min(i + step, last)) for i in range(first, last, step)]
