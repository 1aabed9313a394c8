"""The pool of kernel threads."""

import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from framework.kernels import threads
from tests.changed import changed


@pytest.fixture(autouse=True)
def two_threads(change):
    change(threads, _count=2)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 17])
def test_every_part_runs_once(number):
    seen = []
    threads.run(seen.append, range(number))
    assert sorted(seen) == list(range(number))


def test_parts_run_in_parallel():
    meeting = threading.Barrier(2)
    threads.run(lambda part: meeting.wait(timeout=10), range(2))  # one thread alone would time out


def test_run_returns_after_all_parts():
    done = [False, False]

    def work(part):
        time.sleep(0.02 * part)
        done[part] = True

    threads.run(work, range(2))
    assert done == [True, True]


@pytest.mark.parametrize("part", [0, 1, 5])
def test_an_error_reaches_the_caller_and_the_pool_lives_on(part):
    def work(this):
        if this == part:
            raise ValueError(f"part {this}")

    for _ in range(3):
        with pytest.raises(ValueError, match=f"part {part}"):
            threads.run(work, range(6))
    test_parts_run_in_parallel()


def test_a_run_within_a_chunk_uses_its_thread():
    where = {}

    def outer(part):
        inner = []
        threads.run(lambda _: inner.append(threading.get_ident()), range(4))
        where[part] = (threading.get_ident(), inner)

    threads.run(outer, range(4))
    assert all(set(inner) == {own} for own, inner in where.values())


def test_concurrent_callers():
    def call(results):
        for _ in range(50):
            threads.run(results.append, range(3))

    results = [[] for _ in range(4)]
    callers = [threading.Thread(target=call, args=(r,)) for r in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [sorted(r) for r in results] == [sorted([0, 1, 2] * 50)] * 4


def refuse(self):
    raise RuntimeError("can't start new thread")


def test_one_thread_works_if_no_other_can_start(monkeypatch):
    with changed(threads, pool=type(threads.pool)()), monkeypatch.context() as python:
        python.setattr(threading.Thread, "start", refuse)
        test_every_part_runs_once(3)
    test_parts_run_in_parallel()


def test_an_interrupt_waits_for_running_parts():
    """Workers write to arrays that the caller uses again."""
    done, begun = [], threading.Event()

    def work(part):
        if threading.current_thread() is threading.main_thread():
            begun.wait(10)
        else:
            begun.set()
            time.sleep(0.2)
            done.append(part)

    class Left(threads.SimpleQueue):
        times = 0

        def get(self):
            Left.times += 1
            if Left.times < 3:
                raise KeyboardInterrupt
            return super().get()

    with changed(threads, SimpleQueue=Left), pytest.raises(KeyboardInterrupt):
        threads.run(work, range(2))
    assert len(done) == 1
    assert Left.times == 3
    test_parts_run_in_parallel()


def test_late_workers_keep_no_references():
    class Array:
        pass

    array = Array()
    gone = weakref.ref(array)
    threads.run(lambda part, array=array: None, range(2))
    del array
    assert gone() is None


def test_errstate_applies_in_the_pool():
    with np.errstate(all="ignore"):
        threads.run(lambda part: np.float32(1) / np.zeros(3, np.float32), range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own():
    test_parts_run_in_parallel()
    child = os.fork()
    if not child:
        meeting = threading.Barrier(2)
        try:
            threads.run(lambda part: meeting.wait(timeout=10), range(2))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def four_cpus(change, monkeypatch):
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    change(threads, _cpus=lambda: 4)
    change(threads, _quota=lambda: 99)
    change(threads, _count=None)  # without calling the listeners


@pytest.mark.parametrize("name", threads.VARIABLES)
@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), ("3", 3), ("8", 4), ("", 4), ("0", 4), ("2,1", 2), ("x", 4)]
)
def test_count_is_what_the_environment_allows(four_cpus, monkeypatch, name, text, number):
    monkeypatch.setenv(name, text)
    assert threads.count() == number


def test_count_is_the_cpus_of_this_process(four_cpus):
    assert threads.count() == 4
    threads.set_count(7)
    assert threads.count() == 7


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
def test_an_invalid_count(number):
    with pytest.raises(ValueError, match="number of threads must be an int >= 1, got"):
        threads.set_count(number)


QUOTAS = [
    # lines of /proc/self/cgroup, files, CPUs
    ("0::/", {"cpu.max": "150000 100000"}, 1),
    ("0::/", {"cpu.max": "max 100000"}, threads._NO_LIMIT),
    ("0::/", {}, threads._NO_LIMIT),
    ("0::/", {"cpu.max": "50000 100000"}, 1),
    ("0::/a/b", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}, 3),
    ("0::/host/only", {"cpu.max": "200000 100000"}, 2),
    (
        "5:cpu,cpuacct:/c\n1:name=x:/",
        {"cpu/c/cpu.cfs_quota_us": "250000", "cpu/c/cpu.cfs_period_us": "100000"},
        2,
    ),
    ("5:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 1 << 30),
]


@pytest.mark.parametrize(("own", "files", "number"), QUOTAS)
def test_quotas_of_control_groups(change, tmp_path, own, files, number):
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    change(threads, _OWN_GROUPS=tmp_path / "own")
    assert threads._quota(tmp_path) == number


def test_threads_end_with_the_program():
    """The import starts no thread; the pool's threads keep no program alive."""
    program = (
        "import threading; from framework.kernels import threads;"
        "assert threading.active_count() == 1; threads.set_count(3);"
        "threads.run(lambda part: None, range(9)); assert threading.active_count() == 3"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
