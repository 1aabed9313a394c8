"""Workers: call a function of one argument in several processes; arrays travel in shared memory.

A worker has a pipe, and two blocks of shared memory, for arguments and for results. The halves of a
block are used in turn: a worker may have two tasks, and the second must not overwrite the first.
The parent creates the blocks, and unlinks them as soon as the worker has opened them, so that no
memory stays allocated if a process is killed. A worker ends when its parent does.
"""

import contextlib
import itertools
import pickle
import signal
import threading
from multiprocessing import connection, get_context, parent_process
from multiprocessing.reduction import ForkingPickler
from multiprocessing.shared_memory import SharedMemory

import numpy as np

from framework.core import nest
from framework.core.errors import FrameworkError, WorkerError
from framework.core.tensor import Tensor

_TASKS = 2  # the largest number of tasks sent to a worker: one runs while the other waits
_SMALL = 1 << 14  # arrays with fewer bytes are sent through the pipe, not through shared memory
_ALIGNED = 64
_WATCH = 1.0  # the interval in seconds at which a worker checks whether its parent is alive


class Workers:
    """Processes that compute `function(argument)`; results come in the order of the arguments.

    Args:
        function: a function; if processes are spawned, not forked, it must be possible to pickle
            it.
        count: the number of processes.
        name: the processes' name in error messages.
        context: the context of `multiprocessing` that starts the processes; None for the default.

    Raises:
        WorkerError: a process has ended, for example because it was killed.
    """

    def __init__(self, function, count, name, context=None):
        self._name, self._closed = name, False
        self._workers = []
        context = context or get_context()
        try:
            for number in range(count):
                self._workers.append(_Worker(context, function, number, name))
        except BaseException:
            self.close()
            raise
        self._turns = itertools.cycle(self._workers)

    def map(self, arguments):
        """Yield the result for each of the arguments, or raise the error of the call.

        The workers end after the last argument, after an error, and when the generator is closed.
        """
        waiting = []
        try:
            for argument in arguments:
                if len(waiting) == self.capacity:
                    yield waiting.pop(0)()
                waiting.append(self.begin(argument))
            while waiting:
                yield waiting.pop(0)()
        finally:
            self.close()

    @property
    def capacity(self):
        """The largest number of tasks that can be sent before a result is received."""
        return _TASKS * len(self._workers)

    def begin(self, argument):
        """Send a task to the next worker; return a function that waits for its result."""
        worker = next(self._turns)
        worker.send(argument)
        return worker.result

    def call(self, arguments):
        """Return the results of a list of arguments; the workers keep running."""
        workers, found = self._workers, []
        for first in range(0, len(arguments), len(workers)):
            pairs = list(zip(workers, arguments[first : first + len(workers)]))
            for worker, argument in pairs:
                worker.send(argument)
            found += [_caught(worker) for worker, _ in pairs]
        for each in found:
            if isinstance(each, _Failure):
                raise each.error
        return found

    def close(self):
        """End the processes and remove the shared memory."""
        if not self._closed:
            self._closed = True
            for worker in self._workers:
                worker.end()
            for worker in self._workers:
                worker.remove()

    def __del__(self):
        if hasattr(self, "_workers"):
            self.close()


def _caught(worker):
    try:
        return worker.result()
    except WorkerError:
        raise
    except Exception as error:
        # this error is raised later, because the results of the other workers must be read first
        return _Failure(error)


class _Failure:
    """An error that the function raised in a worker."""

    def __init__(self, error):
        self.error = error


