"""Worker processes: order, errors, death of a worker or of the parent, and nothing left over."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework.core.errors import WorkerError
from framework.data import Dataset
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
    # other processes of the test run may hold names for a moment
    wait_for(lambda: shared() <= memory)
    # the thread of `prefetch` may still be closing them
    wait_for(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files)


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


class Killed(Batches):
    def __getitem__(self, i):
        return killed_at_two(i)


def test_a_killed_process_of_a_pydataset_is_named_within_seconds():
    start = time.monotonic()
    with pytest.raises(WorkerError, match=r"worker process 0 \(pid \d+\) of Killed was killed by"):
        list(Killed(workers=2, use_multiprocessing=True))
    assert time.monotonic() - start < 5


def test_an_unfinished_pydataset_leaves_nothing():
    iterator = iter(Batches(workers=2, use_multiprocessing=True))
    next(iterator)
    del iterator


X = np.random.default_rng(0).normal(size=(12, 3000)).astype(np.float32)


def in_process(x, y):
    """A function of Python code: what it gives shows the process."""
    return {"x": x.numpy() * 2, "y": y, "pid": np.int64(os.getpid())}, tf.random.uniform((2,))


@pytest.mark.parametrize("count", [1, 3, None])
def test_a_map_in_processes_has_the_elements_of_threads(count):
    data = Dataset.from_tensor_slices((X, np.arange(12)))
    found = []
    for processes in (False, True):
        tf.random.set_seed(7)
        workers = 2 if count is None and not processes else count
        mapped = data.map(in_process, workers, use_multiprocessing=processes)
        found.append([list(mapped.as_numpy_iterator()) for _ in range(2)])
    for one, other in zip(*found):
        for (a, drawn), (b, drawn_there) in zip(one, other, strict=True):
            assert a["x"].tobytes() == b["x"].tobytes()
            assert a["y"] == b["y"]
            assert drawn.tobytes() == drawn_there.tobytes()
            assert a["pid"] == os.getpid() != b["pid"]
        pids = {int(b["pid"]) for b, _ in other}
        assert len(pids) == (count or os.cpu_count())
    assert found[1][0][0][1].tobytes() != found[1][1][0][1].tobytes()


def test_elements_of_any_size_reach_the_processes():
    sizes = [1, 9000, 10, 40_000, 200_000, 3, 100_000, 200_000, 5]
    rows = lambda: (np.arange(n, dtype=np.float32) for n in sizes)
    data = Dataset.from_generator(rows, output_signature=tf.TensorSpec((None,), tf.float32))
    for count in (1, 2):
        mapped = data.map(lambda x: (x.numpy()[::-1], x), count, use_multiprocessing=True)
        for n, (back, same) in zip(sizes, mapped, strict=True):
            np.testing.assert_array_equal(same.numpy(), np.arange(n, dtype=np.float32))
            np.testing.assert_array_equal(back.numpy(), np.arange(n, dtype=np.float32)[::-1])
    words = Dataset.from_tensor_slices(["a", "bc"]).map(lambda w: w, use_multiprocessing=True)
    assert [w.item() for w in words] == [b"a", b"bc"]


def test_an_error_in_a_process_names_the_element_and_the_iterator_goes_on():
    def fails(x):
        return np.int64(6 // (x.item() - 3))

    data = Dataset.range(6).map(fails, 2, use_multiprocessing=True)
    iterator, found = iter(data), []
    with pytest.raises(ZeroDivisionError) as caught:
        found.extend(x.item() for x in iterator)
    assert [x.item() for x in Dataset.range(3).map(fails)] == found == [-2, -3, -6]
    if sys.version_info >= (3, 11):
        notes = "".join(caught.value.__notes__)
        assert "map_func at element 3 (the first is 0) of stage 2" in notes
        assert "in fails" in notes
    assert [x.item() for x in iterator] == [6, 3]
    assert [x.item() for x in data.ignore_errors()] == [-2, -3, -6, 6, 3]


def test_a_result_that_cannot_be_sent_is_an_error():
    made = lambda x: Dataset.from_generator(lambda: iter([x]), output_types="int64")
    with pytest.raises((AttributeError, TypeError, RuntimeError), match="pickle"):
        list(Dataset.range(3).map(made, 1, use_multiprocessing=True))


def test_a_killed_process_of_a_map_is_named_within_seconds():
    def killed(x):
        if x.item() == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    start = time.monotonic()
    iterator = iter(Dataset.range(9).map(killed, 2, use_multiprocessing=True))
    with pytest.raises(WorkerError, match=r"worker process \d \(pid \d+\) of map was killed by"):
        list(iterator)
    assert time.monotonic() - start < 5
    assert list(iterator) == []


def test_a_process_killed_from_outside_while_it_computes_is_noticed():
    def waits(x):
        if x.item() == 1:
            time.sleep(60)
        return np.int64(os.getpid())

    iterator = iter(Dataset.range(4).map(waits, 1, use_multiprocessing=True))
    pid, start = next(iterator).item(), time.monotonic()
    threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(WorkerError, match=rf"pid {pid}\) of map was killed by SIGKILL"):
        next(iterator)
    assert time.monotonic() - start < 5


def test_a_map_in_processes_that_is_dropped_after_an_error_leaves_nothing():
    def fails(x):
        if x.item() == 2:
            raise KeyError("two")
        return np.zeros(10_000)

    iterator = iter(Dataset.range(9).map(fails, 2, use_multiprocessing=True))
    with pytest.raises(KeyError, match="two"):
        list(iterator)
    del iterator


@pytest.mark.parametrize("end", ["normal", "dropped", "closed", "prefetched"])
def test_maps_in_processes_leave_nothing(end):
    data = Dataset.from_tensor_slices(X).map(lambda x: x.numpy() + 1, 2, use_multiprocessing=True)
    iterator = iter(data.prefetch(1) if end == "prefetched" else data)
    next(iterator)
    if end == "normal":
        list(iterator)
    elif end == "closed":
        iterator.close()
    del iterator


def test_a_position_in_a_map_in_processes_is_restored():
    data = Dataset.from_tensor_slices((X, np.arange(12))).shuffle(12, seed=1)
    data = data.map(in_process, 2, use_multiprocessing=True)
    iterator = iter(data)
    for _ in range(5):
        next(iterator)
    state = iterator.state()
    rest = [(e["y"].item(), drawn.numpy().tobytes()) for e, drawn in iterator]
    other = iter(data)
    other.restore(state)
    assert [(e["y"].item(), drawn.numpy().tobytes()) for e, drawn in other] == rest


MAPPED = """
import time
import numpy as np
from framework.data import Dataset
def work(x):
    time.sleep(0.01)
    return np.zeros(50_000)
