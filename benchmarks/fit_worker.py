"""Measure fit in this process, by this package or by a Keras: microseconds a batch, as JSON.

python fit_worker.py framework
KERAS_BACKEND=jax python fit_worker.py keras
"""

import io
import sys
import time

import measure
import numpy as np

ROWS, FEATURES, BATCHES, REPEATS = 32, 8, 400, 20


class Terminal(io.StringIO):
    """A place to draw the bar on that says it is a terminal."""

    def isatty(self):
        return True


def best(*functions, clock=time.perf_counter) -> list[float]:
    """Microseconds a batch in the fastest of some runs of each, which alternate."""
    times = []
    for _ in range(REPEATS):
        for function in functions:
            start = clock()
            function()
            times.append(clock() - start)
    count = len(functions)
    return [min(times[i::count]) / BATCHES * 1e6 for i in range(count)]


def main(library: str) -> None:
    """Build, warm up and measure."""
    if library == "framework":
        import framework
        from framework import keras

        version = framework.__version__
    else:
        import keras

        version = f"{keras.__version__} on {keras.backend.backend()}"
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS * BATCHES, FEATURES)).astype("float32")
    y = x[:, :1] * 2
    model = keras.Sequential([keras.Input((FEATURES,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    shown, sys.stdout = sys.stdout, Terminal()
    try:
        model.fit(x, y, batch_size=ROWS, epochs=2, verbose=1)

        def fit():
            model.fit(x, y, batch_size=ROWS, verbose=1)

        times = {"fit": best(fit)[0]}
        if library == "framework":
            # of one thread's CPU time: what else runs on the machine does not count
            step = bare_step(keras, model, x, y)
            whole, times["step"] = best(fit, step, clock=time.thread_time)
            times["beyond"] = whole - times["step"]
    finally:
        sys.stdout = shown
    measure.answer({"version": version, **times})


def bare_step(keras, model, x, y):
    """So many of the same update by the explicit step: no metrics, bar, logs nor shuffling."""
    step = model.training_step(loss="mse", optimizer="sgd")
    batch_x = keras.ops.convert_to_tensor(x[:ROWS])
    batch_y = keras.ops.convert_to_tensor(y[:ROWS])

    def run():
        for _ in range(BATCHES):
            step(batch_x, batch_y)

    run()
    return run


if __name__ == "__main__":
    main(sys.argv[1])
