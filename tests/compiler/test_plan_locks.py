"""Threads that make the first calls of functions at the same time lose no update."""

import threading

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler import plan_locks

pytestmark = pytest.mark.usefixtures("kind")
THREADS, CALLS, TRIALS = 4, 12, 12


def in_threads(work):
    barrier, failed = threading.Barrier(THREADS), []

    def run():
        barrier.wait()
        try:
            work()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if failed:
        raise failed[0]


@pytest.mark.parametrize("trial", range(TRIALS))
def test_no_assignment_is_lost(trial):
    count = tf.Variable(np.zeros(3, np.float32))

    @tf.function
    def f(x):
        for _ in range(trial):
            x = tf.tanh(x)
        count.assign(count + 1.0)
        return x

    def work():
        for _ in range(CALLS):
            f(tf.ones([3]))

    in_threads(work)
    assert count.numpy().tolist() == [THREADS * CALLS] * 3
    assert "1 plan" in f.explain()


@pytest.mark.parametrize("trial", range(4))
def test_no_training_step_is_lost_or_refused(trial):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2 + trial)])
    step = model.training_step(loss="mse", optimizer="adam")
    x, y = np.ones((4, 3), "float32"), np.ones((4, 2 + trial), "float32")

    def work():
        for _ in range(CALLS):
            step(x, y)

    in_threads(work)
    assert int(step.optimizer.iterations) == THREADS * CALLS
    assert "1 plan" in step.explain()
    assert "in Python" not in step.explain()


@pytest.mark.parametrize("trial", range(4))
def test_gradients_of_many_threads(trial):
    w = tf.Variable(np.full(3 + trial, 2.0, np.float32))

    @tf.function
    def f(x):
        return tf.reduce_sum(x * w * w)

    def work():
        for n in range(CALLS):
            with tf.GradientTape() as tape:
                y = f(tf.fill([3 + trial], float(n)))
            assert tape.gradient(y, w).numpy().tolist() == [4.0 * n] * (3 + trial)

    in_threads(work)


def test_nested_traces_acquire_no_lock_twice():
    with plan_locks.exclusive_trace(), plan_locks.exclusive_trace():
        assert plan_locks.held_locks()
    assert not plan_locks.held_locks()
