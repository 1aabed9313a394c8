"""Parallel: a function of each element on several threads, with results in the elements' order."""

import os
from collections import deque
from concurrent import futures

AUTOTUNE = -1


class Parallel:
    """An iterator over `function(element, number)` of the elements of `source`.

    Up to `workers` calls run at the same time. An error is raised at its position, and the iterator
    goes on. The threads end with the iterator, or when this object is closed or dropped.

    Args:
        function: a function of an element and its number.
        source: an iterator; only the consumer's thread reads it.
        numbers: an iterator over ints.
        workers: the number of threads; AUTOTUNE for one per CPU.
        in_order: False to return results as they are ready.
    """

    def __init__(self, function, source, numbers, workers, in_order=True):
        self._function, self._source, self._numbers = function, source, numbers
        self._workers = (os.cpu_count() or 1) if workers == AUTOTUNE else workers
        self._in_order, self._waiting, self._ended = in_order, deque(), False
        self._pool = None

    def __iter__(self):
        return self

    def __next__(self):
        self._fill()
        if not self._waiting:
            self.close()
            raise StopIteration
        if self._in_order or self._waiting[0].done():
            return self._waiting.popleft().result()
        done, _ = futures.wait(self._waiting, return_when=futures.FIRST_COMPLETED)
        first = done.pop()
        self._waiting.remove(first)
        return first.result()

    def _fill(self):
        while not self._ended and len(self._waiting) < self._workers:
            if self._pool is None:
                self._pool = futures.ThreadPoolExecutor(self._workers, "framework-map")
            try:
                element = next(self._source)
            except StopIteration:
                self._ended = True
            # raised at this element's position, after the earlier results
            except Exception as error:
                failed = futures.Future()
                failed.set_exception(error)
                self._waiting.append(failed)
            else:
                call = self._pool.submit(self._function, element, next(self._numbers))
                self._waiting.append(call)

    def close(self):
        """End the threads."""
        self._ended = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    __del__ = close