class _Worker:
    """The parent's side of one worker process."""

    def __init__(self, context, function, number, name):
        self._memory, self._attached = None, False
        self._inbox = _Inbox()
        self._pipe, inner = context.Pipe()
        self._process = context.Process(
            target=_work,
            args=(inner, self._pipe, function),
            daemon=True,
            name=f"framework-{name}-{number}",
        )
        self._process.start()
        inner.close()
        self._label = f"worker process {number} (pid {self._process.pid}) of {name}"

    def send(self, argument):
        try:
            for message in self._inbox.messages(argument):
                self._pipe.send(message)
        except OSError:
            self._died()

    def result(self):
        while True:
            kind, value = self._received()
            if kind == "value":
                return value
            if kind == "arrays":
                return self._with_arrays(value)
            if kind == "error":
                raise value
            if kind == "memory":
                self._enlarge(value)
            elif kind == "has inbox":
                self._inbox.attached()
            else:  # the worker has opened the shared memory, so it can be unlinked
                self._memory.unlink()
                self._attached = True

    def _received(self):
        ready = connection.wait([self._pipe, self._process.sentinel])
        if self._pipe in ready:
            with contextlib.suppress(EOFError, OSError):
                return self._pipe.recv()
        return self._died()

    def _died(self):
        self._process.join(1.0)
        code = self._process.exitcode
        how = f"was killed by {signal.Signals(-code).name}" if code and code < 0 else (
            f"ended with exit code {code}"
        )  # fmt: skip
        raise WorkerError(
            f"{self._label} {how}. Is there enough memory? Use threads "
            "(use_multiprocessing=False) to see an error in your function."
        )

    def _enlarge(self, size):
        old, self._memory = self._memory, SharedMemory(create=True, size=size)
        self._attached = False
        if old is not None:
            old.close()
        self._pipe.send(("memory", self._memory.name))

    def _with_arrays(self, value):
        structure, layout = value
        leaves = nest.flatten(structure)
        for place, (offset, dtype, shape) in layout.items():
            view = np.ndarray(shape, dtype, self._memory.buf, offset)
            leaves[place] = view.copy()
            del view
        return nest.pack_sequence_as(structure, leaves)

    def end(self):
        self._process.terminate()
        self._pipe.close()

    def remove(self):
        self._process.join(5.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        if self._memory is not None:
            self._memory.close()
            if not self._attached:
                self._memory.unlink()
            self._memory = None
        self._inbox.remove()


class _Inbox:
    """The parent's side of the shared memory for a worker's arguments."""

    def __init__(self):
        self._memory, self._half, self._turn = None, 0, 0
        # blocks of shared memory that the worker has not opened yet, in the order of their creation
        self._new = []

    def messages(self, argument):
        """Return the messages that send an argument; a large argument goes to shared memory."""
        buffers = []
        data = pickle.dumps(argument, 5, buffer_callback=buffers.append)
        parts = [data, *(buffer.raw() for buffer in buffers)]
        sizes = [memoryview(part).nbytes for part in parts]
        if sum(sizes) < _SMALL:
            return [("task", list(map(bytes, parts)))]
        begun, needed = [], sum(map(_rounded, sizes))
        if needed > self._half:
            if self._memory is not None and self._memory not in self._new:
                self._memory.close()
            self._half, self._turn = _rounded(needed * 5 // 4), 0
            self._memory = SharedMemory(create=True, size=2 * self._half)
            self._new.append(self._memory)
            begun = [("inbox", self._memory.name)]
        offset, places = self._turn * self._half, []
        self._turn = 1 - self._turn
        for part, size in zip(parts, sizes):
            self._memory.buf[offset : offset + size] = part
            places.append((offset, size))
            offset += _rounded(size)
        return [*begun, ("large task", places)]

    def attached(self):
        """Unlink the oldest block in `_new`, because the worker has opened it."""
        memory = self._new.pop(0)
        memory.unlink()
        if memory is not self._memory:
            memory.close()

    def remove(self):
        """Free the shared memory."""
        for memory in self._new:
            memory.unlink()
        for memory in {id(m): m for m in (*self._new, self._memory) if m is not None}.values():
            memory.close()
        self._memory, self._new = None, []


def _rounded(size):
    return -(-size // _ALIGNED) * _ALIGNED


# ---- in the worker process -----------------------------------------------------------------------


def _work(pipe, outer, function):
    """Receive arguments and send results until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    outer.close()  # with this copy of the parent's end closed, reading fails when the parent ends
    memory = _Memory(pipe)
    with contextlib.suppress(EOFError, OSError):
        while True:
            parts = memory.next_task()
            try:
                argument = pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301 (the parent's)
                answer = ForkingPickler.dumps(memory.packed(function(argument)))
            except Exception as error:
                answer = ForkingPickler.dumps(("error", _sendable(error)))
            pipe.send_bytes(answer)


def _sendable(error):
    """Return an error that can be pickled, with the traceback as a note."""
    import traceback

    text = "".join(traceback.format_exception(error))
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (its own bytes)
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    if hasattr(error, "add_note"):  # `add_note` is new in Python 3.11
        error.add_note(f"In a worker process:\n{text}")
    elif isinstance(error, FrameworkError):
        error.args = (f"{error} In a worker process:\n{text}", *error.args[1:])
    return error


class _Memory:
    """The worker's side of the shared memory for arguments and results."""

    def __init__(self, pipe):
        self._pipe, self._parent = pipe, parent_process()
        self._memory, self._half, self._turn = None, 0, 0
        self._inbox = None
        # messages that arrived while the worker waited for the memory it had requested
        self._early = []

    def next_task(self):
        """Return the parts of the next task: pickled bytes, and the buffers of arrays."""
        while True:
            kind, value = self._early.pop(0) if self._early else self._received()
            if kind == "task":
                return list(map(bytearray, value))
            if kind == "large task":
                return [bytearray(self._inbox.buf[at : at + size]) for at, size in value]
            if self._inbox is not None:
                self._inbox.close()
            self._inbox = _attached(value)
            self._pipe.send(("has inbox", None))

    def _received(self):
        """Return the next message; raise EOFError if the parent has ended."""
        while self._parent.is_alive():
            if self._pipe in connection.wait([self._pipe, self._parent.sentinel], _WATCH):
                return self._pipe.recv()
        raise EOFError

    def packed(self, value):
        """Return the message that sends a result; large arrays go to the shared memory."""
        leaves = nest.flatten(value)
        leaves = [leaf.array if type(leaf) is Tensor else leaf for leaf in leaves]
        large = {
            i: leaf for i, leaf in enumerate(leaves)
            if type(leaf) is np.ndarray and leaf.nbytes >= _SMALL and leaf.dtype.kind != "O"
        }  # fmt: skip
        if not large:
            return "value", nest.pack_sequence_as(value, leaves)
        needed = sum(_rounded(leaf.nbytes) for leaf in large.values())
        if needed > self._half:
            self._grow(needed)
        offset, layout = self._turn * self._half, {}
        self._turn = 1 - self._turn
        for place, leaf in large.items():
            np.ndarray(leaf.shape, leaf.dtype, self._memory.buf, offset)[...] = leaf
            layout[place] = offset, leaf.dtype, leaf.shape
            leaves[place] = None
            offset += _rounded(leaf.nbytes)
        return "arrays", (nest.pack_sequence_as(value, leaves), layout)

    def _grow(self, needed):
        self._half = _rounded(needed * 5 // 4)
        self._pipe.send(("memory", 2 * self._half))
        kind, name = self._received()
        while kind != "memory":
            self._early.append((kind, name))
            kind, name = self._received()
        if self._memory is not None:
            self._memory.close()
        self._memory, self._turn = _attached(name), 0
        self._pipe.send(("attached", None))


def _attached(name):
    """Open shared memory of the parent, which remains responsible for its removal."""
    from multiprocessing import resource_tracker

    # Before Python 3.13, opening shared memory registers it for removal by this process.
    with _register:
        register, resource_tracker.register = resource_tracker.register, lambda *_: None
        try:
            return SharedMemory(name)
        finally:
            resource_tracker.register = register


_register = threading.Lock()
