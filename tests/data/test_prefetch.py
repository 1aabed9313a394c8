"""Prefetch: a thread where Python code makes the elements, none that outlives its iterator."""

import gc
import threading
import time

import pytest

from framework.data import AUTOTUNE, Dataset


def producers():
    return [t for t in threading.enumerate() if t.name == "framework-prefetch"]


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "not within ten seconds"
        time.sleep(0.001)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    wait_for(lambda: not producers())


def test_elements_are_made_ahead_but_not_further_than_asked():
    made = []
    data = Dataset.range(100).map(lambda x: made.append(1) or x).prefetch(3)
    iterator = iter(data)
    assert next(iterator).item() == 0
    wait_for(lambda: len(made) == 5)  # one given, three waiting, one being put into the queue
    time.sleep(0.02)
    assert len(made) == 5
    iterator.close()


@pytest.mark.parametrize("end", ["close", "drop", "break"])
def test_the_thread_ends_with_its_iterator(end):
    data = Dataset.counter().map(lambda x: x).prefetch(1)
    if end == "break":
        for element in data:
            if element.item() == 3:
                break
    else:
        iterator = iter(data)
        next(iterator)
        assert len(producers()) == 1
        iterator.close() if end == "close" else None
        del iterator
    gc.collect()
    wait_for(lambda: not producers())


def test_the_thread_ends_with_the_data_and_can_run_again():
    data = Dataset.range(5).map(lambda x: x).prefetch(AUTOTUNE)
    for _ in range(2):
        assert [x.item() for x in data] == list(range(5))
        wait_for(lambda: not producers())


@pytest.mark.parametrize("size", [1, 5])
def test_an_error_is_raised_at_its_element(size):
    def fail(x):
        if x.item() == 2:
            raise KeyError("here")
        return x

    iterator = iter(Dataset.range(9).map(fail).prefetch(size))
    assert [next(iterator).item() for _ in range(2)] == [0, 1]
    with pytest.raises(KeyError, match="here"):
        next(iterator)
    assert [x.item() for x in iterator] == list(range(3, 9))  # as in TensorFlow, it goes on


def test_nothing_runs_ahead_of_arrays_in_memory():
    nine = Dataset.range(9)
    for data in (
        nine.prefetch(2),
        nine.shuffle(9).batch(2).prefetch(2),
        Dataset.counter().prefetch(1),
        nine.map(lambda x: x).prefetch(0),
    ):
        iterator = iter(data)
        next(iterator)
        assert not producers()


def test_each_iterator_has_its_own():
    data = Dataset.range(4).map(lambda x: x).prefetch(2)
    assert [(a.item(), b.item()) for a, b in zip(iter(data), iter(data))] == [
        (i, i) for i in range(4)
    ]
