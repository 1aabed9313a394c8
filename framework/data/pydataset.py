"""PyDataset: batches by number, computed in Python, by several workers if need be."""

import itertools
from collections import deque

from framework.core.errors import InvalidArgumentError


class PyDataset:
    """Base of datasets that give batch number i by `self[i]`, for `fit`, `evaluate`, `predict`.

    Subclasses define `__getitem__(self, index)`, which returns (x, y) or (x, y, sample_weight), and
    `__len__`, or the property `num_batches`: None for an endless one. `on_epoch_begin` and
    `on_epoch_end` are called around each epoch. `super().__init__(**kwargs)` goes first in an
    `__init__` of one's own.

    Args:
        workers: batches that are computed at a time, each in a thread.
        use_multiprocessing: processes in place of threads; the dataset is then copied to each.
        max_queue_size: batches that are computed ahead.

    Example:
        >>> import numpy as np
        >>> class Squares(PyDataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         x = np.full((2, 1), index, "float32")
        ...         return x, x**2
        >>> [float(y[0, 0]) for x, y in Squares(workers=2)]
        [0.0, 1.0, 4.0]
    """

    workers = 1
    use_multiprocessing = False
    max_queue_size = 10

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        for name, value, least in (("workers", workers, 0), ("max_queue_size", max_queue_size, 1)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: {name} must be an int >= {least}, got {value!r}."
                )
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index):
        """The batch of number `index`."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, index).")

    @property
    def num_batches(self):
        """The number of batches, None where there is no end."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError(
            f"{type(self).__name__} must define __len__, or the property num_batches."
        )

    def __iter__(self):
        number = self.num_batches
        return in_order(self, itertools.count() if number is None else range(number))

    def on_epoch_begin(self):
        """Before each epoch."""

    def on_epoch_end(self):
        """After each epoch, also one that is cut short."""


def in_order(source, indices):
    """`source[i]` for each index in turn, some of them computed ahead by its workers."""
    workers = getattr(source, "workers", 1)
    processes = getattr(source, "use_multiprocessing", False)
    if workers < 2 and not (workers and processes):
        return (source[i] for i in indices)
    return _ahead(source, iter(indices), workers, processes, source.max_queue_size)


def _ahead(source, indices, workers, processes, size):
    pool, get = _pool(source, workers, processes)
    waiting = deque()
    try:
        for index in itertools.islice(indices, size):
            waiting.append(pool.submit(get, index))
        while waiting:
            batch = waiting.popleft().result()
            for index in itertools.islice(indices, 1):
                waiting.append(pool.submit(get, index))
            yield batch
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(source, workers, processes):
    """An executor, and the function it is to call; imported when the first one is asked for."""
    from concurrent import futures

    if not processes:
        return futures.ThreadPoolExecutor(workers, "framework-pydataset"), source.__getitem__
    return futures.ProcessPoolExecutor(workers, initializer=_hold, initargs=(source,)), _held


class _Process:
    source = None  # in a worker process: its copy of the dataset


def _hold(source):
    _Process.source = source


def _held(index):
    return _Process.source[index]
