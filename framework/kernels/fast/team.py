"""Threads that work on tasks together, without the GIL: work is shared in less than 1 µs.

`threads.run` hands a part over in 20 to 70 µs, which a product of 50 µs cannot pay. Here the
pool's threads wait a moment after each job, in machine code, for the next one; then they sleep.
Asked for anything else meanwhile, they leave the machine code for it. They are the same threads,
since two on one CPU, one waiting and one at work, would take time from each other.

What there is to do is a list of *phases*, each of them a run of tasks (see `tasks`) that are cut
into as many parts. A part is the same share of every task of its phase, one task after another, so
that a thread finds in its own cache what it has just written; a phase begins when all parts of the
one before are done.

What is shared stands in one array. Its word holds the number of the job, a phase, and how many of
its parts nobody has taken. Who takes a part may read the job: it stays until the part is done. A
thread that does not come is not waited for: the others take its parts.
"""

import contextlib
import os
import threading
from queue import Empty

import numpy as np
from numba import carray  # pyright: ignore[reportPrivateImportUsage]

from framework.kernels import threads
from framework.kernels.fast import scratch
from framework.kernels.fast.atomic import add, exchange, give_way, load, pause, store
from framework.kernels.fast.entry_point import (
    EntryPoint,
    address,
    done,
    let_others,
    size,
    take_turn,
)
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.products import PACKED, SPARE
from framework.kernels.fast.routine import routine
from framework.kernels.fast.tasks import integers, perform

# A task in its list: its address, that of its numbers, how many units it has and how many a part
TASK = 4
# A phase: its first task and the one after its last, its parts
PHASE = 3

MOST = (PACKED * 4 - SPARE) // 8  # numbers of loops that are done at once

# Places in the array, in lines of the cache of their own
_WORD, _DONE, _ASLEEP, _JOB, _LEADING, _ASKED = 0, 16, 32, 48, 64, 80
_SIZE = 96
_PARTS = 0xFFFF
# Rounds of waiting: as long as one is brief the CPU is kept, which an idle machine has to give;
# after these other threads are let in at each, and after all the team sleeps, unless there is more
# to come of a list that somebody leads through.
_BRIEF, _PATIENCE = 100, 500
_LONG = 1 << 20  # elements, for `let_others`: whoever shares work has much
_LOOK = 200  # jobs after which it is looked where the threads run


@routine
def _part(tasks, first, last, part, memory):
    """Do a part of some tasks."""
    for at in range(first * TASK, last * TASK, TASK):
        begin = part * tasks[at + 3]
        end = min(begin + tasks[at + 3], tasks[at + 2])
        if begin < end:
            perform(tasks[at], tasks[at + 1], begin, end, memory)


@routine
def _work(state, memory):
    """Take parts of the present job until none is left."""
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
    """Do all phases, each together with who comes; alone where `shared` is 0.

    Args:
        shared, tasks, phases, memory: addresses.
        count: of the numbers in `phases`.
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
    """(state, memory, tasks, phases): `_do_phases` of these arrays; alone where the state is empty.

    Nothing is checked: it is called here only.
    """
    shared = address(things[0]) if size(things[0]) else 0
    tasks, phases, count = address(things[2]), address(things[3]), size(things[3])
    memory = address(things[1])
    thread = let_others(_LONG)
    _do_phases(shared, tasks, phases, count, memory)
    take_turn(thread)
    return done()


@EntryPoint
def _do_alike(_kind, things, count):
    """(state, memory, numbers, *arrays): a phase of tasks alike, of which `numbers` are a template.

    That begins with the numbers of each task, of which the first are places for the addresses of
    its arrays, and ends with the tasks and their phase.
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
    thread = let_others(_LONG)
    _do_phases(shared, tasks, phase, PHASE, memory)
    take_turn(thread)
    return done()


@kernel
def _serve(state, memory):
    """Work on the jobs that come, until none has come for a while or helpers are asked for
    something else; whether this one goes to sleep."""
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


