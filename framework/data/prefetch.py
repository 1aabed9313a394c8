"""Ahead: an iterator whose elements a background thread computes in advance."""

import queue
import threading
from contextlib import nullcontext


class _Raised:
    """An item in the queue: the producer's error, or None at the end."""

    def __init__(self, error):
        self.error = error


class Ahead:
    """An iterator over the elements of another, which a background thread computes ahead.

    The thread starts with the first `next()` and ends with the iterator, or soon after this object
    is closed or deleted. An error is raised at its position, and the iterator can continue.

    Args:
        make_iterator: a function that returns the other iterator.
        size: the largest number of elements computed ahead.
        within: a context manager that the thread enters.
    """

    def __init__(self, make_iterator, size, within=None):
        self._make, self._ready, self._stop = make_iterator, queue.Queue(size), threading.Event()
        self._within = within or nullcontext()
        self._started = self._ended = False

    def __iter__(self):
        return self

    def __next__(self):
        if self._ended:
            raise StopIteration
        if not self._started:
            self._started = True
            threading.Thread(
                target=_produce, daemon=True, name="framework-prefetch",
                args=(self._within, self._make, self._ready, self._stop),
            ).start()  # fmt: skip
        item = self._ready.get()
        if type(item) is not _Raised:
            return item
        if item.error is None:
            self._ended = True
            raise StopIteration
        try:
            raise item.error
        finally:
            # Without `del`, the error's traceback would keep this frame and `self` alive.
            del item

    def close(self):
        """End the thread."""
        self._ended = True
        self._stop.set()
        # If the queue is full, the thread waits in `put`. Removing the items lets it go on and end.
        while not self._ready.empty():
            self._ready.get_nowait()

    __del__ = close


def _produce(within, make_iterator, ready, stop):
    with within:
        _put_all(make_iterator, ready, stop)
    if not stop.is_set():
        ready.put(_Raised(None))


def _put_all(make_iterator, ready, stop):
    try:
        iterator = make_iterator()
    except BaseException as error:
        ready.put(_Raised(error))
        iterator = iter(())
    while not stop.is_set() and _put_next(iterator, ready):
        pass


def _put_next(iterator, ready):
    """Put the next element or its error into the queue; return whether there was one."""
    try:
        ready.put(next(iterator))
    except StopIteration:
        return False
    except BaseException as error:  # the consumer raises the error when it takes this item
        ready.put(_Raised(error))
    return True
