"""How many threads kernels use, and a small pool that runs the parts of one kernel side by side.

Handing a part over takes 20 to 70 µs: it pays for kernels of 200 µs and more.
"""

import contextlib
import contextvars
import os
import threading
from collections import deque
from pathlib import Path, PurePosixPath
from queue import SimpleQueue

from framework.core.errors import InvalidArgumentError

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_NO_LIMIT = 1 << 30
_OWN_GROUPS = Path("/proc/self/cgroup")

_count = None
_jobs = SimpleQueue()
_workers = []
_starting = threading.Lock()
_here = threading.local()  # .busy: this thread is running a part


def count():
    """How many threads a kernel may use, this one among them.

    The CPUs that this process may run on, no more than its control group's quota (what limits a
    container), OMP_NUM_THREADS and OPENBLAS_NUM_THREADS say; or what `set_count` was given.
    """
    global _count
    if _count is None:
        _count = min(_cpus(), _quota(), *map(_of_environment, VARIABLES))
    return _count


def set_count(number=None):
    """Use so many threads from now on; None goes back to what the machine allows."""
    global _count
    if number is not None and (type(number) is not int or number < 1):
        raise InvalidArgumentError(f"number of threads must be an int >= 1, got {number!r}.")
    _count = number


def _cpus():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _of_environment(name):
    text = os.environ.get(name, "").split(",")[0].strip()  # OpenMP has one number per level
    return int(text) if text.isdecimal() and int(text) else _NO_LIMIT


def _quota(root=Path("/sys/fs/cgroup")):
    """CPUs' worth of time that the control groups of this process allow, of version 2 or 1."""
    least = _NO_LIMIT
    for file in _group_files(root):
        with contextlib.suppress(OSError, ValueError):
            if file.name == "cpu.max":
                quota, period = file.read_text().split()
            else:
                quota, period = file.read_text(), (file.parent / "cpu.cfs_period_us").read_text()
            if int(quota) > 0:  # "max", or -1, is no limit
                least = min(least, max(1, int(quota) // int(period)))
    return least


def _group_files(root):
    """Where the quotas stand: of this process's group and of those it is in."""
    lines = []
    with contextlib.suppress(OSError):
        lines = _OWN_GROUPS.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            folder, name = root, "cpu.max"
        elif "cpu" in controllers.split(","):
            folder, name = root / "cpu", "cpu.cfs_quota_us"
        else:
            continue
        parts = PurePosixPath(path.lstrip("/")).parts
        # in a container the path may be the host's: the root is its own group then
        yield from (folder.joinpath(*parts[:n], name) for n in range(len(parts) + 1))


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
