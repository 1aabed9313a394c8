"""How many threads kernels use, and a small pool that runs the parts of one kernel side by side.

Handing a part over takes 20 to 70 µs: it pays for kernels of 200 µs and more.
"""

import contextvars
import os
import threading
from collections import deque
from queue import SimpleQueue

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")

_count = None
_jobs = SimpleQueue()
_workers = []
_starting = threading.Lock()
_here = threading.local()  # .busy: this thread is running a part


def count():
    """How many threads a kernel may use, this one among them.

    The CPUs this process may run on, and no more than OMP_NUM_THREADS and OPENBLAS_NUM_THREADS say.
    """
    global _count
    if _count is None:
        _count = _allowed()
    return _count


def _allowed():
    try:
        number = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        number = os.cpu_count() or 1
    for name in _VARIABLES:
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdecimal() and int(text):
            number = min(number, int(text))
    return number


def run(function, parts):
    """Call `function(part)` for each part, on this thread and those of the pool.

    It returns when all are done. Parts that run Numba kernels (which release the GIL) run side by
    side; there should be `count()` of about equal size. Called from within a part, it runs in that
    thread alone.

    Raises:
        what a part raised: the first error; parts not yet begun are left out then.
    """
    parts = deque(parts)
    helpers = min(count(), len(parts)) - 1
    if helpers < 1 or getattr(_here, "busy", False):
        for part in parts:
            function(part)
        return
    _start(helpers)
    job = _Job(function, parts)
    for _ in range(helpers):
        _jobs.put((job, contextvars.copy_context()))  # np.errstate and the like hold there too
    job.work()
    job.wait()


class _Job:
    """Parts that wait, and what became of those that were taken."""

    __slots__ = ("done", "error", "function", "parts", "waiting")

    def __init__(self, function, parts):
        self.function, self.parts, self.waiting = function, parts, len(parts)
        self.done = SimpleQueue()
        self.error = None

    def work(self):
        """Take parts until none is left."""
        _here.busy = True
        try:
            while True:
                try:
                    part = self.parts.popleft()
                except IndexError:
                    return
                try:
                    if self.error is None:
                        self.function(part)
                except BaseException as error:  # for the thread that waits
                    self.error = self.error or error
                self.done.put(None)
        finally:
            _here.busy = False

    def wait(self):
        """Until every part is done."""
        for _ in range(self.waiting):
            self.done.get()
        if self.error is not None:
            raise self.error


def _start(number):
    """Have at least so many threads in the pool."""
    if len(_workers) < number:
        with _starting:
            while len(_workers) < number:
                thread = threading.Thread(target=_serve, args=(_jobs,), daemon=True)
                thread.name = f"framework-kernels-{len(_workers)}"
                thread.start()
                _workers.append(thread)


def _serve(jobs):
    while True:
        job, context = jobs.get()
        context.run(job.work)
        del job, context  # arrays are not kept while it waits for the next


def _forget():
    """In a forked child: threads are not copied, and locks may be held by those that were."""
    global _jobs, _workers, _starting, _here
    _jobs, _workers = SimpleQueue(), []
    _starting, _here = threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
