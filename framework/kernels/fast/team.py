"""The thread team: threads that share tasks without the GIL, in less than 1 µs.

`threads.run` needs 20 to 70 µs to hand over work, too much for a product of 50 µs. So after each
job, the pool's threads spin in machine code for a moment, waiting for the next job, before they
sleep. They stop spinning if a Python function is queued. No additional threads spin, because these
would take CPU time from working ones.

Work is a list of *phases*. A phase is a sequence of tasks (see `tasks`), all divided into the same
number of chunks. A thread runs the same chunk of every task of the phase, one task after another,
and finds in its cache what it has just written. A barrier ends each phase.

The threads share one array of state. One word of it holds the number of the phase and the number of
chunks that are left. A thread that has taken a chunk may read the job's other data, which do not
change until the chunk is done. The leader does not wait for threads that have taken no chunk,
because other threads take the chunks.
"""

import contextlib
import os
import threading
from queue import Empty

import numpy as np
from numba import carray  # pyright: ignore[reportPrivateImportUsage]

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.atomic import add, exchange, load, pause, sched_yield, store
from framework.kernels.fast.entry_point import (
    EntryPoint,
    address,
    done,
    release_gil,
    size,
    take_gil,
)
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.products import PACKED, SPARE
from framework.kernels.fast.routine import routine
from framework.kernels.fast.tasks import integers, perform

# A list of tasks is a flat array with TASK integers per task: the address of the task, the address
# of its arguments, its number of work items, and the work items per chunk.
TASK = 4
# A list of phases is a flat array with PHASE integers per phase: the index of its first task, the
# end index of its tasks (exclusive), and its number of chunks.
PHASE = 3

# maximum number of int64 values in the argument `numbers` of `do_phase`
MOST = (PACKED * 4 - SPARE) // 8

# Indices into the shared array, each at the start of a cache line.
_WORD, _DONE, _ASLEEP, _JOB, _LEADING, _ASKED = 0, 16, 32, 48, 64, 80
_SIZE = 96
_PARTS = 0xFFFF
# A waiting thread counts rounds. It keeps the CPU for _BRIEF rounds, then yields the CPU to other
# threads in each round. After _PATIENCE rounds a worker sleeps, unless a leader has phases left.
_BRIEF, _PATIENCE = 100, 500
_LONG = 1 << 20  # `release_gil` always releases the GIL for this many elements.
_LOOK = 200  # number of jobs after which the leader checks which CPU it runs on


@routine
def _part(tasks, first, last, part, memory):
    """Run one chunk of the tasks from `first` to before `last`."""
    for at in range(first * TASK, last * TASK, TASK):
        begin = part * tasks[at + 3]
        end = min(begin + tasks[at + 3], tasks[at + 2])
        if begin < end:
            perform(tasks[at], tasks[at + 1], begin, end, memory)


@routine
def _work(state, memory):
    """Run chunks of the current job until none is left."""
    while True:
        word = load(state, _WORD)
        left = word & _PARTS
        if left == 0:
            return
        if exchange(state, _WORD, word, word - 1):
            tasks, first, last = integers(state[_JOB]), state[_JOB + 1], state[_JOB + 2]
            _part(tasks, first, last, left - 1, memory)
            add(state, _DONE, 1)


@routine
def _do_phases(shared, tasks, phases, count, memory):
    """Run all phases as the leader, with the workers that join; without workers if `shared` is 0.

    Args:
        shared, tasks, phases, memory: addresses of arrays.
        count: the size of the array `phases`.
    """
    state, listed = carray(integers(shared), _SIZE), integers(phases)
    number = load(state, _WORD) >> 16 if shared else 0
    if shared:
        store(state, _LEADING, 1)
    for at in range(0, count, PHASE):
        first, last, parts = listed[at], listed[at + 1], listed[at + 2]
        if parts == 1 or shared == 0:
            for part in range(parts):
                _part(integers(tasks), first, last, part, memory)
            continue
        number += 1
        state[_DONE] = 0
        state[_JOB], state[_JOB + 1], state[_JOB + 2] = tasks, first, last
        store(state, _WORD, (number << 16) | parts)
        _work(state, memory)
        rounds = 0
        while load(state, _DONE) < parts:
            _wait(rounds)
            rounds += 1
    if shared:
        store(state, _LEADING, 0)


@EntryPoint
def _do_lists(_kind, things, _count):
    """Call `_do_phases`; `things` are the arrays state, memory, tasks and phases.

    If `state` is empty, no worker joins. Arguments are unchecked: only this module calls it.
    """
    shared = address(things[0]) if size(things[0]) else 0
    tasks, phases, count = address(things[2]), address(things[3]), size(things[3])
    memory = address(things[1])
    thread = release_gil(_LONG)
    _do_phases(shared, tasks, phases, count, memory)
    take_gil(thread)
    return done()


@EntryPoint
def _do_phase(_kind, things, count):
    """Run one phase whose tasks call the same kernel.

    `things` are the arrays state, memory and numbers, then the tasks' arrays. If `state` is empty,
    only the calling thread works. `numbers` is a template of three parts: each task's arguments
    (the first are reserved for the addresses of its arrays), the list of tasks, and the phase.
    """
    shared = address(things[0]) if size(things[0]) else 0
    memory, given, length = address(things[1]), integers(address(things[2])), size(things[2])
    own = integers(memory + SPARE)
    for i in range(length):
        own[i] = given[i]
    number = own[length - PHASE + 1]
    first = length - PHASE - TASK * number
    each, arrays = first // number, (count - 3) // number
    for task in range(number):
        begin = task * each
        for i in range(arrays):
            own[begin + i] = address(things[3 + task * arrays + i])
        own[first + TASK * task + 1] = memory + SPARE + 8 * begin
    tasks, phase = memory + SPARE + 8 * first, memory + SPARE + 8 * (length - PHASE)
    thread = release_gil(_LONG)
    _do_phases(shared, tasks, phase, PHASE, memory)
    take_gil(thread)
    return done()