_let_others_in = give_way or _nothing


@routine
def _wait(rounds):
    if rounds < _BRIEF:
        pause()
        return
    for _ in range(16):
        pause()
    _let_others_in()


class ThreadTeam(threads.ThreadPool):
    """The pool's threads, and what they share with who leads them."""

    def __init__(self):
        super().__init__()
        whole = np.zeros(_SIZE + 8, np.int64)
        self._state = whole[-whole.ctypes.data // 8 % 8 :][:_SIZE]
        self._leading = threading.Lock()
        self._most = _PARTS  # helpers, as far as is known
        self._until_look = 0  # jobs until it is looked where the threads run
        self._cpu = None  # the leader's, which the helpers keep away from

    def do(self, most, work, arrays):
        """Whether `work` was shared, in up to `most` parts: only one thread can lead."""
        if give_way is None or not self._leading.acquire(blocking=False):
            return False
        try:
            wanted = most - 1
            if len(self.helpers) < wanted and len(self.helpers) < self._most:
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
            self._most = len(self.helpers)
        self._cpu, self._until_look = None, 0  # the new ones are not bound yet

    def ask(self, function):
        """Have a helper call a function."""
        if self._cpu is not None:  # once bound, a helper cannot make way by itself
            self._keep_apart()
        self._until_look = 0  # who waits for it may wake up elsewhere
        super().ask(function)
        _change(self._state, _ASKED, 1)

    def next(self):
        """Help in machine code until there is something else to call."""
        state = self._state
        while True:
            if _serve(state, scratch.for_a_call("matmul", PACKED)):
                function = self._asked.get()
                _change(state, _ASLEEP, -1)
            else:
                try:
                    function = self._asked.get_nowait()
                except Empty:  # somebody else was there before
                    continue
            if function is not _WAKE:
                _change(state, _ASKED, -1)
                return function

    def _keep_apart(self):
        """Keep the helpers off the leader's CPU.

        One that waits on it takes next to no time there, so the system sees no reason to move it
        to an idle one, and everything is left to the leader.
        """
        self._until_look = _LOOK
        cpu = _this_cpu()
        if cpu is None or cpu == self._cpu:
            return
        others = os.sched_getaffinity(0) - {cpu}
        if others:
            self._cpu = cpu
            for helper in self.helpers:
                with contextlib.suppress(OSError):  # it may be gone, or bound by somebody else
                    os.sched_setaffinity(helper.native_id, others)


_WAKE = object()


def _this_cpu():
    """The number of the CPU that this thread runs on; None where the system does not tell."""
    return _getcpu() if _getcpu is not None else None


def _c_getcpu():
    import ctypes

    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


_getcpu = _c_getcpu()


threads.use(ThreadTeam)


def do(tasks, phases, most):
    """Do the work of these lists (int64, see `TASK` and `PHASE`).

    Args:
        most: the most parts that a phase has.
    """
    if most == 1 or not threads.pool.do(most, _do_lists.call, (tasks, phases)):
        _alone(_do_lists.call, (tasks, phases))


def do_alike(numbers, parts, *arrays):
    """Do one task, or several alike that do not need each other, in so many parts.

    Args:
        numbers: int64: the numbers of each task, as many of all; then the tasks as in a list, the
            places for those of their numbers left free; and the phase. They are not changed. Those
            of one task fit into a product's spare memory; of loops there may be `MOST` in all.
        arrays: of each task, whose addresses are the first of its numbers, in the place of what is
            there.
    """
    if parts == 1 or not threads.pool.do(parts, _do_alike.call, (numbers, *arrays)):
        _do_alike.call(_nobody, scratch.for_a_call("matmul", PACKED), numbers, *arrays)


_nobody = np.empty(0, np.int64)


def _alone(work, arrays):
    work(_nobody, scratch.for_a_call("matmul", PACKED), *arrays)


def warm():
    """Nothing: `matmul.warm` compiles what is here with its own."""
