"""Threads that multiply matrices together, without the GIL: a product is shared in 1 or 2 µs.

`threads.run` hands a part over in 20 to 70 µs, which a product of 50 µs cannot pay. Here the
threads wait a moment after each product, in machine code, for the next one; then they sleep.

What is shared stands in one array. Its word holds the number of the job and how many of its parts
nobody has taken. Who takes a part may read the job: it stays as it is until the part is done.
"""

import contextlib
import os
import threading
from queue import SimpleQueue

import numpy as np
from numba import carray

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.atomic import add, exchange, give_way, load, pause, pointer, store
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.products import PACKED, multiply

# Places in the array, in lines of the cache of their own
_WORD, _DONE, _ASLEEP, _JOB = 0, 16, 32, 48
_SIZE = 80
_PARTS = 0xFFFF
_EVERYTHING = 1 << 40  # a length for slices: what a job reads and writes is right by its numbers
# Rounds of waiting, of about 0.3 µs: until then the CPU is kept, which an idle machine has to give;
# after it other threads are let in, and after that the crew sleeps.
_BRIEF, _PATIENCE = 20, 400
_LOOK = 200  # products after which it is looked where the threads run


@kernel
def _work(state, packed):
    """Take parts of the present job until none is left."""
    while True:
        word = load(state, _WORD)
        left = word & _PARTS
        if left == 0:
            return
        if not exchange(state, _WORD, word, word - 1):
            continue
        job = state[_JOB:]
        c = carray(pointer(job[0]), (_EVERYTHING,))
        a = carray(pointer(job[1]), (_EVERYTHING,))
        b = carray(pointer(job[2]), (_EVERYTHING,))
        c_row, a_row, a_step, b_step, b_column, depth = (
            job[3],
            job[4],
            job[5],
            job[6],
            job[7],
            job[8],
        )
        rows, columns, down, share = job[9], job[10], job[11], job[12]
        first = (left - 1) * share
        top, bottom, begin, end = 0, rows, 0, columns
        if down:
            top, bottom = first, min(first + share, rows)
        else:
            begin, end = first, min(first + share, columns)
        multiply(
            c, c_row, a, a_row, a_step, b, b_step, b_column, depth, top, bottom, begin, end, packed
        )
        add(state, _DONE, 1)


@kernel
def _lead(
    state, parts, c, c_row, a, a_row, a_step, b, b_step, b_column, depth, rows, columns, down,
    share, packed,
):  # fmt: skip
    """Set out a job, work on it too, and return when it is done."""
    store(state, _DONE, 0)
    job = state[_JOB:]
    job[0], job[1], job[2] = c.ctypes.data, a.ctypes.data, b.ctypes.data
    job[3], job[4], job[5], job[6], job[7], job[8] = c_row, a_row, a_step, b_step, b_column, depth
    job[9], job[10], job[11], job[12] = rows, columns, down, share
    number = (load(state, _WORD) >> 16) + 1
    store(state, _WORD, (number << 16) | parts)
    _work(state, packed)
    rounds = 0
    while load(state, _DONE) < parts:
        _wait(rounds)
        rounds += 1


@kernel
def _serve(state, packed):
    """Work on the jobs that come, until none has come for a while."""
    rounds = 0
    while True:
        if load(state, _WORD) & _PARTS:
            _work(state, packed)
            rounds = 0
        elif rounds < _PATIENCE:
            _wait(rounds)
            rounds += 1
        else:
            add(state, _ASLEEP, 1)
            return


@kernel
def _change(state, at, number):
    add(state, at, number)


@kernel
def _wait(rounds):
    for _ in range(16):
        pause()
    if rounds > _BRIEF:
        give_way()


class _Crew:
    """The threads, and what they share with who leads them."""

    def __init__(self):
        whole = np.zeros(_SIZE + 8, np.int64)
        self.state = whole[-whole.ctypes.data // 8 % 8 :][:_SIZE]
        self.leading = threading.Lock()
        self.calls = SimpleQueue()
        self.hands = 0
        self.threads = []
        self.until_look = 0  # products until it is looked where the threads run
        self.cpu = None  # the leader's, which the hands keep away from

    def multiply(self, parts, *numbers):
        """Whether the product was shared: only one can be at a time."""
        if not self.leading.acquire(blocking=False):
            return False
        try:
            state = self.state
            while self.hands < parts - 1 and self.hands < threads.count() - 1:
                self.hands += 1
                self.until_look = 0
                hand = threading.Thread(
                    target=_hand, args=(state, self.calls), daemon=True, name="framework-crew"
                )
                hand.start()
                self.threads.append(hand.native_id)
            self.until_look -= 1
            if self.until_look < 0:
                self._keep_apart()
            if asleep := min(int(state[_ASLEEP]), parts - 1):
                _change(state, _ASLEEP, -asleep)
                for _ in range(asleep):
                    self.calls.put(None)
            _lead(state, parts, *numbers, scratch.take("matmul", PACKED))
        finally:
            self.leading.release()
        return True

    def _keep_apart(self):
        """Keep the hands off the leader's CPU.

        A hand that waits on it takes next to no time there, so the system sees no reason to move it
        to an idle one, and everything is left to the leader.
        """
        self.until_look = _LOOK
        cpu = _this_cpu()
        if cpu is None or cpu == self.cpu:
            return
        others = os.sched_getaffinity(0) - {cpu}
        if others:
            self.cpu = cpu
            for thread in self.threads:
                with contextlib.suppress(OSError):  # it may be gone, or bound by somebody else
                    os.sched_setaffinity(thread, others)


def _this_cpu():
    """The number of the CPU that this thread runs on; None where the system does not tell."""
    return _getcpu() if _getcpu is not None else None


def _c_getcpu():
    import ctypes

    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


_getcpu = _c_getcpu()


def _hand(state, calls):
    """A thread of the crew."""
    packed = scratch.aligned(PACKED)
    while True:
        _serve(state, packed)
        calls.get()


_crew = _Crew()


def _forget():
    """In a forked child there are no such threads."""
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def share(parts, *numbers):
    """`products.multiply` of a whole product in parts; see `_lead` for the numbers."""
    return give_way is not None and _crew.multiply(parts, *numbers)
