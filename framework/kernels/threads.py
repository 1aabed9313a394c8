"""How many threads kernels use, and a small pool that runs the parts of one kernel side by side.

Handing a part over takes 20 to 70 µs: it pays for kernels of 200 µs and more. With Numba the same
threads share brief work too: see `kernels/fast/team.py`.
"""

import contextlib
import contextvars
import os
import threading
from collections import deque
from functools import partial
from pathlib import Path, PurePosixPath
from queue import SimpleQueue

from framework.core import sharing
from framework.core.errors import InvalidArgumentError

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_NO_LIMIT = 1 << 30
_LEAST = 1.5e-6  # seconds of a part that are worth handing it over to the thread team
_LARGE = 3e-4  # from which on parts are smaller than each thread's share
_OWN_GROUPS = Path("/proc/self/cgroup")

_count = None
_told = []
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
    _begin_anew()
    for function in _told:
        function()


def parts(seconds):
    """Return into how many chunks the thread team cuts work that takes one thread this long."""
    number = min(count(), int(seconds / _LEAST))
    if number > 1 and seconds > _LARGE:
        number *= 2  # a thread that comes late, or has to wait, leaves more to the others
    return max(1, number)


def when_set(function):
    """Have a function called when another number of threads was set."""
    _told.append(function)


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
    side; there should be `count()` of about equal size. Called from within a part, or where no
    thread can be started, it runs in this thread alone.

    Raises:
        what a part raised: the first error; parts not yet begun are left out then. An interrupt
            comes through too, once nobody works on a part any more.
    """
    parts = deque(parts)
    helpers = min(count(), len(parts)) - 1
    if helpers > 0 and not getattr(_here, "busy", False):
        own = pool
        helpers = min(helpers, own.have(helpers))
        if helpers:
            _Job(function, parts).lead(helpers, own)
            return
    for part in parts:
        function(part)


class _Job:
    """Parts that wait, and who has taken some."""

    __slots__ = ("begun", "ended", "error", "function", "left", "parts")

    def __init__(self, function, parts):
        self.function, self.parts, self.error = function, parts, None
        # An entry for each helper that came, and left; whatever interrupts, none is lost.
        self.begun, self.ended, self.left = [], [], SimpleQueue()

    def lead(self, helpers, own):
        """Do all parts with so many helpers of a pool, those that come; until who has come is
        done."""
        try:
            for _ in range(helpers):
                # np.errstate and the like hold there too
                own.ask(partial(contextvars.copy_context().run, self.help))
            self._work()
        except BaseException as error:  # an interrupt between two parts
            self.error = self.error or error
        while not self._wait():
            pass
        if self.error is not None:
            raise self.error

    def help(self):
        """Take parts until none is left."""
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
                except BaseException as error:  # for the thread that waits
                    self.error = self.error or error
        finally:
            _here.busy = False

    def _wait(self):
        """Wait for the helpers; False after an interrupt, which has to wait as well: they write to
        memory that will be used again."""
        try:
            self.parts.clear()  # an interrupt may have left some
            while len(self.ended) < len(self.begun):
                self.left.get()
            self.function = None  # a helper that comes late holds nothing of the caller's
        except BaseException as error:
            self.error = self.error or error
            return False
        return True


class ThreadPool:
    """Threads that help, and how they wait for what they are asked."""

    def __init__(self):
        self.helpers = []
        self._asked, self._starting = SimpleQueue(), threading.Lock()

    def have(self, number):
        """Have at least so many helpers, or as many as can be started; how many there are."""
        if len(self.helpers) < number:
            with self._starting:
                while len(self.helpers) < number:
                    helper = threading.Thread(target=_help, args=(self,), daemon=True)
                    helper.name = f"framework-kernels-{len(self.helpers)}"
                    try:
                        helper.start()
                    except RuntimeError:  # the system's limit is reached, or the program ends
                        break
                    self.helpers.append(helper)
        return len(self.helpers)

    def ask(self, function):
        """Have a helper call a function."""
        self._asked.put(function)

    def next(self):
        """Wait for what a helper is to call; None lets it go."""
        return self._asked.get()

    def dismiss(self):
        """Let the helpers go once they have nothing to do."""
        with self._starting:
            for _ in self.helpers:
                self.ask(None)


def _help(own):
    """A helper's life."""
    while (function := own.next()) is not None:
        function()
        del function  # arrays are not kept while it waits for the next


def use(kind):
    """Have the helpers wait as a kind of `ThreadPool` says, from now on."""
    global _kind
    _kind = kind
    _begin_anew()


def _begin_anew():
    """Another pool: with fewer threads allowed, those that are there would go on helping."""
    global pool
    before, pool = pool, _kind()
    before.dismiss()


def _forget():
    """In a forked child: threads are not copied, and locks may be held by those that were."""
    global pool, _here
    pool, _here = _kind(), threading.local()


_kind = ThreadPool
pool = ThreadPool()
sharing.run = run
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