iterator = iter(Dataset.range(10**6).map(work, 2, use_multiprocessing=True))
for i, _ in enumerate(iterator):
    if i == 2:
        workers = iterator._framework.elements._workers._workers
        print(*[w._process.pid for w in workers], flush=True)
"""
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


@pytest.mark.parametrize("program", [PROGRAM, MAPPED], ids=["workers", "map"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_die_with_their_parent(how, program):
    memory = shared()
    with subprocess.Popen(
        [sys.executable, "-c", program],
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


INTERRUPTED = """
import gc, os, signal, threading, time
from multiprocessing import resource_tracker
from pathlib import Path
import numpy as np
from framework.data import Dataset
from framework.data.pydataset import PyDataset
def slow(x):
    time.sleep(0.01)
    return np.full(10_000, x.item())
class Batches(PyDataset):
    def __len__(self):
        return 10**6
    def __getitem__(self, i):
        time.sleep(0.01)
        return np.full(10_000, i)
endless = Dataset.range(10**6)
PIPELINES = {
    "map": endless.map(slow, 2),
    "prefetch": endless.map(slow).prefetch(2),
    "interleave": Dataset.range(9).interleave(lambda i: endless.map(slow), 2, 1, 2),
    "processes": endless.map(slow, 2, use_multiprocessing=True),
    "processes, prefetch": endless.map(slow, 2, use_multiprocessing=True).prefetch(2),
    "PyDataset": Batches(workers=2),
    "PyDataset, processes": Batches(workers=2, use_multiprocessing=True),
}
def held():
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    threads = {t for t in threading.enumerate() if t.name.startswith("framework-")}
    return set(children), threads, len(list(Path("/proc/self/fd").iterdir()))
def interrupted(data):
    caught = False
    try:
        for i, _ in enumerate(data):
            if i == 2:  # as a terminal does it: the signal reaches all processes of the group
                threading.Timer(0.05, os.killpg, (0, signal.SIGINT)).start()
    except KeyboardInterrupt:
        caught = True
    return caught
resource_tracker.ensure_running()
before = held()
for name, data in PIPELINES.items():
    print(name, interrupted(data))
    gc.collect()
    end = time.monotonic() + 8
    while held() != before and time.monotonic() < end:
        time.sleep(0.02)
    if held() != before:
        print(before, held())
print("done")
"""


def test_a_program_that_goes_on_after_ctrl_c_holds_nothing():
    memory = shared()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=120,
        start_new_session=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 8, done.stdout + done.stderr
    assert all(line.endswith("True") for line in lines[:-1]), done.stdout
    assert lines[-1] == "done"
    assert "Traceback" not in done.stderr
    assert shared() <= memory
