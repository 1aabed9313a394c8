"""The number of threads that kernels use, and a pool that runs chunks of one kernel in parallel.

Handing a chunk to another thread takes 20 to 70 µs, so only kernels of 200 µs or more
become faster. With Numba, the same threads also share shorter work, see `kernels/fast/team.py`.
"""

import contextlib
import contextvars
import os
import threading
from collections import deque
from functools import partial
from queue import SimpleQueue

from framework.core import parallel_run
from framework.core.errors import InvalidArgumentError

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_NO_LIMIT = 1 << 30  # the number that stands for no limit
_LEAST = 1.5e-6  # A chunk of the thread team takes at least this many seconds.
_LARGE = 3e-4  # From this many seconds of work on, each thread gets two chunks.
_OWN_GROUPS = "/proc/self/cgroup"

_count = None
_listeners = []
_here = threading.local()  # `_here.busy` is True while this thread runs a chunk


def count():
    """Return how many threads a kernel may use, including the calling thread.

    It is the number passed to `set_count`, or by default the number of CPUs available to this
    process, limited by its control group's quota (the limit of a container), OMP_NUM_THREADS and
    OPENBLAS_NUM_THREADS.
    """
    global _count
    if _count is None:
        _count = min(_cpus(), _quota(), *map(_of_environment, VARIABLES))
    return _count


def set_count(number=None):
    """Let kernels use `number` threads from now on; None restores what the machine allows."""
    global _count
    if number is not None and (type(number) is not int or number < 1):
        raise InvalidArgumentError(f"number of threads must be an int >= 1, got {number!r}.")
    _count = number
    _begin_anew()
    for function in _listeners:
        function()


def parts(seconds):
    """Return into how many chunks to divide work that takes `seconds` on one thread."""
    number = min(count(), int(seconds / _LEAST))
    if number > 1 and seconds > _LARGE:
        # With two chunks per thread, other threads can take the second chunk of a slow thread.
        number *= 2
    return max(1, number)


def when_set(function):
    """Call `function()` after each change of the number of threads."""
    _listeners.append(function)


def _cpus():
    try:
        return len(os.sched_getaffinity(0))
    # macOS and Windows lack `os.sched_getaffinity`.
    except AttributeError:
        return os.cpu_count() or 1


def _of_environment(name):
    # OMP_NUM_THREADS can be a list with one number per nesting level.
    text = os.environ.get(name, "").split(",")[0].strip()
    return int(text) if text.isdecimal() and int(text) else _NO_LIMIT


