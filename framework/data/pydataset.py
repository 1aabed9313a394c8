"""PyDataset: batches by index, computed by Python code in one or several workers."""

import itertools
from collections import deque
from typing import Any

from framework.core.errors import InvalidArgumentError


class PyDataset:
    """Base class of datasets for `fit`, `evaluate` and `predict` whose batch i is `self[i]`.

    A subclass defines `__getitem__(self, index)`, which returns (x, y) or (x, y, sample_weight),
    and `__len__` or the property `num_batches`, which is None for an infinite dataset. An
    `__init__` must call `super().__init__(**kwargs)`. `on_epoch_begin` and `on_epoch_end` are
    called before and after each epoch.

    Args:
        workers: the number of threads that compute batches.
        use_multiprocessing: use processes instead of threads; each gets a copy of the dataset, and
            arrays come back in shared memory. If a process dies, a WorkerError is raised.
        max_queue_size: the number of batches computed ahead.

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

    def __init__(
        self, workers: Any = 1, use_multiprocessing: bool = False, max_queue_size: Any = 10,
    ):  # fmt: skip
        for name, value, least in (("workers", workers, 0), ("max_queue_size", max_queue_size, 1)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: {name} must be an int >= {least}, got {value!r}."
                )
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index: Any) -> Any:
        """Return batch number `index`."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, index).")

    @property
    def num_batches(self):
        """The number of batches, None if infinite."""
        if hasattr(self, "__len__"):
            return len(self)
        raise NotImplementedError(
            f"{type(self).__name__} must define __len__, or the property num_batches."
        )

    def __iter__(self):
        number = self.num_batches
        return in_order(self, itertools.count() if number is None else range(number))

    def on_epoch_begin(self):
        """Called before each epoch."""

    def on_epoch_end(self):
        """Called after each epoch, even if not all its batches were taken."""


def in_order(source, indices):
    """Return an iterator over `source[i]` for each index, computed ahead by its workers."""
    workers = getattr(source, "workers", 1)
    if workers and getattr(source, "use_multiprocessing", False):
        return _by_processes(source, indices, workers)
    if workers < 2:
        return (source[i] for i in indices)
    return _ahead(source, iter(indices), workers, source.max_queue_size)


def _by_processes(source, indices, count):
    from framework.data.processes import Workers

    yield from Workers(source.__getitem__, count, type(source).__name__).map(indices)


def _ahead(source, indices, workers, size):
    from concurrent import futures

    pool = futures.ThreadPoolExecutor(workers, "framework-pydataset")
    waiting = deque()
    try:
        for index in itertools.islice(indices, size):
            waiting.append(pool.submit(source.__getitem__, index))
        while waiting:
            batch = waiting.popleft().result()
            for index in itertools.islice(indices, 1):
                waiting.append(pool.submit(source.__getitem__, index))
            yield batch
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
