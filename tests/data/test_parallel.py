"""AUTOTUNE: the number of calls at a time follows from what is measured; results do not."""

import threading
import time

import numpy as np
import pytest

from framework.data import AUTOTUNE, Dataset
from framework.data.arguments import stage_of
from framework.data.parallel import Tuner


def settled(rate, waits=1.0, cpus=2, results=20_000, busy=0.0):
    """The counts that a Tuner chooses if `count` calls at a time give `rate(count)` results/s.

    `busy` CPUs work all the time.
    """
    tuner, now, counts = Tuner(cpus), 0.0, []
    for _ in range(results):
        took = 1 / rate(tuner.count)
        now += took
        counts.append(tuner.count_after(waits * took, now, busy * now))
        if tuner.settled:
            break
    return tuner.settled, counts


def test_calls_that_wait_for_something_run_many_at_a_time():
    done, counts = settled(lambda count: 100 * min(count, 12))
    assert done
    assert counts[-1] == 16
    assert max(counts) == 32
    done, counts = settled(lambda count: 100 * count)
    assert done
    assert counts[-1] == 32


def test_calls_that_hold_the_interpreter_run_one_at_a_time():
    for rate in (lambda count: 500 if count else 300, lambda count: 500 / (count or 2)):
        done, counts = settled(rate, cpus=8)
        assert done
        assert counts[-1] == 1


def test_short_calls_run_in_the_thread_of_the_consumer():
    done, counts = settled(lambda count: 500 / (1 + count), cpus=8)
    assert done
    assert counts[-1] == 0


def test_calls_that_need_a_cpu_each_run_on_all_cpus():
    done, counts = settled(lambda count: 300 * min(count, 4), cpus=4)
    assert done
    assert counts[-1] == 4


def test_nothing_more_is_tried_once_all_cpus_are_busy():
    done, counts = settled(lambda count: 300 * min(count, 4), cpus=4, busy=3.9)
    assert done
    assert set(counts) == {4}
    # The work of one CPU may be Python code, which one thread computes faster.
    done, counts = settled(lambda count: 500 / (count or 2), cpus=1, busy=1.0)
    assert done
    assert counts[-1] == 1


def test_cpu_time_before_a_measurement_does_not_count():
    tuner = Tuner(4)
    tuner.count, tuner._tried = 0, [4, 1]
    tuner._begin(0.0, 0.0, 0)
    for result in range(1, 200):  # the consumer works on all CPUs, and waits for nothing
        tuner.count_after(0.0, result * 0.01, result * 0.04)
    since, cpu = tuner._since, tuner._cpu_since
    assert cpu == pytest.approx(4 * since)


def test_a_slow_consumer_changes_nothing():
    done, counts = settled(lambda count: 100 * count, waits=0.1)
    assert not done
    assert set(counts) == {2}


@pytest.mark.parametrize("seconds", [0.0, 0.002])
def test_results_keep_their_order_while_the_number_of_threads_changes(seconds):
    seen = []

    def slow(x):
        time.sleep(seconds * (x.item() % 3))
        seen.append(1)
        return x * 2

    data = Dataset.range(400).map(slow, num_parallel_calls=AUTOTUNE)
    np.testing.assert_array_equal([x.item() for x in data], np.arange(400) * 2)
    loose = Dataset.range(400).map(slow, num_parallel_calls=AUTOTUNE, deterministic=False)
    assert sorted(x.item() for x in loose) == list(range(0, 800, 2))
    assert len(seen) == 800


@pytest.mark.parametrize("fails", [False, True])
def test_calls_in_the_thread_of_the_consumer(fails, change):
    threads, numbers = [], [0, 1, 2, 3, 4, 5]

    def called(x):
        threads.append(threading.get_ident())
        if fails and x.item() == 3:
            raise ValueError("no")
        return x

    data = Dataset.range(6).map(called, num_parallel_calls=AUTOTUNE)
    tuner = stage_of(data, "map").workers
    change(tuner, settled=True, start=lambda: 0)
    for _ in range(2):
        iterator = iter(data)
        for number in numbers:
            if fails and number == 3:
                with pytest.raises(ValueError, match="no"):
                    next(iterator)
            else:
                assert next(iterator).item() == number
        with pytest.raises(StopIteration):
            next(iterator)
    assert set(threads) == {threading.get_ident()}


def test_later_epochs_begin_with_the_number_that_was_fastest():
    tuner = Tuner(2)
    tuner.count, tuner.settled = 8, True
    assert (tuner.start(), tuner.settled) == (8, True)
    # A consumer may have work that runs beside one call: so 0 is measured anew.
    tuner.count, tuner._tried = 0, [2, 4, 1, 0]
    assert (tuner.start(), tuner.settled) == (1, False)
    assert tuner._tried == [2, 4, 1]
    now = 0.0
    while not tuner.settled:
        now += 0.01 if tuner.count else 0.02
        tuner.count_after(0.01, now)
    assert tuner.count == 1


def test_each_thread_finds_its_next_call_waiting():
    # The consumer waits for the first call, but the other thread goes on.
    begun, release = [], threading.Event()

    def called(x):
        begun.append(x.item())
        if x.item() < 1:
            release.wait(10)
        return x

    iterator = iter(Dataset.range(8).map(called, num_parallel_calls=2))
    taken = threading.Thread(target=lambda: next(iterator))
    taken.start()
    end = time.monotonic() + 10
    while len(begun) < 3 and time.monotonic() < end:
        time.sleep(0.001)
    assert sorted(begun) == [0, 1, 2]
    release.set()
    taken.join()