def _quota(root="/sys/fs/cgroup"):
    """Return how many CPUs the control groups (version 2 or 1) of this process allow."""
    least = _NO_LIMIT
    # Importing pathlib takes 4 ms, so it is not at the top of the file.
    from pathlib import Path

    for file in _group_files(Path(root)):
        with contextlib.suppress(OSError, ValueError):
            if file.name == "cpu.max":
                quota, period = file.read_text().split()
            else:
                quota, period = file.read_text(), (file.parent / "cpu.cfs_period_us").read_text()
            # "max" and -1 mean that there is no limit.
            if int(quota) > 0:
                least = min(least, max(1, int(quota) // int(period)))
    return least


def _group_files(root):
    """Yield the quota files of this process's control group and of its ancestors."""
    from pathlib import Path, PurePosixPath

    lines = []
    with contextlib.suppress(OSError):
        lines = Path(_OWN_GROUPS).read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            folder, name = root, "cpu.max"
        elif "cpu" in controllers.split(","):
            folder, name = root / "cpu", "cpu.cfs_quota_us"
        else:
            continue
        parts = PurePosixPath(path.lstrip("/")).parts
        # In a container, `path` may be the path on the host, while `root` already is the folder of
        # this process's group.
        yield from (folder.joinpath(*parts[:n], name) for n in range(len(parts) + 1))


def run(function, parts):
    """Call `function(part)` for each part, on this thread and the pool's threads; wait for all.

    Parts that run Numba kernels (which release the GIL) run in parallel; the best number of parts
    is `count()`, of about equal size. This thread runs all parts if `run` is called within a part,
    or if no thread can be started.

    Raises:
        the first error that a part raised; parts that have not begun are skipped. An interrupt is
            raised after the running parts end.
    """
    parts = deque(parts)
    workers = min(count(), len(parts)) - 1
    if workers > 0 and not getattr(_here, "busy", False):
        own = pool
        workers = min(workers, own.have(workers))
        if workers:
            _Job(function, parts).lead(workers, own)
            return
    for part in parts:
        function(part)


class _Job:
    """One call of `run`: the parts that no thread has taken, and the workers that have joined."""

    __slots__ = ("begun", "ended", "error", "function", "left", "parts")

    def __init__(self, function, parts):
        self.function, self.parts, self.error = function, parts, None
        # Workers append an entry when they join and when they leave: an interrupt could lose the
        # increment of a counter, but not an append.
        self.begun, self.ended, self.left = [], [], SimpleQueue()

    def lead(self, workers, own):
        """Run all parts with up to `workers` workers of a pool; wait for those that joined."""
        try:
            for _ in range(workers):
                # The workers use this thread's np.errstate and other context variables.
                own.ask(partial(contextvars.copy_context().run, self.join))
            self._work()
        # A KeyboardInterrupt can come between two parts.
        except BaseException as error:
            self.error = self.error or error
        while not self._wait():
            pass
        if self.error is not None:
            raise self.error

    def join(self):
        """Run parts on this worker thread until none is left."""
        self.begun.append(True)
        try:
            self._work()
        finally:
            self.ended.append(True)
            self.left.put(True)

    def _work(self):
        try:
            _here.busy = True
            while True:
                try:
                    part = self.parts.popleft()
                except IndexError:
                    return
                try:
                    if self.error is None:
                        self.function(part)
                # `lead` raises this error again in the caller's thread.
                except BaseException as error:
                    self.error = self.error or error
        finally:
            _here.busy = False

    def _wait(self):
        """Wait for the workers that joined; return False if an interrupt ended the wait.

        The caller then waits again: workers may still write to memory that will be reused.
        """
        try:
            self.parts.clear()  # After an interrupt, skip the remaining parts.
            while len(self.ended) < len(self.begun):
                self.left.get()
            # Drop the function, so that a worker that joins late keeps no arrays alive.
            self.function = None
        except BaseException as error:
            self.error = self.error or error
            return False
        return True


class ThreadPool:
    """Worker threads, and the queue of functions that they call."""

    def __init__(self):
        self.workers = []
        self._asked, self._starting = SimpleQueue(), threading.Lock()

    def have(self, number):
        """Start workers until there are `number`, if possible; return how many there are."""
        if len(self.workers) < number:
            with self._starting:
                while len(self.workers) < number:
                    worker = threading.Thread(target=_run_worker, args=(self,), daemon=True)
                    worker.name = f"framework-kernels-{len(self.workers)}"
                    try:
                        worker.start()
                    # The system's limit of threads is reached, or Python shuts down.
                    except RuntimeError:
                        break
                    self.workers.append(worker)
        return len(self.workers)

    def ask(self, function):
        """Queue a function for any worker."""
        self._asked.put(function)

    def next(self):
        """Wait for a queued function and return it; None ends the worker."""
        return self._asked.get()

    def dismiss(self):
        """End the workers after the queued functions."""
        with self._starting:
            for _ in self.workers:
                self.ask(None)


def _run_worker(own):
    """Run functions of the pool's queue on this worker thread, until the pool returns None."""
    while (function := own.next()) is not None:
        function()
        del function  # A waiting worker must not keep the arrays of its last function alive.


def use(pool_class):
    """Replace the pool by one of `pool_class`, a subclass of `ThreadPool`."""
    global _pool_class
    _pool_class = pool_class
    _begin_anew()


def _begin_anew():
    """Replace the pool and end its workers, because `count` may now allow fewer workers."""
    global pool
    before, pool = pool, _pool_class()
    before.dismiss()


def _forget():
    """Replace pool and state in a forked child: fork copies locks, but not their threads."""
    global pool, _here
    pool, _here = _pool_class(), threading.local()


_pool_class = ThreadPool
pool = ThreadPool()
parallel_run.run = run
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
