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
        use_multiprocessing: use processes instead of threads; each gets a copy of the dataset.
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
    """Return an executor and the function for it to call."""
    from concurrent import futures

    if not processes:
        return futures.ThreadPoolExecutor(workers, "framework-pydataset"), source.__getitem__
    pool = futures.ProcessPoolExecutor(workers, initializer=_set_source, initargs=(source,))
    return pool, _batch_of_source


class _Process:
    source = None  # set in each worker process to its copy of the dataset


def _set_source(source):
    _Process.source = source


def _batch_of_source(index):
    return _Process.source[index]