@kernel
def _serve(state, memory):
    """Run jobs as a worker until none comes or a function is queued; return whether to sleep."""
    rounds = 0
    while True:
        if load(state, _WORD) & _PARTS:
            _work(state, memory.ctypes.data)
            rounds = 0
        elif load(state, _ASKED) > 0:
            return False
        elif rounds < _PATIENCE or load(state, _LEADING):
            _wait(rounds)
            rounds += 1
        else:
            add(state, _ASLEEP, 1)
            return True


@kernel(nogil=False)
def _change(state, at, number):
    add(state, at, number)


@kernel(forceinline=True)
def _nothing():
    pass


_yield_cpu = sched_yield or _nothing


@routine
def _wait(rounds):
    if rounds < _BRIEF:
        pause()
        return
    for _ in range(16):
        pause()
    _yield_cpu()


class ThreadTeam(threads.ThreadPool):
    """A thread pool whose threads are workers, with the state that they share with the leader."""

    def __init__(self):
        super().__init__()
        whole = np.zeros(_SIZE + 8, np.int64)
        self._state = whole[-whole.ctypes.data // 8 % 8 :][:_SIZE]
        self._leading = threading.Lock()
        # the maximum number of workers, lowered if the system refuses to start more
        self._most = _PARTS
        # number of jobs until `_keep_apart` checks again on which CPU the leader runs
        self._until_look = 0
        self._cpu = None  # the number of the leader's CPU, which no worker may use

    def do(self, most, work, arrays):
        """Run `work` with up to `most` threads; return False, without running it, if another
        thread is leading."""
        if sched_yield is None or not self._leading.acquire(blocking=False):
            return False
        try:
            wanted = most - 1
            if len(self.workers) < wanted and len(self.workers) < self._most:
                self._take_on(wanted)
            self._until_look -= 1
            if self._until_look < 0:
                self._keep_apart()
            if asleep := self._state.item(_ASLEEP):
                for _ in range(min(asleep, wanted) - self._asked.qsize()):
                    self._asked.put(_WAKE)
            work(self._state, scratch.for_a_call("matmul", PACKED), *arrays)
        finally:
            self._leading.release()
        return True

    def _take_on(self, wanted):
        self._most = threads.count() - 1
        wanted = min(wanted, self._most)
        if self.have(wanted) < wanted:
            self._most = len(self.workers)
        # New workers are not bound to CPUs yet.
        self._cpu, self._until_look = None, 0

    def ask(self, function):
        """Queue a function, which any worker may run."""
        # The leader may have moved to the CPU of a worker.
        if self._cpu is not None:
            self._keep_apart()
        # Check the leader's CPU at the next job, because the leader may wake up on another one.
        self._until_look = 0
        super().ask(function)
        _change(self._state, _ASKED, 1)

    def next(self):
        """Run jobs in machine code until a function is queued; return the function."""
        state = self._state
        while True:
            if _serve(state, scratch.for_a_call("matmul", PACKED)):
                function = self._asked.get()
                _change(state, _ASLEEP, -1)
            else:
                try:
                    function = self._asked.get_nowait()
                # Another worker has taken the function.
                except Empty:
                    continue
            if function is not _WAKE:
                _change(state, _ASKED, -1)
                return function

    def _keep_apart(self):
        """Bind the workers to the CPUs other than the leader's.

        A worker that waits on the leader's CPU uses so little time that the system does not move
        the worker to an idle CPU; then the leader does all the work.
        """
        self._until_look = _LOOK
        cpu = _this_cpu()
        if cpu is None or cpu == self._cpu:
            return
        others = os.sched_getaffinity(0) - {cpu}
        if others:
            self._cpu = cpu
            for worker in self.workers:
                # The worker may have ended, which raises OSError.
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(worker.native_id, others)


_WAKE = object()


def _this_cpu():
    """Return the number of the CPU that this thread runs on; None if the system cannot say."""
    return _getcpu() if _getcpu is not None else None


def _c_getcpu():
    import ctypes

    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


_getcpu = _c_getcpu()


threads.use(ThreadTeam)


def do(tasks, phases, most):
    """Run lists of tasks and phases (int64, see `TASK` and `PHASE`).

    Args:
        most: the largest number of chunks of a phase.
    """
    if most == 1 or not threads.pool.do(most, _do_lists.call, (tasks, phases)):
        _alone(_do_lists.call, (tasks, phases))


def do_phase(numbers, parts, *arrays):
    """Run one phase of independent tasks of one kernel, or of a single task, in `parts` chunks.

    Args:
        numbers: int64, not changed: the arguments of each task, the same number for all; the list
            of tasks, with empty entries for the addresses of their arguments; and the phase.
            Arguments of a product must fit into the scratch memory that `products` reserves for
            them; other lists have at most `MOST` numbers.
        arrays: the arrays of each task, whose addresses become its first arguments.
    """
    if parts == 1 or not threads.pool.do(parts, _do_phase.call, (numbers, *arrays)):
        _do_phase.call(_no_state, scratch.for_a_call("matmul", PACKED), numbers, *arrays)


_no_state = np.empty(0, np.int64)


def _alone(work, arrays):
    work(_no_state, scratch.for_a_call("matmul", PACKED), *arrays)


def warm():
    """Compile `_change`, by which functions are queued; `matmul.warm` compiles the rest."""
    _change(np.zeros(_ASKED + 1, np.int64), _ASKED, 0)
