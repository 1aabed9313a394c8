"""Many tapes: in many threads, and one after another with the collector off."""

import gc
import threading
from pathlib import Path

import numpy as np
import pytest

import framework as tf

STATUS = Path("/proc/self/status")


def test_eight_threads_of_a_thousand_gradients():
    wrong = []

    def work(k):
        rng = np.random.default_rng(k)
        for _ in range(1000):
            value = rng.normal()
            x = tf.constant(value, "float64")
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.sin(x) * x * float(k)
            expected = k * (np.cos(value) * value + np.sin(value))
            if abs(float(tape.gradient(y, x)) - expected) > 1e-12:
                wrong.append((k, value))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def resident_megabytes():
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="resident memory is read from Linux's /proc")
def test_ten_thousand_persistent_tapes_leave_nothing():
    def make_and_drop(count):
        for _ in range(count):
            x = tf.ones((10, 10))
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.tanh(tf.matmul(x, x)))
            tape.gradient(y, x)
            tape.gradient(y, x)

    gc.collect()
    gc.disable()
    try:
        make_and_drop(500)
        before = resident_megabytes()
        make_and_drop(10_000)
        assert resident_megabytes() - before < 2
        assert gc.collect() < 100
    finally:
        gc.enable()
