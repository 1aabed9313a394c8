"""The pool of kernel threads."""

import os
import threading
import time

import numpy as np
import pytest

from framework.kernels import threads


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(threads, "_count", 2)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 17])
def test_every_part_runs_once(number):
    seen = []
    threads.run(seen.append, range(number))
    assert sorted(seen) == list(range(number))


def test_parts_run_side_by_side():
    meeting = threading.Barrier(2)
    threads.run(lambda part: meeting.wait(timeout=10), range(2))  # alone it would break


def test_results_are_there_when_it_returns():
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
    test_parts_run_side_by_side()


def test_a_run_within_a_part_stays_in_its_thread():
    where = {}

    def outer(part):
        inner = []
        threads.run(lambda _: inner.append(threading.get_ident()), range(4))
        where[part] = (threading.get_ident(), inner)

    threads.run(outer, range(4))
    assert all(set(inner) == {own} for own, inner in where.values())


def test_many_callers_at_once():
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


def test_errstate_holds_in_the_pool():
    with np.errstate(all="ignore"):
        threads.run(lambda part: np.float32(1) / np.zeros(3, np.float32), range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own():
    test_parts_run_side_by_side()
    child = os.fork()
    if not child:
        meeting = threading.Barrier(2)
        try:
            threads.run(lambda part: meeting.wait(timeout=10), range(2))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"])
@pytest.mark.parametrize(("text", "most"), [("1", 1), ("", 99), ("0", 99), ("1,2", 1), ("x", 99)])
def test_count_is_what_the_environment_allows(monkeypatch, name, text, most):
    for other in threads._VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, text)
    monkeypatch.setattr(threads, "_count", None)
    assert threads.count() == min(most, threads._allowed())
    assert threads.count() >= 1
