"""Plan locks: plans that change the same variables or random generators run one at a time.

A lock is a list with one entry, which a plan removes while it runs. This takes a tenth of the time
of a `threading.Lock`. A thread that waits for several locks holds none of them, so deadlocks cannot
occur.
"""

import sys
import threading
import time
import weakref


class PlanLock:
    """The lock of the plans that change a variable; `free` has an entry unless it is held."""

    __slots__ = ("__weakref__", "free")

    def __init__(self):
        self.free = [True]

    @property
    def each(self):
        """The lists from which a plan pops an entry to hold the lock."""
        return [self.free]


class PlanLocks:
    """Several locks, acquired together.

    Args:
        each: the list `free` of each lock.
        locks: the locks, kept alive by this object.
    """

    def __init__(self, each, locks=()):
        self.each, self._locks = each, locks
        self.free = self

    def pop(self):
        """Acquire all locks; raise IndexError if another thread holds one of them."""
        acquired = []
        try:
            for free in self.each:
                free.pop()
                acquired.append(free)
        except BaseException:
            for free in acquired:
                free.append(True)
            raise
        return True

    def append(self, entry):
        """Release all locks, as `append` of the list of a single lock does."""
        for free in self.each:
            free.append(entry)


# serial of a variable -> its lock; an entry lives as long as plans use the lock
_locks = weakref.WeakValueDictionary()
_all = weakref.WeakSet()
_assigning = threading.RLock()
# Every traced call holds this lock, because the call may change any variable.
_tracing = PlanLock()
_LONGEST = 60.0  # A traced call waits at most this many seconds for the plans of other threads.


class _Held(threading.local):
    """The locks that traced calls of this thread hold."""

    def __init__(self):
        self.locks = []  # locks that this thread holds, that of the outermost call first


_held = _Held()


class exclusive_trace:
    """Context manager of a traced call: holds all plan locks, so that no plan changes variables.

    A Python body that waits for another thread's plan would deadlock, so after a minute the call
    continues without the locks.

    Args:
        outer: the locks of the plans that this thread is running.
    """

    def __init__(self, outer=()):
        self._outer = outer

    def __enter__(self):
        outer = [*_held.locks, *self._outer]
        while True:
            locks = self._all_locks()
            lists = list({id(each): each for lock in locks for each in lock.each}.values())
            self._acquired = acquire(PlanLocks(lists, locks), outer, _LONGEST)
            if self._acquired is None:
                return self
            # If no plan has added a lock in the meantime, this thread holds all of them.
            if len(self._all_locks()) == len(locks):
                _held.locks.append(self._acquired)
                return self
            self._acquired.append(True)

    @staticmethod
    def _all_locks():
        with _assigning:
            return [_tracing, *_all]

    def __exit__(self, *_):
        if self._acquired is not None:
            _held.locks.pop()
            self._acquired.append(True)


def held_locks():
    """Return the locks that traced calls of this thread hold."""
    return list(_held.locks)


def lock_of(variables):
    """Return the lock of a plan that changes these variables; None if there are none.

    Variables without a lock share the lock of the others, so most plans need only one lock.
    """
    if not variables:
        return None
    with _assigning:
        found = {id(t): t for v in variables if (t := _locks.get(v.serial)) is not None}
        locks = list(found.values()) or [PlanLock()]
        _all.update(locks)
        for variable in variables:
            _locks.setdefault(variable.serial, locks[0])
    return locks[0] if len(locks) == 1 else PlanLocks([lock.free for lock in locks], locks)


def acquire(lock, outer, longest=None):
    """Wait for a lock, acquire it and return the object to release.

    Args:
        outer: locks that this thread already holds.
        longest: the seconds after which to return None; None waits without limit.
    """
    had = {id(each) for other in outer for each in other.each}
    wanted = PlanLocks([each for each in lock.each if id(each) not in had])
    since = None if longest is None else time.monotonic()
    while not _try(wanted):
        time.sleep(1e-5)
        if since is not None and time.monotonic() - since > longest:
            return None
    return wanted


def _try(lock):
    try:
        lock.pop()
    except IndexError:
        return False
    return True


def callers(code):
    """Return the locals of this thread's frames that run `code`, innermost first."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        if frame.f_code is code:
            found.append(frame.f_locals)
        frame = frame.f_back
    return found
