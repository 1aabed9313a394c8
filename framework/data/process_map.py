"""ProcessMap: call a function for each element in processes; results are in element order.

It is for functions of Python code, which threads do not speed up because of the interpreter's lock.
Elements and results travel in shared memory (`processes.py`).
"""

import os
import pickle
import sys
from collections import deque
from multiprocessing import get_context

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, WorkerError
from framework.core.random import drawing_at
from framework.core.tensor import Tensor
from framework.data.parallel import AUTOTUNE
from framework.data.processes import Workers
from framework.data.structure import as_element


class ElementCall:
    """A function of a pair (element, number) that calls the user's function in a process.

    Args:
        function: a function of an element.
        key: the key of random draws, which depend on the number of the element and not on the
            process.
    """

    def __init__(self, function, key):
        self._function, self._key = function, key

    def __call__(self, pair):
        element, number = pair
        with drawing_at(self._key, number):
            value = self._function(*element) if type(element) is tuple else self._function(element)
            return as_element(value, "map_func's result")


class ProcessMap:
    """An iterator over the results of an ElementCall for the elements of `source`.

    An error is raised at its element's position, and the iterator can continue, unless a process
    has ended. The processes end with the iterator, or when this object is closed or deleted.

    Args:
        call: an ElementCall.
        source: an iterator; only this process reads it.
        numbers: an iterator over the elements' numbers.
        count: the number of processes; AUTOTUNE for one per CPU.
        note: `note(error, number)` adds the stage and the element to an error.
    """

    def __init__(self, call, source, numbers, count, note):
        self._call, self._source, self._numbers, self._note = call, source, numbers, note
        self._count = (os.cpu_count() or 1) if count == AUTOTUNE else count
        self._waiting, self._workers, self._ended = deque(), None, False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            self._fill()
            if not self._waiting:
                self.close()
                raise StopIteration
            wait, number = self._waiting.popleft()
            try:
                return nest.map_structure(_boxed, wait())
            except Exception as error:
                if number is not None and not isinstance(error, WorkerError):
                    self._note(error, number)
                raise
        except (WorkerError, KeyboardInterrupt, SystemExit):
            # a message may have been read from a pipe in part, so the pipes cannot be used any more
            self.close()
            raise

    def _fill(self):
        while not self._ended and (self._workers is None or len(self._waiting) < self._most):
            self._begin_next()

    def _begin_next(self):
        try:
            element = next(self._source)
        except StopIteration:
            self._ended = True
        except Exception as error:  # the consumer raises this error at the element's position
            self._waiting.append((_raiser(error), None))
        else:
            if self._workers is None:
                self._workers = Workers(self._call, self._count, "map", _context(self._call))
                self._most = self._workers.capacity
            number = next(self._numbers)
            self._waiting.append((self._workers.begin((element, number)), number))

    def close(self):
        """End the processes."""
        self._ended = True
        self._waiting.clear()
        if self._workers is not None:
            self._workers.close()

    __del__ = close


def _context(call):
    """Return how processes are started: by fork on Linux, so that any function can be called."""
    if sys.platform == "linux":
        return get_context("fork")
    context = get_context("spawn")
    try:
        pickle.dumps(call)
    except Exception as error:
        raise InvalidArgumentError(
            "map: map_func: with use_multiprocessing=True expected a function that can be pickled, "
            f"got {call._function!r}: {error}. Define it at the top level of a module."
        ) from None
    return context


def _boxed(leaf):
    return Tensor(leaf) if isinstance(leaf, np.ndarray) else leaf


def _raiser(error):
    def wait():
        raise error

    return wait
