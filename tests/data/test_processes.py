"""Worker processes: order, errors, death of a worker or of the parent, and nothing left over."""

import gc
import os
import signal
import subprocess
import sys
import time
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest

from framework.core.errors import WorkerError
from framework.data.processes import Workers
from framework.data.pydataset import PyDataset

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc and /dev/shm")


def squares(i):
    """Arrays of growing size: more than the shared memory holds at first."""
    return {"x": np.full((i + 1, 3000), i, np.float32), "y": (i, np.arange(i))}


def fails_at_three(i):
    if i == 3:
        raise KeyError("three")
    return i


def killed_at_two(i):
    if i == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(10_000)


def slow(i):
    time.sleep(0.02)
    return np.zeros(50_000), i


def children():
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def shared():
    return {p.name for p in Path("/dev/shm").glob("psm_*")}


def gone(pid):
    try:
        return "\tZ" in Path(f"/proc/{pid}/status").read_text() or False
    except FileNotFoundError:
        return True


def wait_for(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} seconds"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def nothing_is_left():
    resource_tracker.ensure_running()  # the process of Python that removes lost shared memory
    processes, memory, files = children(), shared(), len(list(Path("/proc/self/fd").iterdir()))
    yield
    gc.collect()
    wait_for(lambda: all(gone(p) for p in children() - processes))
    assert shared() <= memory
    assert len(list(Path("/proc/self/fd").iterdir())) <= files


def test_results_come_in_order_and_arrays_as_they_were():
    for i, found in enumerate(Workers(squares, 2, "test").map(range(12))):
        expected = squares(i)
        np.testing.assert_array_equal(found["x"], expected["x"])
        assert found["x"].dtype == np.float32
        assert found["y"][0] == i
        np.testing.assert_array_equal(found["y"][1], expected["y"][1])
    assert i == 11


def test_results_stay_when_later_ones_come():
    found = list(Workers(squares, 1, "test").map([5, 1, 5, 2]))
    assert [int(each["x"][0, 0]) for each in found] == [5, 1, 5, 2]


def test_a_list_is_computed_by_workers_that_stay():
    workers = Workers(squares, 2, "test")
    for _ in range(2):
        assert [each["y"][0] for each in workers.call([4, 1, 3])] == [4, 1, 3]
    workers.close()


def test_an_error_is_raised_at_its_argument_with_its_traceback():
    results = Workers(fails_at_three, 2, "test").map(range(6))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="three") as caught:
        next(results)
    if sys.version_info >= (3, 11):
        assert "fails_at_three" in caught.value.__notes__[0]


def test_a_killed_worker_is_named_at_once():
    start = time.monotonic()
    with pytest.raises(WorkerError, match=r"worker process 0 \(pid \d+\) of test was killed by"):
        list(Workers(killed_at_two, 2, "test").map(range(9)))
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("end", ["close", "drop"])
def test_an_unfinished_iterator_leaves_nothing(end):
    results = Workers(slow, 2, "test").map(range(100))
    next(results)
    if end == "close":
        results.close()
    del results


class Batches(PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return np.full((4, 2000), i, "float32"), np.full(4, os.getpid())


def test_a_pydataset_with_processes():
    found = list(Batches(workers=2, use_multiprocessing=True))
    assert [x[0, 0] for x, _ in found] == [0, 1, 2, 3, 4]
    pids = {int(y[0]) for _, y in found}
    assert len(pids) == 2
    assert os.getpid() not in pids


PROGRAM = """
import sys, time
import numpy as np
from framework.data.processes import Workers
def work(i):
    time.sleep(0.01)
    return np.zeros(50_000)
workers = Workers(work, 2, "test")
for i, _ in enumerate(workers.map(iter(int, 1))):
    if i == 2:
        print(*[w._process.pid for w in workers._workers], flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_die_with_their_parent(how):
    memory = shared()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        pids = parent.stdout.readline().split()
        assert shared() <= memory
        parent.send_signal(how)
        parent.wait()
    wait_for(lambda: all(gone(pid) for pid in pids), 8)
    assert shared() <= memory
